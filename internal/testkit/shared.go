// Package testkit holds what tests of several rooms share: the place of the
// shared material, scripted peers and small made inputs. The product never
// imports it.
package testkit

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Shared is the path of a file or folder of the shared material:
// $REELTREE_SHARED, else ../shared beside the module root. The test is skipped
// with a clear message where the material is absent.
func Shared(t testing.TB, elem ...string) string {
	t.Helper()
	root := os.Getenv("REELTREE_SHARED")
	if root == "" {
		root = filepath.Join(filepath.Dir(ModuleRoot(t)), "shared")
	}
	path := filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("shared material is absent (set REELTREE_SHARED to its folder): %v", err)
	}
	return path
}

// ModuleRoot is the folder that holds go.mod.
func ModuleRoot(t testing.TB) string {
	t.Helper()
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("the test binary carries no file names")
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}
