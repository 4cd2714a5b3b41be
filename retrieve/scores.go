package retrieve

import (
	"math"
	"slices"
	"sort"

	"github.com/reeltree/reeltree/tree"
)

// BM25 (Robertson & Zaragoza 2009). Length counts against a fixed one of a
// short passage, so that a cue of four words gains little over a sentence.
const (
	bm25K1     = 1.2
	bm25B      = .75
	bm25Length = 40 // words
)

// shareLexical is the part of the lexical score in relevance; the rest is cosine.
const shareLexical = .6

// question is a query text made ready: distinct terms with weights that sum to
// 1 over the entered trees, and a vector.
type question struct {
	text       string
	terms      []questionTerm
	vector     []float32
	trees      []*view
	clipLength float64 // mean words of the L2
	phrases    *phrases
	inRow      map[*view][]uint64 // the pairs each unit of a view holds
	fresh      map[*view][]token  // numbers and names each unit tells
}

type questionTerm struct {
	key    uint64
	shown  string // the characters of the term; for words of the question as asked
	kind   byte
	latin  bool
	weight float64 // share of the question's information
}

// maxTerms bounds what a question costs; of a longer one the first count.
const maxTerms = 96

// byLetters reports whether the term is a group of Latin letters. Such groups
// tell other forms of a word and are read where everything entered is prose:
// minutes of speech hold most groups, and rows of a table share theirs.
func (t *questionTerm) byLetters() bool { return t.kind == kindGroup && t.latin }

// readQuestion are the distinct terms of a text, function words only where
// there is nothing else; groups of letters come last.
func readQuestion(text string) []questionTerm {
	var all, stops, groups []questionTerm
	seen := map[uint64]bool{}
	scan(text, func(t term) {
		if seen[t.key] || len(seen) >= 4*maxTerms {
			return
		}
		seen[t.key] = true
		q := questionTerm{key: t.key, shown: string(t.runes), kind: t.kind, latin: t.latin, weight: t.weight}
		switch {
		case t.stop:
			stops = append(stops, q)
		case t.kind == kindGroup:
			groups = append(groups, q)
		default:
			all = append(all, q)
		}
	})
	if len(all) == 0 {
		all = stops
	}
	all = append(all, groups...)
	return all[:min(len(all), maxTerms)]
}

// libraryTerms are the terms of a text but groups of Latin letters, which the
// index of a library does not hold.
func libraryTerms(text string) []questionTerm {
	return slices.DeleteFunc(readQuestion(text), func(t questionTerm) bool { return t.byLetters() })
}

// weigh gives the terms their share of information over the units of trees.
// Never negative, so a term that stands everywhere cannot hurt.
func (q *question) weigh() {
	q.read()
	units := 0
	for _, v := range q.trees {
		units += len(v.units)
	}
	q.clipLength = clipLength(q.trees)
	var sum float64
	apart := q.apart()
	for i := range q.terms {
		t := &q.terms[i]
		df := 0
		for _, v := range q.trees {
			df += len(v.postings[t.key])
		}
		t.weight *= apart[i] * math.Log1p((float64(units)-float64(df)+.5)/(float64(df)+.5))
		sum += t.weight
	}
	for i := range q.terms {
		if sum > 0 {
			q.terms[i].weight /= sum
		}
	}
}

// read finds what the units say in the question's own order.
func (q *question) read() {
	if slices.ContainsFunc(q.trees, func(v *view) bool { return !v.prose }) {
		q.terms = slices.DeleteFunc(q.terms, func(t questionTerm) bool { return t.byLetters() })
	}
	q.phrases, q.inRow, q.fresh = readPhrases(q.text), map[*view][]uint64{}, map[*view][]token{}
	var all [][]uint64
	for _, v := range q.trees {
		pairs, looks := make([]uint64, len(v.units)), make([]token, len(v.units))
		for i := range v.units {
			pairs[i], looks[i] = q.phrases.heldBy(v.units[i].words)
		}
		q.inRow[v], q.fresh[v] = pairs, looks
		all = append(all, pairs)
	}
	q.phrases.weigh(all)
}

