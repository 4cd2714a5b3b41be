package retrieve

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/reeltree/reeltree/tree"
)

// remembered are the vectors of a source's sentences and leaves, by text, as a
// file beside the index keeps them. It is an Embed that asks the embedder only
// for what it does not have.
type remembered struct {
	e              *Engine
	tenant, source string
	vectors        map[uint64][]float32
	wanted         []uint64 // what was asked for last: what is no longer wanted is not kept
	asked          int      // texts the embedder was asked for
}

const (
	viewsExt    = ".vectors"
	viewsFormat = 1
	viewsBatch  = 64 // texts asked for at once
)

// remember reads what is kept of a source; nothing where that is another
// embedder's, damaged or absent.
func (e *Engine) remember(tenant, source string) *remembered {
	r := &remembered{e: e, tenant: tenant, source: source, vectors: map[uint64][]float32{}}
	f, err := os.Open(e.store.viewsName(tenant, source))
	if err != nil {
		return r
	}
	defer func() { _ = f.Close() }() // it was only read
	if err := r.read(bufio.NewReader(f)); err != nil {
		e.cfg.Log.Warn("kept vectors of a source cannot be used and are made anew", "source", source, "err", err)
		clear(r.vectors)
	}
	return r
}

// textKey stands for a text among those of one source.
func textKey(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.LittleEndian.Uint64(sum[:])
}

func (r *remembered) read(from *bufio.Reader) error {
	head, err := readRecord(from)
	if err != nil {
		return err
	}
	var h header
	if err := json.Unmarshal(head, &h); err != nil {
		return err
	}
	if h != r.header() {
		return nil
	}
	b, err := readRecord(from)
	size, dim := 8+4*h.Dim, h.Dim
	if err != nil || len(b)%size != 0 {
		return errors.Join(err, errDamaged)
	}
	values := make([]float32, len(b)/size*dim)
	for ; len(b) > 0; b = b[size:] {
		v := values[:dim:dim]
		values = values[dim:]
		for d := range v {
			v[d] = math.Float32frombits(binary.LittleEndian.Uint32(b[8+4*d:]))
		}
		if err := checkVector(v, dim); err != nil {
			return err
		}
		r.vectors[binary.LittleEndian.Uint64(b)] = v
	}
	return nil
}

func (r *remembered) header() header {
	return header{viewsFormat, r.tenant, r.source, r.e.cfg.EmbedderName, r.e.cfg.Dim}
}

// embed is an Embed; what it got before it failed is kept.
func (r *remembered) embed(ctx context.Context, texts []string) ([][]float32, error) {
	var missing []string
	r.wanted = r.wanted[:0]
	for _, text := range texts {
		key := textKey(text)
		if r.wanted = append(r.wanted, key); r.vectors[key] == nil {
			missing = append(missing, text)
		}
	}
	for part := range slices.Chunk(missing, viewsBatch) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		vectors, err := embedChecked(ctx, r.e.cfg.Embed, part, r.e.cfg.Dim)
		if err != nil {
			return nil, err
		}
		for i, text := range part {
			r.vectors[textKey(text)] = vectors[i]
		}
		r.asked += len(part)
	}
	out := make([][]float32, len(texts))
	for i, key := range r.wanted {
		out[i] = r.vectors[key]
	}
	return out, nil
}

// keep writes the vectors down, unless the source is no longer listed.
func (r *remembered) keep() error {
	var values []byte
	for _, key := range r.wanted {
		v := r.vectors[key]
		if v == nil { // the embedder failed before it
			continue
		}
		values = binary.LittleEndian.AppendUint64(values, key)
		for _, x := range v {
			values = binary.LittleEndian.AppendUint32(values, math.Float32bits(x))
		}
	}
	head, err := json.Marshal(r.header())
	if err != nil {
		return err
	}
	var out bytes.Buffer
	writeRecord(&out, head)
	writeRecord(&out, values)
	r.e.write.Lock()
	defer r.e.write.Unlock()
	if r.e.catalog.get(r.tenant, r.source) == nil {
		return nil
	}
	name := r.e.store.viewsName(r.tenant, r.source)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return replaceFile(name, func(w io.Writer) error { _, err := w.Write(out.Bytes()); return err })
}

// layOut makes the view of a tree, with the embedder asked as little as may be.
func (e *Engine) layOut(ctx context.Context, tenant, source string, t *tree.Tree) (*view, error) {
	if !e.cfg.Remember || e.store.dir == "" {
		return newView(ctx, t, e.cfg.Embed, e.cfg.EmbedderName, e.cfg.Dim, e.cfg.Branch)
	}
	r := e.remember(tenant, source)
	v, err := newView(ctx, t, r.embed, e.cfg.EmbedderName, e.cfg.Dim, e.cfg.Branch)
	if r.asked == 0 {
		return v, err
	}
	if err := r.keep(); err != nil { // it answers all the same
		e.cfg.Log.Warn("the vectors of a source cannot be kept", "source", source, "err", err)
	}
	return v, err
}

func (s *store) viewsName(tenant, source string) string {
	return filepath.Join(s.dir, "views", filepath.Base(s.name(tenant, source))+viewsExt)
}

// removeViews takes away the kept vectors of a source.
func (s *store) removeViews(tenant, source string) error {
	if s.dir == "" {
		return nil
	}
	if err := os.Remove(s.viewsName(tenant, source)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the vectors of %s cannot be taken away: %w", source, err)
	}
	return nil
}

// dropViews takes away the kept vectors of sources that are not listed.
func (e *Engine) dropViews() error {
	known := map[string]bool{}
	e.catalog.each(func(l *listed) { known[e.store.viewsName(l.src.Tenant, l.src.ID)] = true })
	files, err := os.ReadDir(filepath.Join(e.store.dir, "views"))
	if e.store.dir == "" || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the search index cannot be read: %w", err)
	}
	for _, f := range files {
		if name := filepath.Join(e.store.dir, "views", f.Name()); !known[name] {
			if err := os.Remove(name); err != nil {
				return fmt.Errorf("the search index cannot be tidied: %w", err)
			}
		}
	}
	return nil
}
