package tree

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
)

// Extractive describes without any model: it chooses sentences of the source
// itself. It is the default, the fallback and the test double, costs nothing
// and always writes the same text for the same material.
type Extractive struct{}

var _ Describer = Extractive{}

// Limits of the extractive texts, in words.
const (
	l2Words    = 70 // the chosen sentences of a clip
	l1Words    = 90 // the first sentences of a stretch
	firstWords = 24 // one of them
	keyCount   = 8  // key terms of a stretch
	whoCount   = 6  // speakers of a stretch
)

// L2 is the one or two sentences of the clip that stand for most of it, or
// what is seen where nothing is said.
func (Extractive) L2(_ context.Context, r ClipRequest) (string, Calls, error) {
	var parts []string
	if t := clean(r.Clip.Title); t != "" {
		parts = append(parts, ended(t))
	}
	all := clipSentences(r.Clip)
	chosen := choose(all, 2, l2Words)
	if len(chosen) > 0 {
		parts = append(parts, told(chosen))
	}
	rows := clipRows(r.Clip)
	if rows != "" {
		parts = append(parts, rows)
	}
	if len(chosen) == 0 && rows == "" {
		return strings.Join(append(parts, seenText(r.Clip.Leaves, r.Source.Kind)), " "), Calls{}, nil
	}
	if screen := screenText(r.Clip.Leaves, screenWords); screen != "" {
		parts = append(parts, screenLabel+": "+screen+".")
	}
	return strings.Join(parts, " "), Calls{}, nil
}

// told joins sentences, naming a speaker where the speaker changes.
func told(all []sentence) string {
	var out, speaker string
	for _, s := range all {
		if s.speaker == speaker {
			s.speaker = ""
		} else {
			speaker = s.speaker
		}
		out = joinText(out, s.String())
	}
	return out
}

// L3 is what each moment says by itself.
func (Extractive) L3(_ context.Context, r LeafRequest) ([]string, Calls, error) {
	out := make([]string, len(r.Clip.Leaves))
	for i, l := range r.Clip.Leaves {
		out[i] = leafText(l)
	}
	return out, Calls{}, nil
}

// L1 is wide: the title, who speaks, the terms that recur, and how its clips
// begin.
func (Extractive) L1(_ context.Context, r StretchRequest) (string, Calls, error) {
	var parts []string
	if t := clean(r.Title); t != "" {
		parts = append(parts, ended(t))
	}
	who, plain := speakers(r.L2)
	if r.Source.Kind == KindDocument { // there a colon is not speech
		who, plain = nil, r.L2
	}
	if len(who) > 0 {
		parts = append(parts, ended("With "+strings.Join(who[:min(len(who), whoCount)], ", ")))
	}
	if keys := keyTerms(plain, keyCount); len(keys) > 0 {
		parts = append(parts, "About "+strings.Join(keys, ", ")+".")
	}
	parts = append(parts, firstSentences(r.L2)...)
	if len(parts) == 0 {
		return seenText(nil, r.Source.Kind), Calls{}, nil
	}
	return strings.Join(parts, " "), Calls{}, nil
}

// speakers takes "Name: " off the sentences of L2 texts: the names, those of
// most sentences first, and the texts without them.
func speakers(texts []string) (names, plain []string) {
	count := map[string]int{}
	for _, t := range texts {
		var rest []string
		for _, s := range splitSentences(t) {
			name, said, ok := strings.Cut(s, ": ")
			if ok && name != screenLabel && Words(name) <= 8 && !strings.ContainsAny(name, ";,!?\"") {
				if count[name]++; count[name] == 1 {
					names = append(names, name)
				}
				s = said
			}
			rest = append(rest, s)
		}
		plain = append(plain, strings.Join(rest, " "))
	}
	slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
	return names, plain
}

// screenLabel begins what stood on the screen.
const screenLabel = "On screen"

