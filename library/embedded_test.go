package library

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// TestWhatTheServerMendsIsNoWarning, and everything else is one.
func TestWhatTheServerMendsIsNoWarning(t *testing.T) {
	for text, want := range map[string]string{
		"Filestore [KV_jobs] Stream state outdated, last block has additional entries, will rebuild":   "DEBUG",
		"Filestore [KV_jobs] Recovering stream state from index errored: prior state file":             "DEBUG",
		"Filestore [work] TTL state is outdated; attempting to recover using linear scan (seq 1 to 2)": "DEBUG",
		"    Missing consumer checksum for \"x/meta.sum\"":                                             "DEBUG",
		"Filestore [KV_jobs] checkMsgs: bad message":                                                   "WARN",
		"  Error reading Stream metafile \"x\": permission denied":                                     "WARN",
	} {
		var b bytes.Buffer
		natsLog{slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug}))}.Warnf("%s", text)
		if !strings.Contains(b.String(), "level="+want) || !strings.Contains(b.String(), "msg=") {
			t.Errorf("%s: %s, want %s", text, b.String(), want)
		}
	}
}
