package server

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Server is the service's handler. Make it with New; Close waits for everything
// it has started.
type Server struct {
	cfg       Config
	hub       *hub
	places    *places
	handler   http.Handler
	upgrader  websocket.Upgrader
	ticketKey []byte

	ctx     context.Context //nolint:containedctx // the life of answers, which outlive their requests
	stop    context.CancelFunc
	answers sync.WaitGroup
	sockets sync.WaitGroup
	sweeper sync.WaitGroup

	mu      sync.Mutex
	inside  int // answers that run or wait
	open    int // WebSocket connections
	closing bool
	going   chan struct{} // closed when the service shuts down
}

// New makes a server; it starts one goroutine, which Close ends.
func New(cfg Config) *Server {
	cfg.fill()
	s := &Server{cfg: cfg, hub: newHub(), places: &places{free: cfg.MaxAnswers}, going: make(chan struct{}), ticketKey: make([]byte, 32)}
	_, _ = rand.Read(s.ticketKey) // never fails, see crypto/rand
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.upgrader = websocket.Upgrader{Subprotocols: []string{subprotocol}, CheckOrigin: s.originAllowed, HandshakeTimeout: 10 * time.Second}
	s.handler = s.guard(s.routes())
	s.hub.over = func(st *eventStream) bool { return st.over(cfg.Now(), cfg.AnswerTTL) }
	s.sweeper.Go(s.sweepStreams)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

func (s *Server) sweepStreams() {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
			s.hub.forgetIngests(s.cfg.Now(), s.cfg.AnswerTTL)
			s.hub.sweep(func(st *eventStream) bool { return st.over(s.cfg.Now(), s.cfg.AnswerTTL) })
		}
	}
}

// guard holds every request to what browsers may do.
func (s *Server) guard(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	for _, origin := range s.cfg.Origins {
		if err := cross.AddTrustedOrigin(origin); err != nil {
			s.cfg.Log.Warn("an origin is not usable", "origin", origin, "error", err)
		}
	}
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fail(w, newError(codeBadOrigin, "another site's page may not change anything here: allow it with --origins"))
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		if !s.hostAllowed(r) {
			fail(w, newError(codeBadOrigin, "the host name of the request is not this machine's: use localhost or 127.0.0.1"))
			return
		}
		cross.Handler(next).ServeHTTP(w, r)
	})
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	open := func(pattern string, h http.HandlerFunc) { mux.HandleFunc(pattern, h) }
	own := func(pattern string, h func(http.ResponseWriter, *http.Request, string) error, missing int) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			tenant, err := s.tenant(r)
			if err == nil {
				err = h(w, r, tenant)
			}
			if err != nil {
				fail(w, s.wireError(err, missing))
			}
		})
	}
	open("GET /healthz", s.getHealth)
	open("GET /readyz", s.getReady)
	open("GET /v1/ws", s.serveSocket)
	open("/", s.getPage)
	open("/v1/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, newError(codeNoRoute, "%s %.200s is not an address of this service: see docs/protocol.md", r.Method, r.URL.Path))
	})
	own("POST /v1/sources", s.postSource, codeNoSource)
	own("GET /v1/sources", s.getSources, codeNoSource)
	own("GET /v1/sources/{id}", s.getSource, codeNoSource)
	own("DELETE /v1/sources/{id}", s.deleteSource, codeNoSource)
	own("GET /v1/sources/{id}/tree", s.getTree, codeNoSource)
	own("GET /v1/sources/{id}/media", s.getMedia, codeNoContent)
	own("GET /v1/sources/{id}/frames/{file}", s.getFrameAt, codeNoFrame)
	own("GET /v1/sources/{id}/rendition", s.getRendition, codeNoContent)
	own("GET /v1/sources/{id}/rendition.mp4", s.getRenditionFile, codeNoRendition)
	own("GET /v1/sources/{id}/peaks.json", s.getPeaks, codeNoContent)
	own("GET /v1/sources/{id}/sprites.vtt", s.getSprites, codeNoSource)
	own("GET /v1/sources/{id}/sprites/{file}", s.getSheet, codeNoFrame)
	own("GET /v1/sources/{id}/export", s.getExport, codeNoSource)
	own("GET /v1/sources/{id}/captions.vtt", s.exported("vtt"), codeNoSource)
	own("GET /v1/sources/{id}/chapters.vtt", s.exported("chapters.vtt"), codeNoSource)
	own("POST /v1/import", s.postImport, codeNoSource)
	own("POST /v1/quotes", s.postQuote, codeNoSource)
	own("GET /v1/frames/{file}", s.getFrame, codeNoFrame)
	own("GET /v1/jobs", s.getJobs, codeNoJob)
	own("GET /v1/jobs/{id}", s.getJob, codeNoJob)
	own("DELETE /v1/jobs/{id}", s.deleteJob, codeNoJob)
	own("POST /v1/jobs/{id}", s.postJob, codeNoJob)
	own("GET /v1/search", s.getSearch, codeNoSource)
	own("POST /v1/answers", s.postAnswer, codeNoStream)
	own("GET /v1/answers", s.getAnswers, codeNoStream)
	own("GET /v1/answers/{stream}", s.getAnswer, codeNoStream)
	own("GET /v1/answers/{stream}/export", s.getAnswerExport, codeNoStream)
	return mux
}

func (s *Server) getHealth(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (s *Server) getReady(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Ready != nil {
		if err := s.cfg.Ready(r.Context()); err != nil {
			fail(w, &Error{Code: codeStopping, Message: err.Error(), Retry: true, status: http.StatusServiceUnavailable})
			return
		}
	}
	reply(w, http.StatusOK, map[string]string{"status": "ready"})
}

func (s *Server) getPage(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Page == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		fail(w, newError(codeNoRoute, "%s %.200s is not an address of this service", r.Method, r.URL.Path))
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	if strings.HasPrefix(r.URL.Path, "/assets/") { // their names hold a hash of their content
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.FileServerFS(s.cfg.Page).ServeHTTP(w, r)
}

// Close takes no new work and lets running answers end for CloseGrace, or half
// of the time ctx gives if that is less. Then it tells every socket that the
// service goes away, stops the answers that are left, and waits for everything,
// or until ctx ends.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return nil
	}
	s.closing = true
	s.mu.Unlock()
	grace := s.cfg.CloseGrace
	if end, limited := ctx.Deadline(); limited {
		grace = min(grace, time.Until(end)/2)
	}
	patience, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	_ = waitUntil(patience, s.answers.Wait) // what goes on is stopped now
	close(s.going)
	s.stop()
	return waitUntil(ctx, func() {
		s.answers.Wait()
		s.sockets.Wait()
		s.sweeper.Wait()
	})
}

// waitUntil waits until wait returns or ctx ends; then wait goes on by itself.
func waitUntil(ctx context.Context, wait func()) error {
	done := make(chan struct{})
	go func() {
		wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
