package generate

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/reeltree/reeltree/retrieve"
)

// TestEveryEndHasOneDone holds the finish of each way a model's reply may end.
func TestEveryEndHasOneDone(t *testing.T) {
	reply := func(finish string, err error, tokens ...string) Chat {
		return func(_ context.Context, _ ChatRequest, onToken func(string) error) (ChatReply, error) {
			for _, token := range tokens {
				if err := onToken(token); err != nil {
					return ChatReply{}, err
				}
			}
			return ChatReply{Finish: finish, TokensIn: 3}, err
		}
	}
	endless := func(_ context.Context, _ ChatRequest, onToken func(string) error) (ChatReply, error) {
		for {
			if err := onToken(strings.Repeat("word ", 100)); err != nil {
				return ChatReply{}, err
			}
		}
	}
	for name, c := range map[string]struct {
		chat    Chat
		finish  string
		text    string
		message string
		note    bool
	}{
		"stop":                   {reply("stop", nil, "Eight", " [1]."), FinishStop, "Eight.", "", false},
		"length":                 {reply("length", nil, "Eight"), FinishLength, "Eight", "", false},
		"no finish":              {reply("", nil, "Eight"), FinishError, "Eight", "without saying why", false},
		"unknown finish":         {reply("tool_calls", nil, "Eight"), FinishError, "Eight", "without saying why", false},
		"failure after words":    {reply("", errors.New("cut\noff"), "Eight [1"), FinishError, "Eight [1", "cut off", false},
		"failure before words":   {reply("", errors.New("cut off")), FinishStop, "*", "", true},
		"nothing said":           {reply("stop", nil), FinishStop, "*", "", true},
		"only a held mark":       {reply("stop", nil, "[9]"), FinishStop, "*", "", true},
		"runs away":              {endless, FinishLength, "*", "", false},
		"own error keeps retry":  {reply("", &Error{Kind: KindModel, Message: "refused"}, "Eight"), FinishError, "Eight", "refused", false},
		"failure before no word": {reply("", errors.New("down"), " "), FinishStop, "*", "", true},
		"only blanks":            {reply("stop", nil, "   ", "\n\t"), FinishStop, "*", "", true},
		"only unseen signs":      {reply("stop", nil, "\u200b", "\ufeff \u00a0"), FinishStop, "*", "", true},
		"only marks":             {reply("stop", nil, " [1]", " [2] "), FinishStop, "*", "", true},
		"blanks before words":    {reply("stop", nil, "\n ", " Eight", " [1]."), FinishStop, "Eight.", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			events, text := collect(t, &Answerer{Find: finder(false, evidence...), Chat: c.chat}, Question{Text: "How far?"})
			d := last(t, events)
			if d.Finish != c.finish || c.text != "*" && text != c.text || (d.Note != "") != c.note || (d.Error != nil) != (c.message != "") {
				t.Errorf("%+v %.40q", d, text)
			}
			if d.Error != nil && (!strings.Contains(d.Error.Message, c.message) || d.Error.Kind != KindModel || strings.Contains(d.Error.Message, "\n")) {
				t.Errorf("%+v", d.Error)
			}
			if c.note && (text == "" || strings.TrimSpace(text) != text) {
				t.Errorf("the evidence answered %q", text)
			}
		})
	}
}

// TestOnlyBlanksAreNoAnswer: where the model alone may answer, one that says
// nothing to be seen ends in an error.
func TestOnlyBlanksAreNoAnswer(t *testing.T) {
	a := &Answerer{Find: finder(false, evidence...), Chat: says("   ")}
	events, text := collect(t, a, Question{Text: "How far?", Options: Options{Answerer: "model"}})
	if d := last(t, events); d.Finish != FinishError || d.Error == nil || !strings.Contains(d.Error.Message, "said nothing") || text != "" {
		t.Errorf("%+v %q", d, text)
	}
}

// TestCancelAtEveryEvent cancels an answer at each of its events, with and
// without a model: what follows is one done that says so.
func TestCancelAtEveryEvent(t *testing.T) {
	for name, chat := range map[string]Chat{"extractive": nil, "model": says("Eight [1], thirty [2].", 2, 5, 9, 12, 14)} {
		events, _ := collect(t, &Answerer{Find: finder(false, evidence...), Chat: chat}, Question{Text: "How many kilometres?"})
		for at := range len(events) - 1 {
			ctx, cancel := context.WithCancel(t.Context())
			var got []Event
			find := func(ctx context.Context, q retrieve.Query, onRound func(retrieve.Round) error) (retrieve.Result, error) {
				r, err := finder(false, evidence...)(ctx, q, onRound)
				return r, errors.Join(err, ctx.Err())
			}
			err := (&Answerer{Find: find, Chat: chat}).Answer(ctx, Question{Tenant: "default", Text: "How many kilometres?"}, func(e Event) error {
				if got = append(got, e); len(got) == at+1 {
					cancel()
				}
				return nil
			})
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			if d := last(t, got); d.Finish != FinishCancelled || d.Error != nil || len(got) > at+5 {
				t.Errorf("%s cancelled at event %d: %d events, %+v", name, at, len(got), d)
			}
		}
	}
}

func TestDeadlineIsAnError(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	var got []Event
	hang := func(ctx context.Context, _ ChatRequest, _ func(string) error) (ChatReply, error) {
		<-ctx.Done()
		return ChatReply{}, ctx.Err()
	}
	err := (&Answerer{Find: finder(false, evidence...), Chat: hang}).Answer(ctx, Question{Tenant: "default", Text: "How far?"}, func(e Event) error {
		got = append(got, e)
		return nil
	})
	if d := last(t, got); err != nil || d.Finish != FinishError || d.Error == nil || d.Error.Kind != KindModel || !d.Error.Retry {
		t.Errorf("%v %+v", err, d)
	}
}

func TestGoneListenerEndsTheAnswer(t *testing.T) {
	gone := errors.New("gone")
	for _, chat := range []Chat{nil, says("Eight [1], thirty [2].")} {
		for at := range 9 {
			n := 0
			err := (&Answerer{Find: finder(false, evidence...), Chat: chat}).Answer(t.Context(), Question{Tenant: "default", Text: "How many kilometres?"}, func(Event) error {
				if n++; n > at {
					return gone
				}
				return nil
			})
			if n > at && (!errors.Is(err, gone) || n != at+1) {
				t.Errorf("at event %d: %v after %d events", at, err, n)
			}
		}
	}
}

func TestRetrievalFailures(t *testing.T) {
	for kind, cause := range map[Kind]error{KindRetrieval: errors.New("disk\nfull"), KindBadQuestion: retrieve.ErrQuestion} {
		find := func(context.Context, retrieve.Query, func(retrieve.Round) error) (retrieve.Result, error) {
			return retrieve.Result{}, cause
		}
		events, _ := collect(t, &Answerer{Find: find}, Question{Text: "How far?"})
		if d := last(t, events); d.Finish != FinishError || d.Error.Kind != kind || d.Error.Retry != (kind == KindRetrieval) || len(events) != 1 {
			t.Errorf("%s: %+v", kind, d.Error)
		}
	}
	events, _ := collect(t, &Answerer{Find: finder(false, evidence...)}, Question{Text: "How far?", Options: Options{Answerer: "model"}})
	if d := last(t, events); d.Finish != FinishError || len(events) != 1 {
		t.Errorf("a model is asked for and none is there: %+v", d)
	}
}
