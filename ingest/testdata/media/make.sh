#!/bin/sh
# Makes the small clips of this folder with the ffmpeg command (5.1 was used).
set -eu
cd "$(dirname "$0")"
f="ffmpeg -v error -y -bitexact"
src() { echo "-f lavfi -i testsrc2=s=$1:r=25:d=$2"; }
x264="-c:v libx264 -preset veryfast -threads 1 -pix_fmt yuv420p -bitexact"
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT

# the picture is turned in the middle of the stream
$f $(src 64x48 1) $x264 -f mpegts "$tmp/a.ts"
$f $(src 48x64 1) $x264 -output_ts_offset 1 -f mpegts "$tmp/b.ts"
cat "$tmp/a.ts" "$tmp/b.ts" > reschange.ts
# two recordings joined: the clock starts over
$f $(src 64x48 2) -f lavfi -i sine=d=2 $x264 -c:a aac -b:a 24k -shortest -f mpegts "$tmp/a.ts"
cat "$tmp/a.ts" "$tmp/a.ts" > restart.ts
# the 33-bit clock wraps after one second
$f $(src 64x48 3) $x264 -output_ts_offset 95442.717 -muxdelay 0 -f mpegts wrap.ts
# three B-frames in a row, two of them without followers
$f $(src 64x48 6) $x264 -bf 3 -b_strategy 0 -g 50 bframes.mp4
$f $(src 64x48 6) $x264 -bf 3 -b_strategy 0 -g 50 -f mpegts bframes.ts
# no packet times but decode order
$f $(src 64x48 2) -c:v mpeg4 -bf 2 -bitexact bframes.avi
$f $(src 64x48 0.04) $x264 oneframe.mp4
$f $(src 96x96 1) $x264 -vf setsar=2/1 sar.mp4
$f $(src 352x288 1) -c:v mpeg2video -flags +ilme+ildct -b:v 300k -vf setfield=tff -bitexact interlaced.ts
# text subtitles of three kinds, chapters, languages, cover
cat > "$tmp/c.txt" <<'X'
;FFMETADATA1
title=Two parts
[CHAPTER]
TIMEBASE=1/1000
START=0
END=1000
title=First
[CHAPTER]
TIMEBASE=1/1000
START=1000
END=2000
title=Second
X
printf '1\n00:00:00,500 --> 00:00:01,000\n<i>Hello</i>\nthere\n\n2\n00:00:01,200 --> 00:00:01,900\na < b\n' > "$tmp/s.srt"
printf 'WEBVTT\n\n00:00.500 --> 00:01.000\n<v Ann>Good &amp; well</v>\n' > "$tmp/s.vtt"
printf '[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name, Fontname, Fontsize\nStyle: Default,Arial,20\n\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\nDialogue: 0,0:00:00.50,0:00:01.00,Default,Bob,0,0,0,,{\\an8}One,\\Ntwo\nDialogue: 0,0:00:01.00,0:00:01.50,Default,,0,0,0,,{\\p1}m 0 0 l 1 1{\\p0}\n' > "$tmp/s.ass"
$f $(src 64x48 2) -f lavfi -i sine=d=2 -f lavfi -i sine=d=2 -i "$tmp/s.srt" -i "$tmp/s.vtt" -i "$tmp/s.ass" -i "$tmp/c.txt" \
  -map 0 -map 1 -map 2 -map 3 -map 4 -map 5 -map_metadata 6 -map_chapters 6 $x264 -c:a flac -c:s:0 srt -c:s:1 webvtt -c:s:2 ass \
  -metadata:s:a:0 language=ger -metadata:s:a:1 language=eng -metadata:s:s:0 language=fre -disposition:a:1 default -disposition:a:0 0 talk.mkv
$f -i talk.mkv -map 0:0 -map 0:1 -c copy -f matroska "$tmp/cut.mkv"
head -c $(($(stat -c %s "$tmp/cut.mkv") / 2)) "$tmp/cut.mkv" > cut.mkv
# a display matrix of nine zeros, as one browser editor writes it
$f -display_rotation 90 -i oneframe.mp4 -c copy "$tmp/rot.mp4" 2>/dev/null || $f -i oneframe.mp4 -c copy -metadata:s:v rotate=90 "$tmp/rot.mp4"
python3 - "$tmp/rot.mp4" zeromatrix.mp4 <<'X'
import sys
b = bytearray(open(sys.argv[1], "rb").read())
at = b.index(b"tkhd") + 4 + 40
b[at:at + 36] = bytes(36)
open(sys.argv[2], "wb").write(b)
X
$f $(src 64x48 0.5) -pix_fmt rgb24 -frames:v 1 still.png
$f $(src 64x48 1) -r 5 anim.gif
