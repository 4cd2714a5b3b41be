//go:build !goexperiment.simd || !amd64

package retrieve

// fastestHere is the implementation this build has.
func fastestHere() (which products, lanes bool) { return plain, true }
