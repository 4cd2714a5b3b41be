package cli

import (
	"context"
	"os"

	"github.com/reeltree/reeltree/ingest"
)

type mediaWorkerCmd struct{}

// Run is the child's side of a media request: the file is open as descriptor
// 3, messages go to descriptor 4.
func (mediaWorkerCmd) Run(ctx context.Context, p Process) error {
	if ingest.MediaWorkerMain(ctx, p.Stdin, os.NewFile(4, "pipe")) != 0 {
		return errQuiet
	}
	return nil
}
