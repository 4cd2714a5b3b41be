package eval

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxLine bounds one line of a data file in bytes.
const maxLine = 64 << 20

// readLines reads a file of one JSON object a line, gzipped where its name
// ends in .gz. Blank lines are skipped. A row type may say what an object lacks
// to be one. An error is one sentence that names the file and, where it has
// one, the line.
func readLines[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read (%w): name an existing file", path, cause(err))
	}
	defer func() { _ = f.Close() }()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s is not a gzip file (%w): rename it or compress it", path, err)
		}
	}
	rows, err := decodeLines[T](r)
	if err != nil {
		return nil, fmt.Errorf("%s, %w", path, err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s holds no line, so there is nothing to do: hand over the whole file", path)
	}
	return rows, nil
}

func decodeLines[T any](r io.Reader) ([]T, error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	var rows []T
	for n := 1; in.Scan(); n++ {
		line := bytes.TrimSpace(in.Bytes())
		if len(line) == 0 {
			continue
		}
		var row T
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, fmt.Errorf("line %d is not the JSON object this task has (%w): check the task's name and the file", n, err)
		}
		if l, ok := any(&row).(interface{ lacks() string }); ok && l.lacks() != "" {
			return nil, fmt.Errorf("line %d has no %s, so it is not of this task: check the task's name and the file", n, l.lacks())
		}
		rows = append(rows, row)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("line %d cannot be read (%w): hand over the whole file", len(rows)+1, err)
	}
	return rows, nil
}

// cause is the reason alone of an error that also names the path.
func cause(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}

// writeLines writes one JSON object a line.
func writeLines(path string, lines []any) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("%s cannot be written (%w): name a file in an existing folder", path, cause(err))
	}
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		if err = enc.Encode(l); err != nil {
			break
		}
	}
	return errors.Join(err, w.Flush(), f.Close())
}

// absent is the first of two names whose thing is not there.
func absent(a string, noA bool, b string, noB bool) string {
	switch {
	case noA:
		return a
	case noB:
		return b
	}
	return ""
}
