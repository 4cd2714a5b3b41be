package retrieve

import (
	"slices"
	"strings"
)

// name is what a source is called, ready to be found in texts.
type name struct {
	words []token  // in order, function words among them
	keys  []uint64 // of the words that say something, of all where none does; each once
}

// nameOf reads a title without what stands in brackets at its end: that tells
// sources of one name apart and is left out by those who speak of them.
func nameOf(title string) (n name) {
	title = strings.TrimSpace(title)
	for _, brackets := range [...]string{"()", "[]", "（）"} {
		open, shut := []rune(brackets)[0], []rune(brackets)[1]
		if at := strings.LastIndex(title, string(open)); at > 0 && strings.HasSuffix(title, string(shut)) {
			title = title[:at]
		}
	}
	var all []uint64
	scan(title, func(t term) {
		if !t.whole() {
			return
		}
		n.words = append(n.words, token(t.key)&tokenKey)
		if all = append(all, t.key); !t.stop {
			n.keys = append(n.keys, t.key)
		}
	})
	if len(n.keys) == 0 {
		n.keys = all
	}
	n.keys = sorted(n.keys)
	return n
}

// in is where the name begins in words, -1 where it does not stand there.
func (n *name) in(words []token) int {
	if len(n.words) == 0 {
		return -1
	}
	for i := range len(words) - len(n.words) + 1 {
		if n.at(words, i) {
			return i
		}
	}
	return -1
}

func (n *name) at(words []token, i int) bool {
	return i+len(n.words) <= len(words) && slices.EqualFunc(n.words, words[i:i+len(n.words)], func(a, b token) bool { return a == b&tokenKey })
}

// within reports whether the name says nothing that o does not say too.
func (n *name) within(o *name) bool {
	return !slices.ContainsFunc(n.keys, func(k uint64) bool { return !has(o.keys, k) })
}

// saidBy is how much of the name the words of a source say, in [0, 1]; rarity
// weighs them.
func (n *name) saidBy(v *view, rarity func(key uint64) float64) float64 {
	var said, all float64
	for _, k := range n.keys {
		w := rarity(k)
		if all += w; len(v.postings[k]) > 0 {
			said += w
		}
	}
	if all == 0 {
		return 0
	}
	return said / all
}
