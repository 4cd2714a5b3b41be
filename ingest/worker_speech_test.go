package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// speaker is a film without text whose sound is loud in 40 s of each minute.
func speaker(seconds int64) *film {
	f := talk(seconds)
	f.facts.Subtitles = nil
	f.facts.Audio = []AudioFacts{{Codec: "aac", Language: "de"}}
	for at := int64(0); at < seconds*1000; at += 60_000 {
		f.said = append(f.said, span{at + 5000, at + 45_000})
	}
	return f
}

// ear is a transcriber that says something else about each sound.
type ear struct {
	mu    sync.Mutex
	calls int
	langs map[string]bool
	fail  func(call int) error
}

func (e *ear) hear(ctx context.Context, wav []byte, language string) ([]tree.Cue, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls++
	if e.langs == nil {
		e.langs = map[string]bool{}
	}
	e.langs[language] = true
	if e.fail != nil {
		if err := e.fail(e.calls); err != nil {
			return nil, err
		}
	}
	ms := int64(len(wav)-44) / 2 * 1000 / soundRate
	return []tree.Cue{{StartMS: 0, EndMS: ms, Text: fmt.Sprintf("Words %08x of %d ms.", crc32.ChecksumIEEE(wav), ms)}}, ctx.Err()
}

// drawer keeps replies in memory, as the store would.
type drawer struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (d *drawer) Recall(_ context.Context, key string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kept[key], nil
}

func (d *drawer) Keep(_ context.Context, key string, reply []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept == nil {
		d.kept = map[string][]byte{}
	}
	d.kept[key] = bytes.Clone(reply)
	return nil
}

func wordsOf(t *tree.Tree) (cues []tree.Cue) {
	for _, r := range t.Roots {
		r.Leaves(func(n *tree.Node) { cues = append(cues, n.Evidence.Cues...) })
	}
	return cues
}

// TestSpeechBecomesCues: a medium without text is transcribed, the quote names
// the calls, the tree counts them, and cues stand where the words were said.
func TestSpeechBecomesCues(t *testing.T) {
	m, e := newMemory(t), &ear{}
	w := m.worker(speaker(300))
	w.Transcribe, w.Models = e.hear, map[string]string{"l1": "extractive", "l2": "extractive", "l3": "extractive", "asr": "made"}
	put := m.put(t, "a.mp4", []byte("x"))
	q, err := w.Quote(t.Context(), put, tree.IngestOptions{})
	if err != nil || e.calls != 0 || q.Calls.ASR == 0 {
		t.Fatalf("quote %+v after %d calls, %v", q, e.calls, err)
	}
	src, _ := m.ingest(t, w, put, tree.IngestOptions{})
	got := m.tree(t, src.ID)
	if src.State != tree.StateDone || got.Calls.ASR != e.calls || q.Calls.ASR != e.calls || src.Calls != e.calls || got.Models["asr"] != "made" {
		t.Errorf("source %+v: quoted %d, made %d, tree %+v, models %v", src, q.Calls.ASR, e.calls, got.Calls, got.Models)
	}
	if !maps.Equal(e.langs, map[string]bool{"de": true}) || src.Language != "de" {
		t.Errorf("languages asked for: %v, of the source: %q", e.langs, src.Language)
	}
	cues := wordsOf(got)
	if len(cues) < e.calls || !strings.HasPrefix(cues[0].Text, "Words ") {
		t.Fatalf("%d cues of %d calls", len(cues), e.calls)
	}
	if last := cues[len(cues)-1]; last.StartMS < 240_000 {
		t.Errorf("the last words stand at %d ms", last.StartMS)
	}
	for i, c := range cues {
		if c.EndMS > 300_000 || i > 0 && c.StartMS < cues[i-1].StartMS {
			t.Errorf("cue %d at %d to %d", i, c.StartMS, c.EndMS)
		}
	}
}

// TestTextComesBeforeSpeech: where there is text, or no sound, nothing is transcribed.
func TestTextComesBeforeSpeech(t *testing.T) {
	deaf := speaker(120)
	deaf.facts.Audio = nil
	titled := talk(120)
	titled.facts.Audio = []AudioFacts{{Codec: "aac"}}
	for name, f := range map[string]*film{"subtitles": titled, "no sound": deaf} {
		m, e := newMemory(t), &ear{}
		w := m.worker(f)
		w.Transcribe, w.Models = e.hear, map[string]string{"l1": "x", "l2": "x", "l3": "x", "asr": "made"}
		src, _ := m.ingest(t, w, m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{})
		if got := m.tree(t, src.ID); e.calls != 0 || got.Calls.ASR != 0 || got.Models["asr"] != "" {
			t.Errorf("%s: %d calls, %v", name, e.calls, got.Models)
		}
	}
}

