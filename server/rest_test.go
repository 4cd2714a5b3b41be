package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reeltree/reeltree/tree"
)

// request sends one request and gives status, headers and body.
func (s *service) request(t testing.TB, method, path string, body io.Reader, header map[string]string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.http.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		if k == "Host" {
			req.Host = v
		}
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(b)
}

func upload(t testing.TB, name string, content []byte) (io.Reader, map[string]string) {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	part, err := form.CreateFormFile("file", name)
	if err == nil {
		_, err = part.Write(content)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return &b, map[string]string{"Content-Type": form.FormDataContentType()}
}

// put uploads content and makes it a source of the shelf.
func (s *service) put(t testing.TB, content, mime string) string {
	t.Helper()
	body, header := upload(t, "talk.mp4", []byte(content))
	status, _, reply := s.request(t, "POST", "/v1/sources", body, header)
	var took struct{ Source, Job, Stream string }
	if err := json.Unmarshal([]byte(reply), &took); err != nil || status != http.StatusAccepted || took.Stream != took.Job {
		t.Fatalf("%d %s", status, reply)
	}
	s.shelf.mu.Lock()
	defer s.shelf.mu.Unlock()
	s.shelf.sources[took.Source] = tree.Source{ID: took.Source, Tenant: "default", MIME: mime, State: tree.StateDone}
	return took.Source
}

func TestMediaIsServedWithRanges(t *testing.T) {
	s := newService(t, nil)
	id := s.put(t, "0123456789", "video/mp4")
	path := "/v1/sources/" + id + "/media"
	status, h, body := s.request(t, "GET", path, nil, map[string]string{"Range": "bytes=2-4"})
	if status != http.StatusPartialContent || body != "234" || h.Get("Content-Range") != "bytes 2-4/10" || h.Get("Content-Type") != "video/mp4" || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %q %v", status, body, h)
	}
	if status, _, _ := s.request(t, "GET", path, nil, map[string]string{"If-None-Match": `"` + id + `"`}); status != http.StatusNotModified {
		t.Errorf("conditional: %d", status)
	}
	if status, _, _ := s.request(t, "GET", path, nil, map[string]string{"Range": "bytes=20-"}); status != http.StatusRequestedRangeNotSatisfiable {
		t.Errorf("beyond the end: %d", status)
	}
	html := s.put(t, "<script>alert(1)</script>", "text/html")
	if _, h, _ := s.request(t, "GET", "/v1/sources/"+html+"/media", nil, nil); h.Get("Content-Type") != "application/octet-stream" || h.Get("Content-Disposition") != "attachment" {
		t.Errorf("HTML is served as %v", h)
	}
}

// TestFramesAtATime: only whole milliseconds within a video name a picture, and
// what the service finds there is sent once and for all.
func TestFramesAtATime(t *testing.T) {
	var asked []int64
	s := newService(t, func(c *Config) {
		c.FrameAt = func(_ context.Context, tenant, source string, atMS int64) ([]byte, error) {
			asked = append(asked, atMS)
			return fmt.Appendf(nil, "%s %s %d", tenant, source, atMS), nil
		}
	})
	id := s.put(t, "0123456789", "video/mp4")
	s.shelf.mu.Lock()
	src := s.shelf.sources[id]
	src.Kind, src.DurationMS = tree.KindVideo, 5000
	s.shelf.sources[id] = src
	s.shelf.mu.Unlock()
	path := "/v1/sources/" + id + "/frames/"
	status, h, body := s.request(t, "GET", path+"4999.jpg", nil, nil)
	if status != http.StatusOK || body != "default "+id+" 4999" || h.Get("Content-Type") != "image/jpeg" || !strings.Contains(h.Get("Cache-Control"), "immutable") {
		t.Errorf("%d %q %v", status, body, h)
	}
	for _, file := range []string{"5000.jpg", "-1.jpg", "x.jpg", "1e3.jpg", "99999999999999999999.jpg", "10", ".jpg"} {
		if status, _, body := s.request(t, "GET", path+file, nil, nil); status != http.StatusNotFound || !strings.Contains(body, "1206") {
			t.Errorf("%s: %d %s", file, status, body)
		}
	}
	if len(asked) != 1 {
		t.Errorf("asked for %v", asked)
	}
}

