package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/reeltree/reeltree/client"
	"github.com/reeltree/reeltree/ingest"
	"github.com/reeltree/reeltree/library"
	"github.com/reeltree/reeltree/server"
	"github.com/reeltree/reeltree/tree"
)

// quote says what an ingest would cost. Content that came only to be looked at
// is dropped again.
func (a *app) quote(ctx context.Context, u server.Upload) (any, error) {
	if err := a.checkWish(ctx, u); err != nil {
		return nil, err
	}
	var got ingest.Fetched
	if u.URL != "" {
		var err error
		if got, u.ID, u.Bytes, err = a.fetchContent(ctx, u.Tenant, u.URL, u.Options.Language, func(int64, int64) {}); err != nil {
			return nil, err
		}
		u.Name = got.Name
	}
	src, err := a.store.Source(ctx, u.Tenant, u.ID)
	if err == nil {
		return a.worker.Quote(ctx, src, u.Options)
	}
	if !errors.Is(err, library.ErrNotFound) {
		return nil, err
	}
	defer a.dropOrphan(context.WithoutCancel(ctx), u.Tenant, u.ID)
	if len(got.Captions) > 0 {
		if err := a.store.SaveSubtitles(ctx, u.Tenant, u.ID, captionsName, captions(got)); err != nil {
			return nil, err
		}
	}
	return a.worker.Quote(ctx, uploaded(u), u.Options)
}

func (a *app) dropOrphan(ctx context.Context, tenant, id string) {
	if err := a.store.DropOrphan(ctx, tenant, id); err != nil {
		a.log.Error("content that is not ingested cannot be removed", "content", id, "error", err)
	}
}

// quoted is one line of ingest --quote --json.
type quoted struct {
	Title string          `json:"title"`
	Quote json.RawMessage `json:"quote,omitempty"`
	Error string          `json:"error"`
}

// quote prints what ingesting a source would cost and gives true where that
// could be said.
func (cmd ingestCmd) quote(ctx context.Context, c *client.Client, s *Settings, p Process, source named, opt client.UploadOptions) (bool, error) {
	q := quoted{Title: source.name}
	err := source.err
	if address, ok := addressOf(source.name); ok {
		q.Quote, err = c.QuoteURL(ctx, address, opt.Options)
	} else if err == nil {
		q.Title = filepath.Base(source.name)
		err = cmd.withFile(source.name, opt, func(f *os.File, opt client.UploadOptions) error {
			q.Quote, err = c.QuoteFile(ctx, q.Title, f, opt)
			return err
		})
	}
	if err != nil {
		q.Error = ownWords(err).Error()
	}
	if s.JSON {
		return err == nil, writeJSON(p.Stdout, q)
	}
	if q.Error != "" {
		say(p.Stderr, "%s: %s\n", q.Title, q.Error)
		return false, nil
	}
	var sum ingest.Quote
	if err := json.Unmarshal(q.Quote, &sum); err != nil {
		return false, fmt.Errorf("the quote of %s cannot be read: %w", q.Title, err)
	}
	say(p.Stdout, "%s: %s; with models: %s (%s, %s, %s of frames, %d of speech), %s, about %d tokens of text\n",
		q.Title, tree.Clock(sum.DurationMS), counted(sum.Calls.L1+sum.Calls.L2+sum.Calls.L3+sum.Calls.ASR, "call", "calls"),
		counted(sum.Calls.L1, "stretch", "stretches"), counted(sum.Calls.L2, "clip", "clips"), counted(sum.Calls.L3, "batch", "batches"),
		sum.Calls.ASR, counted(sum.Images, "picture", "pictures"), sum.Tokens)
	return true, nil
}
