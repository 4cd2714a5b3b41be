package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/ingest"
	"github.com/reeltree/reeltree/library"
	"github.com/reeltree/reeltree/server"
	"github.com/reeltree/reeltree/tree"
)

// fetches are the downloads that run; each is owned by the app, which waits.
type fetches struct {
	mu      sync.Mutex
	stops   map[string]context.CancelFunc
	running sync.WaitGroup
	goOn    map[string][]tree.Job // by ingest: the fetches whose streams it goes on in
}

// follow lets the stream of a fetch go on with the ingest of what was fetched.
func (f *fetches) follow(ingest string, fetch tree.Job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.goOn == nil {
		f.goOn = map[string][]tree.Job{}
	}
	fetch.State = tree.StateRunning
	f.goOn[ingest] = append(f.goOn[ingest], fetch)
}

// of are the fetches that go on with an ingest.
func (f *fetches) of(ingest string) []tree.Job {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.goOn[ingest]
}

// take gives them once, when the ingest has ended.
func (f *fetches) take(ingest string) []tree.Job {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.goOn[ingest]
	delete(f.goOn, ingest)
	return list
}

// ingestOf is the ingest a fetch goes on with, else the job itself.
func (f *fetches) ingestOf(job string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for ingest, list := range f.goOn {
		for _, fetch := range list {
			if fetch.ID == job {
				return ingest
			}
		}
	}
	return job
}

func (f *fetches) cancel(job string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if stop := f.stops[job]; stop != nil {
		stop()
	}
}

// wait stops all downloads and waits for them; their jobs go on at the next start.
func (f *fetches) wait() {
	f.mu.Lock()
	for _, stop := range f.stops {
		stop()
	}
	f.mu.Unlock()
	f.running.Wait()
}

// begin counts a download in, unless the same one runs already.
func (f *fetches) begin(job string, stop context.CancelFunc) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stops == nil {
		f.stops = map[string]context.CancelFunc{}
	}
	if f.stops[job] != nil {
		return false
	}
	f.stops[job] = stop
	f.running.Add(1)
	return true
}

func (f *fetches) end(job string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.stops, job)
	f.running.Done()
}

// fetch records the wish to ingest an address and starts its download.
func (a *app) fetch(ctx context.Context, u server.Upload) (tree.Job, error) {
	hash := tree.NewIDHash(u.Tenant)
	_, _ = fmt.Fprintf(hash, "fetch\x00%s\x00%+v", u.URL, u.Options) // a hash never fails to write
	job, err := a.store.UpdateJob(context.WithoutCancel(ctx), u.Tenant, hash.ID(), func(j *tree.Job) error {
		if j.Created.IsZero() {
			j.Created = a.now()
		}
		j.URL, j.Collection, j.Options, j.State, j.Error, j.Updated = u.URL, u.Collection, u.Options, tree.StateQueued, "", a.now()
		return nil
	})
	if err != nil {
		return job, err
	}
	a.download(job)
	return job, nil
}

// resumeFetches starts the downloads again that a stop interrupted.
func (a *app) resumeFetches(ctx context.Context) {
	jobs, err := a.store.Jobs(ctx, tree.DefaultTenant)
	if err != nil {
		a.log.Error("the jobs cannot be listed", "error", err)
		return
	}
	for _, j := range jobs {
		switch {
		case j.URL == "":
		case j.Source != "":
			a.resumeFollowing(ctx, j)
		case !j.State.Ended():
			a.download(j)
		}
	}
}

// resumeFollowing takes up the ingest of what was fetched, unless it has ended.
func (a *app) resumeFollowing(ctx context.Context, fetch tree.Job) {
	src, err := a.store.Source(ctx, fetch.Tenant, fetch.Source)
	if err != nil {
		return // deleted since
	}
	if next, err := a.store.Job(ctx, src.Tenant, src.Job); err == nil && !next.State.Ended() {
		a.fetches.follow(next.ID, fetch)
	}
}

// report tells the listeners of a job, and those of the fetch it came from.
func (a *app) report(job tree.Job, p tree.Progress) {
	a.server.Report(job, p)
	if job.State.Ended() {
		a.endFetches(job)
		return
	}
	for _, fetch := range a.fetches.of(job.ID) {
		a.server.Report(fetch, p)
	}
}

// endFetches ends the streams of fetches whose ingest has come to rest.
func (a *app) endFetches(ingest tree.Job) {
	for _, fetch := range a.fetches.take(ingest.ID) {
		fetch.Source, fetch.State, fetch.Error = ingest.Source, ingest.State, ingest.Error
		a.server.JobEnded(fetch)
	}
}

