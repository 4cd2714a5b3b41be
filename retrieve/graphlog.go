package retrieve

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/reeltree/reeltree/tree"
)

// graphDisk keeps a graph index in a folder: a snapshot, and a log of the
// writes after it. Each names a generation; a log older than the snapshot is
// part of it already. nil keeps nothing.
type graphDisk struct {
	dir        string
	generation uint64
	log        *os.File
	size       int64 // of the log
	writes     int   // nodes the log has written or deleted
	failed     error // the log no longer says what is in the index
	mapped     []byte
}

// write is one record of the log.
type logged struct {
	Op     string      `json:"op"` // "begin", "add", "delete", "remove"
	Gen    uint64      `json:"gen,omitempty"`
	Dim    int         `json:"dim,omitempty"`
	Tenant string      `json:"tenant,omitempty"`
	Source string      `json:"source,omitempty"`
	Nodes  []loggedRow `json:"nodes,omitempty"`
}

type loggedRow struct {
	Source      string     `json:"source,omitempty"`
	Collections []string   `json:"collections,omitempty"`
	Kind        tree.Kind  `json:"kind,omitempty"`
	Node        string     `json:"node"`
	Span        *tree.Span `json:"span,omitempty"`
}

const (
	snapshotName = "graph.snapshot"
	logName      = "graph.log"
)

// ErrIndexDamaged is wrapped by refusals to open a damaged index.
var ErrIndexDamaged = errors.New("the graph index is damaged")

func (d *graphDisk) damaged(why string) error {
	return fmt.Errorf("%w: %s in %s; remove the folder and index again", ErrIndexDamaged, why, d.dir)
}

func (d *graphDisk) logAdd(entries []Entry) error {
	if d == nil {
		return nil
	}
	for first := 0; first < len(entries); {
		last := first // one record per run of a tenant
		rec := logged{Op: "add", Tenant: entries[first].Tenant}
		var vectors []byte
		for ; last < len(entries) && entries[last].Tenant == rec.Tenant; last++ {
			e := &entries[last]
			if e.Vector == nil {
				continue
			}
			rec.Nodes = append(rec.Nodes, loggedRow{e.Source, e.Collections, e.Kind, e.Node, &e.Span})
			for _, v := range e.Vector {
				vectors = binary.LittleEndian.AppendUint32(vectors, math.Float32bits(v))
			}
		}
		if err := d.append(rec, vectors); err != nil {
			return err
		}
		first = last
	}
	return nil
}

func (d *graphDisk) logDelete(tenant string, nodes []string) error {
	if d == nil {
		return nil
	}
	rec := logged{Op: "delete", Tenant: tenant}
	for _, n := range nodes {
		rec.Nodes = append(rec.Nodes, loggedRow{Node: n})
	}
	return d.append(rec, nil)
}

func (d *graphDisk) logRemove(tenant, source string) error {
	if d == nil {
		return nil
	}
	return d.append(logged{Op: "remove", Tenant: tenant, Source: source}, nil)
}

// append writes a record, or leaves the log as it was.
func (d *graphDisk) append(rec logged, vectors []byte) error {
	if d.failed != nil {
		return d.failed
	}
	b, err := frame(rec, vectors)
	if err == nil {
		_, err = d.log.Write(b)
	}
	if err != nil {
		if cut := d.log.Truncate(d.size); cut != nil {
			d.failed = errors.Join(err, cut)
		}
		return fmt.Errorf("the graph index cannot be written: %w", err)
	}
	d.size, d.writes = d.size+int64(len(b)), d.writes+max(1, len(rec.Nodes))
	return nil
}

