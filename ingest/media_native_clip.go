//go:build cgo

package ingest

/*
#cgo pkg-config: libswscale libswresample
#include <stdlib.h>
#include "media_native.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// nativeClip cuts parts of the input into one MP4 file.
type nativeClip struct {
	job          *mediaJob
	in           *nativeInput
	zero         int64 // microseconds on the container's clock
	video, audio int   // streams of the input, -1 = none
	out          *C.RtClip
	vdec, adec   *astiav.CodecContext
	pkt          *C.AVPacket
	frame        *astiav.Frame

	base     int64 // where the part stands in the clip
	from, to int64 // of the part, on the source's timeline
	held     *astiav.Frame
	hasHeld  bool
	shown    bool // a picture of the part was encoded
	first    int64
	lastUS   [2]int64
	done     [2]bool // video, audio: nothing more comes of the part
}

const (
	clipVideo = iota
	clipAudio
)

// clip writes the file, copied where that is wished and possible.
func (j *mediaJob) clip(ctx context.Context, in *nativeInput) error {
	c := &nativeClip{job: j, in: in, pkt: C.av_packet_alloc(), frame: astiav.AllocFrame(), held: astiav.AllocFrame()}
	defer c.free()
	c.video, c.audio = chooseMedia(in.streams, j.req.AudioTrack)
	if c.video >= 0 && !in.streams[c.video].Usable {
		c.video = -1
	}
	if c.audio >= 0 && !in.streams[c.audio].Usable {
		c.audio = -1
	}
	if c.video < 0 && c.audio < 0 {
		return refuseMedia("There is nothing in this medium that can be cut; convert it to H.264 and AAC and try again.")
	}
	zero, err := j.findZero(ctx, in)
	if err != nil {
		return err
	}
	c.zero = zero.us()
	if !j.req.Exact {
		if err := c.copy(ctx); !errors.Is(err, errNoCopy) {
			return err
		}
	}
	return c.encode(ctx)
}

var errNoCopy = errors.New("MP4 cannot hold these streams as they are")

func (c *nativeClip) free() {
	c.freeOut()
	C.av_packet_free(&c.pkt)
	c.frame.Free()
	c.held.Free()
}

func (c *nativeClip) freeOut() {
	c.freeDecoders()
	if c.out != nil {
		C.rt_clip_free(c.out)
		C.free(unsafe.Pointer(c.out))
		c.out = nil
	}
}

func (c *nativeClip) freeDecoders() {
	for _, d := range []**astiav.CodecContext{&c.vdec, &c.adec} {
		if *d != nil {
			(*d).Free()
			*d = nil
		}
	}
}

// begin makes the output with its streams.
func (c *nativeClip) begin(streams func() C.int) error {
	c.freeOut()
	c.out = (*C.RtClip)(C.calloc(1, C.sizeof_RtClip))
	if C.rt_clip(c.out) < 0 {
		return errors.New("out of memory")
	}
	if err := streams(); err < 0 {
		return c.failed(err)
	}
	return c.failed(C.rt_clip_begin(c.out))
}

// failed names an error of the C half; nil where there is none.
func (c *nativeClip) failed(code C.int) error {
	if code >= 0 {
		return nil
	}
	return refuseMedia("The clip cannot be made (%v); the medium is probably damaged there, choose another part.", astiav.Error(code))
}

// send hands on what is muxed.
func (c *nativeClip) send() error {
	for c.out.len > 0 {
		n := min(int(c.out.len), maxClipBlock)
		all := unsafe.Slice((*byte)(c.out.out_bytes), int(c.out.len))
		if err := c.job.out.send(mediaMsgClip, all[:n]); err != nil {
			return err
		}
		copy(all, all[n:])
		c.out.len -= C.size_t(n)
	}
	return nil
}

func (c *nativeClip) end() error {
	if err := c.failed(C.rt_clip_end(c.out)); err != nil {
		return err
	}
	return c.send()
}

func (c *nativeClip) stream(i int) *C.AVStream {
	return unsafe.Slice(c.in.c.streams, int(c.in.c.nb_streams))[i]
}

// seek moves before us where the format has an index; false: read from the start.
func (c *nativeClip) seek(us int64) bool {
	if us <= 1_000_000 || !seekable(c.in.format) {
		return false
	}
	stream := c.video
	if stream < 0 {
		stream = c.audio
	}
	return C.rt_clip_seek(c.in.c, C.int(stream), C.int64_t(c.zero+us)) >= 0
}

// copy takes the packets from the key frame before the part to its end.
func (c *nativeClip) copy(ctx context.Context) error {
	if err := c.job.reopenBoth(c.in, c.video, c.audio); err != nil {
		return err
	}
	var video, audio C.int = -1, -1
	err := c.begin(func() C.int {
		if c.video >= 0 {
			if err := C.rt_clip_copy(c.out, c.stream(c.video), &video); err < 0 {
				return err
			}
		}
		if c.audio >= 0 {
			return C.rt_clip_copy(c.out, c.stream(c.audio), &audio)
		}
		return 0
	})
	if err != nil {
		return errNoCopy
	}
	span := c.job.req.Spans[0]
	c.from, c.to = span.FromMS*1000, span.ToMS*1000
	start := int64(mediaNone)
	if !c.seek(c.from) {
		if start, err = c.keyBefore(ctx, c.from); err != nil {
			return err
		}
	}
	for !c.copied(ctx, &start, video, audio) {
		if err := c.send(); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return c.end()
}

// keyBefore reads through to find the last key frame at or before us, then
// starts over.
func (c *nativeClip) keyBefore(ctx context.Context, us int64) (int64, error) {
	key := int64(mediaNone)
	err := c.job.scan(ctx, c.in, func(p *mediaPacket) bool {
		lead := p.Stream == c.video || c.video < 0 && p.Stream == c.audio
		if at := p.at(); lead && p.Key && at != mediaNone {
			if at-c.zero > us && key != mediaNone {
				return false
			}
			key = at
		}
		return true
	})
	if err != nil {
		return key, err
	}
	return key, c.job.reopenBoth(c.in, c.video, c.audio)
}

// copied copies the next packet; true at the end of the part.
func (c *nativeClip) copied(ctx context.Context, start *int64, video, audio C.int) bool {
	p := c.pkt
	if ctx.Err() != nil || C.rt_read(c.in.reader, p) < 0 || c.done[clipVideo] && c.done[clipAudio] {
		return true
	}
	defer C.av_packet_unref(p)
	c.job.progress(c.in)
	i, kind, to := int(p.stream_index), clipVideo, video
	if i == c.audio {
		kind, to = clipAudio, audio
	} else if i != c.video {
		return false
	}
	pts, dts := int64(C.rt_packet_us(p, c.stream(i), 0)), int64(C.rt_packet_us(p, c.stream(i), 1))
	if pts == mediaNone {
		return false
	}
	lead := kind == clipVideo || c.video < 0
	if *start == mediaNone && lead && p.flags&C.AV_PKT_FLAG_KEY != 0 {
		*start = pts
	}
	c.done[clipVideo], c.done[clipAudio] = c.done[clipVideo] || c.video < 0, c.done[clipAudio] || c.audio < 0
	switch {
	case *start == mediaNone || pts < *start:
		return false // before the key frame
	case dts-c.zero >= c.to:
		c.done[kind] = true
		return false
	}
	// A single broken packet is left out: players get over that.
	C.rt_clip_packet(c.out, p, c.stream(i), to, C.int64_t(*start))
	return false
}

// encode decodes every part and encodes it anew.
func (c *nativeClip) encode(ctx context.Context) error {
	for i, span := range c.job.req.Spans {
		c.from, c.to = span.FromMS*1000, span.ToMS*1000
		if err := c.part(ctx, i == 0, true); err != nil {
			return err
		}
		c.base += c.to - c.from
		if c.audio >= 0 {
			if err := c.failed(C.rt_clip_pad(c.out, C.int64_t(c.base))); err != nil {
				return err
			}
		}
	}
	return c.end()
}

// part encodes one part. Where an index led behind it, it is read from the start.
func (c *nativeClip) part(ctx context.Context, isFirst, mayseek bool) error {
	if err := c.job.reopenBoth(c.in, c.video, c.audio); err != nil {
		return err
	}
	if isFirst {
		if err := c.begin(c.encoders); err != nil {
			return err
		}
	}
	if err := c.openDecoders(); err != nil {
		return err
	}
	sought := mayseek && c.seek(max(0, c.from-1_000_000))
	c.hasHeld, c.shown, c.first = false, false, mediaNone
	c.done = [2]bool{c.video < 0, c.audio < 0}
	c.lastUS = [2]int64{mediaNone, mediaNone}
	for !c.done[clipVideo] || !c.done[clipAudio] {
		if err := ctx.Err(); err != nil {
			return err
		}
		ended := C.rt_read(c.in.reader, c.pkt) < 0
		if err := c.decode(ended); err != nil {
			return err
		}
		if sought && c.first > c.from && !c.shown && c.video >= 0 {
			return c.part(ctx, false, false)
		}
		if ended {
			break
		}
		c.job.progress(c.in)
		if err := c.send(); err != nil {
			return err
		}
	}
	if c.hasHeld && !c.shown {
		return c.show(c.held, c.base)
	}
	return nil
}

func (c *nativeClip) encoders() C.int {
	if c.video >= 0 {
		s := c.in.streams[c.video]
		if err := C.rt_clip_video(c.out, c.stream(c.video), C.int(s.Width), C.int(s.Height)); err < 0 {
			return err
		}
	}
	if c.audio >= 0 {
		return C.rt_clip_audio(c.out)
	}
	return 0
}

func (c *nativeClip) openDecoders() (err error) {
	c.freeDecoders()
	for _, s := range []struct {
		stream int
		dec    **astiav.CodecContext
	}{{c.video, &c.vdec}, {c.audio, &c.adec}} {
		if s.stream < 0 {
			continue
		}
		if *s.dec, err = c.job.openDecoder(c.in.fc.Streams()[s.stream].CodecParameters()); err != nil {
			return refuseMedia("The streams of this medium cannot be decoded (%v); convert it to H.264 and AAC and try again.", err)
		}
		codecOf(*s.dec).pkt_timebase = c.stream(s.stream).time_base
	}
	return nil
}

// decode feeds the packet that was read, or the end, to its decoder.
func (c *nativeClip) decode(ended bool) error {
	for kind, s := range []struct {
		stream int
		dec    *astiav.CodecContext
	}{{c.video, c.vdec}, {c.audio, c.adec}} {
		if s.stream < 0 || !ended && int(c.pkt.stream_index) != s.stream {
			continue
		}
		pkt := c.pkt
		if ended {
			pkt = nil
		}
		C.avcodec_send_packet(codecOf(s.dec), pkt) // a packet that cannot be decoded is left out
		for s.dec.ReceiveFrame(c.frame) == nil {
			if err := c.take(kind, s.stream); err != nil {
				return err
			}
			c.frame.Unref()
		}
	}
	C.av_packet_unref(c.pkt)
	return nil
}

// take encodes a decoded frame where it lies in the part.
func (c *nativeClip) take(kind, stream int) error {
	frame := (*C.AVFrame)(c.frame.UnsafePointer())
	us := int64(C.rt_frame_us(frame, c.stream(stream)))
	if us == mediaNone {
		if c.lastUS[kind] == mediaNone {
			return nil
		}
		us = c.lastUS[kind] + c.in.streams[stream].intervalUS() + c.zero
	}
	us -= c.zero
	c.lastUS[kind] = us
	if kind == clipAudio {
		c.done[kind] = c.done[kind] || us >= c.to
		return c.failed(C.rt_clip_sound(c.out, frame, C.int64_t(us-c.from+c.base), C.int64_t(c.base), C.int64_t(c.base+c.to-c.from)))
	}
	if c.first == mediaNone {
		c.first = us
	}
	if us >= c.to {
		c.done[kind] = true
		return nil
	}
	if us <= c.from {
		c.held.Unref()
		c.held.MoveRef(c.frame)
		c.hasHeld = true
		return nil
	}
	if !c.shown && c.hasHeld {
		if err := c.show(c.held, c.base); err != nil {
			return err
		}
	}
	return c.show(c.frame, us-c.from+c.base)
}

func (c *nativeClip) show(f *astiav.Frame, us int64) error {
	c.shown = true
	if code := C.rt_clip_picture(c.out, (*C.AVFrame)(f.UnsafePointer()), C.int64_t(us)); code < 0 {
		return fmt.Errorf("encode a picture: %w", astiav.Error(code))
	}
	return nil
}
