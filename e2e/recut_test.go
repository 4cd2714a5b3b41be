//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
)

// TestAnotherCutPaysForWhatChanged: of a film whose sixth minute was replaced
// only that clip and the stretch around it are described anew, and of another
// embedder nothing is.
func TestAnotherCutPaysForWhatChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	part := func(name string, seed int) string {
		out := filepath.Join(dir, name)
		ffmpeg(t, "-f", "lavfi", "-i", patches(seed),
			"-t", "25", "-c:v", "libx264", "-preset", "ultrafast", "-g", "125", "-bf", "0", out)
		return out
	}
	join := func(name string, parts []string) string {
		var list strings.Builder
		for _, p := range parts {
			fmt.Fprintf(&list, "file '%s'\n", p)
		}
		text := filepath.Join(dir, name+".txt")
		if err := os.WriteFile(text, []byte(list.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(dir, name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(folder, "film.mkv") // the same name for both
		ffmpeg(t, "-f", "concat", "-safe", "0", "-i", text, "-c", "copy", out)
		return out
	}
	var parts []string
	for i := range 12 {
		parts = append(parts, part(fmt.Sprint(i, ".mkv"), i+1))
	}
	first := join("first", parts)
	parts[5] = part("other.mkv", 77)
	second := join("second", parts)

	e, data := testkit.NewEndpoint(t), t.TempDir()
	one := ingestOne(t, data, visionArgs(e, first)...)
	before := e.Count()
	two := ingestOne(t, data, visionArgs(e, second)...)
	if one.Nodes != two.Nodes || one.Nodes.L2 < 10 || one.Source == two.Source {
		t.Fatalf("the films are %+v and %+v", one, two)
	}
	paid := map[string]int{}
	for _, c := range e.Calls()[before:] {
		paid[kindOf(t, c)]++
	}
	if paid["l1"] != 1 || paid["l2"] != 1 || paid["l3"] < 1 || paid["l3"] > 3 {
		t.Errorf("the other cut paid for %v calls of %d, want one L2 with its L3 and one L1", paid, before)
	}
	t.Logf("%d calls for the film, %v for its other cut", before, paid)
}
