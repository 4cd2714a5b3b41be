package ingest

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/tree"
)

func cue(start, end int64, speaker, text string) tree.Cue {
	return tree.Cue{StartMS: start, EndMS: end, Speaker: speaker, Text: text}
}

func readCues(t *testing.T, data string, durationMS int64) SubtitleFile {
	t.Helper()
	f, err := ReadSubtitles("made", []byte(data), durationMS)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func sameCues(t *testing.T, got, want []tree.Cue) {
	t.Helper()
	if !slices.Equal(got, want) {
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		t.Errorf("cues\n%s\nwant\n%s", g, w)
	}
}

// The facts of the odd corpus: the same two cues whatever the encoding, line
// ends and mark-up.
func TestOddSubtitleFiles(t *testing.T) {
	plain := []tree.Cue{cue(500, 1500, "", "Hello world"), cue(2000, 3000, "", "Zweite Zeile: für Ünïcode")}
	cases := []struct {
		file, format, encoding string
		cues                   []tree.Cue
	}{
		{"bomcrlf.srt", "srt", "utf-8", plain},
		{"cronly.srt", "srt", "utf-8", plain},
		{"cp1252.srt", "srt", "windows-1252", plain},
		{"tags.srt", "srt", "utf-8", []tree.Cue{cue(500, 1500, "", "Red top"), cue(2000, 3000, "", "placed")}},
		{"styles.vtt", "vtt", "utf-8", []tree.Cue{cue(500, 1500, "Ann", "Hello world & all"), cue(2000, 3000, "", "Second late")}},
		{"tsmap.vtt", "vtt", "utf-8", []tree.Cue{cue(500, 1500, "", "mapped")}},
		{"utf16.smi", "sami", "utf-16le", []tree.Cue{cue(500, 1500, "", "안녕 세계")}},
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			data, err := os.ReadFile(testkit.Shared(t, "media", "odd", c.file))
			if err != nil {
				t.Fatal(err)
			}
			f, err := ReadSubtitles(c.file, data, 0)
			if err != nil {
				t.Fatal(err)
			}
			if f.Format != c.format || f.Encoding != c.encoding {
				t.Errorf("read as %s in %s, want %s in %s", f.Format, f.Encoding, c.format, c.encoding)
			}
			sameCues(t, f.Cues, c.cues)
		})
	}
}

func TestRealSubtitles(t *testing.T) {
	for lang, words := range map[string]string{"en": "land of the gatekeepers", "de": "töricht", "es": "ó"} {
		file := testkit.Shared(t, "media", "real", "sintel-"+lang+".vtt")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := ReadSubtitles(filepath.Base(file), data, 52_000)
		if err != nil {
			t.Fatal(err)
		}
		all := ""
		for _, c := range f.Cues {
			all += c.Text + " "
		}
		if len(f.Cues) < 5 || !strings.Contains(all, words) || strings.ContainsAny(all, "<>") {
			t.Errorf("%s: %d cues %q", lang, len(f.Cues), all)
		}
	}
}

