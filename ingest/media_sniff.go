package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	_ "image/gif"  // reads the size from the header
	_ "image/jpeg" // reads the size from the header
	_ "image/png"  // reads the size from the header
	"io"
)

// sniffMedia looks at the content before any demuxer does and refuses what is
// plainly no media file, with a sentence that says what it is. Names and
// extensions are never looked at.
func sniffMedia(r io.ReaderAt, size, maxPixels int64) error {
	head := make([]byte, 4096)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	head = head[:n]
	switch {
	case size == 0 || n == 0:
		return refuseMedia("This file is empty (0 bytes); copy or download it again and hand it over once it is complete.")
	case n < 12:
		return refuseMedia("This file is too short for any video or recording (%d B); copy or download it again.", size)
	}
	if err := sniffText(head); err != nil {
		return err
	}
	return sniffPixels(r, head, size, maxPixels)
}

// sniffText names the text formats that are handed over instead of media.
func sniffText(head []byte) error {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")), " \t\r\n")
	lower := bytes.ToLower(text)
	has := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if bytes.HasPrefix(lower, []byte(p)) {
				return true
			}
		}
		return false
	}
	isSVG := has("<svg") || has("<?xml", "<!--", "<!doctype svg") && bytes.Contains(lower, []byte("<svg"))
	switch {
	case isSVG:
		return refuseMedia("This file is an SVG drawing, not a video, and drawings may load other files; export it as PNG or hand over a video.")
	case has("<!doctype html", "<html", "<head", "<body", "<script", "<title"):
		return refuseMedia("This file is an HTML page, not a video: the download probably gave an error page; download it again.")
	case has("#extm3u", "ffconcat", "[playlist]", "<asx", "<mpd", "[reference]") || has("<?xml") && (bytes.Contains(lower, []byte("<mpd")) || bytes.Contains(lower, []byte("<playlist"))):
		return refuseMedia("This file is a playlist that points at other files, which are never opened; hand over the video itself or its address.")
	case has("<?xml"):
		return refuseMedia("This file is an XML text, not a video; hand over the video itself.")
	case has("%pdf-"):
		return refuseMedia("This file is a PDF document, not a video; hand it over as a document.")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return refuseMedia("This file is a ZIP archive or an office document, not a video; unpack it first and hand over what is inside.")
	case bytes.HasPrefix(head, []byte("\x7fELF")) || bytes.HasPrefix(head, []byte("MZ")):
		return refuseMedia("This file is a program, not a video; hand over a video or a recording.")
	}
	return nil
}

// sniffPixels refuses pictures whose header claims more pixels than allowed,
// before anything is allocated for them.
func sniffPixels(r io.ReaderAt, head []byte, size, maxPixels int64) error {
	w, h := 0, 0
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG")), bytes.HasPrefix(head, []byte("GIF8")), bytes.HasPrefix(head, []byte("\xFF\xD8\xFF")):
		c, _, err := image.DecodeConfig(io.NewSectionReader(r, 0, min(size, 1<<20)))
		if err == nil {
			w, h = c.Width, c.Height
		}
	case bytes.HasPrefix(head, []byte("DKIF")) && len(head) >= 16:
		w, h = int(binary.LittleEndian.Uint16(head[12:])), int(binary.LittleEndian.Uint16(head[14:]))
	}
	return checkPixels(w, h, maxPixels)
}

func checkPixels(w, h int, maxPixels int64) error {
	if int64(w)*int64(h) > maxPixels {
		return refuseMedia("The pictures of this file are %dx%d pixels, more than the limit of %d million; scale it down or raise the limit.", w, h, maxPixels/1_000_000)
	}
	return nil
}
