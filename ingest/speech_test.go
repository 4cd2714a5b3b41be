package ingest

import (
	"errors"
	"testing"
	"testing/quick"
)

// cutAll gives the chunks of sound that comes in blocks of n samples.
func cutAll(t *testing.T, samples []int16, n int) []SpeechChunk {
	t.Helper()
	var out []SpeechChunk
	c := speechCutter{emit: func(s SpeechChunk) error { out = append(out, s); return nil }}
	for at := 0; at < len(samples); at += n {
		if err := c.add(SoundBlock{First: int64(at), Samples: samples[at:min(at+n, len(samples))]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.flush(); err != nil {
		t.Fatal(err)
	}
	return out
}

func loud(n int) []int16 {
	s := make([]int16, n)
	for i := range s {
		s[i] = int16(3000 - 6000*(i%2))
	}
	return s
}

// TestSpeechIsCutAtPauses: a chunk ends in the pause of its second half and
// the chunks are the whole sound.
func TestSpeechIsCutAtPauses(t *testing.T) {
	samples := loud(70 * soundRate)
	for _, pause := range []int{5, 22, 47} { // seconds; the first lies too early to cut at
		clear(samples[pause*soundRate : pause*soundRate+soundRate/2])
	}
	for _, block := range []int{999, soundRate, len(samples)} {
		got := cutAll(t, samples, block)
		if len(got) != 3 {
			t.Fatalf("%d chunks", len(got))
		}
		next := int64(0)
		for i, want := range []float64{22.25, 47.25, 70} {
			if got[i].First != next {
				t.Errorf("chunk %d begins at sample %d, want %d", i, got[i].First, next)
			}
			next += int64(len(got[i].Samples))
			if end := float64(next) / soundRate; end < want-.25 || end > want+.25 {
				t.Errorf("chunk %d ends at %.2f s, want about %.2f", i, end, want)
			}
		}
	}
}

// TestSilenceCostsNothing: silent chunks are left out, and what follows keeps its time.
func TestSilenceCostsNothing(t *testing.T) {
	samples := make([]int16, 200*soundRate)
	copy(samples[150*soundRate:], loud(2*soundRate))
	got := cutAll(t, samples, soundRate)
	if len(got) != 1 {
		t.Fatalf("%d chunks", len(got))
	}
	from, to := got[0].First, got[0].First+int64(len(got[0].Samples))
	if from > 150*soundRate || to < 152*soundRate {
		t.Errorf("chunk from %d to %d", from, to)
	}
	if len(cutAll(t, nil, 1)) != 0 {
		t.Error("a chunk of nothing")
	}
}

// TestHolesEndChunks: over a long hole there is no chunk; a short one is silence.
func TestHolesEndChunks(t *testing.T) {
	var got []SpeechChunk
	c := speechCutter{emit: func(s SpeechChunk) error { got = append(got, s); return nil }}
	for _, first := range []int64{0, soundRate + 100, 60 * soundRate} {
		if err := c.add(SoundBlock{First: first, Samples: loud(soundRate)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.flush(); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || len(got[0].Samples) != 2*soundRate+100 || got[1].First != 60*soundRate || got[1].StartMS() != 60_000 {
		t.Errorf("%d chunks: %d samples, then at %d", len(got), len(got[0].Samples), got[len(got)-1].First)
	}
}

// TestChunksArePieces: whatever the sound, chunks are within their length, in
// order, and hold the samples that came.
func TestChunksArePieces(t *testing.T) {
	check := func(seed uint16, seconds uint8) bool {
		samples := loud(int(seconds%100)*soundRate + int(seed))
		for i := range samples {
			samples[i] = int16(int(samples[i]) * ((i/soundRate*int(seed))%7 + 1) / 7)
		}
		next := int64(0)
		for _, c := range cutAll(t, samples, 16_000) {
			if c.First != next || len(c.Samples) > chunkMost {
				return false
			}
			for i, v := range c.Samples {
				if v != samples[c.First+int64(i)] {
					return false
				}
			}
			next += int64(len(c.Samples))
		}
		return next == int64(len(samples))
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 25}); err != nil {
		t.Error(err)
	}
}

func TestCutterStopsAtAnError(t *testing.T) {
	stop := errors.New("stop")
	c := speechCutter{emit: func(SpeechChunk) error { return stop }}
	if err := c.add(SoundBlock{Samples: loud(chunkMost)}); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}
