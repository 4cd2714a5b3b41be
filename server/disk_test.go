package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// TestAFullDiskIsNamed: an upload that finds no room is told so, and that it may
// be sent again; the path it was to be written to stays inside.
func TestAFullDiskIsNamed(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		s := newService(t, func(c *Config) { c.Bytes = full{c.Bytes, cause} })
		body := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.mp4\"\r\n\r\nfilm\r\n--b--\r\n"
		status, _, reply := s.request(t, http.MethodPost, "/v1/sources", strings.NewReader(body), map[string]string{"Content-Type": "multipart/form-data; boundary=b"})
		if status != http.StatusInsufficientStorage || !strings.Contains(reply, fmt.Sprint(codeDiskFull)) || !strings.Contains(reply, "disk of the service is full") ||
			!strings.Contains(reply, `"retry":true`) || strings.Contains(reply, "/data") {
			t.Errorf("%d %s", status, reply)
		}
	}
}

// full is a store without room.
type full struct {
	Bytes
	cause error
}

func (f full) PutContent(context.Context, string, io.Reader, int64) (string, int64, error) {
	return "", 0, fmt.Errorf("write /data/blobs/x: %w", f.cause)
}
