package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// strictJSON decodes exactly one value and refuses fields v does not have.
func strictJSON(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

// Bounds of the JSON itself, checked before anything is decoded: two bytes of
// input can cost hundreds in memory.
const (
	maxObjects = 2_000_000
	maxArrays  = 2_000_000
	maxDepth   = 16
)

// bounded refuses JSON that is too long, too deep or too finely divided to be
// a tree. It says nothing about whether the JSON is right.
func bounded(b []byte) error {
	if len(b) > MaxTreeBytes {
		return fmt.Errorf("tree: the file has %d bytes, more than the %d that are read", len(b), MaxTreeBytes)
	}
	objects, arrays, depth := 0, 0, 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
		case '{':
			objects, depth = objects+1, depth+1
		case '[':
			arrays, depth = arrays+1, depth+1
		case '}', ']':
			depth--
		}
		if objects > maxObjects || arrays > maxArrays {
			return errors.New("tree: the file holds too many values to be a tree")
		}
		if depth > maxDepth {
			return errors.New("tree: the file is nested too deeply to be a tree")
		}
	}
	return nil
}

// stringEnd is the place of the quote that ends the string beginning at i, or
// the end of b.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i
}
