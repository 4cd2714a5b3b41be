package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/reeltree/reeltree"

// arrows are the only imports allowed between rooms (docs/architecture.md).
var arrows = map[string][]string{
	"tree":             {},
	"retrieve":         {"tree"},
	"generate":         {"retrieve", "tree"},
	"server":           {"generate", "retrieve", "tree"},
	"ingest":           {"tree"},
	"library":          {"tree"},
	"model":            {"tree"},
	"client":           {"tree"},
	"eval":             {"retrieve", "tree"},
	"web":              {},
	"e2e":              {},
	"internal/testkit": {},
	"cli":              {"client", "eval", "generate", "ingest", "library", "model", "retrieve", "server", "tree", "web"},
	"":                 {"cli"},
}

// onlyIn names imports that may stand in one room only.
var onlyIn = map[string]string{
	"github.com/asticode/go-astiav":     "ingest",
	"github.com/sashabaranov/go-openai": "model",
	"github.com/gorilla/websocket":      "server client",
	"C":                                 "ingest",
}

func TestArrowsOfImport(t *testing.T) {
	for name, imports := range packages(t) {
		allowed, known := arrows[name]
		if !known {
			t.Errorf("package %q is not a room of docs/architecture.md: add it to the arrows or move its files", name)
		}
		for _, imp := range imports {
			if room, ok := strings.CutPrefix(imp, module+"/"); ok && !slices.Contains(allowed, room) {
				t.Errorf("%q imports %q, which is against the arrows", name, room)
			}
			if rooms, limited := onlyIn[imp]; limited && !slices.Contains(strings.Fields(rooms), name) {
				t.Errorf("%q imports %q, which only %s may", name, imp, rooms)
			}
		}
	}
}

// packages maps each room to what its product files import, in both builds.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	rooms := map[string][]string{}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return rooms
		} else if err != nil {
			t.Fatal(err)
		}
		rooms[strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")] = p.Imports
	}
}
