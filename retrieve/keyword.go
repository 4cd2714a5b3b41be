package retrieve

import (
	"context"
	"log/slog"
	"sync"
)

// Keyword is the BM25 side of the entry stage: an inverted index in memory,
// kept in a folder as one snapshot when it is closed. Texts are read into the
// package's own terms, so that both sides of a search and the later stages
// agree on what a word is, in every script. Each tenant has lists of its own:
// how rare a word is in one tenant's sources never shows in another's scores.
type Keyword struct {
	mu      sync.RWMutex
	tenants map[string]*wordLists
	stamps  map[string]string
	changed bool
	closed  bool
	dir     string // "" in memory
	log     *slog.Logger
}

var _ Index = (*Keyword)(nil)

// wordLists are the texts of one tenant. A text that was replaced or taken out
// stays in the lists, unfindable, until enough of them make it worth the while
// to write the lists anew.
type wordLists struct {
	table   rowTable
	lengths []float32 // terms of each row
	total   float64   // of the living rows
	lists   map[uint64]*wordList
	dead    int
	scores  sync.Pool // of *[]float32
}

// wordList is where a term stands: rows upward, and how often, at most 255 times.
type wordList struct {
	rows   []int32
	counts []uint8
}

// NewKeyword is an empty index in memory.
func NewKeyword() (*Keyword, error) { return openKeyword("", slog.New(slog.DiscardHandler)) }

func newWordLists() *wordLists {
	w := &wordLists{table: newRowTable(), lists: map[uint64]*wordList{}}
	w.scores.New = func() any { return new([]float32) }
	return w
}

// Add implements Index.
func (x *Keyword) Add(_ context.Context, entries []Entry) error { return x.add(entries, nil, "") }

// add writes entries and, where key is set, a stamp beside them, all or nothing.
func (x *Keyword) add(entries []Entry, key []byte, stamp string) error {
	if err := checkNames(entries); err != nil {
		return err
	}
	read := make([]counts, len(entries)) // outside the lock: readers need not wait
	for i := range entries {
		read[i] = countTerms(entries[i].Title, entries[i].Text)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.changed = true
	for i := range entries {
		w := x.tenants[entries[i].Tenant]
		if w == nil {
			w = newWordLists()
			x.tenants[entries[i].Tenant] = w
		}
		w.put(&entries[i], read[i])
	}
	if key != nil {
		x.stamps[string(key)] = stamp
	}
	return nil
}

// countTerms counts the terms of texts but function words.
func countTerms(texts ...string) counts {
	c := counts{}
	for _, text := range texts {
		scan(text, func(t term) {
			if !t.stop {
				c[t.key]++
			}
		})
	}
	return c
}

func (w *wordLists) put(e *Entry, terms counts) {
	w.drop(e.Tenant, e.Node)
	row := int32(len(w.table.rows))
	bare := *e
	bare.Vector = nil
	w.table.put(row, &bare)
	var length float32
	for key, n := range terms {
		l := w.lists[key]
		if l == nil {
			l = &wordList{}
			w.lists[key] = l
		}
		l.rows, l.counts = append(l.rows, row), append(l.counts, uint8(min(255, n)))
		length += n
	}
	w.lengths = append(w.lengths, length)
	w.total += float64(length)
}

func (w *wordLists) drop(tenant, node string) {
	if row, ok := w.table.drop(tenant, node); ok {
		w.total -= float64(w.lengths[row])
		w.dead++
	}
}

// Of the rows so many may be dead before the lists are written anew.
const (
	fewDead   = 256
	shareDead = 4
)

// tidy writes the lists anew without the dead rows, when there are many.
func (w *wordLists) tidy() {
	if w.dead < fewDead+len(w.table.at)/shareDead {
		return
	}
	to := make([]int32, len(w.table.rows)) // new numbers, -1 for dead rows
	next := int32(0)
	for r := range w.table.rows {
		if to[r] = -1; w.table.rows[r].node != "" {
			to[r] = next
			w.table.rows[next], w.lengths[next] = w.table.rows[r], w.lengths[r]
			next++
		}
	}
	w.table.rows, w.lengths, w.dead = w.table.rows[:next:next], w.lengths[:next:next], 0
	for key, r := range w.table.at {
		w.table.at[key] = to[r]
	}
	for _, sources := range w.table.tenants {
		for _, s := range sources {
			for i, r := range s.rows {
				s.rows[i] = to[r]
			}
		}
	}
	for key, l := range w.lists {
		n := 0
		for i, r := range l.rows {
			if to[r] >= 0 {
				l.rows[n], l.counts[n] = to[r], l.counts[i]
				n++
			}
		}
		if l.rows, l.counts = l.rows[:n], l.counts[:n]; n == 0 {
			delete(w.lists, key)
		}
	}
}

// Delete implements Index.
func (x *Keyword) Delete(_ context.Context, tenant string, nodes ...string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if w := x.tenants[tenant]; w != nil {
		x.changed = true
		for _, n := range nodes {
			w.drop(tenant, n)
		}
		w.tidy()
	}
	return nil
}

// Remove implements Index.
func (x *Keyword) Remove(_ context.Context, tenant, source string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.changed = true
	delete(x.stamps, string(stampOf(tenant, source)))
	w := x.tenants[tenant]
	if w == nil {
		return nil
	}
	for _, row := range w.table.remove(tenant, source) {
		w.total -= float64(w.lengths[row])
		w.dead++
	}
	if w.tidy(); len(w.table.at) == 0 {
		delete(x.tenants, tenant)
	}
	return nil
}

// stamp is what add noted beside a source, "" for nothing.
func (x *Keyword) stamp(tenant, source string) string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.stamps[string(stampOf(tenant, source))]
}

func stampOf(tenant, source string) []byte { return []byte(tenant + "\x00" + source) }

// Len implements Index.
func (x *Keyword) Len() (n int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, w := range x.tenants {
		n += len(w.table.at)
	}
	return n
}
