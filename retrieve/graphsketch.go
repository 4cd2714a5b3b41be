package retrieve

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// sketches are the signs of the numbers of every code, a bit each. Signs of
// close vectors differ in few places (Charikar 2002), so a look at an eighth of
// a code tells of most rows that they cannot be near.
type sketches struct {
	words int // of a row
	bits  []uint64
	near  nearLine
}

// set writes the signs of a code as those of row, which may be one longer than
// the list.
func (s *sketches) set(row int32, code []byte) {
	if int(row)*s.words == len(s.bits) {
		s.bits = append(s.bits, make([]uint64, s.words)...)
	}
	sketch(code, s.row(row))
}

func (s *sketches) row(row int32) []uint64 { return s.bits[int(row)*s.words:][:s.words:s.words] }

// sketch writes the signs of a code, 64 to a word. A number from codeMid to
// codeMid+codeMax has bit 6.
func sketch(code []byte, out []uint64) {
	for w := range out {
		var word uint64
		for i := range 8 {
			b := binary.LittleEndian.Uint64(code[64*w+8*i:]) >> 6 & 0x0101010101010101
			word |= b * 0x0102040810204080 >> 56 << (8 * i) // the product gathers the eight bits in its top byte
		}
		out[w] = word
	}
}

// apart is in how many places signs differ.
func apart(a, b []uint64) int32 {
	n := 0
	b = b[:len(a)]
	for i, x := range a {
		n += bits.OnesCount64(x ^ b[i])
	}
	return int32(n)
}

// keepNear leaves those of rows whose signs allow a score above a given one. It
// looks at all of them before it counts, since memory answers many questions in
// the time of one, and counts without a branch to guess wrong.
func (s *sketches) keepNear(w *walkScratch, signs []uint64, score float32) {
	for _, r := range w.rows {
		w.touched += s.bits[int(r)*s.words]
	}
	most, n := s.near.most(score), 0
	for _, r := range w.rows {
		w.rows[n] = r
		if apart(signs, s.row(r)) <= most {
			n++
		}
	}
	w.rows = w.rows[:n]
}

// nearPairs are sums over the pairs of a new row and each of those found nearest
// to it. They are the writer's.
type nearPairs struct {
	Pairs float64
	S, SS float64 // of scores and of their squares
	H, HH float64 // of the numbers of signs that differ
	SH    float64 // of products of both
}

const (
	fewPairs  = 20_000 // before a line is laid through them
	farSpread = 4      // standard deviations above the line are too far: of 30,000 near rows one is lost
)

func (p *nearPairs) add(score float32, apart int32) {
	s, h := float64(score), float64(apart)
	p.Pairs, p.S, p.SS, p.H, p.HH, p.SH = p.Pairs+1, p.S+s, p.SS+s*s, p.H+h, p.HH+h*h, p.SH+s*h
}

// line lays the line of least squares through the pairs.
func (p *nearPairs) line() nearLine {
	if p.Pairs < fewPairs {
		return nearLine{}
	}
	s, h := p.S/p.Pairs, p.H/p.Pairs
	both := p.SH/p.Pairs - s*h
	slope := both / max(1e-9, p.SS/p.Pairs-s*s)
	spread := math.Sqrt(max(0, p.HH/p.Pairs-h*h-slope*both))
	return nearLine{laid: true, base: h - slope*s, slope: slope, spread: spread}
}

// nearLine tells from the score of near rows in how many places their signs
// differ. Where signs say little of some vectors it is high for all of them, and
// rules nothing out; so does one that is not laid.
type nearLine struct {
	laid                bool
	base, slope, spread float64
}

// most is in how many places the signs of a row above a score may differ.
func (l *nearLine) most(score float32) int32 {
	if !l.laid {
		return math.MaxInt32
	}
	return int32(l.base + l.slope*float64(score) + farSpread*l.spread)
}
