package generate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// Record is a finished answer as it is exported.
type Record struct {
	Question  string     `json:"question"`
	Answer    string     `json:"answer"`
	Evidence  []Evidence `json:"evidence"` // what was cited, in the order of the first citation
	Citations []Citation `json:"citations"`
	Finish    string     `json:"finish"`
	Note      string     `json:"note,omitempty"` // what a reader should know of how it was made
	numbers   map[int]Evidence
}

// ReadRecord reads an answer from the wire events of its stream; what is no
// event of an answer is skipped.
func ReadRecord(question string, events []json.RawMessage) Record {
	r := Record{Question: question, numbers: map[int]Evidence{}, Evidence: []Evidence{}, Citations: []Citation{}}
	var text strings.Builder
	for _, raw := range events {
		var head struct {
			Type   string `json:"type"`
			Text   string `json:"text"`
			Finish string `json:"finish"`
			Note   string `json:"note"`
		}
		if json.Unmarshal(raw, &head) != nil {
			continue
		}
		switch head.Type {
		case "evidence":
			var e Evidence
			if json.Unmarshal(raw, &e) == nil {
				r.numbers[e.N] = e
			}
		case "token":
			text.WriteString(head.Text)
		case "citation":
			r.cite(raw)
		case "revised":
			text.Reset()
			r.Evidence, r.Citations = []Evidence{}, []Citation{}
		case "done":
			r.Finish, r.Note = head.Finish, head.Note
		}
	}
	r.Answer = text.String()
	return r
}

func (r *Record) cite(raw json.RawMessage) {
	var c Citation
	if json.Unmarshal(raw, &c) != nil {
		return
	}
	e, known := r.numbers[c.N]
	if !known {
		return
	}
	r.Citations = append(r.Citations, c)
	if !slices.ContainsFunc(r.Evidence, func(old Evidence) bool { return old.N == c.N }) {
		r.Evidence = append(r.Evidence, e)
	}
}

// Places are the cited moments in the order of the answer, for Clip.
func (r Record) Places() []Place {
	var out []Place
	for _, e := range r.moments() {
		out = append(out, Place{e.Source.ID, e.Span})
	}
	return out
}

// moments is the cited evidence in the order of the answer, narrowed to where
// the sentences are said: each place once, with those of its words.
func (r Record) moments() []Evidence {
	var out []Evidence
	text, from, sentence := []rune(r.Answer), 0, ""
	for _, c := range r.Citations {
		at := max(from, min(c.At, len(text)))
		if more := oneLine(string(text[from:at])); more != "" { // else one more mark of the same words
			sentence = strings.TrimPrefix(more, "- ")
		}
		from = at
		e := r.numbers[c.N]
		if c.Span != nil {
			e.Span = *c.Span
			if strings.Contains(oneLine(e.Quote), sentence) {
				e.Quote = sentence
			}
		}
		if !slices.ContainsFunc(out, func(old Evidence) bool { return old.N == e.N && old.Span == e.Span }) {
			out = append(out, e)
		}
	}
	return out
}

// ExportAnswer writes an answer as "md", "json", "edl", "vtt", "srt" or
// "chapters"; known is false for any other format. Captions and chapters are
// of one recording: an answer that cites several is refused.
func ExportAnswer(r Record, format string) (mime string, data []byte, known bool, err error) {
	var b bytes.Buffer
	switch format {
	case "md":
		writeAnswerMarkdown(&b, r)
		return "text/markdown; charset=utf-8", b.Bytes(), true, nil
	case "json":
		err = json.NewEncoder(&b).Encode(r)
		return "application/json", b.Bytes(), true, err
	case "edl":
		var clips []edlClip
		for _, e := range r.moments() {
			clips = append(clips, edlClip{e.Source.Title, trackOf(e.Source.Kind), e.Span, e.Quote})
		}
		writeClips(&b, r.Question, clips)
		return "text/plain; charset=utf-8", b.Bytes(), true, nil
	case "vtt", "srt", "chapters":
		t, err := r.asTree()
		if err != nil {
			return "", nil, true, err
		}
		return Export(t, format)
	}
	return "", nil, false, nil
}

// writeAnswerMarkdown is the answer with a link to the moment at each citation.
func writeAnswerMarkdown(b *bytes.Buffer, r Record) {
	fmt.Fprintf(b, "# %s\n\n", markdownText(r.Question))
	text, from := []rune(r.Answer), 0
	for _, c := range r.Citations {
		at := max(from, min(c.At, len(text)))
		b.WriteString(string(text[from:at]))
		from = at
		e := r.numbers[c.N]
		span := e.Span
		if c.Span != nil {
			span = *c.Span
		}
		fmt.Fprintf(b, " %s", placeLink(e.Source.ID, span))
		if c.Unsupported {
			b.WriteString(" (not clearly supported)")
		}
	}
	fmt.Fprintf(b, "%s\n", string(text[from:]))
	if r.Note != "" {
		fmt.Fprintf(b, "\n> %s\n", markdownText(r.Note))
	}
	if len(r.Evidence) == 0 {
		return
	}
	b.WriteString("\n## Evidence\n")
	for _, e := range r.Evidence {
		fmt.Fprintf(b, "\n- %s, %s: %s\n", markdownText(e.Source.Title), placeLink(e.Source.ID, e.Span), markdownText(e.Quote))
	}
}

// asTree are the cited moments as a source of their own: a chapter and a
// caption each, in the order of the recording.
func (r Record) asTree() (*tree.Tree, error) {
	t := &tree.Tree{}
	for _, e := range inOrder(r.moments()) {
		if e.Span.Unit != tree.UnitMS {
			continue
		}
		if t.Source.ID != "" && t.Source.ID != e.Source.ID {
			return nil, refuse("the answer cites more than one recording and captions belong to one: export it as md, json or edl")
		}
		t.Source = tree.Source{ID: e.Source.ID, Title: e.Source.Title, Kind: e.Source.Kind}
		cue := tree.Cue{StartMS: e.Span.StartMS, EndMS: e.Span.EndMS, Speaker: e.Speaker, Text: e.Quote}
		leaf := &tree.Node{Level: tree.L3, Text: e.Quote, Span: e.Span, Evidence: tree.Evidence{Cues: []tree.Cue{cue}}}
		if n := len(t.Roots); n > 0 && t.Roots[n-1].Span == beginning(e.Span) { // a title over what follows
			t.Roots[n-1].Span, t.Roots[n-1].Children[0].Children[0] = e.Span, leaf
			continue
		}
		clip := &tree.Node{Level: tree.L2, Text: e.Quote, Span: e.Span, Children: []*tree.Node{leaf}}
		t.Roots = append(t.Roots, &tree.Node{Level: tree.L1, Text: e.Quote, Span: e.Span, Children: []*tree.Node{clip}})
	}
	return t, nil
}
