package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/eval"
	"github.com/reeltree/reeltree/internal/testkit"
)

func evalData(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(testkit.ModuleRoot(t), "eval", "testdata", name+".jsonl")
}

// TestEvalPrintsOneObject holds that standard output is the metrics alone, and
// that recordings are cut and answered by the product's own rooms.
func TestEvalPrintsOneObject(t *testing.T) {
	for task, args := range map[string][]string{
		"moments": {"--data", evalData(t, "moments")}, "meetings": {"--data", evalData(t, "meetings"), "--ablate"},
		"multihop": {"--data", evalData(t, "multihop"), "--pool", evalData(t, "multihop-pool")},
		"passages": {"--data", evalData(t, "passages")}, "tables": {"--data", evalData(t, "tables")}, "answers": {"--data", evalData(t, "meetings")},
	} {
		out, report := filepath.Join(t.TempDir(), "p"), filepath.Join(t.TempDir(), "r")
		code, stdout, errs := run(t, append([]string{"eval", task, "--out", out, "--report", report}, args...)...)
		var metrics map[string]float64
		if code != exitOK || strings.Count(stdout, "\n") != 1 || json.Unmarshal([]byte(stdout), &metrics) != nil || metrics["predictions"] == 0 {
			t.Errorf("%s: exit %d, %s%s", task, code, stdout, errs)
			continue
		}
		lines, err := os.ReadFile(out)
		if err != nil || float64(strings.Count(string(lines), "\n")) != metrics["predictions"] {
			t.Errorf("%s: %v, %s", task, err, lines)
		}
		data, err := os.ReadFile(report)
		var rep eval.Report
		if err != nil || json.Unmarshal(data, &rep) != nil || rep.Task != task || rep.Embedder == "" {
			t.Errorf("%s: %v, %s", task, err, data)
		}
		if task == "meetings" && !strings.Contains(errs, "controller") {
			t.Errorf("no ablation in %s", errs)
		}
		if task == "answers" && metrics["faithful"] != 1 {
			t.Errorf("answers: %s", stdout)
		}
	}
}

func TestEvalRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"is not a task":               {"nope", "--data", evalData(t, "moments")},
		"name their file with --data": {"moments"},
		"no such file":                {"moments", "--data", "absent.jsonl"},
		"name it with --pool":         {"multihop", "--data", evalData(t, "multihop")},
		"report cannot be written":    {"moments", "--data", evalData(t, "moments"), "--report", filepath.Join(t.TempDir(), "no", "r")},
	} {
		code, out, errs := run(t, append([]string{"eval"}, args...)...)
		if code == exitOK || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, %q %q", args, code, out, errs)
		}
	}
}
