package ingest

import (
	"encoding/binary"
	"math"
)

// How sound is cut for a speech model, in samples. Whisper hears 30 s at once;
// a chunk ends at the quietest moment of its second half, so that no word is
// cut where there is a pause.
const (
	chunkMost   = 30 * soundRate
	chunkLeast  = chunkMost / 2
	quietWindow = soundRate / 10
	quietStep   = soundRate / 50
	// holeMost is the longest hole in a stream that is filled with silence
	// rather than ending the chunk.
	holeMost = soundRate / 2
	// silentRMS is the loudness below which a whole chunk is not worth a call:
	// 60 dB under full scale. Room noise of a quiet recording lies above it.
	silentRMS = 32
)

// SpeechChunk is a run of sound for one transcription call.
type SpeechChunk struct {
	First   int64 // number of its first sample on the source's timeline
	Samples []int16
}

// StartMS is where the chunk begins on the source's timeline.
func (c SpeechChunk) StartMS() int64 { return c.First * 1000 / soundRate }

// speechCutter makes chunks of blocks that come in time order. Silent chunks
// are left out.
type speechCutter struct {
	emit func(SpeechChunk) error
	held SpeechChunk
}

// add takes the next block.
func (c *speechCutter) add(b SoundBlock) error {
	hole := b.First - c.held.First - int64(len(c.held.Samples))
	switch {
	case len(c.held.Samples) == 0:
		c.held.First = b.First
	case hole > holeMost:
		if err := c.flush(); err != nil {
			return err
		}
		c.held.First = b.First
	case hole > 0:
		c.held.Samples = append(c.held.Samples, make([]int16, hole)...)
	}
	c.held.Samples = append(c.held.Samples, b.Samples...)
	for len(c.held.Samples) >= chunkMost {
		if err := c.cut(quietest(c.held.Samples[:chunkMost], chunkLeast)); err != nil {
			return err
		}
	}
	return nil
}

// flush gives out what is held at the end of the sound or before a hole.
func (c *speechCutter) flush() error { return c.cut(len(c.held.Samples)) }

func (c *speechCutter) cut(n int) error {
	chunk := SpeechChunk{First: c.held.First, Samples: c.held.Samples[:n:n]}
	c.held = SpeechChunk{First: c.held.First + int64(n), Samples: append([]int16(nil), c.held.Samples[n:]...)}
	if silent(chunk.Samples) {
		return nil
	}
	return c.emit(chunk)
}

// quietest is the middle of the window with the least energy behind least; of
// equal ones the last.
func quietest(samples []int16, least int) int {
	best, at := math.Inf(1), len(samples)
	for i := least; i+quietWindow <= len(samples); i += quietStep {
		if e := energy(samples[i : i+quietWindow]); e <= best {
			best, at = e, i+quietWindow/2
		}
	}
	return at
}

// silent reports whether no window of the samples is loud enough for speech.
func silent(samples []int16) bool {
	for i := 0; i < len(samples); i += quietWindow {
		window := samples[i:min(i+quietWindow, len(samples))]
		if energy(window) > silentRMS*silentRMS*float64(len(window)) {
			return false
		}
	}
	return true
}

func energy(samples []int16) float64 {
	sum := 0.0
	for _, v := range samples {
		sum += float64(v) * float64(v)
	}
	return sum
}

// wav is the chunk as a mono 16-bit PCM WAV file.
func (c SpeechChunk) wav() []byte {
	size := uint32(2 * len(c.Samples))
	b := make([]byte, 0, 44+int(size))
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, 36+size)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1) // PCM
	b = binary.LittleEndian.AppendUint16(b, 1) // mono
	b = binary.LittleEndian.AppendUint32(b, soundRate)
	b = binary.LittleEndian.AppendUint32(b, 2*soundRate)
	b = binary.LittleEndian.AppendUint16(b, 2)
	b = binary.LittleEndian.AppendUint16(b, 16)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, size)
	for _, v := range c.Samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	return b
}
