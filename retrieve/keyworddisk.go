package retrieve

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/reeltree/reeltree/tree"
)

// keywordVersion changes with the terms or the format: an index of another
// version is made anew.
const (
	keywordVersion = 2
	keywordName    = "words.snapshot"
)

// keywordHead is the JSON part of the snapshot; the lists follow, per tenant:
// lengths of the rows, keys and sizes of the lists, their rows, their counts.
type keywordHead struct {
	Version int               `json:"version"`
	Stamps  map[string]string `json:"stamps"`
	Tenants []keywordTenant   `json:"tenants"`
}

type keywordTenant struct {
	Tenant   string          `json:"tenant"`
	Sources  []keywordSource `json:"sources"`
	Rows     int             `json:"rows"`
	Lists    int             `json:"lists"`
	Postings int             `json:"postings"`
	Dead     int             `json:"dead"`
}

type keywordSource struct {
	Source      string      `json:"source"`
	Collections []string    `json:"collections,omitempty"`
	Kind        tree.Kind   `json:"kind,omitempty"`
	Rows        []int32     `json:"rows"`
	Nodes       []string    `json:"nodes"`
	Spans       []tree.Span `json:"spans"`
}

// openKeyword opens the index kept in a folder, "" for memory. One that is
// missing, damaged or of another version is made anew and empty; the engine
// fills it. What was added since the last Close is missing after a crash, and
// so are the stamps of it.
func openKeyword(dir string, log *slog.Logger) (*Keyword, error) {
	x := &Keyword{tenants: map[string]*wordLists{}, stamps: map[string]string{}, dir: dir, log: log}
	if dir == "" {
		return x, nil
	}
	b, err := os.ReadFile(filepath.Join(dir, keywordName))
	if err == nil {
		err = x.decode(b)
	}
	if err == nil {
		return x, nil
	}
	if _, statErr := os.Stat(dir); statErr == nil {
		log.Warn("the keyword index is damaged, old or of a stopped process and is made anew", "dir", dir, "err", err)
	}
	x.tenants, x.stamps = map[string]*wordLists{}, map[string]string{}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, fmt.Errorf("the keyword index in %s cannot be made anew: %w", dir, err)
	}
	return x, nil
}

// Close implements Index; closing again does nothing.
func (x *Keyword) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed || x.dir == "" {
		return nil
	}
	x.closed = true
	if !x.changed {
		return nil
	}
	b, err := x.encode()
	if err == nil {
		err = replaceFile(filepath.Join(x.dir, keywordName), func(w io.Writer) error { _, err := w.Write(b); return err })
	}
	return err
}

// encode gives the length of the head, head, lists and a checksum of it all.
func (x *Keyword) encode() ([]byte, error) {
	h := keywordHead{Version: keywordVersion, Stamps: x.stamps}
	var lists bytes.Buffer
	var err error
	for _, tenant := range sortedNames(x.tenants) {
		t, werr := x.tenants[tenant].encode(tenant, &lists)
		h.Tenants, err = append(h.Tenants, t), errors.Join(err, werr)
	}
	doc, jerr := json.Marshal(h)
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(doc)))
	out = append(append(out, doc...), lists.Bytes()...)
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli)), errors.Join(err, jerr)
}

func (w *wordLists) encode(tenant string, to io.Writer) (keywordTenant, error) {
	t := keywordTenant{Tenant: tenant, Rows: len(w.table.rows), Lists: len(w.lists), Dead: w.dead}
	for _, id := range sortedNames(w.table.tenants[tenant]) {
		s := w.table.tenants[tenant][id]
		o := keywordSource{Source: id, Collections: s.entry.Collections, Kind: s.entry.Kind, Rows: s.rows}
		for _, r := range s.rows {
			o.Nodes, o.Spans = append(o.Nodes, w.table.rows[r].node), append(o.Spans, w.table.rows[r].span)
		}
		t.Sources = append(t.Sources, o)
	}
	keys := make([]uint64, 0, len(w.lists))
	for key := range w.lists {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	var sizes, rows []int32
	var counts []uint8
	for _, key := range keys {
		l := w.lists[key]
		sizes, rows, counts = append(sizes, int32(len(l.rows))), append(rows, l.rows...), append(counts, l.counts...)
	}
	t.Postings = len(rows)
	var err error
	for _, part := range []any{w.lengths, keys, sizes, rows, counts} {
		err = errors.Join(err, binary.Write(to, binary.LittleEndian, part))
	}
	return t, err
}

func (x *Keyword) decode(b []byte) error {
	if len(b) < 12 || crc32.Checksum(b[:len(b)-4], castagnoli) != binary.LittleEndian.Uint32(b[len(b)-4:]) {
		return errDamaged
	}
	n := binary.LittleEndian.Uint64(b)
	if b = b[8 : len(b)-4]; n > uint64(len(b)) {
		return errDamaged
	}
	var h keywordHead
	if err := json.Unmarshal(b[:n], &h); err != nil {
		return err
	}
	if h.Version != keywordVersion {
		return fmt.Errorf("version %d instead of %d", h.Version, keywordVersion)
	}
	b = b[n:]
	for i := range h.Tenants {
		w := newWordLists()
		var err error
		if b, err = w.decode(&h.Tenants[i], b); err != nil {
			return err
		}
		x.tenants[h.Tenants[i].Tenant] = w
	}
	if h.Stamps != nil {
		x.stamps = h.Stamps
	}
	return nil
}

// decode reads the lists of a tenant and gives the rest.
func (w *wordLists) decode(t *keywordTenant, b []byte) ([]byte, error) {
	lengths, keys := make([]float32, t.Rows), make([]uint64, t.Lists)
	sizes, rows := make([]int32, t.Lists), make([]int32, t.Postings)
	counts := make([]uint8, t.Postings)
	for _, part := range []any{lengths, keys, sizes, rows, counts} {
		n, err := binary.Decode(b, binary.LittleEndian, part)
		if err != nil {
			return nil, errDamaged
		}
		b = b[n:]
	}
	w.lengths, w.dead, w.table.rows = lengths, t.Dead, make([]tableRow, t.Rows)
	for i, key := range keys {
		n := int(sizes[i])
		if n > len(rows) {
			return nil, errDamaged
		}
		w.lists[key] = &wordList{rows[:n:n], counts[:n:n]}
		rows, counts = rows[n:], counts[n:]
	}
	for _, s := range t.Sources {
		for i, r := range s.Rows {
			e := Entry{Tenant: t.Tenant, Source: s.Source, Collections: s.Collections, Kind: s.Kind, Node: s.Nodes[i], Span: s.Spans[i]}
			w.table.put(r, &e)
			w.total += float64(lengths[r])
		}
	}
	return b, nil
}
