package generate

import (
	"testing"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// TestPlaceOfWordsAsTheyAreSaid: captions cut sentences anywhere, write words
// without blanks, and hold the marks of transcribers.
func TestPlaceOfWordsAsTheyAreSaid(t *testing.T) {
	s := spokenOf([]retrieve.Part{
		{Span: tree.MS(1000, 2000), Text: "I'm searching for someone."},
		{Span: tree.MS(3000, 4000), Text: "Someone very dear? A kindred"},
		{Span: tree.MS(4000, 5000), Text: "spirit, {pause} as they say, to"},
		{Span: tree.MS(5000, 6000), Text: "travel with."},
		{Span: tree.MS(7000, 8000), Text: "这束光"},
		{Span: tree.MS(8000, 9000), Text: "能在三十公里外看到。"},
		{Span: tree.MS(9000, 9500), Text: "someone very dear"},
	})
	for sentence, want := range map[string]tree.Span{
		"Someone very dear?":                             tree.MS(3000, 4000),
		"I'm searching for SOMEONE":                      tree.MS(1000, 2000),
		"A kindred spirit, as they say, to travel with.": tree.MS(3000, 6000),
		"这束光能在三十公里外看到。":                                  tree.MS(7000, 9000),
		"a kindred travel":                               {},
		"travel with. 这束光，":                              tree.MS(5000, 8000),
		"?!":                                             {},
	} {
		got, _, ok := s.find(sentence)
		if ok != (want != tree.Span{}) || ok && got != want {
			t.Errorf("%q is said at %v (%v), want %v", sentence, got, ok, want)
		}
	}
}
