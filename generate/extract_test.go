package generate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

func TestListQuestionsGetAList(t *testing.T) {
	pieces := []retrieve.Item{
		made(60_000, "The museum shows a lens from Paris. It is closed on Mondays."), made(20_000, "A second lens came from London."), made(90_000, "The third lens was lost at sea."),
	}
	_, text := collect(t, &Answerer{Find: finder(false, pieces...)}, Question{Text: "Which lens is where?"})
	if want := "- A second lens came from London.\n- The museum shows a lens from Paris.\n- The third lens was lost at sea."; text != want {
		t.Errorf("%q", text)
	}
	_, text = collect(t, &Answerer{Find: finder(false, pieces...)}, Question{Text: "Where did a second lens come from?"})
	if want := "A second lens came from London.\n\n- The museum shows a lens from Paris.\n- The third lens was lost at sea."; text != want {
		t.Errorf("the best sentence leads, points follow in order: %q", text)
	}
}

func TestExtractiveAnswerHasVariety(t *testing.T) {
	again := made(30_000, "A ship could see the lamp from eight kilometres.")
	_, text := collect(t, &Answerer{Find: finder(false, append([]retrieve.Item{again}, evidence...)...)}, Question{Text: "From how far could a ship see the lamp?"})
	if strings.Count(text, "eight kilometres") != 1 {
		t.Errorf("said twice: %q", text)
	}
	near := made(30_000, "So a ship could just see the lamp from the eight kilometres, yes.")
	_, text = collect(t, &Answerer{Find: finder(false, append([]retrieve.Item{near}, evidence...)...)}, Question{Text: "From how far could a ship see the lamp?"})
	if strings.Count(text, "eight kilometres") != 1 {
		t.Errorf("said twice in nearly the same words: %q", text)
	}
}

func TestExtractiveAnswersInOtherScripts(t *testing.T) {
	for question, quote := range map[string]string{
		"光从多远可以看到？":                "最好的镜子损失了一半的光。船只可以从八公里外看到灯光。",
		"कितनी दूर से रोशनी दिखी?": "जहाज़ से रोशनी आठ किलोमीटर दूर से दिखी। यह पुरानी थी।",
		"من أين يُرى الضوء؟":       "يمكن رؤية الضوء من ثمانية كيلومترات. هل هذا كافٍ؟",
	} {
		events, text := collect(t, &Answerer{Find: finder(false, made(0, quote))}, Question{Text: question})
		tokens := 0
		for _, e := range events {
			if token, ok := e.(Token); ok {
				tokens++
				if !utf8.ValidString(token.Text) || utf8.RuneCountInString(token.Text) > 40 {
					t.Errorf("token %q", token.Text)
				}
			}
		}
		if text == "" || tokens < 2 || !strings.Contains(quote, strings.Split(text, "\n")[0]) {
			t.Errorf("%q in %d tokens", text, tokens)
		}
	}
}

// TestScoresByHand: of three sentences one holds both words of the question, one
// a word that two hold, one none; the weights are those of BM25 with k1 1.2, b .4.
func TestScoresByHand(t *testing.T) {
	paper := lens
	paper.Kind = tree.KindDocument
	for _, src := range []tree.Source{paper, lens} {
		points := scorePoints(gatherPoints([]Evidence{
			NewEvidence(1, of(src, .5, "The lamp burned with whale oil.")),
			NewEvidence(2, of(src, .9, "The lamp was seen at night.")),
			NewEvidence(3, of(src, .2, "Nobody counted the passing ships.")),
		}), "lamp oil")
		lamp, oil := math.Log1p(1.5/2.5), math.Log1p(2.5/1.5)
		norm := func(words float64) float64 { return 2.2 / (1 + 1.2*(.6+.4*words/(17./3))) }
		want := []float64{(lamp+oil)*norm(6)/(lamp+oil) + 5./9, lamp*norm(6)/(lamp+oil) + 1, 2. / 9 * .6}
		told := []telling{{joining: 2. / 6, asked: 2. / 6}, {joining: 3. / 6, asked: 1. / 6}, {joining: 1. / 5}}
		for i, p := range points {
			if src.Kind != tree.KindDocument { // what is written is told
				want[i] *= told[i].worth() * told[i].worth()
			}
			if math.Abs(p.score-want[i]) > 1e-9 {
				t.Errorf("%q: %v, want %v", p.text, p.score, want[i])
			}
		}
	}
}

