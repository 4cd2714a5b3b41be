package eval

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// performance is what bench/run.py measured.
type performance struct {
	Version   string          `json:"version"`
	Dim       int             `json:"dim"`
	Centres   int             `json:"centres"`
	Noise     float64         `json:"noise"`
	Hits      int             `json:"hits"`
	Indexes   []indexSpeed    `json:"indexes"`
	Embedders []embedderSpeed `json:"embedders"`
}

type indexSpeed struct {
	Version   string    `json:"version"` // of the program that was measured
	Engine    string    `json:"engine"`
	Width     int       `json:"width"` // ef of a graph, 0 for others
	Vectors   int       `json:"vectors"`
	Queries   int       `json:"queries"`
	Recall    float64   `json:"recall"`
	BuildCPU  float64   `json:"build_cpu_s"`
	Bytes     int64     `json:"bytes"`
	Mapped    int64     `json:"mapped"`
	SearchCPU float64   `json:"search_cpu_ms"`
	TurnCPU   []float64 `json:"turn_cpu_ms"`
	P50       float64   `json:"p50_ms"` // by the clock
	Beside    *Beside   `json:"beside"`
}

type embedderSpeed struct {
	Engine    string  `json:"engine"`
	Texts     int     `json:"texts"`
	Words     float64 `json:"words"`
	PerSecond float64 `json:"per_cpu_s"`
}

// peerName is the engine that ratios are taken against.
const peerName = "hnswlib"

// WritePerformance writes the page of measured speeds with its charts.
func WritePerformance(page, result string) error {
	p, err := readPerformance(result)
	if err != nil {
		return err
	}
	images := filepath.Join(filepath.Dir(page), "images")
	if err := os.MkdirAll(images, 0o755); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, performanceHead, p.Dim, p.Centres, p.Noise)
	for _, n := range p.sizes() {
		name := fmt.Sprintf("search-%d.svg", n)
		if err := os.WriteFile(filepath.Join(images, name), p.chart(n), 0o644); err != nil {
			return err
		}
		p.table(&b, n)
		p.plain(&b, n)
		p.beside(&b, n)
		fmt.Fprintf(&b, "\n![search %d](images/%s)\n", n, name)
	}
	b.WriteString("\n## Embedders\n\n| embedder | texts | words a text | texts a second of processor time |\n|---|---|---|---|\n")
	for _, e := range p.Embedders {
		fmt.Fprintf(&b, "| %s | %d | %.1f | %.0f |\n", e.Engine, e.Texts, e.Words, e.PerSecond)
	}
	return os.WriteFile(page, []byte(b.String()), 0o644)
}

const performanceHead = `# Measured speed

%d values a vector, unit length, in a mixture of %d Gaussians whose noise has norm %g. ` + "`make bench`" + ` wrote this page from
[what it measured](performance.json); a size that was not measured again keeps its earlier figures. Every engine
runs in a process of its own on one thread (chromem-go starts goroutines of its own) and searches in turns of 100 queries, one query at a
time, in rotation with the others; what is compared is processor time, since the machine is shared. Recall is the share of the true ten nearest
that were found. Memory is what the build added to the resident memory of
the process that no file stands behind (RssAnon of /proc/self/status, of every engine alike), mapped what of files is resident after all searches,
which the system may drop (RssFile and RssShmem). Ratios are taken against hnswlib: above 1 is
better than it. hnswlib and faiss HNSW: M 16, ef 200 at the build. The width (ef) of a graph's searches is the smallest of a list that finds
99.2 %% on 1000 queries that are not measured. p50 is by the clock of a shared machine. The plain build is the one without vector instructions.
`

// sizes are the numbers of vectors that were measured, rising.
func (p *performance) sizes() []int {
	var out []int
	for _, r := range p.Indexes {
		out = append(out, r.Vectors)
	}
	return sortedSet(out)
}

func (p *performance) of(n int) []indexSpeed {
	return slices.DeleteFunc(slices.Clone(p.Indexes), func(r indexSpeed) bool { return r.Vectors != n })
}

