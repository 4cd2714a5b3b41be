//go:build cgo

package ingest

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/tree"
)

func made(name string) string { return filepath.Join("testdata", "media", name) }

func odd(t *testing.T, name string) string {
	t.Helper()
	return testkit.Shared(t, "media", "odd", name)
}

func TestShotsOfThreeCuts(t *testing.T) {
	got := sample(t, odd(t, "threecuts.mp4"), MediaRequest{})
	if len(got.shots) != 2 {
		t.Fatalf("shots = %+v, want two", got.shots)
	}
	for i, want := range []int64{2000, 4000} {
		if d := got.shots[i].TimeMS - want; d < -40 || d > 40 {
			t.Errorf("shot %d at %d ms, want %d", i, got.shots[i].TimeMS, want)
		}
	}
	if !slices.Equal(got.times(), []int64{0, 1000, 2000, 3000, 4000, 5000}) {
		t.Errorf("frames at %v", got.times())
	}
	// The second picture after a cut belongs to the new shot: its hash or colour differs.
	if meanColour(t, got.frames[1]) == meanColour(t, got.frames[2]) {
		t.Error("the frame at the cut shows the shot before it")
	}
}

func TestShotsOfFlicker(t *testing.T) {
	if got := sample(t, odd(t, "strobe.mp4"), MediaRequest{}); len(got.shots) > 4 {
		t.Errorf("%d shots in two seconds of strobe", len(got.shots))
	}
	if got := sample(t, odd(t, "slowfade.mp4"), MediaRequest{}); len(got.shots) != 0 {
		t.Errorf("shots %+v in a slow fade", got.shots)
	}
}

func decodeJPEG(t *testing.T, f MediaFrame) image.Image {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(f.JPEG))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func meanColour(t *testing.T, f MediaFrame) [3]uint32 {
	t.Helper()
	img := decodeJPEG(t, f)
	var sum [3]uint64
	n := uint64(0)
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y += 3 {
		for x := b.Min.X; x < b.Max.X; x += 3 {
			r, g, bl, _ := img.At(x, y).RGBA()
			sum[0], sum[1], sum[2] = sum[0]+uint64(r>>8), sum[1]+uint64(g>>8), sum[2]+uint64(bl>>8)
			n++
		}
	}
	return [3]uint32{uint32(sum[0] / n), uint32(sum[1] / n), uint32(sum[2] / n)}
}

func TestFramesAreUpright(t *testing.T) {
	got := sample(t, odd(t, "rot90.mp4"), MediaRequest{})
	for _, f := range got.frames {
		if f.Width != 180 || f.Height != 320 {
			t.Fatalf("frame is %dx%d, want 180x320", f.Width, f.Height)
		}
	}
	if f := probe(t, odd(t, "rot90.mp4")); f.Video.Rotation%180 != 90 {
		t.Errorf("rotation = %d", f.Video.Rotation)
	}
	// The same picture, stored upright: turned by 180 its first and last pixels change places.
	plain, turned := sample(t, odd(t, "base.mp4"), MediaRequest{}), sample(t, odd(t, "rot180.mp4"), MediaRequest{})
	a, b := decodeJPEG(t, plain.frames[0]), decodeJPEG(t, turned.frames[0])
	diff := 0
	for y := range 180 {
		for x := range 320 {
			p, _, _, _ := a.At(x, y).RGBA()
			q, _, _, _ := b.At(319-x, 179-y).RGBA()
			if d := int(p>>8) - int(q>>8); d > 60 || d < -60 {
				diff++
			}
		}
	}
	if diff > 320*180/20 {
		t.Errorf("%d pixels differ from the turned picture", diff)
	}
}

func TestNoRotationFromAMatrixOfZeros(t *testing.T) {
	f := probe(t, made("zeromatrix.mp4"))
	if f.Video.Rotation != 0 || f.Video.Width != 64 || f.Video.Height != 48 {
		t.Errorf("video = %+v, want 64x48 unturned", f.Video)
	}
}

// A stretch holds the same pictures as the same times of the whole, whatever
// way the container is entered.
func TestStretchEqualsWhole(t *testing.T) {
	paths := []string{made("bframes.mp4"), made("bframes.ts"), made("restart.ts"), made("bframes.avi"), made("wrap.ts")}
	for _, path := range append(paths, odd(t, "noduration.webm"), odd(t, "start100.ts"), odd(t, "theora.ogv"), odd(t, "editlist.mp4")) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			whole := sample(t, path, MediaRequest{FPS: 4})
			part := sample(t, path, MediaRequest{FPS: 4, FromMS: 1000, ToMS: 1750})
			var want []MediaFrame
			for i, f := range whole.frames {
				// the frame on screen at 1000 ms belongs to the stretch too
				if f.TimeMS < 1750-20 && (f.TimeMS >= 1000-20 || i+1 < len(whole.frames) && whole.frames[i+1].TimeMS > 1000+20 && f.TimeMS > 750) {
					want = append(want, f)
				}
			}
			if len(part.frames) != len(want) {
				t.Fatalf("stretch %v, whole %v", part.times(), whole.times())
			}
			for i, f := range part.frames {
				if f.TimeMS-want[i].TimeMS > 20 || !bytes.Equal(f.JPEG, want[i].JPEG) {
					t.Errorf("frame %d: at %d ms, in the whole at %d ms, same picture %v", i, f.TimeMS, want[i].TimeMS, bytes.Equal(f.JPEG, want[i].JPEG))
				}
			}
		})
	}
}

