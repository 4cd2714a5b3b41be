package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/ingest"
	"github.com/reeltree/reeltree/library"
	"github.com/reeltree/reeltree/model"
	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/server"
	"github.com/reeltree/reeltree/tree"
)

// app is the whole service in one process: every room, wired.
type app struct {
	settings   *Settings
	log        *slog.Logger
	store      *library.Store
	engine     *retrieve.Engine
	embedder   embedder
	media      ingest.Media
	worker     *ingest.Worker
	fetcher    *ingest.Fetcher
	fetches    fetches
	makings    *makings
	server     *server.Server
	localToken string

	stop    context.CancelFunc
	running sync.WaitGroup
}

// newApp opens the data folder and wires the rooms; start lets it work.
func newApp(ctx context.Context, s *Settings, log *slog.Logger) (*app, error) {
	a := &app{settings: s, log: log}
	for _, step := range []func(context.Context) error{a.openStore, a.openModels, a.openWorker, a.openServer} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, a.Close())
		}
	}
	return a, nil
}

func (a *app) openStore(ctx context.Context) (err error) {
	a.store, err = library.Open(ctx, library.Config{Dir: a.settings.Data, Parallel: a.settings.Jobs.V, SetAside: a.giveUp, Log: a.log})
	if err == nil {
		a.makings = newMakings(a.store)
	}
	return err
}

// giveUp ends the job of a task that the queue has set aside.
func (a *app) giveUp(ctx context.Context, t tree.Task, reason string) {
	if err := a.worker.GiveUp(ctx, t, reason); err != nil {
		a.log.Error("a job that was set aside cannot be ended", "job", t.Job, "error", err)
	}
}

// openModels makes the embedder and the retrieval engine over it.
func (a *app) openModels(context.Context) (err error) {
	if a.embedder, err = newEmbedder(a.settings, a.log); err != nil {
		return err
	}
	dir := filepath.Join(a.settings.Data, "index")
	vectors, err := vectorIndex(a.settings.Index, a.embedder, graphsDir(a.settings.Data))
	if err != nil {
		return err
	}
	_, fast := a.embedder.(model.Builtin)
	a.engine, err = retrieve.Open(retrieve.Config{
		Dir: dir, Remember: !fast,
		Embed: a.embedder.Embed, EmbedderName: a.embedder.Name(), Dim: a.embedder.Dim(), Trees: a.store.Tree,
		Vectors: vectors, Rounds: a.settings.Rounds.V, Budget: a.settings.Budget.V, Log: a.log,
	})
	return err
}

// vectorIndex is the wished index, a graph in dir; nil means the engine's own
// exact scan.
func vectorIndex(kind string, e embedder, dir string) (retrieve.Index, error) {
	switch kind {
	case "hnsw":
		return retrieve.OpenHNSW(e.Dim(), retrieve.HNSWOptions{Dir: filepath.Join(dir, graphName(e)), Anew: true})
	case "coder-hnsw":
		return retrieve.NewCoderHNSW(e.Dim()), nil
	}
	return nil, nil
}

func (a *app) openWorker(context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	describer, seer, err := newDescriber(a.settings, a.store, a.log)
	if err != nil {
		return err
	}
	transcribe, err := newTranscriber(a.settings, a.store, a.log)
	if err != nil {
		return err
	}
	models := map[string]string{"l1": seer, "l2": seer, "l3": seer}
	if transcribe != nil {
		models["asr"] = a.settings.ASR.Model
	}
	a.media = media(a.settings, self, a.log)
	a.worker = &ingest.Worker{
		Catalog: a.store, Queue: a.store, Results: a.store, Files: files{a.store}, Plans: a.store,
		Index: a.engine.Add, Forget: a.engine.Remove, DropContent: a.store.RemoveContent,
		Report:    a.report,
		Media:     a.media,
		Describer: describer, Models: models, Transcribe: transcribe, Meter: newMeter, Log: a.log,
		Settings: ingest.Settings{
			L1Target: a.settings.L1Target.V, L2Target: a.settings.L2Target.V, L3FPS: a.settings.L3FPS.V, L3Batch: a.settings.L3Batch.V,
			LongSide: a.settings.FrameSide.V, MaxPixels: a.settings.MaxPixels.V, Concurrency: a.settings.Concurrency.V,
			KeyFrames: a.settings.Sampling == "keyframes",
		},
	}
	a.fetcher, err = ingest.NewFetcher(fetchConfig(a.settings, a.log))
	return err
}

func media(s *Settings, self string, log *slog.Logger) ingest.Media {
	return ingest.Media{Command: []string{self, "media-worker"}, Log: log, Memory: s.WorkerMemory.V, Timeout: s.WorkerTime.V}
}

// files gives ingest the store's bytes with its own picture type.
type files struct{ *library.Store }

