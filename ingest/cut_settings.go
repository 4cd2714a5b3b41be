package ingest

import (
	"cmp"
	"fmt"
	"time"
)

// Settings of cutting and sampling. The zero value means the defaults.
type Settings struct {
	L1Target time.Duration // wanted length of a stretch; 0 = 10 min
	L2Target time.Duration // wanted length of a clip; 0 = 1 min
	L3FPS    float64       // frames looked at per second of video; 0 = 1
	L3Batch  int           // frames described in one call of a vision model; 0 = 10
	// KeyFrames takes the key frame nearest to each wanted time instead of the
	// frame that is on screen then, and finds no cuts.
	KeyFrames bool
	// FrameDistance is how many of the 64 bits of two frames' difference hashes
	// must differ for the later one to be kept; 0 = 4.
	FrameDistance int
	LongSide      int   // longer side of stored frames in pixels; 0 = 512
	Quality       int   // qscale of stored frames, 2 best to 31; 0 = 5
	MaxPixels     int64 // largest picture that is decoded; 0 = the media worker's default
	Concurrency   int   // describer calls at once in one stretch; 0 = tree.DefaultConcurrency
}

func (s Settings) l1() int64 { return cmp.Or(s.L1Target, 10*time.Minute).Milliseconds() }
func (s Settings) l2() int64 { return cmp.Or(s.L2Target, time.Minute).Milliseconds() }

// fps is the sampling rate for the wished detail.
func (s Settings) fps(detail string) float64 {
	fps := cmp.Or(s.L3FPS, 1)
	switch detail {
	case "low":
		return fps / 2
	case "high":
		return fps * 2
	}
	return fps
}

func (s Settings) distance() int { return cmp.Or(s.FrameDistance, 4) }
func (s Settings) batch() int    { return cmp.Or(s.L3Batch, 10) }

// fingerprint names everything in the settings that changes a tree.
// Concurrency does not.
func (s Settings) fingerprint() string {
	print := fmt.Sprintf("l1=%d l2=%d fps=%g batch=%d distance=%d side=%d quality=%d",
		s.l1(), s.l2(), s.fps(""), s.batch(), s.distance(), cmp.Or(s.LongSide, 512), cmp.Or(s.Quality, 5))
	if s.KeyFrames {
		print += " keyframes"
	}
	return print
}

// request is what the media worker is asked for with these settings.
func (s Settings) request(detail string, track int) MediaRequest {
	return MediaRequest{
		FPS: s.fps(detail), LongSide: cmp.Or(s.LongSide, 512), Quality: cmp.Or(s.Quality, 5),
		AudioTrack: track, MaxPixels: s.MaxPixels, Keys: s.KeyFrames,
	}
}
