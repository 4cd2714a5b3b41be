package ingest

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// TestAModelWithoutWordsIsNamed: a vision model that answers nothing, always or
// now and then, leaves a warning on source and job that says for how much; one
// that answers leaves none, nor does a source that no model was asked about.
func TestAModelWithoutWordsIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		model   string
		says    func(n int32, p tree.Prompt) string
		warning string
		l2      string // what the tree says its sections are by
	}{
		"always blank":   {"eyes", func(int32, tree.Prompt) string { return " \n " }, "gave no words for", extractive},
		"blank sections": {"eyes", func(n int32, p tree.Prompt) string { return ifNot(p.Level == tree.L2, "A model saw this.") }, "gave no words for", extractive},
		"blank at times": {"eyes", func(n int32, p tree.Prompt) string { return ifNot(p.Level == tree.L1, "A model saw this.") }, "gave no words for 1 of ", "eyes"},
		"well":           {"eyes", func(int32, tree.Prompt) string { return "A model saw this." }, "", "eyes"},
		"no model":       {"", nil, "", extractive},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			w := m.worker(talk(120))
			if c.model != "" {
				var n atomic.Int32
				w.Models = map[string]string{"l1": c.model, "l2": c.model, "l3": c.model}
				w.Describer = tree.NewVision(func(_ context.Context, p tree.Prompt) (tree.Reply, error) {
					return tree.Reply{Text: c.says(n.Add(1), p), Finish: "stop"}, nil
				}, tree.VisionOptions{})
			}
			src, job := m.ingest(t, w, m.put(t, "talk.mp4", []byte("x")), tree.IngestOptions{})
			got := strings.Join(src.Warnings, "\n")
			if got != strings.Join(job.Warnings, "\n") || got != strings.Join(m.tree(t, src.ID).Source.Warnings, "\n") {
				t.Errorf("source %q, job %q", src.Warnings, job.Warnings)
			}
			if (got == "") != (c.warning == "") || !strings.Contains(got, c.warning) || c.warning != "" && (len(src.Warnings) != 1 || !strings.Contains(got, `"eyes"`)) {
				t.Errorf("%q, want %q", src.Warnings, c.warning)
			}
			if tr := m.tree(t, src.ID); tr.Models["l2"] != c.l2 || src.State != tree.StateDone {
				t.Errorf("%s, models %v", src.State, tr.Models)
			}
			if c.model != "" && w.Models["l2"] != c.model {
				t.Error("the worker's own models were changed")
			}
		})
	}
}

func ifNot(blank bool, text string) string {
	if blank {
		return ""
	}
	return text
}
