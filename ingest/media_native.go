//go:build cgo

package ingest

/*
#cgo pkg-config: libavformat libavcodec libavutil
#include <stdlib.h>
#include "media_native.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// Only these may ever look at a file. Playlists, image sequences and devices
// are not among them: they open other files.
const (
	mediaDemuxers = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,avi,asf,flv,ogg,wav,w64,aiff,mp3,flac,aac,ac3,amr,gif,h264,hevc,ivf,m4v,mpegvideo,png_pipe,jpeg_pipe,webp_pipe"
	mediaDecoders = "h264,hevc,vp8,vp9,libdav1d,av1,mpeg4,msmpeg4v1,msmpeg4v2,msmpeg4,wmv1,wmv2,wmv3,vc1,mpeg1video,mpeg2video,h263,flv,theora,mjpeg,prores,dvvideo,ffv1,gif,png,webp,svq3,rawvideo," +
		"aac,aac_latm,mp3float,mp3,mp2float,mp2,ac3,eac3,opus,libopus,vorbis,flac,alac,wmav1,wmav2,wmapro,amrnb,amrwb,dca,truehd," +
		"pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_f32le,pcm_f32be,pcm_f64le,pcm_u8,pcm_s8,pcm_alaw,pcm_mulaw,pcm_bluray,adpcm_ms,adpcm_ima_wav,adpcm_ima_qt"
)

// nativeInput is one opened file.
type nativeInput struct {
	fc      *astiav.FormatContext
	c       *C.AVFormatContext
	reader  *C.RtReader
	streams []mediaStream
	format  string
}

// native does the request with FFmpeg. C works on one thread.
func (j *mediaJob) native(ctx context.Context) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer runtime.KeepAlive(j.file) // C reads the bare descriptor
	astiav.SetLogLevel(astiav.LogLevelError)
	in, err := j.open()
	if err != nil {
		return err
	}
	defer in.close()
	switch j.req.Mode {
	case mediaProbeMode:
		return j.probe(ctx, in)
	case mediaSoundMode:
		return j.sound(ctx, in)
	case mediaClipMode:
		return j.clip(ctx, in)
	}
	return j.sample(ctx, in)
}

func (j *mediaJob) open() (*nativeInput, error) {
	fc := astiav.AllocFormatContext()
	io := C.rt_io(C.int(j.file.Fd()), C.int64_t(j.size))
	if fc == nil || io == nil {
		return nil, errors.New("out of memory")
	}
	C.rt_attach(formatOf(fc), io)
	opts, err := dictionary("format_whitelist", mediaDemuxers, "codec_whitelist", mediaDecoders,
		"protocol_whitelist", "none", "max_streams", fmt.Sprint(maxMediaStreams), "max_probe_packets", "2500")
	if err != nil {
		return nil, err
	}
	defer opts.Free()
	if err := fc.OpenInput("", nil, opts); err != nil {
		return nil, j.unreadable(err)
	}
	in := &nativeInput{fc: fc, c: formatOf(fc), format: fc.InputFormat().Name()}
	if C.rt_find_info(in.c, C.int64_t(j.req.MaxPixels)) < 0 && fc.NbStreams() == 0 {
		in.close()
		return nil, refuseMedia("There is nothing to play in this file: it holds no video and no audio stream; check that it was exported completely.")
	}
	in.reader = (*C.RtReader)(C.calloc(1, C.sizeof_RtReader))
	C.rt_reader(in.reader, in.c)
	in.readStreams()
	for i := range in.streams {
		s := &in.streams[i]
		if err := checkPixels(s.Width, s.Height, j.req.MaxPixels); err != nil && s.Type == 'v' && !s.Picture {
			in.close()
			return nil, err
		}
	}
	return in, nil
}

// reopen starts the input over, with only one stream left on.
func (j *mediaJob) reopen(in *nativeInput, stream int) error {
	return j.reopenBoth(in, stream, -1)
}

// reopenBoth leaves two streams on; -1 is none.
func (j *mediaJob) reopenBoth(in *nativeInput, stream, other int) error {
	if stream < 0 {
		stream, other = other, stream
	}
	kind := in.streams[stream].Type
	in.close()
	again, err := j.open()
	if err != nil {
		return err
	}
	*in = *again
	if stream >= len(in.streams) || in.streams[stream].Type != kind {
		return errors.New("the streams changed between two readings")
	}
	C.rt_only(in.c, C.int(stream), C.int(other))
	return nil
}

// findZero reads the packets that decide where 0 lies.
func (j *mediaJob) findZero(ctx context.Context, in *nativeInput) (*mediaZero, error) {
	video, audio := chooseMedia(in.streams, j.req.AudioTrack)
	zero, n := newMediaZero(video, audio), 0
	return zero, j.scan(ctx, in, func(p *mediaPacket) bool {
		zero.add(p)
		n++
		return n < mediaZeroPackets
	})
}

// openDecoder opens a decoder of the allow-list; the caller frees it.
func (j *mediaJob) openDecoder(par *astiav.CodecParameters) (*astiav.CodecContext, error) {
	codec := mediaDecoder(par.CodecID())
	opts, err := dictionary("max_pixels", fmt.Sprint(j.req.MaxPixels), "threads", "1")
	if err != nil {
		return nil, err
	}
	defer opts.Free()
	cc := astiav.AllocCodecContext(codec)
	if err := par.ToCodecContext(cc); err != nil {
		cc.Free()
		return nil, err
	}
	cc.SetThreadCount(1)
	if err := cc.Open(codec, opts); err != nil {
		cc.Free()
		return nil, err
	}
	return cc, nil
}

func (in *nativeInput) close() {
	C.free(unsafe.Pointer(in.reader))
	in.fc.CloseInput() // the input of the next opening has its own buffer
}

// unreadable finds the sentence for a file no demuxer opens.
func (j *mediaJob) unreadable(err error) error {
	boxes := readMediaBoxes(j.file, j.size)
	switch {
	case boxes.mp4 && !boxes.moov:
		return refuseMedia("This MP4 file is incomplete: its index (moov) is missing, so the recording or upload broke off; record it again or upload the whole file.")
	case boxes.mp4:
		return refuseMedia("This MP4 file is damaged: its index cannot be read (%v); convert or export it again.", err)
	case errors.Is(err, astiav.Error(-int(syscall.EINVAL))): // found a format that is not on the list
		return refuseMedia("This kind of file is not accepted here; convert it to MP4, MKV, WebM, MP3 or WAV and hand it over again.")
	}
	return refuseMedia("This file is not a video or audio format that is known here; check that it is the right file, or convert it to MP4, MKV, WebM, MP3 or WAV.")
}

func (in *nativeInput) readStreams() {
	for i := range min(in.fc.NbStreams(), C.RT_STREAMS) {
		var c C.RtStream
		C.rt_stream(in.c, C.int(i), &c)
		s := mediaStream{
			Codec: C.GoString(c.codec), Width: int(c.width), Height: int(c.height), SAR: float64(c.sar),
			Rotation: quarterTurns(float64(c.rotation)), Channels: int(c.channels), Rate: int(c.rate), FPS: float64(c.fps),
			HeaderFrames: int64(c.frames), Default: c.disposition&C.AV_DISPOSITION_DEFAULT != 0,
			Forced:   c.disposition&C.AV_DISPOSITION_FORCED != 0,
			Language: metadata(c.metadata, "language"), Title: metadata(c.metadata, "title"),
		}
		switch c._type {
		case C.AVMEDIA_TYPE_VIDEO:
			s.Type = 'v'
			s.Picture = c.disposition&(C.AV_DISPOSITION_ATTACHED_PIC|C.AV_DISPOSITION_TIMED_THUMBNAILS) != 0
		case C.AVMEDIA_TYPE_AUDIO:
			s.Type = 'a'
		case C.AVMEDIA_TYPE_SUBTITLE:
			s.Type = 's'
		}
		s.Usable = mediaDecoder(astiav.CodecID(c.codec_id)) != nil
		in.streams = append(in.streams, s)
	}
}

// mediaDecoder is the first decoder of the allow-list for a codec, or nil.
func mediaDecoder(id astiav.CodecID) *astiav.Codec {
	for name := range strings.SplitSeq(mediaDecoders, ",") {
		if c := astiav.FindDecoderByName(name); c != nil && c.ID() == id {
			return c
		}
	}
	return nil
}

// quarterTurns rounds an angle to 0, 90, 180 or 270 clockwise.
func quarterTurns(angle float64) int {
	if math.IsNaN(angle) || math.IsInf(angle, 0) {
		return 0
	}
	return ((int(math.Round(angle/90))%4 + 4) % 4) * 90
}

func metadata(d *C.AVDictionary, key string) string {
	k := C.CString(key)
	defer C.free(unsafe.Pointer(k))
	e := C.av_dict_get(d, k, nil, 0)
	if e == nil {
		return ""
	}
	s := C.GoString(e.value)
	cleanMediaText(&s)
	return s
}

func dictionary(pairs ...string) (*astiav.Dictionary, error) {
	d := astiav.NewDictionary()
	for i := 0; i < len(pairs); i += 2 {
		if err := d.Set(pairs[i], pairs[i+1], 0); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// The binding keeps its C objects in the first field of its structs and does
// not hand them out; a test guards this.
func formatOf(fc *astiav.FormatContext) *C.AVFormatContext {
	return (*C.AVFormatContext)(*(*unsafe.Pointer)(unsafe.Pointer(fc)))
}

func codecOf(cc *astiav.CodecContext) *C.AVCodecContext {
	return (*C.AVCodecContext)(*(*unsafe.Pointer)(unsafe.Pointer(cc)))
}

// bindingLayout checks that layout on objects whose fields can be set from both sides.
func bindingLayout() error {
	fc, cc := astiav.AllocFormatContext(), astiav.AllocCodecContext(astiav.FindDecoderByName("h264"))
	defer fc.Free()
	defer cc.Free()
	fc.SetStrictStdCompliance(astiav.StrictStdCompliance(-1))
	cc.SetWidth(4321)
	if formatOf(fc).strict_std_compliance != -1 || codecOf(cc).width != 4321 {
		return errors.New("the binding's structs no longer begin with their C object")
	}
	return nil
}
