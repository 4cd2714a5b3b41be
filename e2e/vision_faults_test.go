//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
)

// onBatches is a script that misbehaves in the L3 calls for several pictures.
func onBatches(mode string) func(testkit.Call) string {
	return func(c testkit.Call) string {
		if isBatch(c) {
			return mode
		}
		return ""
	}
}

// TestVisionRepliesOutOfShape: what can be read is read; what cannot costs one
// call per picture; the tree is full either way, and every call is counted.
func TestVisionRepliesOutOfShape(t *testing.T) {
	t.Parallel()
	file := slides(t)
	for mode, falls := range map[string]bool{"fence": false, "prose": false, "cutjson": true, "fewer": true, "badjson-always": true} {
		t.Run(mode, func(t *testing.T) {
			e, data := testkit.NewEndpoint(t), t.TempDir()
			e.Script(onBatches(mode))
			got := ingestOne(t, data, visionArgs(e, file)...)
			tree := showTree(t, data, got.Source)
			full(t, tree)
			want, _, frames := planned(tree)
			if falls {
				want.Fallback = frames
			}
			if seen, _ := count(t, e.Calls()); got.State != "done" || seen != want || tree.Metadata.Calls != want || got.Calls != e.Count() {
				t.Errorf("%s: the endpoint saw %+v, the tree keeps %+v, want %+v", got.State, seen, tree.Metadata.Calls, want)
			}
			checkLeaves(t, tree, e.Calls(), falls)
		})
	}
}

// checkLeaves: the texts of moments are those of the calls for one picture
// where the batches could not be read, else elements of the batches.
func checkLeaves(t *testing.T, tree nativeTree, all []testkit.Call, alone bool) {
	t.Helper()
	var given strings.Builder
	for _, c := range all {
		if kind := kindOf(t, c); kind == "fallback" && alone || kind == "l3" && !alone {
			fmt.Fprintln(&given, c.Reply)
		}
	}
	for _, l1 := range tree.Roots {
		for _, l2 := range l1.Children {
			for _, l3 := range l2.Children {
				if l3.Evidence.Frame != nil && !strings.Contains(given.String(), l3.Description) {
					t.Errorf("%s says %q, which no reply does", l3.ID, l3.Description)
				}
			}
		}
	}
}

// TestVisionModelThatOnlySpeaksBadly: every reply of the whole job is cut, yet
// the tree is full.
func TestVisionModelThatOnlySpeaksBadly(t *testing.T) {
	t.Parallel()
	e, data := testkit.NewEndpoint(t), t.TempDir()
	e.Always("badjson-always")
	got := ingestOne(t, data, visionArgs(e, slides(t))...)
	if got.State != "done" {
		t.Errorf("ingest says %+v", got)
	}
	full(t, showTree(t, data, got.Source))
}

// TestVisionWaitsAsTold: on the endpoint's own clock no request comes again
// before its Retry-After has passed, and the retries are not in the counts.
func TestVisionWaitsAsTold(t *testing.T) {
	e, data := testkit.NewEndpoint(t), t.TempDir()
	waits := []string{"429:2", "429-date:2", "429:1"}
	e.Next(waits...)
	got := ingestOne(t, data, visionArgs(e, slides(t))...)
	want, _, _ := planned(showTree(t, data, got.Source))
	all := e.Calls()
	if n := want.L1 + want.L2 + want.L3; got.Calls != n || len(all) != n+len(waits) {
		t.Errorf("%d calls in %d requests, want %d in %d", got.Calls, len(all), n, n+len(waits))
	}
	for i, mode := range waits {
		again := slices.IndexFunc(all[i+1:], func(c testkit.Call) bool { return string(c.Body) == string(all[i].Body) }) + i + 1
		if again == i {
			t.Fatalf("the request that got %s never came again", mode)
		}
		least := 2 * time.Second
		if mode == "429:1" {
			least = time.Second
		}
		if d := all[again].Opened.Sub(all[i].Opened); d < least || d > least+10*time.Second {
			t.Errorf("%s came again after %v", mode, d)
		}
	}
}

