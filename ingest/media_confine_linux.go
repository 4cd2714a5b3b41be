package ingest

import (
	"fmt"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// Limits of the child. The data segment limit is the hard wall behind the
// parent's watch; a limit on the address space would kill the Go runtime.
const (
	mediaDataLimit = 512 << 20
	mediaCPULimit  = 6 * 3600 // seconds
	mediaFileLimit = 64       // descriptors
)

// confineMedia takes from the child what it never needs: writing files, cores,
// much memory, new privileges and programs, and, where the kernel knows how,
// every path and every socket. What was opened before stays usable.
func confineMedia(mode string) error {
	data := uint64(mediaDataLimit)
	if mode == mediaClipMode {
		data *= 2 // an encoder works beside the decoder
	}
	limits := []struct {
		what  int
		limit uint64
	}{
		{unix.RLIMIT_DATA, data},
		{unix.RLIMIT_CPU, mediaCPULimit},
		{unix.RLIMIT_NOFILE, mediaFileLimit},
		{unix.RLIMIT_FSIZE, 0},
		{unix.RLIMIT_CORE, 0},
	}
	for _, l := range limits {
		if err := unix.Setrlimit(l.what, &unix.Rlimit{Cur: l.limit, Max: l.limit}); err != nil {
			return fmt.Errorf("limit %d: %w", l.what, err)
		}
	}
	if err := landlock.V6.BestEffort().Restrict(); err != nil {
		return err
	}
	if err := forbidSyscalls(); err != nil {
		return fmt.Errorf("forbid system calls: %w", err)
	}
	return nil
}
