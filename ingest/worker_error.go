package ingest

import (
	"errors"
	"fmt"
)

// SourceError refuses a source or a part of it for good: trying the same bytes
// with the same settings again does not help. Reason is one sentence that says
// what is wrong, why, and what to do.
type SourceError struct{ Reason string }

// Error is the reason.
func (e *SourceError) Error() string { return e.Reason }

func refuseSource(format string, args ...any) *SourceError {
	return &SourceError{Reason: fmt.Sprintf(format, args...)}
}

// final is the sentence of an error that trying again does not mend.
func final(err error) (reason string, ok bool) {
	var source *SourceError
	var media *MediaError
	switch {
	case errors.As(err, &source):
		return source.Reason, true
	case errors.As(err, &media):
		return media.Reason, true
	}
	return "", false
}
