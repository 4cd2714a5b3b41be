package eval

import (
	"context"
	"fmt"
	"io"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// Config is what a run needs of the other rooms. Embed, Embedder and Dim must
// be set, Cut for tasks of recordings, Answer for answers.
type Config struct {
	Embed    retrieve.Embed
	Embedder string // name of the vectors
	Dim      int
	Vectors  func(dim int) retrieve.Index // nil: retrieve's default
	Rounds   int                          // 0: retrieve's default
	Cut      Cut
	Answer   NewAnswer

	entry, branch int // retrieve.Config's EntryNodes and Branch
}

// Cut cuts the cues of a recording, in time order, into the material of its
// stretches as an ingest would.
type Cut func(src tree.Source, cues []tree.Cue) []tree.Material

// library holds the trees of a task by source id.
type library struct {
	trees map[string]*tree.Tree
	order []string
}

// sourceID is a valid source id for a name of the data.
func sourceID(name string) string {
	h := tree.NewIDHash(tree.DefaultTenant)
	_, _ = io.WriteString(h, name) // a hash never fails to write
	return h.ID()
}

// grow builds the tree of one source and puts it in.
func (l *library) grow(ctx context.Context, d tree.Describer, models map[string]string, src tree.Source, stretches ...tree.Material) error {
	t := &tree.Tree{Source: src, Models: models}
	for _, m := range stretches {
		root, _, err := tree.BuildStretch(ctx, d, m, tree.BuildOptions{Concurrency: 1})
		if err != nil {
			return fmt.Errorf("the tree of %q cannot be built: %w", src.Title, err)
		}
		t.Roots = append(t.Roots, root)
	}
	if l.trees == nil {
		l.trees = map[string]*tree.Tree{}
	}
	if l.trees[src.ID] == nil {
		l.order = append(l.order, src.ID)
	}
	l.trees[src.ID] = t
	return nil
}

// open makes an engine over all trees with some stages switched off; nil weights
// are those the product has.
func (l *library) open(ctx context.Context, c Config, off retrieve.Switches, w *retrieve.Weights) (*retrieve.Engine, error) {
	rc := retrieve.Config{
		Embed: c.Embed, EmbedderName: c.Embedder, Dim: c.Dim, Trees: l.tree,
		Rounds: c.Rounds, EntryNodes: c.entry, Branch: c.branch, Switches: off, Weights: w, CacheBytes: cacheBytes,
	}
	if c.Vectors != nil {
		rc.Vectors = c.Vectors(c.Dim)
	}
	e, err := retrieve.Open(rc)
	if err != nil {
		return nil, err
	}
	for _, id := range l.order {
		if err := e.AddTree(ctx, l.trees[id]); err != nil {
			_ = e.Close() // the first error says more
			return nil, err
		}
	}
	return e, nil
}

// cacheBytes lets every tree of a task stay ready.
const cacheBytes = 2 << 30

// tree implements retrieve.Trees.
func (l *library) tree(_ context.Context, _, source string) (*tree.Tree, error) {
	t := l.trees[source]
	if t == nil {
		return nil, fmt.Errorf("source %s is not part of the task", source)
	}
	return t, nil
}

// node is a node of any tree by its id, nil where there is none.
func (l *library) node(id string) *tree.Node {
	source, path, err := tree.ParseNodeID(id)
	if err != nil || l.trees[source] == nil {
		return nil
	}
	return l.trees[source].Find(path)
}
