//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
)

// The ids of scripted videos; the first begins with a dash, as real ones may.
const (
	tubeTalk = "-9BsEvS2uHU"
	tubeMute = "aaaaaaaaaaa"
)

// tubeQuestion is answered by the captions of the talk alone.
const tubeQuestion = "When was the bridge over the Sitter opened?"

var tubeCaptions = []testkit.TubeCaption{
	{StartMS: 0, EndMS: 5000, Text: "Welcome to a walk along the river Sitter."},
	{StartMS: 6000, EndMS: 12000, Text: "The bridge over the Sitter\nwas opened in nineteen hundred and ten."},
	{StartMS: 13000, EndMS: 19000, Text: "Ninety nine metres make it the highest of its kind in the country."},
	{StartMS: 28000, EndMS: 34000, Text: "Thank you for walking with me."},
}

// tube is a scripted YouTube with a talk, the same without captions, and what
// else is asked for; env and flags lead a binary to it, and nothing in the
// binary knows.
func tube(t *testing.T, more ...testkit.Video) (y *testkit.YouTube, env, flags []string) {
	t.Helper()
	film := filepath.Join(t.TempDir(), "film.mp4")
	ffmpeg(t, "-i", slides(t), "-map", "0:v", "-c", "copy", "-t", "30", film)
	media, err := os.ReadFile(film)
	if err != nil {
		t.Fatal(err)
	}
	talk := testkit.Video{ID: tubeTalk, Title: "A walk along the river", Author: "Ada", Seconds: 30, Media: media, Language: "en", Captions: tubeCaptions}
	mute := talk
	mute.ID, mute.Title, mute.Language, mute.Captions = tubeMute, "A silent walk", "", nil
	mute.Media = slices.Concat(media, []byte{0, 0, 0, 8, 'f', 'r', 'e', 'e'}) // other bytes: a source of its own
	for i := range more {
		more[i].Title, more[i].Seconds, more[i].Media = "Not to be had", 30, media
	}
	y = testkit.NewYouTube(t, append(more, talk, mute)...)
	return y, []string{"SSL_CERT_FILE=" + y.Proxy.CA.File(t)}, []string{"--proxy", y.Proxy.URL}
}

func tubeAddress(id string) string { return "https://www.youtube.com/watch?v=" + id }

// checkTubeAnswer: the talk's captions answer, with their times cut at the end.
func checkTubeAnswer(t *testing.T, events []event, source string) {
	t.Helper()
	hits := cited(events)
	if len(hits) == 0 || !covers(hits, 8000) {
		t.Errorf("the cited spans %+v miss 0:08", hits)
	}
	for _, e := range hits {
		if e.Source.ID != source || e.Span.EndMS > 30_000 {
			t.Errorf("cited %+v, want spans of %s up to 30 s", e, source)
		}
	}
}

// TestYouTubeByREST: a video with captions is searchable by them; one without
// is a visual tree; both keep title and address.
func TestYouTubeByREST(t *testing.T) {
	t.Parallel()
	y, env, flags := tube(t)
	s := serveWith(t, env, t.TempDir(), flags...)
	talk, mute := ingestAddress(t, s, tubeAddress(tubeTalk)), ingestAddress(t, s, "https://youtu.be/"+tubeMute)
	for want, src := range map[string]source{
		"A walk along the river " + tubeAddress(tubeTalk) + " en done": talk,
		"A silent walk https://youtu.be/" + tubeMute + "  done":        mute,
	} {
		if got := fmt.Sprint(src.Title, " ", src.Origin, " ", src.Language, " ", src.State); got != want || src.DurationMS < 29_000 || src.DurationMS > 31_000 || src.Nodes.L3 < 5 {
			t.Errorf("the source is %q, %+v, want %q", got, src, want)
		}
	}
	checkTubeAnswer(t, askAt(t, s, tubeQuestion), talk.ID)
	checkTubeAsked(t, y)
}

// checkTubeAsked: facts, captions and media came from where YouTube keeps them,
// and the proxy saw nothing but tunnels.
func checkTubeAsked(t *testing.T, y *testkit.YouTube) {
	t.Helper()
	asked := strings.Join(y.Asked(), "\n")
	for _, path := range []string{"/youtubei/v1/player", "/youtubei/v1/get_transcript", "rr1---sn-scripted.googlevideo.com/videoplayback"} {
		if !strings.Contains(asked, path) {
			t.Errorf("nobody asked for %s: %s", path, asked)
		}
	}
	for _, target := range y.Proxy.Asked() {
		if !strings.HasPrefix(target, "CONNECT ") {
			t.Errorf("the proxy saw %s", target)
		}
	}
}

// source is what these tests read of a source.
type source struct {
	ID, Title, Origin, Language, State string
	DurationMS                         int64 `json:"duration_ms"`
	Nodes                              struct{ L1, L2, L3 int }
}

// ingestAddress posts an address and polls until its source rests.
func ingestAddress(t *testing.T, s *service, address string) (src source) {
	t.Helper()
	took := post[struct{ Job string }](t, s.addr+"/v1/sources", `{"url":"`+address+`"}`)
	if state := waitForJob(t, s, took.Job); state != "done" {
		t.Fatalf("the download of %s ends as %s", address, state)
	}
	var job struct{ Source string }
	if err := json.Unmarshal(get(t, s.addr+"/v1/jobs/"+took.Job), &job); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the source to rest", func() bool {
		err := json.Unmarshal(get(t, s.addr+"/v1/sources/"+job.Source), &src)
		return err == nil && src.State != "queued" && src.State != "running"
	})
	return src
}

