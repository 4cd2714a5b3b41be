package tree

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func extractiveCases() map[string]Material {
	talk := Material{Source: testVideo, Title: "Grain storage", Span: MS(0, 60000), Clips: []Clip{
		spoken(0, "Anna|Welcome back to the channel.", "Anna|Today we talk about storing maize in a silo.",
			"Anna|Wet maize grows mould within days, so the silo", "Anna|must stay dry. Mr. Okello measures the moisture of", "Anna|maize with a meter.", "Ben|Okay."),
		spoken(24000, "Ben|The meter should show 13 percent moisture.", "Ben|Above that, spread the maize in the sun again.", "Anna|And close the silo at night!"),
		shown(36000, "Mould", "", "MOULD", "Moisture 13 %"),
	}}
	captions := Material{Source: testVideo, Span: MS(0, 60000), Clips: []Clip{
		spoken(0, "|so the first thing you want to do is open the", "|settings menu and look for the network tab and", "|then you click on the network tab and there is",
			"|a button called reset network which resets the", "|network settings of the router to the factory", "|state and after that the router restarts"),
	}}
	meeting := Material{Source: testAudio, Title: "", Span: MS(0, 40000), Clips: []Clip{
		spoken(0, "PhD A|Okay . So let 's start with the budget .", "PhD A|{disfmarker} The budget for microphones was {pause} four hundred euros .",
			"Grad G|I 'd like to buy two microphones .", "Grad G|Mm-hmm .", "PhD A|The microphones of the budget are for the meeting room ."),
	}}
	chinese := Material{Source: testVideo, Title: "储存玉米", Span: MS(0, 40000), Clips: []Clip{
		spoken(0, "|大家好。今天我们讲玉米的储存。", "|玉米水分太高，粮仓里的玉米就会发霉。", "|所以玉米要先晒干，水分低于百分之十三", "|才能放进粮仓！谢谢。"),
	}}
	japanese := Material{Source: testVideo, Span: MS(0, 40000), Clips: []Clip{
		spoken(0, "|こんにちは。", "|今日はサイロの温度を測ります。", "|サイロの温度が高いとカビが生えます。", "|温度計をサイロに入れてください。"),
	}}
	thai := Material{Source: testVideo, Span: MS(0, 40000), Clips: []Clip{spoken(0, "|วันนี้เราจะพูดถึงข้าวโพด", "|ข้าวโพดต้องแห้งก่อนเก็บ", "|ข้าวโพดเปียกขึ้นรา")}}
	arabic := Material{Source: testVideo, Span: MS(0, 40000), Clips: []Clip{spoken(0, "|هل الذرة جافة؟ يجب أن تجف الذرة قبل التخزين.", "|الذرة الرطبة تتعفن في الصومعة.", "|شكرا.")}}
	silent := Material{Source: testVideo, Span: MS(0, 60000), Clips: []Clip{
		shown(0, "", "Chapter One", "Chapter One", "The End"), shown(20000, ""), {Span: MS(25000, 30000), Leaves: []Leaf{{Span: MS(25000, 30000)}}},
	}}
	report := Material{Source: testDoc, Title: "Results", Clips: []Clip{
		written("Yield", "The harvest of 2025 was the largest since 1990. Rain came early.", "Farmers in Gulu harvested 12 tonnes a hectare. Dr. Achieng reports losses of 8 percent."),
		{Title: "Prices", Span: Span{Unit: UnitRows, RowEnd: 3}, Leaves: []Leaf{
			{Span: Span{Unit: UnitRows, RowStart: 1, RowEnd: 2}, Evidence: Evidence{Header: []string{"Market", "Price"}, Rows: [][]string{{"Gulu", "1,200"}}}},
			{Span: Span{Unit: UnitRows, RowStart: 2, RowEnd: 3}, Evidence: Evidence{Header: []string{"Market", "Price"}, Rows: [][]string{{"Lira", ""}}}},
		}},
	}}
	return map[string]Material{
		"talk": talk, "captions": captions, "meeting": meeting, "chinese": chinese, "japanese": japanese,
		"thai": thai, "arabic": arabic, "silent": silent, "document": report,
	}
}