// Leaving out frames that nobody refers to must not change what is taken:
// at every frame's own time all frames are decoded.
func TestSkippingChangesNoPicture(t *testing.T) {
	for _, name := range []string{"bframes.mp4", "bframes.ts"} {
		all := sample(t, made(name), MediaRequest{FPS: 25})
		if len(all.frames) != 150 {
			t.Fatalf("%s: %d frames, want 150", name, len(all.frames))
		}
		at := map[int64][]byte{}
		for _, f := range all.frames {
			at[f.TimeMS] = f.JPEG
		}
		for _, fps := range []float64{1, 2.5, 3.7, 7} {
			got := sample(t, made(name), MediaRequest{FPS: fps})
			for i, f := range got.frames {
				want := float64(i) * 1000 / fps
				if d := float64(f.TimeMS) - want; d > 21 || d < -21 {
					t.Errorf("%s at %v fps: frame %d at %d ms, want %.0f", name, fps, i, f.TimeMS, want)
				}
				if !bytes.Equal(at[f.TimeMS], f.JPEG) {
					t.Errorf("%s at %v fps: the picture at %d ms is another one", name, fps, f.TimeMS)
				}
			}
		}
	}
}

func TestPictureSizeChangesInTheStream(t *testing.T) {
	got := sample(t, made("reschange.ts"), MediaRequest{FPS: 2})
	sizes := map[[2]int]int{}
	for _, f := range got.frames {
		sizes[[2]int{f.Width, f.Height}]++
	}
	if sizes[[2]int{64, 48}] == 0 || sizes[[2]int{48, 64}] == 0 || len(sizes) != 2 {
		t.Errorf("sizes = %v, want both", sizes)
	}
}

func TestMadeTimelines(t *testing.T) {
	for name, want := range map[string]struct {
		ms, frames int64
		w, h       int
		kind       tree.Kind
	}{
		"restart.ts":    {4043, 100, 64, 48, tree.KindVideo},
		"wrap.ts":       {3000, 75, 64, 48, tree.KindVideo},
		"bframes.mp4":   {6000, 150, 64, 48, tree.KindVideo},
		"bframes.avi":   {2000, 50, 64, 48, tree.KindVideo},
		"oneframe.mp4":  {40, 1, 64, 48, tree.KindVideo},
		"sar.mp4":       {1000, 25, 192, 96, tree.KindVideo},
		"interlaced.ts": {1000, 25, 352, 288, tree.KindVideo},
		"anim.gif":      {1200, 6, 64, 48, tree.KindVideo},
		"still.png":     {0, 1, 64, 48, tree.KindImage},
	} {
		t.Run(name, func(t *testing.T) {
			f := probe(t, made(name))
			if d := f.DurationMS - want.ms; d > 45 || d < -45 || f.Kind != want.kind || f.Video.Frames != want.frames || f.Video.Width != want.w || f.Video.Height != want.h || f.Partial {
				t.Errorf("facts = %+v, video = %+v", f, f.Video)
			}
			got := sample(t, made(name), MediaRequest{})
			if len(got.frames) == 0 || got.frames[0].TimeMS > 45 || got.frames[0].Width != want.w {
				t.Errorf("frames at %v", got.times())
			}
		})
	}
}

func TestTalkFacts(t *testing.T) {
	f := probe(t, made("talk.mkv"))
	if f.Title != "Two parts" || !reflect.DeepEqual(f.Chapters, []Chapter{{0, 1000, "First"}, {1000, 2000, "Second"}}) {
		t.Errorf("title %q, chapters %+v", f.Title, f.Chapters)
	}
	if len(f.Audio) != 2 || f.Audio[0].Language != "de" || f.Audio[0].Default || f.Audio[1].Language != "en" || !f.Audio[1].Default {
		t.Errorf("audio = %+v", f.Audio)
	}
	want := []SubtitleFacts{
		{Codec: "subrip", Language: "fr", Cues: []tree.Cue{{StartMS: 500, EndMS: 1000, Text: "Hello there"}, {StartMS: 1200, EndMS: 1900, Text: "a < b"}}},
		{Codec: "webvtt", Cues: []tree.Cue{{StartMS: 500, EndMS: 1000, Speaker: "Ann", Text: "Good & well"}}},
		{Codec: "ass", Cues: []tree.Cue{{StartMS: 500, EndMS: 1000, Speaker: "Bob", Text: "One, two"}}},
	}
	want[1].Cues[0].Speaker = f.Subtitles[1].Cues[0].Speaker // the demuxer may drop voice tags
	if !reflect.DeepEqual(f.Subtitles, want) {
		t.Errorf("subtitles = %+v, want %+v", f.Subtitles, want)
	}
}

