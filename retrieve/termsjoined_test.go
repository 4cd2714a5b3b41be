package retrieve

import (
	"math"
	"slices"
	"testing"
)

// askedOf is a question to a view whose units hold these texts.
func askedOf(text string, units ...string) *question {
	v := &view{units: make([]unit, len(units)), postings: map[uint64][]posting{}}
	for i, u := range units {
		for key, n := range countText(u).terms {
			v.postings[key] = append(v.postings[key], posting{int32(i), n})
		}
	}
	return &question{text: text, terms: readQuestion(text), trees: []*view{v}}
}

// left is what is left of the term that is shown so.
func left(t *testing.T, q *question, shown string) float64 {
	t.Helper()
	i := slices.IndexFunc(q.terms, func(o questionTerm) bool { return o.shown == shown })
	if i < 0 {
		t.Fatalf("%s is no term of %s", shown, q.text)
	}
	return q.apart()[i]
}

// Hand-worked: 灯塔 stands in three units, 塔管 and 管理 in two of them, 理员
// in those and one more; of the characters 灯 and 员 once alone.
func TestPairsOfOneWordCountLess(t *testing.T) {
	q := askedOf("灯塔管理员", "灯塔管理员来了", "旧灯塔", "有灯塔管理员", "理员", "员外", "灯火")
	for shown, sum := range map[string]float64{
		"灯塔": 2. / 3,     // with 塔管
		"塔管": 2./3 + 1,   // with 灯塔, 管理
		"管理": 1 + 2./3,   // with 塔管, 理员
		"理员": 2. / 3,     // with 管理
		"灯":  3. / 4,     // with 灯塔
		"塔":  1 + 2./3,   // with 灯塔, 塔管
		"管":  1 + 1,      // with 塔管, 管理
		"理":  2./3*1 + 1, // with 管理, 理员
		"员":  3. / 4,     // with 理员
	} {
		near(t, shown, left(t, q, shown), 1/(1+joinedShare*sum))
	}
}

func TestTermsThatMeetNowhereCountInFull(t *testing.T) {
	q := askedOf("灯塔火车", "灯塔", "火车", "塔火")
	for _, shown := range []string{"灯塔", "塔火", "火车"} {
		near(t, shown, left(t, q, shown), 1)
	}
	q = askedOf("灯塔管 lighthouse keeper's DNA", "灯塔管 lighthouse keeper's DNA")
	for i, kept := range q.apart() {
		if term := &q.terms[i]; (kept == 1) == (term.kind == kindPair || term.kind == kindChar) {
			t.Errorf("%s counts %g", term.shown, kept)
		}
	}
}

// A pair of one character twice shares nothing with itself.
func TestDoubledCharacter(t *testing.T) {
	near(t, "灯灯", left(t, askedOf("灯灯", "灯灯"), "灯灯"), 1)
}

// What stands in several trees is counted in all of them.
func TestTogetherInAllTrees(t *testing.T) {
	q := askedOf("灯塔管", "灯塔管", "灯塔")
	q.trees = append(q.trees, askedOf("", "塔管", "灯塔管").trees...)
	near(t, "灯塔", left(t, q, "灯塔"), 1/(1+joinedShare*2/4))
	q.trees = nil
	near(t, "of no tree", left(t, q, "灯塔"), 1)
}

// A long name must not outweigh the words that tell which of its paragraphs is meant.
func TestLongNameDoesNotOutweighTheRest(t *testing.T) {
	q := askedOf("杰克逊维尔灯塔", "杰克逊维尔的河", "杰克逊维尔的港", "灯塔和灯", "港", "河", "城", "山", "路")
	q.weigh()
	var name, rest, all float64
	for _, term := range q.terms {
		switch all += term.weight; {
		case slices.Contains([]string{"灯", "塔", "灯塔"}, term.shown):
			rest += term.weight
		case term.shown != "尔灯":
			name += term.weight
		}
	}
	if near(t, "all terms", all, 1); name > 2*rest {
		t.Errorf("the name counts %.2f, the rest %.2f", name, rest)
	}
	if math.IsNaN(name) {
		t.Error("no number")
	}
}

func FuzzApart(f *testing.F) {
	f.Add("灯塔管理员", "灯塔 管理员")
	f.Add("灯灯灯", "灯灯")
	f.Add("where 灯?", "")
	f.Fuzz(func(t *testing.T, question, text string) {
		q := askedOf(question, text, question)
		for i, kept := range q.apart() {
			if !(kept > 0 && kept <= 1) {
				t.Errorf("%s keeps %g", q.terms[i].shown, kept)
			}
		}
	})
}
