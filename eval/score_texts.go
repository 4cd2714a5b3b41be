package eval

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/reeltree/reeltree/tree"
)

// hopLine is one prediction of multihop: pool lines from 0.
type hopLine struct {
	ID       string `json:"id"`
	Passages []int  `json:"passages"`
}

// scoreMultihop compares the titles of the chosen passages with the gold ones
// and counts the words of the passages.
func scoreMultihop(data []hopQuestion, pool []hopPassage, lines []hopLine) (*tally, error) {
	left, err := keyed(lines, func(l hopLine) string { return l.ID })
	if err != nil {
		return nil, err
	}
	t := &tally{}
	for _, q := range data {
		l := left[q.ID]
		delete(left, q.ID)
		got, words := map[string]bool{}, 0
		for _, i := range l.Passages {
			if i < 0 || i >= len(pool) {
				return nil, fmt.Errorf("passage %d of question %s is not in the pool", i, q.ID)
			}
			got[pool[i].Title] = true
			words += tree.Words(pool[i].Text)
		}
		gold, hit := set(q.Gold), 0.0
		for title := range gold {
			if got[title] {
				hit++
			}
		}
		p, r := hit/float64(max(1, len(got))), hit/float64(len(gold))
		t.question(q.ID)
		t.add("precision", p)
		t.add("recall", r)
		t.add("f1", f1(p, r))
		t.add("words", float64(words))
		t.add("passages", float64(len(l.Passages)))
	}
	return t, unknown(left)
}

func set(all []string) map[string]bool {
	out := map[string]bool{}
	for _, s := range all {
		out[s] = true
	}
	return out
}

// passageLine is one prediction of passages, best first.
type passageLine struct {
	Doc   string       `json:"doc"`
	Query int          `json:"query"`
	Hits  []passageHit `json:"hits"`
}

// passageHit is a part of a paragraph, [doc, paragraph, start, end] in code points.
type passageHit struct {
	doc            string
	par, from, end int
}

// MarshalJSON writes the quadruple.
func (h passageHit) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{h.doc, h.par, h.from, h.end})
}

type docKey struct {
	doc   string
	query int
}

// answerWords is how many words of the best hits may hold the answer.
const answerWords = 60

// scorePassages measures how often the right paragraph is among the first and
// the answer within the first 60 words, for each language and all together.
func scorePassages(data []article, lines []passageLine) (*tally, error) {
	left, err := keyed(lines, func(l passageLine) docKey { return docKey{l.Doc, l.Query} })
	if err != nil {
		return nil, err
	}
	docs := map[string]*article{}
	for i := range data {
		docs[data[i].Doc] = &data[i]
	}
	t := &tally{}
	for _, d := range data {
		for i, q := range d.Queries {
			key := docKey{d.Doc, i}
			hits := left[key].Hits
			delete(left, key)
			for _, h := range hits {
				if docs[h.doc] == nil || h.par < 0 || h.par >= len(docs[h.doc].Paragraphs) {
					return nil, fmt.Errorf("a prediction of %v names paragraph %d of %q, which is not there", key, h.par, h.doc)
				}
			}
			t.question(d.Doc)
			scorePassage(t, docs, &d, q, hits)
		}
	}
	return t, unknown(left)
}

func scorePassage(t *tally, docs map[string]*article, d *article, q articleQuery, hits []passageHit) {
	type place struct {
		doc string
		par int
	}
	var places []place
	for _, h := range hits {
		if p := (place{h.doc, h.par}); !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	covered := answered(docs, d.Doc, q, hits)
	for _, label := range []string{d.Lang, "all"} {
		for _, k := range []int{1, 5} {
			t.yes(fmt.Sprintf("%s_paragraph_R%d", label, k), slices.Contains(first(places, k), place{d.Doc, q.Paragraph}))
		}
		t.yes(label+"_answer_in_60_words", covered)
	}
}

// answered reports whether the hits within the words hold the answer whole.
func answered(docs map[string]*article, doc string, q articleQuery, hits []passageHit) bool {
	used := 0
	for i, h := range hits {
		w := tree.Words(codePoints(docs[h.doc].Paragraphs[h.par], h.from, h.end))
		if i > 0 && used+w > answerWords {
			return false
		}
		used += w
		if h.doc == doc && h.par == q.Paragraph && h.from <= q.Start && h.end >= q.Start+len([]rune(q.Answer)) {
			return true
		}
		if used >= answerWords {
			return false
		}
	}
	return false
}

// codePoints is text[from:end] in code points, cut to what is there.
func codePoints(text string, from, end int) string {
	r := []rune(text)
	end = max(0, min(end, len(r)))
	return string(r[min(max(0, from), end):end])
}
