package generate

import (
	"context"
	"encoding/json"
	"errors"
)

// Chat streams the reply of a chat model; onToken gets every piece of text and
// its error ends the call. A reply without error has seen a finish reason.
// Deadlines and retries are the implementation's.
type Chat func(ctx context.Context, r ChatRequest, onToken func(string) error) (ChatReply, error)

// ChatRequest is one call of a chat model.
type ChatRequest struct {
	System     string
	Text       string
	Images     [][]byte // JPEG
	MaxTokens  int
	JSONSchema json.RawMessage // nil: free text
}

// ChatReply is the end of a call.
type ChatReply struct {
	Text      string
	Finish    string // "stop" or "length"; empty: none was seen
	TokensIn  int
	TokensOut int
}

// answerTokens is the most tokens of a model's answer.
const answerTokens = 1024

// ask answers with the words of the chat model over numbered evidence. What was
// sent before a failure stays; the finish then says that it is not whole.
func (a *Answerer) ask(ctx context.Context, q Question, w *writer) (string, error) {
	p := packEvidence(w.evidence, w.items, q.Options.BudgetTokens)
	images, of := a.pictures(ctx, q, w, p)
	s := &scanner{w: w, judge: a.newJudge(ctx, w), facts: factsOf(w.evidence, w.items, p.shown)}
	reply, err := a.call(ctx, q, p, images, of, w, s)
	if err != nil && len(images) > 0 && w.points == 0 && !s.began && ctx.Err() == nil && w.failed == nil {
		// The words are enough to answer from, and a model that takes no
		// pictures, or fewer, says so before its first word.
		a.log().Warn("the chat model failed over pictures and is asked again without", "error", err)
		w.usage.Pictures = 0
		reply, err = a.call(ctx, q, p, nil, nil, w, s)
	}
	if ctx.Err() == nil { // a cancelled answer ends where it was cancelled
		if flushErr := s.close(); err == nil {
			err = flushErr
		}
	}
	w.usage.DroppedCitations += s.dropped
	switch {
	case w.failed != nil:
		return FinishError, w.failed
	case errors.Is(err, errRunaway):
		return FinishLength, nil
	case err != nil:
		return FinishError, modelError(err)
	case ctx.Err() != nil && reply.Finish == "":
		return FinishCancelled, ctx.Err()
	case reply.Finish == "length":
		return FinishLength, nil
	case reply.Finish != "stop":
		return FinishError, &Error{Kind: KindModel, Message: "the chat model ended without saying why: ask again", Retry: true}
	case w.points == 0:
		return FinishError, &Error{Kind: KindModel, Message: "the chat model said nothing: ask again or use another model", Retry: true}
	}
	return FinishStop, nil
}

// call asks the chat model once; of are the evidence numbers of the pictures.
func (a *Answerer) call(ctx context.Context, q Question, p pack, images [][]byte, of []int, w *writer, s *scanner) (ChatReply, error) {
	w.usage.Calls++
	reply, err := a.Chat(ctx, ChatRequest{System: answerSystem(q), Text: answerPrompt(q, p, of), Images: images, MaxTokens: answerTokens},
		func(token string) error { return s.write(ctx, token) })
	w.usage.TokensIn += reply.TokensIn
	w.usage.TokensOut += reply.TokensOut
	return reply, err
}

func modelError(err error) error {
	if own := (*Error)(nil); errors.As(err, &own) {
		return own
	}
	return &Error{Kind: KindModel, Message: oneSentence(err), Retry: true, Cause: err}
}

// pictures loads frames of the shown evidence for a vision-capable model, the
// best evidence first, each frame once. A frame that cannot be read is left
// out: the words are there without it.
func (a *Answerer) pictures(ctx context.Context, q Question, w *writer, p pack) (images [][]byte, of []int) {
	most := a.Frames
	if q.Options.Frames > 0 {
		most = q.Options.Frames
	}
	if a.Pictures == nil || most <= 0 {
		return nil, nil
	}
	seen := map[string]bool{}
	for _, i := range byScore(w.evidence) {
		e := w.evidence[i]
		if e.frame == nil || !p.shown[e.N] || seen[e.frame.ID] || len(images) == most {
			continue
		}
		seen[e.frame.ID] = true
		jpeg, err := a.Pictures(ctx, q.Tenant, e.frame.ID)
		if err != nil {
			a.log().Warn("the picture of a piece of evidence cannot be read", "frame", e.frame.ID, "error", err)
			continue
		}
		images, of = append(images, jpeg), append(of, e.N)
	}
	w.usage.Pictures = len(images)
	return images, of
}
