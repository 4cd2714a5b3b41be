//go:build !goexperiment.simd || !amd64

package retrieve

// fastestHere is the implementation this build has.
func fastestHere() products { return plain }
