//go:build cgo

package ingest

/*
#include <errno.h>
#include <stdlib.h>
#include "media_native.h"
*/
import "C"

import (
	"context"
	"errors"
	"math"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// nativeSampler decodes the chosen video stream over a stretch.
type nativeSampler struct {
	job     *mediaJob
	in      *nativeInput
	video   int
	whole   bool  // no way in but from the start
	zero    int64 // microseconds on the container's clock
	cc      *astiav.CodecContext
	dec     *C.RtDecoder
	pic     *pictureMaker
	plan    framePlan
	shots   shotDetector
	held    *astiav.Frame // the frame on screen until the next one comes
	heldInf C.RtFrame
	have    bool
	lastUS  int64
	delay   int64 // of formats that keep decode times only
	frames  int64
	jumped  bool // the next frames may be ones that were seen already
	stuck   bool // the index of the file leads back: no more jumps
}

// sample sends the frames that are on screen at the wanted times, and the cuts.
func (j *mediaJob) sample(ctx context.Context, in *nativeInput) error {
	s := &nativeSampler{job: j, in: in}
	var err error
	if s.video, _ = chooseMedia(in.streams, j.req.AudioTrack); s.video < 0 {
		return refuseMedia("There are no pictures in this file, only sound; ask for its transcript instead.")
	}
	if !in.streams[s.video].Usable {
		return refuseMedia("The pictures of this video are coded as %q, which is not accepted here; convert it to H.264 and try again.", in.streams[s.video].Codec)
	}
	if err := s.start(ctx); err != nil {
		return err
	}
	defer func() { s.close() }()
	if j.req.Keys {
		err = s.runKeys(ctx)
	} else {
		err = s.run(ctx)
	}
	if err == nil && s.frames == 0 && j.req.FromMS == 0 {
		return refuseMedia("No picture of this video could be decoded; the file is probably damaged, convert it and try again.")
	}
	return err
}

// start finds zero, moves to the key frame before the stretch and opens the decoder.
func (s *nativeSampler) start(ctx context.Context) error {
	zero, err := s.job.findZero(ctx, s.in)
	if err != nil {
		return err
	}
	s.zero, s.whole = zero.us(), zero.noPTS
	s.plan = newFramePlan(s.job.req, s.in.streams[s.video].intervalUS())
	last := int64(0)
	if s.plan.from > 0 {
		last = math.MinInt64 / 2
	}
	s.shots = newShotDetector(last, s.sendShot)
	s.pic = &pictureMaker{stream: &s.in.streams[s.video], req: s.job.req}
	s.held = astiav.AllocFrame()
	return s.rewind(ctx)
}

// rewind opens the input again at the key frame before the stretch.
func (s *nativeSampler) rewind(ctx context.Context) error {
	skip := int64(0)
	inside := s.plan.from > 0 && !s.whole
	seek := inside && seekable(s.in.format)
	if inside && !seek {
		var err error
		if skip, err = s.countTo(ctx); err != nil {
			return err
		}
	}
	if err := s.reopen(); err != nil {
		return err
	}
	if seek {
		// One second earlier: some indexes hold decode times.
		if C.rt_seek(s.dec, C.int64_t(s.zero+max(0, s.plan.from-1_000_000))) < 0 {
			return s.reopen()
		}
		return nil
	}
	return s.job.skip(ctx, s.in, skip)
}

// seekable tells formats with an index of their own. The others are read from
// the start without decoding: slower, but their times stay true.
func seekable(format string) bool {
	return format == "mov,mp4,m4a,3gp,3g2,mj2" || format == "matroska,webm"
}

// countTo counts the packets before the last key frame at or before the stretch.
func (s *nativeSampler) countTo(ctx context.Context) (int64, error) {
	if err := s.reopen(); err != nil {
		return 0, err
	}
	skip, n := int64(0), int64(0)
	err := s.job.scan(ctx, s.in, func(p *mediaPacket) bool {
		if p.Stream == s.video {
			if at := p.at(); at != mediaNone && p.Key && at-s.zero <= s.plan.from {
				skip = n
			} else if p.Key && at != mediaNone {
				return false
			}
		}
		n++
		return true
	})
	return skip, err
}

// reopen starts the input over, with only the video stream left on.
func (s *nativeSampler) reopen() error {
	s.close()
	if err := s.job.reopen(s.in, s.video); err != nil {
		return err
	}
	return s.openDecoder()
}

func (s *nativeSampler) openDecoder() error {
	par := s.in.fc.Streams()[s.video].CodecParameters()
	cc, err := s.job.openDecoder(par)
	if err != nil {
		return refuseMedia("The pictures of this video (%s) cannot be decoded: %v; convert it to H.264 and try again.", s.in.streams[s.video].Codec, err)
	}
	s.cc = cc
	s.dec = (*C.RtDecoder)(C.calloc(1, C.sizeof_RtDecoder))
	if C.rt_decoder(s.dec, s.in.reader, codecOf(s.cc), C.int(s.video)) < 0 {
		return errors.New("out of memory")
	}
	s.dec.from, s.dec.to = C.double(s.zero+s.plan.from), C.double(float64(s.zero)+float64(s.plan.to))
	s.dec.step, s.dec.tol = C.double(s.plan.step), C.double(s.plan.tol)
	if s.job.req.Keys {
		s.dec.keys = 1
	}
	return nil
}

func (s *nativeSampler) close() {
	if s.cc != nil {
		s.cc.Free()
		C.free(unsafe.Pointer(s.dec))
		s.cc, s.dec = nil, nil
	}
}

// run goes through the decoded frames in display order.
func (s *nativeSampler) run(ctx context.Context) error {
	next := astiav.AllocFrame()
	defer next.Free()
	first, retried := true, false
	for !s.plan.done() {
		var inf C.RtFrame
		if more, err := s.decode(next, &inf); err != nil {
			return err
		} else if !more {
			return s.finish()
		}
		if s.behind(&inf) {
			continue
		}
		us := s.time(&inf)
		if first && us > s.plan.from && s.plan.from > 0 && !retried && seekable(s.in.format) {
			// The index led behind the stretch: read from the start.
			retried = true
			if err := s.reopen(); err != nil {
				return err
			}
			continue
		}
		first = false
		if err := s.frame(us, next, &inf); err != nil {
			return err
		}
		if err := s.jump(us); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return s.shots.flush()
}

// decode gives the next frame in display order; false: there is none.
func (s *nativeSampler) decode(into *astiav.Frame, inf *C.RtFrame) (more bool, err error) {
	code := C.rt_next(s.dec, (*C.AVFrame)(into.UnsafePointer()), inf)
	if code == -C.ENOMEM {
		return false, refuseMedia("Decoding this video needs more memory than a media worker may use; convert it to a smaller picture size.")
	}
	s.job.progress(s.in)
	return code == 0, nil
}

// time is the frame's place on the source's timeline in microseconds. A missing
// or falling time becomes the usual step after the frame before.
func (s *nativeSampler) time(inf *C.RtFrame) int64 {
	step := s.in.streams[s.video].intervalUS()
	if !s.have && int64(s.dec.first_dts) != mediaNone && int64(inf.us) != mediaNone {
		// Without display times frames come late by the decoder's delay.
		s.delay = int64(inf.us - s.dec.first_dts)
	}
	us := int64(inf.us) - s.zero - s.delay
	switch {
	case int64(inf.us) == mediaNone && !s.have:
		us = 0
	case int64(inf.us) == mediaNone:
		us = s.lastUS + step
	case s.have && us <= s.lastUS:
		us = s.lastUS + 1
	}
	return us
}

// frame takes the next frame: the held one was on screen until its time.
func (s *nativeSampler) frame(us int64, next *astiav.Frame, inf *C.RtFrame) error {
	if s.have && s.plan.due(s.lastUS, us) {
		if err := s.send(); err != nil {
			return err
		}
	}
	if !s.have {
		s.plan.begin(us)
	}
	if us < s.plan.to {
		hist := (*shotHist)(unsafe.Pointer(&inf.hist[0]))
		if err := s.shots.add(us, hist); err != nil {
			return err
		}
	}
	s.held.Unref()
	s.held.MoveRef(next)
	s.heldInf, s.lastUS, s.have = *inf, us, true
	return nil
}

// finish ends the stream: the last frame is on screen for its duration.
func (s *nativeSampler) finish() error {
	if s.have {
		dur := max(int64(s.heldInf.dur), s.in.streams[s.video].intervalUS())
		if s.plan.due(s.lastUS, s.lastUS+dur) {
			if err := s.send(); err != nil {
				return err
			}
		}
	}
	return s.shots.flush()
}

// send makes the held frame a picture. Its time is its own, or the start of the
// stretch where it was on screen before that.
func (s *nativeSampler) send() error {
	f, err := s.pic.picture(s.held, &s.heldInf)
	if err != nil {
		return err
	}
	f.TimeMS = max(roundMS(s.lastUS), s.job.req.FromMS)
	s.frames++
	return s.job.out.frame(f)
}

func (s *nativeSampler) sendShot(us int64, score float64) error {
	if us <= s.plan.from || us >= s.plan.to {
		return nil
	}
	return s.job.out.shot(MediaShot{TimeMS: roundMS(us), Score: score})
}
