package eval

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/reeltree/reeltree/retrieve"
)

// Speed is one engine that is measured beside others: a program of the bench
// starts each in a process of its own and gives them turns, so that all share
// what else the machine does.
type Speed struct {
	Index   retrieve.Index // nil: none
	Embed   retrieve.Embed // nil: none
	Dim     int
	Vectors string // little-endian float32 rows to be indexed
	Queries string // rows to search for
	Texts   string // one text a line to be embedded

	before memory // the build
}

// Took is what one command cost. CPU is that of the whole process.
type Took struct {
	Op     string  `json:"op"`
	N      int     `json:"n"`
	CPU    float64 `json:"cpu_s"`
	Wall   float64 `json:"wall_s"`
	Bytes  int64   `json:"bytes,omitempty"`  // build: memory the index added that no file stands behind
	Mapped int64   `json:"mapped,omitempty"` // mapped: resident memory that a file stands behind, since the build began
	Hits   [][]int `json:"hits,omitempty"`   // search: rows found, best first
	P50    float64 `json:"p50_ms,omitempty"` // search: of the time of one
	Beside *Beside `json:"beside,omitempty"` // readers
}

const (
	speedTenant = "bench"
	speedPart   = 132 // nodes of one source, as a two-hour recording has
	speedBatch  = 1320
	speedHits   = 10
)

// Serve runs the commands of in, one a line, and answers each with one line of
// JSON: "build", "ef N", the breadth of the searches of a graph, "search FROM TO"
// over the rows of Queries, "mapped", "readers N", "embed FROM TO" over the lines
// of Texts. It ends with in.
func (s *Speed) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lines, enc := bufio.NewScanner(in), json.NewEncoder(out)
	for lines.Scan() {
		took, err := s.measure(ctx, strings.Fields(lines.Text()))
		if err != nil {
			return err
		}
		if err := enc.Encode(took); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (s *Speed) measure(ctx context.Context, words []string) (Took, error) {
	run, err := s.command(words)
	if err != nil {
		return Took{}, err
	}
	wall, cpu := time.Now(), processCPU()
	took, err := run(ctx)
	took.Op, took.CPU, took.Wall = words[0], (processCPU() - cpu).Seconds(), time.Since(wall).Seconds()
	switch took.Op {
	case "build":
		debug.FreeOSMemory()
		took.Bytes = max(0, memoryNow().anonymous-s.before.anonymous)
	case "mapped":
		took.Mapped = max(0, memoryNow().mapped-s.before.mapped)
	}
	return took, err
}

// command is what a line asks for, with everything it needs at hand.
func (s *Speed) command(words []string) (func(context.Context) (Took, error), error) {
	numbers := make([]int, 0, 2)
	for _, w := range words[min(1, len(words)):] {
		if n, err := strconv.Atoi(w); err == nil && n >= 0 {
			numbers = append(numbers, n)
		}
	}
	graph, _ := s.Index.(interface{ SetSearch(breadth int) })
	shape := fmt.Sprint(words[:min(1, len(words))], len(words)-1, len(numbers))
	switch {
	case shape == "[build] 0 0" && s.Index != nil:
		return s.build, nil
	case shape == "[mapped] 0 0":
		return func(context.Context) (Took, error) { return Took{}, nil }, nil
	case shape == "[ef] 1 1" && graph != nil:
		return func(context.Context) (Took, error) { graph.SetSearch(numbers[0]); return Took{}, nil }, nil
	case shape == "[search] 2 2" && s.Index != nil && numbers[0] <= numbers[1]:
		return s.search(numbers[0], numbers[1])
	case shape == "[readers] 1 1" && s.Index != nil && numbers[0] > 0:
		return s.readers(numbers[0])
	case shape == "[embed] 2 2" && s.Embed != nil && numbers[0] <= numbers[1]:
		return s.embed(numbers[0], numbers[1])
	}
	return nil, fmt.Errorf("the command %q cannot be run here: use build, ef N, search FROM TO, mapped, readers N or embed FROM TO", strings.Join(words, " "))
}

// build reads the vectors part by part, so that they are not held beside the index.
func (s *Speed) build(ctx context.Context) (took Took, err error) {
	f, err := os.Open(s.Vectors)
	if err != nil {
		return took, fmt.Errorf("the vectors cannot be read: %w", err)
	}
	defer func() { _ = f.Close() }()
	s.before = memoryNow()
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		var batch []retrieve.Entry
		for len(batch) < speedBatch {
			v, err := readVector(r, s.Dim)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return took, err
			}
			i := took.N + len(batch)
			batch = append(batch, retrieve.Entry{
				Tenant: speedTenant, Source: "s" + strconv.Itoa(i/speedPart), Node: strconv.Itoa(i), Level: 2, Vector: v,
			})
		}
		if len(batch) == 0 {
			return took, nil
		}
		if err := s.Index.Add(ctx, batch); err != nil {
			return took, err
		}
		took.N += len(batch)
	}
}

