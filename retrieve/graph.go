package retrieve

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// graph is a hierarchical navigable small world over rows of codes (Malkov &
// Yashunin 2020): row ids and links in flat arrays, neighbours chosen by their
// heuristic for diversity. One writer changes it; what a writer changes at
// once it changes under its owner's lock, so readers never see half of it.
type graph struct {
	most  int // links of a row on the levels above 0; on level 0 one less than twice as many
	build int // breadth of the search for a new row's neighbours
	seed  uint64
	graphRows
	upper map[int32][]int32 // rows above level 0: per level a count and room for most links
	entry int32             // where searches begin; -1 while there is nothing
	top   int               // level of the entry
	pool  sync.Pool         // of *walkScratch
	edits []edit            // of the writer
	write writerScratch
}

// graphRows are the arrays that have a place for every row.
type graphRows struct {
	codes  codes
	signs  sketches
	dead   []bool  // tombstones: passed through, never found
	ground []int32 // level 0: per row a count and room for 2*most-1 links
	linked []int32 // level 0: how many rows link to each
}

// edit is a new list of links of a row.
type edit struct {
	row   int32
	level int
	links []int32
}

// walkScratch is what one search marks and fills.
type walkScratch struct {
	seen    []uint16 // the search that last saw a row
	search  uint16
	touched uint64 // what was read ahead, so that it is read
	rows    []int32
	scores  []float32
	asked   codedQuery
	open    []rowScore // a heap, best on top
	found   []rowScore // a heap, worst on top
}

// writerScratch is what the writer compares rows with, and what it learns.
type writerScratch struct {
	pairs  nearPairs
	chosen []*codedQuery
}

func newGraph(dim, most, build int, seed uint64) *graph {
	g := &graph{most: most, build: build, seed: seed, graphRows: graphRows{codes: codes{size: codeSize(dim)}, signs: sketches{words: codeSize(dim) / 64}}, upper: map[int32][]int32{}, entry: -1}
	g.pool.New = func() any { return &walkScratch{} }
	return g
}

// room is how many links a row may have on a level; on level 0 they and their
// count fill whole lines of a processor's cache.
func (g *graph) room(level int) int {
	if level == 0 {
		return 2*g.most - 1
	}
	return g.most
}

// links are those of a row on a level it is on.
func (g *graph) links(row int32, level int) []int32 {
	l := g.slot(row, level)
	return l[1 : 1+l[0]]
}

func (g *graph) slot(row int32, level int) []int32 {
	if level == 0 {
		n := 2 * g.most
		return g.ground[int(row)*n:][:n]
	}
	n := g.most + 1
	return g.upper[row][(level-1)*n:][:n]
}

func (g *graph) setLinks(row int32, level int, links []int32) {
	slot := g.slot(row, level)
	if level == 0 {
		for _, n := range slot[1 : 1+slot[0]] {
			g.linked[n]--
		}
		for _, n := range links {
			g.linked[n]++
		}
	}
	slot[0] = int32(len(links))
	copy(slot[1:], links)
}

// level is the highest level of a row.
func (g *graph) level(row int32) int { return len(g.upper[row]) / (g.most + 1) }

// drawLevel gives a row its level from the seed and its id alone,
// so the same writes make the same graph.
func (g *graph) drawLevel(row int32) int {
	x := splitMix(g.seed + (uint64(row)+1)*0x9e3779b97f4a7c15)
	u := (float64(x>>11) + 1) / (1 << 53) // in (0, 1]
	return min(15, int(-math.Log(u)/math.Log(float64(g.most))))
}

// splitMix mixes bits (Steele et al. 2014).
func splitMix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// roomier are the arrays with room for more rows.
func (g graphRows) roomier(more int) graphRows {
	if more <= 0 || len(g.dead) == 0 {
		return g
	}
	ground := len(g.ground) / len(g.dead)
	g.codes.bytes, g.codes.scales, g.codes.sums = roomier(g.codes.bytes, more*g.codes.size), roomier(g.codes.scales, more), roomier(g.codes.sums, more)
	g.signs.bits = roomier(g.signs.bits, more*g.signs.words)
	g.dead, g.linked, g.ground = roomier(g.dead, more), roomier(g.linked, more), roomier(g.ground, more*ground)
	return g
}

// reserve makes room for a row that nothing links to yet and that no search
// finds. The owner holds its lock.
func (g *graph) reserve(row int32, v []float32) {
	g.codes.set(row, v)
	g.signs.set(row, g.codes.row(row))
	if int(row) == len(g.dead) {
		g.dead, g.linked = append(g.dead, true), append(g.linked, 0)
		g.ground = append(g.ground, make([]int32, 2*g.most)...)
	}
	g.dead[row] = true
	g.setLinks(row, 0, nil)
	if level := g.drawLevel(row); level > 0 {
		g.upper[row] = make([]int32, level*(g.most+1))
	} else {
		delete(g.upper, row)
	}
}

// connect finds what a reserved row and its neighbours should link to; publish
// makes it so. Nothing that readers see is changed.
func (g *graph) connect(row int32, q *codedQuery) {
	g.edits = g.edits[:0]
	if g.entry < 0 {
		return
	}
	w := g.pool.Get().(*walkScratch)
	defer g.pool.Put(w)
	level := g.level(row)
	from := g.descend(w, q, level)
	for l := min(level, g.top); l >= 0; l-- {
		found := slices.Clone(g.explore(w, q, from, g.build, l, func(r int32) bool { return r != row }))
		sortAround(row, found)
		if len(found) == 0 {
			continue
		}
		if l == 0 {
			for _, r := range found {
				g.write.pairs.add(r.score, apart(g.signs.row(row), g.signs.row(r.row)))
			}
		}
		from = found[0].row
		alive := slices.DeleteFunc(slices.Clone(found), func(r rowScore) bool { return g.dead[r.row] })
		if len(alive) == 0 { // better through tombstones than not at all
			alive = found
		}
		links := g.diverse(alive, g.most)
		g.edits = append(g.edits, edit{row, l, links})
		for _, n := range links {
			g.edits = append(g.edits, edit{n, l, g.linkBack(n, row, l)})
		}
	}
}

