package retrieve

import (
	"encoding/binary"
	"math"
)

// Vectors are compared as 7-bit numbers, one a byte, around codeMid. So the sum
// of two products of a code and a signed 7-bit number fits 16 bits with room for
// another, which is what the vector instructions add up first; and in plain Go
// four of them fit the lanes of one 64-bit multiplication.
const (
	codeMid   = 64 // stands for 0
	codeMax   = 63 // largest number on either side of it
	codeBlock = 64 // codes are padded to a multiple of as many bytes, the widest register
)

// codeSize is the number of bytes of the code of a vector.
func codeSize(dim int) int { return (dim + codeBlock - 1) / codeBlock * codeBlock }

// encode rounds v into code, which has codeSize(len(v)) bytes. About
// (code - codeMid) * scale is the vector; padding stands for 0.
func encode(v []float32, code []byte) (scale float32) {
	var peak float32
	for _, x := range v {
		peak = max(peak, float32(math.Abs(float64(x))))
	}
	for i := range code {
		code[i] = codeMid
		if i < len(v) && peak > 0 {
			code[i] = byte(codeMid + int(math.RoundToEven(float64(v[i]/peak*codeMax))))
		}
	}
	return peak / codeMax
}

// codedQuery is a question laid out for comparing it with codes.
type codedQuery struct {
	signed    []byte   // its numbers around 0, in two's complement, padded like a code
	code      []byte   // of a question that is no row
	signs     []uint64 // its sketch
	even, odd []uint64 // the same around codeMid as reversed lanes, for plain Go
	sum       int32    // of signed
	scale     float32
}

const lanes = 0x00ff00ff00ff00ff

func newCodedQuery(v []float32) *codedQuery {
	q := &codedQuery{}
	q.ask(v)
	return q
}

// ask lays v out.
func (q *codedQuery) ask(v []float32) {
	if n := codeSize(len(v)); len(q.code) != n {
		q.code = make([]byte, n)
	}
	q.scale = encode(v, q.code)
	q.lay(q.code, total8(q.code))
}

// lay lays a code, whose bytes have a sum, out as a question.
func (q *codedQuery) lay(code []byte, sum int32) {
	if len(q.signed) != len(code) {
		q.signed, q.signs = make([]byte, len(code)), make([]uint64, len(code)/codeBlock)
	}
	q.sum, q.even, q.odd = sum-codeMid*int32(len(code)), q.even[:0], q.odd[:0]
	sketch(code, q.signs)
	for at := 0; at+8 <= len(code); at += 8 {
		w := binary.LittleEndian.Uint64(code[at:])
		// c | 128 - 64 borrows from no other byte; bit 7 turned is c - 64 for every c below 128.
		binary.LittleEndian.PutUint64(q.signed[at:], (w|0x8080808080808080)-0x4040404040404040^0x8080808080808080)
		if laned {
			q.even, q.odd = append(q.even, reverseLanes(w&lanes)), append(q.odd, reverseLanes(w>>8&lanes))
		}
	}
}

func total8(code []byte) (sum int32) {
	for _, b := range code {
		sum += int32(b)
	}
	return sum
}

func reverseLanes(x uint64) uint64 {
	return x<<48 | x>>16&0xffff<<32 | x>>32&0xffff<<16 | x>>48
}

// codes is a growing list of codes of one size, with the scale of each.
type codes struct {
	size   int
	bytes  []byte
	scales []float32
	sums   []int32 // of the bytes of each code, which only plain Go needs
}

// set writes the code of v as row, which may be one longer than the list.
func (c *codes) set(row int32, v []float32) {
	if int(row) == len(c.scales) {
		c.bytes = append(c.bytes, make([]byte, c.size)...)
		c.scales, c.sums = append(c.scales, 0), append(c.sums, 0)
	}
	code := c.row(row)
	c.scales[row] = encode(v, code)
	c.sums[row] = total8(code)
}

func (c *codes) row(row int32) []byte {
	return c.bytes[int(row)*c.size:][:c.size:c.size]
}

// scores sets out[i] to about the inner product of the question and rows[i].
func (c *codes) scores(q *codedQuery, rows []int32, out []float32) {
	fastest(q, c, rows, out)
	for i, r := range rows {
		out[i] *= q.scale * c.scales[r]
	}
}

// fastest sets out[i] to the inner product of the question's numbers and those
// of rows[i]: a whole number, the same from each implementation. laned tells
// that it reads the lanes of a question.
var fastest, laned = fastestHere()

// products is one implementation of fastest.
type products func(q *codedQuery, c *codes, rows []int32, out []float32)

// plain multiplies four numbers of either side at once: lanes of 16 bits, one
// side in reverse order, leave their inner product in the top lane of the
// product, and 4 x 127 x 127 just fits it.
func plain(q *codedQuery, c *codes, rows []int32, out []float32) {
	for k, r := range rows {
		code := c.row(r)
		even, odd := q.even[:len(code)/8], q.odd[:len(code)/8]
		var s0, s1, s2, s3 uint64
		for i := 0; i+2 <= len(even) && len(code) >= 16; i += 2 {
			v, w := binary.LittleEndian.Uint64(code), binary.LittleEndian.Uint64(code[8:])
			code = code[16:]
			s0 += (v & lanes * even[i]) >> 48
			s1 += (v >> 8 & lanes * odd[i]) >> 48
			s2 += (w & lanes * even[i+1]) >> 48
			s3 += (w >> 8 & lanes * odd[i+1]) >> 48
		}
		// Σ (q+m)(r+m) = Σ q r + m Σ (r+m) + m Σ q
		out[k] = float32(int32(s0+s1+s2+s3) - codeMid*(c.sums[r]+q.sum))
	}
}