// TestVisionTreesDoNotDependOnDelays: whatever the order of replies and the
// concurrency, exports are equal byte for byte; the native trees are equal but
// for the time at which and the job by which they were made (normalise).
func TestVisionTreesDoNotDependOnDelays(t *testing.T) {
	t.Parallel()
	var wantExport, wantNative string
	for i, c := range []struct{ mode, concurrency string }{{"ok", "16"}, {"ok-jitter:80ms", "1"}, {"ok-jitter:80ms", "16"}, {"ok-jitter:200ms", "5"}} {
		e, data := testkit.NewEndpoint(t), t.TempDir()
		e.Always(c.mode)
		got := ingestOne(t, data, visionArgs(e, "--concurrency", c.concurrency, slides(t))...)
		export, code := run(t, "export", "--data", data, "--format", "tree", got.Source)
		native, code2 := run(t, "show", "--data", data, "--json", got.Source)
		if code != 0 || code2 != 0 || len(export) < 1000 {
			t.Fatalf("export: exit %d and %d, %d bytes", code, code2, len(export))
		}
		native = normalise(t, native)
		if i == 0 {
			wantExport, wantNative = export, native
		}
		if export != wantExport || native != wantNative {
			t.Errorf("%s with concurrency %s gives another tree", c.mode, c.concurrency)
		}
		if c.concurrency == "1" && e.MaxOpen() != 1 {
			t.Errorf("%d calls were open at once", e.MaxOpen())
		}
	}
}

// startIngest begins an ingest at a service and leaves it alone.
func startIngest(t *testing.T, s *service, args ...string) (wait func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"ingest", "--server", s.addr, "--json"}, args...)...)
	cmd.Env = environment()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() { _ = cmd.Wait() } // its service is killed, so it fails
}

// waitForCall waits until the endpoint holds call n open.
func waitForCall(t *testing.T, e *testkit.Endpoint, n int, ok func(testkit.Call) bool) testkit.Call {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := e.Wait(ctx, n, ok)
	if err != nil {
		t.Fatalf("call %d did not come: the endpoint saw %d", n, e.Count())
	}
	return c
}

// TestKilledVisionIngestPaysOnce kills the service at three moments, each while
// one call hangs. One call at a time runs, so the reply of every earlier call
// has been stored when the next one comes: none of them may come again.
func TestKilledVisionIngestPaysOnce(t *testing.T) {
	t.Parallel()
	file := slides(t)
	calm, data := t.TempDir(), t.TempDir()
	quiet := testkit.NewEndpoint(t)
	want := ingestOne(t, calm, visionArgs(quiet, file)...)

	e := testkit.NewEndpoint(t)
	kills := 0
	for _, at := range []int{0, 7, want.Calls - 1} {
		stop := at + kills // each kill repeats the call it interrupted
		e.Script(func(testkit.Call) string {
			if e.Count() < stop { // calls come one by one, so this is the call's number
				return ""
			}
			return "hang"
		})
		s := serve(t, data, visionArgs(e, "--concurrency", "1")...)
		wait := startIngest(t, s, file)
		waitForCall(t, e, stop, nil)
		s.kill()
		wait()
		kills++
	}
	e.Script(nil)
	got := ingestOne(t, data, visionArgs(e, "--concurrency", "1", file)...)
	compareRuns(t, calm, data, want, got)
	if n := e.Count(); n != want.Calls+kills {
		t.Errorf("%d requests, want the %d of a calm run and %d that were interrupted", n, want.Calls, kills)
	}
	for body, n := range paidTwice(e.Calls()) {
		t.Errorf("a call that had its whole reply was made %d times: %.300s", n, body)
	}
}

// paidTwice are the requests that had a whole reply and came again.
func paidTwice(all []testkit.Call) map[string]int {
	paid := map[string]int{}
	for _, c := range all {
		if c.Mode != "hang" && !c.Cancelled {
			paid[string(c.Body)]++
		}
	}
	for body, n := range paid {
		if n == 1 {
			delete(paid, body)
		}
	}
	return paid
}

// compareRuns holds two ingests of the same file to the same tree.
func compareRuns(t *testing.T, a, b string, first, second ingested) {
	t.Helper()
	one, _ := run(t, "show", "--data", a, "--json", first.Source)
	two, _ := run(t, "show", "--data", b, "--json", second.Source)
	if first.State != "done" || second.State != "done" || normalise(t, one) != normalise(t, two) {
		t.Errorf("the trees of %s and %s differ: %d and %d bytes", first.State, second.State, len(one), len(two))
	}
}

// TestKilledWhileManyCallsRun kills with sixteen calls at once, at moments that
// nothing waits for. A reply on its way to the disk may be lost; one that a
// later call was already built on may not.
func TestKilledWhileManyCallsRun(t *testing.T) {
	t.Parallel()
	file := slides(t)
	calm, data := t.TempDir(), t.TempDir()
	want := ingestOne(t, calm, visionArgs(testkit.NewEndpoint(t), file)...)
	e := testkit.NewEndpoint(t)
	e.Always("ok-jitter:150ms")
	var used []string
	for _, at := range []int{6, 9} {
		s := serve(t, data, visionArgs(e)...)
		wait := startIngest(t, s, file)
		waitForCall(t, e, e.Count()+at, nil)
		used = append(used, builtOn(t, e.Calls())...)
		s.kill()
		wait()
	}
	got := ingestOne(t, data, visionArgs(e, file)...)
	compareRuns(t, calm, data, want, got)
	again := paidTwice(e.Calls())
	for _, body := range used {
		if n := again[body]; n > 0 {
			t.Errorf("a call whose text was in use was made %d times: %.300s", n, body)
		}
	}
	if len(used) == 0 || len(again) > 2*16 {
		t.Errorf("%d calls were in use, %d paid calls came again", len(used), len(again))
	}
}

