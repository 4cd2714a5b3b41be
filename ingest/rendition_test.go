//go:build cgo

package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

func TestWhatBrowsersPlay(t *testing.T) {
	facts := func(mime, video string, audio ...string) MediaFacts {
		f := MediaFacts{Kind: tree.KindVideo, MIME: mime, DurationMS: 1000}
		if video != "" {
			f.Video = &VideoFacts{Codec: video}
		}
		for _, a := range audio {
			f.Audio = append(f.Audio, AudioFacts{Codec: a})
		}
		return f
	}
	for _, f := range []MediaFacts{
		facts("video/mp4", "h264", "aac"), facts("video/mp4", "av1"), facts("video/webm", "vp9", "opus"),
		facts("audio/mpeg", "", "mp3"), facts("audio/wav", "", "pcm_s16le"), facts("audio/ogg; codecs=opus", "", "opus"),
	} {
		if !f.Plays() {
			t.Errorf("%+v should play", f)
		}
	}
	for _, f := range []MediaFacts{
		facts("video/x-matroska", "h264", "aac"), facts("video/mp4", "hevc", "aac"), facts("video/mp4", "h264", "ac3"),
		facts("video/mp2t", "h264", "aac"), facts("video/x-msvideo", "mpeg4"), facts("application/octet-stream", "h264"),
		facts("video/mp4", "h264", "aac", "dts"),
	} {
		if f.Plays() {
			t.Errorf("%+v should not play", f)
		}
	}
}

// seen is what ffprobe finds in a file.
type seen struct {
	Streams []struct {
		Codec string `json:"codec_name"`
		Type  string `json:"codec_type"`
	} `json:"streams"`
	Format struct {
		Name     string `json:"format_name"`
		Duration string `json:"duration"`
	} `json:"format"`
}

func TestRenditions(t *testing.T) {
	for _, c := range []struct {
		name, path string
		codecs     []string
	}{
		{"H.264 in a transport stream is copied", counter(t, "a.ts", "-c:v", "libx264", "-pix_fmt", "yuv420p"), []string{"h264"}},
		{"MPEG-4 is encoded anew", counter(t, "a.avi", "-c:v", "mpeg4"), []string{"h264"}},
		{"a sound nobody plays is encoded anew", counter(t, "a.mkv", "-f", "lavfi", "-i", "sine=d=60", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "ac3"), []string{"h264", "aac"}},
		{"what begins late begins at 0", counter(t, "b.ts", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-output_ts_offset", "1000"), []string{"h264"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := Media{Command: selfWorker(t)}
			facts := probe(t, c.path)
			if facts.Plays() {
				t.Fatal("it should not play as it is")
			}
			var b bytes.Buffer
			if err := m.Rendition(t.Context(), openMedia(t, c.path), facts, &b); err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "out.mp4")
			if err := os.WriteFile(out, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			said, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-show_streams", "-show_format", "-of", "json", out).Output()
			if err != nil {
				t.Fatal(err)
			}
			var got seen
			if err := json.Unmarshal(said, &got); err != nil {
				t.Fatal(err)
			}
			var codecs []string
			for _, s := range got.Streams {
				codecs = append(codecs, s.Codec)
			}
			seconds, _ := strconv.ParseFloat(got.Format.Duration, 64)
			if !slices.Equal(codecs, c.codecs) || math.Abs(seconds-60) > .2 {
				t.Errorf("codecs %v, %v s, want %v and 60 s", codecs, seconds, c.codecs)
			}
			if again := probe(t, out); !again.Plays() || again.DurationMS < 59_800 || again.DurationMS > 60_200 {
				t.Errorf("the rendition is %+v", again)
			}
		})
	}
	err := (Media{}).Rendition(t.Context(), nil, MediaFacts{Kind: tree.KindImage}, nil)
	if _, refused := errors.AsType[*SourceError](err); !refused {
		t.Errorf("a picture: %v", err)
	}
}

func TestPeaks(t *testing.T) {
	p, err := (Media{Command: selfWorker(t)}).Peaks(t.Context(), openMedia(t, ramp(t, "beeps.mp4")), 0)
	if err != nil {
		t.Fatal(err)
	}
	if p.Version != 2 || p.Channels != 1 || p.SampleRate != 16_000 || p.SamplesPerPixel != 1600 || p.Bits != 8 || p.Length != len(p.Data)/2 || p.Length < 119 || p.Length > 122 {
		t.Fatalf("%d pairs of %+v", len(p.Data)/2, p.Length)
	}
	// Silence in the first half of each second, a beep of half the range in the second.
	for second := range 11 {
		quiet, loud := 2*(second*10+2), 2*(second*10+7)
		if p.Data[quiet] < -2 || p.Data[quiet+1] > 2 || p.Data[loud] > -55 || p.Data[loud+1] < 55 || p.Data[loud+1] > 75 {
			t.Errorf("second %d: quiet %v, loud %v", second, p.Data[quiet:quiet+2], p.Data[loud:loud+2])
		}
	}
}
