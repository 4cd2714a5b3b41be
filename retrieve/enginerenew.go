package retrieve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/reeltree/reeltree/tree"
)

// renewBatch is how many texts are embedded between two looks at the context.
const renewBatch = 32

// Stale reports whether the vectors of a source were made by another embedder.
// Until they are made anew, questions whose scope holds the source are answered
// by words alone: scores of two embedders, or of some sources only, cannot be
// compared.
func (e *Engine) Stale(tenant, source string) bool {
	l := e.catalog.get(tenant, source)
	return l != nil && l.stale
}

// Renew makes the vectors of a stale source anew from the texts that are kept,
// beside the live index, and swaps them in as a whole: no tree is read, no
// model but the embedder is asked. What fails or is stopped leaves the source
// as it was. Of a source that is not stale, or no longer there, nothing is done.
func (e *Engine) Renew(ctx context.Context, tenant, source string) error {
	for {
		old := e.catalog.get(tenant, source)
		if old == nil || !old.stale {
			return nil
		}
		k, err := e.staleEntries(old)
		if err != nil {
			return e.forgetDamaged(ctx, old, err)
		}
		if err := e.embedAgain(ctx, k.entries); err != nil {
			return fmt.Errorf("the vectors of %s cannot be made anew: %w", source, err)
		}
		if done, err := e.swap(ctx, old, k); done || err != nil {
			return err
		}
	}
}

// staleEntries reads what is kept of a stale source, without vectors.
func (e *Engine) staleEntries(l *listed) (kept, error) {
	e.write.Lock()
	defer e.write.Unlock()
	return e.store.read(e.store.name(l.src.Tenant, l.src.ID))
}

// forgetDamaged takes out a source whose file can no longer be read, so that
// whoever has its tree adds it again.
func (e *Engine) forgetDamaged(ctx context.Context, l *listed, cause error) error {
	e.cfg.Log.Warn("a damaged part of the search index is dropped; its source must be indexed again", "source", l.src.ID, "err", cause)
	return e.Remove(ctx, l.src.Tenant, l.src.ID)
}

// embedAgain fills the vectors of entries.
func (e *Engine) embedAgain(ctx context.Context, entries []Entry) error {
	for part := range slices.Chunk(entries, renewBatch) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		texts := make([]string, len(part))
		for i := range part {
			texts[i] = part[i].Text
		}
		vectors, err := embedChecked(ctx, e.cfg.Embed, texts, e.cfg.Dim)
		if err != nil {
			return err
		}
		for i := range part {
			part[i].Vector = vectors[i]
		}
	}
	return nil
}

// swap puts renewed entries in the place of the stale ones, unless the source
// has changed meanwhile. A crash leaves the old file or the new one.
func (e *Engine) swap(ctx context.Context, old *listed, k kept) (done bool, err error) {
	e.write.Lock()
	defer e.write.Unlock()
	if e.catalog.get(old.src.Tenant, old.src.ID) != old {
		return false, nil
	}
	stamp, err := e.store.replace(k.src, k.entries)
	if err != nil {
		return false, err
	}
	if err := e.vectors.Add(ctx, k.entries); err != nil {
		return false, err
	}
	if err := e.words.add(nil, stampOf(k.src.Tenant, k.src.ID), stamp); err != nil { // it has the words
		return false, err
	}
	e.catalog.put(k.src, k.entries)
	return true, nil
}

// replace writes the file of a source anew, as one record, and says what stamp
// it has now.
func (s *store) replace(src tree.Source, entries []Entry) (stamp string, err error) {
	name := s.name(src.Tenant, src.ID)
	head, err := json.Marshal(header{storeFormat, src.Tenant, src.ID, s.embedder, s.dim})
	if err != nil {
		return "", fmt.Errorf("the search index cannot be written: %w", err)
	}
	payload, err := encodeAdded(src, entries)
	if err != nil {
		return "", fmt.Errorf("the search index cannot be written: %w", err)
	}
	var out bytes.Buffer
	writeRecord(&out, head)
	writeRecord(&out, payload)
	if err := replaceFile(name, func(w io.Writer) error { _, err := w.Write(out.Bytes()); return err }); err != nil {
		return "", fmt.Errorf("the search index cannot be written: %w", err)
	}
	stamp = nextStamp("", payload)
	s.stamps[name] = stamp
	return stamp, nil
}