// builtOn are the L2 requests whose text stands in a later prompt.
func builtOn(t *testing.T, all []testkit.Call) (bodies []string) {
	t.Helper()
	for i, c := range all {
		if kindOf(t, c) == "l2" && slices.ContainsFunc(all[i+1:], func(later testkit.Call) bool { return strings.Contains(later.Prompt, c.Reply) }) {
			bodies = append(bodies, string(c.Body))
		}
	}
	return bodies
}

// TestCappedVisionIngestGoesOn: a cap pauses the job before it is passed, a
// higher one goes on from there, and no call is made twice.
func TestCappedVisionIngestGoesOn(t *testing.T) {
	t.Parallel()
	file := slides(t)
	calm, data := t.TempDir(), t.TempDir()
	want := ingestOne(t, calm, visionArgs(testkit.NewEndpoint(t), file)...)
	e := testkit.NewEndpoint(t)
	s := serve(t, data, visionArgs(e)...)
	out, _ := run(t, append(visionArgs(e, "ingest", "--server", s.addr, "--json", "--max-calls", "7"), file)...)
	got := lines[ingested](t, out)[0]
	if got.State != "paused" || !oneSentence(got.Error) || !strings.Contains(got.Error, "7 calls") || e.Count() > 7 || e.Count() == 0 {
		t.Fatalf("with a cap of 7: %d calls, %+v", e.Count(), got)
	}
	job := lines[struct{ ID, State string }](t, must(t, "jobs", "--server", s.addr, "--json"))[0]
	for _, limit := range []int{14, want.Calls} {
		must(t, "jobs", "--server", s.addr, "--json", "--new-calls", fmt.Sprint(limit), "resume", job.ID)
		state := waitForJob(t, s, job.ID)
		if state != map[bool]string{true: "done", false: "paused"}[limit == want.Calls] || e.Count() > limit {
			t.Fatalf("with a cap of %d: %s after %d calls", limit, state, e.Count())
		}
	}
	s.kill()
	compareRuns(t, calm, data, want, ingested{Source: got.Source, State: "done"})
	if again := paidTwice(e.Calls()); len(again) > 0 || e.Count() != want.Calls {
		t.Errorf("%d calls, %d of them again, want %d", e.Count(), len(again), want.Calls)
	}
}

// TestCapHoldsForEveryRequest: calls for single pictures and requests that fail
// count against the same cap; what was paused goes on once the cap is higher.
func TestCapHoldsForEveryRequest(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"cutjson", "500", "429:1"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			const limit = 7
			e, data := testkit.NewEndpoint(t), t.TempDir()
			e.Script(onBatches(mode))
			out, _ := run(t, append(visionArgs(e, "ingest", "--data", data, "--json", "--max-calls", fmt.Sprint(limit)), slides(t))...)
			if got := lines[ingested](t, out)[0]; got.State != "paused" || !oneSentence(got.Error) || e.Count() > limit {
				t.Fatalf("%d requests with a cap of %d, %+v", e.Count(), limit, got)
			}
			e.Script(nil)
			if got := ingestOne(t, data, visionArgs(e, slides(t))...); got.State != "done" {
				t.Errorf("without a cap it ends as %+v", got)
			}
			full(t, showTree(t, data, sourceOf(t, data)))
		})
	}
}

// sourceOf is the only source of a data folder.
func sourceOf(t *testing.T, data string) string {
	t.Helper()
	all := lines[struct{ ID string }](t, must(t, "list", "--data", data, "--json"))
	if len(all) != 1 {
		t.Fatalf("%d sources", len(all))
	}
	return all[0].ID
}

// must runs a command that has to succeed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	out, code := run(t, args...)
	if code != 0 {
		t.Fatalf("%s: exit %d, %s", strings.Join(args, " "), code, out)
	}
	return out
}

// waitForJob polls a job until it rests and gives its state.
func waitForJob(t *testing.T, s *service, id string) string {
	t.Helper()
	var job struct{ State string }
	waitFor(t, "job "+id+" to rest", func() bool {
		err := json.Unmarshal(get(t, s.addr+"/v1/jobs/"+id), &job)
		return err == nil && job.State != "queued" && job.State != "running"
	})
	return job.State
}

// waitFor polls until ok holds, for a minute at most.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("after a minute still waiting for %s", what)
		}
	}
}
