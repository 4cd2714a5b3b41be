//go:build !unix

package retrieve

import (
	"errors"
	"os"
)

// mapFile reads a whole file where files cannot be mapped.
func mapFile(name string) ([]byte, error) { return os.ReadFile(name) }

func unmapFile([]byte) error { return nil }

// mapRange and namelessFile are not to be had where files cannot be mapped.
func mapRange(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func namelessFile(string) (*os.File, error) { return nil, errors.ErrUnsupported }
