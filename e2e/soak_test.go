//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var soakRounds = flag.Int("soak", 12, "ingests of one file, each after it was deleted, of TestRepeatedIngests; 500 is the full run")

// residentKB is the resident memory of a process.
func residentKB(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.Fields(kb)[0])
			return n
		}
	}
	t.Fatal("no VmRSS")
	return 0
}

func descriptors(pid int) int {
	all, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(all)
}

// goroutines ends a service with a dump of its stacks and counts them.
func goroutines(s *service) int {
	_ = s.cmd.Process.Signal(syscall.SIGQUIT)
	<-s.done
	_ = s.cmd.Wait()
	return strings.Count(s.logs.String(), "\ngoroutine ")
}

func median(all []int) int {
	all = slices.Clone(all)
	slices.Sort(all)
	return all[len(all)/2]
}

// TestRepeatedIngests: a file that comes and goes leaves nothing behind, neither
// in memory nor among descriptors, goroutines and files.
func TestRepeatedIngests(t *testing.T) {
	t.Parallel()
	file, data := clipsOf(t, 1)[0], t.TempDir()
	first := serve(t, t.TempDir())
	http.DefaultClient.CloseIdleConnections()
	fresh := goroutines(first)
	s := serve(t, data)
	var memory, open []int
	blobs := func() int {
		n := 0
		_ = filepath.WalkDir(filepath.Join(data, "blobs"), func(_ string, e os.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				n++
			}
			return nil
		})
		return n
	}
	begun := time.Now()
	for range *soakRounds {
		id := upload(t, s, file)
		if state := ended(t, s, 1)[id]; state != "done" {
			t.Fatalf("round %d ended %s", len(memory), state)
		}
		if out, code := run(t, "rm", "--server", s.addr, id); code != 0 {
			t.Fatalf("rm: %d %s", code, out)
		}
		memory, open = append(memory, residentKB(t, s.cmd.Process.Pid)), append(open, descriptors(s.cmd.Process.Pid))
	}
	share := max(1, len(memory)/5)
	early, late := median(memory[:share]), median(memory[len(memory)-share:])
	files := blobs()
	http.DefaultClient.CloseIdleConnections()
	left := goroutines(s)
	t.Logf("%d ingests in %.0f s; resident %d KB in the first fifth, %d KB in the last (%.3f x); descriptors %d and %d; goroutines %d, of a fresh service %d; blobs left %d",
		len(memory), time.Since(begun).Seconds(), early, late, float64(late)/float64(early), median(open[:share]), median(open[len(open)-share:]), left, fresh, files)
	if len(memory) >= 100 && float64(late) > 1.05*float64(early) {
		t.Errorf("memory rose from %d to %d KB", early, late)
	}
	if median(open[len(open)-share:]) > median(open[:share])+4 || left > fresh+10 || files > 0 {
		t.Errorf("descriptors %v to %v, %d goroutines, %d blobs are left", open[:share], open[len(open)-share:], left, files)
	}
}
