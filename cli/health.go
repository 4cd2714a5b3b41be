package cli

import (
	"context"
	"errors"
	"time"

	"github.com/reeltree/reeltree/client"
)

type healthCmd struct{}

// healthWait is how long a service may take to say that it lives.
const healthWait = 4 * time.Second

// Run asks the service at --server whether it lives; the exit code is the
// answer, for containers and supervisors.
func (healthCmd) Run(ctx context.Context, s *Settings, p Process) error {
	if s.Server == "" {
		return errors.New("name the service to ask with --server")
	}
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	c := client.New(client.Config{URL: s.Server})
	defer c.Close()
	if err := c.Health(ctx); err != nil {
		return err
	}
	say(p.Stdout, "ok\n")
	return nil
}
