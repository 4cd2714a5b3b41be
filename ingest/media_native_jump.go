//go:build cgo

package ingest

// #include "media_native.h"
import "C"

import (
	"context"

	"github.com/asticode/go-astiav"
)

// jumpKeys is how many key frames the way to the next wanted time must pass for
// a seek to cost less than decoding on: the reader starts over at the key frame
// before, and its buffer is read anew.
const jumpKeys = 2

// jump moves on to the key frame before the next wanted time where that is
// cheaper than to decode all between. The picture between is not looked at, so
// no cuts are found there.
func (s *nativeSampler) jump(us int64) error {
	step := int64(s.dec.key_step)
	if s.stuck || s.whole || step <= 0 || s.plan.done() || s.plan.want()-float64(us) <= float64(jumpKeys*step) || !seekable(s.in.format) {
		return nil
	}
	if err := s.shots.flush(); err != nil {
		return err
	}
	s.shots = newShotDetector(s.shots.last, s.sendShot)
	if C.rt_seek(s.dec, C.int64_t(s.zero+int64(s.plan.want()-s.plan.tol))) < 0 {
		s.stuck = true
		return nil
	}
	s.jumped = true
	return nil
}

// behind reports whether a frame after a jump is one that was seen before it.
func (s *nativeSampler) behind(inf *C.RtFrame) bool {
	if !s.jumped {
		return false
	}
	if int64(inf.us) != mediaNone && int64(inf.us)-s.zero-s.delay <= s.lastUS {
		s.stuck = true
		return true
	}
	s.jumped = false
	return false
}

// runKeys goes through the key frames nearest to the wanted times. A stretch
// without one shows the key frame before it.
func (s *nativeSampler) runKeys(ctx context.Context) error {
	next := astiav.AllocFrame()
	defer next.Free()
	for ctx.Err() == nil {
		var inf C.RtFrame
		if more, err := s.decode(next, &inf); err != nil {
			return err
		} else if !more {
			return s.lastKey()
		}
		us := s.time(&inf)
		if us >= s.plan.to {
			return s.lastKey()
		}
		s.held.Unref()
		s.held.MoveRef(next)
		s.heldInf, s.lastUS, s.have = inf, us, true
		if us >= s.plan.from {
			if err := s.send(); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// lastKey shows what is held if the stretch has shown nothing.
func (s *nativeSampler) lastKey() error {
	if s.frames > 0 || !s.have {
		return nil
	}
	return s.send()
}
