package ingest

import (
	"math"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"github.com/reeltree/reeltree/tree"
)

const (
	mediaProbeMode    = "probe"
	mediaSampleMode   = "sample"
	mediaSoundMode    = "sound"
	mediaDocumentMode = "document"
	mediaClipMode     = "clip"
	mediaNone         = math.MinInt64 // no time stamp
)

// mediaStream is one stream as the headers show it.
type mediaStream struct {
	Type                      byte // 'v', 'a', 's' or 0
	Codec                     string
	Usable                    bool // its decoder is on the allow-list
	Width, Height             int  // stored
	SAR                       float64
	Rotation                  int
	Picture                   bool // attached picture: cover art
	Default, Forced           bool
	Language, Title           string
	Channels, Rate            int
	FPS                       float64 // of the headers, 0 unknown
	HeaderFrames, HeaderEndUS int64   // 0 unknown
}

// shown is the displayed size, after pixel aspect and rotation.
func (s *mediaStream) shown() (w, h int) {
	w, h = s.Width, s.Height
	if s.SAR > 0.1 && s.SAR < 10 {
		w = max(1, int(math.Round(float64(w)*s.SAR)))
	}
	if s.Rotation%180 != 0 {
		return h, w
	}
	return w, h
}

// intervalUS is the usual time between two frames.
func (s *mediaStream) intervalUS() int64 {
	if s.FPS > 0.00001 && s.FPS < 100_000 {
		return int64(1e6 / s.FPS)
	}
	return 40_000
}

// mediaPacket is one demuxed packet; times are microseconds of the container's clock.
type mediaPacket struct {
	Stream         int
	PTS, DTS       int64 // mediaNone when missing
	DurUS          int64
	SkipUS         int64 // audio at its start that is not to be heard (encoder delay)
	Key, Discard   bool
	Corrupt, Empty bool
	Data           []byte // text subtitles only
}

func (p *mediaPacket) at() int64 {
	if p.PTS != mediaNone {
		return p.PTS
	}
	return p.DTS
}

// chooseMedia picks the video and the audio stream that make the timeline; -1 = none.
// track is a 1-based wish for the audio stream.
func chooseMedia(streams []mediaStream, track int) (video, audio int) {
	video, audio = -1, -1
	better := func(i, than int) bool {
		if than < 0 {
			return true
		}
		a, b := &streams[i], &streams[than]
		if a.Usable != b.Usable {
			return a.Usable
		}
		if a.Default != b.Default {
			return a.Default
		}
		return a.Type == 'v' && a.Width*a.Height > b.Width*b.Height
	}
	n := 0
	for i := range streams {
		s := &streams[i]
		switch {
		case s.Type == 'v' && !s.Picture && better(i, video):
			video = i
		case s.Type == 'a':
			if n++; n == track || better(i, audio) && (track < 1 || n < track) {
				audio = i
			}
		}
	}
	return video, audio
}

// mediaModes are the requests a child knows.
var mediaModes = []string{mediaProbeMode, mediaSampleMode, mediaSoundMode, mediaDocumentMode, mediaClipMode}

// mediaZeroPackets is how many packets at the start decide where 0 is. Probing
// and sampling look at the same ones, so they agree.
const mediaZeroPackets = 400

// mediaZero finds the time of the first shown frame or sample.
type mediaZero struct {
	video, audio int
	n            int
	key          int64 // first key frame
	keyShown     bool
	seenKey      bool
	noPTS        bool  // frames are stored with decode times only
	frame        int64 // earliest shown frame
	sample       int64 // earliest heard sample
}

func newMediaZero(video, audio int) *mediaZero {
	return &mediaZero{video: video, audio: audio, key: mediaNone, frame: mediaNone, sample: mediaNone}
}

func (z *mediaZero) add(p *mediaPacket) {
	if z.n++; z.n > mediaZeroPackets || p.at() == mediaNone {
		return
	}
	earliest := func(t *int64, v int64) {
		if *t == mediaNone || v < *t {
			*t = v
		}
	}
	switch p.Stream {
	case z.video:
		if p.Key && !z.seenKey {
			z.seenKey, z.key, z.keyShown, z.noPTS = true, p.at(), !p.Discard, p.PTS == mediaNone
		}
		if !p.Discard {
			earliest(&z.frame, p.at())
		}
	case z.audio:
		if !p.Discard {
			earliest(&z.sample, p.at()+p.SkipUS)
		}
	}
}

