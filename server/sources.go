package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reeltree/reeltree/tree"
)

const (
	fieldLimit    = 64 << 10 // bytes of a form field or a JSON body
	subtitleLimit = 32 << 20
	maxParts      = 8
)

// postSource takes a file (multipart) or an address (JSON) and starts its ingest.
func (s *Server) postSource(w http.ResponseWriter, r *http.Request, tenant string) error {
	if s.cfg.Submit == nil {
		return newError(codeNoRoute, "this service takes nothing in")
	}
	u := Upload{Tenant: tenant}
	err := s.readUpload(r, &u, &struct {
		URL        *string             `json:"url"`
		Collection *string             `json:"collection"`
		Options    *tree.IngestOptions `json:"options"`
	}{&u.URL, &u.Collection, &u.Options})
	if err == nil && u.ID == "" && strings.TrimSpace(u.URL) == "" {
		err = newError(codeBadRequest, "the url is missing: send {\"url\": ADDRESS}, or a file as multipart/form-data")
	}
	if err != nil {
		return err
	}
	job, err := s.cfg.Submit(r.Context(), u)
	if err != nil {
		return err
	}
	reply(w, http.StatusAccepted, map[string]string{"source": job.Source, "job": job.ID, "stream": job.ID})
	return nil
}

// readUpload reads a form into u, or a JSON body into fields.
func (s *Server) readUpload(r *http.Request, u *Upload, fields any) error {
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind {
	case "multipart/form-data":
		return s.readForm(r, u)
	case "application/json":
		return readJSON(r, fieldLimit, fields)
	}
	return newError(codeBadRequest, "send a file as multipart/form-data or {\"url\": ADDRESS} as application/json")
}

func readJSON(r *http.Request, limit int64, v any) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err != nil {
		return newError(codeBadRequest, "the request ended before it was complete")
	}
	if int64(len(body)) > limit {
		return newError(codeTooLarge, "the request is larger than %d bytes", limit)
	}
	return decodeStrict(body, v)
}

// readForm streams the parts of an upload: the file straight into the store.
func (s *Server) readForm(r *http.Request, u *Upload) error {
	form, err := r.MultipartReader()
	if err != nil {
		return newError(codeBadRequest, "the form cannot be read: send multipart/form-data with a file part")
	}
	var subtitles []byte
	subtitleName := ""
	for parts := 0; ; parts++ {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return newError(codeBadRequest, "the form ended before it was complete: send it again")
		}
		if parts >= maxParts {
			return newError(codeBadRequest, "the form has more than %d parts: send file, subtitles, collection and options once each", maxParts)
		}
		switch part.FormName() {
		case "file":
			err = s.readFile(r, part, u)
		case "subtitles":
			subtitleName = displayName(part.FileName())
			subtitles, err = readPart(part, subtitleLimit)
		case "collection":
			var b []byte
			b, err = readPart(part, 200)
			u.Collection = string(b)
		case "options":
			var b []byte
			if b, err = readPart(part, fieldLimit); err == nil {
				err = decodeStrict(b, &u.Options)
			}
		default:
			err = newError(codeBadRequest, "the form has an unknown part %.40q: send file, subtitles, collection and options", part.FormName())
		}
		if err != nil {
			return err
		}
	}
	if u.ID == "" {
		return newError(codeBadRequest, "the form has no file: send the content as the part named file")
	}
	if subtitles != nil {
		return s.cfg.Bytes.SaveSubtitles(r.Context(), u.Tenant, u.ID, subtitleName, subtitles)
	}
	return nil
}

func (s *Server) readFile(r *http.Request, part *multipart.Part, u *Upload) (err error) {
	if u.ID != "" {
		return newError(codeBadRequest, "the form has two files: send one per request")
	}
	u.Name = displayName(part.FileName())
	body := &watched{r: part}
	u.ID, u.Bytes, err = s.cfg.Bytes.PutContent(r.Context(), u.Tenant, body, s.cfg.UploadLimit)
	if body.err != nil && !errors.Is(body.err, io.EOF) {
		return newError(codeBadRequest, "the upload ended before it was complete: send it again")
	}
	return err
}

// watched keeps the error of a reader, to tell a client that went away from a
// store that failed.
type watched struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.err = err
	return n, err
}

