//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/reeltree/reeltree/internal/testkit"
)

// TestRealTranscription ingests the beginning of the demo without its subtitles
// through a real speech engine. What it hears is the speech layer of the tree,
// in order and at its time; the number of calls is the quoted one; the same
// sound is not paid for twice.
func TestRealTranscription(t *testing.T) {
	tap := newWiretap(t, pythonPeer(t, "whisper", "/health"))
	const seconds = 38 // the end of a sentence
	clip := filepath.Join(t.TempDir(), "spoken.mp4")
	ffmpeg(t, "-i", demo(t), "-map", "0:v", "-map", "0:a", "-map_chapters", "-1", "-c", "copy", "-t", fmt.Sprint(seconds), clip)
	flags := []string{"--asr-url", tap.URL + "/v1", "--asr-model", "whisper-base"}
	data := t.TempDir()
	quote := lines[struct {
		Quote struct{ Calls struct{ ASR int } }
	}](t, must(t, append([]string{"ingest", "--data", data, "--json", "--quote", clip}, flags...)...))[0].Quote
	if n := len(tap.passed()); n != 0 {
		t.Fatalf("quoting made %d calls", n)
	}
	got := ingestOne(t, data, append(flags, clip)...)
	passed := tap.passed()
	if got.State != "done" || len(passed) == 0 || len(passed) != quote.Calls.ASR || got.Calls != len(passed) {
		t.Errorf("%+v after %d calls, quoted %d", got, len(passed), quote.Calls.ASR)
	}
	for _, x := range passed {
		if x.Path != "/v1/audio/transcriptions" || x.Status != 200 || !strings.HasPrefix(x.ContentType, "multipart/form-data") {
			t.Errorf("a call to %s as %s got %d: %.300s", x.Path, x.ContentType, x.Status, x.Reply)
		}
	}
	heard := must(t, "export", "--data", data, "--format", "srt", got.Source)
	want, err := os.ReadFile(filepath.Join(testkit.ModuleRoot(t), "demo", "talk.srt"))
	if err != nil {
		t.Fatal(err)
	}
	compareSpeech(t, readSRT(t, heard), readSRT(t, string(want)), seconds)

	again := ingestOne(t, data, append(flags, "--detail", "high", clip)...)
	if n := len(tap.passed()); again.State != "done" || n != len(passed) {
		t.Errorf("another look at the pictures ends as %s and heard the sound again in %d calls", again.State, n-len(passed))
	}
}

// spoke is one cue of an SRT file.
type spoke struct {
	start float64 // seconds
	words []string
}

func readSRT(t *testing.T, file string) (all []spoke) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSpace(file), "\n\n") {
		rows := strings.Split(strings.TrimSpace(block), "\n")
		var h, m, s, ms int
		if len(rows) < 3 {
			t.Fatalf("a cue of %d lines: %q", len(rows), block)
		}
		if _, err := fmt.Sscanf(rows[1], "%d:%d:%d,%d", &h, &m, &s, &ms); err != nil {
			t.Fatalf("times %q: %v", rows[1], err)
		}
		words := strings.FieldsFunc(strings.ToLower(strings.Join(rows[2:], " ")), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		all = append(all, spoke{float64(h*3600+m*60+s) + float64(ms)/1000, words})
	}
	return all
}

// compareSpeech: at most a quarter of the words differ (numbers are spoken as
// words and heard as digits), and a cue that begins like a sentence of the
// original begins within 1.5 s of it.
func compareSpeech(t *testing.T, heard, want []spoke, seconds float64) {
	t.Helper()
	var a, b []string
	placed := 0
	for _, w := range want {
		if w.start >= seconds {
			break
		}
		b = append(b, w.words...)
		for _, h := range heard {
			if len(h.words) < 2 || len(w.words) < 2 || h.words[0] != w.words[0] || h.words[1] != w.words[1] {
				continue
			}
			placed++
			if d := h.start - w.start; d > 1.5 || d < -1.5 {
				t.Errorf("%q is heard at %.1f s instead of %.1f s", h.words, h.start, w.start)
			}
		}
	}
	for _, h := range heard {
		a = append(a, h.words...)
	}
	if n := distance(a, b); placed < 2 || n*4 > len(b) {
		t.Errorf("%d of %d words differ, %d sentences found: %q", n, len(b), placed, a)
	}
}

// distance is the least number of words to add, drop or change (Levenshtein).
func distance(a, b []string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := row[0]
		row[0] = i + 1
		for j := range b {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}