func TestFragmentsStandOnlyWhereNothingElseDoes(t *testing.T) {
	fragment := made(5_000, "Lamp oil, right.")
	_, text := collect(t, &Answerer{Find: finder(false, fragment, made(9_000, "They bought the lamp oil in Paris."))}, Question{Text: "Who sold lamp oil?"})
	if text != "They bought the lamp oil in Paris." {
		t.Errorf("%q", text)
	}
	if _, text = collect(t, &Answerer{Find: finder(false, fragment)}, Question{Text: "Who sold lamp oil?"}); text != "Lamp oil, right." {
		t.Errorf("%q", text)
	}
}

// TestAnswersEnd holds the room of an answer and of a list.
func TestAnswersEnd(t *testing.T) {
	var pieces []retrieve.Item
	for i := range 40 {
		pieces = append(pieces, made(int64(i)*10_000, fmt.Sprintf("Lens number%d went to harbour%d with keeper%d on ship%d over a stormy sea%d.", i, i, i, i, i)))
	}
	for question, most := range map[string]int{"Where did a lens go?": mostWords, "Which lens went where?": mostWordsOfList} {
		_, text := collect(t, &Answerer{Find: finder(false, pieces...)}, Question{Text: question})
		if n := tree.Words(strings.ReplaceAll(text, "\n- ", "\n")); n < most/2 || n > most*5/4 {
			t.Errorf("%q: %d words of %d", question, n, most)
		}
	}
}

func TestNothingToQuote(t *testing.T) {
	_, text := collect(t, &Answerer{Find: finder(false, made(0, "... !"))}, Question{Text: "How far?"})
	if !strings.Contains(text, "no words to quote") {
		t.Errorf("%q", text)
	}
}

func TestCutSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"One. Two? Three!":                  {"One.", "Two?", "Three!"},
		"Dr. Fresnel met J. Arago. He left": {"Dr. Fresnel met J. Arago.", "He left"},
		"It is 3.5 km. Yes":                 {"It is 3.5 km.", "Yes"},
		"一。二！三":                             {"一。", "二！", "三"},
		"":                                  nil, "  \n ": nil, ".": {"."},
	} {
		if got := cutSentences(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
	if got := cutSentences(strings.Repeat("word ", 500)); len(got) < 6 || len(got[0]) > maxSentence+5 {
		t.Errorf("%d pieces, the first of %d bytes", len(got), len(got[0]))
	}
}

func TestKeywords(t *testing.T) {
	if got := keywords("The 3 lenses, LENSES of 1822 and 八公里"); !slices.Equal(got, []string{"1822", "3", "lenses", "八公", "公里"}) {
		t.Errorf("%q", got)
	}
}

// FuzzCutSentences holds that sentences and token pieces are parts of the text,
// in order, with nothing but blanks between them.
func FuzzCutSentences(f *testing.F) {
	f.Add("One. Two? 三。four")
	f.Add(strings.Repeat("a ", 400))
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip()
		}
		rest := text
		for _, s := range cutSentences(text) {
			before, after, ok := strings.Cut(rest, s)
			if !ok || strings.TrimSpace(before) != "" {
				t.Fatalf("%q is not the next part of %q", s, rest)
			}
			rest = after
			if got := strings.Join(pieces(s), ""); got != s {
				t.Fatalf("%q in pieces is %q", s, got)
			}
		}
		if strings.TrimSpace(rest) != "" {
			t.Fatalf("%q is lost", rest)
		}
		keywords(text)
	})
}
