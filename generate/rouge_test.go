package generate

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/tree"
)

func rougeTerms(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// rouge is the F1 of shared words and of the longest common subsequence (Lin
// 2004, https://aclanthology.org/W04-1013), without stemming.
func rouge(got, want []string) (one, long float64) {
	left := map[string]int{}
	for _, w := range want {
		left[w]++
	}
	same := 0
	for _, w := range got {
		if left[w] > 0 {
			left[w]--
			same++
		}
	}
	row := make([]int, len(want)+1)
	for _, g := range got {
		corner := 0
		for j, w := range want {
			above := row[j+1]
			if g == w {
				row[j+1] = corner + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			corner = above
		}
	}
	f1 := func(n int) float64 { return 2 * float64(n) / float64(max(1, len(got)+len(want))) }
	return f1(same), f1(row[len(want)])
}

// sentencesOf are the sentences of a recording in order.
func sentencesOf(m meeting) (all []string) {
	for _, t := range m.Turns {
		all = append(all, cutSentences(t.Text)...)
	}
	return all
}

// bm25Order ranks the sentences of a recording for a question.
func bm25Order(sentences []string, question string) []string {
	held, length := map[string]int{}, 0
	terms := make([][]string, len(sentences))
	for i, s := range sentences {
		terms[i] = rougeTerms(s)
		length += len(terms[i])
		for _, w := range slices.Compact(slices.Sorted(slices.Values(terms[i]))) {
			held[w]++
		}
	}
	mean, n := float64(length)/float64(max(1, len(sentences))), float64(len(sentences))
	scores := make([]float64, len(sentences))
	for _, w := range slices.Compact(slices.Sorted(slices.Values(rougeTerms(question)))) {
		idf := math.Log(1 + (n-float64(held[w])+.5)/(float64(held[w])+.5))
		for i := range sentences {
			tf := 0.0
			for _, t := range terms[i] {
				if t == w {
					tf++
				}
			}
			scores[i] += idf * tf * 2.2 / (tf + 1.2*(.25+.75*float64(len(terms[i]))/mean))
		}
	}
	order := make([]int, len(sentences))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	ranked := make([]string, len(order))
	for i, at := range order {
		ranked[i] = sentences[at]
	}
	return ranked
}

func firstWords(sentences []string, n int) string {
	var words []string
	for _, s := range sentences {
		if len(words) >= n {
			break
		}
		words = append(words, strings.Fields(s)...)
	}
	return strings.Join(words[:min(n, len(words))], " ")
}

// TestMeetingAnswersAgainstBaselines measures ROUGE of the extractive answers
// of public meetings against the reference answers, beside the recording's
// first sentences and its best ones by BM25, cut to as many words.
func TestMeetingAnswersAgainstBaselines(t *testing.T) {
	for _, part := range []string{"train", "dev"} {
		if part == "train" && !*fit {
			continue
		}
		meetings := testkit.ReadJSONLines[meeting](t, testkit.Shared(t, "bench", "meetings-"+part+".jsonl.gz"))
		a, ids := asker(t, meetings)
		var sums [3][2]float64
		n, words, refs := 0, 0, 0
		for i, m := range meetings {
			sentences := sentencesOf(m)
			for _, q := range m.Queries {
				text, events := answerOf(t, a, Question{Text: q.Query, Sources: ids[i : i+1]})
				if last(t, events).Finish != FinishStop {
					continue
				}
				text = strings.ReplaceAll("\n"+text, "\n- ", " ")
				want, length := rougeTerms(q.Answer), len(strings.Fields(text))
				n, words, refs = n+1, words+tree.Words(text), refs+len(want)
				for k, answer := range []string{text, firstWords(sentences, length), firstWords(bm25Order(sentences, q.Query), length)} {
					one, long := rouge(rougeTerms(answer), want)
					sums[k][0], sums[k][1] = sums[k][0]+one, sums[k][1]+long
				}
			}
		}
		mean := func(k, r int) float64 { return sums[k][r] / float64(n) }
		t.Logf("%s: %d answers of %.1f words, references of %.1f", part, n, float64(words)/float64(n), float64(refs)/float64(n))
		for k, name := range []string{"answers", "first sentences", "BM25 sentences"} {
			t.Logf("%s: %s ROUGE-1 %.4f ROUGE-L %.4f", part, name, mean(k, 0), mean(k, 1))
		}
		for k := 1; k < 3; k++ {
			if mean(0, 0) <= mean(k, 0) || mean(0, 1) <= mean(k, 1) {
				t.Errorf("%s: a baseline is better", part)
			}
		}
	}
}
