//go:build e2e

package e2e

import (
	"encoding/csv"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
)

// oddRow is one line of media/odd/index.tsv.
type oddRow struct {
	file, group, expect, note string
	seconds, tolerance        float64
}

func oddRows(t *testing.T) []oddRow {
	t.Helper()
	f, err := os.Open(testkit.Shared(t, "media", "odd", "index.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes = '\t', true
	table, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []oddRow
	for _, c := range table[1:] {
		row := oddRow{file: c[0], group: c[1], expect: c[10], note: c[11], seconds: -1}
		if v, err := strconv.ParseFloat(c[3], 64); err == nil {
			row.seconds = v
		}
		row.tolerance, _ = strconv.ParseFloat(c[4], 64)
		rows = append(rows, row)
	}
	return rows
}

// TestOddCorpus ingests every odd and hostile file in one command into one
// running service and compares the outcome of each with the index.
func TestOddCorpus(t *testing.T) {
	rows := oddRows(t)
	dir := testkit.Shared(t, "media", "odd")
	s := serve(t, t.TempDir())
	args := []string{"ingest", "--server", s.addr, "--json", "--"}
	for _, r := range rows {
		args = append(args, filepath.Join(dir, r.file))
	}
	out, code := runIn(t, 2*testTime, binary, args...)
	got := lines[ingested](t, out)
	if code != 1 || len(got) != len(rows) {
		t.Fatalf("exit %d, %d lines for %d files", code, len(got), len(rows))
	}
	for i, r := range rows {
		if problem := r.problem(got[i]); problem != "" {
			t.Errorf("%s (%s): %s\n\tgot %+v", r.file, r.note, problem, got[i])
		}
	}
	select {
	case <-s.done:
		t.Fatalf("the service ended: %s", tail(s.logs.String(), 4000))
	default:
	}
	if reply, err := http.Get(s.addr + "/healthz"); err != nil || reply.StatusCode != http.StatusOK {
		t.Errorf("/healthz: %v %v", reply, err)
	}
}

func (r oddRow) problem(got ingested) string {
	want := map[string]string{"ok": "done", "partial": "partial", "error": "failed"}[r.expect]
	switch {
	case got.State != want:
		return "state " + got.State + ", want " + want
	case want == "failed" && !oneSentence(got.Error):
		return "the error is not one sentence: " + got.Error
	case want != "failed" && r.seconds >= 0 && math.Abs(float64(got.DurationMS)/1000-r.seconds) > r.tolerance:
		return "duration " + strconv.FormatInt(got.DurationMS, 10) + " ms, want " + strconv.FormatFloat(r.seconds, 'f', -1, 64) + " s"
	}
	return ""
}

func oneSentence(s string) bool {
	return len(s) > 10 && len(s) < 400 && !strings.Contains(s, "\n") && !strings.Contains(s, "Invalid data found")
}
