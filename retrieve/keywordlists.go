package retrieve

import (
	"slices"
	"sync"
	"sync/atomic"
)

// wordLists are the texts of one tenant: a few immutable segments, each some
// times larger than the next, as in a log-structured merge tree (O'Neil et al.
// 1996). Adding makes a small segment, which is merged into its neighbour once
// it is no longer much smaller; a text that was replaced or taken out stays in
// its segment, unfindable, until enough of it is gone. So each text is written
// anew a few times only, by the writer, while readers go on with what was
// published before.
type wordLists struct {
	state atomic.Pointer[wordState]

	// The writer's own.
	nodes   map[string]*wordSource // node -> the source it is of
	sources map[string]*wordSource

	scores sync.Pool // of *[]float32
}

// wordState is what a search reads. It is replaced, never changed.
type wordState struct {
	segments []livingWords
	rows     int // of all segments, also of those that are gone
	living   int
	total    float64 // terms of the living rows
}

// livingWords are a segment with the rows of it that are gone.
type livingWords struct {
	*wordSegment
	gone  []uint64 // a bit for each row; nil: none
	lost  int      // bits that are set
	terms float64  // of the living rows
}

// wordSource is one source of a tenant. Its facts are those of the last time it
// was added to.
type wordSource struct {
	facts atomic.Pointer[Entry] // without node, text and vector
	nodes int                   // the writer's own
}

const (
	mergeFactor    = 4   // a segment is merged into one that is less than so many times as large
	wordsGoneFew   = 256 // rows that may be gone before a segment is written anew …
	wordsGoneShare = 4   // … beside one in so many
)

func newWordLists() *wordLists {
	w := &wordLists{nodes: map[string]*wordSource{}, sources: map[string]*wordSource{}}
	w.state.Store(&wordState{})
	w.scores.New = func() any { return new([]float32) }
	return w
}

// put adds the entries of a tenant with their terms. Of two of one node the
// last counts.
func (w *wordLists) put(tenant string, entries []Entry, read []wordCounts) {
	segments := slices.Clone(w.state.Load().segments)
	last := map[string]int{}
	for i := range entries {
		if entries[i].Tenant == tenant {
			last[entries[i].Node] = i
		}
	}
	if len(last) == 0 {
		return
	}
	w.kill(segments, last)
	b := segmentBuilder{}
	for i := range entries {
		if e := &entries[i]; e.Tenant == tenant && last[e.Node] == i {
			src := w.source(e)
			w.nodes[e.Node] = src
			src.nodes++
			b.add(src, e, read[i])
		}
	}
	w.publish(append(segments, b.segment()))
}

// source is the record of an entry's source, with its facts brought up to date.
func (w *wordLists) source(e *Entry) *wordSource {
	s := w.sources[e.Source]
	if s == nil {
		s = &wordSource{}
		w.sources[e.Source] = s
	}
	s.facts.Store(&Entry{Tenant: e.Tenant, Source: e.Source, Collections: slices.Clone(e.Collections), Kind: e.Kind})
	return s
}

// kill takes nodes out of the segments, which are the writer's own copy.
func (w *wordLists) kill(segments []livingWords, nodes map[string]int) {
	of := map[string]bool{}
	for n := range nodes {
		if src := w.nodes[n]; src != nil {
			of[src.facts.Load().Source] = true
			w.forget(n, src)
		}
	}
	for i := range segments {
		g := &segments[i]
		var rows []int32
		for id := range of {
			for _, r := range g.ofSource(id) {
				if _, ok := nodes[g.rows[r].node]; ok {
					rows = append(rows, r)
				}
			}
		}
		*g = g.without(rows)
	}
}

// forget takes a node out of the writer's books.
func (w *wordLists) forget(node string, src *wordSource) {
	delete(w.nodes, node)
	if src.nodes--; src.nodes == 0 {
		delete(w.sources, src.facts.Load().Source)
	}
}

// drop makes nodes unfindable.
func (w *wordLists) drop(nodes []string) {
	segments := slices.Clone(w.state.Load().segments)
	set := map[string]int{}
	for _, n := range nodes {
		set[n] = 0
	}
	w.kill(segments, set)
	w.publish(segments)
}

// remove makes a source unfindable.
func (w *wordLists) remove(source string) {
	src := w.sources[source]
	if src == nil {
		return
	}
	segments := slices.Clone(w.state.Load().segments)
	for i := range segments {
		g := &segments[i]
		rows := g.ofSource(source)
		for _, r := range rows {
			w.forget(g.rows[r].node, src)
		}
		*g = g.without(rows)
	}
	w.publish(segments)
}

// publish lets searches see segments, at once and again when they are tidy.
func (w *wordLists) publish(segments []livingWords) {
	w.state.Store(stateOf(segments))
	w.state.Store(stateOf(tidied(segments)))
}

func stateOf(segments []livingWords) *wordState {
	s := &wordState{segments: segments}
	for i := range segments {
		s.rows += len(segments[i].rows)
		s.living += len(segments[i].rows) - segments[i].lost
		s.total += segments[i].terms
	}
	return s
}

// tidied writes segments anew that are mostly gone, and merges from the end
// those that are no longer much smaller than the one before.
func tidied(segments []livingWords) []livingWords {
	var out []livingWords
	for _, g := range segments {
		if g.lost == len(g.rows) {
			continue
		}
		if g.lost >= wordsGoneFew+(len(g.rows)-g.lost)/wordsGoneShare {
			g = merged(g)
		}
		out = append(out, g)
		for n := len(out); n > 1 && len(out[n-2].rows) < mergeFactor*len(out[n-1].rows); n = len(out) {
			out = append(out[:n-2], merged(out[n-2:]...))
		}
	}
	return out
}
