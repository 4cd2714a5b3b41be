//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
)

const testTime = 5 * time.Minute

// twoHours makes a recording of two hours: one picture a second and the
// transcripts of meetings as an SRT track in MKV.
func twoHours(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	srt := filepath.Join(dir, "two.srt")
	if err := os.WriteFile(srt, []byte(meetingsAsSRT(t, 7200)), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "two.mkv")
	cmd := exec.CommandContext(t.Context(), "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=1",
		"-i", srt, "-t", "7200", "-map", "0:v", "-map", "1:s", "-c:v", "libx264", "-preset", "ultrafast", "-crf", "35", "-c:s", "srt", file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, out)
	}
	return file
}

func meetingsAsSRT(t *testing.T, seconds float64) string {
	t.Helper()
	rows := testkit.ReadJSONLines[struct {
		Turns []struct {
			Start, End    float64
			Speaker, Text string
		}
	}](t, testkit.Shared(t, "bench", "meetings-dev.jsonl.gz"))
	var b strings.Builder
	n, offset := 0, 0.0
	for _, row := range rows {
		for _, turn := range row.Turns {
			if offset+turn.End > seconds {
				return b.String()
			}
			n++
			fmt.Fprintf(&b, "%d\n%s --> %s\n%s: %s\n\n", n, srtTime(offset+turn.Start), srtTime(offset+turn.End), turn.Speaker, turn.Text)
		}
		offset += row.Turns[len(row.Turns)-1].End
	}
	return b.String()
}

func srtTime(seconds float64) string {
	ms := int64(seconds*1000 + .5)
	return fmt.Sprintf("%02d:%02d:%02d,%03d", ms/3600000, ms/60000%60, ms/1000%60, ms%1000)
}

// TestTwoHourRecording holds the figures of a long recording: ingest within
// 60 s with the whole process tree under 400 MB, first evidence under 100 ms
// after accepted. The limits are the product's promise, not a benchmark.
func TestTwoHourRecording(t *testing.T) {
	file := twoHours(t)
	s := serve(t, t.TempDir())
	peak := watchMemory(t, s.cmd.Process.Pid)
	began := time.Now()
	out, code := run(t, "ingest", "--server", s.addr, "--json", file)
	took := time.Since(began)
	if code != 0 {
		t.Fatalf("ingest: exit %d, %s", code, out)
	}
	got := lines[ingested](t, out)[0]
	t.Logf("two hours: %v, peak of the process tree %d MB, nodes %+v", took, peak()>>20, got.Nodes)
	if got.DurationMS != 7_200_000 {
		t.Errorf("duration %d ms, want 7,200,000", got.DurationMS)
	}
	if limit := raceFactor * 60 * time.Second; took > limit {
		t.Errorf("ingest took %v, more than %v", took, limit)
	}
	if p := peak(); p > 400<<20 {
		t.Errorf("the process tree used %d MB, more than 400", p>>20)
	}
	events := askAt(t, s, "What was said about overlapping speech?", "--source", got.Source)
	if len(cited(events)) == 0 {
		t.Error("a question from the file was not answered with citations")
	}
	if ms := events[len(events)-1].TimingMS.Retrieve; ms > 100 {
		t.Errorf("first evidence after %.0f ms, more than 100", ms)
	}
}

// raceFactor is 1: the binary under test is built without the race detector.
const raceFactor = 1

// watchMemory samples the resident memory of a process and its descendants
// until the test ends and returns the largest sum seen.
func watchMemory(t *testing.T, pid int) func() int64 {
	t.Helper()
	stop, result := make(chan struct{}), make(chan int64, 1)
	go func() {
		var peak int64
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				result <- peak
				return
			case <-tick.C:
				peak = max(peak, treeRSS(pid))
			}
		}
	}()
	var peak int64 = -1
	return func() int64 {
		if peak < 0 {
			close(stop)
			peak = <-result
		}
		return peak
	}
}

func treeRSS(pid int) int64 {
	var total int64
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	if f := strings.Fields(string(statm)); len(f) > 1 {
		pages, _ := strconv.ParseInt(f[1], 10, 64)
		total = pages * int64(os.Getpagesize())
	}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		children, _ := os.ReadFile(task)
		for child := range strings.FieldsSeq(string(children)) {
			id, _ := strconv.Atoi(child)
			total += treeRSS(id)
		}
	}
	return total
}

// TestKilledIngestGoesOn kills the service with SIGKILL at three moments of one
// ingest and compares the final tree with that of an undisturbed run.
func TestKilledIngestGoesOn(t *testing.T) {
	file := twoHours(t)
	calm := t.TempDir()
	want := ingestOne(t, calm, file)
	wantTree, _ := run(t, "show", "--data", calm, "--json", want.Source)

	data := t.TempDir()
	for _, clips := range []int{2, 40, 90} {
		s := serve(t, data)
		post := exec.CommandContext(t.Context(), binary, "ingest", "--server", s.addr, "--json", file)
		post.Env = environment()
		if err := post.Start(); err != nil {
			t.Fatal(err)
		}
		waitForClips(t, s, want.Source, clips)
		s.kill()
		_ = post.Wait()
	}
	got := ingestOne(t, data, file)
	gotTree, _ := run(t, "show", "--data", data, "--json", got.Source)
	if got.State != "done" || normalise(t, gotTree) != normalise(t, wantTree) {
		t.Errorf("after three kills the tree differs: state %s, %d against %d bytes", got.State, len(gotTree), len(wantTree))
	}
}

// normalise drops what may differ between two runs: when and by which job.
func normalise(t *testing.T, tree string) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(tree), &v); err != nil {
		t.Fatalf("show: %v: %.200s", err, tree)
	}
	if m, ok := v["metadata"].(map[string]any); ok {
		if s, ok := m["source"].(map[string]any); ok {
			for _, key := range []string{"created", "job"} {
				delete(s, key)
			}
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// waitForClips polls the tree until it has so many L2 nodes.
func waitForClips(t *testing.T, s *service, source string, clips int) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(2 * time.Minute)
	for {
		select {
		case <-deadline:
			t.Fatalf("no %d clips after 2 minutes: %s", clips, s.logs)
		case <-tick.C:
			if countL2(s.addr, source) >= clips {
				return
			}
		}
	}
}

func countL2(addr, source string) int {
	out, err := exec.Command(binary, "show", "--server", addr, "--json", source).Output()
	if err != nil {
		return 0
	}
	var tree struct {
		Roots []struct{ Children []json.RawMessage }
	}
	if json.Unmarshal(out, &tree) != nil {
		return 0
	}
	n := 0
	for _, r := range tree.Roots {
		n += len(r.Children)
	}
	return n
}
