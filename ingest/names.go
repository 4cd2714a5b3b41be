package ingest

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// NamesDocument reports whether a file name is that of a document or of a
// subtitle file, to which no subtitle file beside it belongs.
func NamesDocument(name string) bool {
	ext := strings.TrimPrefix(strings.ToLower(path.Ext(name)), ".")
	return byExtension[ext] != "" || unread[ext] != "" ||
		slices.Contains([]string{"srt", "vtt", "ass", "ssa", "smi", "sami", "md", "markdown", "txt", "text"}, ext)
}

// ReadAddress tells an address from the name of a file, by its look alone:
// whatever has a scheme, and without one what begins with a host of YouTube or
// with www, as people paste it. The address is given with its scheme.
func ReadAddress(s string) (address string, ok bool) {
	s = strings.TrimSpace(s)
	if scheme, _, found := strings.Cut(s, "://"); found && isScheme(scheme) {
		return s, true
	}
	host, _, _ := strings.Cut(s, "/")
	if isYouTube(&url.URL{Host: host}) || strings.HasPrefix(strings.ToLower(host), "www.") && host != s {
		return "https://" + s, true
	}
	return "", false
}

// isScheme tells the scheme of an address by RFC 3986, section 3.1.
func isScheme(s string) bool {
	for i, r := range strings.ToLower(s) {
		letter := r >= 'a' && r <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", r)) {
			return false
		}
	}
	return s != ""
}

// LooksLikeAddress reports whether a name that is no file may be meant as an
// address without a scheme: a host with a dot, and a path.
func LooksLikeAddress(s string) bool {
	host, rest, found := strings.Cut(s, "/")
	_, top, dotted := cutLast(host, ".")
	return found && rest != "" && dotted && len(top) >= 2 && !strings.ContainsFunc(top, func(r rune) bool { return r < 'A' || r > 'z' })
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