// frame is a record as it stands in the log: lengths of its two parts, a
// checksum of the lengths, one of the parts, the parts. A wrong length is told
// from a cut.
func frame(rec logged, vectors []byte) ([]byte, error) {
	doc, err := json.Marshal(rec)
	if err != nil {
		return nil, err
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(doc)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(vectors)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	b = binary.LittleEndian.AppendUint32(b, crc32.Update(crc32.Checksum(doc, castagnoli), castagnoli, vectors))
	return append(append(b, doc...), vectors...), nil
}

// unframe reads the next record. io.ErrUnexpectedEOF says that the file was
// cut off there.
func unframe(r io.Reader) (rec logged, vectors []byte, size int64, err error) {
	var head [16]byte
	if _, err = io.ReadFull(r, head[:]); err != nil {
		return rec, nil, 0, err
	}
	u := func(i int) uint32 { return binary.LittleEndian.Uint32(head[i:]) }
	if crc32.Checksum(head[:8], castagnoli) != u(8) || u(0) > mostRecord || u(4) > mostRecord {
		return rec, nil, 0, errDamaged
	}
	body := make([]byte, int(u(0))+int(u(4)))
	if _, err = io.ReadFull(r, body); err != nil {
		return rec, nil, 0, io.ErrUnexpectedEOF
	}
	if crc32.Checksum(body, castagnoli) != u(12) {
		return rec, nil, 0, errDamaged
	}
	return rec, body[u(0):], int64(16 + len(body)), json.Unmarshal(body[:u(0)], &rec)
}

// entries are those of an add record.
func (l *logged) entries(vectors []byte, dim int) ([]Entry, error) {
	if len(vectors) != 4*dim*len(l.Nodes) {
		return nil, errDamaged
	}
	out := make([]Entry, len(l.Nodes))
	for i, n := range l.Nodes {
		out[i] = Entry{Tenant: l.Tenant, Source: n.Source, Collections: n.Collections, Kind: n.Kind, Node: n.Node, Vector: make([]float32, dim)}
		if n.Span != nil {
			out[i].Span = *n.Span
		}
		for k := range dim {
			out[i].Vector[k] = math.Float32frombits(binary.LittleEndian.Uint32(vectors[4*(i*dim+k):]))
		}
	}
	return out, checkEntries(out, dim)
}

// replay opens the log and does what it says after the snapshot; a record that
// a crash cut off at its end is taken away.
func (d *graphDisk) replay(dim int, do func(rec logged, entries []Entry)) error {
	var err error
	if d.log, err = os.OpenFile(filepath.Join(d.dir, logName), os.O_RDWR|os.O_APPEND, 0o600); errors.Is(err, os.ErrNotExist) {
		if d.generation > 0 {
			return d.damaged("the log is missing")
		}
		return d.begin(dim)
	}
	if err != nil {
		return fmt.Errorf("the graph index cannot be opened: %w", err)
	}
	r := bufio.NewReaderSize(d.log, 1<<20)
	first, _, size, err := unframe(r)
	switch {
	case err != nil && d.generation > 0, errors.Is(err, errDamaged):
		return d.damaged("the head of the log")
	case err != nil: // cut off before anything was written
		return d.begin(dim)
	case first.Op != "begin" || first.Dim != dim || first.Gen > d.generation:
		return d.damaged("a log that does not belong to the snapshot")
	case first.Gen < d.generation: // the crash came between snapshot and log
		return d.begin(dim)
	}
	for d.size = size; ; d.size += size {
		var rec logged
		var vectors []byte
		rec, vectors, size, err = unframe(r)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return d.log.Truncate(d.size)
		case err != nil:
			return d.damaged("a record of the log")
		}
		var entries []Entry
		if rec.Op == "add" {
			if entries, err = rec.entries(vectors, dim); err != nil {
				return d.damaged("a record of the log")
			}
		}
		do(rec, entries)
		d.writes += max(1, len(rec.Nodes))
	}
}

// begin begins the log of this generation.
func (d *graphDisk) begin(dim int) error {
	b, err := frame(logged{Op: "begin", Gen: d.generation, Dim: dim}, nil)
	if err != nil {
		return err
	}
	if d.log != nil {
		_ = d.log.Close() // of the generation before; nothing more is read from it
	}
	name := filepath.Join(d.dir, logName)
	if err := replaceFile(name, func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
		return err
	}
	d.size, d.writes = int64(len(b)), 0
	if d.log, err = os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0o600); err != nil {
		return fmt.Errorf("the graph index cannot be written: %w", err)
	}
	return nil
}

// long reports whether so much was logged since the snapshot that reading it
// again would take long.
func (d *graphDisk) long(nodes int) bool { return d != nil && d.writes > 20_000+nodes/2 }

// replaceFile writes a file whole or not at all.
func replaceFile(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", filepath.Base(name), err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = errors.Join(write(w), w.Flush(), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s cannot be written: %w", filepath.Base(name), err), os.Remove(name+".new"))
	}
	return nil
}
