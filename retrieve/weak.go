package retrieve

// Support an answer needs: the BM25 share of the question that its best L2
// holds. On public meetings and encyclopaedia articles these figures keep 9
// of 10 questions asked of the right source; of those asked of another one they
// refuse nearly all where it is about other things, and half where it is the
// next meeting of the same people. Scripts that are
// read in groups of characters spread a question over more terms.
const (
	supportLatin = .09
	supportOther = .042
)

// weak reports that nothing in scope supports the question. It is judged by
// words: rare ones count most, those that stand nowhere in the entered trees
// like the rarest. A wish for a summary needs no support.
func (s *search) weak() bool {
	if s.ledger == nil || len(s.ledger.chosen) == 0 || len(s.near) == 0 {
		return true
	}
	if summary(s.text) {
		return false
	}
	best := 0.0
	for _, c := range s.near {
		clip := c.s.clips[c.clip]
		best = max(best, c.s.regionLexical(clip.lo, clip.hi))
	}
	return best < s.near[0].s.q.support()
}

// support is the share that this question needs.
func (q *question) support() float64 {
	return supportOther + (supportLatin-supportOther)*q.latin()
}
