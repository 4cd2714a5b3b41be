package model

import (
	"bytes"
	"encoding/binary"
	"errors"
)

var errNotWAV = errors.New("not a PCM WAV file")

// wavLength is the length of a WAV file in milliseconds, from the bytes that
// are there: a header may promise more (streamed files say 0xFFFFFFFF).
func wavLength(b []byte) (int64, error) {
	if len(b) < 12 || !bytes.Equal(b[:4], []byte("RIFF")) || !bytes.Equal(b[8:12], []byte("WAVE")) {
		return 0, errNotWAV
	}
	rate := int64(0) // bytes a second
	for rest := b[12:]; len(rest) >= 8; {
		name, size := string(rest[:4]), int64(binary.LittleEndian.Uint32(rest[4:8]))
		rest = rest[8:]
		size = min(size, int64(len(rest)))
		switch {
		case name == "fmt " && size >= 16:
			rate = int64(binary.LittleEndian.Uint32(rest[8:12]))
		case name == "data" && rate > 0:
			return size * 1000 / rate, nil
		}
		rest = rest[min(size+size%2, int64(len(rest))):]
	}
	return 0, errNotWAV
}

// silence is half a second of 16 kHz mono for Ping.
func silence() []byte {
	const rate, samples = 16000, 8000
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) } // a buffer never fails
	b.WriteString("RIFF")
	put(uint32(36 + 2*samples))
	b.WriteString("WAVEfmt ")
	put(uint32(16))
	put([]uint16{1, 1})
	put([]uint32{rate, 2 * rate})
	put([]uint16{2, 16})
	b.WriteString("data")
	put(uint32(2 * samples))
	b.Write(make([]byte, 2*samples))
	return b.Bytes()
}
