package retrieve

import (
	"slices"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// rowTable knows what the rows of a vector index stand for, and which rows a
// scope admits. It is guarded by its owner.
type rowTable struct {
	rows    []tableRow
	at      map[string]int32 // tenant NUL node -> row
	tenants map[string]map[string]*rowSource
}

type tableRow struct {
	node   string // "" in a row that stands for nothing
	source *rowSource
	span   tree.Span
	vector []float32
}

// rowSource is what the rows of a source have in common.
type rowSource struct {
	entry Entry // without node and vector
	rows  []int32
}

func newRowTable() rowTable {
	return rowTable{at: map[string]int32{}, tenants: map[string]map[string]*rowSource{}}
}

// put makes row, which stands for nothing and may be one longer than the
// table, stand for e.
func (t *rowTable) put(row int32, e *Entry) { t.putKey(row, e, indexKey(e.Tenant, e.Node)) }

// putKey does so with the entry's indexKey, of which the table keeps no more
// than one copy.
func (t *rowTable) putKey(row int32, e *Entry, key string) {
	if int(row) == len(t.rows) {
		t.rows = append(t.rows, tableRow{})
	}
	s := t.source(e)
	s.rows = append(s.rows, row)
	t.rows[row] = tableRow{node: key[len(e.Tenant)+1:], source: s, span: e.Span, vector: e.Vector}
	t.at[key] = row
}

// batchKeys are the keys of entries that come together and, since they are of
// one source mostly, go together: one piece of memory instead of many small ones.
func batchKeys(entries []Entry) []string {
	var b strings.Builder
	ends := make([]int, len(entries))
	for i := range entries {
		b.WriteString(entries[i].Tenant)
		b.WriteByte(0)
		b.WriteString(entries[i].Node)
		ends[i] = b.Len()
	}
	keys, from := make([]string, len(entries)), 0
	for i, end := range ends {
		keys[i], from = b.String()[from:end], end
	}
	return keys
}

// roomier is s with room for more values and, where it must be copied for that,
// a little beyond: at a million rows every eighth would be many megabytes.
func roomier[T any](s []T, more int) []T {
	if cap(s)-len(s) >= more {
		return s
	}
	return append(make([]T, 0, len(s)+more+len(s)/16), s...)
}

// source is the record of an entry's source, with its facts brought up to date.
func (t *rowTable) source(e *Entry) *rowSource {
	if t.tenants[e.Tenant] == nil {
		t.tenants[e.Tenant] = map[string]*rowSource{}
	}
	s := t.tenants[e.Tenant][e.Source]
	if s == nil {
		s = &rowSource{}
		t.tenants[e.Tenant][e.Source] = s
	}
	s.entry = Entry{Tenant: e.Tenant, Source: e.Source, Collections: slices.Clone(e.Collections), Kind: e.Kind}
	return s
}

// drop makes the row of a node stand for nothing.
func (t *rowTable) drop(tenant, node string) (row int32, ok bool) {
	key := indexKey(tenant, node)
	if row, ok = t.at[key]; !ok {
		return 0, false
	}
	delete(t.at, key)
	s := t.rows[row].source
	if s.rows = slices.DeleteFunc(s.rows, func(r int32) bool { return r == row }); len(s.rows) == 0 {
		delete(t.tenants[tenant], s.entry.Source)
	}
	t.rows[row] = tableRow{}
	return row, true
}

// remove makes all rows of a source stand for nothing.
func (t *rowTable) remove(tenant, source string) []int32 {
	s := t.tenants[tenant][source]
	if s == nil {
		return nil
	}
	for _, row := range s.rows {
		delete(t.at, indexKey(tenant, t.rows[row].node))
		t.rows[row] = tableRow{}
	}
	delete(t.tenants[tenant], source)
	return s.rows
}

// within are the sources of a scope, in no order.
func (t *rowTable) within(s *Scope) []*rowSource {
	var out []*rowSource
	if len(s.Sources) > 0 {
		for _, id := range slices.Compact(slices.Sorted(slices.Values(s.Sources))) {
			if src := t.tenants[s.Tenant][id]; src != nil && s.admits(&src.entry) {
				out = append(out, src)
			}
		}
		return out
	}
	for _, src := range t.tenants[s.Tenant] {
		if s.admits(&src.entry) {
			out = append(out, src)
		}
	}
	return out
}

// holds reports whether the table has exactly these nodes and vectors of a source.
func (t *rowTable) holds(entries []Entry) bool {
	vectors := 0
	for i := range entries {
		e := &entries[i]
		if e.Vector == nil {
			continue
		}
		row, ok := t.at[indexKey(e.Tenant, e.Node)]
		if !ok || !slices.Equal(t.rows[row].vector, e.Vector) {
			return false
		}
		vectors++
	}
	if len(entries) == 0 {
		return false
	}
	s := t.tenants[entries[0].Tenant][entries[0].Source]
	return vectors == 0 && s == nil || s != nil && len(s.rows) == vectors
}

// hit is what a search gives for a row.
func (t *rowTable) hit(row int32, question []float32) Hit {
	r := &t.rows[row]
	return Hit{r.source.entry.Source, r.node, dot(question, r.vector)}
}
