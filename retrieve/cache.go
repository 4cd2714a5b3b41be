package retrieve

import (
	"container/list"
	"context"
	"sync"
)

// viewCache keeps the most recently used views. A view that was dropped while
// it was being loaded is used once and not kept.
type viewCache struct {
	mu      sync.Mutex
	most    int
	order   *list.List // of *cachedView, most recent first
	entries map[string]*list.Element
	version map[string]int // bumped by drop
}

type cachedView struct {
	key  string
	view *view
}

func newViewCache(most int) *viewCache {
	return &viewCache{most: most, order: list.New(), entries: map[string]*list.Element{}, version: map[string]int{}}
}

func (c *viewCache) get(ctx context.Context, tenant, source string, load func(context.Context) (*view, error)) (*view, error) {
	key := tenant + "\x00" + source
	v, version := c.lookup(key)
	if v != nil {
		return v, nil
	}
	v, err := load(ctx)
	if err != nil {
		return nil, err
	}
	c.keep(key, v, version)
	return v, nil
}

func (c *viewCache) lookup(key string) (*view, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[key]; ok {
		c.order.MoveToFront(e)
		return e.Value.(*cachedView).view, 0
	}
	return nil, c.version[key]
}

func (c *viewCache) keep(key string, v *view, version int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version[key] != version || c.entries[key] != nil {
		return
	}
	c.entries[key] = c.order.PushFront(&cachedView{key, v})
	for c.order.Len() > c.most {
		last := c.order.Back()
		delete(c.entries, last.Value.(*cachedView).key)
		c.order.Remove(last)
	}
}

func (c *viewCache) drop(tenant, source string) {
	key := tenant + "\x00" + source
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version[key]++
	if e, ok := c.entries[key]; ok {
		c.order.Remove(e)
		delete(c.entries, key)
	}
}