// TestYouTubeStates: whatever is not to be had ends as failed with a sentence,
// and leaves no source behind; the next one of the same command is tried.
func TestYouTubeStates(t *testing.T) {
	t.Parallel()
	states := map[string]string{
		"login": "after login", "private": "is private", "live": "live stream", "upcoming": "has not begun", "region": "blocked in the region",
		"members": "paid for", "gone": "no video", "no-formats": "no download", "403": "status 403", "403-later": "stopped after", "short": "fewer bytes",
		"html": "cannot be read", "500": "status 500", "429": "status 429", "private-media": "not a public address",
	}
	var videos []testkit.Video
	var modes []string
	for mode := range states {
		modes = append(modes, mode)
		videos = append(videos, testkit.Video{ID: (mode + "-----------")[:11], Mode: mode})
	}
	_, env, flags := tube(t, videos...)
	data := t.TempDir()
	args := append([]string{"ingest", "--data", data, "--json"}, flags...)
	for _, v := range videos {
		args = append(args, tubeAddress(v.ID))
	}
	out, errs, code := runWith(t, testTime, env, binary, args...)
	got := lines[ingested](t, out)
	if code != 1 || len(got) != len(modes) {
		t.Fatalf("exit %d, %d lines: %s", code, len(got), errs)
	}
	for i, mode := range modes {
		if g := got[i]; g.State != "failed" || !oneSentence(g.Error) || !strings.Contains(g.Error, states[mode]) || g.Source != "" {
			t.Errorf("%s: %+v, want failed with %q", mode, g, states[mode])
		}
	}
	if kept := must(t, "list", "--data", data); kept != "" {
		t.Errorf("sources stay: %s", kept)
	}
}

// TestYouTubeAddressesAreChecked: a wrong id is refused before anything is
// connected to, a private host as well, and a host that only looks like
// YouTube's is never treated as YouTube.
func TestYouTubeAddressesAreChecked(t *testing.T) {
	t.Parallel()
	y, env, flags := tube(t)
	canary, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer canary.Close()
	met := make(chan struct{}, 1)
	go func() {
		if conn, err := canary.Accept(); err == nil {
			conn.Close()
			met <- struct{}{}
		}
	}()
	refused := []string{
		tubeAddress("short"), tubeAddress(tubeTalk + "x"), tubeAddress("-9BsEvS2u%2FU"), "https://www.youtube.com/playlist?list=PL12345678901", "https://youtu.be/",
		"http://" + canary.Addr().String() + "/watch?v=" + tubeTalk, "http://youtube.com@" + canary.Addr().String() + "/watch?v=" + tubeTalk,
		"https://localhost/watch?v=" + tubeTalk, "https://2130706433/watch?v=" + tubeTalk,
	}
	args := append([]string{"ingest", "--data", t.TempDir(), "--json"}, flags...)
	out, _, code := runWith(t, testTime, env, binary, append(args, refused...)...)
	got := lines[ingested](t, out)
	if code != 1 || len(got) != len(refused) {
		t.Fatalf("exit %d: %s", code, out)
	}
	for i, g := range got {
		if g.State != "failed" || !oneSentence(g.Error) {
			t.Errorf("%s: %+v", refused[i], g)
		}
	}
	if asked := y.Proxy.Asked(); len(asked) != 0 || len(met) != 0 {
		t.Errorf("the proxy was asked for %v, the canary met %d", asked, len(met))
	}
	args[2] = t.TempDir()
	out, _, _ = runWith(t, testTime, env, binary, append(args, "https://www.youtube.com.evil.test/watch?v="+tubeTalk)...)
	if g := lines[ingested](t, out)[0]; !strings.Contains(g.Error, "cannot reach www.youtube.com.evil.test") || len(y.Asked()) != 0 {
		t.Errorf("a host that looks like YouTube's: %+v, YouTube was asked for %v", g, y.Asked())
	}
}

// TestProxyOfTheEnvironmentIsNotUsed: the variables other programs follow lead
// to a canary; the setting alone decides.
func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	t.Parallel()
	y, env, flags := tube(t)
	trap := testkit.NewProxy(t, func(string) http.Handler { return nil })
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"} {
		env = append(env, name+"="+trap.URL)
	}
	ingestAddress(t, serveWith(t, env, t.TempDir(), flags...), tubeAddress(tubeTalk))
	if len(y.Asked()) == 0 || len(trap.Asked()) != 0 {
		t.Errorf("YouTube was asked %d times, the other proxy for %v", len(y.Asked()), trap.Asked())
	}
	out, _, code := runWith(t, testTime, env, binary, "ingest", "--data", t.TempDir(), "--json", "http://10.0.0.1/film.mp4")
	if code != 1 || len(trap.Asked()) != 0 {
		t.Errorf("without the setting: exit %d, %s, the other proxy was asked for %v", code, out, trap.Asked())
	}
}
