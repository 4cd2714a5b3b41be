package retrieve

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

func keywordIndex(t testing.TB) *Keyword {
	t.Helper()
	x, err := NewKeyword()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

func written(tenant, source string, node int, text string) Entry {
	e := entry(tenant, source, node, nil)
	e.Text = text
	return e
}

// Every script is found by whole words, inflected forms and parts.
func TestKeywordsOfManyScripts(t *testing.T) {
	x := keywordIndex(t)
	texts := map[string][]string{
		"The keepers cleaned the lenses of the lighthouse.": {"lens", "keeper cleaning", "LIGHTHOUSES", "lighthouse's"},
		"El café está en la montaña.":                       {"cafe", "montaña", "montanas", "CAFÉS"},
		"灯台のレンズは水銀に浮かぶ。":                                    {"レンズ", "灯台", "水銀"},
		"المنارة القديمة على الساحل":                        {"منارة", "الساحل", "قَدِيمَة"},
		"प्रकाशस्तंभ समुद्र के किनारे है":                   {"समुद्र", "प्रकाशस्तंभ"},
		"Старый маяк стоит на берегу.":                      {"маяки", "берег"},
		"등대의 렌즈는 무겁다":                                       {"렌즈", "등대"},
		"ประภาคารอยู่ริมทะเล":                               {"ประภาคาร", "ทะเล"},
		"It costs 4200 euros 😀":                             {"4200", "😀"},
	}
	want := map[string]string{}
	n := 0
	for text := range texts {
		mustAdd(t, x, written("t", "s", n, text))
		want[text] = fmt.Sprintf("s/%d.%d", n/10, n%10)
		n++
	}
	for text, questions := range texts {
		for _, q := range questions {
			hits := mustSearch(t, x, Probe{Text: q}, 3, Scope{Tenant: "t"})
			if len(hits) == 0 || hits[0].Node != want[text] {
				t.Errorf("%q does not find %q: %v", q, text, hits)
			}
		}
	}
	for _, q := range []string{"", "?!", "\x00", "zzzz", "the of and"} {
		if hits := mustSearch(t, x, Probe{Text: q}, 3, Scope{Tenant: "t"}); len(hits) > 0 && q != "the of and" {
			t.Errorf("%q finds %v", q, hits)
		}
	}
}

func TestKeywordFilters(t *testing.T) {
	x := keywordIndex(t)
	one, two, other := written("t", "one", 1, "a lens"), written("t", "two", 2, "a lens"), written("u", "three", 3, "a lens")
	one.Collections, two.Collections, two.Kind = []string{"red", "blue"}, []string{"blue"}, tree.KindDocument
	other.Title = "two"
	mustAdd(t, x, one, two, other)
	span := tree.MS(1500, 1800)
	for _, c := range []struct {
		s    Scope
		want []string
	}{
		{Scope{Tenant: "t"}, []string{"one/0.1", "two/0.2"}},
		{Scope{Tenant: "u"}, []string{"three/0.3"}},
		{Scope{Tenant: "t", Sources: []string{"one", "three"}}, []string{"one/0.1"}},
		{Scope{Tenant: "t", Collection: "red"}, []string{"one/0.1"}},
		{Scope{Tenant: "t", Collection: "blue", Kinds: []tree.Kind{tree.KindDocument}}, []string{"two/0.2"}},
		{Scope{Tenant: "t", Kinds: []tree.Kind{tree.KindAudio, tree.KindImage}}, []string{}},
		{Scope{Tenant: "t", Span: &span}, []string{"one/0.1"}},
	} {
		if got := nodes(mustSearch(t, x, Probe{Text: "lens"}, 9, c.s)); !slices.Equal(got, c.want) {
			t.Errorf("%+v gives %v, want %v", c.s, got, c.want)
		}
	}
	if _, err := x.Search(t.Context(), Probe{Text: "lens"}, 9, Scope{}); err == nil {
		t.Error("a search without tenant was run")
	}
}

// What one tenant stores never changes what another sees, not even by a score.
func TestKeywordScoresDoNotCrossTenants(t *testing.T) {
	x := keywordIndex(t)
	mustAdd(t, x, written("t", "s", 0, "a rare lens"), written("t", "s", 1, "an oven"))
	before := mustSearch(t, x, Probe{Text: "lens pump"}, 5, Scope{Tenant: "t"})
	for n := range 30 {
		mustAdd(t, x, written("u", "s", n, "a rare lens"))
	}
	after := mustSearch(t, x, Probe{Text: "lens pump"}, 5, Scope{Tenant: "t"})
	if len(before) != 1 || len(after) != 1 {
		t.Fatalf("before %v, after %v", before, after)
	}
	mustAdd(t, x, written("t", "s", 2, "a rare lens"), written("t", "s", 3, "a rare lens"))
	own := mustSearch(t, x, Probe{Text: "lens pump"}, 5, Scope{Tenant: "t"})
	if lost, gained := own[0].Score/before[0].Score, after[0].Score/before[0].Score; gained < 1 || lost >= gained {
		t.Errorf("another tenant's documents scale a score by %g, one's own by %g", gained, lost)
	}
}

// A narrow span lies behind many better hits outside it.
func TestKeywordSpanIsReachedBehindManyHits(t *testing.T) {
	x := keywordIndex(t)
	var all []Entry
	for n := range 200 {
		all = append(all, written("t", "s", n, "lens lens lens"))
	}
	all[150].Text = "lens among many other words that make it score less than the others"
	mustAdd(t, x, all...)
	span := tree.MS(150_100, 150_900)
	if got := nodes(mustSearch(t, x, Probe{Text: "lens"}, 5, Scope{Tenant: "t", Span: &span})); !slices.Equal(got, []string{"s/15.0"}) {
		t.Errorf("found %v", got)
	}
}

func TestKeywordReplacesDeletesAndRemoves(t *testing.T) {
	x := keywordIndex(t)
	var all []Entry
	for n := range 1500 { // more than one batch of a removal
		all = append(all, written("t", "many", n, "lens"))
	}
	mustAdd(t, x, append(all, written("t", "few", 0, "lens"), written("t", "few", 1, "lens"), written("u", "many", 0, "lens"))...)
	mustAdd(t, x, written("t", "few", 0, "oven"))
	if got := nodes(mustSearch(t, x, Probe{Text: "lens"}, 9, Scope{Tenant: "t", Sources: []string{"few"}})); !slices.Equal(got, []string{"few/0.1"}) {
		t.Errorf("after replacing: %v", got)
	}
	if err := x.Remove(t.Context(), "t", "many"); err != nil {
		t.Fatal(err)
	}
	if err := x.Delete(t.Context(), "t", "few/0.1", "few/9.9"); err != nil {
		t.Fatal(err)
	}
	if hits := mustSearch(t, x, Probe{Text: "lens"}, 9, Scope{Tenant: "t"}); len(hits) != 0 || x.Len() != 2 {
		t.Errorf("left %v of %d", hits, x.Len())
	}
	if hits := mustSearch(t, x, Probe{Text: "lens"}, 9, Scope{Tenant: "u"}); len(hits) != 1 {
		t.Error("the other tenant lost its source")
	}
}

// An index that was closed is no damaged one, even if nothing ever came.
func TestKeywordClosedEmptyIsWhole(t *testing.T) {
	var said bytes.Buffer
	dir := filepath.Join(t.TempDir(), "words")
	for range 3 {
		x, err := openKeyword(dir, slog.New(slog.NewTextHandler(&said, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if said.Len() > 0 {
		t.Error(said.String())
	}
}

// A folder that is damaged in any file is made anew, or still answers.
func TestKeywordSurvivesDamagedFolders(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"no files": func(t *testing.T, dir string) {
			t.Helper()
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		},
		"emptied": func(t *testing.T, dir string) { t.Helper(); overwrite(t, filepath.Join(dir, keywordName), "") },
		"another": func(t *testing.T, dir string) {
			t.Helper()
			overwrite(t, filepath.Join(dir, keywordName), `{"storage":"boltdb","index_type":"upside_down"}`)
		},
		"flipped": func(t *testing.T, dir string) {
			t.Helper()
			b, err := os.ReadFile(filepath.Join(dir, keywordName))
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)/2] ^= 4
			overwrite(t, filepath.Join(dir, keywordName), string(b))
		},
		"cut": func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Truncate(filepath.Join(dir, keywordName), 40); err != nil {
				t.Fatal(err)
			}
		},
		"a file": func(t *testing.T, dir string) {
			t.Helper()
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			overwrite(t, dir, "not a folder")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "keywords")
			x, err := openKeyword(dir, log)
			if err != nil {
				t.Fatal(err)
			}
			mustAdd(t, x, written("t", "s", 0, "lens"))
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			spoil(t, dir)
			if x, err = openKeyword(dir, log); err != nil {
				t.Fatal(err)
			}
			if x.Len() != 0 || x.stamp("t", "s") != "" {
				t.Error("what was damaged is still there")
			}
			mustAdd(t, x, written("t", "s", 0, "lens"))
			if hits := mustSearch(t, x, Probe{Text: "lens"}, 3, Scope{Tenant: "t"}); len(hits) != 1 {
				t.Errorf("found %v", hits)
			}
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func overwrite(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestKeywordTakesAnyText(t *testing.T) {
	x := keywordIndex(t)
	for n, text := range []string{strings.Repeat("a", 1<<20), strings.Repeat("😀", 1000), "\x00\xff\xfe", strings.Repeat("漢", 5000), "tab\tline\nend"} {
		mustAdd(t, x, written("t", "s", n, text))
		mustSearch(t, x, Probe{Text: text}, 3, Scope{Tenant: "t"})
	}
}

// What was kept is found as before, with the same scores, and can be changed.
func TestKeywordIsThereAfterAnOpening(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keywords")
	log := slog.New(slog.DiscardHandler)
	x, err := openKeyword(dir, log)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 700 {
		e := written("t", fmt.Sprint("s", n%7), n/7, fmt.Sprintf("lens number %d of the lighthouse", n%13))
		e.Collections = []string{fmt.Sprint("c", n%2)}
		if err := x.add([]Entry{e}, stampOf("t", e.Source), "stamp"); err != nil {
			t.Fatal(err)
		}
	}
	mustAdd(t, x, written("u", "s0", 0, "lens"))
	if err := x.Remove(t.Context(), "t", "s3"); err != nil {
		t.Fatal(err)
	}
	scope := Scope{Tenant: "t", Collection: "c1"}
	want := mustSearch(t, x, Probe{Text: "lens number 7"}, 20, scope)
	for range 2 {
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		if x, err = openKeyword(dir, log); err != nil {
			t.Fatal(err)
		}
		if got := mustSearch(t, x, Probe{Text: "lens number 7"}, 20, scope); !slices.Equal(got, want) || len(got) != 20 || x.Len() != 601 {
			t.Errorf("%d of 601 nodes, found %v instead of %v", x.Len(), got, want)
		}
	}
	if x.stamp("t", "s1") != "stamp" || x.stamp("t", "s3") != "" || x.stamp("u", "s0") != "" {
		t.Error("stamps are lost or left over")
	}
	mustAdd(t, x, written("t", "s0", 0, "an oven"))
	if got := mustSearch(t, x, Probe{Text: "oven"}, 3, Scope{Tenant: "t"}); len(got) != 1 || x.Len() != 601 {
		t.Errorf("found %v of %d", got, x.Len())
	}
}

// Hand-worked: N 2, mean length 3, "lens" in one of two texts and "gate" in
// none. A score is the share of the question's information that a text holds.
func TestKeywordScoreIsBM25(t *testing.T) {
	x := keywordIndex(t)
	mustAdd(t, x, written("t", "s", 0, "lens lens oven"), written("t", "s", 1, "pump mill dam"))
	got := mustSearch(t, x, Probe{Text: "lens gate"}, 3, Scope{Tenant: "t"})
	once, never := math.Log(1+(2-1+.5)/(1+.5)), math.Log(1+(2+.5)/.5)
	want := once / (once + never) * 2 / (2 + 1.2*(.25+.75*3/3))
	if len(got) != 1 || math.Abs(got[0].Score-want) > 1e-5 {
		t.Errorf("%v instead of %g", got, want)
	}
}

// Segments that are written anew say the same, and stay few.
func TestKeywordTidies(t *testing.T) {
	x := keywordIndex(t)
	for n := range 900 {
		mustAdd(t, x, written("t", "s", n%300, fmt.Sprintf("lens %d", n%7)))
		if n%3 == 0 {
			if err := x.Delete(t.Context(), "t", fmt.Sprintf("s/%d.%d", n%300/10, n%10)); err != nil {
				t.Fatal(err)
			}
		}
	}
	state := x.tenant("t").state.Load()
	if state.rows > 700 || len(state.segments) > 6 || state.living != 200 || x.Len() != 200 {
		t.Errorf("%d segments of %d rows for %d nodes", len(state.segments), state.rows, state.living)
	}
	fresh := keywordIndex(t)
	for n := 600; n < 900; n++ {
		if n%3 != 0 {
			mustAdd(t, fresh, written("t", "s", n%300, fmt.Sprintf("lens %d", n%7)))
		}
	}
	x.tenant("t").state.Store(stateOf([]livingWords{merged(state.segments...)}))
	a, b := mustSearch(t, x, Probe{Text: "lens 4"}, 500, Scope{Tenant: "t"}), mustSearch(t, fresh, Probe{Text: "lens 4"}, 500, Scope{Tenant: "t"})
	if !slices.EqualFunc(a, b, func(p, q Hit) bool { return p.Node == q.Node && math.Abs(p.Score-q.Score) < 1e-5 }) {
		t.Errorf("%d hits, %d of an index that never had more", len(a), len(b))
	}
}
