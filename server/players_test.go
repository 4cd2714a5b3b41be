package server

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

// room is a player's files in a folder.
type room struct {
	dir   string
	state string
}

func (r room) open(name string) (*os.File, error) {
	f, err := os.Open(filepath.Join(r.dir, name))
	if os.IsNotExist(err) {
		err = errAbsent
	}
	return f, err
}

func (r room) Rendition(context.Context, string, string) (state, reason string, err error) {
	if r.state == RenditionFailed {
		return r.state, "It is damaged.", nil
	}
	return r.state, "", nil
}

func (r room) OpenRendition(context.Context, string, string) (*os.File, error) { return r.open("r") }

func (r room) Peaks(context.Context, string, string) (*os.File, error) { return r.open("p") }

func (r room) Sprites(context.Context, string, string) (*os.File, error) { return r.open("s") }

func (r room) Sheet(_ context.Context, _, _, name string) (*os.File, error) {
	return r.open("sheet-" + name)
}

// played is a service with a video, its files, and its base address.
func played(t *testing.T, state string, files map[string]string) (*service, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newService(t, func(c *Config) { c.Players = room{dir, state} })
	id := s.put(t, "0123456789", "video/x-matroska")
	s.shelf.mu.Lock()
	src := s.shelf.sources[id]
	src.Kind = tree.KindVideo
	s.shelf.sources[id] = src
	s.shelf.mu.Unlock()
	return s, "/v1/sources/" + id
}

func TestWhatAPlayerLoads(t *testing.T) {
	s, base := played(t, RenditionReady, map[string]string{"r": "a whole movie", "p": `{"version":2}`, "s": "WEBVTT\n", "sheet-9-0": "jpeg"})
	for path, want := range map[string][3]string{
		"/rendition.mp4":     {"a whole movie", "video/mp4", "no-cache"},
		"/peaks.json":        {`{"version":2}`, "application/json", "no-cache"},
		"/sprites.vtt":       {"WEBVTT\n", "text/vtt; charset=utf-8", "no-cache"},
		"/sprites/9-0.jpg":   {"jpeg", "image/jpeg", "private, max-age=31536000, immutable"},
		"/rendition":         {`{"state":"ready","media":"` + base + `/rendition.mp4"}`, "application/json", ""},
		"/sprites/9-1.jpg":   {"1206", "application/json", ""},
		"/sprites/..%2f.jpg": {"1206", "application/json", ""},
	} {
		_, h, body := s.request(t, "GET", base+path, nil, nil)
		if !strings.Contains(body, want[0]) || h.Get("Content-Type") != want[1] || want[2] != "" && h.Get("Cache-Control") != want[2] || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %q, %v", path, body, h)
		}
	}
	status, h, body := s.request(t, "GET", base+"/rendition.mp4", nil, map[string]string{"Range": "bytes=2-6"})
	if status != http.StatusPartialContent || body != "whole" || h.Get("Content-Range") != "bytes 2-6/13" {
		t.Errorf("a range: %d %q %v", status, body, h)
	}
}

func TestRenditionStates(t *testing.T) {
	for state, want := range map[string]string{
		RenditionNone:   `{"state":"none","media":"%/media"}`,
		RenditionMaking: `{"state":"making"}`,
		RenditionFailed: `{"state":"failed","error":"It is damaged."}`,
	} {
		s, base := played(t, state, nil)
		status, _, body := s.request(t, "GET", base+"/rendition", nil, nil)
		if status != http.StatusOK || strings.TrimSpace(body) != strings.ReplaceAll(want, "%", base) {
			t.Errorf("%s: %d %s", state, status, body)
		}
		if status, _, body := s.request(t, "GET", base+"/rendition.mp4", nil, nil); status != http.StatusNotFound || !strings.Contains(body, "1208") {
			t.Errorf("the file of %s: %d %s", state, status, body)
		}
	}
}

func TestDocumentsAreNotPlayed(t *testing.T) {
	s, _ := played(t, RenditionReady, map[string]string{"r": "x"})
	id := s.put(t, "text of a page", "text/plain")
	for _, path := range []string{"/rendition", "/rendition.mp4", "/peaks.json", "/sprites.vtt", "/sprites/1.jpg"} {
		if status, _, _ := s.request(t, "GET", "/v1/sources/"+id+path, nil, nil); status != http.StatusNotFound {
			t.Errorf("%s of a document: %d", path, status)
		}
	}
}
