package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/ingest"
)

// named is a file or address to be ingested, or the reason why there is none.
type named struct {
	name string
	err  error
}

// expand replaces folders by the files in them, in order. What of a folder is
// not taken is said to tell, one sentence a folder.
func expand(sources []string, tell func(string)) []named {
	var all []named
	for _, s := range sources {
		if info, err := os.Stat(s); err != nil || !info.IsDir() {
			all = append(all, named{name: s})
			continue
		}
		f := folder{passed: map[string]int{}}
		f.walk(s)
		all = append(all, f.found...)
		if len(f.found) == 0 {
			all = append(all, named{s, errors.New("there is no file to ingest in this folder: name another one, or files")})
		}
		if note := f.note(); note != "" {
			tell(s + ": " + note)
		}
	}
	return all
}

// Why an entry of a folder is not taken.
const (
	isHidden  = "hidden, by a name that begins with a dot"
	isLink    = "links to folders"
	isSpecial = "neither files nor folders"
	isSpare   = "subtitles of a file that has others"
)

// folder is what was found in one, and what was passed over, by reason.
type folder struct {
	found  []named
	passed map[string]int
}

// note is one sentence about what was passed over, empty without any.
func (f *folder) note() string {
	var parts []string
	for _, why := range []string{isHidden, isLink, isSpecial, isSpare} {
		if n := f.passed[why]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d (%s)", n, why))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "passed over: " + strings.Join(parts, ", ") + "; name them to ingest them"
}

func (f *folder) walk(root string) {
	// The separator makes a link to a folder the folder.
	_ = filepath.WalkDir(root+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			f.found = append(f.found, named{path, unreadable("folder", err)})
		case filepath.Clean(path) == filepath.Clean(root):
		case strings.HasPrefix(d.Name(), "."):
			f.passed[isHidden]++
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir():
			f.file(path, d)
		}
		return nil // the rest of the folder is read all the same
	})
	f.dropSidecars()
}

func (f *folder) file(path string, d fs.DirEntry) {
	mode := d.Type()
	if mode&fs.ModeSymlink != 0 {
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Type()
		}
	}
	switch {
	case mode.IsRegular() || mode&fs.ModeSymlink != 0: // a dead link is reported where it is opened
		f.found = append(f.found, named{name: path})
	case mode.IsDir():
		f.passed[isLink]++
	default:
		f.passed[isSpecial]++
	}
}

// dropSidecars leaves out subtitle files that come along with the medium beside
// them.
func (f *folder) dropSidecars() {
	media := map[string]string{} // by path without suffix
	for _, n := range f.found {
		if !ingest.NamesDocument(n.name) {
			media[strings.TrimSuffix(n.name, filepath.Ext(n.name))] = n.name
		}
	}
	f.found = slices.DeleteFunc(f.found, func(n named) bool {
		for _, owner := range owners(n.name) {
			if medium := media[owner]; medium != "" {
				if sidecar(medium) != n.name {
					f.passed[isSpare]++
				}
				return true
			}
		}
		return false
	})
}

// addressOf tells addresses from files; a file that is there wins over an
// address of the same spelling.
func addressOf(source string) (string, bool) {
	if _, err := os.Lstat(source); err == nil {
		return "", false
	}
	return ingest.ReadAddress(source)
}

var subtitleSuffixes = []string{".srt", ".vtt", ".ass", ".ssa", ".smi", ".sami"}

// owners are the paths without suffix of the media that a subtitle file may
// belong to: its own, and that without a language; nil for other files.
func owners(file string) []string {
	suffix := filepath.Ext(file)
	if !slices.Contains(subtitleSuffixes, strings.ToLower(suffix)) {
		return nil
	}
	base := strings.TrimSuffix(file, suffix)
	if language := filepath.Ext(base); language != "" && len(language) <= 12 {
		return []string{base, strings.TrimSuffix(base, language)}
	}
	return []string{base}
}

// sidecar is the subtitle file beside a media file: the same base name, with
// an optional language between name and suffix.
func sidecar(file string) string {
	if ingest.NamesDocument(file) {
		return "" // a source of its own
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return ""
	}
	base := strings.TrimSuffix(file, filepath.Ext(file))
	for _, e := range entries { // sorted by name: the plain one comes before one with a language
		if beside := filepath.Join(filepath.Dir(file), e.Name()); !e.IsDir() && slices.Contains(owners(beside), filepath.Clean(base)) {
			return beside
		}
	}
	return ""
}
