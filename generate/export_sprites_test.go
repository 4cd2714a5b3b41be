package generate

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// grey is a JPEG of one shade.
func grey(t *testing.T, w, h int, shade uint8) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = shade
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// filmed is a tree of a video with a picture at each of some times; its id is
// the shade of it.
func filmed(durationMS int64, times ...int64) *tree.Tree {
	root := &tree.Node{Level: tree.L1}
	for i, ms := range times {
		root.Children = append(root.Children, &tree.Node{Level: tree.L2, Evidence: tree.Evidence{
			Frame: &tree.FrameRef{ID: fmt.Sprint(20 * (i + 1)), TimeMS: ms, Width: 320, Height: 180},
		}})
	}
	return &tree.Tree{Source: tree.Source{DurationMS: durationMS}, Roots: []*tree.Node{root}}
}

func TestSprites(t *testing.T) {
	reads := 0
	read := func(id string) ([]byte, error) {
		reads++
		var shade uint8
		_, err := fmt.Sscan(id, &shade)
		return grey(t, 320, 180, shade), err
	}
	tr := filmed(1_205_000, 0, 14_000, 26_000, 1_199_000)
	got, err := MakeSprites(tr, read, func(n int) string { return fmt.Sprintf("s-%d.jpg", n) })
	if err != nil {
		t.Fatal(err)
	}
	if reads != 4 || len(got.Sheets) != 2 {
		t.Fatalf("%d pictures read, %d sheets", reads, len(got.Sheets))
	}
	index := string(got.Index)
	if n := strings.Count(index, "-->"); n != 121 || !strings.HasPrefix(index, "WEBVTT\n\n00:00:00.000 --> 00:00:10.000\ns-0.jpg#xywh=0,0,160,90\n") ||
		!strings.HasSuffix(index, "\n00:20:00.000 --> 00:20:05.000\ns-1.jpg#xywh=0,180,160,90\n") {
		t.Errorf("%d cues: %.200s … %s", n, index, index[max(0, len(index)-120):])
	}
	first, err := jpeg.Decode(bytes.NewReader(got.Sheets[0]))
	if err != nil || first.Bounds() != image.Rect(0, 0, 1600, 900) {
		t.Fatalf("the first sheet: %v, %v", first.Bounds(), err)
	}
	// Each ten seconds show the last picture up to their middle.
	for place, shade := range map[int]int{0: 20, 1: 40, 2: 40, 3: 60, 99: 60} {
		y, _, _, _ := color.GrayModel.Convert(first.At(place%10*160+80, place/10*90+45)).RGBA()
		if d := int(y>>8) - shade; d < -4 || d > 4 {
			t.Errorf("picture %d has the shade %d, want %d", place, y>>8, shade)
		}
	}
	if last, err := jpeg.Decode(bytes.NewReader(got.Sheets[1])); err != nil || last.Bounds().Dy() != 270 {
		t.Errorf("the last sheet is %v high, want the rows it uses; %v", last.Bounds(), err)
	}
}

func TestSpritesOfOddPictures(t *testing.T) {
	name := func(int) string { return "s" }
	if got, err := MakeSprites(filmed(60_000), nil, name); err != nil || got.Sheets != nil || got.Index != nil {
		t.Errorf("without pictures: %+v, %v", got, err)
	}
	if _, err := MakeSprites(filmed(60_000, 0), func(string) ([]byte, error) { return []byte("no JPEG"), nil }, name); err == nil {
		t.Error("a broken picture was drawn")
	}
	// A picture of another shape is shown whole, on black.
	tall := filmed(10_000, 0)
	got, err := MakeSprites(tall, func(string) ([]byte, error) { return grey(t, 90, 180, 200), nil }, name)
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := jpeg.Decode(bytes.NewReader(got.Sheets[0]))
	if err != nil {
		t.Fatal(err)
	}
	edge, _, _, _ := sheet.At(10, 45).RGBA()
	middle, _, _, _ := sheet.At(80, 45).RGBA()
	if edge>>8 > 20 || middle>>8 < 180 {
		t.Errorf("edge %d, middle %d", edge>>8, middle>>8)
	}
}
