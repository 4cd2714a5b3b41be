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
	Level       tree.Level
	Span        tree.Span
	Title       string    // of the source; keyword side
	Text        string    // keyword side
	Vector      []float32 // vector side, unit length or zero; the index keeps it
}

// Hit is one found node, best first, equal scores by node id.
type Hit struct {
	Source string
	Node   string
	Score  float64
}

// Index is one side of the entry stage. Implementations are safe for
// concurrent use; readers may run while a writer writes and see an entry
// whole or not at all. What was deleted or removed when a search began is
// never found by it.
type Index interface {
	// Add puts entries in; a node of the same tenant and id is replaced. An
	// error leaves the index as it was.
	Add(ctx context.Context, entries []Entry) error
	// Delete takes single nodes out; unknown ones are no error.
	Delete(ctx context.Context, tenant string, nodes ...string) error
	// Remove takes a whole source out.
	Remove(ctx context.Context, tenant, source string) error
	// Search gives at most k hits within the scope.
	Search(ctx context.Context, p Probe, k int, s Scope) ([]Hit, error)
	// Len is the number of nodes that can be found.
	Len() int
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

// admits reports whether an entry lies in the scope.
func (s *Scope) admits(e *Entry) bool {
	return e.Tenant == s.Tenant &&
		(len(s.Sources) == 0 || slices.Contains(s.Sources, e.Source)) &&
		(s.Collection == "" || slices.Contains(e.Collections, s.Collection)) &&
		(len(s.Kinds) == 0 || slices.Contains(s.Kinds, e.Kind))
}

// narrows reports whether the scope leaves out sources of its tenant.
func (s *Scope) narrows() bool { return len(s.Sources) > 0 || s.Collection != "" || len(s.Kinds) > 0 }

// sortHits orders hits best first and cuts them to k.
func sortHits(hits []Hit, k int) []Hit {
	slices.SortFunc(hits, compareHits)
	return hits[:max(0, min(k, len(hits)))]
}

func compareHits(a, b Hit) int {
	if a.Score != b.Score {
		return cmp.Compare(b.Score, a.Score)
	}
	return cmp.Compare(a.Node, b.Node)
}

// indexKey names a node across tenants.
func indexKey(tenant, node string) string { return tenant + "\x00" + node }

func checkNames(entries []Entry) error {
	for i := range entries {
		if e := &entries[i]; e.Tenant == "" || e.Source == "" || e.Node == "" {
			return errors.New("an index entry needs a tenant, a source and a node")
		}
	}
	return nil
}

func checkEntries(entries []Entry, dim int) error {
	if err := checkNames(entries); err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		if e.Vector != nil {
			if err := checkVector(e.Vector, dim); err != nil {
				return fmt.Errorf("node %s: %w", e.Node, err)
			}
		}
	}
	return nil
}

func checkVector(v []float32, dim int) error {
	if len(v) != dim {
		return fmt.Errorf("%w: %d values instead of %d", errBadVector, len(v), dim)
	}
	for _, x := range v {
		if x-x != 0 || x > 1e6 || x < -1e6 { // x-x is not 0 for infinities and NaN
			return errBadVector
		}
	}
	return nil
}

// dot is the inner product of two vectors of one length.
func dot(a, b []float32) float64 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for len(a) >= 8 && len(b) >= 8 {
		s0 += a[0]*b[0] + a[4]*b[4]
		s1 += a[1]*b[1] + a[5]*b[5]
		s2 += a[2]*b[2] + a[6]*b[6]
		s3 += a[3]*b[3] + a[7]*b[7]
		a, b = a[8:], b[8:]
	}
	for i := range a {
		s0 += a[i] * b[i]
	}
	return float64((s0 + s1) + (s2 + s3))
}

func isZero(v []float32) bool {
	for _, x := range v {
		if math.Abs(float64(x)) > 0 {
			return false
		}
	}
	return true
}
