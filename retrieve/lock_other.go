//go:build !unix

package retrieve

import (
	"fmt"
	"os"
)

// lockFile opens the lock file; this system has no lock that ends with the process.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the search index cannot be locked: %w", err)
	}
	return f, nil
}
