package tree

import (
	"crypto/sha256"
	"encoding/base32"
	"hash"
	"io"
	"strings"
	"time"
)

// Kind says what a source is made of.
type Kind string

// The kinds of sources.
const (
	KindVideo    Kind = "video"
	KindAudio    Kind = "audio"
	KindDocument Kind = "document"
	KindImage    Kind = "image"
)

// DefaultTenant owns everything on a server without tokens.
const DefaultTenant = "default"

// Source is one thing that was handed over: a video, a recording, a document.
// It is the catalog's record; its tree is stored beside it.
type Source struct {
	ID          string    `json:"id"`
	Tenant      string    `json:"tenant"`
	Kind        Kind      `json:"kind"`
	Title       string    `json:"title"`
	Origin      string    `json:"origin,omitempty"`   // address or file name it came from, for people only
	MIME        string    `json:"mime,omitempty"`     // media type the bytes are served with
	Bytes       int64     `json:"bytes,omitempty"`    // length of the content; 0 once it was removed
	DurationMS  int64     `json:"duration_ms"`        // 0 for documents without media times
	Length      int64     `json:"length,omitempty"`   // documents: code points
	Width       int       `json:"width,omitempty"`    // displayed, after rotation and pixel aspect
	Height      int       `json:"height,omitempty"`   // displayed
	Collections []string  `json:"collections"`        // sorted, may be empty
	Language    string    `json:"language,omitempty"` // BCP 47, empty when unknown
	Created     time.Time `json:"created"`
	Fingerprint string    `json:"fingerprint,omitempty"` // of the settings the tree was built with
	State       State     `json:"state"`
	Job         string    `json:"job,omitempty"`      // last job, also its progress stream
	Error       string    `json:"error,omitempty"`    // one sentence, when State is failed
	Warnings    []string  `json:"warnings,omitempty"` // one sentence each
	Nodes       Counts    `json:"nodes"`
	Calls       int       `json:"calls"` // model calls the tree has cost so far
}

// Counts is the number of nodes per level.
type Counts struct {
	L1 int `json:"l1"`
	L2 int `json:"l2"`
	L3 int `json:"l3"`
}

var idEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// IDHash hashes content into a source id while it is being stored.
type IDHash struct{ h hash.Hash }

// NewIDHash starts the hash of one tenant's content. The id is the first 26
// characters of lower-case base32 of SHA-256(tenant, NUL, content), so it does
// not depend on names, settings or subtitles and never collides across tenants.
func NewIDHash(tenant string) IDHash {
	h := sha256.New()
	_, _ = io.WriteString(h, tenant+"\x00") // a hash never fails to write
	return IDHash{h}
}

// Write adds content; it never fails.
func (h IDHash) Write(p []byte) (int, error) { return h.h.Write(p) }

// ID is the source id of everything written so far.
func (h IDHash) ID() string { return idEncoding.EncodeToString(h.h.Sum(nil))[:26] }

// FrameID is the public name of a JPEG: lower-case base32 of its SHA-256.
func FrameID(jpeg []byte) string {
	sum := sha256.Sum256(jpeg)
	return idEncoding.EncodeToString(sum[:])
}

// ValidID reports whether s can be a source, job or frame id: base32 in lower
// case and nothing else, so an id is always safe as a key or file name.
func ValidID(s string) bool {
	return len(s) >= 16 && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz234567") == ""
}
