package eval

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// meeting is a line of meetings: a transcript with questions whose gold is
// ranges of turns. The gold topics of a line are never read.
type meeting struct {
	ID      string         `json:"id"`
	Turns   []turn         `json:"turns"`
	Queries []meetingQuery `json:"queries"`
	General []meetingQuery `json:"general"` // about the whole recording

	heard  []turn   // what the source says instead of its turns; nil: the turns
	copies []copied // other sources of the library that hold it
}

type turn struct {
	Start   float64 `json:"start"` // seconds
	End     float64 `json:"end"`
	Speaker string  `json:"speaker"`
	Text    string  `json:"text"`
}

type meetingQuery struct {
	Query  string   `json:"query"`
	Answer string   `json:"answer"`
	Turns  [][2]int `json:"turns"` // first and last
}

// meetings asks for the stretches of a recording that a question is about.
type meetings struct {
	data  []meeting
	plain *meetings // of stressed recordings: as they were
}

func loadMeetings(f Files) (job, error) {
	data, err := readLines[meeting](f.Data)
	return &meetings{data: data}, err
}

func (m *meetings) library(ctx context.Context, c Config) (*library, error) {
	if c.Cut == nil {
		return nil, errors.New("eval: recordings need a cutter")
	}
	lib := &library{}
	for _, rec := range m.data {
		all := []meeting{rec}
		for _, o := range rec.copies {
			all = append(all, o.meeting)
		}
		for _, m := range all {
			src := m.source()
			if err := lib.grow(ctx, tree.Extractive{}, extractiveModels, src, c.Cut(src, m.cues())...); err != nil {
				return nil, err
			}
		}
	}
	return lib, nil
}

// extractiveModels says that every text is the source's own words.
var extractiveModels = map[string]string{"l1": "extractive", "l2": "extractive", "l3": "extractive"}

func (m *meeting) source() tree.Source {
	end := int64(1)
	for _, t := range m.Turns {
		end = max(end, milliseconds(t.End))
	}
	return tree.Source{ID: sourceID(m.ID), Tenant: tree.DefaultTenant, Kind: tree.KindAudio, Title: m.ID, DurationMS: end}
}

// cues are the turns that say something.
func (m *meeting) cues() []tree.Cue {
	turns := m.Turns
	if m.heard != nil {
		turns = m.heard
	}
	var out []tree.Cue
	for _, t := range turns {
		if strings.TrimSpace(t.Text) != "" && t.End > t.Start {
			out = append(out, tree.Cue{StartMS: milliseconds(t.Start), EndMS: milliseconds(t.End), Speaker: t.Speaker, Text: t.Text})
		}
	}
	return out
}

// series is the kind of a meeting, the name before the number of its id.
func (m *meeting) series() string {
	name, _, _ := strings.Cut(m.ID, "-")
	return name
}

func (m *meetings) ask(ctx context.Context, s *session) ([]any, *tally, error) {
	var lines []meetingLine
	for _, rec := range m.data {
		budget := int(float64(rec.words()) * meetingShare * 4 / 3)
		for i, q := range rec.Queries {
			if measure(rec.gold(q)) == 0 {
				continue // the reference scorer takes no prediction for it
			}
			query := retrieve.Query{Text: q.Query, Budget: max(1, budget), Fill: true, Scope: retrieve.Scope{Sources: rec.sources()}}
			f, err := s.ask(ctx, query, rec.series(), rec.fragments(q))
			if err != nil {
				return nil, nil, err
			}
			lines = append(lines, meetingLine{rec.ID, i, rec.spans(f)})
		}
	}
	t, err := scoreMeetings(m.data, lines)
	return anys(lines), t, err
}

// sources are the recording and what holds it too.
func (m *meeting) sources() []string {
	out := []string{sourceID(m.ID)}
	for _, c := range m.copies {
		out = append(out, sourceID(c.ID))
	}
	return out
}

// spans are the places of what was found in the recording itself.
func (m *meeting) spans(f found) []interval {
	if len(m.copies) == 0 {
		return f.spans()
	}
	out := []interval{}
	for _, it := range slices.Concat(f.items, f.nearest) {
		s := seconds(it.Span)
		for i := range m.copies {
			if it.Source.ID == sourceID(m.copies[i].ID) {
				s = m.copies[i].origin(s)
			}
		}
		if s[1] > s[0] {
			out = append(out, s)
		}
	}
	return out
}

// fragments are the gold turns.
func (m *meeting) fragments(q meetingQuery) []fragment {
	var out []fragment
	for _, g := range q.Turns {
		for i := g[0]; i <= min(g[1], len(m.Turns)-1); i++ {
			if t := m.Turns[i]; t.End > t.Start {
				span := tree.MS(milliseconds(t.Start), milliseconds(t.End))
				out = append(out, fragment{[]string{sourceID(m.ID)}, &span})
			}
		}
	}
	return out
}

func (m *meeting) lacks() string {
	return absent("id", m.ID == "", "turns with words", len(m.cues()) == 0)
}
