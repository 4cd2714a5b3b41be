package model

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
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

// The golden vectors come from the Python side, which learned the table: both
// must read every text into the same features.
func TestBuiltinAgreesWithItsTraining(t *testing.T) {
	file, err := os.ReadFile("testdata/builtin_golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Text   string
		Vector []float32
	}
	if err := json.Unmarshal(file, &cases); err != nil || len(cases) < 10 {
		t.Fatalf("%d golden vectors, %v", len(cases), err)
	}
	for _, c := range cases {
		got := embedAll(t, c.Text)[0]
		if len(got) != len(c.Vector) {
			t.Fatalf("%q: %d dimensions, the golden vector has %d", c.Text, len(got), len(c.Vector))
		}
		for d := range got {
			if math.Abs(float64(got[d]-c.Vector[d])) > 1e-5 {
				t.Errorf("%q: dimension %d is %g, the golden vector has %g", c.Text, d, got[d], c.Vector[d])
				break
			}
		}
	}
}

// The manifest describes this very file.
func TestBuiltinManifestNamesTheFile(t *testing.T) {
	var m struct {
		Name, SHA256        string
		Known, Buckets, Dim int
		Packages            []struct{ Name, Version, SHA256, Licence string }
	}
	file, err := os.ReadFile("weights/embed.json")
	if err == nil {
		err = json.Unmarshal(file, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(builtinFile); hex.EncodeToString(sum[:]) != m.SHA256 {
		t.Errorf("the file has the SHA-256 %x, its manifest says %s", sum, m.SHA256)
	}
	b := NewBuiltin()
	if got := b.table(); b.Name() != m.Name || b.Dim() != m.Dim || got.known != uint64(m.Known) || got.buckets != uint64(m.Buckets) {
		t.Errorf("the file holds %s, %d dimensions, %d and %d rows; its manifest says %+v", b.Name(), b.Dim(), got.known, got.buckets, m)
	}
	for _, p := range m.Packages {
		if p.Version == "" || len(p.SHA256) != 64 || p.Licence == "" {
			t.Errorf("package %+v of the recipe is not pinned or has no licence", p)
		}
	}
	if n := len(builtinFile); len(m.Packages) == 0 || n < 8<<20 || n > 16<<20 {
		t.Errorf("%d packages, a file of %d bytes", len(m.Packages), n)
	}
}

// The name is a promise that stored vectors stay comparable, so it is made of
// the learned values.
func TestBuiltinNameFollowsFromTheValues(t *testing.T) {
	table := NewBuiltin().table()
	h := sha256.New()
	for _, part := range [][]byte{table.hashes, table.scales, table.rows} {
		h.Write(part) // never fails
	}
	if want := "builtin-static-" + hex.EncodeToString(h.Sum(nil))[:8]; table.name != want {
		t.Errorf("the table is called %s, its values make %s", table.name, want)
	}
}

func TestBuiltinVectorsAreUnitLengthAndRepeatable(t *testing.T) {
	texts := []string{"a lighthouse lens", "光の灯台", "منارة البحر", "", "?!", "x", "zzyzzx", "\xff\xfe", strings.Repeat("a long text ", 10_000), strings.Repeat("x", 100_000)}
	first, again := embedAll(t, texts...), embedAll(t, texts...)
	for i, v := range first {
		want := 1.0
		if texts[i] == "" || texts[i] == "?!" || texts[i] == "\xff\xfe" {
			want = 0
		}
		if len(v) != NewBuiltin().Dim() || math.Abs(cosine(v, v)-want) > 1e-5 {
			t.Errorf("%.20q: %d dimensions, square length %g, want %g", texts[i], len(v), cosine(v, v), want)
		}
		if !slices.Equal(v, again[i]) {
			t.Fatalf("%.20q differs on the second call", texts[i])
		}
	}
}

// Words of one meaning meet, in spelling or not, and words that share nothing
// do not.
func TestBuiltinPrefersRelatedText(t *testing.T) {
	for _, c := range [][3]string{
		{"how heavy is the lens", "the lens weighs four tons and is heavy", "a man plays the guitar"},
		{"a child on a bicycle", "a young boy is riding his bike", "a woman cooks pasta in a kitchen"},
		{"the person swims", "a man is in the water of a pool", "a man is on the roof of a house"},
		{"what does it cost", "the price is twelve dollars", "the door is made of wood"},
		{"lighthouses", "a lighthouse at night", "bread in an oven"},
		{"灯台のレンズ", "このレンズは灯台で使う", "今日は天気がいい"},
		{"العدسة", "العدسة الكبيرة في المنارة", "الخبز في الفرن"},
		{"मछली", "नदी में मछली", "पहाड़ पर घर"},
		{"the qwzrty protocol", "qwzrty is a protocol", "the plmokn protocol"},
	} {
		v := embedAll(t, c[:]...)
		if near, far := cosine(v[0], v[1]), cosine(v[0], v[2]); near <= far+0.05 {
			t.Errorf("%q: %g to related, %g to unrelated", c[0], near, far)
		}
	}
}

func TestBuiltinReadsOneTextForManySpellings(t *testing.T) {
	for _, c := range [][2]string{
		{"café", "cafe"},
		{"LENS", "lens"},
		{"ﬁlm", "film"},
		{"Ångström", "angstrom"},
		{"مُحَمَّد", "محمد"},
		{"speaker's", "speaker s"},
		{"re-record", "re record"},
		{"ガラス", "カラス"}, // voicing marks belong to no word
	} {
		if v := embedAll(t, c[0], c[1]); !slices.Equal(v[0], v[1]) {
			t.Errorf("%q and %q are %g apart", c[0], c[1], 1-cosine(v[0], v[1]))
		}
	}
}

func TestBuiltinTellsOrderOfCharactersWithoutBlanks(t *testing.T) {
	v := embedAll(t, "東京", "京東", "東 京")
	if slices.Equal(v[0], v[1]) || slices.Equal(v[0], v[2]) {
		t.Error("characters side by side have no pair")
	}
}

func TestBuiltinUnknownWordsMeetByTheirSpelling(t *testing.T) {
	v := embedAll(t, "plorfendish", "plorfendishly", "krazumbit")
	if near, far := cosine(v[0], v[1]), cosine(v[0], v[2]); near < far+0.2 {
		t.Errorf("%g to its other form, %g to another word", near, far)
	}
}

func TestBuiltinFunctionWordsWeighLittle(t *testing.T) {
	v := embedAll(t, "what is the lens of the lighthouse", "lens lighthouse", "what is the bread of the oven")
	if same, other := cosine(v[0], v[1]), cosine(v[0], v[2]); same < 0.7 || other > same-0.3 {
		t.Errorf("with the same topic %g, with the same function words %g", same, other)
	}
}

func TestBuiltinStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewBuiltin().Embed(ctx, []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
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
	f.Add("ไทย ລາວ 한국어 नमस्ते 😀 \u0e31\u0301 ガ")
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

// BenchmarkBuiltinOpen is what a start of the program pays.
func BenchmarkBuiltinOpen(b *testing.B) {
	for b.Loop() {
		NewBuiltin().Name()
	}
}
