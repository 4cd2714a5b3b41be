package eval

import (
	"context"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// video is a line of moments: one annotator's captions as nodes, another one's
// as questions. Times are seconds.
type video struct {
	Video    string    `json:"video"`
	Duration float64   `json:"duration"`
	Nodes    []caption `json:"nodes"`
	Queries  []caption `json:"queries"`

	stretches []float64 // of joined videos: where each L1 begins
}

type caption struct {
	Start float64 `json:"start"`
	End   float64 `json:"end"`
	Text  string  `json:"text"`
	from  string  // of joined videos: the one it was written for
}

// moments asks for moments inside a video and, unless long is set, in the
// library of all videos.
type moments struct {
	data []video
	long bool
}

func loadMoments(f Files) (job, error) {
	data, err := readLines[video](f.Data)
	return &moments{data: data}, err
}

// library lays every caption out as an L2 with one L3 of the same text.
func (m *moments) library(ctx context.Context, _ Config) (*library, error) {
	lib := &library{}
	for _, v := range m.data {
		end := max(1, milliseconds(v.Duration))
		told := captions{texts: map[tree.Span]string{}}
		var clips []tree.Clip
		for _, n := range v.Nodes {
			span := tree.MS(milliseconds(n.Start), max(milliseconds(n.Start)+1, milliseconds(n.End)))
			end = max(end, span.EndMS)
			if told.texts[span] == "" { // two captions of one stretch are one node
				clips = append(clips, tree.Clip{Span: span, Leaves: []tree.Leaf{{Span: span}}})
			}
			told.texts[span] = strings.TrimSpace(told.texts[span] + " " + n.Text)
		}
		src := tree.Source{ID: sourceID(v.Video), Tenant: tree.DefaultTenant, Kind: tree.KindVideo, DurationMS: end}
		if err := lib.grow(ctx, told, captionModels, src, v.cut(src, clips)...); err != nil {
			return nil, err
		}
	}
	return lib, nil
}

// captionModels says that the texts are descriptions of what is seen.
var captionModels = map[string]string{"l1": "extractive", "l2": "annotator", "l3": "annotator"}

// captions describes clips and moments with an annotator's words where a vision
// model would look at them; the L1 is the extractive describer's.
type captions struct {
	tree.Extractive
	texts map[tree.Span]string
}

// L2 implements tree.Describer.
func (c captions) L2(_ context.Context, r tree.ClipRequest) (string, tree.Calls, error) {
	return c.texts[r.Clip.Span], tree.Calls{}, nil
}

// L3 implements tree.Describer.
func (c captions) L3(_ context.Context, r tree.LeafRequest) ([]string, tree.Calls, error) {
	return []string{r.L2}, tree.Calls{}, nil
}

func (m *moments) ask(ctx context.Context, s *session) ([]any, *tally, error) {
	names := map[string]string{}
	for _, v := range m.data {
		names[sourceID(v.Video)] = v.Video
	}
	var lines []momentLine
	for _, v := range m.data {
		id := sourceID(v.Video)
		for i, q := range v.Queries {
			span := tree.MS(milliseconds(q.Start), milliseconds(q.End))
			gold := []fragment{{[]string{id}, &span}}
			inside, err := s.ask(ctx, retrieve.Query{Text: q.Text, Scope: retrieve.Scope{Sources: []string{id}}}, "in_video", gold)
			if err != nil {
				return nil, nil, err
			}
			var all found
			if !m.long {
				if all, err = s.ask(ctx, retrieve.Query{Text: q.Text}, "library", gold); err != nil {
					return nil, nil, err
				}
			}
			lines = append(lines, momentLine{v.Video, i, inside.spans(), all.hits(s.lib, names)})
		}
	}
	t, err := scoreMoments(m.data, lines)
	return anys(lines), t, err
}

// spans are the places of what was found, best first, then the nearest ones.
func (f *found) spans() []interval {
	out := []interval{}
	for _, it := range slices.Concat(f.items, f.nearest) {
		if s := seconds(it.Span); s[1] > s[0] {
			out = append(out, s)
		}
	}
	return out
}

// hits are the places in the library, best first: the evidence, then the other
// nodes the indexes hit.
func (f *found) hits(lib *library, names map[string]string) []momentHit {
	out := []momentHit{}
	for _, it := range slices.Concat(f.items, f.nearest) {
		out = append(out, momentHit{names[it.Source.ID], seconds(it.Span)})
	}
	for _, d := range f.entry {
		if n := lib.node(d.Node); n != nil {
			source, _, _ := strings.Cut(d.Node, "/")
			out = append(out, momentHit{names[source], seconds(n.Span)})
		}
	}
	return out
}

func anys[T any](all []T) []any {
	out := make([]any, len(all))
	for i := range all {
		out[i] = all[i]
	}
	return out
}

func (v *video) lacks() string {
	return absent("video", v.Video == "", "nodes", len(v.Nodes) == 0)
}
