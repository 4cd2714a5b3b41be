package generate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/retrieve"
)

// library finds pieces by query: a double of retrieval that records its queries.
type library struct {
	found   map[string][]retrieve.Item // nothing found means weak
	queries []retrieve.Query
}

func (l *library) find(_ context.Context, q retrieve.Query, onRound func(retrieve.Round) error) (retrieve.Result, error) {
	l.queries = append(l.queries, q)
	items := l.found[q.Text]
	return retrieve.Result{Items: items, Weak: len(items) == 0, Coverage: 1}, onRound(retrieve.Round{Round: 1, Queries: []string{q.Text}, Considered: 9, Kept: items})
}

// verdicts is a critic that says these one after the other, then enough.
func verdicts(all ...Verdict) (Critic, *[]Standing) {
	var seen []Standing
	return func(_ context.Context, s Standing) (Verdict, error) {
		s.Queries, s.Known, s.Tried = slices.Clone(s.Queries), slices.Clone(s.Known), slices.Clone(s.Tried)
		seen = append(seen, s)
		if len(seen) > len(all) {
			return Verdict{Enough: true, Usage: Usage{Calls: 1}}, nil
		}
		v := all[len(seen)-1]
		v.Usage.Calls++
		return v, nil
	}, &seen
}

func roundsOf(events []Event) (rounds []Round, evidence []Evidence) {
	for _, e := range events {
		switch e := e.(type) {
		case Round:
			rounds = append(rounds, e)
		case Evidence:
			evidence = append(evidence, e)
		}
	}
	return rounds, evidence
}

func TestCriticSearchesForWhatIsMissing(t *testing.T) {
	lib := &library{found: map[string][]retrieve.Item{"How far?": evidence[:1], "Cordouan distance": evidence[:2], "mercury bath": evidence[2:]}}
	critic, seen := verdicts(Verdict{Known: []string{"eight km"}, Missing: []string{"Cordouan"}, FollowUp: "Cordouan distance"},
		Verdict{Known: []string{"eight km", "thirty km"}, Missing: []string{"bath"}, FollowUp: " mercury\nbath "})
	a := &Answerer{Find: lib.find, Chat: says("Thirty [2], floating [3]."), Critic: critic}
	events, text := collect(t, a, Question{Text: "How far?"})
	rounds, ev := roundsOf(events)
	if len(rounds) != 3 || rounds[1].Round != 2 || rounds[1].Kept != 1 || rounds[2].Queries[0] != "mercury bath" {
		t.Errorf("rounds %+v", rounds)
	}
	if len(ev) != 3 || ev[1].N != 2 || ev[1].Quote != evidence[1].Quote {
		t.Errorf("evidence %+v: known pieces come once, numbers go on", ev)
	}
	if text != "Thirty, floating." || last(t, events).Usage.Calls != 3 {
		t.Errorf("%q, %+v", text, last(t, events).Usage)
	}
	if s := (*seen)[1]; !slices.Equal(s.Queries, []string{"How far?", "Cordouan distance"}) || !slices.Equal(s.Tried, []string{"Cordouan"}) || len(s.Evidence) != 2 {
		t.Errorf("the second verdict is about %+v", s)
	}
	if s := (*seen)[1]; !slices.Equal(s.Known, []string{"eight km"}) {
		t.Errorf("the second verdict knows %q", s.Known)
	}
	for _, q := range lib.queries {
		if q.Rounds != 1 {
			t.Errorf("query %q has %d rounds of its own", q.Text, q.Rounds)
		}
	}
	if first, later := lib.queries[0].Budget, lib.queries[1].Budget; first != 0 || later != defaultBudget-evidence[0].Tokens {
		t.Errorf("budgets %d and %d", first, later)
	}
}

func TestRoundsEnd(t *testing.T) {
	found := map[string][]retrieve.Item{"How far?": evidence[:1], "something else entirely": evidence[:1], "third thing": evidence[1:]}
	for name, c := range map[string]struct {
		verdict Verdict
		options Options
		calls   int // of the critic
		queries int
	}{
		"enough":            {Verdict{Enough: true, FollowUp: "third thing"}, Options{}, 1, 1},
		"no follow-up":      {Verdict{Missing: []string{"x"}}, Options{}, 1, 1},
		"an old query":      {Verdict{FollowUp: "far, how?"}, Options{}, 1, 1},
		"only known pieces": {Verdict{FollowUp: "something else entirely"}, Options{}, 1, 2},
		"round limit":       {Verdict{FollowUp: "third thing"}, Options{Rounds: 2}, 1, 2},
		"one round":         {Verdict{FollowUp: "third thing"}, Options{Rounds: 1}, 0, 1},
		"extractive":        {Verdict{FollowUp: "third thing"}, Options{Answerer: "extractive"}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			lib := &library{found: found}
			critic, seen := verdicts(c.verdict)
			a := &Answerer{Find: lib.find, Chat: says("Eight [1]."), Critic: critic}
			events, _ := collect(t, a, Question{Text: "How far?", Options: c.options})
			if len(*seen) != c.calls || len(lib.queries) != c.queries || last(t, events).Finish != FinishStop {
				t.Errorf("%d verdicts, %d queries, %+v", len(*seen), len(lib.queries), last(t, events))
			}
		})
	}
}

