package server

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// Part is a part of a medium, [FromMS, ToMS) in milliseconds.
type Part struct{ FromMS, ToMS int64 }

// exportClip cuts the parts a request names, or those an answer cites, out of a
// source's medium. The file is written while it is cut.
func (s *Server) exportClip(w http.ResponseWriter, r *http.Request, src tree.Source) error {
	if s.cfg.Clip == nil {
		return newError(codeNoRoute, "this service cuts no clips")
	}
	q := r.URL.Query()
	parts, err := readParts(q.Get("parts"))
	if stream := q.Get("answer"); err == nil && stream != "" {
		parts, err = s.cited(r.Context(), src, stream)
	}
	if err != nil {
		return err
	}
	out := &clipWriter{w: w}
	err = s.cfg.Clip(r.Context(), src.Tenant, src.ID, parts, q.Get("exact") != "", out)
	if err != nil && out.begun {
		s.cfg.Log.Warn("a clip broke off", "source", src.ID, "error", err)
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

// Write implements io.Writer.
func (c *clipWriter) Write(b []byte) (int, error) {
	if !c.begun {
		c.begun = true
		c.w.Header().Set("Content-Type", "video/mp4")
		c.w.Header().Set("Content-Disposition", `attachment; filename="clip.mp4"`)
	}
	return c.w.Write(b)
}

var _ io.Writer = (*clipWriter)(nil)

// readParts reads "3300-6700,8000-9000".
func readParts(text string) ([]Part, error) {
	var parts []Part
	for p := range strings.SplitSeq(text, ",") {
		from, to, _ := strings.Cut(p, "-")
		a, errA := strconv.ParseInt(from, 10, 64)
		b, errB := strconv.ParseInt(to, 10, 64)
		if text != "" && (errA != nil || errB != nil || a < 0 || b <= a) {
			return nil, newError(codeBadRequest, "the parts %.60q are not of the form FROM-TO[,FROM-TO] in milliseconds, each ending after it begins", text)
		}
		if text != "" {
			parts = append(parts, Part{a, b})
		}
	}
	return parts, nil
}

// cited are the places of a source that a finished answer cites, in time
// order; those that touch are one.
func (s *Server) cited(ctx context.Context, src tree.Source, stream string) ([]Part, error) {
	st, err := s.lookup(ctx, src.Tenant, stream)
	if err != nil {
		return nil, err
	}
	events, _, _, _ := st.after(0)
	shown, cited := map[int]Part{}, map[int]bool{}
	for _, e := range events {
		var m struct {
			Type   string
			N      int
			Source struct{ ID string }
			Span   tree.Span
		}
		if json.Unmarshal(e.body, &m) != nil {
			continue
		}
		switch {
		case m.Type == "evidence" && m.Source.ID == src.ID && m.Span.Unit == tree.UnitMS && m.Span.Duration() > 0:
			shown[m.N] = Part{m.Span.StartMS, m.Span.EndMS}
		case m.Type == "citation":
			cited[m.N] = true
		}
	}
	var parts []Part
	for n, p := range shown {
		if cited[n] {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return nil, newError(codeBadRequest, "that answer cites no moment of this source, so there is nothing to cut")
	}
	return joinParts(parts), nil
}

// joinParts sorts parts and joins those that overlap or touch.
func joinParts(parts []Part) []Part {
	slices.SortFunc(parts, func(a, b Part) int { return cmp.Or(cmp.Compare(a.FromMS, b.FromMS), cmp.Compare(a.ToMS, b.ToMS)) })
	out := parts[:1]
	for _, p := range parts[1:] {
		if last := &out[len(out)-1]; p.FromMS <= last.ToMS {
			last.ToMS = max(last.ToMS, p.ToMS)
			continue
		}
		out = append(out, p)
	}
	return out
}
