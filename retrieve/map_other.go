//go:build !unix

package retrieve

import "os"

// mapFile reads a whole file where files cannot be mapped.
func mapFile(name string) ([]byte, error) { return os.ReadFile(name) }

func unmapFile([]byte) error { return nil }
