//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
)

// slidesSeconds is the length of slides: two stretches of the settings below.
const slidesSeconds = 100

var slidesMade sync.Mutex

// slides is a recording whose picture changes wholly every two seconds, with a
// sentence of speech every five; it is made once.
func slides(t *testing.T) string {
	t.Helper()
	slidesMade.Lock()
	defer slidesMade.Unlock()
	file := filepath.Join(filepath.Dir(binary), "slides.mkv")
	if _, err := os.Stat(file); err == nil {
		return file
	}
	var srt strings.Builder
	for i := range slidesSeconds / 5 {
		fmt.Fprintf(&srt, "%d\n%s --> %s\nSlide number %d speaks about %s.\n\n", i+1, srtTime(float64(5*i)), srtTime(float64(5*i)+4),
			i+1, []string{"harvest", "drying", "storage", "transport", "markets"}[i%5])
	}
	sub := filepath.Join(t.TempDir(), "slides.srt")
	if err := os.WriteFile(sub, []byte(srt.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	ffmpeg(t, "-f", "lavfi", "-i", "nullsrc=s=8x6:r=1/2,geq=lum='255*random(1)':cb=128:cr=128,scale=320:240:flags=neighbor,fps=5",
		"-i", sub, "-t", fmt.Sprint(slidesSeconds), "-map", "0:v", "-map", "1:s", "-c:v", "libx264", "-preset", "ultrafast", "-c:s", "srt", file)
	return file
}

func ffmpeg(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "ffmpeg", append([]string{"-nostdin", "-v", "error", "-y"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, out)
	}
}

// leafBatch is the --l3-batch of these tests: small, so that a clip needs
// several L3 calls.
const leafBatch = 4

// visionArgs lead the descriptions to a scripted endpoint.
func visionArgs(e *testkit.Endpoint, more ...string) []string {
	return append([]string{
		"--vlm-url", e.URL, "--vlm-model", "scripted", "--l1-target", "50s", "--l2-target", "25s", "--l3-batch", fmt.Sprint(leafBatch),
	}, more...)
}

// calls per kind.
type calls struct{ L1, L2, L3, Fallback int }

// kindOf tells the calls of the build apart by the fixed part of their prompts.
func kindOf(t *testing.T, c testkit.Call) string {
	t.Helper()
	for words, kind := range map[string]string{
		"You write the widest level": "l1", "You write the middle level": "l2", "You write the finest level": "l3",
	} {
		if strings.HasPrefix(c.System, words) {
			if kind == "l3" && !isBatch(c) {
				return "fallback"
			}
			return kind
		}
	}
	t.Fatalf("call %d has an unknown prompt: %.80s", c.N, c.System)
	return ""
}

// isBatch holds for a call that wants the texts of several pictures.
func isBatch(c testkit.Call) bool { return strings.Contains(c.Prompt, "JSON array of exactly") }

func count(t *testing.T, all []testkit.Call) (n calls, images int) {
	t.Helper()
	for _, c := range all {
		images += len(c.Images)
		switch kindOf(t, c) {
		case "l1":
			n.L1++
		case "l2":
			n.L2++
		case "l3":
			n.L3++
		default:
			n.Fallback++
		}
	}
	return n, images
}

// node is one of the native tree format.
type node struct {
	ID, Summary, Description string
	Calls                    calls
	Evidence                 struct{ Frame *struct{ ID string } }
	Children                 []node
}

// nativeTree is what these tests read of `show --json`.
type nativeTree struct {
	Metadata struct {
		Calls  calls
		Source struct{ Calls int }
	}
	Roots []node
}

func showTree(t *testing.T, data, source string) nativeTree {
	t.Helper()
	out, code := run(t, "show", "--data", data, "--json", source)
	var tree nativeTree
	if err := json.Unmarshal([]byte(out), &tree); code != 0 || err != nil {
		t.Fatalf("show: exit %d, %v", code, err)
	}
	return tree
}

// planned is what the build of a tree of this shape costs without any fault: a
// call per L1, a call per L2 with at most ten of its pictures, a call per batch
// of pictures for its L3.
func planned(tree nativeTree) (n calls, images, frames int) {
	for _, l1 := range tree.Roots {
		n.L1++
		for _, l2 := range l1.Children {
			n.L2++
			k := 0
			for _, l3 := range l2.Children {
				if l3.Evidence.Frame != nil {
					k++
				}
			}
			n.L3 += (k + leafBatch - 1) / leafBatch
			images += k + min(k, 10)
			frames += k
		}
	}
	return n, images, frames
}

// full fails for a node without text.
func full(t *testing.T, tree nativeTree) {
	t.Helper()
	for _, l1 := range tree.Roots {
		for _, l2 := range l1.Children {
			for _, l3 := range l2.Children {
				if l3.Description == "" {
					t.Errorf("%s has no text", l3.ID)
				}
			}
			if l2.Description == "" || len(l2.Children) == 0 {
				t.Errorf("%s has no text or no moments", l2.ID)
			}
		}
		if l1.Summary == "" || len(l1.Children) == 0 {
			t.Errorf("%s has no text or no clips", l1.ID)
		}
	}
}

// quoted is a quote, by command or by REST.
type quoted struct {
	Calls  calls
	Images int
}

// TestVisionCallsAreWhatWasQuoted: the quote by command, the quote by REST, the
// calls the endpoint saw, those the tree keeps and those its shape implies are
// the same numbers; quoting calls nobody.
func TestVisionCallsAreWhatWasQuoted(t *testing.T) {
	t.Parallel()
	e, file, data := testkit.NewEndpoint(t), slides(t), t.TempDir()
	byCommand := lines[struct{ Quote quoted }](t, must(t, append(visionArgs(e, "ingest", "--data", data, "--quote", "--json"), file)...))[0].Quote
	if n := e.Count(); n != 0 || must(t, "list", "--data", data) != "" {
		t.Fatalf("quoting made %d calls, or a source stays", n)
	}
	got := ingestOne(t, data, visionArgs(e, file)...)
	tree := showTree(t, data, got.Source)
	want, images, _ := planned(tree)
	seen, sent := count(t, e.Calls())
	if want.L1 < 2 || want.L3 < 2*want.L2 {
		t.Fatalf("the recording is too plain for this test: %+v", want)
	}
	if seen != want || sent != images {
		t.Errorf("the endpoint saw %+v with %d pictures, the tree's shape wants %+v with %d", seen, sent, want, images)
	}
	if tree.Metadata.Calls != want || tree.Metadata.Source.Calls != e.Count() || got.Calls != e.Count() {
		t.Errorf("the tree keeps %+v, its source %d, the command says %d, the endpoint saw %d", tree.Metadata.Calls, tree.Metadata.Source.Calls, got.Calls, e.Count())
	}
	s := serve(t, data, visionArgs(e)...)
	byREST := post[quoted](t, s.addr+"/v1/quotes", `{"source":"`+got.Source+`"}`)
	if n := want.L1 + want.L2 + want.L3; e.Count() != n {
		t.Errorf("quoting a source made %d calls", e.Count()-n)
	}
	if plan := (quoted{want, images}); byCommand != plan || byREST != plan {
		t.Errorf("quoted %+v by command and %+v by REST, want %+v", byCommand, byREST, plan)
	}
	if open := e.MaxOpen(); open > 16 || open < 2 {
		t.Errorf("%d calls were open at once, want up to 16", open)
	}
}

// post sends JSON that has to be taken.
func post[T any](t *testing.T, url, body string) (out T) {
	t.Helper()
	reply, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if err := json.NewDecoder(reply.Body).Decode(&out); err != nil || reply.StatusCode >= 300 {
		t.Fatalf("POST %s: %s, %v", url, reply.Status, err)
	}
	return out
}

// TestVisionPromptsBuildOnEachOther: every L3 prompt holds the L2 text of its
// clip and every L1 prompt those of all its clips, which the endpoint had
// given in earlier calls; no L1 call holds a picture. A text names the hash of
// the pictures it was made of, so it cannot be known before its reply.
func TestVisionPromptsBuildOnEachOther(t *testing.T) {
	t.Parallel()
	e, data := testkit.NewEndpoint(t), t.TempDir()
	e.Always("ok-jitter:40ms")
	got := ingestOne(t, data, visionArgs(e, slides(t))...)
	all := e.Calls()
	said := map[string]int{} // text -> call that gave it
	for _, c := range all {
		if kindOf(t, c) == "l2" {
			said[c.Reply] = c.N
		}
	}
	holds := func(c testkit.Call, l2 node) bool {
		n, ok := said[l2.Description]
		return ok && n < c.N && strings.Contains(c.Prompt, l2.Description)
	}
	for _, l1 := range showTree(t, data, got.Source).Roots {
		leaves, wide := 0, 0
		for _, c := range all {
			switch kindOf(t, c) {
			case "l1":
				if c.Reply != l1.Summary {
					continue
				}
				wide++
				for _, l2 := range l1.Children {
					if !holds(c, l2) || len(c.Images) != 0 {
						t.Errorf("the L1 call %d of %s lacks %s or holds pictures", c.N, l1.ID, l2.ID)
					}
				}
			case "l3":
				for _, l2 := range l1.Children {
					if holds(c, l2) {
						leaves++
					}
				}
			}
		}
		want, _, _ := planned(nativeTree{Roots: []node{l1}})
		if wide != 1 || leaves != want.L3 {
			t.Errorf("%s: %d L1 calls, %d L3 calls that hold their L2 text, want %+v", l1.ID, wide, leaves, want)
		}
	}
}