func TestFailingCriticCostsTheRoundsOnly(t *testing.T) {
	lib := &library{found: map[string][]retrieve.Item{"How far?": evidence[:1]}}
	critic := func(context.Context, Standing) (Verdict, error) {
		return Verdict{FollowUp: "third thing", Usage: Usage{Calls: 1}}, errors.New("no JSON")
	}
	events, text := collect(t, &Answerer{Find: lib.find, Chat: says("Eight [1]."), Critic: critic}, Question{Text: "How far?"})
	if d := last(t, events); d.Finish != FinishStop || text != "Eight." || d.Usage.Calls != 2 {
		t.Errorf("%+v %q", d, text)
	}
}

func TestFollowUpRescuesAWeakFirstRound(t *testing.T) {
	lib := &library{found: map[string][]retrieve.Item{"lamp range": evidence[:1]}}
	critic, _ := verdicts(Verdict{FollowUp: "lamp range"})
	events, _ := collect(t, &Answerer{Find: lib.find, Chat: says("Eight [1]."), Critic: critic}, Question{Text: "How far?"})
	if d := last(t, events); d.Finish != FinishStop {
		t.Errorf("%+v", d)
	}
	critic, _ = verdicts(Verdict{FollowUp: "nothing there"})
	events, _ = collect(t, &Answerer{Find: lib.find, Chat: says("Eight [1]."), Critic: critic}, Question{Text: "How far?"})
	if d := last(t, events); d.Finish != FinishNotFound {
		t.Errorf("%+v", d)
	}
}

func TestCriticReadsAndWritesJSON(t *testing.T) {
	var request ChatRequest
	reply := ""
	chat := func(_ context.Context, r ChatRequest, onToken func(string) error) (ChatReply, error) {
		request = r
		return ChatReply{Text: reply, Finish: "stop", TokensIn: 7, TokensOut: 3}, onToken(reply)
	}
	s := Standing{Question: "How far?", Queries: []string{"How far?", "lamp <b>"}, Known: []string{"eight <km>"}, Tried: []string{"the year"}}
	for i, it := range evidence[:2] {
		s.Evidence, s.Items = append(s.Evidence, NewEvidence(i+1, it)), append(s.Items, it)
	}
	for text, want := range map[string]Verdict{
		`{"sufficient":true,"known":["eight\nkm","  "],"missing":[],"follow_up":""}`:                                  {Enough: true, Known: []string{"eight km"}},
		"Sure!\n```json\n{\"sufficient\":false,\"missing\":[\"a\",\"b\",\"c\",\"d\"],\"follow_up\":\"who {x}\"}\n```": {Missing: []string{"a", "b", "c"}, FollowUp: "who {x}"},
		`{"sufficient":false,"extra":1} trailing`:                                                                     {},
	} {
		reply = text
		v, err := NewCritic(chat)(t.Context(), s)
		if err != nil || v.Enough != want.Enough || !slices.Equal(v.Known, want.Known) || !slices.Equal(v.Missing, want.Missing) || v.FollowUp != want.FollowUp || v.Usage != (Usage{Calls: 1, TokensIn: 7, TokensOut: 3}) {
			t.Errorf("%s: %+v %v", text, v, err)
		}
	}
	for _, text := range []string{"", "no", `{"sufficient":`, `{"sufficient":"yes"}`, `{"missing":[]}`, "[1]"} {
		reply = text
		if v, err := NewCritic(chat)(t.Context(), s); err == nil || v.Usage.Calls != 1 {
			t.Errorf("%q is taken for a verdict: %+v", text, v)
		}
	}
	golden(t, "critic.txt", request.System+"\n-----\n"+request.Text+"-----\n"+string(request.JSONSchema)+"\n")
}

func FuzzVerdict(f *testing.F) {
	f.Add(`{"sufficient":false,"missing":["a"],"follow_up":"b"}`)
	f.Add("```{\"sufficient\":1}")
	f.Fuzz(func(t *testing.T, reply string) {
		var v Verdict
		if err := v.read(reply); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is no sentence", err)
		}
		if len(v.Missing) > mostMissing || len(v.Known) > mostKnown {
			t.Errorf("%d facts", len(v.Missing))
		}
	})
}
