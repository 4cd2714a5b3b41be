//go:build e2e

package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
)

// chatService is the demo, ingested without a model, behind a service whose
// answers come from a scripted chat model.
func chatService(t testing.TB) (*service, *testkit.Endpoint) {
	t.Helper()
	e, data := testkit.NewEndpoint(t), t.TempDir()
	ingestOne(t, data, demo(t))
	return serve(t, data, "--llm-url", e.URL, "--llm-model", "scripted"), e
}

// answering tells the call that writes the answer from the critic's.
func answering(c testkit.Call) bool { return strings.HasPrefix(c.System, "You answer questions") }

// onAnswers is a script that misbehaves in the calls that write answers.
func onAnswers(mode string) func(testkit.Call) string {
	return func(c testkit.Call) string {
		if answering(c) {
			return mode
		}
		return ""
	}
}

// textOf joins the tokens of a stream and checks their hash at its end.
func textOf(t *testing.T, all []frame) string {
	t.Helper()
	var text strings.Builder
	for _, f := range all {
		if f.Type == "token" {
			text.WriteString(f.Text)
		}
	}
	sum := sha256.Sum256([]byte(text.String()))
	if last := all[len(all)-1]; last.TextSHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("the hash at the end is not that of %q: %+v", text.String(), last)
	}
	return text.String()
}

// citedNumbers are the numbers of the citations, in order.
func citedNumbers(all []frame) (n []int) {
	for _, f := range all {
		if f.Type == "citation" {
			n = append(n, f.N)
		}
	}
	return n
}

// TestChatAnswerIsStreamedAndCited: the words are the model's, its marks have
// become citation events at their places, every call is counted, and the model
// saw the evidence the client saw.
func TestChatAnswerIsStreamedAndCited(t *testing.T) {
	s, e := chatService(t)
	e.Script(onAnswers("ok-slow:2ms"))
	c := dial(t, s)
	c.say(asking(demoQuestion, "cited", nil))
	all := c.until("done", nil)
	if err := ordered(all); err != nil {
		t.Error(err)
	}
	text, last := textOf(t, all), all[len(all)-1]
	var said testkit.Call
	for _, call := range e.Calls() {
		if answering(call) {
			said = call
		}
	}
	if last.Finish != "stop" || last.Usage.Calls != e.Count() || last.Usage.DroppedCitations != 0 {
		t.Errorf("done says %+v after %d calls", last, e.Count())
	}
	plain := said.Reply
	for n := range 10 {
		plain = strings.ReplaceAll(plain, fmt.Sprintf(" [%d]", n), "")
	}
	if text != plain || strings.ContainsAny(text, "[]") || len(citedNumbers(all)) != strings.Count(said.Reply, "[") {
		t.Errorf("the answer %q with citations %v does not stand for %q", text, citedNumbers(all), said.Reply)
	}
	for _, f := range all {
		switch {
		case f.Type == "evidence" && !strings.Contains(said.Prompt, f.Quote):
			t.Errorf("evidence %d was not shown to the model", f.N)
		case f.Type == "citation" && (!endsSentence(text, f.At) || f.Support < 0.5):
			t.Errorf("citation %+v stands at %q", f, string([]rune(text)[:f.At]))
		}
	}
}

// endsSentence holds for a place right before a full stop: the scripted model
// puts its marks there.
func endsSentence(text string, at int) bool {
	r := []rune(text)
	return at > 0 && at < len(r) && r[at] == '.'
}

// TestChatTokensComeWhileTheModelWrites: the model stops after five words and
// never ends; the client has them all the same.
func TestChatTokensComeWhileTheModelWrites(t *testing.T) {
	s, e := chatService(t)
	e.Script(onAnswers("hang-3:5"))
	c := dial(t, s)
	c.say(asking(demoQuestion, "flow", nil))
	words := ""
	c.until("token", func(f frame) { words += f.Text })
	for len(strings.Fields(words)) < 4 { // the fifth may still become a mark
		words += c.hear().Text
	}
	for _, call := range e.Calls() {
		if answering(call) && (testkit.Ended(call) || !strings.HasPrefix(call.Reply, words)) {
			t.Errorf("%q came, but the model has ended or says %q", words, call.Reply)
		}
	}
}

