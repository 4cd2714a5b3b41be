package retrieve

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/reeltree/reeltree/tree"
)

// catalog knows which sources are searchable, with which nodes.
type catalog struct {
	mu      sync.RWMutex
	tenants map[string]*shelved
}

// shelved are the sources of a tenant.
type shelved struct {
	sources map[string]*listed
	order   []*listed // by id; replaced, never changed; nil until it is asked for
	names   nameIndex
	stale   int
}

// listed is one source. It is replaced, never changed.
type listed struct {
	src   tree.Source
	name  name  // what it is called
	facts Entry // of the source, as a scope looks at them
	nodes map[string]listedNode
	clips []tree.Span // of the L2 nodes, in no order
	done  int64       // milliseconds of the source they cover together
	stale bool        // its vectors are of another embedder
}

type listedNode struct {
	level tree.Level
	span  tree.Span
}

func newCatalog() *catalog { return &catalog{tenants: map[string]*shelved{}} }

func newListed(src tree.Source, nodes map[string]listedNode, stale bool) *listed {
	l := &listed{
		src: src, name: nameOf(src.Title), nodes: nodes, stale: stale,
		facts: Entry{Tenant: src.Tenant, Source: src.ID, Collections: src.Collections, Kind: src.Kind},
	}
	for _, n := range nodes {
		if n.level == tree.L2 {
			l.clips = append(l.clips, n.span)
		}
	}
	l.done = l.covered(tree.MS(0, src.DurationMS))
	return l
}

// covered are the milliseconds of a span that L2 nodes cover.
func (l *listed) covered(span tree.Span) (ms int64) {
	for _, c := range l.clips {
		ms += c.Overlap(span)
	}
	return min(ms, span.Duration())
}

// put notes nodes of a source; they replace those of the same id.
func (c *catalog) put(src tree.Source, entries []Entry) {
	nodes := map[string]listedNode{}
	if old := c.get(src.Tenant, src.ID); old != nil && !old.stale {
		nodes = maps.Clone(old.nodes)
	}
	for i := range entries {
		nodes[entries[i].Node] = listedNode{entries[i].Level, entries[i].Span}
	}
	c.set(src.Tenant, src.ID, newListed(src, nodes, false))
}

// mark notes that a source's vectors are of another embedder.
func (c *catalog) mark(src tree.Source, stale bool) {
	if old := c.get(src.Tenant, src.ID); old.stale != stale {
		c.set(src.Tenant, src.ID, newListed(old.src, old.nodes, stale))
	}
}

func (c *catalog) drop(tenant, source string) { c.set(tenant, source, nil) }

// set replaces what is listed of a source; nil takes it away.
func (c *catalog) set(tenant, source string, l *listed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tenants[tenant]
	if t == nil {
		t = &shelved{sources: map[string]*listed{}, names: nameIndex{}}
		c.tenants[tenant] = t
	}
	if t.order != nil {
		at, found := slices.BinarySearchFunc(t.order, source, func(l *listed, id string) int { return cmp.Compare(l.src.ID, id) })
		t.order = slices.Clone(t.order)
		if found {
			t.order = slices.Delete(t.order, at, at+1)
		}
		if l != nil {
			t.order = slices.Insert(t.order, at, l)
		}
	}
	old := t.sources[source]
	t.names.change(old, l)
	if old != nil && old.stale {
		t.stale--
	}
	if l != nil && l.stale {
		t.stale++
	}
	if t.sources[source] = l; l == nil {
		delete(t.sources, source)
	}
}

func (c *catalog) get(tenant, source string) *listed {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if t := c.tenants[tenant]; t != nil {
		return t.sources[source]
	}
	return nil
}

// all are the sources of a tenant, by id.
func (c *catalog) all(tenant string) []*listed {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tenants[tenant]
	if t == nil {
		return nil
	}
	if t.order == nil {
		t.order = slices.SortedFunc(maps.Values(t.sources), func(a, b *listed) int { return cmp.Compare(a.src.ID, b.src.ID) })
	}
	return t.order
}

// named are the sources of a tenant that are named in a text, in order of first
// mention, then by id.
func (c *catalog) named(tenant string, words []token) (out []*listed) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	t := c.tenants[tenant]
	if t == nil {
		return nil
	}
	t.names.in(words, func(l *listed) {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	})
	return out
}

// each visits every source of every tenant.
func (c *catalog) each(visit func(*listed)) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, t := range c.tenants {
		for _, l := range t.sources {
			visit(l)
		}
	}
}

// in are the sources of a scope, by id.
func (c *catalog) in(s Scope) (out []*listed) {
	admitted := func(l *listed) bool { return s.admits(&l.facts) && l.touches(s.Span) }
	if len(s.Sources) == 0 {
		for _, l := range c.all(s.Tenant) {
			if admitted(l) {
				out = append(out, l)
			}
		}
		return out
	}
	wanted := slices.Compact(slices.Sorted(slices.Values(s.Sources)))
	s.Sources = nil // each is looked up instead
	for _, id := range wanted {
		if l := c.get(s.Tenant, id); l != nil && admitted(l) {
			out = append(out, l)
		}
	}
	return out
}

// anyStale reports whether some source of a scope has vectors of another embedder.
func (c *catalog) anyStale(s Scope) bool {
	c.mu.RLock()
	t := c.tenants[s.Tenant]
	stale := t != nil && t.stale > 0
	c.mu.RUnlock()
	s.Span = nil
	return stale && slices.ContainsFunc(c.in(s), func(l *listed) bool { return l.stale })
}

// touches reports whether any node lies in the span.
func (l *listed) touches(span *tree.Span) bool {
	if span == nil {
		return true
	}
	for _, n := range l.nodes {
		if inSpan(n.span, span) {
			return true
		}
	}
	return false
}

// coverage is the finished L2 milliseconds over all of the sources, 0..1.
// Documents have no milliseconds and count as finished.
func coverage(sources []*listed, span *tree.Span) float64 {
	var done, total int64
	for _, l := range sources {
		if span == nil {
			done, total = done+l.done, total+l.src.DurationMS
			continue
		}
		end := l.src.DurationMS
		part := tree.MS(min(span.StartMS, end), min(span.EndMS, end))
		done, total = done+l.covered(part), total+part.Duration()
	}
	if total <= 0 {
		return 1
	}
	return float64(done) / float64(total)
}
