package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shelfOf makes files in a folder of the test's own; a name that ends in a
// slash is a folder.
func shelfOf(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte("Some words of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// expanded gives the names found under dir, relative to it, and what was told.
func expanded(t *testing.T, dir string) (found []string, told string) {
	t.Helper()
	for _, n := range expand([]string{dir}, func(s string) { told += s + "\n" }) {
		name := strings.TrimPrefix(n.name, dir+"/")
		if n.err != nil {
			name += ": " + n.err.Error()
		}
		found = append(found, name)
	}
	return found, told
}

// TestFoldersAreTakenWhole: everything of a folder is taken, or said to be
// passed over; subtitles come along with their medium and once only.
func TestFoldersAreTakenWhole(t *testing.T) {
	dir := shelfOf(t, "a.mp4", "a.en.srt", "a.de.srt", "b/c.md", "b/c.srt", "alone.vtt", ".git/config", "..%2fx.mp4", "d/e.MKV", "d/e.srt")
	other := shelfOf(t, "far.mp4")
	for link, to := range map[string]string{"link.mp4": filepath.Join(other, "far.mp4"), "folder": other, "dead.mp4": filepath.Join(other, "absent")} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	found, told := expanded(t, dir)
	if want := []string{"a.mp4", "alone.vtt", "b/c.md", "b/c.srt", "d/e.MKV", "dead.mp4", "link.mp4"}; !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
	for _, want := range []string{dir, "2 (hidden", "1 (links to folders)", "1 (subtitles"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not said in %q", want, told)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	if found, told := expanded(t, link); !slices.Equal(found, []string{"far.mp4"}) || told != "" {
		t.Errorf("a link to a folder: %q, %q", found, told)
	}
}

// TestFoldersWithoutFilesFail: nothing was ingested, so it is said and the
// command fails.
func TestFoldersWithoutFilesFail(t *testing.T) {
	locked := shelfOf(t, "in/a.md", "out.md")
	if err := os.Chmod(filepath.Join(locked, "in"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(locked, "in"), 0o700) })
	cases := map[string]string{shelfOf(t): "no file to ingest", shelfOf(t, "deep/er/"): "no file to ingest", shelfOf(t, ".hidden"): "passed over: 1 (hidden"}
	if os.Getuid() != 0 { // whom no folder is locked for
		cases[locked] = "permission denied"
	}
	for dir, want := range cases {
		if code, out, errs := run(t, "ingest", "--data", t.TempDir(), dir); code != exitFailed || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %q %q, want %q", dir, code, out, errs, want)
		}
	}
}

// TestSourcesThatAreNone are refused in one sentence by whichever command reads
// files, and what looks like an address is told from a file.
func TestSourcesThatAreNone(t *testing.T) {
	dir := shelfOf(t, "x.md")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"name of the file is empty", []string{"ingest", ""}},
		{"name of the file is empty", []string{"probe", ""}},
		{"name of the file is empty", []string{"import", ""}},
		{"is a folder", []string{"probe", dir}},
		{"is a folder", []string{"import", dir}},
		{"is a folder", []string{"ingest", "--subtitles", dir, filepath.Join(dir, "x.md")}},
		{"no such file", []string{"ingest", "absent.mp4"}},
		{"https://", []string{"ingest", "example.org/talk.mp4"}},
		{"not rtsp", []string{"ingest", "rtsp://example.org/live"}},
		{"not file", []string{"ingest", "--quote", "file:///tmp/a.mp4"}},
	} {
		code, out, errs := run(t, append([]string{c.args[0], "--data", t.TempDir()}, c.args[1:]...)...)
		if code != exitFailed || out != "" || !strings.Contains(errs, c.want) || strings.Contains(errs, "the service at") {
			t.Errorf("%q: exit %d, %q %q, want %q", c.args, code, out, errs, c.want)
		}
	}
}

// TestAddressesArePastedInAllForms, while a file that is there stays a file.
func TestAddressesArePastedInAllForms(t *testing.T) {
	for given, want := range map[string]string{
		"youtu.be/aaaaaaaaaaa":                "https://youtu.be/aaaaaaaaaaa",
		"www.youtube.com/watch?v=aaaaaaaaaaa": "https://www.youtube.com/watch?v=aaaaaaaaaaa",
		"M.YouTube.com/watch?v=aaaaaaaaaaa":   "https://M.YouTube.com/watch?v=aaaaaaaaaaa",
		"HTTPS://YOUTU.BE/aaaaaaaaaaa":        "HTTPS://YOUTU.BE/aaaaaaaaaaa",
		" https://example.org/a.mp4 ":         "https://example.org/a.mp4",
		"www.example.org/a.mp4":               "https://www.example.org/a.mp4",
		"rtsp://x/y":                          "rtsp://x/y",
		"talks/a.mp4":                         "", "a.mp4": "", "www.mp4": "", "": "", "C:/a.mp4": "", "1://x": "",
	} {
		if got, ok := addressOf(given); got != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
	t.Chdir(shelfOf(t, "youtu.be/aaaaaaaaaaa"))
	if got, ok := addressOf("youtu.be/aaaaaaaaaaa"); ok {
		t.Errorf("a file of that name is taken for %q", got)
	}
}

// TestNamesAreTakenByTheByte: file names need not be UTF-8, given as an argument,
// as a flag or in the environment.
func TestNamesAreTakenByTheByte(t *testing.T) {
	dir := shelfOf(t, "l\xe9.md")
	data := filepath.Join(t.TempDir(), "d\xe9")
	file := filepath.Join(dir, "l\xe9.md")
	t.Setenv("REELTREE_DATA", data)
	for _, args := range [][]string{{"ingest", file}, {"probe", file}, {"ingest", "--subtitles", file, file}} {
		if code, out, errs := run(t, args...); code != exitOK {
			t.Errorf("%q: exit %d, %s%s", args, code, out, errs)
		}
	}
	if _, err := os.Stat(data); err != nil {
		t.Errorf("the data folder: %v", err)
	}
}

// TestProbeTellsEveryWarning, not the first alone.
func TestProbeTellsEveryWarning(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.srt")
	text := "1\n00:00:05,000 --> 00:00:09,000\nOne caf\xe9.\n\n2\n00:00:09,000 --> 00:00:07,000\nBackwards.\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := run(t, "probe", file)
	if code != exitOK || strings.Count(out, ". ")+strings.Count(out, ".\n") < 2 {
		t.Errorf("exit %d, %q %q", code, out, errs)
	}
}