func (p *performance) table(b *strings.Builder, n int) {
	rows := p.of(n)
	var peer indexSpeed
	for _, r := range rows {
		if r.Engine == peerName {
			peer = r
		}
	}
	fmt.Fprintf(b, "\n## %d vectors\n\nMeasured at %s.\n\n| engine | ef | recall@%d | search CPU ms | slowest and fastest turn | p50 ms | searches, ratio | build CPU s | build, ratio | memory MB | memory, share | mapped MB |\n", n, rows[0].Version, p.Hits)
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	against := func(a, b float64) string {
		if a <= 0 || b <= 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f", a/b)
	}
	for _, r := range rows {
		width, slow, fast := "-", 0.0, 0.0
		p50 := "-"
		if r.P50 > 0 {
			p50 = fmt.Sprintf("%.3f", r.P50)
		}
		if r.Width > 0 {
			width = strconv.Itoa(r.Width)
		}
		if len(r.TurnCPU) > 0 {
			slow, fast = slices.Max(r.TurnCPU), slices.Min(r.TurnCPU)
		}
		fmt.Fprintf(b, "| %s | %s | %.3f | %.3f | %.3f, %.3f | %s | %s | %.1f | %s | %.0f | %s | %.0f |\n", r.Engine, width, r.Recall, r.SearchCPU, slow, fast, p50,
			against(peer.SearchCPU, r.SearchCPU), r.BuildCPU, against(peer.BuildCPU, r.BuildCPU), float64(r.Bytes)/1e6, against(float64(r.Bytes), float64(peer.Bytes)), float64(r.Mapped)/1e6)
	}
}

// The exact scan in the build with vector instructions, and in the one without.
const exactName, plainName = "reeltree exact", "reeltree exact (plain)"

// plain writes how much slower the exact scan is without vector instructions.
func (p *performance) plain(b *strings.Builder, n int) {
	cost := map[string]float64{}
	for _, r := range p.of(n) {
		cost[r.Engine] = r.SearchCPU
	}
	if fast, slow := cost[exactName], cost[plainName]; fast > 0 && slow > 0 {
		fmt.Fprintf(b, "\nThe exact scan of the plain build takes %.1f times the processor time of the one with vector instructions.\n", slow/fast)
	}
}

// beside writes what readers notice of a writer, where it was measured.
func (p *performance) beside(b *strings.Builder, n int) {
	head := false
	for _, r := range p.of(n) {
		w := r.Beside
		if w == nil {
			continue
		}
		if !head {
			fmt.Fprintf(b, "\n%d readers at once, %d searches alone and as many beside a writer that adds and removes a source over and over, by the clock:\n\n", w.Readers, w.Searches)
			b.WriteString("| engine | alone p50 ms | p99 ms | beside a writer p50 ms | p99 ms | p99, ratio |\n|---|---|---|---|---|---|\n")
			head = true
		}
		fmt.Fprintf(b, "| %s | %.3f | %.3f | %.3f | %.3f | %.2f |\n", r.Engine, w.AloneP50, w.AloneP99, w.BesideP50, w.BesideP99, w.BesideP99/max(1e-9, w.AloneP99))
	}
}

func (p *performance) chart(n int) []byte {
	var bars []Bar
	for _, r := range p.of(n) {
		low, high := r.SearchCPU, r.SearchCPU
		if len(r.TurnCPU) > 1 {
			low, high = slices.Min(r.TurnCPU), slices.Max(r.TurnCPU)
		}
		bars = append(bars, Bar{
			Label: fmt.Sprintf("%s (recall %.3f)", r.Engine, r.Recall), Value: r.SearchCPU, Low: low, High: high,
			Faint: !strings.HasPrefix(r.Engine, "reeltree"),
		})
	}
	return Bars(fmt.Sprintf("%d vectors: processor ms a search, whiskers: fastest and slowest turn", n), bars)
}
