package server

import (
	"context"
	"slices"
	"sync"
)

// places lets a fixed number of answers run; the others wait in order and are
// told their position.
type places struct {
	mu      sync.Mutex
	free    int
	waiting []chan struct{}
}

// acquire waits for a place; false means that ctx ended first. tell gets the
// position (from 1) when there is no free place at once.
func (p *places) acquire(ctx context.Context, tell func(position int)) bool {
	p.mu.Lock()
	if p.free > 0 && len(p.waiting) == 0 {
		p.free--
		p.mu.Unlock()
		return true
	}
	turn := make(chan struct{})
	p.waiting = append(p.waiting, turn)
	position := len(p.waiting)
	p.mu.Unlock()
	tell(position)
	select {
	case <-turn:
		return true
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.waiting, turn); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
		return false
	}
	p.pass() // the place came together with the end: hand it on
	return false
}

func (p *places) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pass()
}

// pass gives a place to the first who waits; the caller holds the lock.
func (p *places) pass() {
	if len(p.waiting) == 0 {
		p.free++
		return
	}
	close(p.waiting[0])
	p.waiting = p.waiting[1:]
}
