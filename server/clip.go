package server

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/tree"
)

// exportClip cuts the parts a request names, or all of it, out of a source's medium.
func (s *Server) exportClip(w http.ResponseWriter, r *http.Request, src tree.Source) error {
	places, err := readParts(src, r.URL.Query().Get("parts"))
	if err != nil {
		return err
	}
	return s.sendClip(w, r, src.Tenant, places)
}

// getAnswerExport writes a finished answer in a format; as a clip the moment it
// cites first, or with concat all of them, of one source where one is named.
func (s *Server) getAnswerExport(w http.ResponseWriter, r *http.Request, tenant string) error {
	if s.cfg.Records == nil {
		return newError(codeNoRoute, "this service keeps no answers")
	}
	a, err := s.cfg.Records.Answer(r.Context(), tenant, r.PathValue("stream"))
	if err != nil {
		return err
	}
	record, q := generate.ReadRecord(a.Question, a.Events), r.URL.Query()
	if q.Get("format") == "clip" {
		places := record.Places()
		if source := q.Get("source"); source != "" {
			places = slices.DeleteFunc(places, func(p generate.Place) bool { return p.Source != source })
		}
		if q.Get("concat") == "" {
			places = places[:min(1, len(places))]
		}
		return s.sendClip(w, r, tenant, places)
	}
	mimeType, data, known, err := generate.ExportAnswer(record, q.Get("format"))
	if err == nil && !known {
		err = ErrFormat
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", mimeType)
	_, _ = w.Write(data) // the client may be gone
	return nil
}

// sendClip writes the file while it is cut.
func (s *Server) sendClip(w http.ResponseWriter, r *http.Request, tenant string, places []generate.Place) error {
	out := &clipWriter{w: w}
	_, err := generate.Clip(r.Context(), s.cfg.Cut, generate.Cut{Tenant: tenant, Places: places, Exact: r.URL.Query().Get("exact") != ""}, out)
	if err != nil && out.begun {
		s.cfg.Log.Warn("a clip broke off", "error", err)
		panic(http.ErrAbortHandler) // the client must not take half a file for a whole one
	}
	return err
}

// clipWriter sends the header with the first byte, so that a refusal before it
// is still an error reply.
type clipWriter struct {
	w     http.ResponseWriter
	begun bool
}

var _ io.Writer = (*clipWriter)(nil)

// Write implements io.Writer.
func (c *clipWriter) Write(b []byte) (int, error) {
	if !c.begun {
		c.begun = true
		c.w.Header().Set("Content-Type", "video/mp4")
		c.w.Header().Set("Content-Disposition", `attachment; filename="clip.mp4"`)
	}
	return c.w.Write(b)
}

// readParts reads "3300-6700,8000-9000"; nothing is the whole source.
func readParts(src tree.Source, text string) ([]generate.Place, error) {
	if text == "" {
		return []generate.Place{{Source: src.ID, Span: tree.MS(0, src.DurationMS)}}, nil
	}
	var places []generate.Place
	for p := range strings.SplitSeq(text, ",") {
		from, to, _ := strings.Cut(p, "-")
		a, errA := strconv.ParseInt(from, 10, 64)
		b, errB := strconv.ParseInt(to, 10, 64)
		if errA != nil || errB != nil || a < 0 || b <= a {
			return nil, newError(codeBadRequest, "the parts %.60q are not of the form FROM-TO[,FROM-TO] in milliseconds, each ending after it begins", text)
		}
		places = append(places, generate.Place{Source: src.ID, Span: tree.MS(a, b)})
	}
	return places, nil
}
