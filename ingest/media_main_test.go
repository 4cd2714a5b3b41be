package ingest

import (
	"context"
	"os"
	"testing"
)

// TestMain makes the test binary its own media worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "media-worker" {
		os.Exit(MediaWorkerMain(context.Background(), os.Stdin, os.NewFile(4, "pipe")))
	}
	if len(os.Args) > 1 && os.Args[1] == "bad-worker" {
		os.Exit(badWorker(os.Args[2], os.NewFile(4, "pipe")))
	}
	os.Exit(m.Run())
}
