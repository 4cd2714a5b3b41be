package cli

import (
	"encoding/json"
	"io"
)

// writeJSON prints one object on one line.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