func TestRefusalsAreNumberedSentences(t *testing.T) {
	s := newService(t, nil)
	id := strings.Repeat("a", 26)
	js := map[string]string{"Content-Type": "application/json"}
	for _, c := range []struct {
		method, path, body string
		header             map[string]string
		status, code       int
	}{
		{"GET", "/v1/nothing", "", nil, 404, codeNoRoute},
		{"PUT", "/v1/sources", "", nil, 404, codeNoRoute},
		{"GET", "/v1/sources/" + id, "", nil, 404, codeNoSource},
		{"GET", "/v1/sources/..%2f..%2fetc", "", nil, 404, codeNoSource},
		{"GET", "/v1/sources/" + id + "/media", "", nil, 404, codeNoSource},
		{"GET", "/v1/frames/" + id + ".jpg", "", nil, 404, codeNoFrame},
		{"GET", "/v1/frames/x.png", "", nil, 404, codeNoFrame},
		{"GET", "/v1/jobs/" + id, "", nil, 404, codeNoJob},
		{"POST", "/v1/jobs/" + id, `{"action":"dance"}`, js, 400, codeBadAction},
		{"POST", "/v1/sources", "{}", js, 400, codeBadRequest},
		{"POST", "/v1/sources", "x", nil, 400, codeBadRequest},
		{"POST", "/v1/sources", `{"url":"u","x":1}`, js, 400, codeBadRequest},
		{"POST", "/v1/answers", `{"question":""}`, js, 400, codeBadQuestion},
		{"POST", "/v1/answers", `nonsense`, js, 400, codeBadRequest},
		{"POST", "/v1/answers", `{"question":"` + strings.Repeat("a", readLimit) + `"}`, js, 413, codeTooLarge},
		{"GET", "/v1/answers/" + id, "", nil, 404, codeNoStream},
		{"GET", "/v1/search?q=", "", nil, 400, codeBadQuestion},
		{"GET", "/healthz", "", map[string]string{"Host": "evil.example"}, 403, codeBadOrigin},
		{"DELETE", "/v1/sources/" + id, "", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403, codeBadOrigin},
	} {
		status, _, body := s.request(t, c.method, c.path, strings.NewReader(c.body), c.header)
		var reply struct{ Error *Error }
		if err := json.Unmarshal([]byte(body), &reply); err != nil || reply.Error == nil || status != c.status || reply.Error.Code != c.code || strings.Contains(reply.Error.Message, "\n") {
			t.Errorf("%s %s %.40s: %d %s, want %d and code %d", c.method, c.path, c.body, status, body, c.status, c.code)
		}
	}
}

func TestEveryRouteNeedsTheToken(t *testing.T) {
	s := newService(t, func(c *Config) { c.Token = "sesame" })
	id := strings.Repeat("a", 26)
	for _, route := range []string{
		"POST /v1/sources", "GET /v1/sources", "GET /v1/sources/" + id, "DELETE /v1/sources/" + id, "GET /v1/sources/" + id + "/tree", "GET /v1/sources/" + id + "/media",
		"GET /v1/sources/" + id + "/export", "GET /v1/sources/" + id + "/captions.vtt", "GET /v1/sources/" + id + "/chapters.vtt", "POST /v1/import", "POST /v1/quotes",
		"GET /v1/frames/" + id + ".jpg", "GET /v1/jobs", "GET /v1/jobs/" + id, "DELETE /v1/jobs/" + id, "POST /v1/jobs/" + id, "GET /v1/search", "POST /v1/answers", "GET /v1/answers", "GET /v1/answers/" + id, "GET /v1/answers/" + id + "/export",
	} {
		method, path, _ := strings.Cut(route, " ")
		for _, token := range []string{"", "Bearer wrong", "sesame"} {
			if status, _, body := s.request(t, method, path, nil, map[string]string{"Authorization": token}); status != http.StatusUnauthorized {
				t.Errorf("%s with %q: %d %s", route, token, status, body)
			}
		}
	}
	if status, _, _ := s.request(t, "GET", "/v1/sources", nil, map[string]string{"Authorization": "Bearer sesame"}); status != http.StatusOK {
		t.Errorf("with the token: %d", status)
	}
}

