package model

import (
	"context"
	"errors"
	"math"
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

func BenchmarkBuiltin(b *testing.B) {
	for b.Loop() {
		embedAll(b, "a man in a red shirt throws a ball to the dog that waits at the edge of the water")
	}
}
