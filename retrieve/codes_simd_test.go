//go:build goexperiment.simd && amd64

package retrieve

import "simd/archsimd"

// implementations are all this build has and this processor runs.
func implementations() map[string]products {
	all := map[string]products{"plain": plain}
	if archsimd.X86.AVX2() {
		all["avx2"] = wide256
	}
	if archsimd.X86.AVX512() {
		all["avx512"] = wide512
	}
	return all
}
