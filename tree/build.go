package tree

import (
	"context"
	"fmt"
)

// DefaultConcurrency is how many describer calls run at once where nothing
// else is asked for.
const DefaultConcurrency = 16

// BuildOptions say how BuildStretch works; the zero value is usable.
type BuildOptions struct {
	// Concurrency is the most describer calls at once; 0 means DefaultConcurrency.
	Concurrency int
	// Have gives an L2 with its leaves that was stored earlier (nil, nil when
	// there is none), or an L1 without children. What it gives and still fits
	// the material is not described again and not handed to OnClip; an L1 is
	// taken only when all its L2 were. nil means nothing is stored.
	Have func(node string) (*Node, error)
	// OnClip gets every finished clip, an L2 with its leaves, in the order of
	// completion, always from the goroutine that called BuildStretch. Its
	// context outlives a cancelled build, so a clip that was paid for is stored
	// all the same; it must not block for long. Its error ends the stretch and
	// no further call is made, since nobody would keep the result. nil means
	// nobody listens.
	OnClip func(ctx context.Context, l2 *Node) error
}

// BuildStretch describes one L1 stretch: L2 from the raw material, L3 of a
// clip as soon as its L2 text is there, L1 as soon as all L2 texts are there
// (it reads nothing else). The result does not depend on concurrency or on how
// long calls take.
//
// When a clip fails, the others are still described and handed over, so that
// nothing paid for is lost; then the error of the earliest failed clip is
// returned. A cancelled context starts no further call. Calls counts what was
// spent in this run, also on failure; Node.Calls keeps what each node has cost
// over all runs.
func BuildStretch(ctx context.Context, d Describer, m Material, opt BuildOptions) (*Node, Calls, error) {
	b := &build{d: d, m: fit(m), opt: opt, results: make(chan outcome)}
	if b.opt.Concurrency <= 0 {
		b.opt.Concurrency = DefaultConcurrency
	}
	if err := b.load(); err != nil {
		return nil, Calls{}, err
	}
	b.run(ctx)
	if err := b.err(ctx); err != nil {
		return nil, b.spent, err
	}
	for _, c := range b.clips {
		b.root.Children = append(b.root.Children, c.node)
	}
	return b.root, b.spent, nil
}

// build is the state of one stretch. Only the goroutine that runs it touches
// it; calls run in goroutines of their own and report over results.
type build struct {
	d       Describer
	m       Material
	opt     BuildOptions
	clips   []clipState
	root    *Node
	rootErr error
	results chan outcome
	running int
	next    int   // first clip whose L2 was not started
	l3      []int // clips whose L3 may start
	l2Open  int   // clips without an L2 text
	open    int   // clips that are not finished
	l1Asked bool
	stopped bool // start no further call
	spent   Calls
}

type clipState struct {
	node *Node
	err  error
}

// outcome is what one describer call gave.
type outcome struct {
	level Level
	clip  int
	text  string
	texts []string
	calls Calls
	err   error
}

// load takes over what is stored and prepares the rest.
func (b *build) load() error {
	if len(b.m.Clips) == 0 {
		return fmt.Errorf("stretch %s has no clips, so there is nothing to describe", NodeID(b.m.Source.ID, b.m.Index))
	}
	b.root = &Node{
		ID: NodeID(b.m.Source.ID, b.m.Index), Level: L1, Span: b.m.Span,
		Evidence: Evidence{Title: b.m.Title},
	}
	b.clips = make([]clipState, len(b.m.Clips))
	for i, c := range b.m.Clips {
		fresh := b.clipNode(i, c)
		have, err := b.have(fresh)
		if err != nil {
			return fmt.Errorf("cannot read stored clip %s: %w", fresh.ID, err)
		}
		if b.clips[i].node = have; have == nil {
			b.clips[i].node = fresh
			b.l2Open++
			b.open++
		}
	}
	if b.l2Open > 0 || b.opt.Have == nil {
		return nil
	}
	l1, err := b.opt.Have(b.root.ID)
	if err != nil {
		return fmt.Errorf("cannot read stored node %s: %w", b.root.ID, err)
	}
	if l1 != nil && l1.Level == L1 && l1.ID == b.root.ID && l1.Span == b.root.Span {
		b.root.Text, b.root.Embedding, b.root.Calls = l1.Text, l1.Embedding, l1.Calls
	}
	return nil
}

// have is the stored clip that can stand for want, nil when there is none: an
// old one cut elsewhere is described anew.
func (b *build) have(want *Node) (*Node, error) {
	if b.opt.Have == nil {
		return nil, nil
	}
	got, err := b.opt.Have(want.ID)
	if err != nil || got == nil {
		return nil, err
	}
	same := func(a, b *Node) bool { return a.ID == b.ID && a.Level == b.Level && a.Span == b.Span && a.Text != "" }
	if !same(got, want) || len(got.Children) != len(want.Children) {
		return nil, nil
	}
	for i, l := range got.Children {
		if !same(l, want.Children[i]) {
			return nil, nil
		}
	}
	return got, nil
}

// clipNode is clip i as nodes without texts.
func (b *build) clipNode(i int, c Clip) *Node {
	id := func(path ...int) string { return NodeID(b.m.Source.ID, append([]int{b.m.Index, i}, path...)...) }
	n := &Node{ID: id(), Level: L2, Span: c.Span, Evidence: Evidence{Title: c.Title}}
	for k, l := range c.Leaves {
		n.Children = append(n.Children, &Node{ID: id(k), Level: L3, Span: l.Span, Evidence: l.Evidence})
	}
	return n
}

// err is the error of the earliest failed clip, else of the L1, else of the
// context when it kept clips from being started.
func (b *build) err(ctx context.Context) error {
	for _, c := range b.clips {
		if c.err != nil {
			return fmt.Errorf("cannot build %s: %w", c.node.ID, c.err)
		}
	}
	if b.rootErr != nil {
		return fmt.Errorf("cannot build %s: %w", b.root.ID, b.rootErr)
	}
	if b.open > 0 || b.root.Text == "" {
		return fmt.Errorf("cannot build %s: %w", b.root.ID, context.Cause(ctx))
	}
	return nil
}
