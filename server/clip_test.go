package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/tree"
)

// clipService is a service with one video whose clips are the words of their parts.
func clipService(t *testing.T, fail func(parts []Part, w io.Writer) error) (s *service, id string, asked *[]Part) {
	t.Helper()
	shelf, id := newShelf(t), strings.Repeat("a", 26)
	shelf.sources[id] = tree.Source{ID: id, Tenant: "default", Kind: tree.KindVideo}
	asked = new([]Part)
	s = newService(t, func(c *Config) {
		c.Catalog, c.Bytes = shelf, shelf
		c.Answer = func(_ context.Context, _ generate.Question, emit generate.Emit) error {
			place := func(n int, from, to int64) generate.Evidence {
				return generate.Evidence{N: n, Source: generate.SourceRef{ID: id}, Span: tree.MS(from, to)}
			}
			text := "Said twice."
			for _, e := range []generate.Event{
				place(1, 9000, 9500), place(2, 2000, 3000), place(3, 2500, 4000), place(4, 100, 200),
				generate.Token{Text: text},
				generate.Citation{N: 3},
				generate.Citation{N: 1},
				generate.Citation{N: 2},
				generate.Done{Finish: "stop", TextSHA256: sha(text)},
			} {
				if err := emit(e); err != nil {
					return err
				}
			}
			return nil
		}
		c.Clip = func(_ context.Context, _, _ string, parts []Part, exact bool, w io.Writer) error {
			*asked = parts
			if fail != nil {
				return fail(parts, w)
			}
			_, err := io.WriteString(w, "an MP4 file, exact="+map[bool]string{true: "yes", false: "no"}[exact])
			return err
		}
	})
	return s, id, asked
}

func TestClipsOfParts(t *testing.T) {
	s, id, asked := clipService(t, nil)
	for query, want := range map[string][]Part{
		"":                                 nil,
		"&parts=3300-6700":                 {{3300, 6700}},
		"&parts=8000-9000,500-700&exact=1": {{8000, 9000}, {500, 700}},
	} {
		status, h, body := s.request(t, "GET", "/v1/sources/"+id+"/export?format=clip"+query, nil, nil)
		if status != 200 || h.Get("Content-Type") != "video/mp4" || !strings.HasPrefix(body, "an MP4") || !reflect.DeepEqual(*asked, want) {
			t.Errorf("%q: %d %v %q, asked for %v", query, status, h, body, *asked)
		}
		if strings.Contains(query, "exact") != strings.HasSuffix(body, "yes") {
			t.Errorf("%q: %q", query, body)
		}
	}
	for _, query := range []string{"&parts=5", "&parts=5-4", "&parts=-1-4", "&parts=a-b", "&parts=1-2,", "&answer=" + strings.Repeat("z", 26)} {
		if status, _, body := s.request(t, "GET", "/v1/sources/"+id+"/export?format=clip"+query, nil, nil); status != 400 && status != 404 || !strings.Contains(body, `"message"`) {
			t.Errorf("%q: %d %s", query, status, body)
		}
	}
}

// TestClipOfAnAnswer: the cited moments in time order, joined where they
// overlap; what was shown but not cited stays out.
func TestClipOfAnAnswer(t *testing.T) {
	s, id, asked := clipService(t, nil)
	js := map[string]string{"Content-Type": "application/json"}
	_, h, _ := s.request(t, "POST", "/v1/answers", strings.NewReader(`{"id":"q","question":"When?"}`), js)
	stream := h.Get("X-Reeltree-Stream")
	status, _, body := s.request(t, "GET", "/v1/sources/"+id+"/export?format=clip&answer="+stream, nil, nil)
	if want := []Part{{2000, 4000}, {9000, 9500}}; status != 200 || !reflect.DeepEqual(*asked, want) {
		t.Errorf("%d %s, asked for %v", status, body, *asked)
	}
}

// TestBrokenClipIsNoFile: an error before the first byte is a reply, one after
// it ends the connection, so that nobody takes half a file for a whole one.
func TestBrokenClipIsNoFile(t *testing.T) {
	s, id, _ := clipService(t, func(_ []Part, w io.Writer) error {
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
	s, id, _ = clipService(t, func([]Part, io.Writer) error { return errAbsent })
	if status, _, body := s.request(t, "GET", "/v1/sources/"+id+"/export?format=clip", nil, nil); status != 404 {
		t.Errorf("%d %s", status, body)
	}
}
