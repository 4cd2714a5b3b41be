package generate

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/tree"
)

// captionsOf reads the cues of an SRT or WebVTT file of plain captions.
func captionsOf(t *testing.T, file string) []tree.Cue {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []tree.Cue
	times := regexp.MustCompile(`(?m)^(\d+):(\d+):(\d+)[.,](\d+) --> (\d+):(\d+):(\d+)[.,](\d+)`)
	for block := range strings.SplitSeq(string(data), "\n\n") {
		at := times.FindStringIndex(block)
		if at == nil {
			continue
		}
		var n [8]int64
		for i, s := range times.FindStringSubmatch(block)[1:] {
			n[i], _ = strconv.ParseInt(s, 10, 64) // digits
		}
		ms := func(n []int64) int64 { return ((n[0]*60+n[1])*60+n[2])*1000 + n[3] }
		if text := strings.TrimSpace(block[at[1]:]); !strings.HasPrefix(text, "<v ") {
			out = append(out, tree.Cue{StartMS: ms(n[:4]), EndMS: ms(n[4:]), Text: text})
		}
	}
	return out
}

// stretch lays cues out as one L1: a clip begins at each title, a leaf holds
// three cues; the built-in describer writes the texts.
func stretch(t *testing.T, index int, cues []tree.Cue, titles map[int64]string) *tree.Node {
	t.Helper()
	m := tree.Material{Source: lens, Index: index, Span: tree.MS(cues[0].StartMS, cues[len(cues)-1].EndMS)}
	var names []string
	for _, c := range cues {
		title, begins := titles[c.StartMS]
		if begins || len(m.Clips) == 0 {
			m.Clips = append(m.Clips, tree.Clip{Span: tree.MS(c.StartMS, c.EndMS), Title: title})
			if names = append(names, title); title == "" {
				names = names[:len(names)-1]
			}
		}
		clip := &m.Clips[len(m.Clips)-1]
		if n := len(clip.Leaves); n == 0 || len(clip.Leaves[n-1].Evidence.Cues) == 3 {
			clip.Leaves = append(clip.Leaves, tree.Leaf{Span: tree.MS(c.StartMS, c.EndMS)})
		}
		leaf := &clip.Leaves[len(clip.Leaves)-1]
		leaf.Evidence.Cues = append(leaf.Evidence.Cues, c)
		leaf.Span.EndMS, clip.Span.EndMS = c.EndMS, c.EndMS
	}
	m.Title = strings.Join(names, "; ")
	root, _, err := tree.BuildStretch(t.Context(), tree.Extractive{}, m, tree.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func told(roots ...*tree.Node) *tree.Tree {
	return &tree.Tree{Source: lens, Roots: roots, Models: map[string]string{"l1": "extractive", "l2": "extractive", "l3": "extractive"}}
}

// talkTitles are the chapters of demo/talk.mp4.
var talkTitles = map[int64]string{0: "Why lighthouses needed a new lens", 44_120: "The idea of rings", 96_146: "Telling lights apart, then and now"}

func talk(t *testing.T) *tree.Tree {
	t.Helper()
	return told(stretch(t, 0, captionsOf(t, "../demo/talk.srt"), talkTitles))
}

// later are cues some time later.
func later(cues []tree.Cue, ms int64, who string) []tree.Cue {
	out := slices.Clone(cues)
	for i := range out {
		out[i].StartMS, out[i].EndMS, out[i].Speaker = out[i].StartMS+ms, out[i].EndMS+ms, who
	}
	return out
}

// TestSummariesSayWhereItIsSaid: in every mode, of sources short and long, with
// titles and without, each sentence stands in the evidence it cites and in the
// cues at the time it cites, a title where its part begins, and nothing twice.
func TestSummariesSayWhereItIsSaid(t *testing.T) {
	speech := captionsOf(t, "../demo/talk.srt")
	film := captionsOf(t, testkit.Shared(t, "media", "real", "sintel-en.vtt"))
	film = film[:slices.IndexFunc(film, func(c tree.Cue) bool { return c.StartMS > 70_000 })]
	for name, tr := range map[string]*tree.Tree{
		"talk": talk(t), "film": told(stretch(t, 0, film, nil)),
		"long talk": told(stretch(t, 0, speech[:7], nil), stretch(t, 1, speech[7:15], nil), stretch(t, 2, speech[15:], nil)),
		"speakers":  told(stretch(t, 0, later(speech[:12], 0, "Ann"), nil), stretch(t, 1, later(speech[12:], 0, "Bob Ray"), nil)),
		"the same again": told(stretch(t, 0, film, nil), stretch(t, 1, later(film, 100_000, ""), nil), stretch(t, 2, later(film, 200_000, ""), nil),
			stretch(t, 3, later(speech, 300_000, ""), nil)),
	} {
		for _, mode := range []string{ModeSummary, ModeHighlights, ModeChapters} {
			t.Run(name+"/"+mode, func(t *testing.T) { saidThere(t, tr, mode) })
		}
	}
}

func saidThere(t *testing.T, tr *tree.Tree, mode string) {
	t.Helper()
	a := &Answerer{Find: finder(true), Trees: func(context.Context, string, string) (*tree.Tree, error) { return tr, nil }}
	events, text := collect(t, a, Question{Mode: mode, Sources: []string{lens.ID}})
	faithful(t, mode, text, events)
	titles := map[string]int64{}
	for _, root := range tr.Roots {
		for _, n := range append([]*tree.Node{root}, root.Children...) {
			titles[n.Evidence.Title] = n.Span.StartMS
		}
	}
	_, evidence := roundsOf(events)
	seen, from := map[string]bool{}, 0
	for _, e := range events {
		c, ok := e.(Citation)
		if !ok {
			continue
		}
		said := oneLine(string([]rune(text)[from:c.At]))
		place := evidence[c.N-1].Span
		if from = c.At; c.Span != nil {
			place = *c.Span
		}
		if at, title := titles[said]; title && place.StartMS != at {
			t.Errorf("the title %q is at %v", said, place)
		} else if !title && !heardAt(tr, place, said) {
			t.Errorf("%q is cited at %v, where that is not said", said, place)
		}
		for _, s := range cutSentences(said) {
			if seen[sameWords(s)] {
				t.Errorf("%q is said twice:\n%s", s, text)
			}
			seen[sameWords(s)] = true
		}
	}
	if len(seen) == 0 {
		t.Error("nothing was said")
	}
}

// heardAt reports whether the cues within a place, and no fewer, hold a text.
func heardAt(tr *tree.Tree, place tree.Span, text string) bool {
	var heard []string
	for _, root := range tr.Roots {
		for _, c := range root.Cues() {
			if c.StartMS >= place.StartMS && c.EndMS <= place.EndMS {
				heard = append(heard, sameWords(c.Text))
			}
		}
	}
	all := " " + strings.Join(heard, " ") + " "
	begins := len(heard) < 2 || !strings.Contains(" "+strings.Join(heard[1:], " ")+" ", " "+sameWords(text)+" ")
	return begins && strings.Contains(all, " "+sameWords(text)+" ")
}

// TestSummaryOfTheTalk is one that people can read, with the times of its sentences.
func TestSummaryOfTheTalk(t *testing.T) {
	tr := talk(t)
	a := &Answerer{Find: finder(true), Trees: func(context.Context, string, string) (*tree.Tree, error) { return tr, nil }}
	events, _ := collect(t, a, Question{Text: "What is this talk about?", Sources: []string{lens.ID}})
	var raw []json.RawMessage
	for _, e := range events {
		line, err := Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, line)
	}
	r := ReadRecord("What is this talk about?", raw)
	for _, format := range []string{"md", "edl", "srt", "chapters"} {
		_, data, _, err := ExportAnswer(r, format)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "talk."+format, string(data))
	}
	_, data, _, err := Export(tr, "chapters")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "talk.contents", string(data))
}

