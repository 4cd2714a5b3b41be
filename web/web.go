// Package web holds the page, built by Vite into static/dist and embedded into
// the binary. A build without Node embeds only the committed plain page, so
// that `go build` always works. It talks to nothing but the public API.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:static
var static embed.FS

// Page is the file system served at /: the built page, else the plain one.
func Page() fs.FS {
	if dist, err := fs.Sub(static, "static/dist"); err == nil {
		if _, err := fs.Stat(dist, "index.html"); err == nil {
			return dist
		}
	}
	return Plain()
}

// Plain is the one-file page that needs no build step.
func Plain() fs.FS {
	plain, err := fs.Sub(static, "static/plain")
	if err != nil { // only an invalid path fails, and this one is a constant
		panic(err)
	}
	return plain
}