func TestSubtitleFormats(t *testing.T) {
	cases := []struct {
		name, data string
		want       []tree.Cue
	}{
		{"empty lines inside an SRT cue", "1\n00:00:01,000 --> 00:00:02,000\nOne\n\nstill one\n\n2\n00:00:03,000 --> 00:00:04,000\n2\n", []tree.Cue{cue(1000, 2000, "", "One still one"), cue(3000, 4000, "", "2")}},
		{"SRT without numbers, points, short times", "0:01.5 --> 0:02\nA\n0:03.25 --> 0:04.5 \nB", []tree.Cue{cue(1500, 2000, "", "A"), cue(3250, 4500, "", "B")}},
		{"past 24 hours", "1\n47:59:58,000 --> 47:59:59,999\nLate\n", []tree.Cue{cue(172798000, 172799999, "", "Late")}},
		{"a text with arrows", "1\n00:00:01,000 --> 00:00:02,000\nfrom A --> B\n", []tree.Cue{cue(1000, 2000, "", "from A --> B")}},
		{"entities and less-than", "WEBVTT\n\n00:01.000 --> 00:02.000\n1 &lt; 2 and 3 < 4 &amp; &copy;\n", []tree.Cue{cue(1000, 2000, "", "1 < 2 and 3 < 4 & ©")}},
		{"style header before the cues", "WEBVTT\nKind: captions\nStyle:\n::cue(c.colorE5E5E5) { color: rgb(229,229,229);\n }\n##\n\n00:01.000 --> 00:02.000 align:start position:0%\nword<00:00:01.500><c> two</c>\n", []tree.Cue{cue(1000, 2000, "", "word two")}},
		{"ASS with mark, drawing, comma, comment", "\uFEFF[Script Info]\r\nTitle: x\r\n\r\n[Events]\r\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\r\nComment: 0,0:00:00.00,0:00:01.00,D,,0,0,0,,not shown\r\nDialogue: 0,0:00:03.50,0:00:04.00,D,Bob,0,0,0,,Well, {\\i1}yes{\\i0}\\Nno\r\nDialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,{\\p1}m 0 0 l 10 10{\\p0}Sign\r\n", []tree.Cue{cue(1000, 2000, "", "Sign"), cue(3500, 4000, "Bob", "Well, yes no")}},
		{"SSA without a format line", "[Script Info]\n[Events]\nDialogue: Marked=0,0:00:01.00,0:00:02.00,D,,0,0,0,,Hi\n", []tree.Cue{cue(1000, 2000, "", "Hi")}},
		{"SAMI of two languages", "<SAMI><BODY><SYNC Start=100><P Class=ENCC>Hello<SYNC Start=100><P Class=KRCC>안녕하세요 여러분 세계<br>둘<SYNC Start=900><P Class=KRCC>&nbsp;</BODY></SAMI>", []tree.Cue{cue(100, 900, "", "안녕하세요 여러분 세계 둘")}},
		{"SAMI without an end", "<sami>\n<sync start='2000'><p>Last", []tree.Cue{cue(2000, 7000, "", "Last")}},
		{"a shouted speaker", "1\n00:00:01,000 --> 00:00:02,000\nANNA KARENINA: Come in.\n\n2\n00:00:02,000 --> 00:00:03,000\nNote: stay.\n", []tree.Cue{cue(1000, 2000, "ANNA KARENINA", "Come in."), cue(2000, 3000, "", "Note: stay.")}},
		{"speakers throughout", "00:01.000 --> 00:02.000\nA: One.\n\n00:02.000 --> 00:03.000\nProject Manager: Two.\n\n00:03.000 --> 00:04.000\nA: Three.\n\n00:04.000 --> 00:05.000\nProject Manager: Four.\n", []tree.Cue{cue(1000, 2000, "A", "One."), cue(2000, 3000, "Project Manager", "Two."), cue(3000, 4000, "A", "Three."), cue(4000, 5000, "Project Manager", "Four.")}},
		{"out of order, doubled, empty", "00:05.000 --> 00:06.000\nB\n\n00:01.000 --> 00:02.000\nA\n\n00:01.000 --> 00:02.000\nA\n\n00:03.000 --> 00:04.000\n<i></i>\n", []tree.Cue{cue(1000, 2000, "", "A"), cue(5000, 6000, "", "B")}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { sameCues(t, readCues(t, c.data, 0).Cues, c.want) })
	}
}

func TestVTTLanguage(t *testing.T) {
	f := readCues(t, "WEBVTT - title\nKind: captions\nLanguage: pt-BR\n\n00:01.000 --> 00:02.000\nOi\n", 0)
	if f.Language != "pt-BR" {
		t.Errorf("language %q", f.Language)
	}
}

func TestCuesThatCannotBeAreCounted(t *testing.T) {
	data := "00:01.000 --> 00:02.000\nA\n\n00:04.000 --> 00:03.000\nreversed\n\n-00:01.000 --> 00:03.000\nnegative\n\n00:09.000 --> 00:12.000\nover the end\n\n00:10.000 --> 00:11.000\nlate\n\n01:00.000 --> 01:01.000\nlater\n"
	f := readCues(t, data, 10_000)
	sameCues(t, f.Cues, []tree.Cue{cue(1000, 2000, "", "A"), cue(9000, 10000, "", "over the end")})
	all := strings.Join(f.Warnings, " ")
	if len(f.Warnings) != 2 || !strings.Contains(all, "2 subtitle cues lie beyond the end at 0:00:10 and were left out") || !strings.Contains(all, "2 subtitle cues have times that cannot be") {
		t.Errorf("warnings %q", f.Warnings)
	}
}

