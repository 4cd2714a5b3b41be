//go:build goexperiment.simd && amd64

package retrieve

import "simd/archsimd"

// fastestHere is the fastest implementation this processor runs.
func fastestHere() (which products, lanes bool) {
	switch {
	case archsimd.X86.AVX512():
		return wide512, false
	case archsimd.X86.AVX2():
		return wide256, false
	}
	return plain, true
}

// wide512 takes 64 numbers an instruction. VPMADDUBSW leaves sums of two
// products in 16 bits; two of those still fit (4 x 127 x 63 < 32768) and are
// widened together.
func wide512(q *codedQuery, c *codes, rows []int32, out []float32) {
	ones := archsimd.BroadcastInt16x32(1)
	for k, r := range rows {
		code, signed := c.row(r), q.signed
		var sum archsimd.Int32x16
		for len(code) >= 128 && len(signed) >= 128 {
			a := archsimd.LoadUint8x64((*[64]uint8)(code)).DotProductPairsSaturated(archsimd.LoadUint8x64((*[64]uint8)(signed)).AsInt8x64())
			b := archsimd.LoadUint8x64((*[64]uint8)(code[64:])).DotProductPairsSaturated(archsimd.LoadUint8x64((*[64]uint8)(signed[64:])).AsInt8x64())
			sum = sum.Add(a.Add(b).DotProductPairs(ones))
			code, signed = code[128:], signed[128:]
		}
		if len(code) >= 64 && len(signed) >= 64 {
			a := archsimd.LoadUint8x64((*[64]uint8)(code)).DotProductPairsSaturated(archsimd.LoadUint8x64((*[64]uint8)(signed)).AsInt8x64())
			sum = sum.Add(a.DotProductPairs(ones))
		}
		out[k] = float32(total(sum.GetLo().Add(sum.GetHi())) - codeMid*q.sum)
	}
	archsimd.ClearAVXUpperBits()
}

// wide256 is the same with 32 numbers an instruction.
func wide256(q *codedQuery, c *codes, rows []int32, out []float32) {
	ones := archsimd.BroadcastInt16x16(1)
	for k, r := range rows {
		code, signed := c.row(r), q.signed
		var sum archsimd.Int32x8
		for len(code) >= 64 && len(signed) >= 64 {
			a := archsimd.LoadUint8x32((*[32]uint8)(code)).DotProductPairsSaturated(archsimd.LoadUint8x32((*[32]uint8)(signed)).AsInt8x32())
			b := archsimd.LoadUint8x32((*[32]uint8)(code[32:])).DotProductPairsSaturated(archsimd.LoadUint8x32((*[32]uint8)(signed[32:])).AsInt8x32())
			sum = sum.Add(a.Add(b).DotProductPairs(ones))
			code, signed = code[64:], signed[64:]
		}
		out[k] = float32(total(sum) - codeMid*q.sum)
	}
	archsimd.ClearAVXUpperBits()
}

func total(x archsimd.Int32x8) int32 {
	four := x.GetLo().Add(x.GetHi())
	two := four.AddPairs(four)
	return two.AddPairs(two).GetElem(0)
}
