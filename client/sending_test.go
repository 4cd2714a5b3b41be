package client_test

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/client"
)

// torn is a file whose disk fails in the middle.
type torn struct{ left io.Reader }

var errTorn = errors.New("input/output error")

func (f torn) Read(p []byte) (int, error) {
	n, err := f.left.Read(p)
	if errors.Is(err, io.EOF) {
		err = errTorn
	}
	return n, err
}

// TestTheServiceIsNotBlamedForAFile: what cannot be read on this side is said to
// be so, for forms and for bodies that are sent as they are.
func TestTheServiceIsNotBlamedForAFile(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer web.Close()
	c := client.New(client.Config{URL: web.URL})
	defer c.Close()
	file := func() io.Reader { return torn{strings.NewReader(strings.Repeat("half ", 1000))} }
	_, upload := c.Upload(t.Context(), "a.mp4", file(), client.UploadOptions{})
	_, imported := c.Import(t.Context(), file())
	for what, err := range map[string]error{"upload": upload, "import": imported} {
		if !errors.Is(err, errTorn) || strings.Contains(err.Error(), "reeltree serve") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestNamesStayOneLine: a line break in a file name becomes a blank, not %0A.
func TestNamesStayOneLine(t *testing.T) {
	names := make(chan string, 2)
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		form, err := r.MultipartReader()
		for err == nil {
			var part *multipart.Part
			if part, err = form.NextPart(); err == nil && part.FileName() != "" {
				names <- part.FileName()
			}
		}
	}))
	defer web.Close()
	c := client.New(client.Config{URL: web.URL})
	defer c.Close()
	_, _ = c.Upload(t.Context(), "a\nb\"c\td\xe9.mp4", strings.NewReader("x"), client.UploadOptions{SubtitlesName: "a\r\nb.srt", Subtitles: []byte("x")})
	if subtitles, file := <-names, <-names; subtitles != "a  b.srt" || file != "a b\"c d\uFFFD.mp4" {
		t.Errorf("%q, %q", subtitles, file)
	}
}
