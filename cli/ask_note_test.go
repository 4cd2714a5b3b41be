package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/client"
)

// TestAnswersSayHowTheyWereMade: where a model refused and the evidence answers
// instead, the reader is told; else nothing is added.
func TestAnswersSayHowTheyWereMade(t *testing.T) {
	for raw, want := range map[string]string{
		`{"type":"done","finish":"stop","note":"The chat model failed: the key was refused."}`: "Eight.\n\nnote: The chat model failed: the key was refused.\n",
		`{"type":"done","finish":"stop"}`: "Eight.\n",
	} {
		var out bytes.Buffer
		w := &printer{p: Process{Stdout: &out}, open: true}
		out.WriteString("Eight.")
		if err := w.see(client.Event{Type: "done", Finish: "stop", Raw: json.RawMessage(raw)}); err != nil || out.String() != want || strings.Contains(out.String(), "from") {
			t.Errorf("%v %q", err, out.String())
		}
	}
}