func TestTicketsOpenOnlyTheirBytesForTheirTime(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := newService(t, func(c *Config) { c.Token = "sesame"; c.Now = func() time.Time { return now } })
	mine, other := strings.Repeat("a", 26), strings.Repeat("b", 26)
	ticket := s.ticket("default", "/v1/sources/"+mine+"/")
	for path, open := range map[string]bool{
		"/v1/sources/" + mine + "/media": true, "/v1/sources/" + mine + "/captions.vtt": true, "/v1/sources/" + other + "/media": false,
		"/v1/sources/" + mine + "/tree": false, "/v1/sources/" + mine: false, "/v1/frames/" + mine + ".jpg": false,
		"/v1/sources/" + mine + "/frames/1.jpg": false,
	} {
		if got := s.ticketOpens("default", path, ticket); got != open {
			t.Errorf("%s: %v", path, got)
		}
	}
	if s.ticketOpens("other", "/v1/sources/"+mine+"/media", ticket) || s.ticketOpens("default", "/v1/sources/"+mine+"/media", ticket+"x") {
		t.Error("another tenant's or a changed ticket opens")
	}
	picture := "/v1/sources/" + mine + "/frames/1000.jpg"
	if own := s.ticket("default", picture); !s.ticketOpens("default", picture, own) || s.ticketOpens("default", "/v1/sources/"+mine+"/frames/2000.jpg", own) {
		t.Error("the ticket of a picture does not open just that")
	}
	now = now.Add(2 * time.Hour)
	if s.ticketOpens("default", "/v1/sources/"+mine+"/media", ticket) {
		t.Error("an old ticket opens")
	}
}

func TestEventStreamResumes(t *testing.T) {
	s := newService(t, nil)
	js := map[string]string{"Content-Type": "application/json"}
	_, h, whole := s.request(t, "POST", "/v1/answers", strings.NewReader(`{"id":"sse","question":"How far?"}`), js)
	events := strings.Split(strings.TrimSpace(whole), "\n\n")
	if h.Get("Content-Type") != "text/event-stream" || !strings.Contains(events[len(events)-1], "event: done") {
		t.Fatalf("%v %s", h, whole)
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(events[1], "id: "), "\n")
	_, _, rest := s.request(t, "GET", "/v1/answers/"+h.Get("X-Reeltree-Stream"), nil, map[string]string{"Last-Event-ID": id})
	if strings.Contains(rest, "id: "+id+"\n") || !strings.Contains(rest, "event: done") {
		t.Errorf("resumed after %s: %s", id, rest)
	}
	js["Accept"] = "application/json"
	_, _, body := s.request(t, "POST", "/v1/answers", strings.NewReader(`{"id":"sse","question":"How far?"}`), js)
	var all struct {
		Text string
		Done struct {
			TextSHA256 string `json:"text_sha256"`
		}
	}
	if err := json.Unmarshal([]byte(body), &all); err != nil || all.Text == "" || all.Done.TextSHA256 != sha(all.Text) {
		t.Errorf("%s %v", body, err)
	}
}

func TestListenNeedsATokenInPublic(t *testing.T) {
	for addr, ok := range map[string]bool{"127.0.0.1:1": true, "localhost:1": true, "[::1]:1": true, "0.0.0.0:1": false, ":1": false, "192.0.2.1:1": false, "x": false} {
		if err := ValidateListen(addr, ""); (err == nil) != ok {
			t.Errorf("%s: %v", addr, err)
		}
	}
	if err := ValidateListen("0.0.0.0:1", "sesame"); err != nil {
		t.Error(err)
	}
}

func TestErrorTableIsWhole(t *testing.T) {
	var b bytes.Buffer
	if err := WriteErrorTable(&b); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, row := range errorTable {
		if seen[row.code] || !strings.Contains(b.String(), fmt.Sprintf("| %d | %d |", row.code, row.status)) || newError(row.code, "x").status != row.status {
			t.Errorf("row %+v", row)
		}
		seen[row.code] = true
	}
}

func TestPageHasAPolicy(t *testing.T) {
	s := newService(t, nil)
	for path, want := range map[string]string{"/": "no-cache", "/assets/app-1a2b.js": "public, max-age=31536000, immutable"} {
		if _, h, _ := s.request(t, "GET", path, nil, nil); h.Get("Cache-Control") != want {
			t.Errorf("%s: %q", path, h.Get("Cache-Control"))
		}
	}
	status, h, body := s.request(t, "GET", "/", nil, nil)
	if status != 200 || !strings.Contains(body, "<title>page") || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'self'") || h.Get("Set-Cookie") != "" {
		t.Errorf("%d %v %s", status, h, body)
	}
}

func FuzzDecodeStrict(f *testing.F) {
	f.Add([]byte(`{"type":"ask","id":"a","question":"x"}`))
	f.Add([]byte(`{"a":[{"b":1}]} trailing`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		var m askBody
		_ = decodeStrict(data, &m) // must neither panic nor hang
	})
}
