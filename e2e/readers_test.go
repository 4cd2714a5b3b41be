//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
)

// entry is one caption or edit as another reader understands it.
type entry [3]any

func (e entry) from() int64 { return int64(e[0].(float64)) }
func (e entry) to() int64   { return int64(e[1].(float64)) }

// readElsewhere reads exported files with the Python libraries of others.
func readElsewhere(t *testing.T, files ...string) (all [][]entry) {
	t.Helper()
	dir := filepath.Join(testkit.ModuleRoot(t), "e2e", "readers")
	python, err := environmentOf(filepath.Join(dir, "requirements.txt"), "readers")
	if err != nil {
		absent(t, "the readers of exports", err)
	}
	out, err := exec.Command(python, append([]string{filepath.Join(dir, "read.py")}, files...)...).Output()
	if err != nil {
		t.Fatalf("another reader refuses %v: %v", files, err)
	}
	return lines[[]entry](t, string(out))
}

// exported writes one export to a file of the format's ending.
func exported(t *testing.T, ending string, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "export."+ending)
	if err := os.WriteFile(file, []byte(must(t, append([]string{"export"}, args...)...)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestExportsReadElsewhere: captions are the words and times of the subtitles
// that came with the recording, edits follow its sections without a hole, and
// an answer's export holds the moments it cites.
func TestExportsReadElsewhere(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	id := ingestOne(t, data, demo(t)).Source
	of := func(ending, format string, args ...string) string {
		return exported(t, ending, append([]string{"--data", data, "--format", format}, args...)...)
	}
	all := readElsewhere(t, of("vtt", "vtt", id), of("srt", "srt", id), of("vtt", "chapters.vtt", id), of("edl", "edl", id),
		filepath.Join(filepath.Dir(demo(t)), "talk.srt"))
	spoken := all[4]
	for _, captions := range all[:2] {
		if len(captions) != len(spoken) {
			t.Fatalf("%d captions of %d", len(captions), len(spoken))
		}
		for i, c := range captions {
			if strings.Join(strings.Fields(fmt.Sprint(c)), " ") != strings.Join(strings.Fields(fmt.Sprint(spoken[i])), " ") {
				t.Errorf("caption %v, said %v", c, spoken[i])
			}
		}
	}
	const end, frameMS = 155_600, 40
	for kind, parts := range map[string][]entry{"chapters": all[2], "edits": all[3]} {
		at := int64(0)
		for _, p := range parts {
			if p.from() != at || p.to() <= at {
				t.Errorf("%s: %v after %d", kind, p, at)
			}
			at = p.to()
		}
		if at < end-frameMS || at > end+frameMS {
			t.Errorf("%s end at %d", kind, at)
		}
	}

	events := ask(t, data, demoQuestion)
	stream := events[0].Stream
	answer := readElsewhere(t, of("vtt", "vtt", "--answer", stream), of("srt", "srt", "--answer", stream), of("edl", "edl", "--answer", stream))
	for i, list := range answer {
		for _, at := range []int64{24_000, 92_000} { // where the two facts of the demo question are said
			found := false
			for _, e := range list {
				found = found || e.from() <= at && at < e.to()
			}
			if !found {
				t.Errorf("export %d of the answer has nothing at %d ms: %v", i, at, list)
			}
		}
	}
}
