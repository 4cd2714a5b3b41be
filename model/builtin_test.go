package model

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
)

func embedAll(t testing.TB, texts ...string) [][]float32 {
	t.Helper()
	v, err := NewBuiltin().Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func cosine(a, b []float32) float64 {
	var s float64
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

func TestBuiltinVectorsAreUnitLengthAndRepeatable(t *testing.T) {
	texts := []string{"a lighthouse lens", "光の灯台", "منارة البحر", "", "?!", "x"}
	first, again := embedAll(t, texts...), embedAll(t, texts...)
	for i, v := range first {
		want := 1.0
		if texts[i] == "" || texts[i] == "?!" {
			want = 0
		}
		if len(v) != NewBuiltin().Dim() || math.Abs(cosine(v, v)-want) > 1e-5 {
			t.Errorf("%q: %d dimensions, square length %g, want %g", texts[i], len(v), cosine(v, v), want)
		}
		for d := range v {
			if v[d] != again[i][d] {
				t.Fatalf("%q differs on the second call", texts[i])
			}
		}
	}
}

func TestBuiltinPrefersRelatedText(t *testing.T) {
	for _, c := range [][3]string{
		{"how heavy is the lens", "the lens weighs four tons and is heavy", "a man plays the guitar"},
		{"lighthouses", "a lighthouse at night", "bread in an oven"},
		{"灯台のレンズ", "このレンズは灯台で使う", "今日は天気がいい"},
		{"العدسة", "العدسة الكبيرة في المنارة", "الخبز في الفرن"},
	} {
		v := embedAll(t, c[:]...)
		if near, far := cosine(v[0], v[1]), cosine(v[0], v[2]); near <= far+0.05 {
			t.Errorf("%q: %g to related, %g to unrelated", c[0], near, far)
		}
	}
}

func TestBuiltinStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewBuiltin().Embed(ctx, []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestBuiltinBringsFormsOfAWordTogether(t *testing.T) {
	for _, c := range [][2]string{
		{"weights", "weight"},
		{"running", "runs"},
		{"planned", "plan"},
		{"boxes", "box"},
		{"stories", "story"},
		{"café", "cafe"},
		{"LENS", "lens"},
		{"ﬁlm", "film"},
		{"Ångström", "angstrom"},
		{"مُحَمَّد", "محمد"},
		{"speaker's", "speakers s"},
	} {
		if v := embedAll(t, c[0], c[1]); cosine(v[0], v[1]) < 0.95 {
			t.Errorf("%q and %q are %g apart", c[0], c[1], cosine(v[0], v[1]))
		}
	}
	if v := embedAll(t, "glass", "glas"); cosine(v[0], v[1]) > 0.5 {
		t.Error("an ending that is none was cut")
	}
}

func TestBuiltinFunctionWordsWeighLittle(t *testing.T) {
	v := embedAll(t, "what is the lens of the lighthouse", "lens lighthouse", "what is the bread of the oven")
	if cosine(v[0], v[1]) < 0.95 || cosine(v[0], v[2]) > 0.2 {
		t.Errorf("with the same topic %g, with the same function words %g", cosine(v[0], v[1]), cosine(v[0], v[2]))
	}
}

func TestBuiltinGrowsSublinearly(t *testing.T) {
	v := embedAll(t, "lens", "lens lens lens lens lens lens lens lens lens lens lens lens lens lens lens lens oven", "oven")
	if cosine(v[1], v[2]) < 0.2 {
		t.Errorf("sixteen repeats drown the other word: %g", cosine(v[1], v[2]))
	}
}

// The name is a promise that stored vectors stay comparable: whoever changes
// the features must change it too, and then this sum.
func TestBuiltinNameNamesTheseVectors(t *testing.T) {
	h := fnv.New64a()
	for _, v := range embedAll(t, "A lighthouse lens weighs 4 tons.", "灯台のレンズ", "منارة البحر", "समुद्र का प्रकाशस्तंभ", "маяк 😀", strings.Repeat("x", 200)) {
		for _, x := range v {
			_ = binary.Write(h, binary.LittleEndian, x) // a hash never fails to write
		}
	}
	if got := fmt.Sprintf("%s %016x", NewBuiltin().Name(), h.Sum64()); got != "builtin-hash-1 56e30893f08f44b9" {
		t.Errorf("the vectors are those of %s", got)
	}
}

func TestBuiltinIsSafeForConcurrentUse(t *testing.T) {
	b := NewBuiltin()
	want := embedAll(t, "a lighthouse lens", "bread in an oven")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 200 {
				texts := []string{"a lighthouse lens", "bread in an oven"}
				v, err := b.Embed(t.Context(), texts[i%2:i%2+1])
				if err != nil || !slices.Equal(v[0], want[i%2]) {
					t.Errorf("got another vector or %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func FuzzBuiltin(f *testing.F) {
	f.Add("lens")
	f.Add("\x00\xff\xed\xa0\x80 '")
	f.Add("ไทย ລາວ 한국어 नमस्ते 😀")
	f.Fuzz(func(t *testing.T, text string) {
		v := embedAll(t, text)[0]
		if n := cosine(v, v); len(v) != 256 || n != 0 && math.Abs(n-1) > 1e-4 {
			t.Errorf("%q: %d dimensions, square length %g", text, len(v), n)
		}
	})
}

func BenchmarkBuiltin(b *testing.B) {
	e := NewBuiltin()
	caption := []string{"a man in a red shirt throws a ball to the dog that waits at the edge of the water"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Embed(b.Context(), caption); err != nil {
			b.Fatal(err)
		}
	}
}
