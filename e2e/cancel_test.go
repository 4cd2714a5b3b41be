//go:build e2e

package e2e

import (
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
)

// requestJSON sends a request without a body and reads the reply.
func requestJSON(t *testing.T, method, address string, into any) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	if into != nil {
		_ = json.NewDecoder(reply.Body).Decode(into)
	}
	return reply.StatusCode
}

// filesIn counts the files below a folder.
func filesIn(dir string) (n int) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			n++
		}
		return nil
	})
	return n
}

// within waits at most a second.
func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	begun := time.Now()
	for !ok() {
		if time.Since(begun) > time.Second {
			t.Errorf("%s: not within a second", what)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestCancelledAndDeletedAtAnyMoment ends ingests at moments nothing waits for:
// while a media worker probes or samples, and while a model is asked.
func TestCancelledAndDeletedAtAnyMoment(t *testing.T) {
	t.Parallel()
	long := filepath.Join(t.TempDir(), "long.mp4")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=300", "-c:v", "libx264", "-preset", "ultrafast", "-g", "50", long)
	e, data, rng := testkit.NewEndpoint(t), t.TempDir(), rand.New(rand.NewPCG(3, 4))
	e.Always("ok-jitter:300ms")
	s := serve(t, data, visionArgs(e)...)
	for n := range 12 {
		id := upload(t, s, long)
		time.Sleep(time.Duration(rng.Int64N(int64(2500 * time.Millisecond))))
		var src struct{ Job, State string }
		requestJSON(t, http.MethodGet, s.addr+"/v1/sources/"+id, &src)
		if n%2 == 0 {
			requestJSON(t, http.MethodDelete, s.addr+"/v1/jobs/"+src.Job, nil)
			within(t, "cancelled", func() bool {
				var job struct{ State string }
				requestJSON(t, http.MethodGet, s.addr+"/v1/jobs/"+src.Job, &job)
				return job.State == "cancelled"
			})
		}
		within(t, "children", func() bool { return n%2 == 1 || len(children(s.cmd.Process.Pid)) == 0 })
		if code := requestJSON(t, http.MethodDelete, s.addr+"/v1/sources/"+id, nil); code != http.StatusNoContent {
			t.Fatalf("DELETE: %d", code)
		}
		calls := e.Count()
		within(t, "children after the deletion", func() bool { return len(children(s.cmd.Process.Pid)) == 0 })
		within(t, "disk space", func() bool { return filesIn(filepath.Join(data, "blobs"))+filesIn(filepath.Join(data, "tmp")) == 0 })
		time.Sleep(200 * time.Millisecond) // long enough for a call that should not be
		if late := e.Count() - calls; late > 0 {
			t.Errorf("%d calls were made after the deletion", late)
		}
	}
}
