package server

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/reeltree/reeltree/generate"
)

// startAnswer begins the answer of a request, or finds the one that the same
// request id has begun, even before a restart. The answer runs on while nobody listens.
func (s *Server) startAnswer(ctx context.Context, tenant, request string, q generate.Question) (*eventStream, error) {
	q.Tenant = tenant
	if err := q.Validate(); err != nil {
		return nil, err
	}
	hash := bodyHash(q)
	if request == "" {
		request = newEpoch() + newEpoch()
	}
	old, err := s.before(ctx, tenant, request)
	if err != nil {
		return nil, err
	}
	ctx, err = s.admit()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	st, fresh := s.hub.claim(tenant, request, func() *eventStream {
		if old != nil {
			return old
		}
		st := newStream(streamID(tenant, request), tenant, 0)
		st.request, st.hash, st.cancel, st.sign = request, hash, cancel, s.ticket // before others can see it
		return st
	})
	if !fresh || st == old {
		cancel()
		s.leave()
		if st.hash != hash {
			return nil, newError(codeIDReused, "the id %.60q was used for another question: use a new id for each question", request)
		}
		return st, nil
	}
	place := s.takeTurn(st) // here, so that who asks first is first in line
	go func() {             // admit counted it in, leave counts it out
		defer s.leave()
		defer cancel()
		s.runAnswer(ctx, st, place, q)
	}()
	return st, nil
}

// admit counts an answer in, or says that too many wait.
func (s *Server) admit() (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, newError(codeStopping, "the service is shutting down: ask again in a moment")
	}
	if s.inside >= s.cfg.MaxAnswers+s.cfg.MaxWaiting {
		return nil, newError(codeBusy, "%d questions wait already: ask again in a moment", s.cfg.MaxWaiting)
	}
	s.inside++
	s.answers.Add(1)
	return s.ctx, nil
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inside--
	s.answers.Done()
}

// runAnswer waits for a free place, runs the answer and keeps its record.
func (s *Server) runAnswer(ctx context.Context, st *eventStream, place *turn, q generate.Question) {
	began := s.cfg.Now()
	if s.places.wait(ctx, place) {
		err := s.answer(ctx, st, q)
		s.places.release()
		if err != nil {
			s.failAnswer(st, err)
		}
	} else {
		s.endAnswer(st, generate.Done{Finish: generate.FinishCancelled})
	}
	if _, _, ended, _ := st.after(0); s.cfg.Records == nil || !ended {
		return // what the shutdown cut off is asked again, not replayed
	}
	events, _, _, _ := st.after(0)
	a := Answer{
		Stream: st.id, Epoch: st.epoch, Request: st.request, BodyHash: st.hash, Question: q.Text, Conversation: q.Conversation,
		Sources: q.Sources, Created: began.UTC(),
	}
	for _, e := range events {
		a.Events = append(a.Events, e.body)
	}
	err := s.cfg.Records.SaveAnswer(context.WithoutCancel(ctx), st.tenant, a)
	switch {
	case err == nil:
	case s.cfg.NotFound(err): // a source it quotes was deleted meanwhile
		s.hub.drop(st)
	default:
		s.cfg.Log.Error("a finished answer cannot be recorded", "stream", st.id, "error", err)
	}
}

// errCutOff ends an answer without a done: its client must resume, not stop.
var errCutOff = errors.New("the shutdown cut the answer off")

// errNoEnd is an answerer that returned without done.
var errNoEnd = errors.New("the answer has no end")

// answer runs the answerer. Its panic ends this answer, not the service, and
// however it returns the stream gets its one end.
func (s *Server) answer(ctx context.Context, st *eventStream, q generate.Question) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("an answer panicked: %v\n%s", p, debug.Stack())
		}
		if _, _, ended, _ := st.after(0); err == nil && !ended {
			err = errNoEnd
		}
	}()
	return s.cfg.Answer(ctx, q, func(e generate.Event) error { return s.addEvent(st, e) })
}

// takeTurn lines the answer up; its stream says the position.
func (s *Server) takeTurn(st *eventStream) *turn {
	return s.places.join(func(position int) {
		body := fmt.Appendf(nil, `{"type":"queued","position":%d}`, position)
		st.add("queued", body, "", false, s.cfg.Now())
	})
}

func (s *Server) failAnswer(st *eventStream, err error) {
	wire := s.wireError(err, codeNoSource)
	s.endAnswer(st, generate.Done{Finish: generate.FinishError, Error: &generate.Fault{Code: wire.Code, Message: wire.Message, Retry: wire.Retry}})
}

func (s *Server) endAnswer(st *eventStream, d generate.Done) {
	d.TextSHA256 = st.textSum()
	if err := s.addEvent(st, d); err != nil && !errors.Is(err, errCutOff) {
		s.cfg.Log.Error("an answer cannot be ended", "error", err)
	}
}

// addEvent puts an event of the answerer into its stream, with error
// numbers, which only the server knows.
func (s *Server) addEvent(st *eventStream, e generate.Event) error {
	text := ""
	switch v := e.(type) {
	case generate.Done:
		if s.ctx.Err() != nil && (v.Finish == generate.FinishCancelled || v.Finish == generate.FinishError) {
			return errCutOff
		}
		if v.Error != nil && v.Error.Code == 0 {
			fault := *v.Error
			fault.Code = kindCode(fault.Kind)
			v.Error = &fault
			e = v
		}
	case generate.Token:
		text = v.Text
	}
	body, err := generate.Marshal(e)
	if err != nil {
		return err
	}
	st.add(e.Type(), body, text, e.Type() == "done", s.cfg.Now())
	return nil
}

// askBody is a question as it comes over any transport.
type askBody struct {
	Type string `json:"type,omitempty"` // on the WebSocket only
	ID   string `json:"id,omitempty"`
	generate.Question
}
