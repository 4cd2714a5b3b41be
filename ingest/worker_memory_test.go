package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/reeltree/reeltree/tree"
)

// memory is every seam of the worker in memory. Records go through JSON, as a
// store would have it, so nothing is shared by pointer.
type memory struct {
	mu      sync.Mutex
	failing sync.Mutex // fail is called one at a time
	dir     string
	sources map[string][]byte
	jobs    map[string][]byte
	clips   map[string][]byte
	trees   map[string][]byte
	plans   map[string][]byte
	frames  map[string][]byte
	subs    map[string][]byte
	subName string
	queue   []tree.Task
	indexed map[string]bool
	reports []tree.Progress
	states  []tree.State
	log     []string // order of what was stored
	onClip  func(node string)
	fail    func(op string) error // nil: nothing fails
}

var errAbsent = errors.New("not there")

func newMemory(t *testing.T) *memory {
	t.Helper()
	return &memory{
		dir: t.TempDir(), sources: map[string][]byte{}, jobs: map[string][]byte{}, clips: map[string][]byte{},
		trees: map[string][]byte{}, plans: map[string][]byte{}, frames: map[string][]byte{}, subs: map[string][]byte{}, indexed: map[string]bool{},
	}
}

func (m *memory) broken(op string) error {
	if m.fail == nil {
		return nil
	}
	m.failing.Lock()
	defer m.failing.Unlock()
	return m.fail(op)
}

func getJSON[T any](m *memory, from map[string][]byte, key string) (v T, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := from[key]
	if !ok {
		return v, fmt.Errorf("%s: %w", key, errAbsent)
	}
	return v, json.Unmarshal(data, &v)
}

func changeJSON[T any](m *memory, in map[string][]byte, key string, change func(*T) error) (v T, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if data, ok := in[key]; ok {
		if err := json.Unmarshal(data, &v); err != nil {
			return v, err
		}
	}
	if err := change(&v); err != nil {
		return v, err
	}
	in[key], err = json.Marshal(v)
	return v, err
}

func (m *memory) Source(_ context.Context, _, id string) (tree.Source, error) {
	if err := m.broken("source"); err != nil {
		return tree.Source{}, err
	}
	return getJSON[tree.Source](m, m.sources, id)
}

func (m *memory) UpdateSource(_ context.Context, _, id string, change func(*tree.Source) error) (tree.Source, error) {
	if err := m.broken("update source"); err != nil {
		return tree.Source{}, err
	}
	return changeJSON(m, m.sources, id, change)
}

func (m *memory) Job(_ context.Context, _, id string) (tree.Job, error) {
	if err := m.broken("job"); err != nil {
		return tree.Job{}, err
	}
	return getJSON[tree.Job](m, m.jobs, id)
}

func (m *memory) UpdateJob(_ context.Context, _, id string, change func(*tree.Job) error) (tree.Job, error) {
	if err := m.broken("update job"); err != nil {
		return tree.Job{}, err
	}
	return changeJSON(m, m.jobs, id, change)
}

func (m *memory) Enqueue(_ context.Context, tasks ...tree.Task) error {
	if err := m.broken("enqueue"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range tasks {
		if !slices.Contains(m.queue, t) {
			m.queue = append(m.queue, t)
		}
	}
	return nil
}

// Work runs what is queued until nothing is left; a failed task stays first.
func (m *memory) Work(ctx context.Context, do func(context.Context, tree.Task) error) error {
	for range 1000 {
		m.mu.Lock()
		if len(m.queue) == 0 {
			m.mu.Unlock()
			return nil
		}
		t := m.queue[0]
		m.mu.Unlock()
		err := do(ctx, t)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			m.mu.Lock()
			m.queue = m.queue[1:]
			m.mu.Unlock()
		}
	}
	return errors.New("the queue never gets empty")
}

