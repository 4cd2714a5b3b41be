package testkit

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// media hands out the bytes a-b of ?range=a-b with status 200, or all.
func (y *YouTube) media(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v, ok := y.video(q.Get("id"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	from, to := 0, len(v.Media)
	if wish := q.Get("range"); wish != "" {
		if n, err := fmt.Sscanf(wish, "%d-%d", &from, &to); n != 2 || err != nil {
			http.Error(w, "bad range", http.StatusBadRequest)
			return
		}
		to = min(to+1, len(v.Media))
		from = min(from, to)
	}
	if v.Mode == "403" || v.Mode == "403-later" && from >= len(v.Media)*3/10 ||
		v.Mode == "cipher" && q.Get("sig") != unlocked {
		http.Error(w, "forbidden", http.StatusForbidden)
		return
	}
	y.send(w, r, v, from, to)
}

// send writes a chunk as the mode says.
func (y *YouTube) send(w http.ResponseWriter, r *http.Request, v Video, from, to int) {
	part := v.Media[from:to]
	half := len(part) / 2
	switch v.Mode {
	case "short":
		part = part[:half]
	case "long":
		part = append(append([]byte{}, part...), "more"...)
	case "short-once":
		if from%(10<<20) == 0 {
			part = part[:half]
		}
	case "partial":
		w.WriteHeader(http.StatusPartialContent)
	case "403-later":
		part = part[:min(len(part), len(v.Media)*3/10)]
	case "stall":
		_, _ = w.Write(part[:half])
		_ = http.NewResponseController(w).Flush()
		y.stall(r)
		return
	case "reset":
		w.Header().Set("Content-Length", strconv.Itoa(len(part)))
		_, _ = w.Write(part[:half])
		_ = http.NewResponseController(w).Flush()
		breakConnection(w)
		return
	}
	if !strings.Contains(v.Mode, "length") {
		w.Header().Set("Content-Length", strconv.Itoa(len(part)))
	}
	_, _ = w.Write(part) // a client that went away has its own error
}

// breakConnection resets the TCP connection of a reply.
func breakConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if secret, ok := conn.(*tls.Conn); ok {
		conn = secret.NetConn() // no goodbye of TLS either
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
