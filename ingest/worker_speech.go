package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/reeltree/reeltree/tree"
)

// Transcribe turns the speech of a mono 16-bit PCM WAV file into cues, in
// milliseconds from the file's beginning. language is BCP 47, empty when unknown.
type Transcribe func(ctx context.Context, wav []byte, language string) ([]tree.Cue, error)

// RememberSpeech transcribes only what was not transcribed before: cues are
// kept under the hash of the model's name, the language and the sound.
func RememberSpeech(hear Transcribe, model string, m tree.Memory) Transcribe {
	return func(ctx context.Context, wav []byte, language string) ([]tree.Cue, error) {
		hash := sha256.New()
		_, _ = fmt.Fprintf(hash, "speech %d:%s%d:%s", len(model), model, len(language), language) // a hash never fails to write
		_, _ = hash.Write(wav)
		key := hex.EncodeToString(hash.Sum(nil))
		kept, err := m.Recall(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("cannot look up an earlier transcript: %w", err)
		}
		var cues []tree.Cue
		if kept != nil && json.Unmarshal(kept, &cues) == nil {
			return cues, nil
		}
		if cues, err = hear(ctx, wav, language); err != nil {
			return nil, err
		}
		if cues == nil {
			cues = []tree.Cue{} // that nothing is said was paid for, too
		}
		b, err := json.Marshal(cues)
		if err == nil {
			err = m.Keep(context.WithoutCancel(ctx), key, b)
		}
		if err != nil {
			return cues, fmt.Errorf("cannot keep a transcript: %w", err)
		}
		return cues, nil
	}
}

// listener makes cues of a medium's sound; what it costs goes into the plan.
type listener func(ctx context.Context, p *jobPlan, opt tree.IngestOptions, language string, total int64) ([]tree.Cue, error)

// hearable reports whether speech is to be read from the sound.
func (w *Worker) hearable(p *jobPlan, facts MediaFacts) bool {
	return w.Transcribe != nil && len(facts.Audio) > 0 && len(p.Cues) == 0 && facts.Kind != tree.KindImage
}

// listen cuts the sound of the wanted part into chunks, in time order.
func (w *Worker) listen(ctx context.Context, p *jobPlan, opt tree.IngestOptions, each func(SpeechChunk) error) error {
	req := w.Settings.request(opt.Detail, opt.AudioTrack)
	req.FromMS, req.ToMS = opt.FromMS, opt.ToMS
	cutter := speechCutter{emit: each}
	err := w.content(ctx, p.Source, func(file *os.File) error {
		return w.Media.Sound(ctx, file, req, cutter.add)
	})
	if err != nil {
		return err
	}
	return cutter.flush()
}

// countSpeech is the listener of a quote: it counts the calls and makes none.
func (w *Worker) countSpeech(ctx context.Context, p *jobPlan, opt tree.IngestOptions, _ string, _ int64) ([]tree.Cue, error) {
	p.Calls.ASR = 0
	return nil, w.listen(ctx, p, opt, func(SpeechChunk) error { p.Calls.ASR++; return nil })
}

// transcriber is the listener of a job: chunks are transcribed side by side,
// each call within the caps of the job, and their cues joined in time order.
func (w *Worker) transcriber(job tree.Job, l *live) listener {
	return func(ctx context.Context, p *jobPlan, opt tree.IngestOptions, language string, total int64) ([]tree.Cue, error) {
		l.forgetSpeech() // a planning that is repeated counts from the start
		ctx, stop := context.WithCancelCause(l.metered(ctx, w, job.Options))
		defer stop(nil)
		t := &transcript{w: w, job: job, language: language, total: total, gate: w.gate(job, l), slots: make(chan struct{}, cmp.Or(w.Settings.Concurrency, tree.DefaultConcurrency)), stop: stop}
		t.gate.free = false
		defer t.gate.close()
		err := w.listen(ctx, p, opt, func(c SpeechChunk) error { return t.begin(ctx, c) })
		t.running.Wait()
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		p.Calls.ASR = len(t.cues)
		return slices.Concat(t.cues...), err
	}
}

// transcript is the speech of one source while it is being read.
type transcript struct {
	w        *Worker
	job      tree.Job
	language string
	total    int64 // milliseconds of the medium
	gate     *gate
	slots    chan struct{}
	stop     context.CancelCauseFunc
	running  sync.WaitGroup

	mu   sync.Mutex
	cues [][]tree.Cue // by chunk
}

// begin starts the call for a chunk as soon as there is a free slot.
func (t *transcript) begin(ctx context.Context, c SpeechChunk) error {
	select {
	case t.slots <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := t.gate.check(ctx); err != nil {
		return err
	}
	if err := t.gate.reserve(1); err != nil {
		return err
	}
	t.mu.Lock()
	i := len(t.cues)
	t.cues = append(t.cues, nil)
	t.mu.Unlock()
	t.running.Go(func() {
		defer func() { <-t.slots }()
		if err := t.hear(ctx, i, c); err != nil {
			t.stop(err)
		}
	})
	return nil
}

func (t *transcript) hear(ctx context.Context, i int, c SpeechChunk) error {
	cues, err := t.w.Transcribe(ctx, c.wav(), t.language)
	if err != nil {
		return fmt.Errorf("the speech at %s cannot be transcribed: %w", tree.Clock(c.StartMS()), err)
	}
	t.gate.settle(1, tree.Calls{ASR: 1})
	for k := range cues {
		cues[k].StartMS += c.StartMS()
		cues[k].EndMS += c.StartMS()
	}
	t.mu.Lock()
	t.cues[i] = cues
	t.mu.Unlock()
	p := t.gate.live.progress("speech", t.w.now())
	p.Done, p.Total = c.StartMS()+int64(len(c.Samples))*1000/soundRate, t.total
	t.w.report(t.job, p)
	return nil
}
