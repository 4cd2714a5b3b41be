//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
)

// The recording of known events: every eight seconds something new is shown or
// said for five. All pictures carry, as cells of black and white, the number of
// the frame and of the event, so that a stored frame proves its own time.
const (
	eventFPS    = 5
	eventEvery  = 8 * eventFPS // frames
	eventLasts  = 5 * eventFPS
	pictureWide = 320
	pictureHigh = 240
	cell        = 24 // pixels of one bit
	timeBits    = 12
)

// subjects have no word in common with each other or with a question.
var subjects = strings.Fields(`lighthouse turbine beekeeper glacier harbour violin tractor volcano penguin orchard
	submarine carpenter telescope windmill dragonfly cathedral locomotive waterfall saxophone blacksmith
	hedgehog observatory sailboat mushroom parachute reservoir accordion greenhouse tortoise chandelier`)

// happens says when event i is on, in milliseconds, and in which words it is
// known: two of three are seen, a thing or a slide, the third is heard.
func happens(i int) (startMS, endMS int64, text string) {
	startMS = int64(i) * eventEvery * 1000 / eventFPS
	endMS = startMS + eventLasts*1000/eventFPS
	text = []string{
		"A %s stands in the middle of the picture.", "A slide with the title: costs of the %s.", "Now let us turn to the %s and what it needs.",
	}[i%3]
	return startMS, endMS, fmt.Sprintf(text, subjects[i])
}

func heard(i int) bool { return i%3 == 2 }

// questionOf asks for event i in words of its kind.
func questionOf(i int) string {
	return fmt.Sprintf([]string{"When can one see the %s?", "When does the slide about the %s come?", "When do they talk about the %s?"}[i%3], subjects[i])
}

// drawFrame paints frame n.
func drawFrame(n int) *image.Gray {
	m := image.NewGray(image.Rect(0, 0, pictureWide, pictureHigh))
	event := 0
	if i := n / eventEvery; n%eventEvery < eventLasts && !heard(i) {
		event = i + 1
	}
	noise := rand.New(rand.NewPCG(uint64(event), 7)) //nolint:gosec // a pattern, not a secret
	var blocks [8 * 6]uint8
	for i := range blocks {
		blocks[i] = 128
		if event > 0 {
			blocks[i] = uint8(40 + noise.IntN(176))
		}
	}
	for y := range pictureHigh {
		for x := range pictureWide {
			light := blocks[y/(pictureHigh/6)*8+x/(pictureWide/8)]
			bits := [...]int{n, event}
			if row := y / cell; row < len(bits) {
				light = uint8(bits[row] >> (x / cell) & 1 * 255)
			}
			m.SetGray(x, y, color.Gray{Y: light})
		}
	}
	return m
}

// readFrame are the numbers of the frame and the event that a picture carries.
func readFrame(picture []byte) (frame, event int, err error) {
	m, err := jpeg.Decode(bytes.NewReader(picture))
	if err != nil {
		return 0, 0, err
	}
	scale := float64(m.Bounds().Dx()) / pictureWide
	read := func(row int) (v int) {
		for bit := range timeBits {
			at := m.At(int((float64(bit)+.5)*cell*scale), int((float64(row)+.5)*cell*scale))
			if color.GrayModel.Convert(at).(color.Gray).Y > 127 {
				v |= 1 << bit
			}
		}
		return v
	}
	return read(0), read(1), nil
}

// look is what a vision model that can read the cells says of a picture.
func look(picture []byte) string {
	_, event, err := readFrame(picture)
	if err != nil || event == 0 || event > len(subjects) {
		return "An empty grey wall."
	}
	_, _, text := happens(event - 1)
	return text
}

// knownEvents makes the recording, with its speech as subtitles beside it.
func knownEvents(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var srt strings.Builder
	for i := range subjects {
		if start, end, text := happens(i); heard(i) {
			fmt.Fprintf(&srt, "%d\n%s --> %s\n%s\n\n", i+1, srtTime(float64(start)/1000), srtTime(float64(end)/1000), text)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "events.srt"), []byte(srt.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "events.mp4")
	cmd := exec.CommandContext(t.Context(), "ffmpeg", "-nostdin", "-v", "error", "-f", "rawvideo", "-pix_fmt", "gray",
		"-s", fmt.Sprintf("%dx%d", pictureWide, pictureHigh), "-r", fmt.Sprint(eventFPS), "-i", "-",
		"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", file)
	var raw bytes.Buffer
	for n := range len(subjects) * eventEvery {
		raw.Write(drawFrame(n).Pix)
	}
	cmd.Stdin = &raw
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, out)
	}
	return file
}

