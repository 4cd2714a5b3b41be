package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// openFile opens a file that was named on the command line. It looks first:
// opening a pipe waits for its writer, and no signal ends that.
func openFile(name string) (*os.File, error) {
	if name == "" {
		return nil, errors.New("the name of the file is empty: name a file")
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, unreadable("file", err)
	case info.IsDir():
		return nil, errors.New("this is a folder, where a file is wanted: name a file in it")
	case !info.Mode().IsRegular():
		return nil, errors.New("this is not a regular file but a pipe, socket or device: copy what it gives into a file and name that")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, unreadable("file", err)
	}
	return f, nil
}

// readFile is the content of a file that was named on the command line.
func readFile(name string) ([]byte, error) {
	f, err := openFile(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(f)
}

// unreadable is the sentence of an error of the file system, without the name
// that is printed before it.
func unreadable(what string, err error) error {
	cause := err
	if path, ok := errors.AsType[*os.PathError](err); ok {
		cause = path.Err
	}
	return fmt.Errorf("the %s cannot be read: %w", what, cause)
}
