package retrieve

// explore finds the rows of a level closest to a question, breadth of them,
// from one row on (algorithm 2 of the paper). admit says which rows may be
// found, nil: all; the others are passed through. The result is a heap with
// the worst on top and valid until the scratch is used again.
func (g *graph) explore(w *walkScratch, q *codedQuery, from int32, breadth, level int, admit func(int32) bool) []rowScore {
	w.begin(len(g.dead))
	w.see(from)
	w.rows, w.scores = append(w.rows[:0], from), append(w.scores[:0], 0)
	g.codes.scores(q, w.rows, w.scores)
	w.meet(rowScore{from, w.scores[0]}, breadth, admit)
	for len(w.open) > 0 {
		next := w.open[0]
		if len(w.found) == breadth && next.score < w.found[0].score {
			break
		}
		w.open = popOpen(w.open)
		w.rows = w.rows[:0]
		for _, n := range g.links(next.row, level) {
			if w.see(n) {
				w.rows = append(w.rows, n)
			}
		}
		if cap(w.scores) < len(w.rows) {
			w.scores = make([]float32, 4*len(w.rows))
		}
		w.scores = w.scores[:len(w.rows)]
		g.codes.scores(q, w.rows, w.scores)
		for i, n := range w.rows {
			if len(w.found) < breadth || w.scores[i] > w.found[0].score {
				w.meet(rowScore{n, w.scores[i]}, breadth, admit)
			}
		}
	}
	return w.found
}

// begin forgets what was seen before.
func (w *walkScratch) begin(rows int) {
	if w.search++; len(w.seen) < rows || w.search == 0 {
		w.seen, w.search = make([]uint32, rows+rows/4+64), 1
	}
	w.open, w.found = w.open[:0], w.found[:0]
}

// see reports whether a row was not seen before.
func (w *walkScratch) see(row int32) bool {
	old := w.seen[row]
	w.seen[row] = w.search
	return old != w.search
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
