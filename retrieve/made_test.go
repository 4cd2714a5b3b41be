package retrieve

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// testEmbed hashes terms into 64 dimensions: enough to tell texts apart.
func testEmbed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		v := make([]float32, 64)
		scan(text, func(t term) {
			if !t.stop && (t.kind != kindGroup || !t.latin) {
				v[t.key%64]++
			}
		})
		if n := math.Sqrt(dot(v, v)); n > 0 {
			for d := range v {
				v[d] = float32(float64(v[d]) / n)
			}
		}
		out[i] = v
	}
	return out, nil
}

// shelf is a library of made trees.
type shelf map[string]*tree.Tree

func (s shelf) trees(_ context.Context, tenant, source string) (*tree.Tree, error) {
	t, ok := s[tenant+"/"+source]
	if !ok {
		return nil, errors.New("no such tree")
	}
	return t, nil
}

// talk makes a tree of one L1 whose clips hold ten cues of five seconds each.
func talk(id, title string, cues ...string) *tree.Tree {
	src := tree.Source{ID: id, Tenant: "default", Kind: tree.KindVideo, Title: title, DurationMS: int64(len(cues)) * 5000}
	root := &tree.Node{ID: tree.NodeID(id, 0), Level: tree.L1, Text: title, Span: tree.MS(0, src.DurationMS)}
	for i, text := range cues {
		b := i / 10
		if len(root.Children) == b {
			root.Children = append(root.Children, &tree.Node{ID: tree.NodeID(id, 0, b), Level: tree.L2, Text: text, Span: tree.MS(int64(b)*50_000, min(int64(b+1)*50_000, src.DurationMS))})
		}
		l2, at := root.Children[b], int64(i)*5000
		l2.Children = append(l2.Children, &tree.Node{
			ID: tree.NodeID(id, 0, b, i%10), Level: tree.L3, Text: text, Span: tree.MS(at, at+5000),
			Evidence: tree.Evidence{Cues: []tree.Cue{{StartMS: at, EndMS: at + 4000, Text: text}}},
		})
	}
	return &tree.Tree{Source: src, Roots: []*tree.Node{root}}
}

func engine(t testing.TB, trees ...*tree.Tree) (*Engine, shelf) {
	t.Helper()
	s := shelf{}
	e, err := Open(Config{Embed: testEmbed, Dim: 64, Trees: s.trees})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	for _, tr := range trees {
		s[tr.Source.Tenant+"/"+tr.Source.ID] = tr
		if err := e.AddTree(context.Background(), tr); err != nil {
			t.Fatal(err)
		}
	}
	return e, s
}

// beside reads in so many goroutines, again and again until a read says false
// or stop is called, which waits for them.
func beside(readers int, read func() bool) (stop func()) {
	var reading sync.WaitGroup
	ended := make(chan struct{})
	for range readers {
		reading.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				if !read() {
					return
				}
			}
		})
	}
	return func() {
		close(ended)
		reading.Wait()
	}
}
