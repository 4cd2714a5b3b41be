package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// client is what the three kinds of calls share: slots, retries, deadlines,
// budget, and the translation of failures.
type client struct {
	op    string
	cfg   Config
	host  string
	api   *openai.Client
	http  *http.Client
	slots chan struct{}

	mu        sync.Mutex
	notBefore time.Time // all calls wait until then: what the last Retry-After asked for

	now    func() time.Time                                 // set by tests
	wait   func(ctx context.Context, d time.Duration) error // set by tests
	jitter func() float64                                   // 0..1, set by tests
}

func newClient(op string, c Config) (*client, error) {
	op = cmp.Or(c.Role, op)
	c, host, err := c.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("%s model: %w", op, err)
	}
	doer := &http.Client{
		Transport: newTransport(c),
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the key goes to the configured address only
		},
	}
	oc := openai.DefaultConfig("") // the key stays in the transport
	oc.BaseURL, oc.HTTPClient, oc.EmptyMessagesLimit = c.URL, doer, 1<<30
	return &client{
		op: op, cfg: c, host: host, api: openai.NewClientWithConfig(oc), http: doer,
		slots: make(chan struct{}, c.Concurrency),
		now:   time.Now, wait: pause, jitter: rand.Float64,
	}, nil
}

// Close drops idle connections; running calls go on.
func (c *client) Close() { c.http.CloseIdleConnections() }

// Model is the configured name.
func (c *client) Model() string { return c.cfg.Model }

// usage is what one try cost.
type usage struct{ in, out int }

// call is one request as do repeats it.
type call struct {
	want wanted
	cost try
	// once makes one try. It must start the watch for what it waits for.
	once func(ctx context.Context, ex *exchange, w *watch) (usage, error)
	// adapt changes the request after a failure that another dialect of the
	// endpoint avoids; false when there is nothing to change. May be nil.
	adapt func(*Error) bool
	// final reports that a further try would repeat what the caller has
	// already been given. May be nil.
	final func() bool
}

// do runs a call in a slot, under the total deadline, until it succeeds or a
// further try makes no sense.
func (c *client) do(ctx context.Context, job call) error {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.Total, &deadline{"in all", c.cfg.Total})
	defer cancel()
	for tries := 0; ; {
		failure := c.attempt(ctx, job)
		if failure == nil {
			return nil
		}
		var e *Error
		if !errors.As(failure, &e) || (job.final != nil && job.final()) {
			return failure
		}
		if job.adapt != nil && job.adapt(e) {
			job.cost.fallback, job.cost.retry = true, false
			continue
		}
		if !e.temporary() || tries == c.cfg.Retries {
			return failure
		}
		if !c.backOff(ctx, e, tries) {
			return failure
		}
		tries++
		job.cost.retry, job.cost.fallback = true, false
	}
}

// attempt makes one try and names its failure.
func (c *client) attempt(ctx context.Context, job call) error {
	if err := c.untilAllowed(ctx); err != nil {
		return c.name(ctx, ctx, &exchange{}, err)
	}
	settle, err := budgetOf(ctx).take(ctx, job.cost)
	if err != nil {
		return c.name(ctx, ctx, &exchange{}, err)
	}
	ex := &exchange{want: job.want}
	once, w := newWatch(withExchange(ctx, ex))
	defer w.stop()
	spent, err := job.once(once, ex, w)
	settle(spent.in, spent.out)
	if err == nil {
		return nil
	}
	err = c.name(ctx, once, ex, err)
	c.cfg.Log.DebugContext(ctx, "model call failed", "op", c.op, "model", c.cfg.Model, "endpoint", c.host, "error", err)
	return err
}

// backOff waits before the next try: as long as the endpoint asked, else twice
// as long each time with jitter. It says false when that would pass the
// deadline, and when ctx ends.
func (c *client) backOff(ctx context.Context, e *Error, tries int) bool {
	d := e.RetryAfter
	if d == 0 {
		d = min(c.cfg.Backoff<<tries, 20*time.Second)
		d = d/2 + time.Duration(c.jitter()*float64(d/2))
	}
	if end, ok := ctx.Deadline(); ok && c.now().Add(d).After(end) {
		return false
	}
	if e.RetryAfter > 0 {
		c.mu.Lock()
		if at := c.now().Add(d); at.After(c.notBefore) {
			c.notBefore = at
		}
		c.mu.Unlock()
		return true // the next attempt waits with everybody else
	}
	return c.wait(ctx, d) == nil
}

// untilAllowed waits out the last Retry-After.
func (c *client) untilAllowed(ctx context.Context) error {
	c.mu.Lock()
	d := c.notBefore.Sub(c.now())
	c.mu.Unlock()
	if d <= 0 {
		return nil
	}
	return c.wait(ctx, d)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
