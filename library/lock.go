package library

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrLocked is returned by Open while another process owns the folder.
var ErrLocked = errors.New("the data folder is in use")

// Lock is what the owner of a data folder writes into its lock file.
type Lock struct {
	Addr  string `json:"addr,omitempty"`  // base address of the running service, empty for a command
	Token string `json:"token,omitempty"` // local token, readable by the folder's owner only
	PID   int    `json:"pid"`
}

// ReadLock reads the lock file without taking the lock. held tells whether a
// living process owns the folder; the file of a dead one is only a leftover.
func ReadLock(dir string) (l Lock, held bool, err error) {
	f, err := os.Open(filepath.Join(dir, "lock"))
	if errors.Is(err, fs.ErrNotExist) {
		return Lock{}, false, nil
	}
	if err != nil {
		return Lock{}, false, fmt.Errorf("the lock of %s cannot be read: %w", dir, err)
	}
	defer func() { _ = f.Close() }()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err == nil {
		return Lock{}, false, nil // closing the file gives the shared lock back
	}
	if err := json.NewDecoder(f).Decode(&l); err != nil {
		return Lock{}, true, nil // the owner has not written yet
	}
	return l, true, nil
}

// takeLock makes this process the owner of dir.
func takeLock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the data folder cannot be locked: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		l, _, _ := ReadLock(dir)
		return nil, fmt.Errorf("%w by process %d: stop it, talk to it with --server %s, or choose another --data folder", ErrLocked, l.PID, l.Addr)
	}
	return f, writeLock(f, Lock{PID: os.Getpid()})
}

func writeLock(f *os.File, l Lock) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("the lock file cannot be written: %w", err)
	}
	if _, err := f.WriteAt(append(data, '\n'), 0); err != nil {
		return fmt.Errorf("the lock file cannot be written: %w", err)
	}
	return nil
}

// SetAddr tells other processes where the service listens and the local token
// they may use; the file is readable by the folder's owner only.
func (s *Store) SetAddr(addr, token string) error {
	return writeLock(s.lock, Lock{Addr: addr, Token: token, PID: os.Getpid()})
}
