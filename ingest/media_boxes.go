package ingest

import (
	"encoding/binary"
	"io"
)

// mediaBoxes is what the top level of an MP4 or MOV file shows.
type mediaBoxes struct {
	mp4, moov, mdat bool
	cut             bool // a box ends behind the file's end
}

// readMediaBoxes walks the top-level boxes of an ISO base media file. It reads
// 16 bytes a box and at most 100,000 boxes.
func readMediaBoxes(r io.ReaderAt, size int64) mediaBoxes {
	var b mediaBoxes
	for at, n := int64(0), 0; at+8 <= size && n < 100_000; n++ {
		var head [16]byte
		got, _ := r.ReadAt(head[:], at) // a short read is judged by its length
		if got < 8 {
			break
		}
		length := int64(binary.BigEndian.Uint32(head[:]))
		switch kind := string(head[4:8]); kind {
		case "ftyp", "styp":
			b.mp4 = true
		case "moov":
			b.mp4, b.moov = true, true
		case "mdat":
			b.mdat = true
		case "free", "skip", "wide", "moof", "sidx", "mfra", "uuid", "meta", "udta", "pnot", "prft", "emsg", "ssix":
		default:
			if n == 0 {
				return mediaBoxes{}
			}
		}
		switch {
		case length == 0: // to the end
			return b
		case length == 1 && got == 16:
			length = int64(binary.BigEndian.Uint64(head[8:]))
		}
		if length < 8 || length > size-at {
			b.cut = length > size-at
			return b
		}
		at += length
	}
	return b
}
