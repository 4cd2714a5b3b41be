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

	"github.com/reeltree/reeltree/tree"
)

// keywordVersion changes with the terms or the format: an index of another
// version is made anew.
const (
	keywordVersion = 6
	keywordName    = "words.snapshot"
)

// keywordHead is the JSON part of the snapshot; the segments follow, per
// tenant and in order, as segmentFile writes them.
type keywordHead struct {
	Version int               `json:"version"`
	Stamps  map[string]string `json:"stamps"`
	Tenants []keywordTenant   `json:"tenants"`
}

type keywordTenant struct {
	Tenant   string          `json:"tenant"`
	Sources  []keywordSource `json:"sources"`
	Segments []segmentHead   `json:"segments"`
}

type keywordSource struct {
	Source      string    `json:"source"`
	Collections []string  `json:"collections,omitempty"`
	Kind        tree.Kind `json:"kind,omitempty"`
}

// segmentHead says how long the parts of a segment are.
type segmentHead struct {
	Rows     int `json:"rows"`
	Runs     int `json:"runs"`
	Terms    int `json:"terms"`
	Postings int `json:"postings"`
	Gone     int `json:"gone"`  // words of the bits of rows that are gone
	Names    int `json:"names"` // bytes of nodes and spans
}

// openKeyword opens the index kept in a folder, "" for memory. One that is
// missing, damaged or of another version is made anew and empty; the engine
// fills it. What was added since the last Close is missing after a crash, and
// so are the stamps of it.
func openKeyword(dir string, log *slog.Logger) (*Keyword, error) {
	x := &Keyword{dir: dir, log: log}
	x.empty()
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
	x.empty()
	x.changed = true // so that Close leaves a whole file even if nothing comes
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, fmt.Errorf("the keyword index in %s cannot be made anew: %w", dir, err)
	}
	return x, nil
}

// empty forgets everything.
func (x *Keyword) empty() {
	x.tenants.Store(&map[string]*wordLists{})
	x.stamps = map[string]string{}
}

// Close implements Index; closing again does nothing.
func (x *Keyword) Close() error {
	x.write.Lock()
	defer x.write.Unlock()
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

// encode gives the length of the head, head, segments and a checksum of it all.
func (x *Keyword) encode() ([]byte, error) {
	h := keywordHead{Version: keywordVersion, Stamps: x.stamps}
	var segments bytes.Buffer
	var err error
	tenants := *x.tenants.Load()
	for _, name := range sortedNames(tenants) {
		w := tenants[name]
		t := keywordTenant{Tenant: name}
		numbers := map[*wordSource]int32{}
		for _, id := range sortedNames(w.sources) {
			facts := w.sources[id].facts.Load()
			numbers[w.sources[id]] = int32(len(t.Sources))
			t.Sources = append(t.Sources, keywordSource{id, facts.Collections, facts.Kind})
		}
		for _, g := range w.state.Load().segments {
			head, gerr := g.encode(numbers, &segments)
			t.Segments, err = append(t.Segments, head), errors.Join(err, gerr)
		}
		h.Tenants = append(h.Tenants, t)
	}
	doc, jerr := json.Marshal(h)
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(doc)))
	out = append(append(out, doc...), segments.Bytes()...)
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli)), errors.Join(err, jerr)
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
		x.setTenant(h.Tenants[i].Tenant, w)
	}
	if h.Stamps != nil {
		x.stamps = h.Stamps
	}
	return nil
}

// decode reads the segments of a tenant and gives the rest.
func (w *wordLists) decode(t *keywordTenant, b []byte) ([]byte, error) {
	var sources []*wordSource
	for _, s := range t.Sources {
		sources = append(sources, w.source(&Entry{Tenant: t.Tenant, Source: s.Source, Collections: s.Collections, Kind: s.Kind}))
	}
	var segments []livingWords
	for _, head := range t.Segments {
		g, rest, err := decodeSegment(head, sources, b)
		if err != nil {
			return nil, err
		}
		b = rest
		for _, run := range g.runs {
			for r := run.lo; r < run.hi; r++ {
				if !g.isGone(r) {
					w.nodes[g.rows[r].node] = run.source
					run.source.nodes++
				}
			}
		}
		segments = append(segments, g)
	}
	w.state.Store(stateOf(segments))
	return b, nil
}
