package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	openai "github.com/sashabaranov/go-openai"

	"github.com/reeltree/reeltree/tree"
)

// Transcriber turns speech into cues by one transcription model. Safe for
// concurrent use.
type Transcriber struct {
	*client
	plain atomic.Bool // the endpoint refused verbose_json
}

// NewTranscriber checks the settings; it opens no connection.
func NewTranscriber(c Config) (*Transcriber, error) {
	shared, err := newClient("transcription", c)
	if err != nil {
		return nil, err
	}
	return &Transcriber{client: shared}, nil
}

// Transcribe gives the cues of a WAV file (PCM), in time order and inside its
// length, in milliseconds from its beginning. language is BCP 47, empty when
// unknown. Where an endpoint gives no segments the whole file is one cue; no
// speech is no cue and no error.
func (t *Transcriber) Transcribe(ctx context.Context, wav []byte, language string) ([]tree.Cue, error) {
	length, err := wavLength(wav)
	if err != nil {
		return nil, fmt.Errorf("audio for %q: %w", t.cfg.Model, err)
	}
	language, _, _ = strings.Cut(language, "-") // endpoints know ISO 639-1 only
	var cues []tree.Cue
	err = t.do(ctx, call{
		want: wantWhole,
		cost: try{tokens: 1},
		once: func(ctx context.Context, ex *exchange, w *watch) (usage, error) {
			w.expect("until its transcript", t.cfg.FirstToken)
			if _, err := t.api.CreateTranscription(ctx, t.request(wav, language)); err != nil {
				return usage{}, err
			}
			got, err := parseTranscript(ex.body, ex.media, length)
			if err != nil {
				return usage{}, t.fail(KindBadReply, ex, err.Error(), err)
			}
			cues = got
			return usage{}, nil
		},
		adapt: func(e *Error) bool {
			refused := (e.Status == 400 || e.Status == 422) &&
				(strings.Contains(e.Detail, "response_format") || strings.Contains(e.Detail, "verbose_json"))
			return refused && t.plain.CompareAndSwap(false, true)
		},
	})
	return cues, err
}

func (t *Transcriber) request(wav []byte, language string) openai.AudioRequest {
	r := openai.AudioRequest{
		Model: t.cfg.Model, FilePath: "audio.wav", Reader: bytes.NewReader(wav), Language: language,
		Format: openai.AudioResponseFormatVerboseJSON,
		TimestampGranularities: []openai.TranscriptionTimestampGranularity{
			openai.TranscriptionTimestampGranularitySegment,
		},
	}
	if t.plain.Load() {
		r.Format, r.TimestampGranularities = openai.AudioResponseFormatJSON, nil
	}
	return r
}

type wireTranscript struct {
	Error    json.RawMessage `json:"error"`
	Text     *string         `json:"text"`
	Segments []struct {
		Start *float64 `json:"start"`
		End   *float64 `json:"end"`
		Text  string   `json:"text"`
	} `json:"segments"`
}

// parseTranscript reads a reply about length milliseconds of audio. Times are
// clamped into the file and never fall; a segment without a place is an error,
// since a guessed time would be cited. Some servers send the words alone, as
// plain text or as one JSON text: they are one cue.
func parseTranscript(body []byte, media string, length int64) ([]tree.Cue, error) {
	if words, plain := plainTranscript(body, media); plain {
		return appendCue(nil, 0, length, words), nil
	}
	var w wireTranscript
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, notJSON(body)
	}
	if words := errorWords(w.Error); words != "" {
		return nil, errors.New(words)
	}
	if len(w.Segments) == 0 {
		if w.Text == nil {
			return nil, errors.New("neither segments nor text")
		}
		return appendCue(nil, 0, length, *w.Text), nil
	}
	var cues []tree.Cue
	last := int64(0)
	for i, s := range w.Segments {
		if s.Start == nil || s.End == nil || *s.End < *s.Start || *s.Start < -1 {
			return nil, fmt.Errorf("segment %d has no valid times", i)
		}
		start, end := inside(*s.Start, length), inside(*s.End, length)
		start = max(start, last)
		if end <= start {
			continue // beyond the end, or doubled: the known hallucination on silence
		}
		cues = appendCue(cues, start, end, s.Text)
		last = start
	}
	return cues, nil
}

// plainTranscript reads a reply that is nothing but words. A text that is not
// declared as one may be anything, such as a proxy's complaint.
func plainTranscript(body []byte, media string) (words string, plain bool) {
	text := strings.TrimSpace(string(body))
	switch {
	case strings.HasPrefix(text, `"`):
		return words, json.Unmarshal([]byte(text), &words) == nil
	case media != "text/plain" || json.Valid(body) || !utf8.Valid(body) || strings.HasPrefix(text, "<") || strings.Contains(text, "-->"):
		return "", false
	}
	return text, true
}

func appendCue(cues []tree.Cue, start, end int64, text string) []tree.Cue {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if text == "" {
		return cues
	}
	return append(cues, tree.Cue{StartMS: start, EndMS: end, Text: text})
}

// inside turns seconds into milliseconds within [0, length].
func inside(seconds float64, length int64) int64 {
	return int64(math.Round(min(max(seconds*1000, 0), float64(length))))
}
