package retrieve

import (
	"cmp"
	"slices"
	"sort"
)

// wordSegment is an immutable inverted index of some texts. The lists lie one
// after the other in two slices, in the order of their terms, so that the
// garbage collector has nothing to look at.
type wordSegment struct {
	rows    []tableRow         // node and span alone
	lengths []float32          // words of each row
	runs    []wordRun          // whose rows these are, in their order
	of      map[string][]int32 // source id -> its runs

	keys   []uint64 // terms, upward
	ends   []int32  // where the list of each term ends; it begins where the one before ends
	posted []int32  // rows, upward in each list
	counts []uint8  // how often the term stands there, at most 255 times
}

// wordRun says that the rows [lo, hi) are of a source.
type wordRun struct {
	source *wordSource
	lo, hi int32
}

// list is where a term stands, and how often.
func (g *wordSegment) list(key uint64) (rows []int32, counts []uint8) {
	i, ok := slices.BinarySearch(g.keys, key)
	if !ok {
		return nil, nil
	}
	return g.at(i)
}

// at is the list of the i-th term.
func (g *wordSegment) at(i int) (rows []int32, counts []uint8) {
	lo := int32(0)
	if i > 0 {
		lo = g.ends[i-1]
	}
	return g.posted[lo:g.ends[i]], g.counts[lo:g.ends[i]]
}

// place notes that the next row is of a source.
func (g *wordSegment) place(src *wordSource, row int32) {
	if n := len(g.runs); n > 0 && g.runs[n-1].source == src {
		g.runs[n-1].hi++
		return
	}
	id := src.facts.Load().Source
	g.of[id] = append(g.of[id], int32(len(g.runs)))
	g.runs = append(g.runs, wordRun{src, row, row + 1})
}

// ofSource are the living rows of a source.
func (g *livingWords) ofSource(id string) (rows []int32) {
	for _, i := range g.of[id] {
		for r := g.runs[i].lo; r < g.runs[i].hi; r++ {
			if !g.isGone(r) {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// sourceOf is whose row it is.
func (g *wordSegment) sourceOf(row int32) *wordSource {
	i := sort.Search(len(g.runs), func(i int) bool { return g.runs[i].hi > row })
	return g.runs[i].source
}

func (g *livingWords) isGone(row int32) bool {
	return g.gone != nil && g.gone[row/64]>>(row%64)&1 != 0
}

// without is the segment with more rows gone.
func (g livingWords) without(rows []int32) livingWords {
	if len(rows) == 0 {
		return g
	}
	gone := make([]uint64, (len(g.rows)+63)/64)
	copy(gone, g.gone)
	for _, r := range rows {
		gone[r/64] |= 1 << (r % 64)
		g.terms -= float64(g.lengths[r])
	}
	g.gone, g.lost = gone, g.lost+len(rows)
	return g
}

// segmentBuilder makes a segment of entries.
type segmentBuilder struct {
	segmentRows
	found []foundTerm
}

// segmentRows are the rows of a segment under way.
type segmentRows struct {
	g     wordSegment
	terms float64
}

type foundTerm struct {
	key   uint64
	row   int32
	count uint8
}

// row appends a row and gives its number.
func (b *segmentRows) row(src *wordSource, r tableRow, length float32) int32 {
	if b.g.of == nil {
		b.g.of = map[string][]int32{}
	}
	n := int32(len(b.g.rows))
	b.g.rows, b.g.lengths = append(b.g.rows, r), append(b.g.lengths, length)
	b.g.place(src, n)
	b.terms += float64(length)
	return n
}

func (b *segmentBuilder) add(src *wordSource, e *Entry, read wordCounts) {
	row := b.row(src, tableRow{node: e.Node, span: e.Span}, float32(read.words))
	for key, n := range read.terms {
		b.found = append(b.found, foundTerm{key, row, uint8(min(255, n))})
	}
}

func (b *segmentBuilder) segment() livingWords {
	slices.SortFunc(b.found, func(x, y foundTerm) int { return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.row, y.row)) })
	g := &b.g
	for i, f := range b.found {
		g.posted, g.counts = append(g.posted, f.row), append(g.counts, f.count)
		if i+1 == len(b.found) || b.found[i+1].key != f.key {
			g.keys, g.ends = append(g.keys, f.key), append(g.ends, int32(len(g.posted)))
		}
	}
	return livingWords{wordSegment: g, terms: b.terms}
}

// merged is one segment of the living rows of some, in their order.
func merged(parts ...livingWords) livingWords {
	var b segmentRows
	to := make([][]int32, len(parts)) // new numbers, -1 for rows that are gone
	for i := range parts {
		to[i] = b.take(&parts[i])
	}
	postings, keys := 0, 0
	for _, p := range parts {
		postings, keys = postings+len(p.posted), max(keys, len(p.keys))
	}
	g := &b.g
	g.posted, g.counts = make([]int32, 0, postings), make([]uint8, 0, postings)
	g.keys, g.ends = make([]uint64, 0, keys), make([]int32, 0, keys)
	next := make([]int, len(parts)) // term of each part that is to be taken
	for {
		key, ok := smallest(parts, next)
		if !ok {
			break
		}
		for i := range parts {
			p := &parts[i]
			if next[i] == len(p.keys) || p.keys[next[i]] != key {
				continue
			}
			rows, counts := p.at(next[i])
			next[i]++
			for k, r := range rows {
				if n := to[i][r]; n >= 0 {
					g.posted, g.counts = append(g.posted, n), append(g.counts, counts[k])
				}
			}
		}
		if n := len(g.ends); len(g.posted) > 0 && (n == 0 || int(g.ends[n-1]) < len(g.posted)) {
			g.keys, g.ends = append(g.keys, key), append(g.ends, int32(len(g.posted)))
		}
	}
	return livingWords{wordSegment: g, terms: b.terms}
}

// smallest is the first term that is to be taken of any part.
func smallest(parts []livingWords, next []int) (key uint64, ok bool) {
	for i := range parts {
		if keys := parts[i].keys; next[i] < len(keys) && (!ok || keys[next[i]] < key) {
			key, ok = keys[next[i]], true
		}
	}
	return key, ok
}

// take appends the living rows of a segment and gives their new numbers.
func (b *segmentRows) take(p *livingWords) []int32 {
	to := make([]int32, len(p.rows))
	for _, run := range p.runs {
		for r := run.lo; r < run.hi; r++ {
			if to[r] = -1; !p.isGone(r) {
				to[r] = b.row(run.source, p.rows[r], p.lengths[r])
			}
		}
	}
	return to
}
