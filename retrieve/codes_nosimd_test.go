//go:build !goexperiment.simd || !amd64

package retrieve

// implementations are all this build has.
func implementations() map[string]products { return map[string]products{"plain": plain} }
