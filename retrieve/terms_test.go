package retrieve

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// scanned writes the terms of a text as KIND:CHARACTERS, function words in brackets.
func scanned(text string) string {
	var out []string
	scan(text, func(t term) {
		s := string(t.kind) + ":" + string(t.runes)
		if t.stop {
			s = "[" + s + "]"
		}
		out = append(out, s)
	})
	return strings.Join(out, " ")
}

func TestScan(t *testing.T) {
	for text, want := range map[string]string{
		"":           "",
		" ?! ":       "",
		"The lens":   "[w:the] w:len g:<le g:len g:ens g:ns>",
		"lenses":     "w:len g:<le g:len g:ens g:nse g:ses g:es>",
		"House's 4":  "w:hous g:<ho g:hou g:ous g:use g:se> w:s g:<s> w:4 g:<4>",
		"runs, PLAN": "w:run g:<ru g:run g:uns g:ns> w:plan g:<pl g:pla g:lan g:an>",
		"café CAFÉ":  "w:caf g:<ca g:caf g:afe g:fe> w:caf g:<ca g:caf g:afe g:fe>",
		"ﬁlm":        "w:film g:<fi g:fil g:ilm g:lm>",
		"灯台の光":       "c:灯 c:台 p:灯台 [c:の] p:台の c:光 p:の光",
		"маяк":       "w:маяк g:<ма g:мая g:аяк g:як>",
		"قَدِيم":     "w:قديم g:<قد g:قدي g:ديم g:يم>",
		"2-ton":      "w:2 g:<2> w:ton g:<to g:ton g:on>",
		"ok 😀":       "[w:ok] s:😀",
		"a\u0301b":   "w:ab g:<ab g:ab>",
		"lighting":   "w:light b:ligh g:<li g:lig g:igh g:ght g:hti g:tin g:ing g:ng>",
		"第 5 座":      "c:第 w:5 g:<5> c:座",
		"宗教 团体":      "c:宗 c:教 p:宗教 c:团 p:教团 c:体 p:团体",
		"宗教　团体":      "c:宗 c:教 p:宗教 c:团 p:教团 c:体 p:团体",
		"宗教\n团体":     "c:宗 c:教 p:宗教 c:团 c:体 p:团体",
		"宗教，团体":      "c:宗 c:教 p:宗教 c:团 c:体 p:团体",
		"ไม ดี":      "c:ไ c:ม p:ไม c:ด c:ี p:ดี",
		"谁是作者":       "[c:谁] [c:是] [p:谁是] c:作 p:是作 c:者 p:作者",
	} {
		if got := scanned(text); got != want {
			t.Errorf("%q reads as %q, want %q", text, got, want)
		}
	}
}

// A text is as long with blanks between its words as its words are.
func TestBlanksInChineseAreNoWords(t *testing.T) {
	for text, want := range map[string]int{"灯塔管理员": 4, "灯塔 管理员": 3, "灯塔 DNA 管理员": 4, "灯 塔": 0} {
		if got := countText(text).words; got != want {
			t.Errorf("%q has %d words, want %d", text, got, want)
		}
		if got := len(tokensOf(text)); got != want {
			t.Errorf("%q has %d words in order, want %d", text, got, want)
		}
	}
	if a, b := countText("灯塔 管理员"), countText("灯塔管理员"); !maps.Equal(a.terms, b.terms) {
		t.Error("a blank between two words changes the terms of a text")
	}
}

// stems are the words of a text as scan reads them.
func stems(text string) (out string) {
	scan(text, func(t term) {
		if t.kind == kindWord {
			out += string(t.runes) + " "
		}
	})
	return out
}

