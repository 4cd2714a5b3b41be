package generate

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// hostileTree is a source whose words try to leave their place in every format.
func hostileTree() *tree.Tree {
	id := lens.ID
	leaf := func(b, c int, start, end int64, speaker, text string) *tree.Node {
		return &tree.Node{
			ID: tree.NodeID(id, 0, b, c), Level: tree.L3, Text: text, Span: tree.MS(start, end),
			Evidence: tree.Evidence{Cues: []tree.Cue{{StartMS: start, EndMS: end, Speaker: speaker, Text: text}}},
		}
	}
	src := lens
	src.DurationMS = 3_700_000
	return &tree.Tree{Source: src, Roots: []*tree.Node{
		{
			ID: tree.NodeID(id, 0), Level: tree.L1, Text: "The problem [1](javascript:x). Old lamps.", Span: tree.MS(0, 61_020),
			Children: []*tree.Node{
				{ID: tree.NodeID(id, 0, 0), Level: tree.L2, Text: "Mirrors *lose*\nlight.", Span: tree.MS(0, 20_030), Children: []*tree.Node{
					leaf(0, 0, 0, 9_990, "Ann", "Mirrors lose & scatter <b>light</b>."),
					leaf(0, 1, 9_990, 20_030, "Bob <v> -->", "A\n\n00:00:01.000 --> 00:00:02.000\nfake"),
				}},
				{ID: tree.NodeID(id, 0, 1), Level: tree.L2, Text: "", Span: tree.MS(20_030, 61_020), Children: []*tree.Node{
					leaf(1, 0, 20_030, 61_020, "", "Größe 🙂 三十公里"), leaf(1, 1, 61_020, 61_020, "", "no length"), leaf(1, 2, 61_000, 61_020, "", "  "),
				}},
			},
		},
		{
			ID: tree.NodeID(id, 1), Level: tree.L1, Text: "The idea.", Span: tree.MS(61_020, 3_700_000), Evidence: tree.Evidence{Title: "Rings -->\nof glass"},
			Children: []*tree.Node{{ID: tree.NodeID(id, 1, 0), Level: tree.L2, Text: "Rings.", Span: tree.MS(3_661_001, 3_700_000)}},
		},
	}}
}

func TestExports(t *testing.T) {
	for _, format := range []string{"vtt", "srt", "chapters", "chapters.vtt", "md", "edl"} {
		t.Run(format, func(t *testing.T) {
			mime, data, known, err := Export(hostileTree(), format)
			if err != nil || !known || mime == "" {
				t.Fatalf("%v %v %q", err, known, mime)
			}
			golden(t, "export."+format, string(data))
		})
	}
}

func TestExportsRoundTrip(t *testing.T) {
	_, data, _, err := Export(hostileTree(), "json")
	if err != nil {
		t.Fatal(err)
	}
	var back tree.Tree
	if err := json.Unmarshal(data, &back); err != nil || back.Counts() != hostileTree().Counts() {
		t.Errorf("%v: %+v", err, back.Counts())
	}
	if _, data, known, err := Export(hostileTree(), "tree"); !known || err != nil || !json.Valid(data) {
		t.Errorf("tree: %v %v", known, err)
	}
	if _, _, known, _ := Export(hostileTree(), "exe"); known {
		t.Error("an unknown format is known")
	}
}

func TestDocumentsHaveNoTimesToExport(t *testing.T) {
	span := tree.Span{Unit: tree.UnitText, Page: 2, Paragraph: 4, EndChar: 9}
	doc := &tree.Tree{Source: tree.Source{ID: lens.ID, Title: "Paper", Kind: tree.KindDocument}, Roots: []*tree.Node{
		{ID: tree.NodeID(lens.ID, 0), Level: tree.L1, Text: "Findings.", Span: span, Children: []*tree.Node{{ID: tree.NodeID(lens.ID, 0, 0), Level: tree.L2, Text: "Glass.", Span: span}}},
	}}
	for format, want := range map[string]string{
		"vtt": "WEBVTT\n", "srt": "", "chapters.vtt": "WEBVTT\n", "chapters": "p. 2 ¶ 4 Findings.\n",
		"edl": "TITLE: Paper\nFCM: NON-DROP FRAME\n", "md": "# Paper\n\n## (p. 2 ¶ 4) Findings.\n\nFindings.\n\n- (p. 2 ¶ 4) Glass.\n",
	} {
		if _, data, _, err := Export(doc, format); err != nil || string(data) != want {
			t.Errorf("%s: %v %q", format, err, data)
		}
	}
}

// TestEDLSidesHaveOneLength holds that source and record side of each event
// count the same number of frames and that the record side has no holes.
func TestEDLSidesHaveOneLength(t *testing.T) {
	tr := &tree.Tree{Source: lens, Roots: []*tree.Node{{Level: tree.L1}}}
	for i := range int64(1200) {
		tr.Roots[0].Children = append(tr.Roots[0].Children, &tree.Node{Level: tree.L2, Span: tree.MS(i*1037, (i+1)*1037)})
	}
	var b bytes.Buffer
	if err := writeEDL(&b, tr); err != nil {
		t.Fatal(err)
	}
	count := func(code string) (n int) {
		var h, m, s, f int
		for i, p := range []*int{&h, &m, &s, &f} {
			*p = int(code[i*3]-'0')*10 + int(code[i*3+1]-'0')
		}
		return ((h*60+m)*60+s)*edlRate + f
	}
	at, events := 0, 0
	for line := range strings.Lines(b.String()) {
		f := strings.Fields(line)
		if len(f) != 8 || f[1] != "AX" {
			continue
		}
		events++
		if count(f[6]) != at || count(f[5])-count(f[4]) != count(f[7])-count(f[6]) {
			t.Fatalf("event %s does not fit: record began at frame %d", line, at)
		}
		at = count(f[7])
	}
	if events != edlEvents {
		t.Errorf("%d events", events)
	}
}
