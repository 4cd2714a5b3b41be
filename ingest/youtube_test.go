package ingest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
)

const tubeID = "-9BsEvS2uHU"

var tubeMedia = bytes.Repeat([]byte("all the bytes of a film "), 1<<20/2) // 12 MB: two chunks

// newTube is a scripted YouTube with one video and a fetcher for it.
func newTube(t *testing.T, mode string) (*Fetcher, *testkit.YouTube) {
	t.Helper()
	y := testkit.NewYouTube(t, testkit.Video{
		ID: tubeID, Title: "A\u202e talk\nabout rivers", Author: "Ada", Seconds: 60, Media: tubeMedia, Language: "en", Mode: mode,
		Captions: []testkit.TubeCaption{
			{StartMS: 2000, EndMS: 4000, Text: "Second\nline"},
			{StartMS: 0, EndMS: 2000, Text: "First line"},
			{StartMS: 59000, EndMS: 63000, Text: "Last line"},
			{StartMS: 70000, EndMS: 71000, Text: "Beyond the end"},
			{StartMS: 5000, EndMS: 5000, Text: "No length"},
		},
	})
	stall := 2 * time.Second
	if mode == "stall-home" {
		stall = time.Minute
	}
	return tubeFetcher(t, y, FetchConfig{Stall: stall, MaxBytes: 64 << 20}), y
}

// tubeFetcher goes to a scripted YouTube through its proxy, over TLS.
func tubeFetcher(t *testing.T, y *testkit.YouTube, c FetchConfig) *Fetcher {
	t.Helper()
	c.Proxy, c.Resolver = y.Proxy.URL, fakeDNS(t, "142.250.1.91")
	f := newFetcher(t, c)
	f.web.TLSClientConfig = &tls.Config{RootCAs: y.Proxy.CA.Pool()}
	return f
}

func TestYouTube(t *testing.T) {
	for _, mode := range []string{"", "cipher", "no-length", "short-once", "no-sound"} {
		t.Run("mode "+mode, func(t *testing.T) {
			f, y := newTube(t, mode)
			var out bytes.Buffer
			var done, total int64
			got, err := f.Fetch(t.Context(), "https://www.youtube.com/watch?v="+tubeID+"&t=3", FetchOptions{Language: "en-US"}, &out,
				func(d, of int64) {
					if d < done {
						t.Errorf("progress falls from %d to %d", done, d)
					}
					done, total = d, of
				})
			if err != nil || !bytes.Equal(out.Bytes(), tubeMedia) || got.Bytes != int64(len(tubeMedia)) || done != got.Bytes {
				t.Fatalf("%+v, %d bytes, progress %d, error %v", got, out.Len(), done, err)
			}
			if got.Title != "A talk about rivers" || got.Author != "Ada" || got.DurationMS != 60000 || got.MIME != "video/mp4" {
				t.Errorf("facts %+v", got)
			}
			if (mode != "no-length") != (total == got.Bytes) || (mode == "no-sound") != (len(got.Warnings) == 1) {
				t.Errorf("total %d, warnings %q", total, got.Warnings)
			}
			if len(got.Captions) != 3 || got.Language != "en" || got.Captions[0].Text != "First line" ||
				got.Captions[1].Text != "Second line" || got.Captions[2].EndMS != 60000 {
				t.Errorf("captions %+v in %q", got.Captions, got.Language)
			}
			for _, asked := range y.Asked() {
				if host := strings.Fields(asked)[1]; !strings.HasPrefix(host, "www.youtube.com/") && !strings.HasPrefix(host, "youtube.com/") &&
					!strings.HasPrefix(host, "rr1---sn-scripted.googlevideo.com/videoplayback") {
					t.Errorf("asked %s", asked)
				}
			}
		})
	}
}

// TestYouTubeStates: each state is one sentence, in time, with nothing more
// written than came before it.
func TestYouTubeStates(t *testing.T) {
	for mode, want := range map[string]struct {
		words string
		retry bool
	}{
		"login": {"only after login", false}, "private": {"is private", false}, "live": {"live stream", true},
		"upcoming": {"has not begun", true}, "region": {"blocked in the region", false}, "members": {"paid for", false},
		"gone": {"no video " + tubeID, false}, "no-formats": {"no download", false}, "cipher-script": {"cannot be read", false},
		"broken-script": {"cannot be", true}, "403": {"status 403", true}, "403-later": {"stopped after", true},
		"short": {"fewer bytes", true}, "long": {"more bytes", false}, "lying-length": {"stopped after", true}, "partial": {"status 206", false},
		"reset": {"broke off", true}, "stall": {"sent nothing", true}, "stall-facts": {"does not answer", true},
		"html": {"cannot be read", true}, "bad-json": {"cannot be read", true}, "huge-facts": {"more than 16777216 bytes", false},
		"gzip-facts": {"cannot be read", true}, "redirect-away": {"redirects to 10.0.0.1", false}, "redirect-loop": {"more than 5 times", false},
		"500": {"status 500", true}, "429": {"status 429", true}, "private-media": {"not a public address", false},
	} {
		t.Run(mode, func(t *testing.T) {
			f, y := newTube(t, mode)
			var out bytes.Buffer
			start := time.Now()
			_, err := f.Fetch(t.Context(), "https://youtu.be/"+tubeID, FetchOptions{}, &out, nil)
			var named *FetchError
			if !errors.As(err, &named) || !strings.Contains(err.Error(), want.words) || strings.ContainsAny(err.Error(), "\n") {
				t.Fatalf("error %v, want %q", err, want.words)
			}
			if named.Retry != want.retry && mode != "broken-script" {
				t.Errorf("retry %v, want %v: %v", named.Retry, want.retry, err)
			}
			if n := strings.Count(strings.Join(y.Asked(), " "), "/videoplayback"); mode == "403" && n != 1 {
				t.Errorf("a refused address was asked %d times", n)
			}
			if d := time.Since(start); d > 10*time.Second {
				t.Errorf("took %s", d)
			}
			if out.Len() > len(tubeMedia)+1 || !bytes.HasPrefix(tubeMedia, out.Bytes()[:min(out.Len(), len(tubeMedia))]) {
				t.Errorf("%d wrong bytes were written", out.Len())
			}
		})
	}
}

