//go:build cgo

package ingest

/*
#include "media_native.h"
*/
import "C"

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"
)

// probe reads every packet once, decodes none, and sends the facts.
func (j *mediaJob) probe(ctx context.Context, in *nativeInput) error {
	p := newMediaProbe(in.streams, j.req.AudioTrack)
	if err := j.scan(ctx, in, func(pkt *mediaPacket) bool { p.add(pkt); return true }); err != nil {
		return err
	}
	facts, err := p.finish(j.fileFacts(in))
	if err != nil {
		return err
	}
	if what := checkMediaFacts(&facts); what != "" {
		return refuseMedia("This file claims impossible things (%s), so nothing was taken from it; it is probably damaged, convert it and try again.", what)
	}
	return j.out.sendJSON(mediaMsgFacts, facts)
}

// scan hands packet after packet to add until the end or until add says stop.
// Packets of text subtitles carry their data.
func (j *mediaJob) scan(ctx context.Context, in *nativeInput, add func(*mediaPacket) bool) error {
	pkt := C.av_packet_alloc()
	defer C.av_packet_free(&pkt)
	batch := make([]C.RtPacket, 512)
	var text [C.RT_STREAMS]C.uint8_t
	for i, s := range in.streams {
		if s.Type == 's' && isTextSubtitle(s.Codec) {
			text[i] = 1
		}
	}
	for {
		n := int(C.rt_scan(in.reader, pkt, &batch[0], C.int(len(batch)), &text[0]))
		for i := range n {
			c := &batch[i]
			if c.stream < 0 {
				return nil
			}
			p := mediaPacket{
				Stream: int(c.stream), PTS: int64(c.pts), DTS: int64(c.dts), DurUS: int64(c.dur), SkipUS: int64(c.skip),
				Key: c.key != 0, Discard: c.discard != 0, Corrupt: c.corrupt != 0, Empty: c.size == 0,
			}
			if i == n-1 && c.size > 0 && c.size < 1<<20 && c.stream < C.RT_STREAMS && text[c.stream] == 1 {
				p.Data = C.GoBytes(unsafe.Pointer(pkt.data), c.size)
			}
			if !add(&p) {
				return nil
			}
		}
		j.progress(in)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// skip reads n packets and drops them.
func (j *mediaJob) skip(ctx context.Context, in *nativeInput, n int64) error {
	pkt := C.av_packet_alloc()
	defer C.av_packet_free(&pkt)
	batch := make([]C.RtPacket, 512)
	var none [C.RT_STREAMS]C.uint8_t
	for n > 0 && ctx.Err() == nil {
		got := int64(C.rt_scan(in.reader, pkt, &batch[0], C.int(min(n, int64(len(batch)))), &none[0]))
		if batch[got-1].stream < 0 {
			break
		}
		n -= got
		j.progress(in)
	}
	return ctx.Err()
}

func (j *mediaJob) progress(in *nativeInput) {
	j.beat.Store(uint64(atomic.LoadInt64((*int64)(unsafe.Pointer(&in.reader.packets)))))
}

func (j *mediaJob) fileFacts(in *nativeInput) mediaFile {
	boxes := readMediaBoxes(j.file, j.size)
	f := mediaFile{
		Format: in.format, MIME: mediaMIME(in.format, in.streams), Title: metadata(in.c.metadata, "title"),
		HeaderEndUS: int64(C.rt_end_us(in.c)), Image: strings.HasSuffix(in.format, "_pipe"),
		Lies: strings.Contains(in.format, "mp4"), Cut: boxes.mp4 && boxes.cut, ReadFault: in.reader.fault != 0,
	}
	for i := range maxMediaChapters {
		var start, end C.int64_t
		var md *C.AVDictionary
		if C.rt_chapter(in.c, C.int(i), &start, &end, &md) == 0 {
			break
		}
		f.Chapters = append(f.Chapters, Chapter{StartMS: int64(start), EndMS: int64(end), Title: metadata(md, "title")})
	}
	return f
}

// mediaMIME is the media type the content is served with.
func mediaMIME(format string, streams []mediaStream) string {
	kind := "audio"
	if slices.ContainsFunc(streams, func(s mediaStream) bool { return s.Type == 'v' && !s.Picture }) {
		kind = "video"
	}
	webm := !slices.ContainsFunc(streams, func(s mediaStream) bool {
		return !slices.Contains([]string{"vp8", "vp9", "av1", "opus", "vorbis", "webvtt"}, s.Codec)
	})
	name := map[string]string{
		"mpegts": "mp2t", "mpeg": "mpeg", "avi": "x-msvideo", "asf": "x-ms-wmv", "flv": "x-flv", "ogg": "ogg",
		"wav": "wav", "mp3": "mpeg", "flac": "flac", "aac": "aac", "h264": "h264",
	}[format]
	switch {
	case strings.Contains(format, "mp4"):
		name = "mp4"
	case strings.Contains(format, "matroska") && webm:
		name = "webm"
	case strings.Contains(format, "matroska"):
		name = "x-matroska"
	case format == "gif":
		return "image/gif"
	case strings.HasSuffix(format, "_pipe"):
		return "image/" + strings.TrimSuffix(format, "_pipe")
	case name == "":
		return unknownMIME
	}
	return kind + "/" + name
}
