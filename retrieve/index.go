package retrieve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/reeltree/reeltree/tree"
)

// Entry is one L1 or L2 node as the indexes see it. Tenant, collections,
// source and kind are part of the index, not of the caller's good will.
type Entry struct {
	Tenant      string
	Source      string
	Collections []string
	Kind        tree.Kind
	Node        string
	Text        string    // keyword side
	Vector      []float32 // vector side, unit length; may be nil
}

// Hit is one found node, best first, equal scores by node id.
type Hit struct {
	Source string
	Node   string
	Score  float64
}

// Index is one side of the entry stage. Implementations are safe for
// concurrent use; readers may run while one writer writes.
type Index interface {
	// Add puts entries in; a node that is there already is replaced.
	Add(ctx context.Context, entries []Entry) error
	// Remove takes a source out; afterwards none of its nodes is ever found.
	Remove(ctx context.Context, tenant, source string) error
	// Search gives at most k hits within the scope.
	Search(ctx context.Context, p Probe, k int, s Scope) ([]Hit, error)
	Close() error
}

// Probe is what is searched for; a keyword index reads Text, a vector index Vector.
type Probe struct {
	Text   string
	Vector []float32
}

var (
	errNoTenant  = errors.New("a search needs a tenant")
	errBadVector = errors.New("a vector must be finite and of the index's dimension")
)

// admits reports whether an entry lies in the scope (spans are looked at later).
func (s Scope) admits(e *Entry) bool {
	return e.Tenant == s.Tenant &&
		(len(s.Sources) == 0 || slices.Contains(s.Sources, e.Source)) &&
		(s.Collection == "" || slices.Contains(e.Collections, s.Collection)) &&
		(len(s.Kinds) == 0 || slices.Contains(s.Kinds, e.Kind))
}

func sortHits(hits []Hit, k int) []Hit {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Node, b.Node))
	})
	return hits[:min(k, len(hits))]
}

func checkVector(v []float32, dim int) error {
	if len(v) != dim {
		return fmt.Errorf("%w: %d values instead of %d", errBadVector, len(v), dim)
	}
	for _, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return errBadVector
		}
	}
	return nil
}

func dot(a, b []float32) float64 {
	var s0, s1, s2, s3 float32
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	i := 0
	for ; i+4 <= n; i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < n; i++ {
		s0 += a[i] * b[i]
	}
	return float64(s0 + s1 + s2 + s3)
}
