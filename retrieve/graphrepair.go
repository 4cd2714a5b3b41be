package retrieve

import "slices"

// repairs are the edits that take tombstones out of the graph: a row that
// links to one gets the best of its other links and of the living rows the
// tombstones linked to (the consolidation of FreshDiskANN, Singh et al. 2021).
// alone are rows that nothing would link to, or that would link to nothing;
// they must be connected anew. Nothing that readers see is changed.
func (g *graph) repairs(gone []int32) (edits []edit, alone []int32) {
	leaving := make(map[int32]bool, len(gone))
	for _, r := range gone {
		leaving[r] = true
	}
	linked := make([]bool, len(g.dead))
	for row := range int32(len(g.dead)) {
		if g.dead[row] {
			continue
		}
		for l := g.level(row); l >= 0; l-- {
			links := g.links(row, l)
			if slices.ContainsFunc(links, func(n int32) bool { return leaving[n] }) {
				links = g.around(row, l, leaving)
				edits = append(edits, edit{row, l, links})
			}
			for _, n := range links {
				linked[n] = linked[n] || l == 0
			}
			if l == 0 && len(links) == 0 {
				alone = append(alone, row)
			}
		}
	}
	for row := range int32(len(g.dead)) {
		if !g.dead[row] && !linked[row] {
			alone = append(alone, row)
		}
	}
	slices.Sort(alone)
	return edits, slices.Compact(alone)
}

// around are the links row gets on a level in place of those to leaving rows.
func (g *graph) around(row int32, level int, leaving map[int32]bool) []int32 {
	seen := map[int32]bool{row: true}
	var all []int32
	take := func(n int32) {
		if !seen[n] && !g.dead[n] {
			all = append(all, n)
		}
		seen[n] = true
	}
	for _, n := range g.links(row, level) {
		if take(n); leaving[n] {
			for _, far := range g.links(n, level) {
				take(far)
			}
		}
	}
	return g.diverse(g.rank(row, all), g.room(level))
}

// bury applies repairs and takes the links of gone rows away. The owner holds
// its lock.
func (g *graph) bury(gone, alone []int32, edits []edit) {
	for _, e := range edits {
		g.setLinks(e.row, e.level, e.links)
	}
	for _, r := range gone {
		g.setLinks(r, 0, nil)
		delete(g.upper, r)
	}
	if g.entry >= 0 && (slices.Contains(gone, g.entry) || slices.Contains(alone, g.entry)) {
		g.enterAt(alone)
	}
}

// enterAt makes the highest living row the entry, one that is linked if any is.
func (g *graph) enterAt(alone []int32) {
	lonely := make(map[int32]bool, len(alone))
	for _, r := range alone {
		lonely[r] = true
	}
	g.entry, g.top = -1, 0
	for r := range int32(len(g.dead)) {
		if g.dead[r] {
			continue
		}
		l := g.level(r)
		if g.entry < 0 || lonely[g.entry] && !lonely[r] || lonely[g.entry] == lonely[r] && l > g.top {
			g.entry, g.top = r, l
		}
	}
}
