package eval

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/reeltree/reeltree/retrieve"
)

const (
	readerRounds   = 5   // of readers alone, then beside a writer
	readerSearches = 100 // of each reader in a round
)

// Beside is how long searches of many readers took, alone and beside a writer
// that adds and removes a source over and over.
type Beside struct {
	Readers   int     `json:"readers"`
	Searches  int     `json:"searches"` // of either kind
	Written   int     `json:"written"`  // nodes added meanwhile
	AloneP50  float64 `json:"alone_p50_ms"`
	AloneP99  float64 `json:"alone_p99_ms"`
	BesideP50 float64 `json:"beside_p50_ms"`
	BesideP99 float64 `json:"beside_p99_ms"`
}

// readers measures n readers at once. Rounds alone and beside a writer take
// turns, so that both share what else the machine does.
func (s *Speed) readers(n int) (func(context.Context) (Took, error), error) {
	queries, err := s.firstRows(s.Queries, readerSearches)
	if err != nil {
		return nil, err
	}
	rows, err := s.firstRows(s.Vectors, speedPart)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (Took, error) {
		b := Beside{Readers: n}
		var alone, beside []time.Duration
		for range readerRounds {
			took, err := s.readTogether(ctx, n, queries)
			if err != nil {
				return Took{}, err
			}
			alone = append(alone, took...)
			stop := s.writer(ctx, rows)
			took, err = s.readTogether(ctx, n, queries)
			written, werr := stop()
			if err := errors.Join(err, werr); err != nil {
				return Took{}, err
			}
			beside, b.Written = append(beside, took...), b.Written+written
		}
		b.Searches = len(alone)
		b.AloneP50, b.AloneP99 = middleAndSlow(alone)
		b.BesideP50, b.BesideP99 = middleAndSlow(beside)
		return Took{N: len(alone) + len(beside), Beside: &b}, nil
	}, nil
}

// middleAndSlow are the 50th and the 99th in milliseconds.
func middleAndSlow(took []time.Duration) (p50, p99 float64) {
	slices.Sort(took)
	at := func(share int) float64 { return float64(took[(len(took)-1)*share/100].Microseconds()) / 1000 }
	return at(50), at(99)
}

func (s *Speed) firstRows(name string, n int) (rows [][]float32, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	for r := bufio.NewReader(f); len(rows) < n; {
		v, err := readVector(r, s.Dim)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, v)
	}
	return rows, nil
}

// readTogether lets n readers search at once and gives the time of every search.
func (s *Speed) readTogether(ctx context.Context, n int, queries [][]float32) ([]time.Duration, error) {
	took, errs := make([][]time.Duration, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for k := range readerSearches {
				began := time.Now()
				_, err := s.Index.Search(ctx, retrieve.Probe{Vector: queries[(k+i)%len(queries)]}, speedHits, retrieve.Scope{Tenant: speedTenant})
				took[i], errs[i] = append(took[i], time.Since(began)), errors.Join(errs[i], err)
			}
		})
	}
	wg.Wait()
	return slices.Concat(took...), errors.Join(errs...)
}

// writer adds a source node by node and removes it, over and over, until it is
// stopped; then it says how many nodes it added.
func (s *Speed) writer(ctx context.Context, rows [][]float32) (stop func() (int, error)) {
	end, done := make(chan struct{}), make(chan struct{})
	written := 0
	var err error
	go func() {
		defer close(done)
		for err == nil {
			for i, v := range rows {
				select {
				case <-end:
					err = errors.Join(err, s.Index.Remove(ctx, speedTenant, "written"))
					return
				default:
				}
				err = errors.Join(err, s.Index.Add(ctx, []retrieve.Entry{{
					Tenant: speedTenant, Source: "written", Node: "w" + strconv.Itoa(i), Level: 2, Vector: slices.Clone(v),
				}}))
				written++
			}
			err = errors.Join(err, s.Index.Remove(ctx, speedTenant, "written"))
		}
	}()
	return func() (int, error) {
		close(end)
		<-done
		return written, err
	}
}
