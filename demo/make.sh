#!/usr/bin/env bash
# Makes demo/talk.mp4 from demo/talk.txt: slides, a spoken track, subtitles and
# chapters, every time taken from the real length of the speech.
#
# Needs espeak-ng, imagemagick (convert), fonts-dejavu-core, ffmpeg and ffprobe.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
pause=0.35 # seconds of silence after every sentence group

stamp() { awk -v t="$1" 'BEGIN{ms=int(t*1000+.5); printf "%02d:%02d:%02d,%03d", ms/3600000, ms/60000%60, ms/1000%60, ms%1000}'; }
add() { awk -v a="$1" -v b="$2" 'BEGIN{printf "%.3f", a+b}'; }

slide_picture() { # number, "Title | line | line"
  local IFS='|' parts title body='' line
  read -ra parts <<<"$2"
  title=$(sed 's/^ *//; s/ *$//' <<<"${parts[0]}")
  for line in "${parts[@]:1}"; do body+="•  $(sed 's/^ *//; s/ *$//' <<<"$line")"$'\n'; done
  convert -size 640x360 xc:'#faf9f7' -fill '#b4532a' -draw 'rectangle 0,0 12,360' \
    -font DejaVu-Sans-Bold -pointsize 32 -fill '#1b1a18' -annotate +48+92 "${title//%/%%}" \
    -font DejaVu-Sans -pointsize 21 -fill '#4b473f' -annotate +52+160 "${body//%/%%}" \
    -pointsize 14 -fill '#a19b91' -annotate +590+338 "$1" "$work/slide$1.png"
}

now=0 slide=0 cue=0 chapter='' slide_start=0
: >"$work/pictures"; : >"$work/sounds"; : >"$work/talk.srt"
printf ';FFMETADATA1\ntitle=Light across the sea: the Fresnel lens\nartist=reeltree demo\n' >"$work/meta"

end_slide() { [ "$slide" = 0 ] || printf "file 'slide%s.png'\nduration %s\n" "$slide" "$(awk -v a="$now" -v b="$slide_start" 'BEGIN{printf "%.3f", a-b}')" >>"$work/pictures"; slide_start=$now; }
end_chapter() {
  [ -z "$chapter" ] || printf '[CHAPTER]\nTIMEBASE=1/1000\nSTART=%d\nEND=%d\ntitle=%s\n' \
    "$(awk -v t="$chapter_start" 'BEGIN{print int(t*1000)}')" "$(awk -v t="$now" 'BEGIN{print int(t*1000)}')" "$chapter" >>"$work/meta"
  chapter_start=$now
}
speak() {
  cue=$((cue + 1))
  espeak-ng -v en-gb -s 165 -w "$work/raw$cue.wav" "$1"
  ffmpeg -nostdin -v error -y -i "$work/raw$cue.wav" -af "apad=pad_dur=$pause" -ar 24000 -ac 1 "$work/say$cue.wav"
  local length end
  length=$(ffprobe -v error -show_entries format=duration -of csv=p=0 "$work/say$cue.wav")
  end=$(add "$now" "$length")
  printf '%d\n%s --> %s\n%s\n\n' "$cue" "$(stamp "$now")" "$(stamp "$(add "$end" "-$pause")")" "$1" >>"$work/talk.srt"
  printf "file 'say%s.wav'\n" "$cue" >>"$work/sounds"
  now=$end
}

while IFS= read -r line <&3; do
  case "$line" in
    '# chapter: '*) end_slide; slide_start=$now; end_chapter; chapter=${line#\# chapter: } ;;
    '== slide: '*) [ "$slide_start" = "$now" ] || end_slide; slide=$((slide + 1)); slide_picture "$slide" "${line#== slide: }" ;;
    '') ;;
    *) speak "$line" ;;
  esac
done 3<talk.txt
end_slide; end_chapter
printf "file 'slide%s.png'\n" "$slide" >>"$work/pictures"

ffmpeg -nostdin -v error -y -f concat -i "$work/pictures" -f concat -i "$work/sounds" -i "$work/talk.srt" -i "$work/meta" \
  -map 0:v -map 1:a -map 2:s -map_metadata 3 -map_chapters 3 -t "$now" \
  -c:v libx264 -preset veryslow -tune stillimage -crf 30 -r 5 -g 150 -pix_fmt yuv420p \
  -c:a aac -b:a 24k -c:s mov_text -metadata:s:s:0 language=eng -metadata:s:a:0 language=eng \
  -disposition:s:0 default -movflags +faststart -fflags +bitexact -flags:v +bitexact -flags:a +bitexact talk.mp4
cp "$work/talk.srt" talk.srt
echo "demo/talk.mp4: $now seconds, $cue cues, $slide slides"
