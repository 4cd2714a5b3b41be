package retrieve

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"

	"github.com/reeltree/reeltree/tree"
)

// encode writes a segment: lengths of the rows, the runs by the number of
// their source, terms, ends of their lists, the lists' rows and counts, the
// bits of rows that are gone, then node and span of each row.
func (g *livingWords) encode(numbers map[*wordSource]int32, to io.Writer) (segmentHead, error) {
	runs := make([]int32, 0, 2*len(g.runs))
	for _, r := range g.runs {
		number, ok := numbers[r.source]
		if !ok {
			number = -1 // all of it is gone
		}
		runs = append(runs, number, r.hi)
	}
	var names []byte
	for i := range g.rows {
		names = appendString(names, g.rows[i].node)
		names = appendSpan(names, &g.rows[i].span)
	}
	head := segmentHead{Rows: len(g.rows), Runs: len(g.runs), Terms: len(g.keys), Postings: len(g.posted), Gone: len(g.gone), Names: len(names)}
	var err error
	for _, part := range []any{g.lengths, runs, g.keys, g.ends, g.posted, g.counts, g.gone, names} {
		err = errors.Join(err, binary.Write(to, binary.LittleEndian, part))
	}
	return head, err
}

// decodeSegment reads what encode wrote and gives the rest. The checksum has
// been looked at, so what does not fit was written so by another program.
func decodeSegment(h segmentHead, sources []*wordSource, b []byte) (livingWords, []byte, error) {
	for _, n := range []int{h.Rows, h.Runs, h.Terms, h.Postings, h.Gone, h.Names} {
		if n < 0 || n > len(b) {
			return livingWords{}, nil, errDamaged
		}
	}
	g := &wordSegment{
		rows: make([]tableRow, h.Rows), lengths: make([]float32, h.Rows), of: map[string][]int32{},
		keys: make([]uint64, h.Terms), ends: make([]int32, h.Terms), posted: make([]int32, h.Postings), counts: make([]uint8, h.Postings),
	}
	l := livingWords{wordSegment: g}
	runs, names := make([]int32, 2*h.Runs), make([]byte, h.Names)
	if h.Gone > 0 {
		l.gone = make([]uint64, h.Gone)
	}
	for _, part := range []any{g.lengths, runs, g.keys, g.ends, g.posted, g.counts, l.gone, names} {
		n, err := binary.Decode(b, binary.LittleEndian, part)
		if err != nil {
			return l, nil, errDamaged
		}
		b = b[n:]
	}
	if !l.restore(runs, sources) || !g.fits() || !g.readNames(names) {
		return l, nil, errDamaged
	}
	return l, b, nil
}

// restore lays out the runs and counts what is living; false where they do not
// cover the rows.
func (g *livingWords) restore(runs []int32, sources []*wordSource) bool {
	var lo int32
	if g.gone != nil && len(g.gone) != (len(g.rows)+63)/64 {
		return false
	}
	for i := 0; i < len(runs); i += 2 {
		number, hi := runs[i], runs[i+1]
		if number >= int32(len(sources)) || hi <= lo || int(hi) > len(g.rows) {
			return false
		}
		src := &wordSource{} // of rows that are gone, with all others of it
		if src.facts.Store(&Entry{}); number >= 0 {
			src = sources[number]
			id := src.facts.Load().Source
			g.of[id] = append(g.of[id], int32(len(g.runs)))
		}
		g.runs = append(g.runs, wordRun{src, lo, hi})
		for r := lo; r < hi; r++ {
			if !g.isGone(r) {
				g.terms += float64(g.lengths[r])
				if number < 0 {
					return false
				}
			}
		}
		lo = hi
	}
	for _, word := range g.gone {
		g.lost += bits.OnesCount64(word)
	}
	return int(lo) == len(g.rows)
}

// fits reports whether every list lies where it can.
func (g *wordSegment) fits() bool {
	last := int32(0)
	for i, end := range g.ends {
		if end <= last || i > 0 && g.keys[i] <= g.keys[i-1] {
			return false
		}
		last = end
	}
	for _, r := range g.posted {
		if r < 0 || int(r) >= len(g.rows) {
			return false
		}
	}
	return int(last) == len(g.posted)
}

// readNames fills node and span of the rows.
func (g *wordSegment) readNames(b []byte) bool {
	all := string(b) // the nodes share it
	for i := range g.rows {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return false
		}
		at := len(all) - len(b) + size
		g.rows[i].node = all[at : at+int(n)]
		rest, ok := readSpan(b[size+int(n):], &g.rows[i].span)
		if !ok {
			return false
		}
		b = rest
	}
	return len(b) == 0
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// spanFields are the numbers of a span but its unit.
func spanFields(s *tree.Span) []int64 {
	return []int64{s.StartMS, s.EndMS, int64(s.Page), int64(s.Paragraph), int64(s.StartChar), int64(s.EndChar), int64(s.Table), int64(s.RowStart), int64(s.RowEnd)}
}

// appendSpan writes the unit and how many of the fields follow: zeros at the
// end are left out.
func appendSpan(b []byte, s *tree.Span) []byte {
	fields := spanFields(s)
	for len(fields) > 0 && fields[len(fields)-1] == 0 {
		fields = fields[:len(fields)-1]
	}
	b = append(b, byte(s.Unit), byte(len(fields)))
	for _, x := range fields {
		b = binary.AppendVarint(b, x)
	}
	return b
}

func readSpan(b []byte, s *tree.Span) (rest []byte, ok bool) {
	if len(b) < 2 || b[1] > 9 {
		return nil, false
	}
	s.Unit = tree.Unit(b[0])
	n := int(b[1])
	b = b[2:]
	var f [9]int64
	for i := range n {
		x, size := binary.Varint(b)
		if size <= 0 {
			return nil, false
		}
		f[i], b = x, b[size:]
	}
	s.StartMS, s.EndMS, s.Page, s.Paragraph = f[0], f[1], int(f[2]), int(f[3])
	s.StartChar, s.EndChar, s.Table, s.RowStart, s.RowEnd = int(f[4]), int(f[5]), int(f[6]), int(f[7]), int(f[8])
	return b, true
}