func TestFormsOfOneWordMeet(t *testing.T) {
	for _, forms := range [][]string{
		{"lens", "lenses"},
		{"glass", "glasses"},
		{"phase", "phases"},
		{"case", "cases"},
		{"story", "stories"},
		{"run", "runs", "running"},
		{"plan", "planned", "planning"},
		{"bake", "baked", "baking", "bakes"},
		{"box", "boxes"},
		{"house", "houses"},
		{"quick", "quickly"},
		{"watch", "watches", "watched", "watching"},
		{"كتاب", "الكتاب", "والكتاب", "بالكتاب", "للكتاب", "وكتاب", "كتابه", "كتابها"},
		{"مدرسة", "المدرسة", "مدرسات", "مدرسين", "والمدرسون"},
		{"लड़का", "लड़के", "लड़की", "लड़कों", "लड़कियाँ", "लड़कियों"},
		{"भाषा", "भाषाएं", "भाषाओं"},
	} {
		for _, f := range forms[1:] {
			if stems(f) != stems(forms[0]) {
				t.Errorf("%s reads as %s, %s as %s", forms[0], stems(forms[0]), f, stems(f))
			}
		}
	}
	for _, pair := range [][2]string{{"glass", "glas"}, {"light", "lighthouse"}, {"bus", "bu"}, {"king", "k"}, {"علم", "الم"}, {"ولد", "لد"}, {"राम", "रमा"}, {"घर", "घ"}} {
		if stems(pair[0]) == stems(pair[1]) {
			t.Errorf("%s and %s are one word", pair[0], pair[1])
		}
	}
}

func TestReadQuestion(t *testing.T) {
	shown := func(text string) (out []string) {
		for _, t := range readQuestion(text) {
			if t.kind != kindGroup {
				out = append(out, t.shown)
			}
		}
		return out
	}
	if got := shown("What is the lens of the lens?"); !slices.Equal(got, []string{"len"}) {
		t.Errorf("content is %v", got)
	}
	if got := shown("What is it?"); !slices.Equal(got, []string{"what", "is", "it"}) {
		t.Errorf("function words alone are %v", got)
	}
	last := readQuestion("Where does the lighthouse stand?")
	if first := slices.IndexFunc(last, func(t questionTerm) bool { return t.kind == kindGroup }); first < 0 || slices.ContainsFunc(last[first:], func(t questionTerm) bool { return t.kind != kindGroup }) {
		t.Errorf("groups of letters are not the last: %v", last)
	}
	if got := len(readQuestion(strings.Repeat("abcde fghij klmno ", 10) + strings.Join(strings.Split(strings.Repeat("qwertzuiopasdfghjkl", 99), ""), " x"))); got > maxTerms {
		t.Errorf("%d terms", got)
	}
}

func FuzzScan(f *testing.F) {
	f.Add("lens 灯台 😀 قَدِيم")
	f.Add("\xff\x00'")
	f.Fuzz(func(t *testing.T, text string) {
		scan(text, func(tm term) {
			if len(tm.runes) == 0 || len(tm.runes) > longestWord || tm.weight <= 0 {
				t.Errorf("%q: term of %d characters, weight %g", text, len(tm.runes), tm.weight)
			}
		})
	})
}

func TestSentences(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "",
		"One. Two! Three?": "One.|Two!|Three?",
		"Dr. No met Mr. Bond in the U.S. then. He left.": "Dr. No met Mr. Bond in the U.S. then.|He left.",
		"J. Smith wrote 3.5 pages. I did too.":           "J. Smith wrote 3.5 pages.|I did too.",
		"He said “no.” She left.":                        "He said “no.”|She left.",
		"灯台だ。レンズ！水銀？":                                    "灯台だ。|レンズ！|水銀？",
		"यह है। वह है।":                                  "यह है।|वह है।",
		"first\n\nsecond":                                "first|second",
		"approx. ten of them":                            "approx. ten of them",
		"Wait... what?!":                                 "Wait... what?!",
	} {
		var got []string
		for _, p := range sentences(text) {
			got = append(got, p.text)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q is cut into %q", text, got)
		}
	}
}

// Pieces are in order, are what their range says, and lose nothing but blanks.
func FuzzSentences(f *testing.F) {
	f.Add("One. Two! Three? 灯台だ。")
	f.Add(strings.Repeat("word ", 500))
	f.Add(strings.Repeat("漢", 3000))
	f.Fuzz(func(t *testing.T, text string) {
		r := []rune(text)
		at := 0
		for _, p := range sentences(text) {
			if p.start < at || p.end <= p.start || p.end > len(r) || p.text != string(r[p.start:p.end]) || p.end-p.start > 2*longSentence+1 {
				t.Fatalf("%q: piece [%d, %d) after %d", text, p.start, p.end, at)
			}
			if strings.TrimSpace(string(r[at:p.start])) != "" {
				t.Fatalf("%q: lost %q", text, string(r[at:p.start]))
			}
			at = p.end
		}
		if strings.TrimSpace(string(r[at:])) != "" {
			t.Fatalf("%q: lost the end %q", text, string(r[at:]))
		}
	})
}