// TestParagraphsAreShort: of many long sentences some stand for all of it.
func TestParagraphsAreShort(t *testing.T) {
	var lines []line
	for i := range 9 {
		lines = append(lines, line{text: strings.Repeat("word ", 30), at: i})
	}
	got := thinned(lines)
	if len(got) != 3 || got[0].at != 0 || got[1].at != 4 || got[2].at != 8 {
		t.Errorf("%+v", got)
	}
	if got := thinned([]line{{text: strings.Repeat("word ", 500)}}); len(got) != 1 {
		t.Errorf("%d lines", len(got))
	}
	if got := thinned(nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestModelsSummariesAreCitedBySentence: what a model wrote is kept as it is,
// said once, and placed where its words are said, else at the whole.
func TestModelsSummariesAreCitedBySentence(t *testing.T) {
	tr := talk(t)
	tr.Models = map[string]string{"l1": "m", "l2": "m", "l3": "m"}
	for _, c := range tr.Roots[0].Children {
		c.Text = "A man stands at a board. The optics are explained."
	}
	tr.Roots[0].Text = "A lecture in three parts."
	tr.Roots[0].Children[2].Text = "Keepers floated the lens in a trough of mercury. A man stands at a board."
	a := &Answerer{Find: finder(true), Trees: func(context.Context, string, string) (*tree.Tree, error) { return tr, nil }}
	events, text := collect(t, a, Question{Mode: ModeSummary, Sources: []string{lens.ID}})
	if want := "A lecture in three parts.\n\nWhy lighthouses needed a new lens\nA man stands at a board. The optics are explained.\n\nThe idea of rings\n\n" +
		"Telling lights apart, then and now\nKeepers floated the lens in a trough of mercury."; text != want {
		t.Errorf("%q", text)
	}
	var places []string
	for _, e := range events {
		if c, ok := e.(Citation); ok {
			if places = append(places, "whole"); c.Span != nil {
				places[len(places)-1] = c.Span.String()
			}
		}
	}
	if want := []string{"whole", "0:00:00-0:00:00", "whole", "0:00:44-0:00:44", "0:01:36-0:01:36", "0:01:50-0:01:57"}; !slices.Equal(places, want) {
		t.Errorf("%q", places)
	}
}

// TestChaptersNeverShareATitle: parts under one title are one chapter, a title
// that comes back later is named by what is said there.
func TestChaptersNeverShareATitle(t *testing.T) {
	part := func(i int, title, text string) *tree.Node {
		n := stretchOf(i, text)
		n.Evidence.Title = title
		return n
	}
	tr := &tree.Tree{Source: lens, Roots: []*tree.Node{
		part(0, "Intro", "Hello."), part(1, "Intro", "Hello again."), part(2, "", "Old lamps. More lamps."), part(3, "Intro", "Old lamps. Rings."), part(4, "", "Old lamps."),
	}}
	var got []string
	for _, c := range chaptersOf(tr) {
		got = append(got, c.title+" "+c.span.String())
	}
	if want := []string{"Intro 0:00:00-0:20:00", "Old lamps. 0:20:00-0:30:00", "Rings. 0:30:00-0:50:00"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