// firstSentences are the first sentences of texts (two of each where there are
// few texts), as many as the words of an L1 allow, spread evenly over the stretch.
func firstSentences(texts []string) []string {
	var firsts []string
	each := 1
	if len(texts) < 3 {
		each = 2
	}
	for _, t := range texts {
		all := splitSentences(t)
		for _, s := range all[:min(each, len(all))] {
			if s = shorten(s, firstWords); !slices.Contains(firsts, s) {
				firsts = append(firsts, s)
			}
		}
	}
	for n := min(len(firsts), 6); n > 1; n-- {
		var out []string
		words := 0
		for _, i := range spread(len(firsts), n) {
			out = append(out, ended(firsts[i]))
			words += Words(firsts[i])
		}
		if words <= l1Words {
			return out
		}
	}
	return firsts[:min(1, len(firsts))]
}

// spread are k of n positions, uniform with both ends.
func spread(n, k int) []int {
	if k >= n {
		k = n
	}
	out := make([]int, k)
	for i := range out {
		if k > 1 {
			out[i] = (i*(n-1)*2 + (k - 1)) / (2 * (k - 1)) // rounded
		}
	}
	return out
}

// ended is text with a full stop where it has no end of its own.
func ended(s string) string {
	if strings.ContainsRune(wideEnds+narrowEnds+closers+":", lastRune(s)) {
		return s
	}
	if unspaced(lastRune(s)) {
		return s + "。"
	}
	return s + "."
}

// clipRows says what table a clip holds: its columns and its first rows.
func clipRows(c Clip) string {
	var header []string
	var rows [][]string
	for _, l := range c.Leaves {
		if len(l.Evidence.Rows) > 0 && header == nil {
			header = l.Evidence.Header
		}
		rows = append(rows, l.Evidence.Rows...)
	}
	if len(rows) == 0 {
		return ""
	}
	s := "Table"
	if cols := clean(strings.Join(header, ", ")); cols != "" {
		s += " of " + cols
	}
	return s + ". " + shorten(rowsText(header, rows[:min(3, len(rows))]), l2Words)
}

// choose takes up to n sentences that say most of the whole, in their order.
// A sentence weighs as much as the terms it shares with the others, early ones
// a little more; the next must not repeat the one before.
func choose(all []sentence, n, words int) []sentence {
	vecs, total := vectors(all)
	taken := map[int]bool{}
	covered := map[string]bool{}
	for len(taken) < n {
		best, bestScore := -1, -1.0
		for i := range all {
			if s := weigh(vecs[i], total, covered, i, len(all), Words(all[i].text)); !taken[i] && s > bestScore+1e-12 {
				best, bestScore = i, s
			}
		}
		if best < 0 || (len(taken) > 0 && bestScore <= 0) {
			break
		}
		taken[best] = true
		for _, g := range vecs[best] {
			covered[g] = true
		}
	}
	var out []sentence
	used := 0
	for i, s := range all {
		if w := Words(s.text); taken[i] && (len(out) == 0 || used+w <= words) {
			s.text = shorten(s.text, words)
			out = append(out, s)
			used += w
		}
	}
	return out
}

// weigh is the centrality of one sentence: for each of its terms not yet
// covered, the logarithm of how many sentences have it, over the square root
// of its length so that long sentences do not win by length alone.
func weigh(grams []string, total map[string]int, covered map[string]bool, place, n, words int) float64 {
	sum := 0.0
	for _, g := range grams {
		if !covered[g] {
			sum += math.Log1p(float64(total[g]))
		}
	}
	score := sum / math.Sqrt(float64(max(len(grams), 6)))
	score *= 1.15 - 0.15*float64(place)/float64(max(1, n-1))
	if words < 4 {
		score *= 0.3
	}
	return score
}

// vectors are the distinct terms of every sentence and in how many each stands.
func vectors(all []sentence) (vecs [][]string, total map[string]int) {
	total = map[string]int{}
	vecs = make([][]string, len(all))
	for i, s := range all {
		g := grams(s.text)
		slices.SortFunc(g, cmp.Compare[string])
		vecs[i] = slices.Compact(g)
		for _, t := range vecs[i] {
			total[t]++
		}
	}
	return vecs, total
}
