//go:build unix

package retrieve

import (
	"syscall"
	"testing"
	"time"
)

// processorTime is what this process has used of the processors: on a busy
// machine the only fair clock.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// reportProcessorTime adds the processor time an operation to a benchmark's
// figures; call it when the loop has ended, with what the clock said before it.
func reportProcessorTime(b *testing.B, before time.Duration) {
	b.Helper()
	b.ReportMetric(float64((processorTime()-before).Microseconds())/float64(b.N)/1000, "cpu-ms/op")
}
