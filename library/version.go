package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// storeVersion is the version of the layout; any other is refused before
// anything in the folder is touched.
const storeVersion = "1"

// checkVersion reads the version of a data folder, or gives a new one its own.
func checkVersion(dir string) error {
	file := filepath.Join(dir, "version")
	version, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return writeVersion(dir, file)
	case err != nil:
		return fmt.Errorf("the version of the data folder cannot be read: %w", err)
	case string(version) != storeVersion:
		return fmt.Errorf("the data folder has layout version %.20q and this reeltree reads version %s: use the reeltree that wrote it, or restore a backup", version, storeVersion)
	}
	return nil
}

// writeVersion writes beside the place and renames, so that a crash never
// leaves a version that is cut off.
func writeVersion(dir, file string) error {
	err := os.WriteFile(file+unfinished, []byte(storeVersion), 0o600)
	if err == nil {
		err = os.Rename(file+unfinished, file)
	}
	if err != nil {
		return fmt.Errorf("the data folder cannot be written: %w", err)
	}
	return syncDir(dir)
}
