package generate

import (
	"context"
	"math"
	"strings"
)

// minSupport is the support below which a citation is flagged, chosen on the
// train part of public meetings (TestFitSupport): there it flags 87 of 100
// sentences cited to a neighbouring piece of evidence and less than 1 of 100
// cited rightly; words said anew need the room that is left.
const minSupport = .5

// judge tells how far a piece of evidence holds a sentence: the share of the
// sentence's words, weighted by how few of the pieces hold them, and, with an
// embedder, the cosine of both.
type judge struct {
	words   map[int]map[string]bool // evidence number -> its words
	vectors map[int][]float32
	embed   func(string) []float32 // nil: words alone
	weight  func(word string) float64
}

// newJudge reads the evidence once, before the first token. Where the embedder
// fails, the words judge alone.
func (a *Answerer) newJudge(ctx context.Context, w *writer) *judge {
	j := &judge{words: map[int]map[string]bool{}, vectors: map[int][]float32{}}
	held := map[string]int{}
	texts := make([]string, len(w.evidence))
	for i, e := range w.evidence {
		texts[i] = e.Quote + " " + w.items[i].Text
		j.words[e.N] = map[string]bool{}
		for _, k := range keywords(texts[i] + " " + e.Speaker + " " + e.Source.Title) {
			j.words[e.N][k] = true
			held[k]++
		}
	}
	n := float64(len(w.evidence))
	j.weight = func(word string) float64 { return math.Log(1 + (n+1)/(float64(held[word])+.5)) }
	if a.Embed == nil || len(texts) == 0 {
		return j
	}
	vectors, err := a.Embed(ctx, texts)
	if err != nil || len(vectors) != len(texts) {
		a.log().Warn("the evidence cannot be embedded, words alone judge the citations", "error", err)
		return j
	}
	for i, e := range w.evidence {
		j.vectors[e.N] = vectors[i]
	}
	j.embed = func(text string) []float32 {
		v, err := a.Embed(ctx, []string{text})
		if err != nil || len(v) != 1 {
			return nil
		}
		return v[0]
	}
	return j
}

// support of a sentence, or of the part of it since the last mark where that
// part says enough to be judged alone; the better of the two counts.
func (j *judge) support(n int, sentence, clause string) float64 {
	best := j.one(n, sentence)
	if clause != sentence && len(keywords(clause)) >= enoughWords {
		best = max(best, j.one(n, clause))
	}
	return math.Round(best*1000) / 1000
}

func (j *judge) one(n int, text string) float64 {
	words := keywords(text)
	if len(words) == 0 {
		return 1 // says nothing that could be wrong
	}
	var same, all float64
	for _, k := range words {
		weight := j.weight(k)
		all += weight
		if j.words[n][k] {
			same += weight
		}
	}
	lexical := same / all
	if j.embed == nil {
		return lexical
	}
	cosine := dot(j.embed(text), j.vectors[n])
	return max(0, min(1, lexical*shareLexical+cosine*(1-shareLexical)))
}

// shareLexical is the part of the words in the support; the rest is cosine.
const shareLexical = .6

// dot is the cosine of two unit vectors, 0 where one is missing.
func dot(a, b []float32) float64 {
	var sum float64
	if len(a) == len(b) {
		for i := range a {
			sum += float64(a[i]) * float64(b[i])
		}
	}
	return sum
}

// recent remembers the end of what was said: the sentence a mark stands behind
// and the part of it since the last mark.
type recent struct {
	text   []rune
	begin  int    // where the text since the last mark begins
	clause string // the words of the last mark, for another one behind it
}

// mostRecent bounds what is remembered.
const mostRecent = 2000

func (r *recent) add(c rune) {
	if len(r.text) >= 2*mostRecent {
		r.text = append(r.text[:0], r.text[len(r.text)-mostRecent:]...)
		r.begin = max(0, r.begin-mostRecent)
	}
	r.text = append(r.text, c)
}

// cited is what a mark stands behind: the last sentence, and as much of the end
// of the text since the last mark as says enough to be judged ("Yes." or "Oh,
// okay." does not). A sentence that says too little is judged by that text.
func (r *recent) cited() (sentence, clause string) {
	if clause := ending(string(r.text[r.begin:])); len(keywords(clause)) > 0 {
		r.begin, r.clause = len(r.text), clause
	}
	pieces := cutSentences(string(r.text))
	if len(pieces) == 0 || len(keywords(pieces[len(pieces)-1])) < enoughWords {
		return r.clause, r.clause
	}
	return pieces[len(pieces)-1], r.clause
}

// enoughWords is how many content words can be judged.
const enoughWords = 3

// ending are the last sentences of a text that together say enough.
func ending(text string) string {
	pieces := cutSentences(text)
	from := len(pieces)
	for from > 0 && len(keywords(strings.Join(pieces[from:], " "))) < enoughWords {
		from--
	}
	return strings.Join(pieces[from:], " ")
}