func clipLength(trees []*view) float64 {
	words, clips := 0.0, 0
	for _, v := range trees {
		clips += len(v.clips)
		for i := range v.units {
			words += float64(v.units[i].length)
		}
	}
	return max(1, words) / float64(max(1, clips))
}

// scored is one view with what a question makes of it.
type scored struct {
	*view
	q        *question
	postings [][]posting // per question term
	lexical  []float32   // per unit
	cosine   []float32   // per unit
	cosSum   []float32   // running sum of cosine, one longer
	pairs    []uint64    // per unit, the phrases it holds
	looks    []token     // per unit, what it tells
	wanted   token       // what an answer looks like

	lexicalSum, cosineSum   [contexts][]float32 // running sums over units of what their windows hold
	clipLexical, clipCosine []float64           // per clip
}

// score rates every unit of v.
func (q *question) score(v *view) *scored {
	n := len(v.units)
	s := &scored{view: v, q: q, pairs: q.inRow[v], looks: q.fresh[v], wanted: q.looks(), lexical: make([]float32, n), cosine: make([]float32, n), cosSum: make([]float32, n+1)}
	for _, t := range q.terms {
		list := v.postings[t.key]
		s.postings = append(s.postings, list)
		for _, p := range list {
			s.lexical[p.unit] += float32(t.weight * saturated(float64(p.count), float64(v.units[p.unit].length)))
		}
	}
	for i := range v.units {
		s.cosine[i] = float32(dot(q.vector, v.units[i].vector))
		s.cosSum[i+1] = s.cosSum[i] + s.cosine[i]
	}
	s.surroundedBy()
	for _, c := range v.clips {
		s.clipLexical = append(s.clipLexical, s.lexicalOf(c.lo, c.hi, q.clipLength))
		s.clipCosine = append(s.clipCosine, max(0, dot(q.vector, c.vector)))
	}
	return s
}

// saturated is the BM25 term weight of count occurrences in length terms, in
// [0, 1): 1 would be infinitely many.
func saturated(count, length float64) float64 { return saturatedIn(count, length, bm25Length) }

// saturatedIn is the same among texts of a mean length.
func saturatedIn(count, length, mean float64) float64 {
	if count <= 0 {
		return 0
	}
	return count / (count + bm25K1*(1-bm25B+bm25B*length/mean))
}

// regionLexical is the BM25 share of units [lo, hi) read as one text.
func (s *scored) regionLexical(lo, hi int) float64 {
	if hi-lo == 1 {
		return float64(s.lexical[lo])
	}
	return s.lexicalOf(lo, hi, bm25Length)
}

func (s *scored) lexicalOf(lo, hi int, mean float64) float64 {
	var length float64
	for i := lo; i < hi; i++ {
		length += float64(s.units[i].length)
	}
	var sum float64
	for i, t := range s.q.terms {
		var count float64
		for _, p := range within(s.postings[i], lo, hi) {
			count += float64(p.count)
		}
		sum += t.weight * saturatedIn(count, length, mean)
	}
	return sum
}

// within are the postings of units [lo, hi).
func within(list []posting, lo, hi int) []posting {
	a := sort.Search(len(list), func(i int) bool { return int(list[i].unit) >= lo })
	b := a
	for b < len(list) && int(list[b].unit) < hi {
		b++
	}
	return list[a:b]
}

// groupCosine is the cosine of the question to a group: to the node's own
// vector where the group is a node, else to the mean of its units.
func (s *scored) groupCosine(g *group) float64 {
	switch g.kind {
	case groupClip:
		return dot(s.q.vector, s.clips[g.clip].vector)
	case groupLeaf:
		return dot(s.q.vector, s.leaves[g.leaf].vector)
	}
	if g.norm == 0 {
		return 0
	}
	return float64((s.cosSum[g.hi] - s.cosSum[g.lo]) / g.norm)
}

// relevance joins lexical share and cosine, both in [0, 1].
func relevance(lexical, cosine float64) float64 {
	return shareLexical*lexical + (1-shareLexical)*max(0, min(1, cosine))
}

// inSpan reports whether a place touches the one that was asked for.
func inSpan(s tree.Span, wanted *tree.Span) bool {
	return wanted == nil || s.Overlap(*wanted) > 0
}
