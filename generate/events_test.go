package generate

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// TestWireEvents holds the fields of every event, full and empty.
func TestWireEvents(t *testing.T) {
	paper := retrieve.Item{
		Node: lens.ID + "/1.0.3", Level: tree.L3, Source: tree.Source{ID: lens.ID, Title: "Paper", Kind: tree.KindDocument},
		Span: tree.Span{Unit: tree.UnitText, Page: 2, Paragraph: 4, StartChar: 1, EndChar: 9}, Quote: "Glass.", Score: 1.7,
	}
	near := NewEvidence(3, evidence[0])
	near.Nearest = true
	var b strings.Builder
	for _, e := range []Event{
		Round{
			Round: 2, Queries: []string{"a", "b"}, Considered: 40, Kept: 3, Replaced: []int{1}, LeftOut: 2,
			Trace: []retrieve.Decision{{Stage: "walk", Node: lens.ID + "/0", Action: "step", Score: .5}},
		},
		near, NewEvidence(4, paper),
		Token{"Grüße \"<🙂>\"\n"},
		Citation{N: 3, At: 12, Support: .75},
		Citation{N: 4, At: 12, Support: .1, Unsupported: true},
		Revised{Because: []string{lens.ID + "/2.0"}},
		Done{Finish: FinishStop, TextSHA256: strings.Repeat("0", 64), Coverage: .5},
		Done{
			Finish: FinishError, Error: &Fault{Code: 1401, Message: "the model hung up", Retry: true, Kind: KindModel}, TextSHA256: strings.Repeat("0", 64),
			Usage: Usage{1, 2, 3, 4, 5, 6}, TimingMS: Timing{1.5, 2.25, 3}, Coverage: 1, Note: "A note.",
		},
	} {
		line, err := Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]any
		if err := json.Unmarshal(line, &back); err != nil || back["type"] != e.Type() {
			t.Errorf("%s: %v", line, err)
		}
		for _, transport := range []string{"stream", "epoch", "seq"} {
			if _, ok := back[transport]; ok {
				t.Errorf("%s holds %s", e.Type(), transport)
			}
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	golden(t, "wire.jsonl", b.String())
}

func TestOneSentence(t *testing.T) {
	got := oneSentence(errors.New("it failed:\n\t" + strings.Repeat("ä", 900) + "\xff"))
	if len([]rune(got)) != longestSentence || strings.ContainsAny(got, "\n\t") || !utf8.ValidString(got) || !strings.HasPrefix(got, "it failed: ä") {
		t.Errorf("%d runes: %.40q", len([]rune(got)), got)
	}
}

// TestPicturesLieWithinTheirSpan: a kept picture is named where it was taken
// within the item, else the time a second into it, or its middle.
func TestPicturesLieWithinTheirSpan(t *testing.T) {
	kept := "/v1/frames/" + strings.Repeat("f", 52) + ".jpg"
	for takenMS, want := range map[int64]string{
		14_000: kept, 18_999: kept, 13_999: "/v1/sources/" + lens.ID + "/frames/15000.jpg", 19_000: "/v1/sources/" + lens.ID + "/frames/15000.jpg",
	} {
		it := made(14_000, "x")
		it.Frame = &tree.FrameRef{ID: it.Frame.ID, TimeMS: takenMS}
		if got := NewEvidence(1, it).Frame; got != want {
			t.Errorf("taken at %d: %s", takenMS, got)
		}
	}
	short := made(14_000, "x")
	short.Span.EndMS, short.Frame = 14_600, &tree.FrameRef{ID: short.Frame.ID, TimeMS: 1000}
	if got := NewEvidence(1, short).Frame; !strings.HasSuffix(got, "/14300.jpg") {
		t.Errorf("of a short item: %s", got)
	}
	page := made(14_000, "x")
	page.Span, page.Source.Kind = tree.Span{Unit: tree.UnitText, Page: 2}, tree.KindDocument
	if got := NewEvidence(1, page).Frame; got != kept {
		t.Errorf("of a page: %s", got)
	}
}
