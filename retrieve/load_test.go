package retrieve

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// manySources keeps an index of n sources of two nodes.
func manySources(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	e := keptEngine(t, dir, shelf{})
	for i := range n {
		src := tree.Source{ID: fmt.Sprintf("source%020d", i), Tenant: "default", DurationMS: 1000}
		var nodes []*tree.Node
		for k := range 2 {
			nodes = append(nodes, &tree.Node{ID: tree.NodeID(src.ID, k), Level: tree.L1, Text: fmt.Sprintf("lens number %d of %d", k, i), Span: tree.MS(int64(k), 500)})
		}
		if err := e.Add(t.Context(), src, nodes); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, e)
	return dir
}

func TestStoreIsReadInOrderWithTextsOrWithout(t *testing.T) {
	s, err := openStore(manySources(t, 40), "test", 64, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}()
	for _, texts := range []bool{true, false} {
		var names []string
		err := s.readEach(texts, func(k kept) error {
			names = append(names, k.name)
			for _, e := range k.entries {
				if (e.Text != "") != texts || len(e.Vector) != 64 || e.Span.EndMS != 500 || e.Source != k.src.ID {
					t.Errorf("with texts %v: %+v", texts, e)
				}
			}
			if s.stamps[k.name] != k.stamp || len(k.entries) != 2 {
				t.Errorf("%d entries under the stamp %q, noted is %q", len(k.entries), k.stamp, s.stamps[k.name])
			}
			return nil
		})
		if err != nil || len(names) != 40 || !slices.IsSorted(names) {
			t.Errorf("%d files, in order %v, %v", len(names), slices.IsSorted(names), err)
		}
	}
	enough, calls := errors.New("enough"), 0
	if err := s.load(func(kept) error {
		if calls++; calls == 3 {
			return enough
		}
		return nil
	}); !errors.Is(err, enough) || calls != 3 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// Damaged files among good ones are dropped, folders are left alone, and words
// that the keyword index lacks are read again.
func TestOpeningRepairsWhatIsAmongGoodFiles(t *testing.T) {
	dir := manySources(t, 20)
	files, err := filepath.Glob(filepath.Join(dir, "entries", "*"+storeExt))
	if err != nil || len(files) != 20 {
		t.Fatal(files, err)
	}
	overwrite(t, files[3], "damaged")
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "entries", "0"+storeExt), 0o700), os.RemoveAll(filepath.Join(dir, "keywords"))); err != nil {
		t.Fatal(err)
	}
	e := keptEngine(t, dir, shelf{})
	defer mustClose(t, e)
	if _, err := os.Stat(files[3]); !os.IsNotExist(err) || e.words.Len() != 38 || e.vectors.Len() != 38 {
		t.Errorf("%d words and %d vectors, the damaged file: %v", e.words.Len(), e.vectors.Len(), err)
	}
	if hits := mustSearch(t, e.words, Probe{Text: "lens"}, 100, Scope{Tenant: "default"}); len(hits) != 38 {
		t.Errorf("%d of 38 nodes are found by a word", len(hits))
	}
}
