package eval

import (
	"context"
	"errors"
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
type meetings struct{ data []meeting }

func loadMeetings(f Files) (job, error) {
	data, err := readLines[meeting](f.Data)
	return &meetings{data}, err
}

func (m *meetings) library(ctx context.Context, c Config) (*library, error) {
	if c.Cut == nil {
		return nil, errors.New("eval: recordings need a cutter")
	}
	lib := &library{}
	for _, rec := range m.data {
		src := rec.source()
		if err := lib.grow(ctx, tree.Extractive{}, extractiveModels, src, c.Cut(src, rec.cues())...); err != nil {
			return nil, err
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
	var out []tree.Cue
	for _, t := range m.Turns {
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
			query := retrieve.Query{Text: q.Query, Budget: max(1, budget), Fill: true, Scope: retrieve.Scope{Sources: []string{sourceID(rec.ID)}}}
			f, err := s.ask(ctx, query, rec.series(), rec.fragments(q))
			if err != nil {
				return nil, nil, err
			}
			lines = append(lines, meetingLine{rec.ID, i, f.spans()})
		}
	}
	t, err := scoreMeetings(m.data, lines)
	return anys(lines), t, err
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
