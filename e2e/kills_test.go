//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
)

var (
	kills     = flag.Int("kills", 4, "kills of TestKilledBatch, of the service and of media workers")
	killBatch = flag.Int("killbatch", 6, "sources of TestKilledBatch")
	killSeed  = flag.Uint64("killseed", 1, "seed of the moments of TestKilledBatch")
)

// patches is a film of 8 x 6 grey patches that change every four seconds, other
// ones for each seed.
func patches(seed int) string {
	return fmt.Sprintf("nullsrc=s=8x6:r=1/4,geq=lum='mod(X*(37+%[1]d)*(Y+3)+Y*Y*(91+7*%[1]d)+(N+1)*(53+11*%[1]d)*(X+2),256)':cb=128:cr=128,scale=320:240:flags=neighbor,fps=5", seed)
}

// clipsOf makes short films that all differ, with a transcript each, and one
// file that no worker can read.
func clipsOf(t *testing.T, n int) (files []string) {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		sub, film := filepath.Join(dir, fmt.Sprint(i)+".srt"), filepath.Join(dir, fmt.Sprint("film", i, ".mkv"))
		text := fmt.Sprintf("1\n00:00:01,000 --> 00:00:09,000\nThis is film %d about %s.\n\n2\n00:00:31,000 --> 00:00:39,000\nAnd it ends with the number %d.\n", i,
			[]string{"harvest", "drying", "storage", "transport", "markets"}[i%5], 1000+i)
		if err := os.WriteFile(sub, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ffmpeg(t, "-f", "lavfi", "-i", patches(i),
			"-i", sub, "-t", "40", "-map", "0:v", "-map", "1:s", "-c:v", "libx264", "-preset", "ultrafast", "-c:s", "srt", film)
		files = append(files, film)
	}
	return files
}

// upload hands a file over and gives the source that was accepted.
func upload(t *testing.T, s *service, file string) string {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	part, err := form.CreateFormFile("file", filepath.Base(file))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	reply, err := http.Post(s.addr+"/v1/sources", form.FormDataContentType(), &b)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	said, _ := io.ReadAll(reply.Body)
	var accepted struct{ Source string }
	if err := json.Unmarshal(said, &accepted); err != nil || reply.StatusCode != http.StatusAccepted || accepted.Source == "" {
		t.Fatalf("%s: %d %s", file, reply.StatusCode, said)
	}
	return accepted.Source
}

// states asks how far the sources are.
func states(t *testing.T, s *service) map[string]string {
	t.Helper()
	reply, err := http.Get(s.addr + "/v1/sources")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	var all struct {
		Sources []struct{ ID, State string }
	}
	if err := json.NewDecoder(reply.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, src := range all.Sources {
		out[src.ID] = src.State
	}
	return out
}

// ended waits until every source has ended and gives their states.
func ended(t *testing.T, s *service, n int) map[string]string {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for {
		all, open := states(t, s), 0
		for _, state := range all {
			if state != "done" && state != "partial" && state != "failed" {
				open++
			}
		}
		if open == 0 && len(all) == n {
			return all
		}
		if time.Now().After(deadline) {
			t.Fatalf("after five minutes: %v\n%s", all, tail(s.logs.String(), 4000))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// children are the processes that a process has started.
func children(pid int) (pids []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range tasks {
		text, _ := os.ReadFile(name)
		for f := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(f); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids
}

// TestKilledBatch kills the service or one of its media workers again and again
// while it ingests a batch. What is there at the end equals an undisturbed run;
// a reply that came whole is paid again only when the kill fell between its
// last byte and the disk.
func TestKilledBatch(t *testing.T) {
	t.Parallel()
	files := clipsOf(t, *killBatch)
	calm, calmEnd := t.TempDir(), testkit.NewEndpoint(t)
	quiet := serve(t, calm, visionArgs(calmEnd)...)
	var sources []string
	for _, f := range files {
		sources = append(sources, upload(t, quiet, f))
	}
	ended(t, quiet, len(files))

	e, data, rng := testkit.NewEndpoint(t), t.TempDir(), rand.New(rand.NewPCG(*killSeed, 2))
	e.Always("ok-jitter:40ms")
	s := serve(t, data, visionArgs(e)...)
	for _, f := range files {
		upload(t, s, f)
	}
	var fell []time.Time
	workers := 0
	for len(fell) < *kills {
		time.Sleep(time.Duration(rng.Int64N(int64(1500 * time.Millisecond))))
		if child := children(s.cmd.Process.Pid); rng.IntN(2) == 0 && len(child) > 0 {
			_ = syscall.Kill(child[rng.IntN(len(child))], syscall.SIGKILL)
			workers++
		} else {
			s.kill()
			s = serve(t, data, visionArgs(e)...)
		}
		fell = append(fell, time.Now())
	}
	for id, state := range ended(t, s, len(files)) {
		if state != "done" {
			var src struct{ Error string }
			requestJSON(t, http.MethodGet, s.addr+"/v1/sources/"+id, &src)
			t.Errorf("%s is %s: %s", id, state, src.Error)
		}
	}
	for _, id := range sources {
		one, _ := run(t, "show", "--server", quiet.addr, "--json", id)
		two, _ := run(t, "show", "--server", s.addr, "--json", id)
		if normalise(t, one) != normalise(t, two) {
			t.Errorf("the trees of %s differ: %d and %d bytes", id, len(one), len(two))
		}
	}
	question := "Which film ends with the number 1003?"
	one, _ := run(t, "ask", "--server", quiet.addr, "--answerer", "extractive", question)
	two, _ := run(t, "ask", "--server", s.addr, "--answerer", "extractive", question)
	if one != two || one == "" {
		t.Errorf("the answers differ: %q and %q", one, two)
	}
	again := paidTwice(e.Calls())
	t.Logf("%d kills, %d of them of media workers; %d calls where an undisturbed run makes %d; %d whole replies paid again", len(fell), workers, e.Count(), calmEnd.Count(), len(again))
	late := 0
	for _, c := range e.Calls() {
		if again[string(c.Body)] == 0 || c.Mode == "hang" || c.Cancelled {
			continue
		}
		for _, at := range fell {
			if d := at.Sub(c.Closed); d > -2*time.Second && d < 2*time.Second {
				late++
				break
			}
		}
	}
	if late < len(again) {
		t.Errorf("%d replies were paid again, %d of them near a kill", len(again), late)
	}
}
