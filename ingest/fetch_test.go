package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// site serves good and bad files.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	body := bytes.Repeat([]byte("0123456789"), 1000)
	mux.HandleFunc("/film.mp4", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "video/mp4; x=y")
		w.Header().Set("Content-Length", "10000")
		_, _ = w.Write(body)
	})
	mux.HandleFunc("/named", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", "attachment; filename=\"../..\\\\a/b\u202etalk.webm\"")
		w.Header().Set("Content-Length", "10000")
		_, _ = w.Write(body)
	})
	mux.HandleFunc("/chunked", func(w http.ResponseWriter, _ *http.Request) {
		for range 10 {
			_, _ = w.Write(body[:1000])
			_ = http.NewResponseController(w).Flush()
		}
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 20e6)) })
	mux.HandleFunc("/status/{code}", func(w http.ResponseWriter, r *http.Request) {
		code := 0
		_, _ = fmt.Sscan(r.PathValue("code"), &code)
		w.WriteHeader(code)
	})
	mux.HandleFunc("/hops/{n}", func(w http.ResponseWriter, r *http.Request) {
		n := 0
		_, _ = fmt.Sscan(r.PathValue("n"), &n)
		to := fmt.Sprintf("/hops/%d", n-1)
		if n <= 1 {
			to = "/film.mp4"
		}
		http.Redirect(w, r, to, http.StatusFound)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("u"))
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/lies", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "20000")
		_, _ = w.Write(body)
	})
	mux.HandleFunc("/empty", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(body); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/stall", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(body)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/packed", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		_, _ = zip.Write([]byte("packed"))
		_ = zip.Close()
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestFetchHTTP(t *testing.T) {
	s := site(t)
	f := newFetcher(t, FetchConfig{Allow: loopback})
	for path, name := range map[string]string{
		"/film.mp4?token=secret#t=3": "film.mp4", "/hops/5": "film.mp4", "/named": "talk.webm", "/chunked": "chunked",
	} {
		var out bytes.Buffer
		var last, total int64
		got, err := f.Fetch(t.Context(), s.URL+path, FetchOptions{}, &out, func(done, of int64) {
			if done < last {
				t.Errorf("%s: progress falls from %d to %d", path, last, done)
			}
			last, total = done, of
		})
		if err != nil || out.Len() != 10000 || got.Bytes != 10000 || last != 10000 || !strings.HasSuffix(got.Name, name) {
			t.Errorf("%s: %+v, %d bytes, progress %d, error %v", path, got, out.Len(), last, err)
		}
		if want := map[bool]int64{true: 0, false: 10000}[path == "/chunked"]; total != want {
			t.Errorf("%s: total %d, want %d", path, total, want)
		}
		if strings.Contains(got.URL, "secret") || strings.ContainsAny(got.Name, "/\\\n\u202e") {
			t.Errorf("%s: address %q, name %q", path, got.URL, got.Name)
		}
	}
}

func TestFetchHTTPFailures(t *testing.T) {
	s := site(t)
	f := newFetcher(t, FetchConfig{Allow: loopback, MaxBytes: 15000, Stall: 300 * time.Millisecond})
	for path, words := range map[string]string{
		"/status/404": "nothing at this address", "/status/403": "permission", "/status/500": "problem of its own",
		"/status/429": "too often", "/status/204": "status 204", "/status/304": "status 304",
		"/hops/6": "more than 5 times", "/loop": "more than 5 times",
		"/to?u=file:///etc/passwd": "only http and https", "/to?u=gopher://x/": "only http and https", "/to?u=http://a@b/": "user name",
		"/to?u=http://10.0.0.1/": "not a public address", "/to?u=%zz": "status 400", "/to?u=http://%5B": "no address",
		"/lies": "more than the allowed", "/endless": "more than the allowed 15000", "/empty": "empty file",
		"/stall": "sent nothing", "/silent": "try again later", "/packed": "packed (gzip)",
	} {
		if path == "/to?u=%zz" {
			continue
		}
		start := time.Now()
		_, err := f.Fetch(t.Context(), s.URL+path, FetchOptions{}, io.Discard, nil)
		var named *FetchError
		if !errors.As(err, &named) || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %q", path, err, words)
		}
		if d := time.Since(start); d > 3*time.Second {
			t.Errorf("%s: took %s", path, d)
		}
	}
	f = newFetcher(t, FetchConfig{Allow: loopback})
	if _, err := f.Fetch(t.Context(), s.URL+"/lies", FetchOptions{}, io.Discard, nil); err == nil || !strings.Contains(err.Error(), "broke off") {
		t.Errorf("a body shorter than its length: %v", err)
	}
}

