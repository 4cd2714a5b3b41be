package retrieve

import (
	_ "embed" // the trained weights
	"errors"
	"fmt"
)

// The trained weights, written by `make train`; weights/refiner.json says what
// they were learned from.
//
//go:embed weights/refiner.safetensors
var trainedRefiner []byte

// TrainedRefiner are the shipped weights for vectors of the named embedder.
// They read cosines throughout: with those of another embedder the published
// rule stands. An error means that the program is damaged.
func TrainedRefiner(embedder string, dim int) (*Refiner, error) {
	return readRefiner(trainedRefiner, embedder, dim)
}

func readRefiner(file []byte, embedder string, dim int) (*Refiner, error) {
	f, err := openTensors(file)
	if err != nil {
		return nil, fmt.Errorf("the refiner's weights cannot be read: %w", err)
	}
	r := &Refiner{}
	if f.embedder != embedder {
		return r, nil
	}
	for name, l := range map[string]layer{"seen": layerSeen, "spoken": layerSpoken, "written": layerWritten} {
		set, err := f.refinerSet(name + ".")
		if err != nil {
			return nil, fmt.Errorf("the refiner's weights cannot be read: %w", err)
		}
		if set != nil && !set.fits(dim) {
			return nil, errors.New("a matrix of the refiner's weights has the wrong shape")
		}
		r.sets[l] = set
	}
	return r, nil
}

// refinerSet reads one set, nil where there is none.
func (t *tensors) refinerSet(prefix string) (*refinerSet, error) {
	var failed error
	read := func(name string) *matrix {
		m, err := t.matrix(prefix + name)
		failed = errors.Join(failed, err)
		return m
	}
	row := func(name string) []float32 {
		if m := read(name); m != nil {
			return m.data
		}
		return nil
	}
	r := &refinerSet{
		down: read("down"), up: read("up"), terms: read("terms"), offset: row("offset"), knows: row("knows"),
		hidden: read("hidden"), bias: row("hidden_bias"), out: row("out"),
	}
	if failed != nil || r.terms == nil {
		return nil, failed
	}
	return r, nil
}
