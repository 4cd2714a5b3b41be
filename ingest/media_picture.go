//go:build cgo

package ingest

/*
#include "media_native.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/asticode/go-astiav"
)

// pictureMaker turns decoded frames into upright JPEGs that fit the wanted
// size. The filter graph is made anew when the shape of the frames changes.
type pictureMaker struct {
	stream *mediaStream
	req    MediaRequest
	shape  pictureShape
	graph  *astiav.FilterGraph
	src    *astiav.FilterContext
	sink   *astiav.FilterContext
	enc    *astiav.CodecContext
	out    *astiav.Frame
	pkt    *astiav.Packet
	w, h   int // of the encoder
	pts    int64
}

// pictureShape is what a filter graph depends on.
type pictureShape struct {
	w, h, format int
	sar          float64
	interlaced   bool
	hdr          bool
}

// Transfer functions of HDR: SMPTE 2084 (PQ) and ARIB STD-B67 (HLG).
func isHDR(transfer C.int) bool {
	return transfer == C.AVCOL_TRC_SMPTE2084 || transfer == C.AVCOL_TRC_ARIB_STD_B67
}

func (m *pictureMaker) picture(f *astiav.Frame, inf *C.RtFrame) (MediaFrame, error) {
	sar := 1.0
	if inf.sar.num > 0 && inf.sar.den > 0 {
		sar = float64(inf.sar.num) / float64(inf.sar.den)
	}
	shape := pictureShape{w: int(inf.width), h: int(inf.height), format: int(inf.format), sar: sar, interlaced: inf.interlaced != 0, hdr: isHDR(inf.transfer)}
	if m.graph == nil || shape != m.shape {
		if err := m.build(shape); err != nil {
			return MediaFrame{}, err
		}
	}
	m.pts++
	f.SetPts(m.pts)
	f.SetSampleAspectRatio(astiav.NewRational(1, 1)) // as the graph was told, else it is set up anew for every frame
	if err := m.src.BuffersrcAddFrame(f, astiav.NewBuffersrcFlags(astiav.BuffersrcFlagKeepRef)); err != nil {
		return MediaFrame{}, fmt.Errorf("scale a frame: %w", err)
	}
	m.out.Unref()
	if err := m.sink.BuffersinkGetFrame(m.out, astiav.NewBuffersinkFlags()); err != nil {
		return MediaFrame{}, fmt.Errorf("scale a frame: %w", err)
	}
	return m.encode()
}

func (m *pictureMaker) build(s pictureShape) error {
	if m.graph != nil {
		m.graph.Free()
	} else {
		m.out, m.pkt = astiav.AllocFrame(), astiav.AllocPacket()
	}
	m.shape, m.graph = s, astiav.AllocFilterGraph()
	if m.graph == nil || m.out == nil || m.pkt == nil {
		return errors.New("out of memory")
	}
	m.graph.SetThreadCount(1)
	var err error
	if m.src, err = m.graph.NewFilterContext(astiav.FindFilterByName("buffer"), "in", astiav.FilterArgs{
		"video_size": fmt.Sprintf("%dx%d", s.w, s.h), "pix_fmt": fmt.Sprint(s.format), "time_base": "1/1000", "pixel_aspect": "1/1",
	}); err != nil {
		return fmt.Errorf("scale a frame: %w", err)
	}
	if m.sink, err = m.graph.NewFilterContext(astiav.FindFilterByName("buffersink"), "out", nil); err != nil {
		return fmt.Errorf("scale a frame: %w", err)
	}
	outputs, inputs := astiav.AllocFilterInOut(), astiav.AllocFilterInOut()
	defer outputs.Free()
	defer inputs.Free()
	outputs.SetName("in")
	outputs.SetFilterContext(m.src)
	inputs.SetName("out")
	inputs.SetFilterContext(m.sink)
	if err := m.graph.Parse(s.filters(m.stream.Rotation, m.req.LongSide), inputs, outputs); err != nil {
		return fmt.Errorf("scale a frame: %w", err)
	}
	if err := m.graph.Configure(); err != nil {
		return fmt.Errorf("scale a frame: %w", err)
	}
	return nil
}

// filters is the graph: one field of interlaced pictures, scaling, tone mapping
// of HDR at the small size, turning upright.
func (s pictureShape) filters(rotation, longSide int) string {
	w, h := fitPicture(s.w, s.h, s.sar, longSide)
	var f []string
	if s.interlaced && s.h >= 2*h && s.h%2 == 0 {
		f = append(f, "field=type=top") // enough lines for the wanted size, and no combs
	} else if s.interlaced && s.h >= 240 && s.h%2 == 0 {
		f = append(f, "field=type=top")
	}
	if s.hdr {
		f = append(f,
			fmt.Sprintf("zscale=w=%d:h=%d:t=linear:npl=100", w, h), "format=gbrpf32le", "zscale=p=bt709",
			"tonemap=tonemap=hable:desat=0", "zscale=t=bt709:m=bt709:r=full", "format=yuvj420p")
	} else {
		f = append(f, fmt.Sprintf("scale=%d:%d", w, h), "format=yuvj420p")
	}
	switch rotation {
	case 90:
		f = append(f, "transpose=clock")
	case 180:
		f = append(f, "hflip", "vflip")
	case 270:
		f = append(f, "transpose=cclock")
	}
	return strings.Join(f, ",")
}

// fitPicture is the size, before turning, that shows square pixels, fits the
// long side, is never enlarged and at least one pixel each way.
func fitPicture(w, h int, sar float64, longSide int) (int, int) {
	fw, fh := float64(w), float64(h)
	if sar > 0.1 && sar < 10 {
		fw *= sar
	}
	scale := min(1, float64(longSide)/max(fw, fh))
	return max(1, int(math.Round(fw*scale))), max(1, int(math.Round(fh*scale)))
}

// encode makes a JPEG of m.out.
func (m *pictureMaker) encode() (MediaFrame, error) {
	w, h := m.out.Width(), m.out.Height()
	if m.enc == nil || w != m.w || h != m.h {
		if err := m.openEncoder(w, h); err != nil {
			return MediaFrame{}, err
		}
	}
	m.out.SetPts(m.pts)
	if err := m.enc.SendFrame(m.out); err != nil {
		return MediaFrame{}, fmt.Errorf("encode a frame: %w", err)
	}
	if err := m.enc.ReceivePacket(m.pkt); err != nil {
		return MediaFrame{}, fmt.Errorf("encode a frame: %w", err)
	}
	defer m.pkt.Unref()
	return MediaFrame{
		Width: w, Height: h, JPEG: m.pkt.Data(),
		Hash: uint64(C.rt_dhash((*C.AVFrame)(m.out.UnsafePointer()))),
	}, nil
}

func (m *pictureMaker) openEncoder(w, h int) error {
	if m.enc != nil {
		m.enc.Free()
	}
	codec := astiav.FindEncoderByName("mjpeg")
	m.enc, m.w, m.h = astiav.AllocCodecContext(codec), w, h
	if codec == nil || m.enc == nil {
		return errors.New("this FFmpeg has no JPEG encoder")
	}
	m.enc.SetWidth(w)
	m.enc.SetHeight(h)
	m.enc.SetPixelFormat(astiav.PixelFormatYuvj420P)
	m.enc.SetTimeBase(astiav.NewRational(1, 1000))
	opts, err := dictionary("flags", "+qscale", "global_quality", fmt.Sprint(118*m.req.Quality), "threads", "1", "huffman", "default")
	if err != nil {
		return err
	}
	defer opts.Free()
	if err := m.enc.Open(codec, opts); err != nil {
		return fmt.Errorf("open the JPEG encoder for %dx%d: %w", w, h, err)
	}
	return nil
}
