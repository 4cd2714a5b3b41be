package tree

import (
	"encoding/json"
	"fmt"
	"io"
)

// The shapes of the original description-tree format: exactly these fields,
// times in seconds. Depth is 3; L1 has a summary, L2 and L3 a description.
type (
	origTree struct {
		Metadata json.RawMessage `json:"metadata"`
		EmbedDim int             `json:"embed_dim"`
		Roots    []origL1        `json:"roots"`
	}
	origL1 struct {
		ID        string    `json:"id"`
		Summary   string    `json:"summary"`
		Embedding []float32 `json:"embedding"`
		TimeRange *seconds  `json:"time_range"`
		Children  []origL2  `json:"children"`
	}
	origL2 struct {
		ID          string    `json:"id"`
		Description string    `json:"description"`
		Embedding   []float32 `json:"embedding"`
		TimeRange   *seconds  `json:"time_range"`
		Children    []origL3  `json:"children"`
	}
	origL3 struct {
		ID          string    `json:"id"`
		Description string    `json:"description"`
		Embedding   []float32 `json:"embedding"`
		RawContent  *string   `json:"raw_content"`
		FramePath   *string   `json:"frame_path"`
		Timestamp   *float64  `json:"timestamp"`
	}
	// origMetadata is what this project writes into the free metadata; files
	// of others may hold anything.
	origMetadata struct {
		Title    string            `json:"title"`
		Source   string            `json:"source"`
		Kind     Kind              `json:"kind"`
		Duration float64           `json:"duration"`
		Language string            `json:"language,omitempty"`
		Embedder string            `json:"embedder,omitempty"`
		Models   map[string]string `json:"models,omitempty"`
	}
	seconds []float64 // [start, end]
)

// ExportOriginal writes t as an original description-tree file: fields as in
// that format and no others, times in seconds. Documents have no times, so
// theirs are null. Ids stay SOURCE/a.b.c, and the metadata of an imported file
// goes out as it came in.
func ExportOriginal(w io.Writer, t *Tree) error {
	if err := t.Validate(); err != nil {
		return err
	}
	meta := t.Imported
	if meta == nil {
		var err error
		meta, err = json.Marshal(origMetadata{
			Title: t.Source.Title, Source: t.Source.ID, Kind: t.Source.Kind, Duration: toSeconds(t.Source.DurationMS),
			Language: t.Source.Language, Embedder: t.Embedder, Models: t.Models,
		})
		if err != nil {
			return fmt.Errorf("tree: cannot export the metadata: %w", err)
		}
	}
	o := origTree{Metadata: meta, EmbedDim: t.EmbedDim, Roots: make([]origL1, 0, len(t.Roots))}
	for _, n := range t.Roots {
		o.Roots = append(o.Roots, exportL1(n))
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(o); err != nil {
		return fmt.Errorf("tree: cannot export: %w", err)
	}
	return nil
}

func exportL1(n *Node) origL1 {
	o := origL1{ID: n.ID, Summary: n.Text, Embedding: n.Embedding, TimeRange: toRange(n.Span), Children: make([]origL2, 0, len(n.Children))}
	for _, c := range n.Children {
		o.Children = append(o.Children, exportL2(c))
	}
	return o
}

func exportL2(n *Node) origL2 {
	o := origL2{ID: n.ID, Description: n.Text, Embedding: n.Embedding, TimeRange: toRange(n.Span), Children: make([]origL3, 0, len(n.Children))}
	for _, c := range n.Children {
		o.Children = append(o.Children, exportL3(c))
	}
	return o
}

func exportL3(n *Node) origL3 {
	o := origL3{ID: n.ID, Description: n.Text, Embedding: n.Embedding, RawContent: rawContent(n), FramePath: framePath(n.Evidence)}
	if ms := timestamp(n); ms != nil {
		s := toSeconds(*ms)
		o.Timestamp = &s
	}
	return o
}

func toRange(s Span) *seconds {
	if s.Unit != UnitMS {
		return nil
	}
	return &seconds{toSeconds(s.StartMS), toSeconds(s.EndMS)}
}

func toSeconds(ms int64) float64 { return float64(ms) / 1000 }