func readPart(part io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(part, limit+1))
	if err != nil {
		return nil, newError(codeBadRequest, "the form ended before it was complete: send it again")
	}
	if int64(len(b)) > limit {
		return nil, newError(codeTooLarge, "a part of the form is larger than %d bytes", limit)
	}
	return b, nil
}

// displayName keeps a file name for people; it never becomes a path.
func displayName(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, name)
	for utf8.RuneCountInString(name) > 300 {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	return name
}

// wireSource is a source as clients see it.
type wireSource struct {
	tree.Source
	Tenant *struct{} `json:"tenant,omitempty"` // hides the tenant
	Ticket string    `json:"ticket,omitempty"`
}

func (s *Server) wireSource(src tree.Source) wireSource {
	if src.Collections == nil {
		src.Collections = []string{}
	}
	return wireSource{Source: src, Ticket: s.ticket(src.Tenant, "/v1/sources/"+src.ID+"/")}
}

func (s *Server) getSources(w http.ResponseWriter, r *http.Request, tenant string) error {
	all, err := s.cfg.Catalog.Sources(r.Context(), tenant)
	if err != nil {
		return err
	}
	collection, q := r.URL.Query().Get("collection"), strings.ToLower(r.URL.Query().Get("q"))
	out := []wireSource{}
	for _, src := range all {
		if (collection == "" || slices.Contains(src.Collections, collection)) && strings.Contains(strings.ToLower(src.Title), q) {
			out = append(out, s.wireSource(src))
		}
	}
	reply(w, http.StatusOK, map[string]any{"sources": out})
	return nil
}

func (s *Server) getSource(w http.ResponseWriter, r *http.Request, tenant string) error {
	src, err := s.source(r, tenant)
	if err == nil {
		reply(w, http.StatusOK, s.wireSource(src))
	}
	return err
}

// source is the source a path names; ids that cannot be are not looked up.
func (s *Server) source(r *http.Request, tenant string) (tree.Source, error) {
	id := r.PathValue("id")
	if !tree.ValidID(id) {
		return tree.Source{}, newError(codeNoSource, "%s", notFoundSentence(codeNoSource))
	}
	src, err := s.cfg.Catalog.Source(r.Context(), tenant, id)
	if err != nil && s.cfg.NotFound(err) {
		err = newError(codeNoSource, "%s", notFoundSentence(codeNoSource))
	}
	return src, err
}

func (s *Server) deleteSource(w http.ResponseWriter, r *http.Request, tenant string) error {
	src, err := s.source(r, tenant)
	if err != nil {
		return err
	}
	if s.cfg.Delete == nil {
		return newError(codeNoRoute, "this service deletes nothing")
	}
	if err := s.cfg.Delete(r.Context(), tenant, src.ID); err != nil {
		return err
	}
	s.hub.forget(tenant, src.ID)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) getTree(w http.ResponseWriter, r *http.Request, tenant string) error {
	src, err := s.source(r, tenant)
	if err != nil {
		return err
	}
	t, err := s.cfg.Catalog.Tree(r.Context(), tenant, src.ID)
	if err != nil {
		return err
	}
	own := *t
	own.Source.Tenant = "" // nobody's business outside
	body, err := json.Marshal(&own)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the client may be gone
	return nil
}

// servable are the media types content is served with; everything else is a
// download, so that nothing handed over runs in a browser.
func servable(mimeType string) bool {
	return strings.HasPrefix(mimeType, "video/") || strings.HasPrefix(mimeType, "audio/") ||
		slices.Contains([]string{"image/jpeg", "image/png", "image/webp", "image/gif"}, mimeType)
}

func (s *Server) getMedia(w http.ResponseWriter, r *http.Request, tenant string) error {
	src, err := s.source(r, tenant)
	if err != nil {
		return err
	}
	f, err := s.cfg.Bytes.OpenContent(r.Context(), tenant, src.ID)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	if servable(src.MIME) {
		h.Set("Content-Type", src.MIME)
	} else {
		h.Set("Content-Disposition", "attachment")
	}
	h.Set("ETag", `"`+src.ID+`"`)
	h.Set("Cache-Control", "private, max-age=3600")
	http.ServeContent(w, r, "", time.Time{}, f)
	return nil
}

