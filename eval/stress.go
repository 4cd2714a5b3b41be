package eval

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
)

// What a recording is stressed with.
const (
	stressCopies = "copies" // a second upload and a highlight clip of it are in the library and in scope
	stressDamage = "damage" // a share of its words is damaged as speech recognition does
)

// stressed are the recordings under a stress. Questions and gold stay.
func (m *meetings) stressed(how string) (*meetings, error) {
	out := &meetings{data: slices.Clone(m.data), plain: m}
	switch how {
	case stressCopies:
		for i := range out.data {
			out.data[i].copies = copiesOf(&m.data[i])
		}
	case stressDamage:
		words := vocabularyOf(m.data)
		for i := range out.data {
			out.data[i].heard = damaged(&m.data[i], words)
		}
	default:
		return nil, fmt.Errorf("%q is no stress: choose %s or %s", how, stressCopies, stressDamage)
	}
	return out, nil
}

// copied is another source that holds stretches of a recording.
type copied struct {
	meeting
	pieces []piece
}

// piece is a stretch of a copy and where it begins in the recording, in seconds.
type piece struct{ from, to, origin float64 }

// A highlight clip is so many stretches of so many seconds, spread evenly.
const (
	highlights    = 5
	highlightLong = 60.0
)

// copiesOf are the second upload of a recording, which begins a little later
// than the first, and a highlight clip.
func copiesOf(m *meeting) []copied {
	const late = 2.5
	long := 0.0
	for _, t := range m.Turns {
		long = max(long, t.End)
	}
	whole := []piece{{late, late + long, 0}}
	var best []piece
	for k := range highlights {
		origin := long * (float64(k) + .5) / highlights
		best = append(best, piece{float64(k) * highlightLong, float64(k+1) * highlightLong, origin})
	}
	return []copied{m.copy("second upload", whole), m.copy("highlights", best)}
}

// copy is a source made of pieces of m. A turn is in a piece where it begins in it.
func (m *meeting) copy(name string, pieces []piece) copied {
	c := copied{meeting{ID: m.ID + " " + name}, pieces}
	for _, p := range pieces {
		for _, t := range m.Turns {
			if at := t.Start - p.origin; at >= 0 && at < p.to-p.from {
				t.Start, t.End = p.from+at, min(p.to, p.from+at+t.End-t.Start)
				c.Turns = append(c.Turns, t)
			}
		}
	}
	return c
}

// origin is where seconds of a copy lie in the recording.
func (c *copied) origin(s interval) interval {
	for _, p := range c.pieces {
		if s[0] >= p.from && s[0] < p.to {
			move := p.origin - p.from
			return interval{s[0] + move, min(s[1], p.to) + move}
		}
	}
	return interval{}
}

// Shares of the words that are heard wrong, not heard, and heard where nothing
// was said: 15 % in all, in the proportions that recognisers of meetings have.
const (
	heardWrong = .09
	heardNot   = .03
	heardMore  = .03
)

// damaged are the turns as a recogniser might write them down, always the same.
func damaged(m *meeting, words *vocabulary) []turn {
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(m.ID)) // a hash never fails to write
	rng := rand.New(rand.NewPCG(seed.Sum64(), 15))
	out := slices.Clone(m.Turns)
	for i := range out {
		var heard []string
		for word := range strings.FieldsSeq(out[i].Text) {
			switch x := rng.Float64(); {
			case x < heardNot:
				continue
			case x < heardNot+heardWrong:
				word = words.alike(rng, word)
			case x < heardNot+heardWrong+heardMore:
				heard = append(heard, words.any(rng))
			}
			heard = append(heard, word)
		}
		out[i].Text = strings.Join(heard, " ")
	}
	return out
}

// vocabulary is what was said anywhere, as often as it was said, and by sound.
type vocabulary struct {
	said    []string
	bySound map[string][]string
}

func vocabularyOf(data []meeting) *vocabulary {
	v := &vocabulary{bySound: map[string][]string{}}
	seen := map[string]bool{}
	for _, m := range data {
		for _, t := range m.Turns {
			for word := range strings.FieldsSeq(strings.ToLower(t.Text)) {
				v.said = append(v.said, word)
				if !seen[word] {
					seen[word] = true
					v.bySound[sound(word)] = append(v.bySound[sound(word)], word)
				}
			}
		}
	}
	return v
}

func (v *vocabulary) any(rng *rand.Rand) string { return v.said[rng.IntN(len(v.said))] }

// alike is another word that sounds like this one, else this one with a letter
// dropped, doubled or swapped with the next.
func (v *vocabulary) alike(rng *rand.Rand, word string) string {
	small := strings.ToLower(word)
	others := slices.DeleteFunc(slices.Clone(v.bySound[sound(small)]), func(o string) bool { return o == small })
	if len(others) > 0 {
		return others[rng.IntN(len(others))]
	}
	runes := []rune(word)
	if len(runes) < 2 {
		return v.any(rng)
	}
	at := rng.IntN(len(runes) - 1)
	switch rng.IntN(3) {
	case 0:
		return string(slices.Delete(runes, at, at+1))
	case 1:
		return string(slices.Insert(runes, at, runes[at]))
	}
	runes[at], runes[at+1] = runes[at+1], runes[at]
	return string(runes)
}

// sound is the Soundex code of a word (https://www.archives.gov/research/census/soundex),
// not cut to four places, so that long words are alike as a whole.
func sound(word string) string {
	const codes = "01230120022455012623010202" // of a to z; 0 is not written
	var out []byte
	last := byte('0')
	for i := range len(word) {
		c := word[i]
		if c < 'a' || c > 'z' {
			continue
		}
		code := codes[c-'a']
		switch {
		case len(out) == 0:
			out = append(out, c)
		case code != '0' && code != last:
			out = append(out, code)
		}
		if c != 'h' && c != 'w' { // they do not part two letters of one code
			last = code
		}
	}
	return cmp.Or(string(out), word)
}
