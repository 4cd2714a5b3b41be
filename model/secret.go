package model

import (
	"fmt"
	"log/slog"
	"strings"
)

const redacted = "[secret]"

// minScrub is the shortest key that is searched for in foreign text; shorter
// ones would blank out ordinary words.
const minScrub = 6

// Secret is a key that no printing, logging or encoding shows. The zero value
// is no key. The value lies behind a pointer, so that even reflection over a
// struct that holds a Secret in an unexported field prints only an address.
type Secret struct{ value *string }

var (
	_ fmt.Formatter  = Secret{}
	_ slog.LogValuer = Secret{}
)

// NewSecret wraps a key; blanks around it (a newline of a file) are dropped.
func NewSecret(key string) Secret {
	key = strings.TrimSpace(key)
	if key == "" {
		return Secret{}
	}
	return Secret{&key}
}

// Set reports whether there is a key.
func (s Secret) Set() bool { return s.value != nil }

// String is "[secret]", or empty without a key.
func (s Secret) String() string {
	if s.value == nil {
		return ""
	}
	return redacted
}

// GoString redacts for %#v.
func (s Secret) GoString() string { return "model.Secret{" + s.String() + "}" }

// Format redacts for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue redacts in structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText redacts in every text encoding, JSON values and keys included.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON redacts.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// UnmarshalText takes a key from settings.
func (s *Secret) UnmarshalText(b []byte) error {
	*s = NewSecret(string(b))
	return nil
}

// reveal is the key itself; only the transport sends it.
func (s Secret) reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// scrub takes the key out of text that came from outside: an endpoint may echo it.
func (s Secret) scrub(text string) string {
	if key := s.reveal(); len(key) >= minScrub {
		return strings.ReplaceAll(text, key, redacted)
	}
	return text
}
