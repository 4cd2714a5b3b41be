package server

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/tree"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// random is what differs from run to run.
var random = regexp.MustCompile(`"(session|epoch)":"[0-9a-f]{16}"`)

// TestWireMessages compares every message of a session with testdata/wire.jsonl,
// where a person reviews them: > from the client, < from the service.
func TestWireMessages(t *testing.T) {
	s := newService(t, func(c *Config) { c.Answer = words("Eight kilometres.") })
	job := tree.Job{ID: strings.Repeat("j", 26), Source: strings.Repeat("s", 26), Tenant: "default", State: tree.StateRunning}
	s.shelf.jobs[job.ID] = job
	s.Report(job, tree.Progress{Stage: "describe", Done: 1, Total: 4, Calls: 2, Ready: tree.MS(0, 60_000)})
	job.State, job.Error = tree.StateFailed, "The file is empty."
	s.shelf.jobs[job.ID] = job
	s.Report(job, tree.Progress{})
	s.SourceChanged("added", tree.Source{ID: job.Source, Tenant: "default", State: tree.StateQueued})
	answer := streamID("default", "q1")
	var b strings.Builder
	conn := s.dial(t, nil)
	turn := func(message string, replies int) {
		fmt.Fprintln(&b, ">", message)
		say(t, conn, message)
		for range replies {
			_, data, err := conn.ReadMessage()
			if err != nil {
				t.Fatalf("after %s: %v", message, err)
			}
			fmt.Fprintln(&b, "<", random.ReplaceAllString(string(data), `"$1":"0000000000000000"`))
		}
	}
	turn(`{"type":"hello","client":"golden"}`, 1)
	turn(`{"type":"ping","id":"p1"}`, 1)
	turn(`{"type":"subscribe","id":"s1","stream":"`+job.ID+`"}`, 3)
	turn(`{"type":"subscribe","id":"s2","stream":"library"}`, 2)
	turn(`{"type":"ask","id":"q1","question":" "}`, 1)
	turn(`{"type":"sing"}`, 1)
	turn(`{"type":"cancel","stream":"`+strings.Repeat("x", 26)+`"}`, 1)
	if _, err := s.startAnswer(t.Context(), "default", "q1", generate.Question{Text: "How far?"}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { _, _, ended, _ := s.hub.find("default", answer).after(0); return ended })
	turn(`{"type":"ask","id":"q1","question":"How far?"}`, 6)
	turn(`{"type":"subscribe","id":"s3","stream":"`+answer+`","epoch":"0123456789abcdef","after":2}`, 7)
	turn(`{"type":"subscribe","id":"s4","stream":"`+strings.Repeat("z", 26)+`","epoch":"0123456789abcdef","after":2}`, 2)
	path := filepath.Join("testdata", "wire.jsonl")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != b.String() {
		t.Errorf("messages differ from %s (%v); run go test ./server -run TestWireMessages -update and review:\n%s", path, err, b.String())
	}
}
