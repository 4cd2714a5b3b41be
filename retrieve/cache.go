package retrieve

import (
	"container/list"
	"context"
	"sync"
)

// viewCache keeps the most recently used views within a number of bytes. A
// view that was dropped while it was being made is used once and not kept;
// questions that need the same view at once make it once.
type viewCache struct {
	mu      sync.Mutex
	most    int
	bytes   int
	order   *list.List // of *cachedView, most recent first
	entries map[string]*list.Element
	version map[string]int // of sources that were dropped, bumped by drop
	making  map[string]*making
}

type cachedView struct {
	key  string
	view *view
}

// making is one view under way; done is closed when it ended.
type making struct {
	done chan struct{}
	view *view
	err  error
}

func newViewCache(bytes int) *viewCache {
	return &viewCache{
		most: bytes, order: list.New(), entries: map[string]*list.Element{},
		version: map[string]int{}, making: map[string]*making{},
	}
}

func (c *viewCache) get(ctx context.Context, tenant, source string, load func(context.Context) (*view, error)) (*view, error) {
	key := tenant + "\x00" + source
	for {
		v, m, mine, version := c.lookup(key)
		if v != nil {
			return v, nil
		}
		if mine {
			return c.make(ctx, key, m, version, load)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-m.done:
		}
		if m.err == nil {
			return m.view, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		// The maker failed, perhaps only because its caller went away: try again.
	}
}

// make loads a view for itself and for those who wait.
func (c *viewCache) make(ctx context.Context, key string, m *making, version int, load func(context.Context) (*view, error)) (*view, error) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.making[key] == m {
			delete(c.making, key)
		}
		close(m.done)
	}()
	m.err = context.Canceled // stands if load panics
	m.view, m.err = load(ctx)
	if m.err == nil {
		c.keep(key, m.view, version)
	}
	return m.view, m.err
}

func (c *viewCache) lookup(key string) (v *view, m *making, mine bool, version int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[key]; ok {
		c.order.MoveToFront(e)
		return e.Value.(*cachedView).view, nil, false, 0
	}
	if m := c.making[key]; m != nil {
		return nil, m, false, 0
	}
	m = &making{done: make(chan struct{})}
	c.making[key] = m
	return nil, m, true, c.version[key]
}

func (c *viewCache) keep(key string, v *view, version int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version[key] != version || c.entries[key] != nil {
		return
	}
	c.entries[key] = c.order.PushFront(&cachedView{key, v})
	c.bytes += v.bytes
	for c.bytes > c.most && c.order.Len() > 1 {
		c.evict(c.order.Back())
	}
}

func (c *viewCache) evict(e *list.Element) {
	v := e.Value.(*cachedView)
	delete(c.entries, v.key)
	c.order.Remove(e)
	c.bytes -= v.view.bytes
}

// drop forgets a source; a view of it that is being made is not kept, and who
// asks from now on gets a new one.
func (c *viewCache) drop(tenant, source string) {
	key := tenant + "\x00" + source
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version[key]++
	delete(c.making, key)
	if e, ok := c.entries[key]; ok {
		c.evict(e)
	}
}
