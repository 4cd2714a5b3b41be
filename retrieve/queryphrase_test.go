package retrieve

import (
	"math"
	"slices"
	"testing"
)

func TestTokensLookLikeNumbersAndNames(t *testing.T) {
	looks := func(text string) (out []token) {
		for _, w := range tokensOf(text) {
			out = append(out, w&^tokenKey)
		}
		return out
	}
	for text, want := range map[string][]token{
		"In 1521 Martin Luther wrote": {0, tokenNumber, tokenName, tokenName, 0},
		"Luther wrote":                {0, 0}, // every sentence begins with a capital
		"a MP3 of Élodie":             {0, tokenNumber | tokenName, 0, tokenName},
		"路德将目标":                       {0, 0, 0, 0}, // pairs of five characters
		"":                            nil,
		"क्या 1521 में":               {0, tokenNumber, 0},
	} {
		if got := looks(text); !slices.Equal(got, want) {
			t.Errorf("%q looks like %v, want %v", text, got, want)
		}
	}
	if a, b := tokensOf("the Light"), tokensOf("light, the"); a[1]&tokenKey != b[0]&tokenKey || a[0]&tokenKey != b[1]&tokenKey {
		t.Error("one word has two keys")
	}
}

func TestPhrasesHeld(t *testing.T) {
	p := readPhrases("Who built the red lamp house?") // who-built, built-the, the-red, red-lamp, lamp-house
	for text, want := range map[string]uint64{
		"the red lamp":            0b01100,
		"a red, lamp house":       0b11000,
		"lamp red the":            0,
		"who built a house":       0b00001,
		"":                        0,
		"lamp houses and the red": 0b10100, // forms of a word are one
	} {
		if got, _ := p.heldBy(tokensOf(text)); got != want {
			t.Errorf("%q holds %05b, want %05b", text, got, want)
		}
	}
	_, looks := p.heldBy(tokensOf("It was Smeaton in 1759"))
	if looks != tokenName|tokenNumber {
		t.Errorf("tells %b", looks)
	}
	if _, looks := readPhrases("What did Smeaton build in 1759?").heldBy(tokensOf("It was Smeaton in 1759")); looks != 0 {
		t.Errorf("what the question names itself is no answer: %b", looks)
	}
}

// Hand-worked: of four units two hold the first pair and one the second.
func TestPhrasesAreWeighedByHowRareTheyAre(t *testing.T) {
	p := readPhrases("red lamp house")
	p.weigh([][]uint64{{0b01, 0b11}, {0, 0}})
	a, b := math.Log1p((4-2+.5)/(2+.5)), math.Log1p((4-1+.5)/(1+.5))
	near(t, "one", p.share(0b01), a/(a+b))
	near(t, "both", p.share(0b11), 1)
	near(t, "none", p.share(0), 0)
	for _, text := range []string{"", "lamp"} { // no pair at all
		p = readPhrases(text)
		p.weigh([][]uint64{{0, 0}})
		near(t, text, p.share(0), 0)
	}
	long := ""
	for range 200 {
		long += "red lamp house "
	}
	if p := readPhrases(long); len(p.second) != mostPhrases {
		t.Errorf("%d pairs of a long question", len(p.second))
	}
}

func TestLooksOfAnAnswer(t *testing.T) {
	for text, want := range map[string]token{
		"When did it open?": tokenNumber, "How many lamps are there?": tokenNumber, "¿Cuándo abrió?": tokenNumber, "路德什么时候写的": tokenNumber,
		"متى افتتح؟": tokenNumber, "यह कब खुला?": tokenNumber, "Who built it?": tokenName, "¿Quién lo construyó?": tokenName, "Где он стоит?": tokenName,
		"Why is it red?": 0, "": 0, "The whole story": 0,
	} {
		if got := (&question{text: text}).looks(); got != want {
			t.Errorf("%q wants %b, not %b", text, got, want)
		}
	}
}
