package web

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

// references are the addresses an HTML page loads: everything must be a file
// beside it, for the policy of the service allows nothing from elsewhere.
var references = regexp.MustCompile(`(?:src|href)="([^"]+)"`)

func TestPagesLoadOnlyWhatIsEmbedded(t *testing.T) {
	for name, page := range map[string]fs.FS{"page": Page(), "plain": Plain()} {
		t.Run(name, func(t *testing.T) {
			html, err := fs.ReadFile(page, "index.html")
			if err != nil {
				t.Fatal(err)
			}
			found := references.FindAllStringSubmatch(string(html), -1)
			if len(found) == 0 {
				t.Fatal("index.html loads nothing: no style, no script")
			}
			for _, reference := range found {
				if strings.HasPrefix(reference[1], "data:") {
					continue
				}
				if _, err := fs.Stat(page, path.Clean(reference[1])); err != nil {
					t.Errorf("index.html loads %q, which is not embedded: %v", reference[1], err)
				}
			}
		})
	}
}

// inline is what the Content-Security-Policy of the service forbids.
var inline = regexp.MustCompile(`(?i)<script(?:\s[^>]*)?>[^<]|<style|\son[a-z]+=|\sstyle=|javascript:`)

func TestPagesHaveNothingInline(t *testing.T) {
	for name, page := range map[string]fs.FS{"page": Page(), "plain": Plain()} {
		html, err := fs.ReadFile(page, "index.html")
		if err != nil {
			t.Fatal(err)
		}
		if at := inline.Find(html); at != nil {
			t.Errorf("%s: %q in index.html would be blocked", name, at)
		}
	}
}

func TestPlainNeedsNoBuild(t *testing.T) {
	files, err := fs.Glob(Plain(), "*")
	if err != nil || len(files) != 3 {
		t.Fatalf("the plain page is %v, %v; want its page, its style and its script", files, err)
	}
}
