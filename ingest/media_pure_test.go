package ingest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

func TestMediaMessagesRoundTrip(t *testing.T) {
	var pipe bytes.Buffer
	w := &mediaWriter{w: &pipe}
	frame := MediaFrame{TimeMS: 1234, Width: 320, Height: 180, Hash: 0xDEADBEEF, JPEG: tinyJPEG}
	shot := MediaShot{TimeMS: 99, Score: 0.25}
	if err := errors.Join(w.frame(frame), w.shot(shot), w.send(mediaMsgDone, nil)); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(&pipe)
	kind, body, err := readMediaMessage(r)
	if got, derr := decodeMediaFrame(body); kind != mediaMsgFrame || err != nil || derr != nil || !reflect.DeepEqual(got, frame) {
		t.Errorf("frame = %+v, %v, %v", got, err, derr)
	}
	kind, body, err = readMediaMessage(r)
	if got, derr := decodeMediaShot(body); kind != mediaMsgShot || err != nil || derr != nil || got != shot {
		t.Errorf("shot = %+v, %v, %v", got, err, derr)
	}
	if kind, _, err = readMediaMessage(r); kind != mediaMsgDone || err != nil {
		t.Errorf("done = %q, %v", kind, err)
	}
	if _, _, err = readMediaMessage(r); !errors.Is(err, io.EOF) {
		t.Errorf("end = %v, want io.EOF", err)
	}
	if err := w.send(mediaMsgShot, make([]byte, 17)); err == nil {
		t.Error("an overlong message was sent")
	}
}

func FuzzMediaPipe(f *testing.F) {
	var pipe bytes.Buffer
	w := &mediaWriter{w: &pipe}
	_ = w.frame(MediaFrame{TimeMS: 1, Width: 2, Height: 2, JPEG: tinyJPEG})
	_ = w.shot(MediaShot{TimeMS: 5, Score: 0.5})
	_ = w.sendJSON(mediaMsgFacts, MediaFacts{Kind: tree.KindVideo, KeyFrames: []int64{0, 5}})
	f.Add(pipe.Bytes())
	f.Add([]byte("F\xFF\xFF\xFF\xFF"))
	f.Add([]byte("S\x00\x00\x00\x10\x80aaaaaaaaaaaaaaa"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bufio.NewReader(bytes.NewReader(data))
		for {
			kind, body, err := readMediaMessage(r)
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, errMediaGarbage) {
					t.Fatalf("error %v is of no known kind", err)
				}
				return
			}
			if s, err := decodeMediaShot(body); kind == mediaMsgShot && err == nil && (s.TimeMS < 0 || math.IsNaN(s.Score)) {
				t.Fatalf("shot %+v passed", s)
			}
			if p, err := decodeMediaFrame(body); kind == mediaMsgFrame && err == nil && (p.TimeMS < 0 || p.Width < 1) {
				t.Fatalf("frame %+v passed", p)
			}
			if facts, err := decodeMediaFacts(body); kind == mediaMsgFacts && err == nil && checkMediaFacts(&facts) != "" {
				t.Fatalf("facts %+v passed", facts)
			}
		}
	})
}

func TestFactsOfAHostileChild(t *testing.T) {
	good := func() MediaFacts {
		return MediaFacts{Kind: tree.KindVideo, DurationMS: 10, Video: &VideoFacts{Width: 1, Height: 1}}
	}
	if f := good(); checkMediaFacts(&f) != "" {
		t.Fatal("good facts are refused")
	}
	for want, spoil := range map[string]func(*MediaFacts){
		"kind":            func(f *MediaFacts) { f.Kind = "virus" },
		"duration":        func(f *MediaFacts) { f.DurationMS = math.MaxInt64 },
		"stream count":    func(f *MediaFacts) { f.Audio = make([]AudioFacts, 1000) },
		"chapter count":   func(f *MediaFacts) { f.Chapters = make([]Chapter, 20_000) },
		"key frame count": func(f *MediaFacts) { f.KeyFrames = make([]int64, maxMediaKeys+1) },
		"warning count":   func(f *MediaFacts) { f.Warnings = make([]string, 101) },
		"video":           func(f *MediaFacts) { f.Video.Width = 0 },
		"audio":           func(f *MediaFacts) { f.Audio = []AudioFacts{{Rate: -1}} },
		"cue count":       func(f *MediaFacts) { f.Subtitles = []SubtitleFacts{{Cues: make([]tree.Cue, maxMediaCues+1)}} },
		"cue times":       func(f *MediaFacts) { f.Subtitles = []SubtitleFacts{{Cues: []tree.Cue{{StartMS: 5, EndMS: 4}}}} },
		"key frame times": func(f *MediaFacts) { f.KeyFrames = []int64{5, 4} },
		"chapter times":   func(f *MediaFacts) { f.Chapters = []Chapter{{StartMS: -1}} },
	} {
		f := good()
		spoil(&f)
		if got := checkMediaFacts(&f); got != want {
			t.Errorf("%s: got %q", want, got)
		}
	}
	f := good()
	f.Title = "a\x00b\xFF" + strings.Repeat("ü", 4000)
	if checkMediaFacts(&f); !strings.HasPrefix(f.Title, "a b\uFFFD") || len(f.Title) > maxMediaText {
		t.Errorf("title = %.20q with %d bytes", f.Title, len(f.Title))
	}
}

