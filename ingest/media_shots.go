package ingest

import "math"

// The shot detector compares colour histograms of frames that follow each
// other. A cut stands out against the frames around it: its distance must pass
// a floor and be several times the mean of its neighbours on both sides, so
// flicker, strobes and camera shake (high everywhere) give none.
const (
	shotBinsY     = 32
	shotBinsC     = 16
	shotBins      = shotBinsY + 2*shotBinsC
	shotFloor     = 0.14 // histogram distance, 0..1
	shotRatio     = 3.0
	shotWindow    = 3 // neighbours looked at on each side
	shotMinLength = 500_000
)

// shotHist is a histogram of a frame: luma, then both chroma, each summing to 1.
type shotHist [shotBins]float32

// distance is 0 for equal histograms, 1 for disjoint ones; luma counts half.
func (h *shotHist) distance(o *shotHist) float64 {
	part := func(from, to int) float64 {
		sum := float32(0)
		for i := from; i < to; i++ {
			sum += max(h[i]-o[i], o[i]-h[i])
		}
		return float64(sum) / 2
	}
	y := part(0, shotBinsY)
	u := part(shotBinsY, shotBinsY+shotBinsC)
	v := part(shotBinsY+shotBinsC, shotBins)
	return min(1, y/2+max(u, v)/2)
}

type shotStep struct {
	us   int64 // time of the later frame
	dist float64
}

// shotDetector is fed with frames in time order and emits cuts with a delay of
// shotWindow frames; a fade comes when it is over, so times do not rise
// between the two kinds.
type shotDetector struct {
	emit  func(us int64, score float64) error
	last  int64 // time of the last cut or of the media's start
	prev  shotHist
	any   bool
	steps []shotStep // at most 2*shotWindow+1
	fades fadeDetector
}

// newShotDetector looks for cuts after last, and for dissolves and fades.
func newShotDetector(last int64, emit func(us int64, score float64) error) shotDetector {
	return shotDetector{emit: emit, last: last, fades: fadeDetector{emit: emit, cut: math.MinInt64 / 2, last: math.MinInt64 / 2}}
}

// smooth spreads every bin over its neighbours, so a change of light by a few
// steps is a small distance.
func (h *shotHist) smooth() (out shotHist) {
	for _, part := range [][2]int{{0, shotBinsY}, {shotBinsY, shotBinsY + shotBinsC}, {shotBinsY + shotBinsC, shotBins}} {
		for i := part[0]; i < part[1]; i++ {
			out[i] += h[i] / 2
			out[max(i-1, part[0])] += h[i] / 4
			out[min(i+1, part[1]-1)] += h[i] / 4
		}
	}
	return out
}

// add takes the next frame. Times must rise.
func (d *shotDetector) add(us int64, raw *shotHist) error {
	h := raw.smooth()
	if err := d.fades.add(us, &h); err != nil {
		return err
	}
	if !d.any {
		d.any, d.prev = true, h
		return nil
	}
	d.steps = append(d.steps, shotStep{us, d.prev.distance(&h)})
	d.prev = h
	if len(d.steps) > 2*shotWindow+1 {
		d.steps = d.steps[1:]
	}
	if at := len(d.steps) - 1 - shotWindow; at >= 0 {
		return d.judge(at)
	}
	return nil
}

// flush judges the frames whose right neighbours never came.
func (d *shotDetector) flush() error {
	for at := max(0, len(d.steps)-shotWindow); at < len(d.steps); at++ {
		if err := d.judge(at); err != nil {
			return err
		}
	}
	d.steps = nil
	return d.fades.flush()
}

func (d *shotDetector) judge(at int) error {
	s := d.steps[at]
	if s.dist < shotFloor || s.us-d.last < shotMinLength {
		return nil
	}
	sum, n := 0.0, 0
	for i := max(0, at-shotWindow); i < min(len(d.steps), at+shotWindow+1); i++ {
		if i != at {
			sum += d.steps[i].dist
			n++
		}
	}
	if n > 0 && s.dist < shotRatio*sum/float64(n) {
		return nil
	}
	d.last = s.us
	d.fades.hardCut(s.us)
	return d.emit(s.us, s.dist)
}