// linkBack are the links of row n when it gets one more.
func (g *graph) linkBack(n, extra int32, level int) []int32 {
	old := g.links(n, level)
	if slices.Contains(old, extra) {
		return slices.Clone(old)
	}
	all := append(slices.Clone(old), extra)
	if len(all) <= g.room(level) {
		return all
	}
	kept := g.diverse(g.rank(n, all), g.room(level))
	if level == 0 {
		g.keepLinked(kept, all)
	}
	return kept
}

// Rows that fewer than fewLinks rows link to keep the link in place of one to
// a row that many link to: among equals, or far from all, a row would be lost.
const (
	fewLinks  = 3
	manyLinks = 8
)

// keepLinked puts rows of all back into kept that would be lost without it.
func (g *graph) keepLinked(kept, all []int32) {
	last := len(kept) - 1
	for _, r := range all {
		if g.linked[r] >= fewLinks || slices.Contains(kept, r) {
			continue
		}
		for ; last > 0 && g.linked[kept[last]] < manyLinks; last-- {
		}
		if last > 0 {
			kept[last] = r
			last--
		}
	}
}

// rank scores rows by their closeness to row n, closest first.
func (g *graph) rank(n int32, rows []int32) []rowScore {
	var q codedQuery
	g.layRow(&q, n)
	scores := make([]float32, len(rows))
	g.codes.scores(&q, rows, scores)
	out := make([]rowScore, len(rows))
	for i, r := range rows {
		out[i] = rowScore{r, scores[i]}
	}
	sortAround(n, out)
	return out
}

// sortAround orders rows by their closeness to row n. Equals come in an order
// of their own for each n: were it one order for all, many equal vectors would
// all link to the same few and the others be lost (nmslib/hnswlib#263).
func sortAround(n int32, rows []rowScore) {
	slices.SortFunc(rows, func(a, b rowScore) int {
		if a.score != b.score {
			return cmp.Compare(b.score, a.score)
		}
		return cmp.Or(cmp.Compare(mixRows(n, a.row), mixRows(n, b.row)), cmp.Compare(a.row, b.row))
	})
}

func mixRows(a, b int32) uint64 {
	return splitMix(uint64(uint32(a))<<32 | uint64(uint32(b)))
}

func compareRows(a, b rowScore) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	return cmp.Compare(a.row, b.row)
}

// diverse chooses at most n of ranked rows: each that is closer to the centre
// than to every one chosen before (algorithm 4 of the paper), then, where room
// is left, the closest of the others. Of rows equally close, which are mostly
// one vector many times over, at most half of n are chosen in the first round.
func (g *graph) diverse(ranked []rowScore, n int) []int32 {
	w := &g.write
	out, passed := make([]int32, 0, n), make([]int32, 0, len(ranked))
	equal := 0
	for i, r := range ranked {
		if len(out) == n {
			break
		}
		if equal++; i == 0 || r.score != ranked[i-1].score {
			equal = 0
		}
		if equal > n/2 || g.crowded(r, len(out)) {
			passed = append(passed, r.row)
			continue
		}
		if len(out) == len(w.chosen) {
			w.chosen = append(w.chosen, &codedQuery{})
		}
		q := w.chosen[len(out)]
		g.layRow(q, r.row)
		out = append(out, r.row)
	}
	return append(out, passed[:min(len(passed), n-len(out))]...)
}

// crowded reports whether a row is closer to one of the n chosen rows than to
// the centre.
func (g *graph) crowded(r rowScore, n int) bool {
	row, score := [1]int32{r.row}, [1]float32{}
	most, signs := g.signs.near.most(r.score), g.signs.row(r.row)
	for _, q := range g.write.chosen[:n] {
		if apart(signs, q.signs) > most {
			continue
		}
		if g.codes.scores(q, row[:], score[:]); score[0] > r.score {
			return true
		}
	}
	return false
}

// publish makes a connected row part of the graph. The owner holds its lock.
func (g *graph) publish(row int32) {
	for _, e := range g.edits {
		g.setLinks(e.row, e.level, e.links)
	}
	g.dead[row] = false
	g.signs.near = g.write.pairs.line()
	if l := g.level(row); g.entry < 0 || l > g.top {
		g.entry, g.top = row, l
	}
}

// landing is how broad the last level above the ground is searched for a way
// down to it: a way that begins beside the right rows saves more than that costs.
const landing = 4

// descend walks greedily from the entry down to just above a level.
func (g *graph) descend(w *walkScratch, q *codedQuery, level int) int32 {
	at := g.entry
	for l := g.top; l > level; l-- {
		breadth := 1
		if l == 1 {
			breadth = landing
		}
		at = best1(g.explore(w, q, at, breadth, l, nil)).row
	}
	return at
}

func best1(found []rowScore) rowScore {
	return slices.MinFunc(found, compareRows)
}

// layRow lays a row out as a question.
func (g *graph) layRow(q *codedQuery, row int32) {
	q.lay(g.codes.row(row), g.codes.sums[row])
	q.scale = g.codes.scales[row]
}
