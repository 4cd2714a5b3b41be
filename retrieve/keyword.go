package retrieve

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
)

// Keyword is the BM25 side of the entry stage: an inverted index in memory,
// kept in a folder as one snapshot when it is closed. Texts are read into the
// package's own terms, so that both sides of a search and the later stages
// agree on what a word is, in every script. Each tenant has lists of its own:
// how rare a word is in one tenant's sources never shows in another's scores.
// A search takes no lock: it reads what was published last, which is replaced
// as a whole and never changed.
type Keyword struct {
	tenants atomic.Pointer[map[string]*wordLists]

	write   sync.Mutex // one writer; guards the rest and whatever is the writer's own
	stamps  map[string]string
	changed bool
	closed  bool
	dir     string // "" in memory
	log     *slog.Logger
}

var _ Index = (*Keyword)(nil)

// NewKeyword is an empty index in memory.
func NewKeyword() (*Keyword, error) { return openKeyword("", slog.New(slog.DiscardHandler)) }

// tenant are the lists of a tenant, nil where it has none.
func (x *Keyword) tenant(name string) *wordLists { return (*x.tenants.Load())[name] }

// setTenant publishes the lists of a tenant; nil takes them away.
func (x *Keyword) setTenant(name string, w *wordLists) {
	all := maps.Clone(*x.tenants.Load())
	if all[name] = w; w == nil {
		delete(all, name)
	}
	x.tenants.Store(&all)
}

// Add implements Index.
func (x *Keyword) Add(_ context.Context, entries []Entry) error { return x.add(entries, nil, "") }

// add writes entries and, where key is set, a stamp beside them, all or nothing
// for each tenant.
func (x *Keyword) add(entries []Entry, key []byte, stamp string) error {
	if err := checkNames(entries); err != nil {
		return err
	}
	read := make([]wordCounts, len(entries))
	for i := range entries {
		read[i] = countText(entries[i].Title, entries[i].Text)
	}
	x.write.Lock()
	defer x.write.Unlock()
	x.changed = true
	for _, tenant := range tenantsOf(entries) {
		w := x.tenant(tenant)
		if w == nil {
			w = newWordLists()
			defer x.setTenant(tenant, w)
		}
		w.put(tenant, entries, read)
	}
	if key != nil {
		x.stamps[string(key)] = stamp
	}
	return nil
}

// tenantsOf are the tenants of entries, in order of first mention.
func tenantsOf(entries []Entry) (out []string) {
	seen := map[string]bool{}
	for i := range entries {
		if t := entries[i].Tenant; !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

// wordCounts are the terms of a text and how many of them are whole words: how
// many terms a word has depends on its script, so they say nothing of length.
type wordCounts struct {
	terms counts
	words int
}

// countText counts the terms of texts but function words and groups of Latin
// letters: texts of a minute hold most of those.
func countText(texts ...string) wordCounts {
	c := wordCounts{terms: counts{}}
	for _, text := range texts {
		scan(text, func(t term) {
			if t.stop || t.kind == kindGroup && t.latin {
				return
			}
			if c.terms[t.key]++; t.whole() {
				c.words++
			}
		})
	}
	return c
}

// Delete implements Index.
func (x *Keyword) Delete(_ context.Context, tenant string, nodes ...string) error {
	x.write.Lock()
	defer x.write.Unlock()
	if w := x.tenant(tenant); w != nil {
		x.changed = true
		w.drop(nodes)
	}
	return nil
}

// Remove implements Index.
func (x *Keyword) Remove(_ context.Context, tenant, source string) error {
	x.write.Lock()
	defer x.write.Unlock()
	x.changed = true
	delete(x.stamps, string(stampOf(tenant, source)))
	w := x.tenant(tenant)
	if w == nil {
		return nil
	}
	if w.remove(source); len(w.nodes) == 0 {
		x.setTenant(tenant, nil)
	}
	return nil
}

// stamp is what add noted beside a source, "" for nothing.
func (x *Keyword) stamp(tenant, source string) string {
	x.write.Lock()
	defer x.write.Unlock()
	return x.stamps[string(stampOf(tenant, source))]
}

func stampOf(tenant, source string) []byte { return []byte(tenant + "\x00" + source) }

// Len implements Index.
func (x *Keyword) Len() (n int) {
	for _, w := range *x.tenants.Load() {
		n += w.state.Load().living
	}
	return n
}
