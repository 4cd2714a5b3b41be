package retrieve

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/reeltree/reeltree/tree"
)

// A snapshot is a JSON head, the links, and the vectors in the order of the
// rows: each part with its length and, at the end, its checksum. The vectors
// begin at a multiple of vectorAlign, so that they can be used where the file
// is mapped.
const (
	snapshotMagic = "reeltree graph 2\n"
	vectorAlign   = 4096
)

type snapshotHead struct {
	Generation uint64           `json:"generation"`
	Dim        int              `json:"dim"`
	Links      int              `json:"links"`
	Build      int              `json:"build"`
	Seed       uint64           `json:"seed"`
	Rows       int              `json:"rows"`
	Entry      int32            `json:"entry"`
	Top        int              `json:"top"`
	Near       nearPairs        `json:"near"`
	Sources    []snapshotSource `json:"sources"`
	Free       []int32          `json:"free"`
	Gone       []int32          `json:"gone"`
}

type snapshotSource struct {
	Tenant      string         `json:"tenant"`
	Source      string         `json:"source"`
	Collections []string       `json:"collections,omitempty"`
	Kind        tree.Kind      `json:"kind,omitempty"`
	Rows        []int32        `json:"rows"`
	Nodes       []string       `json:"nodes"`
	Spans       []snapshotSpan `json:"spans"`
}

// snapshotSpan is a media span as two numbers; other spans never narrow a search.
type snapshotSpan [2]int64

// OpenHNSW opens the graph index kept in opts.Dir, or makes it. Where it is
// damaged it is refused with ErrIndexDamaged, or begun anew if opts.Anew. The
// folder must not be open elsewhere.
func OpenHNSW(dim int, opts HNSWOptions) (*HNSW, error) {
	x := NewHNSW(dim, opts)
	if opts.Dir == "" {
		return x, nil
	}
	if err := os.MkdirAll(opts.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("the folder of the graph index cannot be made: %w", err)
	}
	err := x.open()
	if err != nil && opts.Anew && errors.Is(err, ErrIndexDamaged) {
		err = errors.Join(x.disk.close(), remove(filepath.Join(opts.Dir, snapshotName)), remove(filepath.Join(opts.Dir, logName)))
		if x = NewHNSW(dim, opts); err == nil {
			err = x.open()
		}
	}
	if err != nil {
		return nil, errors.Join(err, x.disk.close())
	}
	return x, nil
}

func remove(name string) error {
	if err := os.Remove(name); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (x *HNSW) open() error {
	x.disk = &graphDisk{dir: x.opts.Dir}
	if err := x.readSnapshot(); err != nil {
		return err
	}
	return x.disk.replay(x.dim, func(rec logged, entries []Entry) {
		switch rec.Op {
		case "add":
			x.put(entries)
		case "delete":
			for _, n := range rec.Nodes {
				x.end(rec.Tenant, n.Node)
			}
		case "remove":
			for _, row := range x.table.remove(rec.Tenant, rec.Source) {
				x.graph.dead[row] = true
				x.gone = append(x.gone, row)
			}
		}
		if len(x.gone) >= max(leastGone, len(x.graph.dead)/shareGone) {
			x.repair()
		}
	})
}

// snapshot keeps the whole index and begins the log anew. Readers go on.
func (x *HNSW) snapshot() error {
	d := x.disk
	head := x.head(d.generation + 1)
	name := filepath.Join(d.dir, snapshotName)
	err := replaceFile(name, func(w io.Writer) error { return x.writeSnapshot(w, head) })
	if err == nil {
		d.generation++
		err = d.begin(x.dim)
	}
	if err != nil {
		return fmt.Errorf("the graph index cannot be written: %w", err)
	}
	return x.useMapped()
}

func (x *HNSW) head(generation uint64) snapshotHead {
	g := x.graph
	h := snapshotHead{
		Generation: generation, Dim: x.dim, Links: g.most, Build: g.build, Seed: g.seed,
		Rows: len(g.dead), Entry: g.entry, Top: g.top, Near: g.write.pairs, Free: x.free, Gone: x.gone,
	}
	for _, tenant := range sortedNames(x.table.tenants) {
		for _, id := range sortedNames(x.table.tenants[tenant]) {
			s := x.table.tenants[tenant][id]
			o := snapshotSource{Tenant: tenant, Source: id, Collections: s.entry.Collections, Kind: s.entry.Kind, Rows: s.rows}
			for _, r := range s.rows {
				row := &x.table.rows[r]
				o.Nodes = append(o.Nodes, row.node)
				span := snapshotSpan{-1, -1}
				if row.span.Unit == tree.UnitMS {
					span = snapshotSpan{row.span.StartMS, row.span.EndMS}
				}
				o.Spans = append(o.Spans, span)
			}
			h.Sources = append(h.Sources, o)
		}
	}
	return h
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// summed counts and checks what is written or read.
type summed struct {
	w   io.Writer
	r   io.Reader
	at  int64
	sum hash.Hash32
}

func (s *summed) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.at += int64(n)
	s.sum.Write(b[:n])
	return n, err
}

func (s *summed) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	s.at += int64(n)
	s.sum.Write(b[:n])
	return n, err
}

