//go:build unix

package retrieve

import (
	"errors"
	"os"
	"syscall"
)

// mapFile maps a whole file for reading.
func mapFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // the mapping stays
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	return syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmapFile(b []byte) error {
	if b == nil {
		return nil
	}
	return syscall.Munmap(b)
}

// mapRange maps size bytes of a file from an offset on for reading.
func mapRange(f *os.File, from int64, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), from, size, syscall.PROT_READ, syscall.MAP_SHARED)
}

// namelessFile is a file in a folder that is gone when it is closed.
func namelessFile(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "vectors-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
