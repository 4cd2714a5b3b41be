package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/ingest"
	"github.com/reeltree/reeltree/library"
	"github.com/reeltree/reeltree/server"
	"github.com/reeltree/reeltree/tree"
	"github.com/reeltree/reeltree/web"
)

// openServer wires the outside of the service.
func (a *app) openServer(context.Context) error {
	answerer, err := a.answerer()
	if err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(a.settings.Listen.V)
	var local [16]byte
	_, _ = rand.Read(local[:]) // never fails, see crypto/rand
	a.localToken = hex.EncodeToString(local[:])
	a.server = server.New(server.Config{
		Answer: answerer.Answer, Search: a.find, Catalog: a.store, Bytes: a.store, Records: records{a.store},
		Submit: a.submit, Act: a.act, Delete: a.delete, Import: a.importTree, Quote: a.quote, Export: export, Cut: a.cut, FrameAt: newFrames(a).at,
		Players:  &players{a, a.makings},
		NotFound: func(err error) bool { return errors.Is(err, library.ErrNotFound) },
		TooLarge: func(err error) bool { return errors.Is(err, library.ErrTooLarge) },
		Refusal:  sourceRefusal,
		Page:     web.Page(), Token: string(a.settings.Token), LocalToken: a.localToken, Loopback: server.IsLoopback(host), Origins: a.settings.Origins,
		UploadLimit: a.settings.UploadLimit.V, AnswerTTL: a.settings.AnswerTTL.V, MaxAnswers: a.settings.Answers.V,
		Version: Version, Log: a.log,
	})
	return nil
}

// records gives server the store's answers with its own type.
type records struct{ store *library.Store }

// SaveAnswer implements server.Records.
func (r records) SaveAnswer(ctx context.Context, tenant string, a server.Answer) error {
	return r.store.SaveAnswer(ctx, tenant, library.Answer(a))
}

// Answer implements server.Records.
func (r records) Answer(ctx context.Context, tenant, stream string) (server.Answer, error) {
	a, err := r.store.Answer(ctx, tenant, stream)
	return server.Answer(a), err
}

// Answers implements server.Records.
func (r records) Answers(ctx context.Context, tenant string) ([]server.Answer, error) {
	all, err := r.store.Answers(ctx, tenant)
	out := make([]server.Answer, len(all))
	for i, a := range all {
		out[i] = server.Answer(a)
	}
	return out, err
}

// submit starts the ingest of stored content, or the fetch of an address.
func (a *app) submit(ctx context.Context, u server.Upload) (tree.Job, error) {
	if err := a.checkWish(ctx, u); err != nil {
		return tree.Job{}, err
	}
	if u.URL != "" {
		return a.fetch(ctx, u)
	}
	// The wish outlives the request that brought it.
	return a.worker.Submit(context.WithoutCancel(ctx), uploaded(u), u.Options)
}

// checkWish refuses options that cannot be; what was handed over with them is
// not kept.
func (a *app) checkWish(ctx context.Context, u server.Upload) error {
	err := ingest.CheckOptions(u.Options)
	if err != nil && u.ID != "" {
		a.dropOrphan(context.WithoutCancel(ctx), u.Tenant, u.ID)
	}
	return err
}

// uploaded is the record of what was handed over, before anything is known of it.
func uploaded(u server.Upload) tree.Source {
	src := tree.Source{ID: u.ID, Tenant: u.Tenant, Title: u.Name, Origin: u.Name, Bytes: u.Bytes}
	if u.Collection != "" {
		src.Collections = []string{u.Collection}
	}
	return src
}

func (a *app) act(ctx context.Context, tenant, job, action string, maxCalls, maxTokens int) error {
	ctx = context.WithoutCancel(ctx)
	switch action {
	case "cancel":
		a.fetches.cancel(job)
		return a.worker.Cancel(ctx, tenant, a.fetches.ingestOf(job))
	case "pause":
		return a.worker.Pause(ctx, tenant, a.fetches.ingestOf(job))
	default:
		_, err := a.worker.Resume(ctx, tenant, a.fetches.ingestOf(job), maxCalls, maxTokens)
		return err
	}
}

// delete ends the jobs of a source, then makes it unfindable, then removes it.
func (a *app) delete(ctx context.Context, tenant, source string) error {
	ctx = context.WithoutCancel(ctx)
	src, err := a.store.Source(ctx, tenant, source)
	if err != nil {
		return err
	}
	if src.Job != "" {
		if err := a.worker.Cancel(ctx, tenant, src.Job); err != nil && !errors.Is(err, library.ErrNotFound) {
			return err
		}
	}
	a.makings.forget(tenant, source)
	if err := a.engine.Remove(ctx, tenant, source); err != nil {
		return err
	}
	return a.store.DeleteSource(ctx, tenant, source)
}

// importTree stores a tree file, ours or the original format, as a source
// without content.
func (a *app) importTree(ctx context.Context, tenant string, r io.Reader) (tree.Source, error) {
	data, err := io.ReadAll(io.LimitReader(r, tree.MaxTreeBytes+1))
	if err != nil {
		return tree.Source{}, &ingest.SourceError{Reason: "the tree file ended before it was complete: send it again"}
	}
	t, err := readTree(data)
	if err != nil {
		return tree.Source{}, &ingest.SourceError{Reason: fmt.Sprintf("the file is not a description tree: %v", err)}
	}
	if !t.HasText() {
		return tree.Source{}, &ingest.SourceError{Reason: "there is not a word in this description tree, so nothing could be found in it: export it again once it is finished"}
	}
	hash := tree.NewIDHash(tenant)
	_, _ = hash.Write(data) // a hash never fails to write
	t.Renumber(hash.ID())
	src := t.Source
	src.ID, src.Tenant, src.State, src.Nodes = hash.ID(), tenant, tree.StateDone, t.Counts()
	if src.Title == "" {
		src.Title = "imported tree"
	}
	t.Source = src
	if err := a.store.SaveTree(ctx, tenant, t); err != nil {
		return tree.Source{}, err
	}
	src, err = a.store.UpdateSource(ctx, tenant, src.ID, func(s *tree.Source) error {
		created := s.Created
		*s = t.Source
		if s.Created = created; created.IsZero() {
			s.Created = a.now()
		}
		return nil
	})
	if err != nil {
		return tree.Source{}, err
	}
	return src, a.engine.AddTree(ctx, t)
}

func export(t *tree.Tree, format string) (string, []byte, error) {
	mimeType, data, known, err := generate.Export(t, format)
	if !known {
		return "", nil, server.ErrFormat
	}
	return mimeType, data, err
}