// TestYouTubeWithoutCaptions is a warning or nothing, never a failure.
func TestYouTubeWithoutCaptions(t *testing.T) {
	for _, c := range []struct{ mode, language, words string }{
		{"", "de", `no captions in "de"`}, {"no-transcript", "", "hands out none"}, {"bad-transcript", "en", "could not be fetched"},
	} {
		f, _ := newTube(t, c.mode)
		got, err := f.Fetch(t.Context(), "https://youtu.be/"+tubeID, FetchOptions{Language: c.language}, io.Discard, nil)
		if err != nil || len(got.Captions) != 0 || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], c.words) {
			t.Errorf("%s: %+v, error %v", c.mode, got, err)
		}
	}
}

func TestYouTubeCancel(t *testing.T) {
	asked := map[string]string{
		"stall-facts": "POST www.youtube.com/youtubei/v1/player", "stall-home": "GET www.youtube.com/",
	}
	for _, mode := range []string{"stall", "stall-facts", "stall-home"} {
		f, y := newTube(t, mode)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		half := make(chan struct{})
		go func() {
			_, err := f.Fetch(ctx, "https://youtu.be/"+tubeID, FetchOptions{}, io.Discard, func(n, _ int64) {
				if n >= 5<<20-1 {
					close(half)
				}
			})
			done <- err
		}()
		if mode == "stall" {
			<-half
		} else {
			for !slices.Contains(y.Asked(), asked[mode]) {
				if err := fetchWait(t.Context(), time.Millisecond); err != nil {
					t.Fatal(err)
				}
			}
		}
		cancel()
		start := time.Now()
		if err := <-done; !errors.Is(err, context.Canceled) || time.Since(start) > time.Second {
			t.Errorf("%s: %v after %s", mode, err, time.Since(start))
		}
	}
}

func TestYouTubeTooLarge(t *testing.T) {
	_, y := newTube(t, "")
	f := tubeFetcher(t, y, FetchConfig{MaxBytes: 1 << 20})
	if _, err := f.Fetch(t.Context(), "https://youtu.be/"+tubeID, FetchOptions{}, io.Discard, nil); err == nil || !strings.Contains(err.Error(), "more than the allowed 1048576") {
		t.Errorf("error %v", err)
	}
	if slices.ContainsFunc(y.Asked(), func(s string) bool { return strings.Contains(s, "videoplayback") }) {
		t.Error("the media was asked for although its length was known")
	}
}

func TestYouTubeID(t *testing.T) {
	for address, want := range map[string]string{
		"https://www.youtube.com/watch?v=-9BsEvS2uHU":             tubeID,
		"http://youtube.com/watch?list=PL1&v=-9BsEvS2uHU&t=1m":    tubeID,
		"https://m.youtube.com/watch?v=-9BsEvS2uHU#x":             tubeID,
		"https://music.youtube.com/watch?v=-9BsEvS2uHU":           tubeID,
		"https://youtu.be/-9BsEvS2uHU?si=abc":                     tubeID,
		"https://www.youtube.com/shorts/-9BsEvS2uHU":              tubeID,
		"https://www.youtube.com/embed/-9BsEvS2uHU?start=1":       tubeID,
		"https://www.youtube-nocookie.com/embed/-9BsEvS2uHU":      tubeID,
		"https://www.youtube.com/live/-9BsEvS2uHU/":               tubeID,
		"https://YOUTUBE.com./v/-9BsEvS2uHU":                      tubeID,
		"https://www.youtube.com/watch?v=short":                   "",
		"https://www.youtube.com/watch?v=-9BsEvS2uHUx":            "",
		"https://www.youtube.com/watch?v=-9BsEvS2u%2FU":           "",
		"https://www.youtube.com/watch":                           "",
		"https://www.youtube.com/":                                "",
		"https://www.youtube.com/playlist?list=PL12345678901":     "",
		"https://youtu.be/":                                       "",
		"https://www.youtube.com/@channel":                        "",
		"https://www.youtube.com/redirect?q=http://x/-9BsEvS2uHU": "",
	} {
		u, err := url.Parse(address)
		if err != nil || !isYouTube(u) {
			t.Fatalf("%s: %v", address, err)
		}
		if got, err := youTubeID(u); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", address, got, err, want)
		}
	}
	for _, address := range []string{
		"https://youtube.com.evil.test/watch?v=-9BsEvS2uHU", "https://evilyoutube.com/watch?v=-9BsEvS2uHU", "https://evil.test/youtube.com/-9BsEvS2uHU",
		"https://notyoutu.be/-9BsEvS2uHU", "https://youtube.com@evil.test/watch?v=-9BsEvS2uHU",
	} {
		if u, err := url.Parse(address); err != nil || isYouTube(u) {
			t.Errorf("%s was taken for YouTube", address)
		}
	}
}
