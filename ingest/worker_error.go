package ingest

import (
	"errors"
	"fmt"
	"syscall"
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

// modelFailure is the failure of a model's call, as the model room names it.
type modelFailure interface {
	error
	// Sentence says for people which model failed, why and what to do.
	Sentence() string
	// Permanent reports that asking again cannot help before a setting changes.
	Permanent() bool
}

// reasonOf is what people are told of a failure: of a model's in its own words,
// of a full disk that it is full, without the ids and paths it is wrapped in.
func reasonOf(err error) string {
	var failed modelFailure
	switch {
	case errors.As(err, &failed):
		return flatText(failed.Sentence(), 400)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "the disk that holds the data folder is full"
	}
	return flatText(err.Error(), 300)
}

// final is the sentence of an error that trying again does not mend.
func final(err error) (reason string, ok bool) {
	var source *SourceError
	var media *MediaError
	var failed modelFailure
	switch {
	case errors.As(err, &failed) && failed.Permanent():
		return fmt.Sprintf("The ingest stopped because %s; retry it once that is mended.", reasonOf(err)), true
	case errors.As(err, &source):
		return source.Reason, true
	case errors.As(err, &media) && !media.broken:
		return media.Reason, true
	}
	return "", false
}
