package retrieve

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/model"
	"github.com/reeltree/reeltree/tree"
)

var lessonsDir = flag.String("lessons", "", "write what the navigator learns from into this folder")

// lessonTree is one source as the navigator sees it. Vectors of its roots,
// clips, leaves and regions follow one another in vectors.f32.
type lessonTree struct {
	Series  string `json:"series"`
	Layer   string `json:"layer"`
	Roots   int    `json:"roots"`
	Clips   []int  `json:"clips"`   // root of each
	Leaves  []int  `json:"leaves"`  // clip of each
	Regions []int  `json:"regions"` // clip of each
	At      int    `json:"at"`      // first row of its vectors
	Ask     []int  `json:"ask"`     // row of each question's vector
	Phi     []int  `json:"phi"`     // first row of each question in phi.f32 and gold.f32
	Nodes   []int  `json:"nodes"`   // of a part of a tree: row of the vector of every node; else they follow At
}

// lessons writes lessons of one set.
type lessons struct {
	t            *testing.T
	vectors, phi *bufio.Writer
	gold         *bufio.Writer
	rows, notes  int
	dim          int
	trees        []lessonTree
	close        []*os.File
	dir          string
}

func newLessons(t *testing.T, dir string) *lessons {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	l := &lessons{t: t, dir: dir}
	open := func(name string) *bufio.Writer {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		l.close = append(l.close, f)
		return bufio.NewWriterSize(f, 1<<20)
	}
	l.vectors, l.phi, l.gold = open("vectors.f32"), open("phi.f32"), open("gold.f32")
	return l
}

func (l *lessons) write(w *bufio.Writer, values []float32) {
	if err := binary.Write(w, binary.LittleEndian, values); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lessons) vector(v []float32) int {
	l.dim = len(v)
	l.write(l.vectors, v)
	l.rows++
	return l.rows - 1
}

func (l *lessons) finish() {
	for _, w := range []*bufio.Writer{l.vectors, l.phi, l.gold} {
		if err := w.Flush(); err != nil {
			l.t.Fatal(err)
		}
	}
	for _, f := range l.close {
		if err := f.Close(); err != nil {
			l.t.Fatal(err)
		}
	}
	data, err := json.Marshal(map[string]any{"features": phiFeatures, "dim": l.dim, "embedder": model.NewBuiltin().Name(), "trees": l.trees})
	if err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.dir, "trees.json"), data, 0o644); err != nil {
		l.t.Fatal(err)
	}
}

// lessonQuestion is a question with its gold places.
type lessonQuestion struct {
	text string
	gold []tree.Span
}

// add notes one source with its questions.
func (l *lessons) add(e *Engine, series, source string, questions []lessonQuestion) {
	v, err := e.view(l.t.Context(), "default", source)
	if err != nil {
		l.t.Fatal(err)
	}
	out := lessonTree{Series: series, Layer: [...]string{"seen", "spoken", "shown", "written"}[v.leaves[0].layer], Roots: len(v.roots), At: l.rows}
	regions := lessonRegions(v)
	for _, r := range v.roots {
		l.vector(r.vector)
	}
	for _, c := range v.clips {
		l.vector(c.vector)
		out.Clips = append(out.Clips, c.root)
	}
	for _, x := range v.leaves {
		l.vector(x.vector)
		out.Leaves = append(out.Leaves, x.clip)
	}
	for _, r := range regions {
		l.vector(v.unitVector(r.lo, r.hi))
		out.Regions = append(out.Regions, r.clip)
	}
	for _, asked := range questions {
		q := &question{text: asked.text, terms: readQuestion(asked.text), trees: []*view{v}}
		vectors, err := e.cfg.Embed(l.t.Context(), []string{asked.text})
		if err != nil {
			l.t.Fatal(err)
		}
		q.vector = vectors[0]
		q.weigh()
		out.Ask, out.Phi = append(out.Ask, l.vector(q.vector)), append(out.Phi, l.notes)
		l.question(q.score(v), regions, asked.gold)
	}
	l.trees = append(l.trees, out)
}

// question notes features and gold of every node for one question.
func (l *lessons) question(s *scored, regions []region, gold []tree.Span) {
	note := l.noting(s, gold)
	for _, r := range s.roots {
		note(s.clips[r.clipLo].lo, s.clips[r.clipHi-1].hi, 1, 0, dot(s.q.vector, r.vector))
	}
	for _, c := range s.clips {
		note(c.lo, c.hi, 1, 1, dot(s.q.vector, c.vector))
	}
	for _, x := range s.leaves {
		note(x.lo, x.hi, 1, 2, dot(s.q.vector, x.vector))
	}
	for _, r := range regions {
		note(r.lo, r.hi, r.run, 2, dot(s.q.vector, s.unitVector(r.lo, r.hi)))
	}
}