func TestMediaCue(t *testing.T) {
	mov := func(s string) []byte { return append(binary.BigEndian.AppendUint16(nil, uint16(len(s))), s+"styl"...) }
	for _, c := range []struct {
		codec         string
		data          []byte
		speaker, text string
	}{
		{"subrip", []byte("<b>Red</b> <font color=\"x\">top</font>\r\n{\\an8}two"), "", "Red top two"},
		{"subrip", []byte("1 < 2 and 3 > 2"), "", "1 < 2 and 3 > 2"},
		{"ass", []byte(`0,0,Default,Bob,0,0,0,,{\an8}One,\Ntwo\hthree`), "Bob", "One, two three"},
		{"ass", []byte(`0,0,Default,,0,0,0,,{\p1}m 0 0 l 9 9{\p0}after`), "", "after"},
		{"ass", []byte(`too,few`), "", ""},
		{"webvtt", []byte("<v Ann>Hello <c.red>world</c> &amp; all<00:01.000></v>"), "Ann", "Hello world & all"},
		{"mov_text", mov("für Ünïcode"), "", "für Ünïcode"},
		{"mov_text", []byte{0xFF, 0xFF, 'a'}, "", "a"},
		{"mov_text", []byte{0}, "", ""},
		{"hdmv_pgs_subtitle", []byte("x"), "", ""},
		{"subrip", []byte("bad \xFF\x00 bytes"), "", "bad \uFFFD bytes"},
	} {
		if got := mediaCue(c.codec, c.data); got.Text != c.text || got.Speaker != c.speaker {
			t.Errorf("%s %q = %q, %q", c.codec, c.data, got.Speaker, got.Text)
		}
	}
}

func FuzzMediaCue(f *testing.F) {
	f.Add("ass", []byte(`0,0,Default,Bob,0,0,0,,{\p1}x{\p0}One,\Ntwo`))
	f.Add("mov_text", []byte{0, 9, 'a'})
	f.Fuzz(func(t *testing.T, codec string, data []byte) {
		if c := mediaCue(codec, data); !validText(c.Text) || !validText(c.Speaker) {
			t.Fatalf("cue %q, %q", c.Speaker, c.Text)
		}
	})
}

func validText(s string) bool {
	t := s
	cleanMediaText(&t)
	return t == s
}

func TestFramePlan(t *testing.T) {
	run := func(p framePlan, frames []int64, end int64) (taken []int64) {
		for i, us := range frames {
			next := end
			if i+1 < len(frames) {
				next = frames[i+1]
			}
			if i == 0 {
				p.begin(us)
			}
			if !p.done() && p.due(us, next) {
				taken = append(taken, us/1000)
			}
		}
		return taken
	}
	for name, c := range map[string]struct {
		req      MediaRequest
		interval int64
		frames   []int64
		end      int64
		want     []int64
	}{
		"rounded times count":     {MediaRequest{FPS: 1}, 40_000, []int64{0, 500_000, 1_001_000, 1_500_000, 1_999_000}, 2_040_000, []int64{0, 1001, 1999}},
		"what stands is shown":    {MediaRequest{FPS: 1}, 40_000, []int64{0, 400_000, 5_000_000}, 5_040_000, []int64{0, 400, 5000}},
		"each once":               {MediaRequest{FPS: 10}, 1_000_000, []int64{0, 1_000_000}, 2_000_000, []int64{0, 1000}},
		"first frame comes late":  {MediaRequest{FPS: 1}, 40_000, []int64{2_500_000, 2_540_000}, 2_580_000, []int64{2500}},
		"stretch":                 {MediaRequest{FPS: 1, FromMS: 1000, ToMS: 3000}, 40_000, []int64{0, 900_000, 2_500_000, 3_500_000}, 3_540_000, []int64{900}},
		"48 hours in two frames":  {MediaRequest{FPS: 1000}, 40_000, []int64{0, 172_800_000_000}, 172_800_040_000, []int64{0, 172_800_000}},
		"behind the last nothing": {MediaRequest{FPS: 1}, 40_000, []int64{0, 40_000}, 80_000, []int64{0}},
	} {
		if got := run(newFramePlan(c.req, c.interval), c.frames, c.end); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: took %v, want %v", name, got, c.want)
		}
	}
}

