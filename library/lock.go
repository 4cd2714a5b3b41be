package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrLocked is returned by Open while another process owns the folder.
var ErrLocked = errors.New("the data folder is in use")

// Lock is what the owner of a data folder writes into its lock file.
type Lock struct {
	Addr  string `json:"addr,omitempty"`  // base address of the running service, empty for a command
	Token string `json:"token,omitempty"` // local token, readable by the folder's owner only
	PID   int    `json:"pid"`
}

// ReadLock reads the lock file without taking the folder. held tells whether a
// living process owns it; the file of a dead one is only a leftover.
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

// A reader of the lock file holds a shared lock for microseconds, which must
// not look like an owner: so taking the lock is tried several times.
const (
	lockTries = 6
	lockPause = 20 * time.Millisecond
)

// takeLock makes this process the owner of dir. crashed tells whether the owner
// before did not end orderly.
func takeLock(ctx context.Context, dir string) (f *os.File, crashed bool, err error) {
	f, err = os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("the data folder cannot be locked: %w", err)
	}
	if err := flock(ctx, f); err != nil {
		_ = f.Close()
		l, _, _ := ReadLock(dir)
		return nil, false, lockedBy(dir, l, err)
	}
	if info, err := f.Stat(); err == nil {
		crashed = info.Size() > 0
	}
	if err := writeLock(f, Lock{PID: os.Getpid()}); err != nil {
		_ = f.Close()
		return nil, false, err
	}
	return f, crashed, nil
}

func flock(ctx context.Context, f *os.File) error {
	for try := 1; ; try++ {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || try == lockTries {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// lockedBy is the one sentence for whoever came second.
func lockedBy(dir string, l Lock, cause error) error {
	switch {
	case !errors.Is(cause, syscall.EWOULDBLOCK):
		return fmt.Errorf("the data folder %s cannot be locked: %w", dir, cause)
	case l.Addr != "":
		return fmt.Errorf("%w: process %d serves %s at %s; talk to it with --server, stop it, or choose another --data folder", ErrLocked, l.PID, dir, l.Addr)
	}
	return fmt.Errorf("%w: process %d works on %s; wait for it, stop it, or choose another --data folder", ErrLocked, l.PID, dir)
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

// giveLock empties the lock file, which says that the end was orderly, and lets
// the next owner in.
func giveLock(f *os.File) error {
	return errors.Join(f.Truncate(0), f.Close())
}
