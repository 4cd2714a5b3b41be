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
	waiting []*turn
}

type turn struct {
	ready chan struct{}
	tell  func(position int)
	told  int
}

// join takes a free place or stands at the end of the line, in the order of the
// calls. tell gets the position (from 1) when there is no free place at once, and
// when it has changed much; it must not block. A joined turn must be waited for.
func (p *places) join(tell func(position int)) *turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &turn{ready: make(chan struct{}), tell: tell}
	if p.free > 0 && len(p.waiting) == 0 {
		p.free--
		close(t.ready)
		return t
	}
	p.waiting = append(p.waiting, t)
	t.say(len(p.waiting))
	return t
}

// wait reports whether the turn came, and its holder must then release it; false
// means that ctx ended first.
func (p *places) wait(ctx context.Context, t *turn) bool {
	select {
	case <-t.ready:
		return true
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.waiting, t); i >= 0 {
		p.remove(i)
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
	close(p.waiting[0].ready)
	p.remove(0)
}

// remove takes one out of the line and tells those behind.
func (p *places) remove(i int) {
	p.waiting = slices.Delete(p.waiting, i, i+1)
	for k := i; k < len(p.waiting); k++ {
		p.waiting[k].say(k + 1)
	}
}

// say tells the first position, the last three, and in between whenever it has
// fallen by a quarter: a long line is not told every step, which would cost its
// length squared.
func (t *turn) say(position int) {
	if t.told == 0 || position < t.told && (position <= 3 || position*4 <= t.told*3) {
		t.told = position
		t.tell(position)
	}
}