// TestChatUnknownNumbersAreDropped: numbers and times that stand in no evidence
// are neither cited nor shown, and they are counted.
func TestChatUnknownNumbersAreDropped(t *testing.T) {
	s, e := chatService(t)
	c := dial(t, s)
	for mode, least := range map[string]int{"bad-number": 4, "bad-time": 1, "bad-node": 1} {
		e.Script(onAnswers(mode))
		c.say(asking(demoQuestion, mode, nil))
		all := c.until("done", nil)
		if err := ordered(all); err != nil { // also that every cited number is that of evidence
			t.Errorf("%s: %v", mode, err)
		}
		text := textOf(t, all)
		last := all[len(all)-1]
		if last.Finish != "stop" || last.Usage.DroppedCitations < least {
			t.Errorf("%s: done says %+v", mode, last)
		}
		for _, foreign := range []string{"97", "98", "96", "[", "]", "99:59", strings.Repeat("b", 26), "7.7.7"} {
			if strings.Contains(text, foreign) {
				t.Errorf("%s: %q holds %q", mode, text, foreign)
			}
		}
	}
}

// closedWithin waits for the end of every call from n on and fails for one that
// outlived the cancel by more than 200 ms.
func closedWithin(t *testing.T, e *testkit.Endpoint, from int, cancelled time.Time) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	for n := from; n < e.Count(); n++ {
		call, err := e.Wait(ctx, n, testkit.Ended)
		if err != nil {
			t.Errorf("call %d is still open 10 s after the cancel", n)
			return
		}
		if d := call.Closed.Sub(cancelled); d > 200*time.Millisecond {
			t.Errorf("call %d was closed %v after the cancel", n, d)
		}
	}
}

// TestChatCancelAtEveryEvent cancels after the first, second, third … event of
// an answer. Wherever it is, the endpoint sees its request closed within 200 ms
// and the stream ends as cancelled, with the hash of what was said.
func TestChatCancelAtEveryEvent(t *testing.T) {
	s, e := chatService(t)
	e.Script(onAnswers("ok-slow:60ms"))
	c := dial(t, s)
	tokens, midway := 0, false
	for k := 0; tokens < 4; k++ {
		from, seen := e.Count(), 0
		var cancelled time.Time
		kind := ""
		c.say(asking(demoQuestion, fmt.Sprint("cancel-", k), nil))
		all := c.until("done", func(f frame) {
			if seen++; seen == k+1 {
				c.say(map[string]any{"type": "cancel", "stream": f.Stream})
				cancelled, kind = time.Now(), f.Type
			}
		})
		last := all[len(all)-1]
		if kind == "token" {
			tokens++
		}
		midway = midway || kind == "evidence"
		if err := ordered(all); err != nil || last.Finish != "cancelled" || last.Heard.Sub(cancelled) > time.Second {
			t.Errorf("cancelled at event %d (%s): %v, %+v after %v", k, kind, err, last, last.Heard.Sub(cancelled))
		}
		textOf(t, all)
		closedWithin(t, e, from, cancelled)
	}
	if !midway {
		t.Error("no cancel fell on an evidence event")
	}
}

// TestChatCancelWhileTheModelIsSilent: before its headers, between headers and
// first word, behind some words, and while the critic thinks.
func TestChatCancelWhileTheModelIsSilent(t *testing.T) {
	s, e := chatService(t)
	c := dial(t, s)
	for name, script := range map[string]func(testkit.Call) string{
		"hang": onAnswers("hang"), "hang-headers": onAnswers("hang-headers"), "hang-3": onAnswers("hang-3"),
		"critic": func(c testkit.Call) string { return map[bool]string{true: "ok", false: "hang"}[answering(c)] },
	} {
		e.Script(script)
		from := e.Count()
		c.say(asking(demoQuestion, name, nil))
		stream := c.until("accepted", nil)[0].Stream
		silent := from + 1
		if name == "critic" {
			silent = from
		}
		waitForCall(t, e, silent, func(c testkit.Call) bool { return name != "hang-3" || testkit.Speaking(c) })
		cancelled := time.Now()
		c.say(map[string]any{"type": "cancel", "stream": stream})
		all := c.until("done", nil)
		if last := all[len(all)-1]; last.Finish != "cancelled" {
			t.Errorf("%s: done says %+v", name, last)
		}
		closedWithin(t, e, from, cancelled)
		if calls := e.Calls(); !calls[silent].Cancelled || len(calls) != silent+1 {
			t.Errorf("%s: %d calls, the silent one was cancelled: %v", name, len(calls)-from, calls[silent].Cancelled)
		}
	}
}