func TestShotDetector(t *testing.T) {
	flat := func(y int) *shotHist {
		var h shotHist
		h[y], h[shotBinsY], h[shotBinsY+shotBinsC] = 1, 1, 1
		return &h
	}
	run := func(n int, luma func(i int) int) (cuts []int64) {
		d := newShotDetector(0, func(us int64, _ float64) error { cuts = append(cuts, us); return nil })
		for i := range n {
			if err := d.add(int64(i)*40_000, flat(luma(i))); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.flush(); err != nil {
			t.Fatal(err)
		}
		return cuts
	}
	if got := run(100, func(i int) int { return i / 50 * 20 }); !reflect.DeepEqual(got, []int64{2_000_000}) {
		t.Errorf("one cut = %v", got)
	}
	if got := run(52, func(i int) int { return i / 50 * 20 }); !reflect.DeepEqual(got, []int64{2_000_000}) {
		t.Errorf("a cut before the last frames = %v", got)
	}
	if got := run(100, func(i int) int { return i % 2 * 20 }); len(got) > 1 {
		t.Errorf("strobe = %v", got)
	}
	if got := run(100, func(int) int { return 3 }); len(got) != 0 {
		t.Errorf("still = %v", got)
	}
	if got := run(20, func(i int) int { return i / 5 * 20 }); len(got) > 1 {
		t.Errorf("shots shorter than the least length = %v", got)
	}
}

// Frames may come at any times: rarely, in bursts, with holes.
func TestFadesOfOddTimes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		found := 0
		d := newShotDetector(0, func(int64, float64) error { found++; return nil })
		us, every := int64(0), 1+rng.Int64N(3_000_000)
		for range 300 {
			us += 1 + rng.Int64N(every)
			var h shotHist
			h[rng.IntN(shotBinsY)], h[shotBinsY], h[shotBinsY+shotBinsC] = 1, 1, 1
			if err := d.add(us, &h); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.flush(); err != nil {
			t.Fatal(err)
		}
		if int64(found) > us/shotMinLength+1 {
			t.Fatalf("%d cuts in %d us", found, us)
		}
	}
}

func TestMediaZero(t *testing.T) {
	z := newMediaZero(0, 1)
	for _, p := range []mediaPacket{
		{Stream: 0, PTS: 900, DTS: 900},                   // before the first key frame
		{Stream: 0, PTS: 5000, DTS: mediaNone, Key: true}, // shown first
		{Stream: 1, PTS: 4000, DTS: 4000, SkipUS: 1500},   // heard from 5500
		{Stream: 1, PTS: 3000, DTS: 3000, Discard: true},  // hidden
		{Stream: 2, PTS: 1, DTS: 1},                       // another stream
		{Stream: 0, PTS: mediaNone, DTS: mediaNone},       // no time
	} {
		z.add(&p)
	}
	if got := z.us(); got != 5000 {
		t.Errorf("zero = %d, want 5000", got)
	}
	if got := newMediaZero(0, 1).us(); got != 0 {
		t.Errorf("zero of nothing = %d", got)
	}
}

