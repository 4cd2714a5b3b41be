//go:build unix

package retrieve

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile takes the folder for this process; the lock ends with the file.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the search index cannot be locked: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("the search index at %s is open in another process; stop it first", name), f.Close())
	}
	return f, nil
}
