package cli

import (
	"bytes"
	"encoding/json"

	"github.com/reeltree/reeltree/tree"
)

// readTree reads our own format, which names its number, or the original one.
func readTree(data []byte) (*tree.Tree, error) {
	var head struct {
		Metadata struct {
			Format *int            `json:"format"`
			Source json.RawMessage `json:"source"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(data, &head); err == nil && head.Metadata.Format != nil && head.Metadata.Source != nil {
		return tree.Read(bytes.NewReader(data))
	}
	return tree.ImportOriginal(bytes.NewReader(data))
}
