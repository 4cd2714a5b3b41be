//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
)

// runScript is the script behind `make run` beside the binary under test.
func runScript(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"bin", "scripts"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(binary, filepath.Join(root, "bin", "reeltree")); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(testkit.ModuleRoot(t), "scripts", "run.sh"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "scripts", "run.sh")
	if err := os.WriteFile(path, script, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMakeRunBesideAnotherService: where the port is taken, even by a service of
// this product, the script says so and leaves that one alone.
func TestMakeRunBesideAnotherService(t *testing.T) {
	other := serve(t, t.TempDir())
	listen := strings.TrimPrefix(other.addr, "http://")
	for _, level := range []string{"info", "error"} {
		env := []string{"REELTREE_DATA=" + t.TempDir(), "REELTREE_LISTEN=" + listen, "REELTREE_LOG=" + level, "VIDEO=" + demo(t)}
		out, errs, code := runWith(t, testTime, env, runScript(t))
		if code != 1 || out != "" || !strings.Contains(errs, "cannot listen on "+listen) {
			t.Errorf("exit %d, said %q and %q", code, out, errs)
		}
	}
	if out := must(t, "list", "--server", other.addr); out != "" {
		t.Errorf("the other service has got %s", out)
	}
}
