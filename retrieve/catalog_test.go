package retrieve

import (
	"fmt"
	"slices"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

func catalogued(id string, ms int64, collections ...string) tree.Source {
	return tree.Source{ID: id, Tenant: "t", DurationMS: ms, Collections: collections, Kind: tree.KindVideo}
}

func listedClip(source string, n int, span tree.Span) Entry {
	e := entry("t", source, n, nil)
	e.Span = span
	return e
}

func TestCatalogListsAScopeById(t *testing.T) {
	c := newCatalog()
	for _, id := range []string{"m", "c", "x", "a"} {
		c.put(catalogued(id, 10_000, map[bool]string{true: "red", false: "blue"}[id < "g"]), []Entry{listedClip(id, 0, tree.MS(0, 4000))})
		if id == "c" { // what is put after the order was asked for is in it
			c.all("t")
		}
	}
	ids := func(s Scope) (out []string) {
		for _, l := range c.in(s) {
			out = append(out, l.src.ID)
		}
		return out
	}
	for _, k := range []struct {
		s    Scope
		want []string
	}{
		{Scope{Tenant: "t"}, []string{"a", "c", "m", "x"}},
		{Scope{Tenant: "u"}, nil},
		{Scope{Tenant: "t", Collection: "red"}, []string{"a", "c"}},
		{Scope{Tenant: "t", Sources: []string{"x", "nowhere", "a", "x"}}, []string{"a", "x"}},
		{Scope{Tenant: "t", Sources: []string{"x", "a"}, Collection: "red"}, []string{"a"}},
		{Scope{Tenant: "t", Span: new(tree.MS(5000, 6000))}, nil},
		{Scope{Tenant: "t", Span: new(tree.MS(3999, 6000)), Sources: []string{"m"}}, []string{"m"}},
	} {
		if got := ids(k.s); !slices.Equal(got, k.want) {
			t.Errorf("%+v lists %v instead of %v", k.s, got, k.want)
		}
	}
	before := c.in(Scope{Tenant: "t"})
	c.drop("t", "c")
	c.drop("t", "nowhere")
	if got := ids(Scope{Tenant: "t"}); !slices.Equal(got, []string{"a", "m", "x"}) || before[1].src.ID != "c" || c.get("t", "c") != nil {
		t.Errorf("after a removal %v, in the list before it %s", got, before[1].src.ID)
	}
}

func TestCoverageCountsFinishedClips(t *testing.T) {
	c := newCatalog()
	c.put(catalogued("half", 10_000), []Entry{listedClip("half", 1, tree.MS(0, 5000)), {Tenant: "t", Source: "half", Node: "half/0", Level: tree.L1, Span: tree.MS(0, 9000)}})
	c.put(catalogued("over", 10_000), []Entry{listedClip("over", 1, tree.MS(0, 7000)), listedClip("over", 2, tree.MS(3000, 12_000))})
	c.put(catalogued("text", 0), []Entry{listedClip("text", 1, tree.Span{Unit: tree.UnitText, Page: 1})})
	for _, k := range []struct {
		source string
		span   *tree.Span
		want   float64
	}{
		{"half", nil, .5},
		{"over", nil, 1},
		{"text", nil, 1},
		{"half", new(tree.MS(4000, 6000)), .5},
		{"half", new(tree.MS(6000, 8000)), 0},
		{"half", new(tree.MS(4000, 90_000)), 1. / 6},
	} {
		if got := coverage(c.in(Scope{Tenant: "t", Sources: []string{k.source}}), nil); k.span == nil && got != k.want {
			t.Errorf("%s is covered to %g instead of %g", k.source, got, k.want)
		}
		if k.span != nil {
			if got := coverage([]*listed{c.get("t", k.source)}, k.span); got != k.want {
				t.Errorf("%v of %s is covered to %g instead of %g", *k.span, k.source, got, k.want)
			}
		}
	}
	c.put(catalogued("half", 10_000), []Entry{listedClip("half", 2, tree.MS(5000, 9000))}) // a later stretch
	if got := coverage(c.in(Scope{Tenant: "t", Sources: []string{"half"}}), nil); got != .9 {
		t.Errorf("covered to %g after a second stretch", got)
	}
}

func TestStaleNodesAreNotKept(t *testing.T) {
	c := newCatalog()
	c.put(catalogued("s", 1000), []Entry{listedClip("s", 1, tree.MS(0, 500))})
	c.mark(catalogued("s", 1000), true)
	if l := c.get("t", "s"); !l.stale || len(l.nodes) != 1 {
		t.Errorf("%+v", l)
	}
	c.put(catalogued("s", 1000), []Entry{listedClip("s", 2, tree.MS(500, 1000))})
	if l := c.get("t", "s"); l.stale || len(l.nodes) != 1 {
		t.Errorf("%+v", l)
	}
}

func TestCatalogIsReadWhileWritten(t *testing.T) {
	c := newCatalog()
	stop := beside(3, func() bool {
		list := c.in(Scope{Tenant: "t"})
		if !slices.IsSortedFunc(list, func(a, b *listed) int { return compareHits(Hit{Node: a.src.ID}, Hit{Node: b.src.ID}) }) {
			t.Error("out of order")
			return false
		}
		coverage(list, nil)
		return true
	})
	for n := range 2000 {
		id := fmt.Sprint("s", n*7%50)
		c.put(catalogued(id, 1000), []Entry{listedClip(id, n, tree.MS(0, 500))})
		if n%3 == 0 {
			c.drop("t", fmt.Sprint("s", n%50))
		}
	}
	stop()
}