func TestExtractiveGoldens(t *testing.T) {
	for name, m := range extractiveCases() {
		t.Run(name, func(t *testing.T) {
			root, calls, err := BuildStretch(context.Background(), Extractive{}, m, BuildOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if calls != (Calls{}) {
				t.Errorf("calls = %+v, want none", calls)
			}
			golden(t, outline(root), "extractive", name+".txt")
		})
	}
}

// outline prints a tree as a person would review it.
func outline(n *Node) string {
	var b strings.Builder
	var walk func(n *Node)
	walk = func(n *Node) {
		fmt.Fprintf(&b, "%s%s [%s]\n%s  %s\n", strings.Repeat("    ", int(n.Level)-1), n.ID[27:], n.Span, strings.Repeat("    ", int(n.Level)-1), n.Text)
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(n)
	return b.String()
}

func TestSplitSentences(t *testing.T) {
	cases := []struct {
		text string
		want []string
	}{
		{"", nil},
		{"no end at all", []string{"no end at all"}},
		{"One. Two! Three? Four", []string{"One.", "Two!", "Three?", "Four"}},
		{"It costs 3.50 euros. Really.", []string{"It costs 3.50 euros.", "Really."}},
		{"Dr. Smith met J. Brown. They talked.", []string{"Dr. Smith met J. Brown.", "They talked."}},
		{"See example.org for more. Yes", []string{"See example.org for more.", "Yes"}},
		{"He said \"Stop.\" Then he left.", []string{"He said \"Stop.\"", "Then he left."}},
		{"Use tools, e.g. a meter, vs. guessing.", []string{"Use tools, e.g. a meter, vs. guessing."}},
		{"今天天气好。我们走吧！好吗？", []string{"今天天气好。", "我们走吧！", "好吗？"}},
		{"「止まれ。」と言った。", []string{"「止まれ。」", "と言った。"}},
		{"यह एक वाक्य है। दूसरा।", []string{"यह एक वाक्य है।", "दूसरा।"}},
		{"هل هذا صحيح؟ نعم.", []string{"هل هذا صحيح؟", "نعم."}},
		{"Wait... What?! Yes.", []string{"Wait...", "What?!", "Yes."}},
		{"...", []string{"..."}},
	}
	for _, c := range cases {
		if got := splitSentences(c.text); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
			t.Errorf("splitSentences(%q)\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestCutWordsKeepsEveryWord(t *testing.T) {
	long := strings.Repeat("one two 三四 ", 40)
	var n int
	for _, part := range cutWords(long, 7) {
		if w := Words(part); w > 7 || w == 0 {
			t.Errorf("part %q has %d words", part, w)
		}
		n += Words(part)
	}
	if want := Words(long); n != want {
		t.Errorf("parts have %d words, want %d", n, want)
	}
	if got := shorten("a b c d", 3); got != "a b c…" {
		t.Errorf("shorten = %q", got)
	}
	if got := shorten("a b c", 3); got != "a b c" {
		t.Errorf("shorten = %q", got)
	}
	if got := tail(spoken(0, "|a b c.", "Anna|d e"), 3); got != "…Anna: d e" {
		t.Errorf("tail = %q", got)
	}
}

func TestKeyTerms(t *testing.T) {
	got := keyTerms([]string{"The silo keeps maize dry, said Okello.", "Maize in the silo.", "仓库里的玉米，仓库很干。"}, 5)
	if want := "[silo maize Okello 仓库里]"; fmt.Sprint(got) != want && fmt.Sprint(got) != "[silo maize Okello]" {
		t.Errorf("keyTerms = %v", got)
	}
	if got := keyTerms([]string{"nothing twice"}, 5); len(got) != 0 {
		t.Errorf("a term that stands once is no key term: %v", got)
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		n, k int
		want string
	}{{0, 10, "[]"}, {1, 10, "[0]"}, {5, 10, "[0 1 2 3 4]"}, {10, 10, "[0 1 2 3 4 5 6 7 8 9]"}, {19, 10, "[0 2 4 6 8 10 12 14 16 18]"}, {60, 4, "[0 20 39 59]"}, {7, 1, "[0]"}} {
		if got := fmt.Sprint(spread(c.n, c.k)); got != c.want {
			t.Errorf("spread(%d, %d) = %s, want %s", c.n, c.k, got, c.want)
		}
	}
}

// A hostile or huge clip must neither crash nor make an endless text.
func TestExtractiveOddInput(t *testing.T) {
	odd := []string{"", " ", "\x00", "\xff\xfe", strings.Repeat("a", 1<<20), strings.Repeat("wort ", 20000), strings.Repeat("字", 20000), "....", "。。。", "?!", "👍", "{pause}", "- ", "Anna:", strings.Repeat("A. ", 5000)}
	for i, text := range odd {
		c := spoken(0, "|"+text, "Ünï|"+text)
		m := Material{Source: testAudio, Span: c.Span, Clips: []Clip{c, written(text, text)}}
		root, _, err := BuildStretch(context.Background(), Extractive{}, m, BuildOptions{})
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		if w := Words(root.Text); w > 300 {
			t.Errorf("case %d: L1 has %d words", i, w)
		}
	}
}
