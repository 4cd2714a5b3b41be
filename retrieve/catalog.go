package retrieve

import (
	"maps"
	"slices"
	"sync"

	"github.com/reeltree/reeltree/tree"
)

// catalog knows which sources are searchable, with which nodes.
type catalog struct {
	mu      sync.RWMutex
	tenants map[string]map[string]*listed
}

// listed is one source. Its maps are replaced, never changed, once shared.
type listed struct {
	src   tree.Source
	nodes map[string]listedNode
	stale bool // its vectors are of another embedder
}

type listedNode struct {
	level tree.Level
	span  tree.Span
}

func newCatalog() *catalog { return &catalog{tenants: map[string]map[string]*listed{}} }

// put notes nodes of a source; they replace those of the same id.
func (c *catalog) put(src tree.Source, entries []Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tenants[src.Tenant] == nil {
		c.tenants[src.Tenant] = map[string]*listed{}
	}
	l := &listed{src: src, nodes: map[string]listedNode{}}
	if old := c.tenants[src.Tenant][src.ID]; old != nil && !old.stale {
		maps.Copy(l.nodes, old.nodes)
	}
	for i := range entries {
		l.nodes[entries[i].Node] = listedNode{entries[i].Level, entries[i].Span}
	}
	c.tenants[src.Tenant][src.ID] = l
}

// mark notes that a source's vectors are of another embedder.
func (c *catalog) mark(src tree.Source, stale bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.tenants[src.Tenant][src.ID]
	c.tenants[src.Tenant][src.ID] = &listed{src: old.src, nodes: old.nodes, stale: stale}
}

func (c *catalog) drop(tenant, source string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tenants[tenant], source)
}

func (c *catalog) get(tenant, source string) *listed {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.tenants[tenant][source]
}

// in are the sources of a scope, by id.
func (c *catalog) in(s Scope) []*listed {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []*listed
	for _, l := range c.tenants[s.Tenant] {
		if s.admits(&Entry{Tenant: l.src.Tenant, Source: l.src.ID, Collections: l.src.Collections, Kind: l.src.Kind}) && l.touches(s.Span) {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b *listed) int {
		if a.src.ID < b.src.ID {
			return -1
		}
		return 1
	})
	return out
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
		all := tree.MS(0, l.src.DurationMS)
		if span != nil {
			all = tree.MS(min(span.StartMS, all.EndMS), min(span.EndMS, all.EndMS))
		}
		var own int64
		for _, n := range l.nodes {
			if n.level == tree.L2 {
				own += n.span.Overlap(all)
			}
		}
		done += min(own, all.Duration())
		total += all.Duration()
	}
	if total <= 0 {
		return 1
	}
	return float64(done) / float64(total)
}
