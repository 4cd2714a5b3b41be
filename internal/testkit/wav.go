package testkit

import (
	"bytes"
	"encoding/binary"
)

// WAV is a mono 16 kHz file of so many seconds, each with a noise of its own.
func WAV(seconds int) []byte {
	const rate = 16000
	size := uint32(2 * rate * seconds) //nolint:gosec // a test asks for a few seconds
	var b bytes.Buffer
	b.WriteString("RIFF")
	header := []any{
		36 + size, []byte("WAVEfmt "), uint32(16), uint16(1), uint16(1),
		uint32(rate), uint32(2 * rate), uint16(2), uint16(16), []byte("data"), size,
	}
	for _, v := range header {
		_ = binary.Write(&b, binary.LittleEndian, v) // a buffer never fails
	}
	for s := range seconds {
		for i := range rate {
			v := int16((i*(s+3))%200 - 100) //nolint:gosec // within 200
			b.Write([]byte{byte(v), byte(v >> 8)})
		}
	}
	return b.Bytes()
}
