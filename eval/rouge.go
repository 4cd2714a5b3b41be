package eval

import (
	"strings"
	"unicode"
)

// terms are the words of a text in small letters, without punctuation.
func terms(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// rouge1 is the F1 of the words that two texts share, each as often as both
// have it; no stemming (Lin 2004, https://aclanthology.org/W04-1013).
func rouge1(got, want []string) float64 {
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
	return overlapF1(same, len(got), len(want))
}

// rougeL is the F1 of the longest common subsequence of words.
func rougeL(got, want []string) float64 {
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
	return overlapF1(row[len(want)], len(got), len(want))
}

func overlapF1(same, got, want int) float64 {
	return f1(ratio(same, got), ratio(same, want))
}
