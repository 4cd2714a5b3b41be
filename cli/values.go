package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/reeltree/reeltree/model"
)

// kept holds a parsed setting with the reason it could not be understood.
type kept[T any] struct {
	V   T
	err error
}

func (k kept[T]) problem() error { return k.err }

type (
	duration struct{ kept[time.Duration] }
	count    struct{ kept[int] }
	ratio    struct{ kept[float64] }
	size     struct{ kept[int64] }
	level    struct{ kept[slog.Level] }
	address  struct{ kept[string] }
	hostPort struct{ kept[string] }
	secret   = model.Secret
)

// UnmarshalText reads a Go duration that is not negative.
func (d *duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	d.V, d.err = v, nil
	if err != nil || v < 0 {
		d.err = fmt.Errorf("%q is not a duration such as 90s, 10m or 2h", b)
	}
	return nil
}

// UnmarshalText reads a whole number that is not negative.
func (c *count) UnmarshalText(b []byte) error {
	v, err := strconv.Atoi(string(b))
	c.V, c.err = v, nil
	if err != nil || v < 0 {
		c.err = fmt.Errorf("%q is not a whole number from 0 upward", b)
	}
	return nil
}

// UnmarshalText reads a number above 0.
func (r *ratio) UnmarshalText(b []byte) error {
	v, err := strconv.ParseFloat(string(b), 64)
	r.V, r.err = v, nil
	if err != nil || !(v > 0 && v <= 1000) {
		r.err = fmt.Errorf("%q is not a number above 0", b)
	}
	return nil
}

var sizeUnits = []struct {
	suffix string
	factor int64
}{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"G", 1e9}, {"M", 1e6}, {"K", 1e3}, {"B", 1}, {"", 1}}

// UnmarshalText reads a size with a decimal unit: 20GB, 256MB, 40M.
func (s *size) UnmarshalText(b []byte) error {
	text := strings.ToUpper(strings.TrimSpace(string(b)))
	s.V, s.err = 0, fmt.Errorf("%q is not a size such as 256MB or 20GB", b)
	for _, u := range sizeUnits {
		if digits, ok := strings.CutSuffix(text, u.suffix); ok {
			v, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
			if err == nil && v > 0 && v < (1<<62)/u.factor {
				s.V, s.err = v*u.factor, nil
			}
			return nil
		}
	}
	return nil
}

// UnmarshalText reads a log level by name.
func (l *level) UnmarshalText(b []byte) error {
	l.err = nil
	if err := l.V.UnmarshalText(b); err != nil {
		l.err = fmt.Errorf("%q is not debug, info, warn or error", b)
	}
	return nil
}

// UnmarshalText reads an http or https address.
func (a *address) UnmarshalText(b []byte) error {
	a.V, a.err = strings.TrimRight(string(b), "/"), nil
	if u, err := url.Parse(a.V); a.V != "" && (err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "") {
		a.err = errors.New("not an address such as http://127.0.0.1:11434/v1")
	}
	return nil
}

// UnmarshalText reads HOST:PORT.
func (h *hostPort) UnmarshalText(b []byte) error {
	h.V, h.err = string(b), nil
	_, port, err := net.SplitHostPort(h.V)
	if n, convErr := strconv.Atoi(port); err != nil || convErr != nil || n < 0 || n > 65535 {
		h.err = fmt.Errorf("%q is not an address such as 127.0.0.1:8400", b)
	}
	return nil
}

// bearer is the service's own token; it never prints itself.
type bearer string

// String redacts.
func (b bearer) String() string {
	if b == "" {
		return ""
	}
	return "[secret]"
}

// GoString redacts.
func (b bearer) GoString() string { return b.String() }