// seal ends a part with its checksum.
func (s *summed) seal() error {
	return binary.Write(s, binary.LittleEndian, s.sum.Sum32())
}

// sealed reads the checksum at the end of a part.
func (s *summed) sealed() error {
	want := s.sum.Sum32()
	var got uint32
	if err := binary.Read(s, binary.LittleEndian, &got); err != nil || got != want {
		return errDamaged
	}
	return nil
}

func (x *HNSW) writeSnapshot(to io.Writer, head snapshotHead) error {
	doc, err := json.Marshal(head)
	if err != nil {
		return err
	}
	w := &summed{w: to, sum: crc32.New(castagnoli)}
	links, err := x.graph.flatLinks()
	if err != nil {
		return err
	}
	lengths := []uint64{uint64(len(doc)), uint64(len(links))}
	_, err = io.WriteString(w, snapshotMagic)
	err = errors.Join(err, binary.Write(w, binary.LittleEndian, lengths), w.seal())
	for _, part := range [][]byte{doc, links} {
		_, werr := w.Write(part)
		err = errors.Join(err, werr, w.seal())
	}
	_, perr := w.Write(make([]byte, padding(w.at)))
	err = errors.Join(err, perr)
	zero := make([]byte, 4*x.dim)
	for r := range x.table.rows {
		b := zero
		if v := x.table.rows[r].vector; v != nil {
			b = floatBytes(v)
		}
		if _, verr := w.Write(b); verr != nil {
			return errors.Join(err, verr)
		}
	}
	return errors.Join(err, w.seal())
}

func padding(at int64) int64 { return (vectorAlign - at%vectorAlign) % vectorAlign }

// flatLinks are dead marks, ground links, and the links of the rows above.
func (g *graph) flatLinks() ([]byte, error) {
	var out bytes.Buffer
	for _, d := range g.dead {
		out.WriteByte(map[bool]byte{true: 1}[d])
	}
	rows := make([]int32, 0, len(g.upper))
	for r := range g.upper {
		rows = append(rows, r)
	}
	slices.Sort(rows)
	err := binary.Write(&out, binary.LittleEndian, g.ground)
	for _, r := range rows {
		err = errors.Join(err, binary.Write(&out, binary.LittleEndian, []int32{r, int32(len(g.upper[r]))}), binary.Write(&out, binary.LittleEndian, g.upper[r]))
	}
	return out.Bytes(), err
}

// readSnapshot fills the index from its snapshot, if there is one.
func (x *HNSW) readSnapshot() error {
	f, err := os.Open(filepath.Join(x.disk.dir, snapshotName))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the graph index cannot be opened: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	head, links, err := readHead(f)
	if err == nil {
		err = x.take(head, links)
	}
	if err != nil {
		return x.disk.damaged("the snapshot")
	}
	x.disk.generation = head.Generation
	return x.useMapped()
}

func readHead(f io.Reader) (head snapshotHead, links []byte, err error) {
	r := &summed{r: bufio.NewReaderSize(f, 1<<20), sum: crc32.New(castagnoli)}
	magic := make([]byte, len(snapshotMagic))
	var lengths [2]uint64
	if _, err = io.ReadFull(r, magic); err != nil || string(magic) != snapshotMagic {
		return head, nil, errDamaged
	}
	if err = binary.Read(r, binary.LittleEndian, &lengths); err != nil {
		return head, nil, err
	}
	if err = r.sealed(); err != nil || lengths[0] > 1<<34 || lengths[1] > 1<<40 {
		return head, nil, errDamaged
	}
	var parts [2][]byte
	for i, n := range lengths {
		var part bytes.Buffer // grows with what is there
		if _, err = io.CopyN(&part, r, int64(n)); err != nil {
			return head, nil, err
		}
		if err = r.sealed(); err != nil {
			return head, nil, err
		}
		parts[i] = part.Bytes()
	}
	return head, parts[1], json.Unmarshal(parts[0], &head)
}