func TestRollingCaptions(t *testing.T) {
	// As automatic captions have it: every line stands twice, with short cues between.
	data := "WEBVTT\n\n00:00.000 --> 00:02.000\nwelcome to the\n\n00:02.000 --> 00:02.010\nwelcome to the\n\n00:02.010 --> 00:04.000\nwelcome to the\nsecond line of\n\n00:04.000 --> 00:04.010\nsecond line of\n\n00:04.010 --> 00:06.000\nsecond line of\nthis talk\n"
	sameCues(t, readCues(t, data, 0).Cues, []tree.Cue{cue(0, 2010, "", "welcome to the"), cue(2010, 4010, "", "second line of"), cue(4010, 6000, "", "this talk")})

	// Growing lines.
	data = "00:00.000 --> 00:01.000\nwe will\n\n00:01.000 --> 00:02.000\nwe will now see\n\n00:02.000 --> 00:03.000\nwe will now see how\n"
	sameCues(t, readCues(t, data, 0).Cues, []tree.Cue{cue(0, 1000, "", "we will"), cue(1000, 2000, "", "now see"), cue(2000, 3000, "", "how")})

	// People may say things twice.
	data = "00:00.000 --> 00:01.000\nIt is over.\n\n00:01.000 --> 00:02.000\nIt is over.\n\n00:02.000 --> 00:03.000\nWhy would you say that?\n\n00:03.000 --> 00:04.000\nSee for yourself.\n\n00:04.000 --> 00:05.000\nOh dear.\n"
	if f := readCues(t, data, 0); len(f.Cues) != 5 {
		t.Errorf("a repeated sentence was taken out: %v", f.Cues)
	}
}

func TestNoSubtitles(t *testing.T) {
	for _, data := range []string{"", "\x00\x01\x02", "WEBVTT\n\nnothing here", "just words", "<SAMI><BODY></BODY></SAMI>", "[Script Info]\n[Events]\n", "1\n00:00:02,000 --> 00:00:01,000\nreversed\n"} {
		_, err := ReadSubtitles("a\nb.srt", []byte(data), 0)
		var refused *SourceError
		if !errors.As(err, &refused) || strings.Contains(refused.Reason, "\n") {
			t.Errorf("%q: error %v, want one sentence", data, err)
		}
	}
	if _, err := ReadSubtitles("x", make([]byte, MaxSubtitleBytes+1), 0); err == nil {
		t.Error("a file over the limit was read")
	}
}

func FuzzReadSubtitles(f *testing.F) {
	for _, s := range []string{
		"1\n00:00:01,000 --> 00:00:02,000\n<b>Hi</b> {\\an8}there\n\n2\n00:00:03,000 --> 00:00:04,000\nB\n",
		"WEBVTT\n\nid\n00:01.000 --> 00:02.000  align:start\n<v Ann>Hello &amp; bye\n",
		"[Script Info]\n[Events]\nFormat: Start, End, Name, Text\nDialogue: 0:00:01.00,0:00:02.00,Bob,Hi, {\\p1}m 0{\\p0}you\n",
		"<SAMI><SYNC Start=5><P Class=A>x<SYNC Start=9 End=12><P>y", "\xff\xfe1\x00\n\x00", "\xef\xbb\xbf1\r0:1 --> 0:2\rx",
	} {
		f.Add([]byte(s), int64(0))
		f.Add([]byte(s), int64(1500))
	}
	f.Fuzz(func(t *testing.T, data []byte, durationMS int64) {
		got, err := ReadSubtitles("fuzz", data, durationMS)
		if (err == nil) != (len(got.Cues) > 0) {
			t.Fatalf("%d cues, error %v", len(got.Cues), err)
		}
		for i, c := range got.Cues {
			if c.StartMS < 0 || c.EndMS <= c.StartMS || durationMS > 0 && c.EndMS > durationMS {
				t.Fatalf("cue %d at [%d, %d) of %d", i, c.StartMS, c.EndMS, durationMS)
			}
			if i > 0 && c.StartMS < got.Cues[i-1].StartMS {
				t.Fatalf("cue %d before the one before", i)
			}
			if c.Text == "" || !utf8.ValidString(c.Text+c.Speaker) || strings.ContainsAny(c.Text, "\n\r\x00") {
				t.Fatalf("cue %d is %q", i, c.Text)
			}
		}
	})
}
