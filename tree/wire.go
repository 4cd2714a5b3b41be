package tree

import (
	"encoding/json"
	"errors"
)

// The shapes of the native format, one per level, so that a deeper or flatter
// file cannot even be decoded.
type (
	wireTree struct {
		Metadata wireMetadata `json:"metadata"`
		EmbedDim int          `json:"embed_dim"`
		Roots    []wireL1     `json:"roots"`
	}
	wireMetadata struct {
		Format   int               `json:"format"`
		Source   Source            `json:"source"`
		Embedder string            `json:"embedder"`
		Models   map[string]string `json:"models"`
		Settings string            `json:"settings"`
		Calls    Calls             `json:"calls"`
		Imported json.RawMessage   `json:"imported,omitempty"`
	}
	wireL1 struct {
		ID      string `json:"id"`
		Summary string `json:"summary"`
		wirePlace
		Embedding []float32 `json:"embedding"`
		Evidence  Evidence  `json:"evidence,omitzero"`
		Calls     Calls     `json:"calls,omitzero"`
		Children  []wireL2  `json:"children"`
	}
	wireL2 struct {
		ID          string `json:"id"`
		Description string `json:"description"`
		wirePlace
		Embedding []float32 `json:"embedding"`
		Evidence  Evidence  `json:"evidence,omitzero"`
		Calls     Calls     `json:"calls,omitzero"`
		Children  []wireL3  `json:"children"`
	}
	// wireL3 repeats three facts of the evidence under the names other tools
	// know; they are written only and never trusted.
	wireL3 struct {
		ID          string  `json:"id"`
		Description string  `json:"description"`
		RawContent  *string `json:"raw_content"`
		FramePath   *string `json:"frame_path"`
		Timestamp   *int64  `json:"timestamp"`
		wirePlace
		Embedding []float32 `json:"embedding"`
		Evidence  Evidence  `json:"evidence"`
	}
	// wirePlace is a span as media know it or as documents need it.
	wirePlace struct {
		TimeRange *msRange `json:"time_range,omitempty"`
		Span      *Span    `json:"span,omitempty"`
	}
)

// msRange is [start_ms, end_ms]: exactly two whole numbers.
type msRange [2]int64

func (r *msRange) UnmarshalJSON(b []byte) error {
	var all []int64
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	if len(all) != 2 {
		return errors.New("time_range: wants [start_ms, end_ms]")
	}
	*r = msRange(all)
	return nil
}

func place(s Span) wirePlace {
	if s.Unit == UnitMS {
		return wirePlace{TimeRange: &msRange{s.StartMS, s.EndMS}}
	}
	return wirePlace{Span: &s}
}

// badPlace is a span that no validation lets pass.
var badPlace = Span{StartMS: -1}

func (p wirePlace) span() Span {
	switch {
	case p.TimeRange != nil && p.Span == nil:
		return MS(p.TimeRange[0], p.TimeRange[1])
	case p.Span != nil && p.TimeRange == nil && p.Span.Unit != UnitMS:
		return *p.Span
	}
	return badPlace
}

func toL1(n *Node) wireL1 {
	w := wireL1{
		ID: n.ID, Summary: n.Text, wirePlace: place(n.Span), Embedding: n.Embedding,
		Evidence: n.Evidence, Calls: n.Calls, Children: make([]wireL2, 0, len(n.Children)),
	}
	for _, c := range n.Children {
		w.Children = append(w.Children, toL2(c))
	}
	return w
}

func toL2(n *Node) wireL2 {
	w := wireL2{
		ID: n.ID, Description: n.Text, wirePlace: place(n.Span), Embedding: n.Embedding,
		Evidence: n.Evidence, Calls: n.Calls, Children: make([]wireL3, 0, len(n.Children)),
	}
	for _, c := range n.Children {
		w.Children = append(w.Children, toL3(c))
	}
	return w
}

func toL3(n *Node) wireL3 {
	return wireL3{
		ID: n.ID, Description: n.Text, RawContent: rawContent(n), FramePath: framePath(n.Evidence), Timestamp: timestamp(n),
		wirePlace: place(n.Span), Embedding: n.Embedding, Evidence: n.Evidence,
	}
}

func (w *wireL1) node() *Node {
	n := &Node{ID: w.ID, Level: L1, Text: w.Summary, Span: w.span(), Evidence: w.Evidence, Embedding: w.Embedding, Calls: w.Calls}
	for i := range w.Children {
		n.Children = append(n.Children, w.Children[i].node())
	}
	return n
}

func (w *wireL2) node() *Node {
	n := &Node{ID: w.ID, Level: L2, Text: w.Description, Span: w.span(), Evidence: w.Evidence, Embedding: w.Embedding, Calls: w.Calls}
	for i := range w.Children {
		n.Children = append(n.Children, w.Children[i].node())
	}
	return n
}

func (w *wireL3) node() *Node {
	return &Node{ID: w.ID, Level: L3, Text: w.Description, Span: w.span(), Evidence: w.Evidence, Embedding: w.Embedding}
}

// rawContent is the raw words of a moment: speech, passage or rows.
func rawContent(n *Node) *string {
	s := n.Transcript()
	if s == "" && len(n.Evidence.Rows) > 0 {
		s = rowsText(n.Evidence.Header, n.Evidence.Rows)
	}
	if s == "" {
		return nil
	}
	return &s
}

// framePath is where a moment's picture lies, relative to the service or to
// the file it was imported from.
func framePath(e Evidence) *string {
	switch {
	case e.FramePath != "":
		return &e.FramePath
	case e.Frame != nil:
		s := "frames/" + e.Frame.ID + ".jpg"
		return &s
	}
	return nil
}

// timestamp is the time of a moment's picture, else of its beginning.
func timestamp(n *Node) *int64 {
	switch {
	case n.Span.Unit != UnitMS:
		return nil
	case n.Evidence.Frame != nil:
		return &n.Evidence.Frame.TimeMS
	}
	return &n.Span.StartMS
}
