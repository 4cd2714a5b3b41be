package ingest

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/reeltree/reeltree/tree"
)

// stretch describes one stretch and, if it is the last one, finishes the job.
func (w *Worker) stretch(ctx context.Context, job tree.Job, index int, l *live) error {
	p, err := w.loadPlan(ctx, job)
	if err != nil {
		return err
	}
	l.size(p.weight(), p.From)
	l.chargePlan(p)
	if err := w.recall(ctx, job, l); err != nil {
		return err
	}
	if !slices.Contains(job.Finished, index) {
		w.report(job, l.progress("describe", w.now())) // sampling may take long before the first clip
		if err := w.buildStretch(ctx, job, p, index, l); err != nil {
			return err
		}
		if job, err = w.changeJob(ctx, job, func(j *tree.Job) { j.Finished = insert(j.Finished, index) }); err != nil {
			return err
		}
	}
	if allFinished(job) && !job.State.Ended() {
		return w.finish(context.WithoutCancel(ctx), job, p)
	}
	return nil
}

// insert adds a number to an ascending list once.
func insert(sorted []int, n int) []int {
	i, found := slices.BinarySearch(sorted, n)
	if found {
		return sorted
	}
	return slices.Insert(sorted, i, n)
}

// recall counts the stretches that were finished before this process began.
func (w *Worker) recall(ctx context.Context, job tree.Job, l *live) error {
	for _, i := range job.Finished {
		l.mu.Lock()
		known := l.seen[tree.NodeID(job.Source, i)]
		l.seen[tree.NodeID(job.Source, i)] = true
		l.mu.Unlock()
		if known {
			continue
		}
		root, err := w.collect(ctx, job, i)
		if err != nil {
			return err
		}
		for _, c := range root.Children {
			l.add(c, false)
		}
		l.charge(root.Calls)
	}
	return nil
}

// buildStretch makes the material and describes it, storing every finished clip.
func (w *Worker) buildStretch(ctx context.Context, job tree.Job, p *jobPlan, index int, l *live) error {
	m, err := w.material(ctx, p, index, job.Options)
	if err != nil {
		return err
	}
	src, err := w.Catalog.Source(ctx, job.Tenant, job.Source)
	if err != nil {
		return fmt.Errorf("cannot read the source: %w", err)
	}
	k := keeper{w: w, job: job, src: src, m: m, live: l, stale: p.Stale}
	g := w.gate(job, l)
	defer g.close()
	ctx = l.metered(ctx, w, job.Options)
	root, _, err := tree.BuildStretch(ctx, g, m, tree.BuildOptions{
		Concurrency: w.Settings.Concurrency,
		Have:        func(node string) (*tree.Node, error) { return k.have(ctx, node) },
		OnClip:      k.keep,
	})
	if err != nil {
		return err
	}
	alone := *root
	alone.Children = nil
	if err := w.Results.SaveClip(ctx, job.Tenant, &alone); err != nil {
		return fmt.Errorf("cannot store %s: %w", root.ID, err)
	}
	if w.Index != nil {
		if err := w.Index(ctx, src, []*tree.Node{root}); err != nil {
			return fmt.Errorf("cannot index %s: %w", root.ID, err)
		}
	}
	l.mu.Lock()
	l.seen[root.ID] = true
	l.mu.Unlock()
	w.report(job, l.progress("describe", w.now()))
	return nil
}

func (w *Worker) material(ctx context.Context, p *jobPlan, index int, opt tree.IngestOptions) (tree.Material, error) {
	if p.Kind == tree.KindDocument && p.Document != formatSubtitles {
		return w.documentMaterial(ctx, p, index)
	}
	return w.mediaMaterial(ctx, p, index, opt)
}

// keeper stores the clips of one stretch as they are finished and finds again
// what is stored.
type keeper struct {
	w     *Worker
	job   tree.Job
	src   tree.Source
	m     tree.Material
	live  *live
	stale bool
}

// have is a stored clip that was made from the same material. It is indexed
// again, since a crash may have come between storing and indexing.
func (k *keeper) have(ctx context.Context, node string) (*tree.Node, error) {
	_, path, err := tree.ParseNodeID(node)
	if err != nil || k.stale {
		return nil, err
	}
	n, err := k.w.Results.Clip(ctx, k.job.Tenant, node)
	if err != nil || n == nil || len(path) != 2 {
		return n, err
	}
	if path[1] >= len(k.m.Clips) || !sameMaterial(n, k.m.Clips[path[1]]) {
		return nil, nil
	}
	if k.w.Index != nil {
		if err := k.w.Index(ctx, k.src, []*tree.Node{n}); err != nil {
			return nil, fmt.Errorf("cannot index %s: %w", node, err)
		}
	}
	k.live.add(n, false)
	k.w.report(k.job, k.live.progress("describe", k.w.now()))
	return n, nil
}

// sameMaterial reports whether a stored clip shows and says what the clip does.
func sameMaterial(n *tree.Node, c tree.Clip) bool {
	if len(n.Children) != len(c.Leaves) || n.Evidence.Title != c.Title {
		return false
	}
	for i, l := range c.Leaves {
		had, want := n.Children[i].Evidence, l.Evidence
		if frameID(had.Frame) != frameID(want.Frame) {
			return false
		}
		if had.Frame, want.Frame = nil, nil; !reflect.DeepEqual(had, want) {
			return false
		}
	}
	return true
}

func frameID(f *tree.FrameRef) string {
	if f == nil {
		return ""
	}
	return f.ID
}

// keep stores a finished clip: its frames, then itself, then the index.
func (k *keeper) keep(ctx context.Context, n *tree.Node) error {
	_, path, err := tree.ParseNodeID(n.ID)
	if err != nil {
		return err
	}
	if err := k.keepFrames(ctx, n, k.m.Clips[path[1]]); err != nil {
		return err
	}
	if err := k.w.Results.SaveClip(ctx, k.job.Tenant, n); err != nil {
		return fmt.Errorf("cannot store %s: %w", n.ID, err)
	}
	if k.w.Index != nil {
		if err := k.w.Index(ctx, k.src, []*tree.Node{n}); err != nil {
			return fmt.Errorf("cannot index %s: %w", n.ID, err)
		}
	}
	k.live.add(n, true)
	k.w.report(k.job, k.live.progress("describe", k.w.now()))
	return nil
}

// keepFrames stores the pictures of a clip as one blob and notes where each lies.
func (k *keeper) keepFrames(ctx context.Context, n *tree.Node, c tree.Clip) error {
	var pictures []Picture
	var leaves []*tree.Node
	for i, l := range c.Leaves {
		if f := l.Evidence.Frame; f != nil && len(l.JPEG) > 0 {
			pictures = append(pictures, Picture{JPEG: l.JPEG, TimeMS: f.TimeMS, Width: f.Width, Height: f.Height})
			leaves = append(leaves, n.Children[i])
		}
	}
	if len(pictures) == 0 {
		return nil
	}
	refs, err := k.w.Files.SaveFrames(ctx, k.job.Tenant, n.ID, pictures)
	if err != nil {
		return fmt.Errorf("cannot store the frames of %s: %w", n.ID, err)
	}
	if len(refs) != len(leaves) {
		return fmt.Errorf("%d frames of %s were stored instead of %d", len(refs), n.ID, len(leaves))
	}
	for i, leaf := range leaves {
		leaf.Evidence.Frame = &refs[i]
	}
	return nil
}
