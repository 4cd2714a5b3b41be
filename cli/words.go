package cli

import (
	"errors"

	"github.com/reeltree/reeltree/client"
)

// The refusals of docs/errors.md whose advice is for those who write requests.
const (
	needsToken = 1101
	isNoSource = 1201
	isNoJob    = 1203
)

// ownWords gives a refusal of the service the advice that fits a command line.
func ownWords(err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	switch refused.Code {
	case needsToken:
		return &spoken{"this service needs its token: give it with --token or in REELTREE_TOKEN", err}
	case isNoSource:
		return &spoken{"there is no source with this id: reeltree list shows them", err}
	case isNoJob:
		return &spoken{"there is no job with this id: reeltree jobs shows them", err}
	}
	return err
}

// spoken is an error in other words.
type spoken struct {
	words string
	cause error
}

// Error is the words.
func (s *spoken) Error() string { return s.words }

// Unwrap gives the cause.
func (s *spoken) Unwrap() error { return s.cause }
