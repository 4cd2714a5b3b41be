package eval

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// check compares some metrics with hand-worked numbers.
func check(t *testing.T, y *tally, err error, want map[string]float64) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	got := y.metrics()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s: %v, want %v", name, got[name], want[name])
		}
	}
}

func TestScoreMomentsByHand(t *testing.T) {
	data := []video{
		{Video: "a", Queries: []caption{{Start: 0, End: 10}, {Start: 20, End: 30}}},
		{Video: "b", Queries: []caption{{Start: 5, End: 6}}},
	}
	y, err := scoreMoments(data, []momentLine{
		// overlap .4 first, exact second; the right video is second
		{"a", 0, []interval{{0, 4}, {0, 10}}, []momentHit{{"b", interval{0, 10}}, {"a", interval{0, 10}}}},
		// .5 exactly
		{"a", 1, []interval{{20, 25}}, []momentHit{{"a", interval{20, 30}}}},
		// b has no prediction
	})
	check(t, y, err, map[string]float64{
		"in_video_R1@0.3": .6667, "in_video_R1@0.5": .3333, "in_video_R5@0.7": .3333, "in_video_mIoU": .3,
		"library_video_R1": .3333, "library_video_R5": .6667, "library_moment_R1@0.5": .3333, "library_moment_R10@0.5": .6667,
	})
}

// talkOf has turns of ten words in four seconds each.
func talkOf(turns int) meeting {
	m := meeting{ID: "m-0"}
	for i := range turns {
		m.Turns = append(m.Turns, turn{Start: float64(4 * i), End: float64(4 * (i + 1)), Text: strings.Repeat("word ", 10)})
	}
	return m
}

func TestScoreMeetingsByHand(t *testing.T) {
	m := talkOf(20) // 200 words: evidence is cut at 20 words, 8 seconds
	m.Queries = []meetingQuery{{Turns: [][2]int{{2, 3}}}, {Turns: nil}, {Turns: [][2]int{{18, 99}}}}
	y, err := scoreMeetings([]meeting{m}, []meetingLine{
		{"m-0", 0, []interval{{12, 16}, {0, 40}}}, // 4 s of gold, then 0 to 4: the rest is cut
		{"m-0", 2, []interval{{72, 80}}},          // all of the gold
	})
	check(t, y, err, map[string]float64{
		"recall@10%": .75, "precision@10%": .75, "f1@10%": .75, "words_used": 20, "hit@1": 1, "hit@5": 1,
	})
	if len(y.rows) != 2 {
		t.Errorf("%d questions count, the one without gold must not", len(y.rows))
	}
}

func TestScoreMultihopByHand(t *testing.T) {
	pool := []hopPassage{{"A", "one two three"}, {"B", "four"}, {"A", "five six"}, {"C", "日本"}}
	data := []hopQuestion{{ID: "1", Gold: []string{"A", "B"}}, {ID: "2", Gold: []string{"C"}}}
	y, err := scoreMultihop(data, pool, []hopLine{{"1", []int{0, 2, 3}}, {"2", nil}})
	check(t, y, err, map[string]float64{"precision": .25, "recall": .25, "f1": .25, "words": 3.5, "passages": 1.5})
}

func TestScorePassagesByHand(t *testing.T) {
	long := strings.Repeat("word ", 58) + "the answer is here"
	data := []article{{
		Lang: "en", Doc: "d", Paragraphs: []string{long, "short one"},
		Queries: []articleQuery{{Paragraph: 0, Start: 290, Answer: "the answer"}, {Paragraph: 1, Start: 0, Answer: "short"}, {Paragraph: 1, Start: 6, Answer: "one"}},
	}}
	y, err := scorePassages(data, []passageLine{
		{"d", 0, []passageHit{{"d", 1, 0, 9}, {"d", 0, 0, 300}}}, // 2 + 60 words: the second does not fit any more
		{"d", 1, []passageHit{{"d", 1, 0, 4}}},                   // cuts the answer
		{"d", 2, []passageHit{{"d", 1, 6, 9}, {"d", 0, 0, 5}}},
	})
	check(t, y, err, map[string]float64{"en_paragraph_R1": .6667, "all_paragraph_R5": 1, "all_answer_in_60_words": .3333})
}

