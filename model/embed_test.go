package model_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/model"
)

var texts = []string{"a red fox", "", "the cat sleeps", "  \n", "numbers and words", "a red fox"}

func newEmbedder(t *testing.T, c model.Config) *model.Embedder {
	t.Helper()
	e, err := model.NewEmbedder(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func TestEmbedGoodModes(t *testing.T) {
	for _, mode := range []string{"ok", "order-by-index", "base64", "not-normalised", "no-usage"} {
		t.Run(mode, func(t *testing.T) {
			e := testkit.NewEndpoint(t)
			e.Always(mode)
			c := testConfig(e)
			c.Batch = 3
			em := newEmbedder(t, c)
			got, err := em.Embed(t.Context(), texts)
			if err != nil || len(got) != len(texts) || e.Count() != 2 || em.Dim() != testkit.EndpointDim {
				t.Fatalf("%d vectors, %d calls, dimension %d, error %v", len(got), e.Count(), em.Dim(), err)
			}
			for i, text := range texts {
				want := testkit.WordVector(text, testkit.EndpointDim)
				if strings.TrimSpace(text) == "" {
					want = make([]float32, testkit.EndpointDim)
				}
				for k := range want {
					if math.Abs(float64(got[i][k]-want[k])) > 1e-6 {
						t.Fatalf("vector %d differs at %d: %g, want %g", i, k, got[i][k], want[k])
					}
				}
			}
			if !slices.Equal(got[0], got[5]) {
				t.Error("equal texts with different vectors")
			}
		})
	}
}

func TestEmbedBadModes(t *testing.T) {
	for _, c := range []struct {
		mode  string
		kind  model.Kind
		words string
	}{
		{"nan", model.KindBadReply, "not finite"},
		{"null-number", model.KindBadReply, "something else than numbers"},
		{"zero", model.KindBadReply, "zero"},
		{"fewer-vectors", model.KindBadReply, "3 vectors for 4 texts"},
		{"double-index", model.KindBadReply, "doubled"},
		{"html200", model.KindBadReply, "web page"},
		{"401", model.KindAuth, "refused the key"},
		{"404-model", model.KindNoModel, "does not exist"},
		{"500", model.KindUpstream, "status 500"},
		{"429-bare", model.KindRateLimited, "rate limit"},
		{"hang", model.KindTimeout, "until its vectors"},
		{"cut", model.KindUnreachable, "without an answer"},
		{"huge", model.KindTooLarge, "1048576"},
		{"redirect", model.KindBadReply, "307"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			e := testkit.NewEndpoint(t)
			e.Always(c.mode)
			_, err := newEmbedder(t, testConfig(e)).Embed(t.Context(), texts)
			var named *model.Error
			if !errors.As(err, &named) || named.Kind != c.kind || !strings.Contains(err.Error(), c.words) {
				t.Fatalf("error %v, want %s with %q", err, c.kind, c.words)
			}
		})
	}
}

// TestEmbedDimensionIsFixed by the first reply, or by the settings.
func TestEmbedDimensionIsFixed(t *testing.T) {
	e := testkit.NewEndpoint(t)
	e.Next("ok", "dim-change")
	em := newEmbedder(t, testConfig(e))
	if err := em.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := em.Embed(t.Context(), texts)
	if err == nil || !strings.Contains(err.Error(), "dimension 32 instead of 64") {
		t.Fatalf("error %v", err)
	}
	c := testConfig(e)
	c.Dim = 32
	if err := newEmbedder(t, c).Ping(t.Context()); err == nil {
		t.Fatal("another dimension than the settings say was taken")
	}
}

func TestTranscribe(t *testing.T) {
	wav := testkit.WAV(5)
	for _, c := range []struct {
		mode string
		cues int
		kind model.Kind
	}{
		{"ok", 5, ""},
		{"no-segments", 1, ""},
		{"no-verbose", 1, ""},
		{"no-speech", 0, ""},
		{"bad-time", 0, model.KindBadReply},
		{"html200", 0, model.KindBadReply},
		{"hang", 0, model.KindTimeout},
		{"500", 0, model.KindUpstream},
		{"401", 0, model.KindAuth},
		{"huge", 0, model.KindTooLarge},
	} {
		t.Run(c.mode, func(t *testing.T) {
			e := testkit.NewEndpoint(t)
			e.Always(c.mode)
			tr, err := model.NewTranscriber(testConfig(e))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(tr.Close)
			cues, err := tr.Transcribe(t.Context(), wav, "en-GB")
			var named *model.Error
			if errors.As(err, &named) != (c.kind != "") || (named != nil && named.Kind != c.kind) {
				t.Fatalf("error %v, want kind %q", err, c.kind)
			}
			if len(cues) != c.cues {
				t.Fatalf("cues %v, want %d", cues, c.cues)
			}
			for i, cue := range cues {
				if cue.StartMS < 0 || cue.EndMS > 5000 || cue.EndMS <= cue.StartMS || cue.Text == "" ||
					(c.cues == 5 && cue.StartMS != int64(i)*1000) {
					t.Errorf("cue %d: %+v", i, cue)
				}
			}
			if got := e.Calls()[0]; got.Language != "en" || len(got.Audio) != len(wav) {
				t.Errorf("language %q, %d bytes", got.Language, len(got.Audio))
			}
		})
	}
}

func TestTranscribeRefusesOtherBytes(t *testing.T) {
	e := testkit.NewEndpoint(t)
	tr, err := model.NewTranscriber(testConfig(e))
	if err != nil {
		t.Fatal(err)
	}
	for _, wav := range [][]byte{nil, []byte("RIFF"), []byte("ID3 not a wave file at all"), testkit.WAV(1)[:30]} {
		if _, err := tr.Transcribe(t.Context(), wav, ""); err == nil || e.Count() != 0 {
			t.Errorf("%d bytes: error %v, %d calls", len(wav), err, e.Count())
		}
	}
}

func TestPing(t *testing.T) {
	e := testkit.NewEndpoint(t)
	chat, em := newChat(t, testConfig(e)), newEmbedder(t, testConfig(e))
	tr, err := model.NewTranscriber(testConfig(e))
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"ok", "no-usage"} {
		e.Always(mode)
		if err := errors.Join(chat.Ping(t.Context()), em.Ping(t.Context()), tr.Ping(t.Context())); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
	e.Always("reasoning_content+empty-content")
	if err := chat.Ping(t.Context()); err != nil {
		t.Errorf("a model that still thinks is well: %v", err)
	}
	e.Always("401")
	for _, err := range []error{chat.Ping(t.Context()), em.Ping(t.Context()), tr.Ping(t.Context())} {
		var named *model.Error
		if !errors.As(err, &named) || named.Kind != model.KindAuth {
			t.Errorf("error %v", err)
		}
	}
}
