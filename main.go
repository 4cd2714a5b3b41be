// Command reeltree turns long videos, recordings and documents into description
// trees and answers questions about them with times it vouches for.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/reeltree/reeltree/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, cli.Process{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
	stop()
	os.Exit(code)
}
