package tree

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestSourceID(t *testing.T) {
	// sha256("default", NUL, "hello") in lower-case base32, first 26 characters, worked out with another program.
	h := NewIDHash(DefaultTenant)
	for _, part := range []string{"he", "", "llo"} {
		if _, err := h.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	id := h.ID()
	other := NewIDHash("other")
	_, _ = other.Write([]byte("hello"))
	if len(id) != 26 || !ValidID(id) || id == other.ID() || id != h.ID() {
		t.Errorf("id %q, of another tenant %q", id, other.ID())
	}
	if want := "4ievttwh2amut6kk4kqcfhcer2"; id != want {
		t.Errorf("id %q, want %q", id, want)
	}
	if f := FrameID([]byte("x")); len(f) != 52 || !ValidID(f) {
		t.Errorf("frame id %q", f)
	}
}

func TestNodeIDs(t *testing.T) {
	id := testVideo.ID
	for _, path := range [][]int{{0}, {3, 12}, {1, 0, 599}} {
		source, got, err := ParseNodeID(NodeID(id, path...))
		if err != nil || source != id || fmt.Sprint(got) != fmt.Sprint(path) {
			t.Errorf("%v became %q %v, %v", path, source, got, err)
		}
	}
	for _, bad := range []string{
		"", "/", id, id + "/", id + "/a", id + "/0.", id + "/.0", id + "/0.0.0.0", id + "/-1", id + "/+1", id + "/01", id + "/0x1", id + "/0 ",
		"short/0", strings.ToUpper(id) + "/0", "../../../../../etc/x/0", id + "/0/0", id + "/99999999999999999999", strings.Repeat("a", 65) + "/0",
	} {
		if _, _, err := ParseNodeID(bad); err == nil {
			t.Errorf("node id %q was accepted", bad)
		}
	}
}

func TestSpans(t *testing.T) {
	a, b := MS(1000, 5000), MS(4000, 9000)
	text := Span{Unit: UnitText, Page: 2, Paragraph: 4}
	if a.Duration() != 4000 || text.Duration() != 0 || a.Overlap(b) != 1000 || b.Overlap(a) != 1000 || a.Overlap(MS(5000, 6000)) != 0 || a.Overlap(text) != 0 {
		t.Error("lengths are wrong")
	}
	if !a.Contains(1000) || a.Contains(5000) || a.Contains(999) || text.Contains(0) {
		t.Error("a span holds its start and not its end")
	}
	for want, s := range map[string]Span{
		"0:01:05-0:02:00": MS(65999, 120000), "27:46:40-27:46:40": MS(1e8, 1e8), "p. 2 ¶ 4": text,
		"¶ 4": {Unit: UnitText, Paragraph: 4}, "table 1 rows 2-3": {Unit: UnitRows, Table: 1, RowStart: 2, RowEnd: 3},
	} {
		if s.String() != want {
			t.Errorf("%q, want %q", s.String(), want)
		}
	}
	if Clock(-5) != "0:00:00" {
		t.Error("a time before the beginning is shown as the beginning")
	}
}

func TestSpanJSON(t *testing.T) {
	for want, s := range map[string]Span{
		`{"start_ms":0,"end_ms":7}`:                            MS(0, 7),
		`{"page":0,"paragraph":3,"start_char":1,"end_char":9}`: {Unit: UnitText, Paragraph: 3, StartChar: 1, EndChar: 9},
		`{"table":0,"row_start":0,"row_end":2}`:                {Unit: UnitRows, RowEnd: 2},
		`{"start_ms":9000000000,"end_ms":9000000001}`:          MS(9e9, 9e9+1),
	} {
		b, err := json.Marshal(s)
		if err != nil || string(b) != want {
			t.Errorf("%s, want %s (%v)", b, want, err)
		}
		var got Span
		if err := json.Unmarshal(b, &got); err != nil || got != s {
			t.Errorf("%s became %+v, %v", b, got, err)
		}
	}
	for _, bad := range []string{
		`{}`, `[]`, `{"start_ms":1}`, `{"start_ms":2,"end_ms":1}`, `{"start_ms":-1,"end_ms":1}`, `{"page":1}`, `{"paragraph":-1}`, `{"row_start":1}`,
		`{"table":0,"paragraph":1}`, `{"start_ms":0,"end_ms":1,"table":0}`, `{"start_ms":0,"end_ms":1,"start_char":5}`, `{"start_ms":0.5,"end_ms":1}`,
		`{"paragraph":1,"start_char":3,"end_char":2}`, `{"table":0,"row_start":2,"row_end":1}`, `{"start_ms":"0","end_ms":1}`,
	} {
		var s Span
		if err := json.Unmarshal([]byte(bad), &s); err == nil {
			t.Errorf("%s was read as %+v", bad, s)
		}
	}
}

func TestNodeViews(t *testing.T) {
	tr := sampleVideo(t)
	root := tr.Roots[0]
	leaves := 0
	root.Leaves(func(n *Node) {
		if leaves++; n.Level != L3 {
			t.Errorf("%s is no leaf", n.ID)
		}
	})
	if leaves != 10 || tr.Counts() != (Counts{1, 2, 10}) {
		t.Errorf("%d leaves, counts %+v", leaves, tr.Counts())
	}
	if got := root.Transcript(); got != "Clip 0 is about drying. Clip 1 is about drying." || len(root.Cues()) != 2 {
		t.Errorf("transcript %q", got)
	}
	if f := root.Children[1].Frame(); f == nil || f.TimeMS != 25000 {
		t.Errorf("frame %+v", f)
	}
	if (&Node{Level: L2}).Frame() != nil {
		t.Error("a frame out of nothing")
	}
}

func TestCallsAndStates(t *testing.T) {
	a := Calls{1, 2, 3, 4, 5, 6, 7}
	if got := a.Add(a); got != (Calls{2, 4, 6, 8, 10, 12, 14}) || a.Total() != 15 {
		t.Errorf("sum %+v, total %d", got, a.Total())
	}
	for s, ended := range map[State]bool{StateQueued: false, StateRunning: false, StatePaused: true, StatePartial: true, StateDone: true, StateFailed: true, StateCancelled: true} {
		if s.Ended() != ended {
			t.Errorf("%s ended: %t", s, s.Ended())
		}
	}
}
