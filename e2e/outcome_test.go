//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeltree/reeltree/client"
	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/tree"
)

// write makes a file in a folder of the test's own.
func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestSecondIngestTellsItsOwnEnd: a source that is finished already says done
// all the while it is ingested anew; the command waits for the new job, and
// what it prints is how that one ended.
func TestSecondIngestTellsItsOwnEnd(t *testing.T) {
	data := t.TempDir()
	ingestOne(t, data, demo(t))
	subtitles := write(t, "other.srt", "1\n00:00:05,000 --> 00:00:09,000\nThe zeppelin carried forty barrels of marmalade.\n")
	if got := ingestOne(t, data, "--subtitles", subtitles, demo(t)); got.State != "done" {
		t.Fatalf("with other subtitles: %+v", got)
	}
	out, code := run(t, "jobs", "--data", data, "--json")
	for _, j := range lines[struct{ ID, State string }](t, out) {
		if code != 0 || j.State != "done" {
			t.Errorf("after the ingest its jobs are %s", out)
		}
	}
	if hits := cited(ask(t, data, "What did the zeppelin carry?")); len(hits) == 0 || !strings.Contains(hits[0].Quote, "marmalade") {
		t.Errorf("the new subtitles are not what is answered from: %+v", hits)
	}
	out, code = run(t, "ingest", "--data", data, "--json", "--from", "2h", "--to", "3h", demo(t))
	if got := lines[ingested](t, out); code != 1 || got[0].State != "failed" || !strings.Contains(got[0].Error, "does not lie in this source") {
		t.Errorf("a part outside of the source: exit %d, %s", code, out)
	}
}

// TestWarningsAreTold: whoever ingests at the command line reads why a source is
// partial or lacks something, as data and as text.
func TestWarningsAreTold(t *testing.T) {
	s := serve(t, t.TempDir())
	past := write(t, "past.srt", "1\n00:00:05,000 --> 00:00:09,000\nInside.\n\n2\n05:00:05,000 --> 05:00:09,000\nPast the end.\n")
	garbage := write(t, "garbage.srt", "\x00\x01\x02nothing of this is a subtitle")
	cut := testkit.Shared(t, "media", "odd", "cutmdat.mp4")
	for _, c := range []struct{ state, word, subtitles, file string }{
		{"partial", "incomplete", "", cut},
		{"done", "end", past, demo(t)},
		{"partial", "garbage.srt", garbage, demo(t)},
	} {
		args := []string{"ingest", "--server", s.addr, "--", c.file}
		if c.subtitles != "" {
			args = append([]string{"ingest", "--subtitles", c.subtitles}, args[1:]...)
		}
		_, errs, code := runWith(t, testTime, nil, binary, args...)
		if code != 0 || !strings.Contains(errs, "warning: ") || !strings.Contains(errs, c.word) {
			t.Errorf("%s %s: exit %d, stderr %q", c.file, c.subtitles, code, errs)
		}
		out, _ := run(t, append([]string{"ingest", "--json"}, args[1:]...)...)
		if got := lines[ingested](t, out)[0]; got.State != c.state || !strings.Contains(strings.Join(got.Warnings, " "), c.word) {
			t.Errorf("%s %s: %+v", c.file, c.subtitles, got)
		}
	}
}

// TestPipesAreRefused: a pipe without a writer is not waited for, whichever
// command it is given to.
func TestPipesAreRefused(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.mp4")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	for _, args := range [][]string{{"ingest", pipe}, {"ingest", "--quote", pipe}, {"ingest", "--subtitles", pipe, demo(t)}, {"probe", pipe}, {"import", pipe}} {
		_, errs, code := runWith(t, time.Minute, nil, binary, append([]string{args[0], "--data", data}, args[1:]...)...)
		if code != 1 || !strings.Contains(errs, "not a regular file") {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
}

// TestOneKillIsNoAlarm: after a service was killed the next command works on
// what is there and says nothing of how the store put itself in order.
func TestOneKillIsNoAlarm(t *testing.T) {
	data := t.TempDir()
	ingestOne(t, data, write(t, "first.md", "# Doors\n\nA door of oak led to the cellar.\n"))
	s := serve(t, data) // what it changes since its orderly start is not in the store's summaries
	must(t, "ingest", "--server", s.addr, write(t, "note.md", "# Lamps\n\nA lamp of brass hung in the hall.\n"))
	s.kill()
	out, errs, code := runWith(t, testTime, nil, binary, "list", "--data", data)
	if code != 0 || !strings.Contains(out, "note.md") || strings.Contains(errs, "Filestore") || strings.Contains(errs, "consumer") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}

// TestJobStreamEndsWithItsJob: over the WebSocket too, the second ingest of a
// source is done when its job is, and not when the source says it still is.
func TestJobStreamEndsWithItsJob(t *testing.T) {
	s := serve(t, t.TempDir())
	must(t, "ingest", "--server", s.addr, demo(t))
	f, err := os.Open(demo(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := client.New(client.Config{URL: s.addr})
	defer c.Close()
	took, err := c.Upload(t.Context(), "talk.mp4", f, client.UploadOptions{SubtitlesName: "a.srt", Subtitles: []byte("1\n00:00:05,000 --> 00:00:09,000\nA new line.\n")})
	if err != nil {
		t.Fatal(err)
	}
	socket := dial(t, s)
	socket.say(map[string]any{"type": "subscribe", "id": "j", "stream": took.Stream})
	for {
		m := socket.hear()
		if m.Type != "done" {
			continue
		}
		job, err := c.Job(t.Context(), took.Job)
		if err != nil || job.State != tree.StateDone || m.State != "done" {
			t.Errorf("the stream ends as %s while the job is %s (%v)", m.State, job.State, err)
		}
		return
	}
}