func TestChooseMedia(t *testing.T) {
	s := []mediaStream{
		{Type: 'v', Picture: true, Usable: true, Width: 5000, Height: 5000},
		{Type: 'a', Usable: true},
		{Type: 'a', Usable: true, Default: true},
		{Type: 'a', Usable: true},
		{Type: 'v', Usable: true, Width: 10, Height: 10},
		{Type: 'v', Usable: true, Width: 20, Height: 20},
	}
	for track, want := range map[int]int{0: 2, 1: 1, 3: 3, 9: 2} {
		if v, a := chooseMedia(s, track); v != 5 || a != want {
			t.Errorf("track %d: video %d, audio %d, want 5 and %d", track, v, a, want)
		}
	}
}

func TestMediaBoxes(t *testing.T) {
	box := func(kind string, n uint32, body int) []byte {
		return append(append(binary.BigEndian.AppendUint32(nil, n), kind...), make([]byte, body)...)
	}
	whole := append(append(box("ftyp", 16, 8), box("moov", 12, 4)...), box("mdat", 20, 12)...)
	for name, c := range map[string]struct {
		data []byte
		want mediaBoxes
	}{
		"whole":    {whole, mediaBoxes{mp4: true, moov: true, mdat: true}},
		"cut":      {whole[:len(whole)-4], mediaBoxes{mp4: true, moov: true, mdat: true, cut: true}},
		"no index": {append(box("ftyp", 16, 8), box("mdat", 20, 12)...), mediaBoxes{mp4: true, mdat: true}},
		"text":     {[]byte("hello world, this is text"), mediaBoxes{}},
		"loop":     {box("ftyp", 0, 8), mediaBoxes{mp4: true}},
		"tiny":     {box("free", 3, 8), mediaBoxes{}},
	} {
		if got := readMediaBoxes(bytes.NewReader(c.data), int64(len(c.data))); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestSniffMedia(t *testing.T) {
	for data, want := range map[string]string{
		"":                                         "empty",
		"x":                                        "(1 B)",
		"\xEF\xBB\xBF  <!DOCTYPE html><p>":         "HTML",
		"#EXTM3U\n#EXTINF":                         "playlist",
		"ffconcat version 1.0\nfile x":             "playlist",
		"<?xml version='1.0'?><svg x='1'/>":        "SVG",
		"<?xml version='1.0'?><MPD></MPD>":         "playlist",
		"<?xml version='1.0'?><other/>":            "XML",
		"%PDF-1.7 and more":                        "PDF",
		"PK\x03\x04 and much more":                 "ZIP",
		"\x7fELF and much more..":                  "program",
		"DKIF\x00\x00\x20\x00VP80\x80\x3E\x80\x3E": "16000x16000",
		"\x00\x00\x00\x18ftypmp42........":         "",
	} {
		err := sniffMedia(strings.NewReader(data), int64(len(data)), 40_000_000)
		var refused *MediaError
		if want == "" && err == nil {
			continue
		}
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, want) {
			t.Errorf("%.20q: %v, want %q", data, err, want)
		}
	}
}

func TestDefaultRequest(t *testing.T) {
	r := MediaRequest{Mode: mediaProbeMode}
	if err := defaultRequest(&r); err != nil || r.FPS != 1 || r.LongSide != 512 || r.Quality != 3 || r.MaxPixels != 40_000_000 {
		t.Errorf("defaults = %+v, %v", r, err)
	}
	for _, bad := range []MediaRequest{
		{},
		{Mode: "probe", FPS: -1},
		{Mode: "probe", FPS: math.NaN()},
		{Mode: "probe", LongSide: 1 << 20},
		{Mode: "probe", Quality: 99},
		{Mode: "sample", FromMS: -1},
		{Mode: "sample", FromMS: 10, ToMS: 10},
		{Mode: "probe", MaxPixels: -1},
	} {
		if err := defaultRequest(&bad); err == nil {
			t.Errorf("%+v passed", bad)
		}
	}
}

func TestPeakKB(t *testing.T) {
	for text, want := range map[string]int64{"VmPeak: 9 kB\nVmHWM:\t  1234 kB\n": 1234, "VmHWM:": 0, "": 0, "VmHWM: x": 0} {
		if got := peakKB([]byte(text)); got != want {
			t.Errorf("%q = %d", text, got)
		}
	}
}

func TestLanguageTag(t *testing.T) {
	for in, want := range map[string]string{"eng": "en", "ger": "de", "und": "", "": "", "pt-BR": "pt-BR", "!!": "", "zh": "zh"} {
		if got := languageTag(in); got != want {
			t.Errorf("%q = %q, want %q", in, got, want)
		}
	}
}