// download fetches a job's address in a goroutine of the app.
func (a *app) download(job tree.Job) {
	ctx, stop := context.WithCancel(context.Background())
	if !a.fetches.begin(job.ID, stop) {
		stop()
		return
	}
	go func() {
		defer a.fetches.end(job.ID)
		defer stop()
		a.settleFetch(ctx, job, a.fetchInto(ctx, job))
	}()
}

// fetchInto downloads into the store, then hands the content to the ingest. Its
// progress goes on in the stream of the fetch.
func (a *app) fetchInto(ctx context.Context, job tree.Job) error {
	got, id, n, err := a.fetchContent(ctx, job.Tenant, job.URL, job.Options.Language, func(done, total int64) {
		a.server.Report(job, tree.Progress{Stage: "fetch", Done: done, Total: total})
	})
	if err != nil {
		return err
	}
	return a.enlist(ctx, job, got, id, n)
}

// fetchContent downloads what is at an address into the store; id and n are
// those of the content.
func (a *app) fetchContent(ctx context.Context, tenant, url, language string, progress func(done, total int64)) (got ingest.Fetched, id string, n int64, err error) {
	pr, pw := io.Pipe()
	fetched := make(chan error, 1)
	go func() {
		var err error
		got, err = a.fetcher.Fetch(ctx, url, ingest.FetchOptions{Language: language}, pw, progress)
		pw.CloseWithError(err)
		fetched <- err
	}()
	id, n, err = a.store.PutContent(ctx, tenant, pr, a.settings.UploadLimit.V)
	_ = pr.CloseWithError(err) // ends the download when storing failed
	if fetchErr := <-fetched; fetchErr != nil {
		err = fetchErr
	}
	return got, id, n, err
}

func (a *app) enlist(ctx context.Context, job tree.Job, got ingest.Fetched, id string, n int64) error {
	if len(got.Captions) > 0 {
		if err := a.store.SaveSubtitles(ctx, job.Tenant, id, captionsName, captions(got)); err != nil {
			return err
		}
	}
	src := uploaded(server.Upload{Tenant: job.Tenant, ID: id, Bytes: n, Name: got.Name, Collection: job.Collection})
	src.Origin, src.Language = job.URL, got.Language
	if got.Title != "" {
		src.Title = got.Title
	}
	if mediaType, _, _ := strings.Cut(got.MIME, ";"); mediaType != "" {
		src.MIME = mediaType
	}
	next, err := a.worker.Submit(ctx, src, job.Options)
	if err != nil {
		return err
	}
	if _, err := a.store.UpdateJob(ctx, job.Tenant, job.ID, func(j *tree.Job) error {
		j.Source, j.State, j.Warnings, j.Updated = id, tree.StateDone, got.Warnings, a.now()
		return nil
	}); err != nil {
		return err
	}
	a.fetches.follow(next.ID, job)
	// It may have been done before, or have ended since.
	if next, err = a.store.Job(ctx, job.Tenant, next.ID); err == nil && next.State.Ended() {
		a.endFetches(next)
	}
	return err
}

const captionsName = "captions.vtt"

// captions are fetched cues as the WebVTT file they could have come in.
func captions(got ingest.Fetched) []byte {
	t := &tree.Tree{Roots: []*tree.Node{{Level: tree.L3, Evidence: tree.Evidence{Cues: got.Captions}}}}
	_, data, _, _ := generate.Export(t, "vtt") // writing to memory never fails
	return data
}

// settleFetch records how a download ended. A stop of the service leaves the
// job as it is, so that the next start takes it up again.
func (a *app) settleFetch(ctx context.Context, job tree.Job, err error) {
	if err == nil {
		return
	}
	keep := context.WithoutCancel(ctx)
	now, readErr := a.store.Job(keep, job.Tenant, job.ID)
	if readErr != nil || ctx.Err() != nil && now.State != tree.StateCancelled {
		return
	}
	sentence, known := sourceRefusal(err)
	switch {
	case known:
	case errors.Is(err, library.ErrTooLarge):
		sentence = "The file is larger than this service takes in: raise --upload-limit."
	default:
		a.log.Error("a download failed", "url", job.URL, "error", err)
		sentence = "The download failed inside the service: its log has the cause."
	}
	now, err = a.store.UpdateJob(keep, job.Tenant, job.ID, func(j *tree.Job) error {
		if j.State != tree.StateCancelled {
			j.State, j.Error, j.Updated = tree.StateFailed, sentence, a.now()
		}
		return nil
	})
	if err != nil {
		a.log.Error("a failed download cannot be recorded", "job", job.ID, "error", err)
		return
	}
	a.server.JobEnded(now)
}