// us is the zero of the timeline; 0 when nothing was seen. Frames before the
// first key frame cannot be decoded and do not count.
func (z *mediaZero) us() int64 {
	video := z.frame
	if z.keyShown {
		video = z.key
	}
	switch {
	case video == mediaNone && z.sample == mediaNone:
		return 0
	case video == mediaNone:
		return z.sample
	case z.sample == mediaNone:
		return video
	}
	return min(video, z.sample)
}

// languageTag is the BCP 47 form of a container's language; unknown ones are empty.
func languageTag(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 35 || s == "und" || s == "mis" || s == "zxx" {
		return ""
	}
	t, err := language.Parse(s)
	if err != nil || t == language.Und {
		return ""
	}
	return t.String()
}

// mediaProbe gathers the facts of one pass over all packets. It keeps bounded
// lists only, whatever the headers claim.
type mediaProbe struct {
	streams      []mediaStream
	video, audio int
	zero         *mediaZero
	keys         []int64
	cues         map[int][]tree.Cue // container clock, microseconds in StartMS and EndMS until finish
	cueBytes     int
	seen         []mediaSeen // per stream
}

// mediaSeen is what the packets of one stream showed.
type mediaSeen struct {
	packets     int64 // shown ones
	all         int64
	first, last int64 // earliest and latest start
	lastDur     int64
	corrupt     bool
}

func newMediaProbe(streams []mediaStream, track int) *mediaProbe {
	p := &mediaProbe{streams: streams, cues: map[int][]tree.Cue{}, seen: make([]mediaSeen, len(streams))}
	p.video, p.audio = chooseMedia(streams, track)
	p.zero = newMediaZero(p.video, p.audio)
	for i := range p.seen {
		p.seen[i].first, p.seen[i].last = mediaNone, mediaNone
	}
	return p
}

func (m *mediaProbe) add(p *mediaPacket) {
	if p.Stream < 0 || p.Stream >= len(m.streams) {
		return // a stream that appeared after the headers
	}
	m.zero.add(p)
	s := &m.seen[p.Stream]
	s.all++
	s.corrupt = p.Corrupt
	if p.Discard || p.Empty {
		return
	}
	s.packets++
	at := p.at()
	if at == mediaNone {
		return
	}
	if s.first == mediaNone || at < s.first {
		s.first = at
	}
	if s.last == mediaNone || at > s.last {
		s.last, s.lastDur = at, p.DurUS
	}
	if p.Stream == m.video && p.Key && len(m.keys) < 4*maxMediaKeys {
		m.keys = append(m.keys, at)
	}
	if p.Data != nil {
		m.addCue(p, at)
	}
}

const maxMediaCueBytes = 8 << 20

func (m *mediaProbe) addCue(p *mediaPacket, at int64) {
	c := mediaCue(m.streams[p.Stream].Codec, p.Data)
	if c.Text == "" || len(m.cues[p.Stream]) >= maxMediaCues/4 || m.cueBytes > maxMediaCueBytes {
		return
	}
	m.cueBytes += len(c.Text) + len(c.Speaker) + 50
	c.StartMS, c.EndMS = at, at+max(p.DurUS, 0)
	m.cues[p.Stream] = append(m.cues[p.Stream], c)
}

// endUS is where the last packet of stream i ends, mediaNone without packets.
// A last duration far longer than usual is a lie or a hole and is cut.
func (m *mediaProbe) endUS(i int) int64 {
	if i < 0 || m.seen[i].packets == 0 {
		return mediaNone
	}
	s, usual := &m.seen[i], int64(0)
	if s.last == mediaNone { // a bare stream without times: the frame rate is all there is
		return s.packets * m.streams[i].intervalUS()
	}
	if s.packets > 1 {
		usual = (s.last - s.first) / (s.packets - 1)
	} else if m.streams[i].Type == 'v' {
		usual = m.streams[i].intervalUS()
	}
	dur := s.lastDur
	if dur <= 0 {
		dur = usual
	}
	return s.last + min(dur, max(10*usual, 10_000_000))
}

// keyTimes are the key frames on the source's timeline, ascending, at least
// 200 ms apart when there are very many.
func (m *mediaProbe) keyTimes(zero int64) []int64 {
	slices.Sort(m.keys)
	apart, out := int64(0), []int64(nil)
	if len(m.keys) > maxMediaKeys {
		apart = 200
	}
	for _, k := range m.keys {
		ms := roundMS(k - zero)
		if ms >= 0 && (len(out) == 0 || ms > out[len(out)-1]+apart) && len(out) < maxMediaKeys {
			out = append(out, ms)
		}
	}
	return out
}

// roundMS turns microseconds into milliseconds, nearest.
func roundMS(us int64) int64 {
	if us < 0 {
		return -((-us + 500) / 1000)
	}
	return (us + 500) / 1000
}
