// Command chromem measures chromem-go as a peer of make bench. It speaks the
// protocol of reeltree bench: build, search FROM TO, one JSON object a line.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/philippgille/chromem-go"
)

type took struct {
	Op     string  `json:"op"`
	N      int     `json:"n"`
	CPU    float64 `json:"cpu_s"`
	Wall   float64 `json:"wall_s"`
	Bytes  int64   `json:"bytes,omitempty"`
	Mapped int64   `json:"mapped,omitempty"`
	Hits   [][]int `json:"hits,omitempty"`
}

func main() {
	vectors, queries := flag.String("vectors", "", "rows to index"), flag.String("queries", "", "rows to search for")
	dim := flag.Int("dim", 256, "values of a vector")
	flag.Parse()
	if err := serve(*vectors, *queries, *dim); err != nil {
		fmt.Fprintln(os.Stderr, "chromem:", err)
		os.Exit(1)
	}
}

func serve(vectors, queries string, dim int) error {
	asked, err := rows(queries, dim)
	if err != nil {
		return err
	}
	c, err := chromem.NewDB().CreateCollection("bench", nil, nil)
	if err != nil {
		return err
	}
	var before, beforeMapped int64
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	for in.Scan() {
		words := strings.Fields(in.Text())
		t, wall, cpu := took{Op: words[0]}, time.Now(), processCPU()
		switch words[0] {
		case "build":
			before, beforeMapped = resident("RssAnon"), resident("RssFile")
			t.N, err = build(c, vectors, dim)
		case "search":
			t.Hits, err = search(c, asked, words)
			t.N = len(t.Hits)
		case "mapped":
			t.Mapped = resident("RssFile") - beforeMapped
		}
		if err != nil {
			return err
		}
		t.CPU, t.Wall = (processCPU() - cpu).Seconds(), time.Since(wall).Seconds()
		if t.Op == "build" {
			debug.FreeOSMemory()
			t.Bytes = resident("RssAnon") - before
		}
		if err := out.Encode(t); err != nil {
			return err
		}
	}
	return in.Err()
}

func build(c *chromem.Collection, vectors string, dim int) (int, error) {
	all, err := rows(vectors, dim)
	if err != nil {
		return 0, err
	}
	docs := make([]chromem.Document, len(all))
	for i, v := range all {
		docs[i] = chromem.Document{ID: strconv.Itoa(i), Embedding: v}
		docs[i].Content = docs[i].ID
	}
	return len(all), c.AddDocuments(context.Background(), docs, 1)
}

func search(c *chromem.Collection, asked [][]float32, words []string) ([][]int, error) {
	from, errFrom := strconv.Atoi(words[1])
	to, errTo := strconv.Atoi(words[2])
	if errFrom != nil || errTo != nil {
		return nil, fmt.Errorf("bad command %q", words)
	}
	var out [][]int
	for _, q := range asked[from:to] {
		got, err := c.QueryEmbedding(context.Background(), q, 10, nil, nil)
		if err != nil {
			return nil, err
		}
		hits := make([]int, len(got))
		for i, r := range got {
			if hits[i], err = strconv.Atoi(r.ID); err != nil {
				return nil, err
			}
		}
		out = append(out, hits)
	}
	return out, nil
}

func rows(path string, dim int) ([][]float32, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(data)/4/dim)
	for i := range out {
		out[i] = make([]float32, dim)
		if err := binary.Read(bytes.NewReader(data[4*dim*i:4*dim*(i+1)]), binary.LittleEndian, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func processCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident is one kind of this process's memory, in bytes.
func resident(kind string) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), kind+":")
	kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseInt(kb, 10, 64)
	return n << 10
}
