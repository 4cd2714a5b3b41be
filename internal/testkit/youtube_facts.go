package testkit

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// player answers the question for a video's facts.
func (y *YouTube) player(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		VideoID string `json:"videoId"`
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	v, ok := y.video(ask.VideoID)
	if !ok {
		v = Video{ID: ask.VideoID, Mode: "gone"}
	}
	switch v.Mode {
	case "stall-facts":
		y.stall(r)
	case "html":
		writePage(w, 200)
	case "bad-json":
		_, _ = io.WriteString(w, `{"videoDetails":{"title":"cut`)
	case "500", "429":
		status, _ := strconv.Atoi(v.Mode)
		http.Error(w, "no", status)
	case "huge-facts":
		_, _ = io.Copy(w, io.LimitReader(spaces{}, 40<<20))
	case "gzip-facts":
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bytes.Repeat(packed(strings.Repeat(" ", 1<<20)), 100))
	case "redirect-away":
		http.Redirect(w, r, "http://10.0.0.1/youtubei/v1/player", http.StatusTemporaryRedirect)
	case "redirect-loop":
		http.Redirect(w, r, "https://www.youtube.com/youtubei/v1/player", http.StatusTemporaryRedirect)
	default:
		writeJSON(w, 200, facts(v))
	}
}

// spaces is an endless body of blanks, which is valid JSON so far.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// states are the playability of videos that are not shown.
var states = map[string]map[string]any{
	"login":    {"status": "LOGIN_REQUIRED", "reason": "Sign in to confirm your age"},
	"private":  {"status": "LOGIN_REQUIRED", "reason": "This video is private"},
	"upcoming": {"status": "LIVE_STREAM_OFFLINE", "reason": "This live event will begin in 3 hours."},
	"region":   {"status": "UNPLAYABLE", "reason": "The uploader has not made this video available in your country"},
	"members":  {"status": "UNPLAYABLE", "reason": "Join this channel to get access to members-only content"},
	"gone":     {"status": "ERROR", "reason": "This video is unavailable"},
}

func facts(v Video) map[string]any {
	if s, ok := states[v.Mode]; ok {
		return map[string]any{"playabilityStatus": s}
	}
	seconds := v.Seconds
	streaming := map[string]any{"expiresInSeconds": "21540"}
	switch v.Mode {
	case "no-formats":
	case "no-sound":
		streaming["adaptiveFormats"] = []any{format(v, 136, 720, 0), format(v, 140, 0, 2)}
	case "live":
		seconds = 0
		streaming["hlsManifestUrl"] = "https://manifest.googlevideo.com/hls.m3u8"
		streaming["adaptiveFormats"] = []any{format(v, 136, 720, 0)}
	default:
		streaming["formats"] = []any{format(v, 22, 1080, 2), format(v, 18, 360, 2)}
		streaming["adaptiveFormats"] = []any{format(v, 136, 720, 0)}
	}
	out := map[string]any{
		"playabilityStatus": map[string]any{"status": "OK", "playableInEmbed": true},
		"videoDetails": map[string]any{
			"videoId": v.ID, "title": v.Title, "author": v.Author, "lengthSeconds": strconv.Itoa(seconds),
		},
		"streamingData": streaming,
	}
	if v.Language != "" {
		track := map[string]any{"languageCode": v.Language, "baseUrl": "https://www.youtube.com/api/timedtext"}
		if v.Heard {
			track["kind"] = "asr"
		}
		out["captions"] = map[string]any{"playerCaptionsTracklistRenderer": map[string]any{"captionTracks": []any{track}}}
	}
	return out
}

func format(v Video, itag, height, channels int) map[string]any {
	kind := `video/mp4; codecs="avc1.42001E, mp4a.40.2"`
	if height == 0 {
		kind = `audio/mp4; codecs="mp4a.40.2"`
	}
	length := len(v.Media)
	if v.Mode == "lying-length" {
		length += 1000
	}
	address := fmt.Sprintf("https://rr1---sn-scripted.googlevideo.com/videoplayback?id=%s&itag=%d", v.ID, itag)
	if v.Mode == "private-media" {
		address = "http://10.0.0.1/videoplayback"
	}
	f := map[string]any{
		"itag": itag, "mimeType": kind, "bitrate": 1000 * height, "height": height, "width": height * 16 / 9,
		"audioChannels": channels, "url": address,
	}
	if v.Mode != "no-length" {
		f["contentLength"] = strconv.Itoa(length)
	}
	if strings.HasPrefix(v.Mode, "cipher") || v.Mode == "broken-script" {
		delete(f, "url")
		if v.Mode == "cipher-script" {
			address += "&v=abc"
		}
		f["signatureCipher"] = url.Values{"s": {scrambled}, "sp": {"sig"}, "url": {address}}.Encode()
	}
	return f
}

