//go:build cgo

package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bursts is sound with a loud tone in the given spans, in milliseconds.
func bursts(seconds int, spans ...span) []int16 {
	samples := make([]int16, seconds*soundRate)
	for _, s := range spans {
		for i := s.from * soundRate / 1000; i < s.to*soundRate/1000; i++ {
			samples[i] = int16(8000 * math.Sin(2*math.Pi*440*float64(i)/soundRate))
		}
	}
	return samples
}

// made by ffmpeg from a WAV of the samples with the given arguments.
func ffmpeg(t *testing.T, samples []int16, name string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.wav"), filepath.Join(dir, name)
	if err := os.WriteFile(in, SpeechChunk{Samples: samples}.wav(), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "IN", in)
	}
	cmd := exec.CommandContext(t.Context(), "ffmpeg", append(append([]string{"-v", "error"}, args...), out)...)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg %v: %v: %s", args, err, said)
	}
	return out
}

// soundOf is the sound of a file on its timeline, holes as zeros.
func soundOf(t *testing.T, path string, req MediaRequest) []int16 {
	t.Helper()
	var all []int16
	m := Media{Command: selfWorker(t)}
	err := m.Sound(t.Context(), openMedia(t, path), req, func(b SoundBlock) error {
		for int64(len(all)) < b.First {
			all = append(all, 0)
		}
		all = append(all, b.Samples...)
		return nil
	})
	if err != nil {
		t.Fatalf("sound of %s: %v", filepath.Base(path), err)
	}
	return all
}

// edges are the milliseconds where loud spans begin and end.
func edges(samples []int16) []span {
	var out []span
	const step = soundRate / 200 // 5 ms
	for i := 0; i+step <= len(samples); i += step {
		loud := energy(samples[i:i+step]) > 500*500*step
		at := int64(i) * 1000 / soundRate
		switch open := len(out) > 0 && out[len(out)-1].to == 0; {
		case loud && !open:
			out = append(out, span{at, 0})
		case !loud && open:
			out[len(out)-1].to = at
		}
	}
	return out
}

func near(a, b span) bool {
	return math.Abs(float64(a.from-b.from)) <= 60 && math.Abs(float64(a.to-b.to)) <= 60
}

// TestSoundKeepsItsTimes: a sound stands where the file plays it, whatever the
// container, codec, rate and channels, and wherever its clock begins.
func TestSoundKeepsItsTimes(t *testing.T) {
	said := []span{{1000, 1500}, {4000, 4250}}
	samples := bursts(6, said...)
	video := []string{"-f", "lavfi", "-i", "color=size=64x48:rate=10:duration=8", "-shortest"}
	for name, c := range map[string]struct {
		args  []string
		shift int64 // of the sound against the source's zero
	}{
		"plain.wav":   {args: []string{"-i", "IN"}},
		"stereo.flac": {args: []string{"-i", "IN", "-ac", "2", "-ar", "44100"}},
		"aac.m4a":     {args: []string{"-i", "IN", "-ar", "48000", "-c:a", "aac"}},
		"mp3.mp3":     {args: []string{"-i", "IN", "-ar", "22050", "-c:a", "libmp3lame"}},
		"opus.webm":   {args: []string{"-i", "IN", "-c:a", "libopus"}},
		"ts.ts":       {args: append([]string{"-i", "IN"}, append(video, "-ar", "48000", "-c:a", "aac", "-output_ts_offset", "95000")...)},
		"late.mkv":    {args: append([]string{"-itsoffset", "1.5", "-i", "IN"}, append(video[:4:4], "-c:a", "aac")...), shift: 1500},
	} {
		t.Run(name, func(t *testing.T) {
			got := edges(soundOf(t, ffmpeg(t, samples, name, c.args...), MediaRequest{}))
			if len(got) != len(said) {
				t.Fatalf("loud at %v, want %v + %d ms", got, said, c.shift)
			}
			for i, s := range said {
				if want := (span{s.from + c.shift, s.to + c.shift}); !near(got[i], want) {
					t.Errorf("loud at %v, want %v", got[i], want)
				}
			}
		})
	}
}

// TestSoundOfAPart: a wanted part begins and ends at its times, not elsewhere.
func TestSoundOfAPart(t *testing.T) {
	path := ffmpeg(t, bursts(6, span{1000, 1500}, span{4000, 4250}), "a.m4a", "-i", "IN", "-c:a", "aac")
	first, last := int64(-1), int64(0)
	m := Media{Command: selfWorker(t)}
	err := m.Sound(t.Context(), openMedia(t, path), MediaRequest{FromMS: 2000, ToMS: 4100}, func(b SoundBlock) error {
		if first < 0 {
			first = b.First
		}
		last = b.First + int64(len(b.Samples))
		return nil
	})
	if err != nil || first != 2000*soundRate/1000 || last != 4100*soundRate/1000 {
		t.Errorf("samples %d to %d, %v", first, last, err)
	}
}

// TestSoundEqualsFFmpeg: the samples are those the ffmpeg command gives.
func TestSoundEqualsFFmpeg(t *testing.T) {
	path := filepath.Join("..", "demo", "talk.mp4")
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-i", path, "-ac", "1", "-ar", "16000", "-f", "s16le", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := make([]int16, len(out)/2)
	if err := binary.Read(bytes.NewReader(out), binary.LittleEndian, want); err != nil {
		t.Fatal(err)
	}
	got := soundOf(t, path, MediaRequest{})
	if d := len(got) - len(want); d < -2000 || d > 2000 {
		t.Fatalf("%d samples, ffmpeg gives %d", len(got), len(want))
	}
	var gw, gg, ww float64
	for i := range min(len(got), len(want)) {
		g, w := float64(got[i]), float64(want[i])
		gw, gg, ww = gw+g*w, gg+g*g, ww+w*w
	}
	if r := gw / math.Sqrt(gg*ww); !(r > 0.99) {
		t.Errorf("correlation %.4f with what ffmpeg gives", r)
	}
}

// TestSoundRefusals: a file without sound says so, and a stopped listener stops the child.
func TestSoundRefusals(t *testing.T) {
	m := Media{Command: selfWorker(t)}
	silentFilm := ffmpeg(t, nil, "mute.mp4", "-f", "lavfi", "-i", "color=size=64x48:rate=10:duration=2")
	err := m.Sound(t.Context(), openMedia(t, silentFilm), MediaRequest{}, func(SoundBlock) error { return nil })
	var refused *MediaError
	if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "no sound") {
		t.Errorf("%v", err)
	}
	enough := errors.New("enough")
	blocks := 0
	err = m.Sound(t.Context(), openMedia(t, filepath.Join("..", "demo", "talk.mp4")), MediaRequest{}, func(SoundBlock) error { blocks++; return enough })
	if !errors.Is(err, enough) || blocks != 1 {
		t.Errorf("%v after %d blocks", err, blocks)
	}
}