func readVector(r io.Reader, dim int) ([]float32, error) {
	raw := make([]byte, 4*dim)
	if _, err := io.ReadFull(r, raw); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("the file ends inside a vector of %d values: check --dim", dim)
		}
		return nil, err
	}
	v := make([]float32, dim)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return v, nil
}

func (s *Speed) search(from, to int) (func(context.Context) (Took, error), error) {
	f, err := os.Open(s.Queries)
	if err != nil {
		return nil, fmt.Errorf("the queries cannot be read: %w", err)
	}
	defer func() { _ = f.Close() }()
	r := bufio.NewReader(io.NewSectionReader(f, int64(from)*int64(4*s.Dim), int64(to-from)*int64(4*s.Dim)))
	var queries [][]float32
	for range to - from {
		v, err := readVector(r, s.Dim)
		if err != nil {
			return nil, fmt.Errorf("query %d: %w", from+len(queries), err)
		}
		queries = append(queries, v)
	}
	return func(ctx context.Context) (Took, error) {
		took := Took{N: len(queries)}
		var times []time.Duration
		for _, q := range queries {
			began := time.Now()
			hits, err := s.Index.Search(ctx, retrieve.Probe{Vector: q}, speedHits, retrieve.Scope{Tenant: speedTenant})
			if err != nil {
				return took, err
			}
			times = append(times, time.Since(began))
			rows := make([]int, len(hits))
			for i, h := range hits {
				if rows[i], err = strconv.Atoi(h.Node); err != nil {
					return took, err
				}
			}
			took.Hits = append(took.Hits, rows)
		}
		if len(times) > 0 {
			took.P50, _ = middleAndSlow(times)
		}
		return took, nil
	}, nil
}

func (s *Speed) embed(from, to int) (func(context.Context) (Took, error), error) {
	data, err := os.ReadFile(s.Texts)
	if err != nil {
		return nil, fmt.Errorf("the texts cannot be read: %w", err)
	}
	texts := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	if to > len(texts) {
		return nil, fmt.Errorf("there are %d texts and %d are asked for", len(texts), to)
	}
	return func(ctx context.Context) (Took, error) {
		_, err := s.Embed(ctx, texts[from:to])
		return Took{N: to - from}, err
	}, nil
}

// memory is what of a process is resident, in bytes; 0 where the system does
// not tell.
type memory struct {
	anonymous int64 // no file stands behind it
	mapped    int64 // of files
}

func memoryNow() (m memory) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return m
	}
	for line := range strings.Lines(string(status)) {
		name, rest, _ := strings.Cut(line, ":")
		var kb int64
		if n, err := fmt.Sscan(rest, &kb); n == 0 || err != nil {
			continue
		}
		switch name {
		case "RssAnon":
			m.anonymous = kb << 10
		case "RssFile", "RssShmem":
			m.mapped += kb << 10
		}
	}
	return m
}