// The scrambled signature and what the steps of base.js make of it: drop one,
// reverse, swap the first with number 2.
const (
	scrambled = "xfedcba"
	unlocked  = "cbadef"
)

const baseJS = `var a;var Mt={sp:function(a,b){a.splice(0,b)},
rv:function(a){a.reverse()},
sw:function(a,b){var c=a[0];a[0]=a[b%a.length];a[b%a.length]=c}};
Xy=function(a){a=a.split("");Mt.sp(a,1);Mt.rv(a,9);Mt.sw(a,2);return a.join("")};
`

func (y *YouTube) home(w http.ResponseWriter, r *http.Request) {
	for _, v := range y.all() {
		if v.Mode == "stall-home" {
			y.stall(r)
			return
		}
	}
	_, _ = io.WriteString(w, "<html><script>\nytcfg.set({\"INNERTUBE_CONTEXT\":{\"client\":{\"visitorData\":\"scripted%3D\"}}});</script></html>")
}

// watch is the page a client falls back to for the reason.
func (y *YouTube) watch(w http.ResponseWriter, r *http.Request) {
	v, ok := y.video(r.URL.Query().Get("v"))
	if !ok {
		v.Mode = "gone"
	}
	_, _ = fmt.Fprintf(w, "<html><script>var ytInitialPlayerResponse = %s;</script></html>", mustJSON(facts(v)))
}

func (y *YouTube) embed(w http.ResponseWriter, r *http.Request) {
	build := "good0000"
	if v, _ := y.video(r.PathValue("id")); v.Mode == "broken-script" {
		build = "broken00"
	}
	_, _ = fmt.Fprintf(w, `<html><script src="/s/player/%s/player_ias.vflset/en_US/base.js"></script></html>`, build)
}

func (y *YouTube) script(w http.ResponseWriter, r *http.Request) {
	js := baseJS
	if r.PathValue("build") == "broken00" {
		js = js[:40]
	}
	_, _ = io.WriteString(w, js)
}

// transcript answers in the shape for apps, the only one the client reads.
func (y *YouTube) transcript(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Params string `json:"params"`
	}
	_ = json.NewDecoder(r.Body).Decode(&ask) // a broken request names no video
	id, language := transcriptWish(ask.Params)
	v, _ := y.video(id)
	base, _, _ := strings.Cut(v.Language, "-")
	switch {
	case v.Mode == "bad-transcript":
		_, _ = io.WriteString(w, "{")
		return
	case v.Mode == "no-transcript" || base != language:
		writeJSON(w, 200, map[string]any{})
		return
	}
	var segments []any
	for _, c := range v.Captions {
		segments = append(segments, nest("transcriptSegmentRenderer", map[string]any{
			"startMs": strconv.Itoa(c.StartMS), "endMs": strconv.Itoa(c.EndMS),
			"snippet": nest("elementsAttributedString", "content", c.Text),
		}))
	}
	command := nest("transformEntityCommand", "arguments", "transformTranscriptSegmentListArguments", "overwrite", "initialSegments", segments)
	writeJSON(w, 200, map[string]any{"actions": []any{map[string]any{"elementsCommand": command}}})
}

// nest wraps the last value in objects with the keys before it.
func nest(path ...any) any {
	v := path[len(path)-1]
	for i := len(path) - 2; i >= 0; i-- {
		v = map[string]any{path[i].(string): v}
	}
	return v
}

// transcriptWish reads the id and the language of two letters out of the
// packed parameters of a request for a transcript.
func transcriptWish(params string) (id, language string) {
	b, err := base64.RawStdEncoding.DecodeString(params)
	if err != nil || len(b) < 15 {
		return "", ""
	}
	inner, err := url.QueryUnescape(strings.TrimSuffix(string(b[15:]), "\x18\x01"))
	if err != nil {
		return string(b[2:13]), ""
	}
	packed, err := base64.StdEncoding.DecodeString(inner)
	if err != nil || len(packed) < 9 {
		return string(b[2:13]), ""
	}
	return string(b[2:13]), string(packed[7:9])
}
