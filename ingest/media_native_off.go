//go:build !cgo

package ingest

import "context"

// native refuses: this binary was built without C.
func (j *mediaJob) native(context.Context) error {
	return refuseMedia("This build of the program cannot read media files, since it was made without FFmpeg; use a build with cgo enabled.")
}
