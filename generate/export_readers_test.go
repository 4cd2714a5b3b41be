package generate

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestCaptionsParseInFFprobe reads the captions of a source whose words try to
// leave their place with an independent reader, packet by packet.
func TestCaptionsParseInFFprobe(t *testing.T) {
	probe, err := exec.LookPath("ffprobe")
	if err != nil {
		t.Skip("ffprobe is not installed: install FFmpeg to check captions with it")
	}
	for format, codec := range map[string]string{"vtt": "webvtt", "srt": "subrip", "chapters.vtt": "webvtt"} {
		_, data, _, err := Export(hostileTree(), format)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "captions."+strings.TrimPrefix(format, "chapters."))
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(probe, "-v", "error", "-show_streams", "-show_packets", "-of", "json", file).Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", format, err, data)
		}
		var got struct {
			Streams []struct {
				Codec string `json:"codec_name"`
			}
			Packets []struct {
				Start    string `json:"pts_time"`
				Duration string `json:"duration_time"`
			}
		}
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		want := [][2]float64{{0, 9.99}, {9.99, 10.04}, {20.03, 40.99}}
		if format == "chapters.vtt" {
			want = [][2]float64{{0, 61.02}, {61.02, 3638.98}}
		}
		if len(got.Streams) != 1 || got.Streams[0].Codec != codec || len(got.Packets) != len(want) {
			t.Fatalf("%s: %+v\n%s", format, got, data)
		}
		for i, p := range got.Packets {
			start, _ := strconv.ParseFloat(p.Start, 64)
			length, _ := strconv.ParseFloat(p.Duration, 64)
			if diff(start, want[i][0]) > .0011 || diff(length, want[i][1]) > .0011 {
				t.Errorf("%s: packet %d at %v for %v, want %v", format, i, start, length, want[i])
			}
		}
	}
}

func diff(a, b float64) float64 { return max(a-b, b-a) }

// The grammar of an edit list after the interchange rules of CMX 3600: a title,
// the kind of frame count, then events with remarks behind them.
var (
	edlEvent  = regexp.MustCompile(`^(\d{3})  (\S{1,8}) +(V|A|A2|B|AA/V) +(C|D|W\d{3}) +(\d\d:[0-5]\d:[0-5]\d:[0-2]\d) (\d\d:[0-5]\d:[0-5]\d:[0-2]\d) (\d\d:[0-5]\d:[0-5]\d:[0-2]\d) (\d\d:[0-5]\d:[0-5]\d:[0-2]\d)$`)
	edlRemark = regexp.MustCompile(`^\* [A-Z ]+: \S`)
)

// TestEditListsFollowTheGrammar parses edit lists line by line; whatever a text
// holds, no line of it may look like another kind of line.
func TestEditListsFollowTheGrammar(t *testing.T) {
	hostile := hostileTree()
	hostile.Source.Title = "Talk\n001  AX       V     C        00:00:00:00 00:00:01:00 00:00:00:00 00:00:01:00\nTITLE: x"
	_, data, _, err := Export(hostile, "edl")
	if err != nil {
		t.Fatal(err)
	}
	events := 0
	for i, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		switch {
		case i == 0 && strings.HasPrefix(line, "TITLE: ") && len(line) <= len("TITLE: ")+4*edlTitle:
		case i == 1 && line == "FCM: NON-DROP FRAME":
		case line == "" || edlRemark.MatchString(line) && events > 0:
		case edlEvent.MatchString(line):
			events++
			if n, _ := strconv.Atoi(edlEvent.FindStringSubmatch(line)[1]); n != events {
				t.Errorf("event %d has the number %d", events, n)
			}
		default:
			t.Errorf("line %d is none of an edit list: %q", i+1, line)
		}
	}
	if events != 3 {
		t.Errorf("%d events", events)
	}
}
