package generate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

func TestModesOfSummaries(t *testing.T) {
	tr := hostileTree()
	trees := func(_ context.Context, _, id string) (*tree.Tree, error) {
		if id != lens.ID {
			return nil, errors.New("gone")
		}
		return tr, nil
	}
	a := &Answerer{Find: finder(true), Trees: trees}
	span := tree.MS(3_600_000, 3_700_000)
	for name, c := range map[string]struct {
		q      Question
		text   string
		finish string
	}{
		"chapters":   {Question{Mode: ModeChapters}, "The problem [1](javascript:x).\nRings --> of glass", FinishStop},
		"highlights": {Question{Mode: ModeHighlights}, "Mirrors *lose*\nlight.\n\nRings.", FinishStop},
		"span":       {Question{Mode: ModeChapters, Span: &span}, "Rings --> of glass", FinishStop},
		"no source":  {Question{Mode: ModeSummary, Sources: []string{}}, "", FinishError},
		"lost":       {Question{Mode: ModeSummary, Sources: []string{"other"}}, "", FinishError},
	} {
		t.Run(name, func(t *testing.T) {
			if c.q.Sources == nil {
				c.q.Sources = []string{lens.ID}
			}
			events, text := collect(t, a, c.q)
			if d := last(t, events); text != c.text || d.Finish != c.finish {
				t.Errorf("%q %+v", text, d)
			}
		})
	}
	events, _ := collect(t, a, Question{Mode: ModeChapters, Sources: []string{lens.ID}})
	if got, want := last(t, events).Coverage, float64(61_020+38_999)/3_700_000; got != want {
		t.Errorf("coverage %v, want %v: half of it is not described yet", got, want)
	}
}

// stretchOf is an L1 of clips with these descriptions, a minute each.
func stretchOf(i int, texts ...string) *tree.Node {
	r := &tree.Node{ID: tree.NodeID(lens.ID, i), Level: tree.L1, Text: texts[0], Span: tree.MS(int64(i)*600_000, int64(i+1)*600_000)}
	for k, text := range texts {
		from := int64(i)*600_000 + int64(k)*60_000
		r.Children = append(r.Children, &tree.Node{ID: tree.NodeID(lens.ID, i, k), Level: tree.L2, Text: text, Span: tree.MS(from, from+60_000)})
	}
	return r
}

// TestHighlightsStandForTheirStretch: not what every stretch says, and not what
// one clip alone says in few words.
func TestHighlightsStandForTheirStretch(t *testing.T) {
	tr := &tree.Tree{Source: lens, Roots: []*tree.Node{
		stretchOf(0, "Welcome back everybody.", "Mirrors scatter lamp light.", "Curved mirrors lose lamp light at night.", "Coffee."),
		stretchOf(1, "Welcome back everybody.", "Glass rings bend rays.", "Rays leave glass rings in one beam.", ""),
		stretchOf(2, "", ""),
		{ID: tree.NodeID(lens.ID, 3), Level: tree.L1, Text: "No clips yet.", Span: tree.MS(1_800_000, 2_400_000)},
	}}
	var got []string
	for _, n := range highlights(tr) {
		got = append(got, n.Text)
	}
	if want := []string{"Curved mirrors lose lamp light at night.", "Rays leave glass rings in one beam."}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestSummariesCiteWhatTheySay: in every mode each point is cited, the evidence
// comes first, and a citation stands behind its own point.
func TestSummariesCiteWhatTheySay(t *testing.T) {
	tr := &tree.Tree{Source: lens, Roots: []*tree.Node{
		stretchOf(0, "Mirrors scatter lamp light.", "Curved mirrors lose light."), stretchOf(1, "Glass rings bend rays.", "One beam."), stretchOf(2, "Keepers sleep.", "Ships pass."),
	}}
	a := &Answerer{Find: finder(true), Trees: func(context.Context, string, string) (*tree.Tree, error) { return tr, nil }}
	for _, mode := range []string{ModeSummary, ModeChapters, ModeHighlights} {
		events, text := collect(t, a, Question{Mode: mode, Sources: []string{lens.ID}})
		_, ev := roundsOf(events)
		from, cited := 0, 0
		for _, e := range events {
			c, ok := e.(Citation)
			if !ok {
				continue
			}
			cited++
			if said := strings.TrimSpace(string([]rune(text)[from:c.At])); c.N != cited || !strings.HasPrefix(ev[c.N-1].Quote, strings.TrimSuffix(said, ".")) || c.Unsupported {
				t.Errorf("%s: %q is cited to %q", mode, said, ev[c.N-1].Quote)
			}
			from = c.At
		}
		if cited != 3 || len(ev) != 3 || from != len([]rune(text)) {
			t.Errorf("%s: %d citations of %d pieces: %q", mode, cited, len(ev), text)
		}
	}
}

// TestSummaryIsCancelled between two points.
func TestSummaryIsCancelled(t *testing.T) {
	tr := &tree.Tree{Source: lens, Roots: []*tree.Node{stretchOf(0, "One."), stretchOf(1, "Two."), stretchOf(2, "Three.")}}
	ctx, cancel := context.WithCancel(t.Context())
	var got []Event
	a := &Answerer{Find: finder(true), Trees: func(context.Context, string, string) (*tree.Tree, error) { return tr, nil }}
	err := a.Answer(ctx, Question{Tenant: "default", Mode: ModeChapters, Sources: []string{lens.ID}}, func(e Event) error {
		if got = append(got, e); e.Type() == "citation" {
			cancel()
		}
		return nil
	})
	cancel()
	if d := last(t, got); err != nil || d.Finish != FinishCancelled || len(got) != 3+2+1 {
		t.Errorf("%v %+v after %d events", err, d, len(got))
	}
}
