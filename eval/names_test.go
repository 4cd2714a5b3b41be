package eval

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
)

// TestNoOtherRoomKnowsATask reads the texts in the product's files: none outside
// this room may be the name of a task or of its files, or anything could be
// tuned to one.
func TestNoOtherRoomKnowsATask(t *testing.T) {
	root := testkit.ModuleRoot(t)
	for _, room := range []string{"tree", "retrieve", "generate", "ingest", "model", "library", "server"} {
		err := filepath.WalkDir(filepath.Join(root, room), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, text := range literals(source) {
				if name, _, _ := strings.Cut(text, "-"); slices.Contains(Tasks(), name) && (text == name || strings.HasPrefix(text, name+"-")) {
					t.Errorf("%s knows the task %q", path, text)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := literals([]byte("package x\nvar a = \"moments\" // \"not this\"\nvar b = `tables-dev`\n")); !slices.Equal(got, []string{"moments", "tables-dev"}) {
		t.Errorf("%q", got)
	}
}

// literals are the texts in Go source.
func literals(source []byte) []string {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(source)), source, nil, 0)
	var out []string
	for {
		_, kind, lit := s.Scan()
		if kind == token.EOF {
			return out
		}
		if kind == token.STRING {
			if text, err := strconv.Unquote(lit); err == nil {
				out = append(out, text)
			}
		}
	}
}