func TestFetchRefusesAddresses(t *testing.T) {
	f := newFetcher(t, FetchConfig{})
	for _, address := range []string{
		"", "x", "film.mp4", "/etc/passwd", "file:///etc/passwd", "ftp://h/x", "data:,x", "concat:a|b", "http://", "http:///x", "https://u:p@h/x",
		"http://h:bad/", "http://[::1/", "javascript:alert(1)", "http://h/\x00", strings.Repeat("http://h/", 1000), "//h/x", "subfile,,start,0:x",
	} {
		_, err := f.Fetch(t.Context(), address, FetchOptions{}, io.Discard, nil)
		var named *FetchError
		if !errors.As(err, &named) || len(err.Error()) > 250 {
			t.Errorf("%.40q: error %v", address, err)
		}
	}
}

// TestFetchEnds: cancel, deadline and a failing writer.
func TestFetchEnds(t *testing.T) {
	s := site(t)
	f := newFetcher(t, FetchConfig{Allow: loopback})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := f.Fetch(ctx, s.URL+"/endless", FetchOptions{}, io.Discard, func(done, _ int64) {
		if done > 100000 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancel: %v", err)
	}
	full := errors.New("disk full")
	if _, err := f.Fetch(t.Context(), s.URL+"/film.mp4", FetchOptions{}, failingWriter{full}, nil); !errors.Is(err, full) {
		t.Errorf("writer: %v", err)
	}
	f = newFetcher(t, FetchConfig{Allow: loopback, Total: 200 * time.Millisecond})
	if _, err := f.Fetch(t.Context(), s.URL+"/endless", FetchOptions{}, io.Discard, nil); err == nil || !strings.Contains(err.Error(), "longer than allowed") {
		t.Errorf("total: %v", err)
	}
}

// TestSlowWriterIsNoStall: the time the disk takes is not the server's.
func TestSlowWriterIsNoStall(t *testing.T) {
	s := site(t)
	f := newFetcher(t, FetchConfig{Allow: loopback, Stall: 200 * time.Millisecond})
	slow := 400 * time.Millisecond // once; the body is more than any buffer on the way
	w := writerFunc(func(p []byte) (int, error) {
		err := fetchWait(t.Context(), slow)
		slow = 0
		return len(p), err
	})
	if got, err := f.Fetch(t.Context(), s.URL+"/big", FetchOptions{}, w, nil); err != nil || got.Bytes != 20e6 {
		t.Errorf("%d bytes, %v", got.Bytes, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// TestNothingUsesTheDefaultClient: with a default transport that fails and a
// proxy in the environment everything still comes through the guard.
func TestNothingUsesTheDefaultClient(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	before, client := http.DefaultTransport, *http.DefaultClient
	fail := roundTrip(func(r *http.Request) (*http.Response, error) {
		t.Errorf("default transport asked for %s", r.URL)
		return nil, errors.New("default transport")
	})
	http.DefaultTransport, http.DefaultClient.Transport = fail, fail
	t.Cleanup(func() { http.DefaultTransport, *http.DefaultClient = before, client })
	s := site(t)
	f := newFetcher(t, FetchConfig{Allow: loopback})
	if f.web.Proxy != nil {
		t.Error("a proxy would be asked, which connects past the guard")
	}
	if _, err := f.Fetch(t.Context(), s.URL+"/hops/3", FetchOptions{}, io.Discard, nil); err != nil {
		t.Error(err)
	}
	for _, mode := range []string{"", "cipher", "login", "region", "403-later"} {
		f, _ := newTube(t, mode)
		_, _ = f.Fetch(t.Context(), "https://youtu.be/"+tubeID, FetchOptions{}, io.Discard, nil)
	}
}

func FuzzParseAddress(f *testing.F) {
	f.Add("https://www.youtube.com/watch?v=-9BsEvS2uHU")
	f.Add("http://user@host/")
	f.Fuzz(func(t *testing.T, address string) {
		u, err := parseAddress(address)
		if err != nil {
			return
		}
		if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil {
			t.Fatalf("%q passed as %s", address, u)
		}
		if id, err := youTubeID(u); err == nil && !youTubeIDForm.MatchString(id) {
			t.Fatalf("%q gives id %q", address, id)
		}
	})
}

// hangingUp is a body that ends cleanly just as its reader gives up.
type hangingUp struct {
	text   string
	giveUp context.CancelFunc
}

// Read implements io.Reader.
func (h *hangingUp) Read(p []byte) (int, error) {
	if h.text == "" {
		h.giveUp()
		return 0, io.EOF
	}
	n := copy(p, h.text)
	h.text = h.text[n:]
	return n, nil
}

// TestHalfADownloadIsNoFile: an end that only came because the download was
// cancelled or stalled is never taken for the end of the file.
func TestHalfADownloadIsNoFile(t *testing.T) {
	ctx, giveUp := context.WithCancel(t.Context())
	n, err := copyLimited(ctx, io.Discard, &hangingUp{"half", giveUp}, 100)
	if n != 4 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d bytes, %v", n, err)
	}
	n, err = copyLimited(t.Context(), io.Discard, &hangingUp{"whole", func() {}}, 100)
	if n != 5 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestTheRightAddressIsNotBlamed: a host that is not found, or not reached, is
// the network's doing where the address is none that somebody wrote.
func TestTheRightAddressIsNotBlamed(t *testing.T) {
	absent, down := &net.DNSError{Err: "no such host", IsNotFound: true}, &net.DNSError{Err: "dial udp: network is unreachable"}
	for _, c := range []struct {
		host        string
		err         error
		address, ok bool // the address is to be checked; the network is
	}{
		{"example.org", absent, true, true},
		{"example.org", down, false, true},
		{"example.org", syscall.ENETUNREACH, false, true},
		{"example.org", syscall.ECONNREFUSED, true, false},
		{youTube, absent, false, true},
		{youTube, down, false, true},
		{youTube, syscall.ECONNREFUSED, false, true},
	} {
		said := explainNet(t.Context(), c.host, &net.OpError{Op: "dial", Err: c.err}).Error()
		if strings.Contains(said, "check the address") != c.address || strings.Contains(said, "--proxy") != c.ok {
			t.Errorf("%s, %v: %s", c.host, c.err, said)
		}
	}
}

// TestAddressesWithoutAScheme over any transport.
func TestAddressesWithoutAScheme(t *testing.T) {
	for given, want := range map[string]string{"youtu.be/aaaaaaaaaaa": "", "//example.org/a": "must look like", "example.org/a.mp4": "must look like", "a b": "must look like", "rtsp://x/y": "not rtsp ones"} {
		u, err := parseAddress(given)
		if want == "" && (err != nil || u.Scheme != "https" || !isYouTube(u)) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, %v", given, u, err)
		}
	}
	for given, want := range map[string]bool{"example.org/a.mp4": true, "talks/a.mp4": false, "v1.2/a.mp4": false, "example.org": false, "example.org/": false, "": false} {
		if LooksLikeAddress(given) != want {
			t.Errorf("%q looks like an address: %v", given, !want)
		}
	}
}