// take fills graph and table but for the vectors and codes.
func (x *HNSW) take(h snapshotHead, links []byte) error {
	g := x.graph
	if h.Dim != x.dim || h.Rows < 0 || h.Links < 2 || h.Build < 1 {
		return errDamaged
	}
	g.most, g.build, g.seed, g.entry, g.top = h.Links, h.Build, h.Seed, h.Entry, h.Top
	x.free, x.gone = h.Free, h.Gone
	g.write.pairs = h.Near
	g.signs.near = h.Near.line()
	x.table.rows = make([]tableRow, h.Rows)
	if err := g.unflatten(links, h.Rows); err != nil {
		return err
	}
	for _, s := range h.Sources {
		if len(s.Nodes) != len(s.Rows) || len(s.Spans) != len(s.Rows) {
			return errDamaged
		}
		for i, r := range s.Rows {
			if r < 0 || int(r) >= h.Rows {
				return errDamaged
			}
			e := Entry{Tenant: s.Tenant, Source: s.Source, Collections: s.Collections, Kind: s.Kind, Node: s.Nodes[i]}
			if s.Spans[i][0] >= 0 {
				e.Span = tree.MS(s.Spans[i][0], s.Spans[i][1])
			}
			x.table.put(r, &e)
		}
	}
	return nil
}

func (g *graph) unflatten(b []byte, rows int) error {
	ground := rows * 2 * g.most
	if len(b) < rows+4*ground || int(g.entry) >= rows || (g.entry < 0) != (g.entry == -1) {
		return errDamaged
	}
	g.dead = make([]bool, rows)
	for i := range g.dead {
		g.dead[i] = b[i] == 1
	}
	ints := make([]int32, (len(b)-rows)/4)
	for i := range ints {
		ints[i] = int32(binary.LittleEndian.Uint32(b[rows+4*i:]))
	}
	g.ground = ints[:ground:ground]
	for ints = ints[ground:]; len(ints) >= 2; {
		r, n := ints[0], int(ints[1])
		if r < 0 || int(r) >= rows || n <= 0 || n%(g.most+1) != 0 || n > len(ints)-2 {
			return errDamaged
		}
		g.upper[r] = ints[2 : 2+n : 2+n]
		ints = ints[2+n:]
	}
	if err := g.check(rows); err != nil {
		return err
	}
	g.linked = make([]int32, rows)
	for r := range int32(rows) {
		for _, n := range g.links(r, 0) {
			g.linked[n]++
		}
	}
	return nil
}

// check holds every link to a row that is there and on that level.
func (g *graph) check(rows int) error {
	if g.entry >= 0 && g.level(g.entry) != g.top {
		return errDamaged
	}
	for r := range int32(rows) {
		for l := g.level(r); l >= 0; l-- {
			if n := g.slot(r, l)[0]; n < 0 || int(n) > g.room(l) {
				return errDamaged
			}
			for _, n := range g.links(r, l) {
				if n < 0 || int(n) >= rows || g.level(n) < l {
					return errDamaged
				}
			}
		}
	}
	return nil
}

// useMapped lets the rows use the vectors of the snapshot where it is mapped,
// after checking them, and encodes those that have no code yet.
func (x *HNSW) useMapped() error {
	data, err := mapFile(filepath.Join(x.disk.dir, snapshotName))
	if err != nil {
		return fmt.Errorf("the graph index cannot be opened: %w", err)
	}
	rows := len(x.table.rows)
	size := 4 * x.dim * rows
	from := len(data) - 4 - size
	if from < 0 || from%vectorAlign != 0 || crc32.Checksum(data[:len(data)-4], castagnoli) != binary.LittleEndian.Uint32(data[len(data)-4:]) {
		return errors.Join(x.disk.damaged("the vectors of the snapshot"), unmapFile(data))
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for r := range int32(rows) {
		v := mappedVector(data[from+4*x.dim*int(r):], x.dim)
		if int(r) == len(x.graph.codes.scales) {
			x.graph.codes.set(r, v)
			x.graph.signs.set(r, x.graph.codes.row(r))
		}
		if x.table.rows[r].node != "" {
			x.table.rows[r].vector = v
		}
	}
	old := x.disk.mapped
	x.disk.mapped = data
	return errors.Join(unmapFile(old), x.vectors.close())
}

// Close implements Index; what is kept on disk is kept whole. Nothing may be
// called after it.
func (x *HNSW) Close() error {
	x.write.Lock()
	defer x.write.Unlock()
	var err error
	if x.disk != nil && x.disk.log != nil && x.disk.writes > 0 {
		err = x.snapshot()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for r := range x.table.rows {
		x.table.rows[r].vector = nil
	}
	x.table, x.graph = newRowTable(), newGraph(x.dim, x.opts.Links, x.opts.Build, x.opts.Seed)
	return errors.Join(err, x.vectors.close(), x.disk.close())
}

func (d *graphDisk) close() error {
	if d == nil || d.log == nil && d.mapped == nil {
		return nil
	}
	var err error
	if d.log != nil {
		err = d.log.Close()
	}
	mapped := d.mapped
	d.log, d.mapped = nil, nil
	return errors.Join(err, unmapFile(mapped))
}