func (m *memory) Clip(_ context.Context, _, node string) (*tree.Node, error) {
	if err := m.broken("read clip"); err != nil {
		return nil, err
	}
	n, err := getJSON[tree.Node](m, m.clips, node)
	if errors.Is(err, errAbsent) {
		return nil, nil
	}
	return &n, err
}

func (m *memory) SaveClip(_ context.Context, _ string, n *tree.Node) error {
	if err := m.broken("clip"); err != nil {
		return err
	}
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.clips[n.ID] = data
	m.log = append(m.log, "clip "+n.ID[27:])
	m.mu.Unlock()
	if m.onClip != nil {
		m.onClip(n.ID[27:])
	}
	return nil
}

func (m *memory) SaveTree(_ context.Context, _ string, t *tree.Tree) error {
	if err := m.broken("tree"); err != nil {
		return err
	}
	data, err := json.MarshalIndent(t, "", " ")
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trees[t.Source.ID] = data
	return err
}

func (m *memory) ForgetClips(_ context.Context, _, _ string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.clips)
	clear(m.trees)
	m.log = append(m.log, "forget clips")
	return nil
}

func (m *memory) SavePlan(_ context.Context, _, job string, data []byte) error {
	if err := m.broken("plan"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.plans[job] = data
	return nil
}

func (m *memory) Plan(_ context.Context, _, job string) ([]byte, error) {
	if err := m.broken("read plan"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.plans[job] == nil {
		return nil, errAbsent
	}
	return m.plans[job], nil
}

func (m *memory) OpenContent(_ context.Context, _, source string) (*os.File, error) {
	if err := m.broken("content"); err != nil {
		return nil, err
	}
	return os.Open(filepath.Join(m.dir, source))
}

func (m *memory) Subtitles(_ context.Context, _, source string) (string, []byte, error) {
	if err := m.broken("subtitles"); err != nil {
		return "", nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.subName, m.subs[source], nil
}

func (m *memory) SaveFrames(_ context.Context, _, node string, frames []Picture) ([]tree.FrameRef, error) {
	if err := m.broken("frames"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = append(m.log, "frames "+node[27:])
	var pack []byte
	refs := make([]tree.FrameRef, len(frames))
	for i, f := range frames {
		refs[i] = tree.FrameRef{ID: tree.FrameID(f.JPEG), Blob: node, Offset: int64(len(pack)), Length: int64(len(f.JPEG)), TimeMS: f.TimeMS, Width: f.Width, Height: f.Height}
		pack = append(pack, f.JPEG...)
	}
	m.frames[node] = pack
	return refs, nil
}

func (m *memory) index(_ context.Context, _ tree.Source, nodes []*tree.Node) error {
	if err := m.broken("index"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range nodes {
		m.indexed[n.ID] = true
		m.log = append(m.log, "index "+n.ID[27:])
	}
	return nil
}

func (m *memory) forget(context.Context, string, string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.indexed)
	return nil
}

func (m *memory) report(job tree.Job, p tree.Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reports = append(m.reports, p)
	m.states = append(m.states, job.State)
}

// put stores content and gives its source.
func (m *memory) put(t *testing.T, name string, data []byte) tree.Source {
	t.Helper()
	h := tree.NewIDHash(tree.DefaultTenant)
	_, _ = h.Write(data)
	if err := os.WriteFile(filepath.Join(m.dir, h.ID()), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return tree.Source{ID: h.ID(), Tenant: tree.DefaultTenant, Origin: name, Bytes: int64(len(data))}
}

func (m *memory) source(t *testing.T, id string) tree.Source {
	t.Helper()
	s, err := m.Source(t.Context(), "", id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (m *memory) job(t *testing.T, id string) tree.Job {
	t.Helper()
	j, err := m.Job(t.Context(), "", id)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func (m *memory) tree(t *testing.T, id string) *tree.Tree {
	t.Helper()
	got, err := tree.Read(bytes.NewReader(m.trees[id]))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// worker is a worker over m; media may be nil.
func (m *memory) worker(media Prober) *Worker {
	at := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	return &Worker{
		Catalog: m, Queue: m, Results: m, Files: m, Plans: m, Index: m.index, Report: m.report, Media: media, Forget: m.forget,
		Now: func() time.Time { at = at.Add(time.Second); return at },
	}
}

// ingest submits a source and works until the queue is empty.
func (m *memory) ingest(t *testing.T, w *Worker, src tree.Source, opt tree.IngestOptions) (tree.Source, tree.Job) {
	t.Helper()
	job, err := w.Submit(t.Context(), src, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m.source(t, src.ID), m.job(t, job.ID)
}

// film is a made medium: what a media worker would say about it.
type film struct {
	facts  MediaFacts
	shots  []MediaShot
	hash   func(ms int64) uint64 // of the picture on screen
	probes int
	err    error // of Sample
	block  func(ctx context.Context) error
	said   []span // where there is sound loud enough for speech; silence between
}

// span is [from, to) in milliseconds.
type span struct{ from, to int64 }

func (f *film) Probe(context.Context, *os.File, MediaRequest) (MediaFacts, error) {
	f.probes++
	return f.facts, nil
}

func (f *film) Sample(ctx context.Context, _ *os.File, req MediaRequest, sink SampleSink) error {
	if f.block != nil {
		if err := f.block(ctx); err != nil {
			return err
		}
	}
	if f.err != nil {
		return f.err
	}
	to := req.ToMS
	if to == 0 {
		to = max(1, f.facts.DurationMS)
	}
	for at := req.FromMS; at < to; at += int64(1000 / req.FPS) {
		h := f.hash(at)
		if err := sink.Frame(MediaFrame{TimeMS: at, Width: 32, Height: 18, Hash: h, JPEG: fmt.Appendf(nil, "jpeg %x at %d", h, at)}); err != nil {
			return err
		}
	}
	for _, s := range f.shots {
		if s.TimeMS > req.FromMS && s.TimeMS < to {
			if err := sink.Shot(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sound gives a block of 100 ms after another, loud where something is said.
func (f *film) Sound(_ context.Context, _ *os.File, req MediaRequest, sink func(SoundBlock) error) error {
	to := req.ToMS
	if to == 0 {
		to = f.facts.DurationMS
	}
	for at := req.FromMS; at < to; at += 100 {
		b := SoundBlock{First: at * soundRate / 1000, Samples: make([]int16, soundRate/10)}
		if slices.ContainsFunc(f.said, func(s span) bool { return s.from <= at && at < s.to }) {
			for i := range b.Samples {
				b.Samples[i] = int16((2000 + at/100) * int64(1-2*(i%2))) // no two blocks are the same
			}
		}
		if err := sink(b); err != nil {
			return err
		}
	}
	return nil
}

// Document is not for films.
func (*film) Document(context.Context, *os.File, string, func(Block) error) (DocumentFacts, error) {
	return DocumentFacts{}, &MediaError{Reason: "A film is no document."}
}

// talk is a film of so many seconds: a new picture every 20 s, a sentence every 5.
func talk(seconds int64) *film {
	f := &film{hash: func(ms int64) uint64 { return uint64(ms/20_000) * 0x9e3779b97f4a7c15 }}
	f.facts = MediaFacts{
		Kind: tree.KindVideo, Format: "made", DurationMS: seconds * 1000, Title: "A made talk",
		Video: &VideoFacts{Codec: "h264", Width: 320, Height: 180, FPS: 25, Frames: seconds * 25},
	}
	var cues []tree.Cue
	for at := int64(0); at+4500 <= seconds*1000; at += 5000 {
		cues = append(cues, cue(at, at+4500, "", fmt.Sprintf("Sentence %d of the talk is about lamp %d.", at/5000, at/60_000)))
	}
	f.facts.Subtitles = []SubtitleFacts{{Codec: "subrip", Language: "en", Default: true, Cues: cues}}
	return f
}