func TestOddSubtitles(t *testing.T) {
	f := probe(t, odd(t, "movtext.mp4"))
	if len(f.Subtitles) != 1 || len(f.Subtitles[0].Cues) != 2 || !strings.Contains(f.Subtitles[0].Cues[0].Text+f.Subtitles[0].Cues[1].Text, "für Ünïcode") {
		t.Errorf("subtitles = %+v", f.Subtitles)
	}
	f = probe(t, odd(t, "subs2.mkv"))
	if len(f.Subtitles) != 2 || !f.Subtitles[0].Forced || !f.Subtitles[1].Default || len(f.Subtitles[1].Cues) == 0 {
		t.Errorf("subtitles = %+v", f.Subtitles)
	}
	f = probe(t, odd(t, "multiaudio.mkv"))
	if len(f.Audio) != 3 || !f.Audio[1].Default || f.Audio[1].Language != "en" {
		t.Errorf("audio = %+v", f.Audio)
	}
}

func TestCutMatroskaIsPartial(t *testing.T) {
	if f := probe(t, made("cut.mkv")); !f.Partial || len(f.Warnings) != 1 {
		t.Errorf("facts = %+v", f)
	}
}

func TestHDRIsNeitherBlackNorGreen(t *testing.T) {
	got := sample(t, odd(t, "hdr10.mp4"), MediaRequest{})
	c := meanColour(t, got.frames[0])
	if c[0]+c[1]+c[2] < 60 || c[1] > 2*c[0]+40 && c[1] > 2*c[2]+40 {
		t.Errorf("mean colour = %v", c)
	}
}

func TestRealClips(t *testing.T) {
	f := probe(t, testkit.Shared(t, "media", "real", "tears-of-steel-battle.webm"))
	if f.DurationMS < 70_400 || f.DurationMS > 70_700 || f.Video.Width != 798 && f.Video.Width != 800 {
		t.Errorf("facts = %+v, video = %+v", f, f.Video)
	}
	got := sample(t, testkit.Shared(t, "media", "real", "tears-of-steel-battle.webm"), MediaRequest{})
	if len(got.frames) != 71 || len(got.shots) < 15 || len(got.shots) > 30 {
		t.Errorf("%d frames, %d shots", len(got.frames), len(got.shots))
	}
	short := sample(t, testkit.Shared(t, "media", "real", "realshort.mp4"), MediaRequest{})
	if len(short.frames) != 2 {
		t.Errorf("frames at %v", short.times())
	}
}

func TestRefusalsNameTheReason(t *testing.T) {
	for name, want := range map[string]string{
		"zero.mp4": "empty", "onebyte.mp4": "(1 B)", "html.mp4": "HTML", "hls_local.mp4": "playlist", "hls_neighbour.mp4": "playlist",
		"evil.svg": "SVG", "nomoov.mp4": "incomplete", "nostreams.mp4": "nothing to play", "zeroframes.mp4": "no pictures",
		"emptywav.wav": "no audio", "bomb_vp8.ivf": "16000x16000", "bomb_real.png": "20000x20000", "bomb.gif": "65535x65535",
		"cut.pdf": "PDF", "good.xlsx": "ZIP", "evil.md": "not a video",
	} {
		t.Run(name, func(t *testing.T) {
			m := Media{Command: selfWorker(t)}
			_, err := m.Probe(t.Context(), openMedia(t, odd(t, name)), MediaRequest{})
			var refused *MediaError
			if !errors.As(err, &refused) || !strings.Contains(refused.Reason, want) {
				t.Fatalf("error = %v, want one with %q", err, want)
			}
			checkSentence(t, refused.Reason)
		})
	}
}

func TestCancelEndsARealWorker(t *testing.T) {
	path := testkit.Shared(t, "media", "real", "tears-of-steel-battle.webm")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var at time.Time
	err := Media{Command: selfWorker(t)}.Sample(ctx, openMedia(t, path), MediaRequest{FPS: 24}, SampleSink{
		Frame: func(MediaFrame) error {
			if at.IsZero() {
				at = time.Now()
				cancel()
			}
			return nil
		},
	})
	if !errors.Is(err, context.Canceled) || time.Since(at) > time.Second {
		t.Errorf("error = %v after %v", err, time.Since(at))
	}
}

// The binding's structs must still begin with their C object.
func TestBindingLayout(t *testing.T) {
	if got := sample(t, made("oneframe.mp4"), MediaRequest{}); len(got.frames) != 1 {
		t.Fatalf("%d frames", len(got.frames))
	}
	if err := bindingLayout(); err != nil {
		t.Error(err)
	}
}
