package server

import (
	"bytes"
	"context"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// quoteForm is a request body with a file and options.
func quoteForm(t *testing.T, content string) (body *bytes.Buffer, kind string) {
	t.Helper()
	body = &bytes.Buffer{}
	form := multipart.NewWriter(body)
	if err := form.WriteField("options", `{"detail":"high"}`); err != nil {
		t.Fatal(err)
	}
	part, err := form.CreateFormFile("file", "a.mp4")
	if err == nil {
		_, err = part.Write([]byte(content))
	}
	if err != nil || form.Close() != nil {
		t.Fatal(err)
	}
	return body, form.FormDataContentType()
}

// TestQuotes: a file, an address or a stored source is quoted, with the options.
func TestQuotes(t *testing.T) {
	var asked []Upload
	shelf := newShelf(t)
	id := strings.Repeat("a", 26)
	shelf.sources[id] = tree.Source{ID: id}
	s := newService(t, func(c *Config) {
		c.Catalog, c.Bytes = shelf, shelf
		c.Quote = func(_ context.Context, u Upload) (any, error) {
			asked = append(asked, u)
			return map[string]int{"images": 7}, nil
		}
	})
	js := "application/json"
	file, form := quoteForm(t, "content")
	for _, c := range []struct {
		body, kind string
		want       Upload
	}{
		{file.String(), form, Upload{Name: "a.mp4", Bytes: 7, Options: tree.IngestOptions{Detail: "high"}}},
		{`{"url":"https://example.org/a.mp4","options":{"max_calls":3}}`, js, Upload{URL: "https://example.org/a.mp4", Options: tree.IngestOptions{MaxCalls: 3}}},
		{`{"source":"` + id + `"}`, js, Upload{ID: id}},
	} {
		asked = nil
		status, _, body := s.request(t, "POST", "/v1/quotes", strings.NewReader(c.body), map[string]string{"Content-Type": c.kind})
		var got struct{ Images int }
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK || got.Images != 7 || len(asked) != 1 {
			t.Errorf("%.60s: %d %s, asked %+v", c.body, status, body, asked)
			continue
		}
		u := asked[0]
		if c.want.Name != "" && !tree.ValidID(u.ID) || u.URL != c.want.URL || u.Name != c.want.Name || u.Bytes != c.want.Bytes || u.Options != c.want.Options || c.want.ID != "" && u.ID != c.want.ID {
			t.Errorf("%.60s: asked %+v, want %+v", c.body, u, c.want)
		}
	}
}

// TestQuotesThatCannotBe: each refusal says what to send.
func TestQuotesThatCannotBe(t *testing.T) {
	s := newService(t, func(c *Config) {
		c.Quote = func(context.Context, Upload) (any, error) {
			t.Error("quoted")
			return nil, nil
		}
	})
	js := map[string]string{"Content-Type": "application/json"}
	for body, code := range map[string]int{
		`{}`: codeBadRequest, `{"url":" "}`: codeBadRequest, `{"source":"x","url":"https://example.org"}`: codeBadRequest,
		`{"source":"` + strings.Repeat("b", 26) + `"}`: codeNoSource, `{"source":1}`: codeBadRequest, `nonsense`: codeBadRequest,
	} {
		_, _, got := s.request(t, "POST", "/v1/quotes", strings.NewReader(body), js)
		var reply struct{ Error *Error }
		if err := json.Unmarshal([]byte(got), &reply); err != nil || reply.Error == nil || reply.Error.Code != code {
			t.Errorf("%s: %s, want code %d", body, got, code)
		}
	}
}
