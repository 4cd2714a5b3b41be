package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/tree"
)

// clipService is a service with a video and a finished answer, whose clips are words.
func clipService(t *testing.T, fail func(w io.Writer) error) (s *service, id string, asked *generate.Cut) {
	t.Helper()
	shelf, id := newShelf(t), strings.Repeat("a", 26)
	shelf.sources[id] = tree.Source{ID: id, Tenant: "default", Kind: tree.KindVideo, DurationMS: 10_000}
	shelf.answers["stream"] = Answer{Stream: "stream", Question: "When?", Events: finished(t,
		place(1, id, 9000, 9500), place(2, id, 2000, 3000), place(3, strings.Repeat("b", 26), 2500, 4000), place(4, id, 100, 200),
		generate.Token{Text: "Said twice."}, generate.Citation{N: 3}, generate.Citation{N: 1}, generate.Citation{N: 2}, generate.Done{Finish: "stop"})}
	asked = new(generate.Cut)
	s = newService(t, func(c *Config) {
		c.Catalog, c.Bytes, c.Records = shelf, shelf, shelf
		c.Cut = func(_ context.Context, cut generate.Cut, w io.Writer) (string, error) {
			*asked = cut
			if fail != nil {
				return "", fail(w)
			}
			_, err := io.WriteString(w, "an MP4 file")
			return "video/mp4", err
		}
	})
	return s, id, asked
}

func place(n int, source string, from, to int64) generate.Evidence {
	return generate.Evidence{N: n, Source: generate.SourceRef{ID: source, Title: "talk"}, Span: tree.MS(from, to), Quote: "words"}
}

func finished(t *testing.T, events ...generate.Event) (out []json.RawMessage) {
	t.Helper()
	for _, e := range events {
		body, err := generate.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, body)
	}
	return out
}

func spansOf(c generate.Cut) (out [][2]int64) {
	for _, p := range c.Places {
		out = append(out, [2]int64{p.Span.StartMS, p.Span.EndMS})
	}
	return out
}

func TestClipsOfParts(t *testing.T) {
	s, id, asked := clipService(t, nil)
	for query, want := range map[string][][2]int64{
		"":                                 {{0, 10_000}},
		"&parts=3300-6700":                 {{3300, 6700}},
		"&parts=8000-9000,500-700&exact=1": {{8000, 9000}, {500, 700}},
	} {
		status, h, body := s.request(t, "GET", "/v1/sources/"+id+"/export?format=clip"+query, nil, nil)
		if status != 200 || h.Get("Content-Type") != "video/mp4" || body != "an MP4 file" || !reflect.DeepEqual(spansOf(*asked), want) || asked.Exact != strings.Contains(query, "exact") {
			t.Errorf("%q: %d %v %q, asked for %+v", query, status, h, body, *asked)
		}
	}
	for _, query := range []string{"&parts=5", "&parts=5-4", "&parts=-1-4", "&parts=a-b", "&parts=1-2,"} {
		if status, _, body := s.request(t, "GET", "/v1/sources/"+id+"/export?format=clip"+query, nil, nil); status != 400 || !strings.Contains(body, `"message"`) {
			t.Errorf("%q: %d %s", query, status, body)
		}
	}
}

// TestAnswersAreExported: the cited moments as a clip, the first or all, of one
// source or of every one; and the texts generate makes of them.
func TestAnswersAreExported(t *testing.T) {
	s, id, asked := clipService(t, nil)
	for query, want := range map[string][][2]int64{
		"clip":                           {{2500, 4000}},
		"clip&concat=1":                  {{2500, 4000}, {9000, 9500}, {2000, 3000}},
		"clip&concat=1&source=" + id:     {{9000, 9500}, {2000, 3000}},
		"clip&source=" + id + "&exact=1": {{9000, 9500}},
	} {
		status, _, body := s.request(t, "GET", "/v1/answers/stream/export?format="+query, nil, nil)
		if status != 200 || body != "an MP4 file" || !reflect.DeepEqual(spansOf(*asked), want) {
			t.Errorf("%s: %d %s, asked for %v", query, status, body, spansOf(*asked))
		}
	}
	if status, h, body := s.request(t, "GET", "/v1/answers/stream/export?format=md", nil, nil); status != 200 || !strings.HasPrefix(h.Get("Content-Type"), "text/markdown") || !strings.Contains(body, "# When?") {
		t.Errorf("%d %v %s", status, h, body)
	}
	for path, want := range map[string]int{
		"stream/export?format=pdf": 400, "stream/export?format=vtt": 400, "stream/export?format=clip&source=none": 400, "none/export?format=md": 404,
	} {
		if status, _, body := s.request(t, "GET", "/v1/answers/"+path, nil, nil); status != want || !strings.Contains(body, `"message"`) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

// TestBrokenClipIsNoFile: an error before the first byte is a reply, one after
// it ends the connection, so that nobody takes half a file for a whole one.
func TestBrokenClipIsNoFile(t *testing.T) {
	s, id, _ := clipService(t, func(w io.Writer) error {
		_, _ = io.WriteString(w, strings.Repeat("half", 10_000))
		return errors.New("the disk is gone")
	})
	res, err := http.Get(s.http.URL + "/v1/sources/" + id + "/export?format=clip")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.Copy(io.Discard, res.Body); err == nil {
		t.Error("half a file looks whole")
	}
	s, id, _ = clipService(t, func(io.Writer) error { return errAbsent })
	if status, _, body := s.request(t, "GET", "/v1/sources/"+id+"/export?format=clip", nil, nil); status != 404 {
		t.Errorf("%d %s", status, body)
	}
}
