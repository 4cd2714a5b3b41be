package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeltree/reeltree/tree"
)

// ticketLife is how long a ticket opens its bytes.
const ticketLife = time.Hour

// ValidateListen refuses an address that others can reach while no token is set.
func ValidateListen(addr, token string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%q is not an address such as 127.0.0.1:8400", addr)
	}
	if token == "" && !IsLoopback(host) {
		return fmt.Errorf("%s can be reached from other machines and no token is set: set --token (REELTREE_TOKEN), or listen on 127.0.0.1", addr)
	}
	return nil
}

// IsLoopback reports whether a host of an address leads to this machine only.
func IsLoopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// tokenTenant gives the tenant a token opens. Hashes are compared, so the time
// tells nothing about how much of a wrong token was right.
func (s *Server) tokenTenant(token string) (string, bool) {
	given := sha256.Sum256([]byte(token))
	open := s.cfg.Token == ""
	for _, valid := range []string{s.cfg.Token, s.cfg.LocalToken} {
		want := sha256.Sum256([]byte(valid))
		if valid != "" && subtle.ConstantTimeCompare(given[:], want[:]) == 1 {
			open = true
		}
	}
	return tree.DefaultTenant, open
}

// tenant is the one authorisation of a request: its bearer token, or for
// read-only bytes a ticket.
func (s *Server) tenant(r *http.Request) (string, error) {
	token, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !isBearer {
		token = ""
	}
	if tenant, ok := s.tokenTenant(token); ok {
		return tenant, nil
	}
	if t := r.URL.Query().Get("ticket"); t != "" && r.Method == http.MethodGet && s.ticketOpens(tree.DefaultTenant, r.URL.Path, t) {
		return tree.DefaultTenant, nil
	}
	return "", newError(codeNoToken, "this service needs its token: send it as Authorization: Bearer TOKEN")
}

// ticketFiles are what a player loads of a source.
var ticketFiles = []string{"media", "captions.vtt", "chapters.vtt", "rendition.mp4", "peaks.json", "sprites.vtt"}

// ticketScope is for the read-only bytes that <video> and <img> load without
// headers. A ticket is for one source or one frame.
func ticketScope(path string) (scope string, ok bool) {
	parts := strings.Split(strings.TrimPrefix(path, "/v1/"), "/")
	switch {
	case len(parts) == 3 && parts[0] == "sources" && slices.Contains(ticketFiles, parts[2]),
		len(parts) == 4 && parts[0] == "sources" && parts[2] == "sprites":
		return "/v1/sources/" + parts[1] + "/", true
	case len(parts) == 2 && parts[0] == "frames", len(parts) == 4 && parts[0] == "sources" && parts[2] == "frames":
		return path, true
	}
	return "", false
}

// ticket opens one scope for an hour; empty where no token is asked for.
func (s *Server) ticket(tenant, scope string) string {
	if s.cfg.Token == "" {
		return ""
	}
	expiry := strconv.FormatInt(s.cfg.Now().Add(ticketLife).Unix(), 10)
	return expiry + "." + s.sign(tenant, scope, expiry)
}

func (s *Server) sign(tenant, scope, expiry string) string {
	mac := hmac.New(sha256.New, s.ticketKey)
	_, _ = fmt.Fprintf(mac, "%s\x00%s\x00%s", scope, tenant, expiry) // a hash never fails to write
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (s *Server) ticketOpens(tenant, path, ticket string) bool {
	scope, ok := ticketScope(path)
	expiry, mac, found := strings.Cut(ticket, ".")
	until, err := strconv.ParseInt(expiry, 10, 64)
	if !ok || !found || err != nil || until < s.cfg.Now().Unix() {
		return false
	}
	for _, may := range []string{scope, allMedia} {
		if hmac.Equal([]byte(mac), []byte(s.sign(tenant, may, expiry))) {
			return true
		}
	}
	return false
}

// allMedia is the scope of the ticket in welcome: every read-only byte of the tenant.
const allMedia = "*"

// hostAllowed holds a loopback service to loopback names, so that a page whose
// name was pointed at this machine cannot talk to it.
func (s *Server) hostAllowed(r *http.Request) bool {
	if !s.cfg.Loopback {
		return true
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	return IsLoopback(host)
}

// originAllowed lets in the service's own page, listed origins, and clients
// that are no browser; those are held by the token.
func (s *Server) originAllowed(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || slices.Contains(s.cfg.Origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return err == nil && u.Scheme == scheme && u.Host == r.Host
}
