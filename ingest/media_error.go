package ingest

import "fmt"

// MediaError refuses a media file. Reason is one sentence for people: what is
// wrong, why, and what to do. Trying the same file again does not help, unless
// it was the worker that broke.
type MediaError struct {
	Reason string `json:"reason"`
	broken bool   // the worker ended in the middle, which may not be the file's fault
	killed bool   // somebody else ended it
}

// Error is the reason.
func (e *MediaError) Error() string { return e.Reason }

func refuseMedia(format string, args ...any) *MediaError {
	return &MediaError{Reason: fmt.Sprintf(format, args...)}
}

// brokenWorker is a child that ended or spoke nonsense.
func brokenWorker(how any) *MediaError {
	e := refuseMedia("The media worker broke on this file (%v), so nothing was taken from it; the file is probably damaged, convert it and try again.", how)
	e.broken = true
	return e
}

// mediaUsage is what a finished child says it needed.
type mediaUsage struct {
	PeakKB int64 `json:"peak_kb"` // VmHWM
	CPUMS  int64 `json:"cpu_ms"`
}
