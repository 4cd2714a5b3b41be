package tree

import (
	"encoding/json"
	"fmt"
)

// Unit names what the numbers of a Span count.
type Unit uint8

// The units of spans.
const (
	UnitMS   Unit = iota // media: integer milliseconds on the source's own timeline
	UnitText             // documents: page, paragraph, code points
	UnitRows             // tables: rows of one table, the header is row 0
)

// Span is a place in a source, [start, end) in its unit. Media times begin at
// 0 with the first shown frame or sample, whatever the container's clock says.
type Span struct {
	Unit Unit

	StartMS, EndMS int64 // UnitMS

	Page, Paragraph    int // UnitText: from 1; page 0 = the format has none
	StartChar, EndChar int // UnitText: code points inside the paragraph

	Table, RowStart, RowEnd int // UnitRows: from 0
}

// MS is the media span [start, end) in milliseconds.
func MS(start, end int64) Span { return Span{StartMS: start, EndMS: end} }

// Duration is the length of a media span in milliseconds, 0 for other units.
func (s Span) Duration() int64 {
	if s.Unit != UnitMS {
		return 0
	}
	return s.EndMS - s.StartMS
}

// Contains reports whether t (milliseconds) lies in a media span.
func (s Span) Contains(t int64) bool { return s.Unit == UnitMS && t >= s.StartMS && t < s.EndMS }

// Overlap is the shared length in milliseconds of two media spans, else 0.
func (s Span) Overlap(o Span) int64 {
	if s.Unit != UnitMS || o.Unit != UnitMS {
		return 0
	}
	return max(0, min(s.EndMS, o.EndMS)-max(s.StartMS, o.StartMS))
}

// String is the place as people read it: "0:01:05-0:02:00", "p. 2 ¶ 4".
func (s Span) String() string {
	switch s.Unit {
	case UnitText:
		if s.Page > 0 {
			return fmt.Sprintf("p. %d ¶ %d", s.Page, s.Paragraph)
		}
		return fmt.Sprintf("¶ %d", s.Paragraph)
	case UnitRows:
		return fmt.Sprintf("table %d rows %d-%d", s.Table, s.RowStart, s.RowEnd)
	default:
		return Clock(s.StartMS) + "-" + Clock(s.EndMS)
	}
}

// Clock prints milliseconds as h:mm:ss, rounded down, hours past 24 included.
func Clock(ms int64) string {
	sec := max(0, ms) / 1000
	return fmt.Sprintf("%d:%02d:%02d", sec/3600, sec/60%60, sec%60)
}

type (
	wireMS struct {
		StartMS *int64 `json:"start_ms"`
		EndMS   *int64 `json:"end_ms"`
	}
	wireText struct {
		Page      *int `json:"page"`
		Paragraph *int `json:"paragraph"`
		StartChar int  `json:"start_char"`
		EndChar   int  `json:"end_char"`
	}
	wireRows struct {
		Table    *int `json:"table"`
		RowStart int  `json:"row_start"`
		RowEnd   int  `json:"row_end"`
	}
)

// MarshalJSON writes only the fields of the unit, so a reader can tell the
// unit from the keys.
func (s Span) MarshalJSON() ([]byte, error) {
	switch s.Unit {
	case UnitText:
		return json.Marshal(wireText{&s.Page, &s.Paragraph, s.StartChar, s.EndChar})
	case UnitRows:
		return json.Marshal(wireRows{&s.Table, s.RowStart, s.RowEnd})
	default:
		return json.Marshal(wireMS{&s.StartMS, &s.EndMS})
	}
}

// UnmarshalJSON reads any of the three forms and refuses mixed, unknown or
// reversed ones.
func (s *Span) UnmarshalJSON(b []byte) error {
	var w struct {
		wireMS
		wireText
		wireRows
	}
	if err := strictJSON(b, &w); err != nil {
		return fmt.Errorf("span: %w", err)
	}
	ms, text, rows := w.wireMS != wireMS{}, w.wireText != wireText{}, w.wireRows != wireRows{}
	switch {
	case rows && !ms && !text && w.Table != nil:
		*s = Span{Unit: UnitRows, Table: *w.Table, RowStart: w.RowStart, RowEnd: w.RowEnd}
	case text && !ms && !rows && w.Paragraph != nil:
		*s = Span{Unit: UnitText, Paragraph: *w.Paragraph, StartChar: w.StartChar, EndChar: w.EndChar}
		if w.Page != nil {
			s.Page = *w.Page
		}
	case ms && !text && !rows && w.StartMS != nil && w.EndMS != nil:
		*s = MS(*w.StartMS, *w.EndMS)
	default:
		return fmt.Errorf("span: needs either start_ms and end_ms, or paragraph, or table")
	}
	return s.validate()
}

func (s Span) validate() error {
	if s.StartMS < 0 || s.EndMS < s.StartMS || s.StartChar < 0 || s.EndChar < s.StartChar ||
		s.RowStart < 0 || s.RowEnd < s.RowStart || s.Page < 0 || s.Paragraph < 0 || s.Table < 0 {
		return fmt.Errorf("span: ends before it starts or is negative")
	}
	return nil
}
