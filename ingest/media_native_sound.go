//go:build cgo

package ingest

/*
#cgo pkg-config: libswresample
#include <errno.h>
#include "media_native.h"
*/
import "C"

import (
	"context"
	"unsafe"
)

// nativeSound puts decoded samples on the source's timeline.
type nativeSound struct {
	job  *mediaJob
	zero int64 // microseconds on the container's clock
	next int64 // number of the sample that comes next
	sent bool
}

// soundSlack is how far, in samples, a frame's time may be off before it moves
// the sound: containers round their times.
const soundSlack = soundRate / 20

// sound sends the chosen audio stream as mono samples at 16 kHz.
func (j *mediaJob) sound(ctx context.Context, in *nativeInput) error {
	_, audio := chooseMedia(in.streams, j.req.AudioTrack)
	if audio < 0 {
		return refuseMedia("There is no sound in this file, so nothing can be transcribed; hand over its subtitles instead.")
	}
	if !in.streams[audio].Usable {
		return refuseMedia("The sound of this file is coded as %q, which is not accepted here; convert it to AAC or MP3 and try again.", in.streams[audio].Codec)
	}
	zero, err := j.findZero(ctx, in)
	if err != nil {
		return err
	}
	if err := j.reopen(in, audio); err != nil {
		return err
	}
	cc, err := j.openDecoder(in.fc.Streams()[audio].CodecParameters())
	if err != nil {
		return refuseMedia("The sound of this file (%s) cannot be decoded: %v; convert it to AAC or MP3 and try again.", in.streams[audio].Codec, err)
	}
	defer cc.Free()
	s := nativeSound{job: j, zero: zero.us()}
	var c C.RtSound
	defer C.rt_sound_free(&c)
	if C.rt_sound(&c, in.reader, codecOf(cc), C.int(audio)) < 0 {
		return refuseMedia("Decoding this sound needs more memory than a media worker may use; convert it to AAC or MP3 and try again.")
	}
	return s.run(ctx, in, &c)
}

func (s *nativeSound) run(ctx context.Context, in *nativeInput, c *C.RtSound) error {
	for {
		var us C.int64_t
		n := C.rt_sound_next(c, &us)
		if n < 0 {
			break // the end, or damage that does not end
		}
		s.job.progress(in)
		if n > 0 {
			if err := s.take(int64(us), unsafe.Slice((*int16)(c.out), int(n))); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if to := s.job.req.ToMS; to > 0 && s.next >= to*soundRate/1000 {
			break
		}
	}
	if !s.sent && s.job.req.FromMS == 0 {
		return refuseMedia("No sound of this file could be decoded; the file is probably damaged, convert it and try again.")
	}
	return nil
}

// take sends samples whose first one stands at us on the container's clock. A
// time that is clearly ahead leaves a hole; samples of a time that was sent
// already are dropped.
func (s *nativeSound) take(us int64, samples []int16) error {
	if us != mediaNone {
		at := (us - s.zero) * soundRate / 1_000_000
		switch off := at - s.next; {
		case off > soundSlack:
			s.next = at
		case off < -soundSlack:
			samples = samples[min(-off, int64(len(samples))):]
		}
	}
	from := s.job.req.FromMS * soundRate / 1000
	if skip := min(from-s.next, int64(len(samples))); skip > 0 {
		s.next, samples = s.next+skip, samples[skip:]
	}
	if to := s.job.req.ToMS * soundRate / 1000; to > 0 {
		samples = samples[:max(0, min(int64(len(samples)), to-s.next))]
	}
	for len(samples) > 0 {
		n := min(len(samples), maxSoundBlock)
		if err := s.job.out.sound(SoundBlock{First: s.next, Samples: samples[:n]}); err != nil {
			return err
		}
		s.next, samples, s.sent = s.next+int64(n), samples[n:], true
	}
	return nil
}
