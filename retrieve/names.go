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

// saidBy is how much of the name the words of a source say, in [0, 1], weighed
// by how rare they are.
func (n *name) saidBy(v *view, rarity rarity) float64 {
	var said, all float64
	for _, k := range n.keys {
		w := rarity.of(k)
		if all += w; len(v.postings[k]) > 0 {
			said += w
		}
	}
	if all == 0 {
		return 0
	}
	return said / all
}

// nameIndex finds the sources that are named in a text, by the first two words
// of their names.
type nameIndex map[[2]token][]*listed

func (n *name) begin() [2]token {
	if len(n.words) == 1 {
		return [2]token{n.words[0]}
	}
	return [2]token(n.words)
}

// change puts l into the place of old; either may be nil.
func (x nameIndex) change(old, l *listed) {
	if old != nil && len(old.name.words) > 0 {
		at := old.name.begin()
		if x[at] = slices.DeleteFunc(x[at], func(o *listed) bool { return o == old }); len(x[at]) == 0 {
			delete(x, at)
		}
	}
	if l != nil && len(l.name.words) > 0 {
		x[l.name.begin()] = append(x[l.name.begin()], l)
	}
}

// in visits the sources named in words, in the order of the words; one that is
// named twice is visited twice.
func (x nameIndex) in(words []token, visit func(*listed)) {
	for i, w := range words {
		at := [2]token{w & tokenKey}
		for range 2 {
			for _, l := range x[at] {
				if l.name.at(words, i) {
					visit(l)
				}
			}
			if i+1 == len(words) {
				break
			}
			at[1] = words[i+1] & tokenKey
		}
	}
}
