package testkit

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// YouTube is a scripted YouTube: the paths a client asks for facts,
// transcripts, scripts and media, behind a proxy that stands for youtube.com
// and googlevideo.com. A product under test is told the proxy and its
// authority; nothing else in it knows of the script.
type YouTube struct {
	Proxy *Proxy

	quit chan struct{}

	mu     sync.Mutex
	videos map[string]Video
	asked  []string // "GET www.youtube.com/watch", in order
}

// Video is one scripted video.
type Video struct {
	ID       string
	Title    string
	Author   string
	Seconds  int
	Media    []byte
	Captions []TubeCaption // in one language
	Language string        // of the captions
	Heard    bool          // the captions are automatic ones
	Mode     string        // see VideoModes; empty = all is well
}

// TubeCaption is one line of a transcript.
type TubeCaption struct {
	StartMS, EndMS int
	Text           string
}

// VideoModes are the ways a video misbehaves.
var VideoModes = map[string]string{
	"login":          "LOGIN_REQUIRED, whatever client asks",
	"private":        "LOGIN_REQUIRED with the reason of private videos",
	"live":           "a running live stream: no length, a playlist",
	"upcoming":       "LIVE_STREAM_OFFLINE",
	"region":         "UNPLAYABLE in this country",
	"members":        "UNPLAYABLE for non-members",
	"gone":           "ERROR, the video is unavailable",
	"no-formats":     "playable, but nothing to download",
	"no-sound":       "picture and sound apart only",
	"cipher":         "the address must be deciphered with base.js",
	"cipher-script":  "the same, but only by running a script",
	"broken-script":  "the same with a base.js that ends in the middle",
	"no-length":      "no contentLength, one reply",
	"403":            "status 403 at once",
	"403-later":      "status 403 from 30 % on",
	"short-once":     "every chunk of 10 MB is cut off once, then goes on",
	"short":          "chunks end too early, always",
	"long":           "chunks go on too long",
	"lying-length":   "the media is shorter than contentLength says",
	"partial":        "status 206 for chunks",
	"reset":          "the connection breaks in every chunk",
	"stall":          "nothing more after the first half",
	"stall-facts":    "no reply to the question for facts",
	"stall-home":     "no reply to the first question for the home page",
	"html":           "a web page instead of facts",
	"bad-json":       "facts that are no JSON",
	"huge-facts":     "facts of 40 MB",
	"gzip-facts":     "packed facts of 100 MB although nothing packed was asked for",
	"redirect-away":  "facts redirect to another host",
	"redirect-loop":  "facts redirect to themselves",
	"500":            "status 500 for facts",
	"429":            "status 429 for facts",
	"no-transcript":  "captions are listed, but the transcript is disabled",
	"bad-transcript": "the transcript is no JSON",
	"private-media":  "the media address leads to 10.0.0.1",
}

// NewYouTube starts a scripted YouTube that is closed with the test.
func NewYouTube(tb testing.TB, videos ...Video) *YouTube {
	tb.Helper()
	y := &YouTube{videos: map[string]Video{}, quit: make(chan struct{})}
	for _, v := range videos {
		y.videos[v.ID] = v
	}
	site := y.site()
	y.Proxy = NewProxy(tb, func(host string) http.Handler {
		if base := strings.TrimPrefix(host, "www."); base == "youtube.com" || strings.HasSuffix(host, ".googlevideo.com") {
			return site
		}
		return nil
	})
	tb.Cleanup(func() { close(y.quit) }) // before the proxy waits for its replies
	return y
}

// site is the paths of both hosts; it records every request.
func (y *YouTube) site() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /youtubei/v1/player", y.player)
	mux.HandleFunc("POST /youtubei/v1/get_transcript", y.transcript)
	mux.HandleFunc("GET /{$}", y.home)
	mux.HandleFunc("GET /watch", y.watch)
	mux.HandleFunc("GET /embed/{id}", y.embed)
	mux.HandleFunc("GET /s/player/{build}/player_ias.vflset/en_US/base.js", y.script)
	mux.HandleFunc("GET /videoplayback", y.media)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		y.mu.Lock()
		y.asked = append(y.asked, r.Method+" "+r.Host+r.URL.Path)
		y.mu.Unlock()
		mux.ServeHTTP(w, r)
	})
}

// Add adds or replaces a video.
func (y *YouTube) Add(v Video) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.videos[v.ID] = v
}

// Asked lists the requests so far as "METHOD HOST/PATH".
func (y *YouTube) Asked() []string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return append([]string(nil), y.asked...)
}

func (y *YouTube) video(id string) (Video, bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	v, ok := y.videos[id]
	return v, ok
}

func (y *YouTube) all() []Video {
	y.mu.Lock()
	defer y.mu.Unlock()
	return slices.Collect(maps.Values(y.videos))
}

// stall waits for the client to go away.
func (y *YouTube) stall(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-y.quit:
	}
}
