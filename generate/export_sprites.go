package generate

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"strings"

	"golang.org/x/image/draw"

	"github.com/reeltree/reeltree/tree"
)

// Sheets of seek previews: 10 x 10 pictures, one for every 10 s.
const (
	spriteStepMS  = 10_000
	spriteSide    = 160 // longer side of one picture in pixels
	spriteColumns = 10
	spriteRows    = 10
	spriteQuality = 70
)

// Sprites are the seek previews of a video: sheets of small pictures, and a
// WebVTT file whose cues name a sheet and the part of it (#xywh=, Media
// Fragments URI 1.0) for every 10 s.
type Sprites struct {
	Sheets [][]byte // JPEG
	Index  []byte
}

// MakeSprites draws them from the kept pictures of a tree, of which read gives
// the JPEG and name the address of a sheet. Every 10 s show the last picture up
// to their middle. A tree without pictures has no sheets.
func MakeSprites(t *tree.Tree, read func(id string) ([]byte, error), name func(sheet int) string) (Sprites, error) {
	frames := t.Frames()
	var out Sprites
	if len(frames) == 0 {
		return out, nil
	}
	var index strings.Builder
	index.WriteString("WEBVTT\n")
	size := fitted(frames[0].Width, frames[0].Height)
	var sheet *image.RGBA
	n, shown := 0, -1
	var last image.Image
	for from := int64(0); from < t.Source.DurationMS; from += spriteStepMS {
		at := max(0, tree.LastFrame(frames, from+spriteStepMS/2))
		if at != shown {
			data, err := read(frames[at].ID)
			if err != nil {
				return Sprites{}, err
			}
			if last, err = smallPicture(data, size); err != nil {
				return Sprites{}, err
			}
			shown = at
		}
		place := n % (spriteColumns * spriteRows)
		if place == 0 {
			if err := out.add(sheet); err != nil {
				return Sprites{}, err
			}
			sheet = image.NewRGBA(image.Rect(0, 0, spriteColumns*size.X, spriteRows*size.Y))
		}
		x, y := place%spriteColumns*size.X, place/spriteColumns*size.Y
		draw.Draw(sheet, image.Rect(x, y, x+size.X, y+size.Y), last, image.Point{}, draw.Src)
		fmt.Fprintf(&index, "\n%s --> %s\n%s#xywh=%d,%d,%d,%d\n", clock(from, "."), clock(min(from+spriteStepMS, t.Source.DurationMS), "."),
			name(n/(spriteColumns*spriteRows)), x, y, size.X, size.Y)
		n++
	}
	if sheet != nil && n%(spriteColumns*spriteRows) != 0 { // the last one ends where its pictures do
		rows := (n%(spriteColumns*spriteRows) + spriteColumns - 1) / spriteColumns
		sheet, _ = sheet.SubImage(image.Rect(0, 0, sheet.Rect.Dx(), rows*size.Y)).(*image.RGBA)
	}
	if err := out.add(sheet); err != nil {
		return Sprites{}, err
	}
	out.Index = []byte(index.String())
	return out, nil
}

// add ends a sheet; nil is none.
func (s *Sprites) add(sheet *image.RGBA) error {
	if sheet == nil {
		return nil
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, sheet, &jpeg.Options{Quality: spriteQuality}); err != nil {
		return fmt.Errorf("draw a sheet of previews: %w", err)
	}
	s.Sheets = append(s.Sheets, b.Bytes())
	return nil
}

// fitted is the size of a picture made small, its shape kept.
func fitted(w, h int) image.Point {
	w, h = max(1, w), max(1, h)
	side := max(w, h)
	return image.Pt(max(1, (w*spriteSide+side/2)/side), max(1, (h*spriteSide+side/2)/side))
}

// smallPicture fits a JPEG into size, on black where its shape is another.
func smallPicture(data []byte, size image.Point) (image.Image, error) {
	src, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("a kept picture cannot be read: %w", err)
	}
	out := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(out, out.Rect, image.NewUniform(color.Black), image.Point{}, draw.Src)
	w, h := src.Bounds().Dx(), src.Bounds().Dy()
	if w*size.Y > h*size.X {
		w, h = size.X, max(1, h*size.X/w)
	} else {
		w, h = max(1, w*size.Y/h), size.Y
	}
	x, y := (size.X-w)/2, (size.Y-h)/2
	draw.ApproxBiLinear.Scale(out, image.Rect(x, y, x+w, y+h), src, src.Bounds(), draw.Src, nil)
	return out, nil
}