// noting notes features and gold of one node for one question.
func (l *lessons) noting(s *scored, gold []tree.Span) func(lo, hi, run, level int, cosine float64) {
	f := newField(s)
	var p phi
	return func(lo, hi, run, level int, cosine float64) {
		f.of(&p, lo, hi, run, level, cosine)
		l.write(l.phi, p[:])
		l.write(l.gold, goldOf(s.view, lo, hi, gold))
		l.notes++
	}
}

// goldOf are the seconds of units [lo, hi), those of them that are gold, and
// all gold seconds.
func goldOf(v *view, lo, hi int, gold []tree.Span) []float32 {
	span := v.units[lo].span
	for _, u := range v.units[lo:hi] {
		span = joinSpans(span, u.span)
	}
	var held, all int64
	for _, g := range gold {
		held += span.Overlap(g)
		all += g.Duration()
	}
	return []float32{float32(span.Duration()) / 1000, float32(held) / 1000, float32(all) / 1000, float32(v.tokens(lo, hi))}
}

// lessonRegions are all regions a question may be shown of a tree.
func lessonRegions(v *view) (out []region) {
	f := &finder{most: maxRegion}
	s := &scored{view: v}
	for c := range v.clips {
		f.keepWhole(s, v.clips[c].groups, func(g *group) { out = append(out, region{g.clip, g.lo, g.hi, 1}) })
	}
	seen := map[[2]int]bool{}
	for l := range v.leaves {
		v.runs(l, func(r region) {
			if at := [2]int{r.lo, r.hi}; !seen[at] {
				seen[at] = true
				out = append(out, r)
			}
		})
	}
	return out
}

// TestWriteLessons writes what the navigator learns from: the candidates of
// every level as the product lays them out, with their features and gold.
func TestWriteLessons(t *testing.T) {
	if *lessonsDir == "" {
		t.Skip("run with -lessons FOLDER to write what the navigator learns from")
	}
	for _, set := range []struct {
		name  string
		write func(*lessons)
	}{
		{"moments-train", func(l *lessons) { l.moments("moments-train") }},
		{"moments-train-joined", func(l *lessons) { l.long("moments-train") }},
		{"meetings-train", func(l *lessons) { l.meetings("meetings-train") }},
	} {
		l := newLessons(t, filepath.Join(*lessonsDir, set.name))
		set.write(l)
		l.finish()
		t.Logf("%s: %d trees, %d vectors, %d notes", set.name, len(l.trees), l.rows, l.notes)
	}
}

// bothWays are the videos of a set, then the same with both annotators changed
// about: both describe the same video, so each may ask of the other.
func bothWays(t *testing.T, name string) []video {
	t.Helper()
	vs := testkit.ReadJSONLines[video](t, testkit.Shared(t, "bench", name+".jsonl.gz"))
	for _, v := range slices.Clip(vs) {
		v.Nodes, v.Queries = v.Queries, v.Nodes
		vs = append(vs, v)
	}
	return vs
}

func (l *lessons) moments(name string) {
	vs := bothWays(l.t, name)
	n := len(vs) / 2
	trees := map[string]*tree.Tree{}
	for i, v := range vs {
		trees[fitID(i)] = videoTree(v, fitID(i))
	}
	e := opened(l.t, trees)
	for i, v := range vs {
		var qs []lessonQuestion
		for _, q := range v.Queries {
			qs = append(qs, lessonQuestion{q.Text, []tree.Span{tree.MS(int64(q.Start*1000), int64(q.End*1000))}})
		}
		l.add(e, fmt.Sprint("part", i%n%7), fitID(i), qs)
	}
}

func (l *lessons) meetings(name string) {
	ms := testkit.ReadJSONLines[meeting](l.t, testkit.Shared(l.t, "bench", name+".jsonl.gz"))
	trees := map[string]*tree.Tree{}
	for i, m := range ms {
		trees[fitID(i)] = meetingTree(m, fitID(i))
	}
	e := opened(l.t, trees)
	for i, m := range ms {
		series, _, _ := strings.Cut(m.ID, "-")
		var qs []lessonQuestion
		for _, q := range m.Queries {
			var gold []tree.Span
			for _, g := range q.Turns {
				for k := g[0]; k <= min(g[1], len(m.Turns)-1); k++ {
					gold = append(gold, tree.MS(int64(m.Turns[k].Start*1000), int64(m.Turns[k].End*1000)))
				}
			}
			if len(gold) > 0 {
				qs = append(qs, lessonQuestion{q.Query, gold})
			}
		}
		l.add(e, series, fitID(i), qs)
	}
}