// TestSpeechIsPaidOnce: after a failure in the middle the job goes on with what
// was transcribed; the same tree comes out whatever the order of the replies.
func TestSpeechIsPaidOnce(t *testing.T) {
	whole := newMemory(t)
	ok := &ear{}
	w := whole.worker(speaker(600))
	w.Transcribe = ok.hear
	src, _ := whole.ingest(t, w, whole.put(t, "a.mp4", []byte("x")), tree.IngestOptions{})

	m, e := newMemory(t), &ear{}
	e.fail = func(call int) error {
		if call == 7 {
			return errors.New("the line is dead")
		}
		return nil
	}
	w = m.worker(speaker(600))
	w.Transcribe, w.Settings.Concurrency = RememberSpeech(e.hear, "made", &drawer{}), 1
	got, job := m.ingest(t, w, m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{})
	if got.State != tree.StateDone || job.Error != "" || e.calls != ok.calls+1 {
		t.Errorf("source %+v: %d calls, %d without a failure", got, e.calls, ok.calls)
	}
	if a, b := m.tree(t, src.ID), whole.tree(t, src.ID); a.Calls.ASR != b.Calls.ASR || fmt.Sprint(wordsOf(a)) != fmt.Sprint(wordsOf(b)) {
		t.Errorf("calls %+v and %+v", a.Calls, b.Calls)
	}
}

// TestSpeechThatFailsForGood: never done with words missing; the sentence says where.
func TestSpeechThatFailsForGood(t *testing.T) {
	m, e := newMemory(t), &ear{fail: func(int) error { return errors.New("no such model") }}
	w := m.worker(speaker(120))
	w.Transcribe = e.hear
	src, job := m.ingest(t, w, m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{})
	if src.State != tree.StateFailed || !strings.Contains(job.Error, "the speech at 0:00:00 cannot be transcribed: no such model") {
		t.Errorf("%+v: %q", src, job.Error)
	}
}

// TestSpeechKeepsTheCap: the job stops before the call that would pass its cap
// and goes on from there.
func TestSpeechKeepsTheCap(t *testing.T) {
	m, e := newMemory(t), &ear{}
	w := m.worker(speaker(600))
	w.Transcribe = RememberSpeech(e.hear, "made", &drawer{})
	src, job := m.ingest(t, w, m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{MaxCalls: 4})
	if src.State != tree.StatePaused || e.calls != 4 || !strings.Contains(job.Error, "cap") {
		t.Fatalf("%+v after %d calls: %q", src, e.calls, job.Error)
	}
	if _, err := w.Resume(t.Context(), "", job.ID, 1000, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := m.source(t, src.ID); got.State != tree.StateDone || got.Calls != e.calls {
		t.Errorf("%+v after %d calls", got, e.calls)
	}
}

// tries is a meter that says so many retries have happened.
type tries struct {
	calls, tokens int
	again         *int
}

func (tries) Bind(ctx context.Context) context.Context { return ctx }
func (m tries) Retries() int                           { return *m.again }

// TestRetriesCountAgainstTheCap: what the model client tried again is paid for,
// and what it may still try is what the cap leaves.
func TestRetriesCountAgainstTheCap(t *testing.T) {
	m, e := newMemory(t), &ear{}
	again := 0
	e.fail = func(int) error {
		again += 2 // each call took three tries
		return nil
	}
	w := m.worker(speaker(600))
	w.Transcribe, w.Settings.Concurrency = RememberSpeech(e.hear, "made", &drawer{}), 1
	var told []tries
	w.Meter = func(calls, tokens int) Meter {
		told = append(told, tries{calls, tokens, &again})
		return told[len(told)-1]
	}
	src, _ := m.ingest(t, w, m.put(t, "a.mp4", []byte("x")), tree.IngestOptions{MaxCalls: 10, MaxTokens: 500})
	if src.State != tree.StatePaused || e.calls > 4 || len(told) != 1 || told[0].calls != 10 || told[0].tokens != 500 {
		t.Errorf("%+v after %d calls and %d retries, meters %+v", src, e.calls, again, told)
	}
	e.fail = func(int) error { return fmt.Errorf("%w: budget", ErrCap) }
	if src, job := m.ingest(t, w, m.put(t, "b.mp4", []byte("y")), tree.IngestOptions{MaxCalls: 100}); src.State != tree.StatePaused || job.Tries != 0 {
		t.Errorf("a used-up budget: %+v, %+v", src, job)
	}
}