// SaveFrames implements ingest.Files.
func (f files) SaveFrames(ctx context.Context, tenant, node string, frames []ingest.Picture) ([]tree.FrameRef, error) {
	pictures := make([]library.Picture, len(frames))
	for i, p := range frames {
		pictures[i] = library.Picture(p)
	}
	return f.Store.SaveFrames(ctx, tenant, node, pictures)
}

// start lets queued work run, indexes what earlier runs left (unless that was
// done already) and resumes fetches.
func (a *app) start(ctx context.Context, indexed bool) {
	ctx, a.stop = context.WithCancel(context.WithoutCancel(ctx))
	a.running.Go(func() {
		if !indexed {
			a.reindex(ctx)
		}
		if err := a.worker.Run(ctx); err != nil && ctx.Err() == nil {
			a.log.Error("the ingest has stopped", "error", err)
		}
	})
	a.running.Go(func() { a.renew(ctx) })
	ready := newWarmer(func(src tree.Source) error { return a.engine.Warm(ctx, src.Tenant, src.ID) }, a.log)
	a.running.Go(func() { ready.run(ctx) })
	a.running.Go(func() { a.watchJobs(ctx, ready) })
	a.resumeFetches(ctx)
}

// reindex makes stored trees searchable that are not yet, or no longer: after a
// crash or with a fresh index. Those of another embedder are left to renew.
func (a *app) reindex(ctx context.Context) {
	sources, err := a.store.Sources(ctx, tree.DefaultTenant)
	if err != nil {
		a.log.Error("the library cannot be listed", "error", err)
		return
	}
	added := 0
	for _, src := range sources {
		if ctx.Err() != nil {
			return
		}
		if a.engine.Stale(src.Tenant, src.ID) {
			continue
		}
		if done := src.State == tree.StateDone || src.State == tree.StatePartial; done && len(a.engine.Indexed(src.Tenant, src.ID)) == src.Nodes.L1+src.Nodes.L2 {
			continue
		}
		added++
		t, err := a.store.Tree(ctx, src.Tenant, src.ID)
		if err == nil {
			err = a.engine.AddTree(ctx, t)
		}
		if err != nil && ctx.Err() == nil {
			a.log.Error("a source cannot be searched", "source", src.ID, "error", err)
		}
	}
	a.log.Debug("the index is complete", "sources", len(sources), "added", added)
}

// watchJobs tells the library feed of every change, and has finished trees made
// ready for the first question.
func (a *app) watchJobs(ctx context.Context, ready *warmer) {
	err := a.store.Watch(ctx, tree.DefaultTenant, func(op string, src tree.Source) {
		a.server.SourceChanged(op, src)
		if op != library.OpRemoved && (src.State == tree.StateDone || src.State == tree.StatePartial) {
			ready.add(src)
		}
	})
	if err != nil && ctx.Err() == nil {
		a.log.Error("the library feed has stopped", "error", err)
	}
}

// closeWait is how long answers and sockets get to end.
const closeWait = 8 * time.Second

func (a *app) now() time.Time { return time.Now().UTC() }

// Close stops everything in the reverse order of its start.
func (a *app) Close() error {
	if a.stop != nil {
		a.stop()
	}
	var err error
	if a.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeWait)
		defer cancel()
		err = a.server.Close(ctx)
	}
	a.fetches.wait()
	if a.makings != nil {
		a.makings.close()
	}
	a.running.Wait()
	if a.engine != nil {
		err = errors.Join(err, a.engine.Close())
	}
	if c, ok := a.embedder.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	if a.store != nil {
		err = errors.Join(err, a.store.Close())
	}
	return err
}

// answerer wires generate over retrieval and, where one is configured, a chat model.
func (a *app) answerer() (*generate.Answerer, error) {
	chat, err := newChat(a.settings, a.log)
	if err != nil {
		return nil, err
	}
	local := a.embedder // judges citations between two tokens, so it must be a fast one
	if _, builtin := local.(model.Builtin); !builtin {
		local = model.NewBuiltin()
	}
	answerer := &generate.Answerer{
		Find: a.find, Trees: a.store.Tree, Chat: chat, Turns: a.turns,
		Embed:    local.Embed,
		Pictures: a.store.Frame, Frames: a.settings.AnswerFrames.V, Log: a.log,
	}
	if chat != nil {
		answerer.Critic = generate.NewCritic(chat)
	}
	return answerer, nil
}

// turns are the finished turns of a conversation, oldest first.
func (a *app) turns(ctx context.Context, tenant, conversation string) ([]generate.Turn, error) {
	all, err := a.store.Answers(ctx, tenant)
	if err != nil {
		return nil, err
	}
	var turns []generate.Turn
	for _, answer := range all {
		if answer.Conversation == conversation {
			turns = append(turns, generate.ReadTurn(answer.Question, answer.Events))
		}
	}
	return turns, nil
}

// embedder is the built-in one, MiniLM or one behind an address.
type embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	Name() string
	Dim() int
}

var _ embedder = model.Builtin{}
