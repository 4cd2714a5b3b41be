package ingest

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
)

// The pipe between the media worker and its parent carries messages of one
// kind byte, a big-endian length and a body. The child is treated as hostile:
// the parent checks every length before it allocates.
const (
	mediaMsgFacts  = 'F' // JSON MediaFacts
	mediaMsgFrame  = 'P' // time, width, height, hash, then the JPEG
	mediaMsgShot   = 'S' // time, score as IEEE 754 bits
	mediaMsgSound  = 'A' // number of the first sample, then samples as 16-bit little endian
	mediaMsgClip   = 'V' // bytes of an MP4 file
	mediaMsgBlocks = 'B' // JSON array of Block
	mediaMsgText   = 'T' // JSON DocumentFacts
	mediaMsgError  = 'E' // JSON MediaError: the file is refused
	mediaMsgBeat   = 'H' // packets read so far: alive, and whether it gets on
	mediaMsgDone   = 'D' // JSON mediaUsage: complete, nothing follows
)

// mediaLimit is the longest body of each kind, in bytes.
func mediaLimit(kind byte) int {
	switch kind {
	case mediaMsgFacts:
		return 32 << 20
	case mediaMsgClip:
		return maxClipBlock
	case mediaMsgBlocks:
		return 8 << 20
	case mediaMsgFrame:
		return 8 << 20
	case mediaMsgSound:
		return 8 + 2*maxSoundBlock
	case mediaMsgError, mediaMsgDone:
		return 8 << 10
	case mediaMsgText:
		return 1 << 20
	case mediaMsgShot:
		return 16
	case mediaMsgBeat:
		return 8
	}
	return -1
}

var errMediaGarbage = errors.New("the media worker sent something unreadable")

// readMediaMessage reads one message. io.EOF means the pipe ended between two
// messages, every other fault of the bytes is errMediaGarbage.
func readMediaMessage(r *bufio.Reader) (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errMediaGarbage
		}
		return 0, nil, err
	}
	n := int64(binary.BigEndian.Uint32(head[1:]))
	if n > int64(mediaLimit(head[0])) {
		return 0, nil, fmt.Errorf("%w: kind %q, length %d", errMediaGarbage, head[0], n)
	}
	body = make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errMediaGarbage
		}
		return 0, nil, err
	}
	return head[0], body, nil
}

// mediaWriter is the child's end of the pipe. Its methods may be called from
// several goroutines.
type mediaWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (w *mediaWriter) send(kind byte, parts ...[]byte) error {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if n > mediaLimit(kind) {
		return fmt.Errorf("message of kind %q with %d bytes is too long", kind, n)
	}
	buf := make([]byte, 5, 5+n)
	buf[0] = kind
	binary.BigEndian.PutUint32(buf[1:], uint32(n))
	for _, p := range parts {
		buf = append(buf, p...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.w.Write(buf)
	return err
}

func (w *mediaWriter) sendJSON(kind byte, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.send(kind, body)
}

const mediaFrameHead = 8 + 4 + 4 + 8

func (w *mediaWriter) frame(f MediaFrame) error {
	head := make([]byte, 0, mediaFrameHead)
	head = binary.BigEndian.AppendUint64(head, uint64(f.TimeMS))
	head = binary.BigEndian.AppendUint32(head, uint32(f.Width))
	head = binary.BigEndian.AppendUint32(head, uint32(f.Height))
	head = binary.BigEndian.AppendUint64(head, f.Hash)
	return w.send(mediaMsgFrame, head, f.JPEG)
}

func decodeMediaFrame(b []byte) (MediaFrame, error) {
	if len(b) < mediaFrameHead+4 || b[mediaFrameHead] != 0xFF || b[mediaFrameHead+1] != 0xD8 {
		return MediaFrame{}, fmt.Errorf("%w: a frame that is no JPEG", errMediaGarbage)
	}
	f := MediaFrame{
		TimeMS: int64(binary.BigEndian.Uint64(b)),
		Width:  int(binary.BigEndian.Uint32(b[8:])),
		Height: int(binary.BigEndian.Uint32(b[12:])),
		Hash:   binary.BigEndian.Uint64(b[16:]),
		JPEG:   b[mediaFrameHead:],
	}
	if f.TimeMS < 0 || f.TimeMS > maxMediaMS || f.Width < 1 || f.Height < 1 || f.Width > 1<<16 || f.Height > 1<<16 {
		return MediaFrame{}, fmt.Errorf("%w: a frame of %dx%d at %d ms", errMediaGarbage, f.Width, f.Height, f.TimeMS)
	}
	return f, nil
}

func (w *mediaWriter) shot(s MediaShot) error {
	b := binary.BigEndian.AppendUint64(nil, uint64(s.TimeMS))
	return w.send(mediaMsgShot, binary.BigEndian.AppendUint64(b, math.Float64bits(s.Score)))
}

func decodeMediaShot(b []byte) (MediaShot, error) {
	if len(b) != 16 {
		return MediaShot{}, fmt.Errorf("%w: a shot of %d bytes", errMediaGarbage, len(b))
	}
	s := MediaShot{
		TimeMS: int64(binary.BigEndian.Uint64(b)),
		Score:  math.Float64frombits(binary.BigEndian.Uint64(b[8:])),
	}
	if s.TimeMS < 0 || s.TimeMS > maxMediaMS || !(s.Score >= 0 && s.Score <= 1) {
		return MediaShot{}, fmt.Errorf("%w: a shot at %d ms with score %v", errMediaGarbage, s.TimeMS, s.Score)
	}
	return s, nil
}

func (w *mediaWriter) sound(b SoundBlock) error {
	head := binary.BigEndian.AppendUint64(nil, uint64(b.First))
	body := make([]byte, 0, 2*len(b.Samples))
	for _, v := range b.Samples {
		body = binary.LittleEndian.AppendUint16(body, uint16(v))
	}
	return w.send(mediaMsgSound, head, body)
}

func decodeSound(b []byte) (SoundBlock, error) {
	if len(b) <= 8 || len(b)%2 != 0 {
		return SoundBlock{}, fmt.Errorf("%w: a sound of %d bytes", errMediaGarbage, len(b))
	}
	s := SoundBlock{First: int64(binary.BigEndian.Uint64(b)), Samples: make([]int16, len(b)/2-4)}
	if s.First < 0 || s.First > maxMediaMS*soundRate/1000 {
		return SoundBlock{}, fmt.Errorf("%w: a sound at sample %d", errMediaGarbage, s.First)
	}
	for i := range s.Samples {
		s.Samples[i] = int16(binary.LittleEndian.Uint16(b[8+2*i:]))
	}
	return s, nil
}
