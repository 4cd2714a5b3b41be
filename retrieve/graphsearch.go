package retrieve

import "slices"

// explore finds the rows of a level closest to a question, breadth of them,
// from one row on (algorithm 2 of the paper). admit says which rows may be
// found, nil: all; the others are passed through. The result is a heap with
// the worst on top and valid until the scratch is used again.
func (g *graph) explore(w *walkScratch, q *codedQuery, from int32, breadth, level int, admit func(int32) bool) []rowScore {
	w.begin(len(g.dead))
	w.rows = w.fresh(w.rows[:0], []int32{from})
	for {
		if len(w.found) == breadth {
			g.signs.keepNear(w, q.signs, w.found[0].score)
		}
		w.scores = slices.Grow(w.scores[:0], len(w.rows))[:len(w.rows)]
		g.touchCodes(w)
		g.codes.scores(q, w.rows, w.scores)
		for i, n := range w.rows {
			if len(w.found) < breadth || w.scores[i] > w.found[0].score {
				w.meet(rowScore{n, w.scores[i]}, breadth, admit)
			}
		}
		if !g.step(w, breadth, level) {
			return w.found
		}
	}
}

// together is how many rows are left for their neighbours at once: memory answers
// many questions in the time of one, and the second best way on is mostly taken
// next whatever the best one finds.
const together = 2

// step collects the rows that the best open ones link to and that were not seen
// before; false when no open one can lead to anything better.
func (g *graph) step(w *walkScratch, breadth, level int) bool {
	var slots [together][]int32
	n := 0
	for n < together && len(w.open) > 0 && (len(w.found) < breadth || w.open[0].score >= w.found[0].score) {
		slots[n] = g.slot(w.open[0].row, level)
		w.open = popOpen(w.open)
		n++
	}
	for _, slot := range slots[:n] {
		for at := 0; at < len(slot); at += 16 {
			w.touched += uint64(slot[at])
		}
	}
	w.rows = w.rows[:0]
	for _, slot := range slots[:n] {
		w.rows = w.fresh(w.rows, slot[1:1+slot[0]])
	}
	return n > 0
}

// touchCodes reads a byte of every cache line of the codes that come next.
func (g *graph) touchCodes(w *walkScratch) {
	for _, r := range w.rows {
		code := g.codes.row(r)
		for at := 0; at < len(code); at += codeBlock {
			w.touched += uint64(code[at])
		}
	}
}

// begin forgets what was seen before.
func (w *walkScratch) begin(rows int) {
	if w.search++; len(w.seen) < rows {
		w.seen, w.search = make([]uint16, rows+rows/16+64), 1
	} else if w.search == 0 { // all numbers of searches are used up
		clear(w.seen)
		w.search = 1
	}
	w.open, w.found = w.open[:0], w.found[:0]
}

// fresh adds those of links that were not seen before, without a branch to guess
// wrong.
func (w *walkScratch) fresh(rows, links []int32) []int32 {
	n := len(rows)
	rows = slices.Grow(rows, len(links))[:n+len(links)]
	for _, r := range links {
		rows[n] = r
		if w.seen[r] != w.search {
			n++
		}
		w.seen[r] = w.search
	}
	return rows[:n]
}

// meet takes a row as a way on and, if it may be found, as a result.
func (w *walkScratch) meet(r rowScore, breadth int, admit func(int32) bool) {
	w.open = pushOpen(w.open, r)
	if admit != nil && !admit(r.row) {
		return
	}
	w.found = pushFound(w.found, r)
	if len(w.found) > breadth {
		w.found = popFound(w.found)
	}
}

// pushOpen and popOpen keep a heap with the best on top.
func pushOpen(h []rowScore, r rowScore) []rowScore {
	h = append(h, r)
	i := len(h) - 1
	for i > 0 && ahead(r, h[(i-1)/2]) {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = r
	return h
}

func popOpen(h []rowScore) []rowScore {
	n := len(h) - 1
	r := h[n]
	h = h[:n]
	i := 0
	for k := 1; k < n; k = 2*i + 1 {
		if k+1 < n && ahead(h[k+1], h[k]) {
			k++
		}
		if !ahead(h[k], r) {
			break
		}
		h[i] = h[k]
		i = k
	}
	if n > 0 {
		h[i] = r
	}
	return h
}

// pushFound and popFound keep a heap with the worst on top.
func pushFound(h []rowScore, r rowScore) []rowScore {
	h = append(h, r)
	i := len(h) - 1
	for i > 0 && ahead(h[(i-1)/2], r) {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = r
	return h
}

func popFound(h []rowScore) []rowScore {
	n := len(h) - 1
	r := h[n]
	h = h[:n]
	i := 0
	for k := 1; k < n; k = 2*i + 1 {
		if k+1 < n && ahead(h[k], h[k+1]) {
			k++
		}
		if !ahead(r, h[k]) {
			break
		}
		h[i] = h[k]
		i = k
	}
	if n > 0 {
		h[i] = r
	}
	return h
}

// ahead reports whether a comes before b: by score, then by row.
func ahead(a, b rowScore) bool {
	return a.score > b.score || a.score == b.score && a.row < b.row
}
