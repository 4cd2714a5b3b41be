package ingest

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxTableBytes is the longest CSV or TSV file that is read.
const maxTableBytes = 64 << 20

// readTable reads comma, semicolon, tab or bar separated values (RFC 4180, and
// what programs make of it) in any encoding. The first row is the header.
func readTable(ctx context.Context, file *io.SectionReader, s *blockSink) error {
	if file.Size() > maxTableBytes {
		return refuseMedia("This table is longer than the %d MB that are read; split it and hand over the parts.", maxTableBytes>>20)
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return fmt.Errorf("read the table: %w", err)
	}
	text, encoding, guessed := decodeText(data)
	if guessed {
		s.facts.Encoding = encoding
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = separator(text), -1, true, true
	s.beginTable()
	for ctx.Err() == nil && s.err == nil {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			s.facts.Partial = true
			s.warn("The table is damaged at line %d (%v), so only the rows before it were read; save it again as CSV.", bad.Line, bad.Err)
			break
		}
		if err != nil {
			return err
		}
		s.cells(append([]string(nil), row...))
	}
	return ctx.Err()
}

// separator is the character that splits the first lines into the same number
// of fields, most of them.
func separator(text string) rune {
	lines := strings.SplitN(text[:min(len(text), 64<<10)], "\n", 12)
	if len(lines) > 1 {
		lines = lines[:len(lines)-1] // the last one may be cut
	}
	best, most := ',', 0
	for _, c := range ",;\t|" {
		if n := fields(lines, c); n > most {
			best, most = c, n
		}
	}
	return best
}

// fields is how many separators outside quotes all lines have at least.
func fields(lines []string, c rune) int {
	least := -1
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		n, quoted := 0, false
		for _, r := range line {
			switch {
			case r == '"':
				quoted = !quoted
			case r == c && !quoted:
				n++
			}
		}
		if least < 0 || n < least {
			least = n
		}
	}
	return least
}