func (s *Server) getFrame(w http.ResponseWriter, r *http.Request, tenant string) error {
	id, isJPEG := strings.CutSuffix(r.PathValue("file"), ".jpg")
	if !isJPEG || !tree.ValidID(id) {
		return newError(codeNoFrame, "%s", notFoundSentence(codeNoFrame))
	}
	jpeg, err := s.cfg.Bytes.Frame(r.Context(), tenant, id)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", `"`+id+`"`)
	serveJPEG(w, r, jpeg)
	return nil
}

// serveJPEG sends a picture that its address stands for once and for all.
func serveJPEG(w http.ResponseWriter, r *http.Request, jpeg []byte) {
	w.Header().Set("Content-Type", "image/jpeg")
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(jpeg))
}

// getFrameAt serves what is on screen at a time of a recording: "15000.jpg" is
// its sixteenth second.
func (s *Server) getFrameAt(w http.ResponseWriter, r *http.Request, tenant string) error {
	src, err := s.source(r, tenant)
	if err != nil {
		return err
	}
	digits, isJPEG := strings.CutSuffix(r.PathValue("file"), ".jpg")
	at, err := strconv.ParseInt(digits, 10, 64)
	if !isJPEG || err != nil || at < 0 || at >= src.DurationMS || src.Kind != tree.KindVideo || s.cfg.FrameAt == nil {
		return newError(codeNoFrame, "there is no such frame: a video has one at /v1/sources/ID/frames/MS.jpg for every millisecond from 0 to its end")
	}
	jpeg, err := s.cfg.FrameAt(r.Context(), tenant, src.ID, at)
	if err == nil {
		serveJPEG(w, r, jpeg)
	}
	return err
}

func (s *Server) exported(format string) func(http.ResponseWriter, *http.Request, string) error {
	return func(w http.ResponseWriter, r *http.Request, tenant string) error {
		return s.export(w, r, tenant, format)
	}
}

func (s *Server) getExport(w http.ResponseWriter, r *http.Request, tenant string) error {
	return s.export(w, r, tenant, r.URL.Query().Get("format"))
}

func (s *Server) export(w http.ResponseWriter, r *http.Request, tenant, format string) error {
	src, err := s.source(r, tenant)
	if err != nil {
		return err
	}
	if format == "clip" {
		return s.exportClip(w, r, src)
	}
	t, err := s.cfg.Catalog.Tree(r.Context(), tenant, src.ID)
	if err != nil {
		return err
	}
	if s.cfg.Export == nil {
		return newError(codeNoRoute, "this service exports nothing")
	}
	mimeType, data, err := s.cfg.Export(t, format)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", mimeType)
	_, _ = w.Write(data) // the client may be gone
	return nil
}

func (s *Server) postImport(w http.ResponseWriter, r *http.Request, tenant string) error {
	if s.cfg.Import == nil {
		return newError(codeNoRoute, "this service imports nothing")
	}
	src, err := s.cfg.Import(r.Context(), tenant, r.Body)
	if err != nil {
		return err
	}
	reply(w, http.StatusCreated, s.wireSource(src))
	return nil
}

// postQuote says what an ingest would cost: of a file that comes with the
// request, of what is at an address, or of a source that is there already.
func (s *Server) postQuote(w http.ResponseWriter, r *http.Request, tenant string) error {
	if s.cfg.Quote == nil {
		return newError(codeNoRoute, "this service quotes nothing")
	}
	u := Upload{Tenant: tenant}
	source := ""
	err := s.readUpload(r, &u, &struct {
		Source  *string             `json:"source"`
		URL     *string             `json:"url"`
		Options *tree.IngestOptions `json:"options"`
	}{&source, &u.URL, &u.Options})
	if err != nil {
		return err
	}
	switch {
	case u.ID != "":
	case source != "" && u.URL != "":
		return newError(codeBadRequest, "the quote names a source and a url: send one of them")
	case source != "":
		u.ID = source
		if _, err := s.cfg.Catalog.Source(r.Context(), tenant, source); err != nil {
			return err
		}
	case strings.TrimSpace(u.URL) == "":
		return newError(codeBadRequest, "nothing is named to be quoted: send {\"source\": ID}, {\"url\": ADDRESS}, or a file as multipart/form-data")
	}
	quote, err := s.cfg.Quote(r.Context(), u)
	if err == nil {
		reply(w, http.StatusOK, quote)
	}
	return err
}
