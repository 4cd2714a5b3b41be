package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// Submit records the wish to ingest a source whose content is stored, and
// queues it. The same source with the same wish is the same job: one that runs
// or is done is given back as it is, one that failed, was paused or cancelled
// goes on. Another wish for the same source cancels the one before.
func (w *Worker) Submit(ctx context.Context, src tree.Source, opt tree.IngestOptions) (tree.Job, error) {
	if src.Tenant == "" {
		src.Tenant = tree.DefaultTenant
	}
	if !tree.ValidID(src.ID) {
		return tree.Job{}, fmt.Errorf("%.80q is not the id of stored content, so it cannot be ingested", src.ID)
	}
	_, subtitles, err := w.Files.Subtitles(ctx, src.Tenant, src.ID)
	if err != nil {
		return tree.Job{}, fmt.Errorf("cannot read the subtitles of %s: %w", src.ID, err)
	}
	id := jobID(src, w.fingerprint(opt), subtitles)
	before := ""
	now, err := w.Catalog.UpdateSource(ctx, src.Tenant, src.ID, func(s *tree.Source) error {
		before = s.Job
		return w.merge(s, src, id)
	})
	if err != nil {
		return tree.Job{}, fmt.Errorf("cannot record the source: %w", err)
	}
	if before != "" && before != id {
		if err := w.Cancel(ctx, src.Tenant, before); err != nil {
			return tree.Job{}, err
		}
	}
	return w.enlist(ctx, now, id, opt, before == id)
}

// merge puts what was handed over into the record of a source.
func (w *Worker) merge(s *tree.Source, src tree.Source, job string) error {
	if !knownState(s.State) {
		return errGone // its deletion goes on; the caller stores it anew afterwards
	}
	s.ID, s.Tenant, s.Job = src.ID, src.Tenant, job
	for _, f := range []struct {
		to   *string
		from string
	}{{&s.Title, src.Title}, {&s.Origin, src.Origin}, {&s.MIME, src.MIME}, {&s.Language, src.Language}} {
		if f.from != "" {
			*f.to = f.from
		}
	}
	if src.Bytes > 0 {
		s.Bytes = src.Bytes
	}
	s.Collections = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(s.Collections), src.Collections...))))
	if s.Created.IsZero() {
		if s.Created = src.Created; s.Created.IsZero() {
			s.Created = w.now()
		}
	}
	if s.State == "" {
		s.State = tree.StateQueued
	}
	return nil
}

// enlist makes or revives the job and queues its planning.
func (w *Worker) enlist(ctx context.Context, src tree.Source, id string, opt tree.IngestOptions, same bool) (tree.Job, error) {
	job, err := w.Catalog.UpdateJob(ctx, src.Tenant, id, func(j *tree.Job) error {
		switch done := j.State == tree.StateDone || j.State == tree.StatePartial; {
		case j.Created.IsZero():
			*j = tree.Job{ID: id, Tenant: src.Tenant, Source: src.ID, State: tree.StateQueued, Created: w.now()}
		case done && !same: // another job has rebuilt the tree since
			j.State, j.Plan, j.Finished = tree.StateQueued, nil, nil
		case j.State.Ended() && !done:
			j.State = tree.StateQueued
		default:
			return nil
		}
		j.Options, j.Error, j.Tries, j.Updated = opt, "", 0, w.now()
		return nil
	})
	if err != nil {
		return tree.Job{}, fmt.Errorf("cannot record the job: %w", err)
	}
	if job.State != tree.StateQueued {
		return job, nil
	}
	if err := w.mirror(ctx, job); err != nil {
		return tree.Job{}, err
	}
	return job, w.Queue.Enqueue(ctx, tree.Task{Tenant: job.Tenant, Job: job.ID, Stretch: tree.PlanTask})
}

// Cancel stops a job for good; a running media child is killed. Cancelling
// what has ended does nothing.
func (w *Worker) Cancel(ctx context.Context, tenant, job string) error {
	return w.halt(ctx, tenant, job, tree.StateCancelled)
}

// Pause stops a job so that Resume goes on with it.
func (w *Worker) Pause(ctx context.Context, tenant, job string) error {
	return w.halt(ctx, tenant, job, tree.StatePaused)
}

// Resume goes on with a job that was paused, cancelled or failed. maxCalls and
// maxTokens replace its caps where they are above 0.
func (w *Worker) Resume(ctx context.Context, tenant, job string, maxCalls, maxTokens int) (tree.Job, error) {
	now, err := w.changeJob(ctx, tree.Job{Tenant: tenant, ID: job}, func(j *tree.Job) {
		if j.State.Ended() && j.State != tree.StateDone && j.State != tree.StatePartial {
			j.State, j.Error, j.Tries = tree.StateQueued, "", 0
		}
		if maxCalls > 0 {
			j.Options.MaxCalls = maxCalls
		}
		if maxTokens > 0 {
			j.Options.MaxTokens = maxTokens
		}
	})
	if err != nil || now.State != tree.StateQueued {
		return now, err
	}
	if err := w.mirror(ctx, now); err != nil {
		return now, err
	}
	return now, w.Queue.Enqueue(ctx, tree.Task{Tenant: tenant, Job: job, Stretch: tree.PlanTask})
}

// halt moves a job that has not ended to state and stops it here; other
// processes see it before their next clip.
func (w *Worker) halt(ctx context.Context, tenant, id string, state tree.State) error {
	stopped := false
	job, err := w.changeJob(ctx, tree.Job{Tenant: tenant, ID: id}, func(j *tree.Job) {
		stopped = !j.State.Ended() || j.State == tree.StatePaused && state == tree.StateCancelled
		if stopped {
			j.State = state
		}
	})
	if errors.Is(err, errGone) {
		return nil
	}
	if err != nil || !stopped {
		return err
	}
	w.drop(job)
	return w.ended(ctx, job)
}

// fingerprint names everything but the source that decides what a tree is.
func (w *Worker) fingerprint(opt tree.IngestOptions) string {
	opt.MaxCalls, opt.MaxTokens, opt.Keep = 0, 0, "" // they do not change the tree
	wish, _ := json.Marshal(opt)                     // plain fields never fail
	parts := []string{w.Settings.fingerprint(), string(wish)}
	models := w.models()
	for _, role := range slices.Sorted(maps.Keys(models)) {
		parts = append(parts, role+"="+models[role])
	}
	return shortHash(strings.Join(parts, "\x00"))
}

// jobID is a hash of the whole wish, so the same wish twice is one job. A new
// subtitle file makes a new job, which describes only what it changed.
func jobID(src tree.Source, fingerprint string, subtitles []byte) string {
	return shortHash(strings.Join([]string{src.Tenant, src.ID, fingerprint, string(subtitles)}, "\x00"))
}

// shortHash is 26 characters of base32, a valid id.
func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:26]
}
