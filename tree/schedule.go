package tree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// run starts calls while there is something to start and room for it, and
// takes their results until none is left. Everything ready is started before a
// finished clip is handed over, so storing it never leaves calls idle.
func (b *build) run(ctx context.Context) {
	for b.start(ctx); b.running > 0; {
		o := <-b.results
		b.running--
		b.spent = b.spent.Add(o.calls)
		done := b.take(o)
		b.start(ctx)
		if done && b.opt.OnClip != nil {
			b.handOver(ctx, o.clip)
		}
	}
}

func (b *build) handOver(ctx context.Context, clip int) {
	c := &b.clips[clip]
	if err := b.opt.OnClip(context.WithoutCancel(ctx), c.node); err != nil {
		c.err = fmt.Errorf("cannot keep the clip: %w", err)
		b.stopped = true
	}
}

// start fills the free places: the L1 first, since it is alone; then leaves,
// since they finish a clip; then the next clip.
func (b *build) start(ctx context.Context) {
	for b.running < b.opt.Concurrency && !b.stopped && ctx.Err() == nil {
		call := b.ready()
		if call == nil {
			return
		}
		b.running++
		go func() { b.results <- call(ctx) }()
	}
}

// ready is the next call that may start, or nil.
func (b *build) ready() func(context.Context) outcome {
	if b.l2Open == 0 && b.root.Text == "" && !b.l1Asked && !b.failed() {
		b.l1Asked = true
		return b.callL1()
	}
	if len(b.l3) > 0 {
		i := b.l3[0]
		b.l3 = b.l3[1:]
		return b.callL3(i)
	}
	for b.next < len(b.clips) {
		i := b.next
		b.next++
		if b.clips[i].node.Text == "" {
			return b.callL2(i)
		}
	}
	return nil
}

// failed reports whether a clip has failed: then no L1 is paid for, since it
// would be thrown away.
func (b *build) failed() bool {
	return slices.ContainsFunc(b.clips, func(c clipState) bool { return c.err != nil })
}

func (b *build) callL2(i int) func(context.Context) outcome {
	req := ClipRequest{Source: b.m.Source, Clip: b.m.Clips[i], Chapter: b.m.Title, Context: b.m.Context}
	if i > 0 {
		req.Prev = tail(b.m.Clips[i-1], prevWords)
	}
	return func(ctx context.Context) outcome {
		text, calls, err := b.d.L2(ctx, req)
		return outcome{level: L2, clip: i, text: text, calls: calls, err: err}
	}
}

func (b *build) callL3(i int) func(context.Context) outcome {
	req := LeafRequest{Source: b.m.Source, L2: b.clips[i].node.Text, Clip: b.m.Clips[i]}
	return func(ctx context.Context) outcome {
		texts, calls, err := b.d.L3(ctx, req)
		if err == nil && len(texts) != len(req.Clip.Leaves) {
			err = fmt.Errorf("the describer gave %d texts for %d moments", len(texts), len(req.Clip.Leaves))
		}
		return outcome{level: L3, clip: i, texts: texts, calls: calls, err: err}
	}
}

func (b *build) callL1() func(context.Context) outcome {
	req := StretchRequest{Source: b.m.Source, Title: b.m.Title, Span: b.m.Span}
	for _, c := range b.clips {
		req.L2 = append(req.L2, c.node.Text)
	}
	return func(ctx context.Context) outcome {
		text, calls, err := b.d.L1(ctx, req)
		return outcome{level: L1, text: text, calls: calls, err: err}
	}
}

// errNoText is a describer's breach of its contract.
var errNoText = errors.New("the describer gave an empty text")

// take puts a result into its place and reports whether a clip is finished.
func (b *build) take(o outcome) bool {
	if o.level == L1 {
		b.root.Calls = o.calls
		if b.root.Text = tidy(o.text); o.err == nil && b.root.Text == "" {
			o.err = errNoText
		}
		b.rootErr = o.err
		return false
	}
	c := &b.clips[o.clip]
	c.node.Calls = c.node.Calls.Add(o.calls)
	if c.err = o.err; c.err != nil {
		return false
	}
	if o.level == L2 {
		if c.node.Text = tidy(o.text); c.node.Text == "" {
			c.err = errNoText
			return false
		}
		b.l2Open--
		b.l3 = append(b.l3, o.clip)
		return false
	}
	for k, leaf := range c.node.Children {
		if leaf.Text = tidy(o.texts[k]); leaf.Text == "" {
			c.err = errNoText
		}
	}
	if c.err != nil {
		return false
	}
	b.open--
	return true
}

// tidy makes a describer's text fit to be stored: valid UTF-8, no NUL, no
// blanks around it.
func tidy(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.TrimSpace(strings.ReplaceAll(s, "\x00", ""))
}

// prevWords is how much of the clip before a clip's describer gets to see.
const prevWords = 40

// fit clamps media spans into their parents, so a cue that runs past its clip
// or a last frame past the end never makes a tree that contradicts itself.
func fit(m Material) Material {
	clips := make([]Clip, len(m.Clips))
	for i, c := range m.Clips {
		c.Span = clamp(c.Span, m.Span)
		leaves := make([]Leaf, len(c.Leaves))
		for k, l := range c.Leaves {
			l.Span = clamp(l.Span, c.Span)
			leaves[k] = l
		}
		c.Leaves = leaves
		clips[i] = c
	}
	m.Clips = clips
	return m
}

// clamp cuts s to what lies inside outer; both must be media spans.
func clamp(s, outer Span) Span {
	if s.Unit != UnitMS || outer.Unit != UnitMS {
		return s
	}
	s.StartMS = min(max(s.StartMS, outer.StartMS), outer.EndMS)
	s.EndMS = min(max(s.EndMS, s.StartMS), outer.EndMS)
	return s
}
