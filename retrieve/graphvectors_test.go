package retrieve

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// Vectors come back as they were from wherever their rows lie; the folder shows
// no file, and none is left.
func TestVectorFileKeepsVectors(t *testing.T) {
	dir := t.TempDir()
	f := vectorFile{dir: dir, dim: 3}
	want := map[int32][]float32{}
	kept := map[int32][]float32{}
	rng := rand.New(rand.NewPCG(1, 5))
	for _, row := range []int32{0, 1, vectorPart - 1, vectorPart, 5 * vectorPart, 1} {
		want[row] = gaussian(rng, 3, 1)
		kept[row] = f.keep(row, slices.Clone(want[row]))
	}
	for row, v := range kept {
		if !slices.Equal(v, want[row]) {
			t.Errorf("row %d is %v instead of %v", row, v, want[row])
		}
	}
	if runtime.GOOS == "linux" {
		if f.off || len(f.parts) != 6 || f.parts[0] == nil || f.parts[2] != nil {
			t.Errorf("off %v, %d parts", f.off, len(f.parts))
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%v in the folder, %v", files, err)
	}
	for range 2 {
		if err := f.close(); err != nil {
			t.Error(err)
		}
	}
	if v := f.keep(7, []float32{1, 2, 3}); !slices.Equal(v, []float32{1, 2, 3}) {
		t.Errorf("%v after it began anew", v)
	}
	if err := f.close(); err != nil {
		t.Error(err)
	}
}

// Without a file the vectors stay in memory, the caller's own.
func TestVectorFileIsNotToBeHad(t *testing.T) {
	f := vectorFile{dir: filepath.Join(t.TempDir(), "absent"), dim: 2}
	v := []float32{1, 2}
	for row := range int32(2) {
		if got := f.keep(row, v); &got[0] != &v[0] {
			t.Errorf("row %d was kept elsewhere", row)
		}
	}
	if err := f.close(); err != nil || !f.off {
		t.Errorf("off %v, %v", f.off, err)
	}
}

// A caller may use its entries again once they are added.
func TestHNSWKeepsNothingOfTheCaller(t *testing.T) {
	x := NewHNSW(16, HNSWOptions{Seed: 1})
	t.Cleanup(func() { _ = x.Close() })
	v := make([]float32, 16)
	v[2] = 1
	e := []Entry{entry("t", "s", 1, v), {Tenant: "t", Source: "s", Node: "bare"}}
	mustAdd(t, x, e...)
	if e[0].Vector[2] != 1 || e[1].Node != "bare" || x.Len() != 1 {
		t.Errorf("the entries became %v, %d nodes", e, x.Len())
	}
	if runtime.GOOS == "linux" {
		if v[2] = 9; x.table.rows[0].vector[2] != 1 {
			t.Error("the vector is still the caller's")
		}
	}
}
