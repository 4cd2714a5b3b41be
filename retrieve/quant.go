package retrieve

import "math"

// Vectors are scanned as 7-bit numbers, eight to a word. The even and the odd
// ones of a word are four lanes of 16 bits each; one 64-bit multiplication with
// four lanes of the question in reverse order leaves their inner product in the
// top lane: 4 x 127 x 127 just fits 16 bits, so no lane runs over. In plain Go
// that is several times as fast as multiplying numbers one by one.
const (
	lanes    = 0x00ff00ff00ff00ff
	quantMid = 64 // stands for 0
	quantMax = 63 // largest number on either side of it
)

// packed is a vector as 7-bit numbers around quantMid.
type packed struct {
	words []uint64
	sum   int32   // of all numbers, padding included
	scale float32 // (number - quantMid) * scale is about the value
}

// packedWords is the number of words of a vector.
func packedWords(dim int) int { return (dim + 7) / 8 }

// pack rounds v into words, which has packedWords(len(v)) elements.
func pack(v []float32, words []uint64) packed {
	var peak float32
	for _, x := range v {
		peak = max(peak, float32(math.Abs(float64(x))))
	}
	p := packed{words: words, scale: peak / quantMax}
	for w := range words {
		words[w] = 0
		for j := range 8 {
			n := int32(quantMid)
			if i := 8*w + j; i < len(v) && peak > 0 {
				n += int32(math.RoundToEven(float64(v[i] / peak * quantMax)))
			}
			words[w] |= uint64(n) << (8 * j)
			p.sum += n
		}
	}
	return p
}

// laneQuery is a question laid out for packed.dot.
type laneQuery struct {
	even, odd []uint64
	packed
}

func packQuery(v []float32) laneQuery {
	q := laneQuery{packed: pack(v, make([]uint64, packedWords(len(v))))}
	for _, w := range q.words {
		q.even = append(q.even, reverseLanes(w&lanes))
		q.odd = append(q.odd, reverseLanes(w>>8&lanes))
	}
	return q
}

func reverseLanes(x uint64) uint64 {
	return x<<48 | x>>16&0xffff<<32 | x>>32&0xffff<<16 | x>>48
}

// dot is the inner product of the rounded vectors.
func (q *laneQuery) dot(words []uint64, sum int32, scale float32) float32 {
	even, odd := q.even[:len(words)], q.odd[:len(words)]
	var s0, s1, s2, s3 uint64
	i := 0
	for ; i+2 <= len(words); i += 2 {
		v, w := words[i], words[i+1]
		s0 += (v & lanes * even[i]) >> 48
		s1 += (v >> 8 & lanes * odd[i]) >> 48
		s2 += (w & lanes * even[i+1]) >> 48
		s3 += (w >> 8 & lanes * odd[i+1]) >> 48
	}
	if i < len(words) {
		s0 += (words[i]&lanes*even[i])>>48 + (words[i]>>8&lanes*odd[i])>>48
	}
	n := int32(8 * len(words))
	return float32(int32(s0+s1+s2+s3)-quantMid*(sum+q.sum)+quantMid*quantMid*n) * scale * q.scale
}