func TestScoreTablesByHand(t *testing.T) {
	p := page{
		Doc: "p", Table: [][]string{{"", "2019"}, {"Rope", "$1,250"}, {"Paint", "310"}}, Paragraphs: []string{"green and white paint"},
		Queries: []pageQuery{
			{Type: "arithmetic", Derivation: "1,250 - 310"},
			{Type: "count", From: "table"},
			{Type: "span", Answer: json.RawMessage(`["green","Rope"]`)},
			{Type: "span", Answer: json.RawMessage(`["absent"]`)},
			{Type: "count", From: "text"},
		},
	}
	y, err := scoreTables([]page{p}, []tableLine{
		{"p", 0, []int{1, 2, 2}, nil}, {"p", 1, []int{0, 1, 2}, nil}, {"p", 2, nil, []int{0}}, {"p", 3, nil, nil},
	})
	// 9 words in all; the kept ones are 4, 5 and 4; questions 3 and 4 rest on nothing and do not count
	check(t, y, err, map[string]float64{
		"all_evidence_complete": .6667, "arithmetic_evidence_complete": 1, "span_evidence_complete": 0,
		"arithmetic_words_kept": .4444, "count_words_kept": .5556, "all_words_kept": .4815,
	})
}

func TestScorersRefuse(t *testing.T) {
	v := []video{{Video: "a", Queries: []caption{{}}}}
	m := talkOf(3)
	m.Queries = []meetingQuery{{Turns: [][2]int{{0, 0}}}}
	pool, hop := []hopPassage{{"A", "a"}}, []hopQuestion{{ID: "1", Gold: []string{"A"}}}
	docs := []article{{Lang: "en", Doc: "d", Paragraphs: []string{"p"}, Queries: []articleQuery{{Answer: "p"}}}}
	pages := []page{{Doc: "p", Table: [][]string{{"a"}}, Queries: []pageQuery{{Type: "span", Answer: json.RawMessage(`"a"`)}}}}
	run := map[string]func() (*tally, error){
		"unknown video": func() (*tally, error) {
			return scoreMoments(v, []momentLine{{"a", 0, nil, []momentHit{{"z", interval{}}}}})
		},
		"unknown question": func() (*tally, error) { return scoreMoments(v, []momentLine{{"a", 1, nil, nil}}) },
		"two predictions":  func() (*tally, error) { return scoreMoments(v, []momentLine{{"a", 0, nil, nil}, {"a", 0, nil, nil}}) },
		"ends before": func() (*tally, error) {
			return scoreMeetings([]meeting{m}, []meetingLine{{"m-0", 0, []interval{{2, 2}}}})
		},
		"not in the pool": func() (*tally, error) { return scoreMultihop(hop, pool, []hopLine{{"1", []int{1}}}) },
		"which is not there": func() (*tally, error) {
			return scorePassages(docs, []passageLine{{"d", 0, []passageHit{{"d", 1, 0, 1}}}})
		},
		"that p does not hav": func() (*tally, error) { return scoreTables(pages, []tableLine{{"p", 0, []int{-1}, nil}}) },
	}
	for want, score := range run {
		if _, err := score(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestNumbersOfAnswers(t *testing.T) {
	q := pageQuery{Answer: json.RawMessage(`[12, 1.50, "x", 2.0, 1e3]`)}
	if got := q.answers(); !slices.Equal(got, []string{"12", "1.5", "x", "2.0", "1000.0"}) {
		t.Errorf("%q", got)
	}
	if got := distinctTexts(numbers.FindAllString("($1,250.5 - 310) / 310", -1), digits); !slices.Equal(got, []string{"1250.5", "310"}) {
		t.Errorf("%q", got)
	}
}