// TestKnownEventsAreCitedWhereTheyHappen: of a recording with 30 known events,
// seen, on slides and spoken, at least 95 of 100 cited intervals hold the event
// their evidence names, every event is found, and the picture of each piece of
// evidence was taken within its span, by the time in its pixels. Once answered
// without a model, once by a chat model.
func TestKnownEventsAreCitedWhereTheyHappen(t *testing.T) {
	t.Parallel()
	e, data := testkit.NewEndpoint(t), t.TempDir()
	e.See(look)
	ingestOne(t, data, "--vlm-url", e.URL, "--vlm-model", "scripted", "--l1-target", "80s", "--l2-target", "20s", knownEvents(t))
	for name, flags := range map[string][]string{"extractive": nil, "chat": {"--llm-url", e.URL, "--llm-model", "scripted"}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, data, flags...)
			c := dial(t, s)
			var all tally
			for i := range subjects {
				c.say(asking(questionOf(i), fmt.Sprint(name, i), nil))
				all.add(t, s, i, c.until("done", nil))
			}
			t.Logf("%+v", all)
			answers := 0
			for _, call := range e.Calls() {
				if answering(call) {
					answers++
				}
			}
			if flags != nil && answers != len(subjects) {
				t.Errorf("the chat model wrote %d answers", answers)
			}
			if all.right*100 < all.cited*95 || all.found != len(subjects) || all.frames < len(subjects)/3 {
				t.Errorf("of %d citations %d hold their event; %d of %d events were found; %d pictures", all.cited, all.right, all.found, len(subjects), all.frames)
			}
		})
	}
}

// tally counts over the answers of one recording.
type tally struct{ cited, right, found, frames int }

// add judges the answer to the question for event i: what a cited sentence names
// has to happen where it is cited, what others before it name within the evidence.
func (a *tally) add(t *testing.T, s *service, i int, all []frame) {
	t.Helper()
	proof, found, said, at := map[int]frame{}, false, []rune{}, 0
	for _, f := range all {
		switch f.Type {
		case "evidence":
			proof[f.N] = f
			a.checkPicture(t, s, f)
		case "token":
			said = append(said, []rune(f.Text)...)
		case "citation":
			sentence := string(said[at:f.At])
			last := sentence[strings.LastIndex(sentence, ". ")+1:]
			for k, subject := range subjects {
				if !strings.Contains(sentence, subject) {
					continue
				}
				span := f.Span
				if span.EndMS == 0 || !strings.Contains(last, subject) {
					span = proof[f.N].Span
				}
				a.cited++
				if start, end, _ := happens(k); holds(span.StartMS, span.EndMS, start, end) {
					a.right++
					found = found || k == i
				} else {
					t.Logf("%s: cited %d..%d, happens %d..%d: %q", subject, span.StartMS, span.EndMS, start, end, sentence)
				}
			}
			at = f.At
		}
	}
	if found {
		a.found++
	} else {
		t.Logf("not found: %s", questionOf(i))
	}
}

// holds: the middle of one lies within the other.
func holds(aStart, aEnd, bStart, bEnd int64) bool {
	a, b := (aStart+aEnd)/2, (bStart+bEnd)/2
	return (bStart <= a && a <= bEnd) || (aStart <= b && b <= aEnd)
}

// checkPicture reads the time in the pixels of a piece's frame.
func (a *tally) checkPicture(t *testing.T, s *service, f frame) {
	t.Helper()
	if f.Frame == "" {
		return
	}
	a.frames++
	n, _, err := readFrame(get(t, s.addr+f.Frame))
	at := int64(n) * 1000 / eventFPS
	if err != nil || at < f.Span.StartMS-1000/eventFPS || at > f.Span.EndMS {
		t.Errorf("evidence %d..%d shows a picture of %d (%v)", f.Span.StartMS, f.Span.EndMS, at, err)
	}
}
