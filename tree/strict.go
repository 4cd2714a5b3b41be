package tree

import (
	"bytes"
	"encoding/json"
	"errors"
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
