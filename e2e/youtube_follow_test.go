//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestYouTubeByCommand: a video with captions is searchable by them; one
// without is a visual tree; both keep title and address.
func TestYouTubeByCommand(t *testing.T) {
	t.Parallel()
	y, env, flags := tube(t)
	data := t.TempDir()
	args := append([]string{"ingest", "--data", data, "--json"}, flags...)
	out, errs, code := runWith(t, testTime, env, binary, append(args, tubeAddress(tubeTalk), "https://youtu.be/"+tubeMute)...)
	got := lines[ingested](t, out)
	if code != 0 || len(got) != 2 || got[0].State != "done" || got[1].State != "done" {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	for i, title := range []string{"A walk along the river", "A silent walk"} {
		if g := got[i]; g.Title != title || g.DurationMS < 29_000 || g.DurationMS > 31_000 || g.Nodes.L3 < 5 {
			t.Errorf("the video is %+v", g)
		}
	}
	origins := ""
	for _, src := range lines[struct{ ID, Origin, Language string }](t, must(t, "list", "--data", data, "--json")) {
		origins += src.Origin + " " + src.Language + "\n"
	}
	if !strings.Contains(origins, tubeAddress(tubeTalk)+" en") || !strings.Contains(origins, "https://youtu.be/"+tubeMute) {
		t.Errorf("the sources come from %s", origins)
	}
	checkTubeAnswer(t, ask(t, data, tubeQuestion), got[0].Source)
	checkTubeAsked(t, y)
}

// TestYouTubeByWebSocket: progress of the download in bytes, then the ingest,
// then an answer, over one connection.
func TestYouTubeByWebSocket(t *testing.T) {
	_, env, flags := tube(t)
	s := serveWith(t, env, t.TempDir(), flags...)
	c := dial(t, s)
	c.say(map[string]any{"type": "ingest", "id": "walk", "url": tubeAddress(tubeTalk)})
	all := c.until("done", nil)
	stages := map[string]frame{}
	for _, f := range all[1:] {
		if f.Type == "progress" {
			if before := stages[f.Stage]; f.Done < before.Done && f.Total == before.Total {
				t.Errorf("progress of %s falls from %d to %d", f.Stage, before.Done, f.Done)
			}
			stages[f.Stage] = f
		}
	}
	if fetch := stages["fetch"]; fetch.Total == 0 || fetch.Done != fetch.Total || all[0].Type != "accepted" || all[0].ID != "walk" {
		t.Errorf("accepted %+v, the download's last progress is %+v", all[0], fetch)
	}
	if last := all[len(all)-1]; last.State != "done" {
		t.Fatalf("the ingest ends as %+v", last)
	}
	source := sources(t, s)[0]
	c.say(asking(tubeQuestion, "when", nil))
	var events []event
	for _, f := range c.until("done", nil) {
		events = append(events, f.event)
	}
	checkTubeAnswer(t, events, source)

	c.say(map[string]any{"type": "ingest", "id": "gone", "url": tubeAddress("zzzzzzzzzzz")})
	all = c.until("done", nil)
	if last := all[len(all)-1]; last.State != "failed" || !oneSentence(last.Fault.Message) {
		t.Errorf("a video that is gone ends as %+v", last)
	}
}

// sources are the ids of a service's sources.
func sources(t *testing.T, s *service) (ids []string) {
	t.Helper()
	for _, src := range lines[struct{ ID string }](t, must(t, "list", "--server", s.addr, "--json")) {
		ids = append(ids, src.ID)
	}
	return ids
}

// TestMakeRunWithAVideoAddress runs the script behind `make run VIDEO=…` with
// the built binary, a data folder and a port of its own: it ingests, answers,
// names the page, goes on serving it, and takes the service along when it ends.
func TestMakeRunWithAVideoAddress(t *testing.T) {
	_, env, flags := tube(t)
	listen := freePort(t)
	cmd := exec.CommandContext(t.Context(), runScript(t))
	cmd.Env = append(append(environment(), env...), "REELTREE_DATA="+t.TempDir(), "REELTREE_LISTEN="+listen, "REELTREE_PROXY="+flags[1],
		"VIDEO="+tubeAddress(tubeTalk), "QUESTION="+tubeQuestion)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var errs bytes.Buffer
	cmd.Stderr = &errs
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := readUntil(stdout, "the page: http://"+listen)
	for _, want := range []string{"ingesting " + tubeAddress(tubeTalk), "A walk along the river: done", tubeQuestion, "nineteen hundred and ten", "the page: http://" + listen} {
		if !strings.Contains(said, want) {
			t.Errorf("the script does not say %q: %s%s", want, said, errs.String())
		}
	}
	if page := get(t, "http://"+listen+"/"); !bytes.Contains(page, []byte("<html")) {
		t.Errorf("the page is %.200s", page)
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, stdout)
	_ = cmd.Wait() // ended by the signal
	if conn, err := net.DialTimeout("tcp", listen, time.Second); err == nil {
		conn.Close()
		t.Error("the service outlives the script")
	}
}

// readUntil reads lines up to one that holds words, or to the end.
func readUntil(r io.Reader, words string) string {
	var said strings.Builder
	for in := bufio.NewScanner(r); in.Scan(); {
		fmt.Fprintln(&said, in.Text())
		if strings.Contains(in.Text(), words) {
			break
		}
	}
	return said.String()
}
