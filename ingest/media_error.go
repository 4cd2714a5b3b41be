package ingest

import "fmt"

// MediaError refuses a media file. Reason is one sentence for people: what is
// wrong, why, and what to do. Trying the same file again does not help.
type MediaError struct {
	Reason string `json:"reason"`
}

// Error is the reason.
func (e *MediaError) Error() string { return e.Reason }

func refuseMedia(format string, args ...any) *MediaError {
	return &MediaError{Reason: fmt.Sprintf(format, args...)}
}

// mediaUsage is what a finished child says it needed.
type mediaUsage struct {
	PeakKB int64 `json:"peak_kb"` // VmHWM
	CPUMS  int64 `json:"cpu_ms"`
}
