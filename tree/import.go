package tree

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"
)

// maxImportMetadata bounds the free metadata that is kept of a foreign file.
const maxImportMetadata = 64 << 10

// ImportOriginal reads an original description-tree file. Fields it does not
// know are passed over; ids may be anything and are replaced by
// SOURCE/a.b.c, where SOURCE is hashed from the file's bytes for the default
// tenant (Renumber gives the tree another one). Times in seconds become
// milliseconds inside their parent's; a file without any time is a document.
// Pictures do not come along: only their paths are kept.
func ImportOriginal(r io.Reader) (*Tree, error) {
	b, err := readBounded(r, MaxTreeBytes)
	if err != nil {
		return nil, err
	}
	if err := bounded(b); err != nil {
		return nil, err
	}
	var o struct {
		origTree
		Roots *[]origL1 `json:"roots"`
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return nil, fmt.Errorf("tree: this is not a description-tree file: %w", err)
	}
	if o.Roots == nil {
		return nil, fmt.Errorf("tree: this is not a description-tree file: it has no roots")
	}
	if len(o.Metadata) > maxImportMetadata {
		return nil, fmt.Errorf("tree: the metadata has %d bytes, the most is %d", len(o.Metadata), maxImportMetadata)
	}
	if len(*o.Roots) == 0 {
		return nil, fmt.Errorf("tree: this description-tree file is empty: its roots are none")
	}
	o.origTree.Roots = *o.Roots
	t, err := importer{timed: timed(*o.Roots)}.tree(o.origTree)
	if err != nil {
		return nil, err
	}
	h := NewIDHash(DefaultTenant)
	_, _ = h.Write(b) // a hash never fails to write
	t.Renumber(h.ID())
	t.Source.Bytes = 0
	return t, t.Validate()
}

// HasText reports whether any node of a tree says anything.
func (t *Tree) HasText() bool {
	var says func(nodes []*Node) bool
	says = func(nodes []*Node) bool {
		return slices.ContainsFunc(nodes, func(n *Node) bool {
			return strings.TrimSpace(n.Text) != "" || strings.TrimSpace(n.Transcript()) != "" || says(n.Children)
		})
	}
	return says(t.Roots)
}

// Renumber puts a tree under another source id and numbers its nodes by their
// places.
func (t *Tree) Renumber(source string) {
	t.Source.ID = source
	for a, r := range t.Roots {
		r.ID = NodeID(source, a)
		for b, s := range r.Children {
			s.ID = NodeID(source, a, b)
			for c, l := range s.Children {
				l.ID = NodeID(source, a, b, c)
			}
		}
	}
}

// timed reports whether any node says when it is.
func timed(roots []origL1) bool {
	for _, r := range roots {
		if r.TimeRange.given() {
			return true
		}
		for _, s := range r.Children {
			if s.TimeRange.given() {
				return true
			}
			for _, l := range s.Children {
				if l.Timestamp != nil {
					return true
				}
			}
		}
	}
	return false
}

func (s *seconds) given() bool { return s != nil && len(*s) == 2 && (*s)[1] > (*s)[0] }

// importer turns the original shapes into nodes; ids are given afterwards.
type importer struct {
	timed     bool
	paragraph int // documents: the last one numbered
	chars     int64
	pictures  bool
}

func (im importer) tree(o origTree) (*Tree, error) {
	t := &Tree{EmbedDim: o.EmbedDim}
	if len(o.Metadata) > 0 && string(o.Metadata) != "null" {
		t.Imported = compact(o.Metadata)
	}
	for i := range o.Roots {
		n, err := im.l1(&o.Roots[i])
		if err != nil {
			return nil, err
		}
		t.Roots = append(t.Roots, n)
		t.Source.DurationMS = max(t.Source.DurationMS, n.Span.EndMS)
	}
	t.Source.Tenant, t.Source.State, t.Source.Length = DefaultTenant, StateDone, im.chars
	t.Source.Collections = []string{}
	t.Source.Nodes = t.Counts()
	switch {
	case !im.timed:
		t.Source.Kind = KindDocument
	case im.pictures:
		t.Source.Kind = KindVideo
	default:
		t.Source.Kind = KindAudio
	}
	describeImport(t, o.Metadata)
	return t, nil
}

func compact(raw json.RawMessage) json.RawMessage {
	b, err := json.Marshal(raw) // compacts
	if err != nil {
		return nil
	}
	return b
}

// describeImport takes what the free metadata says about the source, under
// the names such files use.
func describeImport(t *Tree, metadata json.RawMessage) {
	var m map[string]json.RawMessage
	_ = json.Unmarshal(metadata, &m) // anything but an object says nothing
	text := func(keys ...string) string {
		for _, k := range keys {
			var s string
			if json.Unmarshal(m[k], &s) == nil && s != "" {
				return shorten(clean(s), 60)
			}
		}
		return ""
	}
	t.Source.Language = text("language")
	t.Embedder = text("embedder", "embed_model", "embedding_model")
	t.Source.Title = text("title", "name")
	if t.Source.Title == "" {
		file := text("video_path", "file", "path", "video", "source")
		t.Source.Title = path.Base("/" + strings.ReplaceAll(file, `\`, "/"))
	}
	if t.Source.Title == "/" {
		t.Source.Title = "Imported tree"
	}
	if t.EmbedDim == 0 {
		t.Embedder = ""
	}
}

func (im *importer) l1(o *origL1) (*Node, error) {
	n := &Node{Level: L1, Text: tidy(o.Summary), Embedding: vector(o.Embedding)}
	span, err := o.TimeRange.span(MS(0, math.MaxInt64))
	if err != nil {
		return nil, fmt.Errorf("tree: %.80q: %w", o.ID, err)
	}
	first := im.paragraph + 1
	for i := range o.Children {
		c, err := im.l2(&o.Children[i], span)
		if err != nil {
			return nil, err
		}
		n.Children = append(n.Children, c)
	}
	n.Span = im.inner(span, first, n.Children)
	return n, nil
}

func (im *importer) l2(o *origL2, outer Span) (*Node, error) {
	n := &Node{Level: L2, Text: tidy(o.Description), Embedding: vector(o.Embedding)}
	span, err := o.TimeRange.span(outer)
	if err != nil {
		return nil, fmt.Errorf("tree: %.80q: %w", o.ID, err)
	}
	first := im.paragraph + 1
	if im.timed {
		span, err = im.moments(n, o.Children, span)
	} else {
		im.paragraphs(n, o.Children)
	}
	n.Span = im.inner(span, first, n.Children)
	return n, err
}

// inner is the span of an L1 or L2: the one given, else what its children
// cover; of documents its first paragraph, since a span lies in one.
func (im *importer) inner(span Span, first int, children []*Node) Span {
	if !im.timed {
		return Span{Unit: UnitText, Paragraph: first}
	}
	if span.EndMS == math.MaxInt64 {
		span.EndMS = span.StartMS
		for _, c := range children {
			if c.Span.EndMS != math.MaxInt64 {
				span.EndMS = max(span.EndMS, c.Span.EndMS)
			}
		}
		for _, c := range children {
			c.Span = clamp(c.Span, span)
			for _, l := range c.Children {
				l.Span = clamp(l.Span, c.Span)
			}
		}
	}
	return span
}
