package model

import (
	"context"
	"fmt"
	"sync"
)

// Budget caps the model calls of one job or answer. Every try is counted
// before it is made, retries and fallbacks too, so a cap is never passed. Safe
// for concurrent use.
type Budget struct {
	mu       sync.Mutex
	limit    Limits
	spent    Spent
	reserved int           // tokens of running calls
	running  int           // calls that hold a reservation
	settled  chan struct{} // closed and replaced whenever a call settles
}

// Limits are the caps of a Budget; 0 = no cap.
type Limits struct {
	Calls  int
	Tokens int // in and out together
}

// Spent is what a Budget has paid for.
type Spent struct {
	Calls     int // every try: first ones, retries, fallbacks
	Retries   int // tries after a failure
	Fallbacks int // tries in another dialect of the endpoint
	TokensIn  int // as the endpoint reports them, else estimated
	TokensOut int
	Images    int
}

// Tokens is the sum of both directions.
func (s Spent) Tokens() int { return s.TokensIn + s.TokensOut }

// NewBudget starts a budget; spent is what an earlier run of the same job has
// already paid.
func NewBudget(limit Limits, spent Spent) *Budget {
	return &Budget{limit: limit, spent: spent, settled: make(chan struct{})}
}

// Spent is the count so far.
func (b *Budget) Spent() Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

type budgetKey struct{}

// WithBudget makes every call under ctx count against b.
func WithBudget(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

func budgetOf(ctx context.Context) *Budget {
	b, _ := ctx.Value(budgetKey{}).(*Budget)
	return b
}

// try is one attempt as the budget counts it.
type try struct {
	tokens   int // most the call may cost: estimated input and the cap of the output
	images   int
	retry    bool
	fallback bool
}

// take reserves one try. While running calls hold so many tokens that this one
// does not fit, it waits for them to settle: what they really cost decides, not
// how many happened to run at once. The returned function settles the call.
func (b *Budget) take(ctx context.Context, t try) (func(in, out int), error) {
	if b == nil {
		return func(int, int) {}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		if b.limit.Calls > 0 && b.spent.Calls >= b.limit.Calls {
			return nil, fmt.Errorf("%w: %d calls", ErrBudget, b.limit.Calls)
		}
		if b.limit.Tokens == 0 || b.spent.Tokens()+b.reserved+t.tokens <= b.limit.Tokens {
			break
		}
		if b.running == 0 {
			return nil, fmt.Errorf("%w: %d of %d tokens, and the call may cost %d",
				ErrBudget, b.spent.Tokens(), b.limit.Tokens, t.tokens)
		}
		if err := b.wait(ctx); err != nil {
			return nil, err
		}
	}
	b.count(t)
	return func(in, out int) { b.settle(t, in, out) }, nil
}

// wait gives the lock away until a call settles.
func (b *Budget) wait(ctx context.Context) error {
	settled := b.settled
	b.mu.Unlock()
	defer b.mu.Lock()
	select {
	case <-settled:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *Budget) count(t try) {
	b.spent.Calls++
	b.spent.Images += t.images
	if t.retry {
		b.spent.Retries++
	}
	if t.fallback {
		b.spent.Fallbacks++
	}
	b.reserved += t.tokens
	b.running++
}

func (b *Budget) settle(t try, in, out int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent.TokensIn += in
	b.spent.TokensOut += out
	b.reserved -= t.tokens
	b.running--
	close(b.settled)
	b.settled = make(chan struct{})
}
