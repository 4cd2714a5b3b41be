package ingest

import (
	"math"
	"slices"
)

// The fade detector finds dissolves and fades, which have no single frame that
// stands out: the picture is still (or moves little) before, is another picture
// after, and changes slowly between. It compares looks that are a lag apart
// with looks on either side; a camera that pans or zooms changes as fast before
// and after, so its distance over the lag is about twice that over half of it.
const (
	fadeSpacing = 100_000   // us between looks
	fadeFloor   = 0.20      // distance over the lag, 0..1
	fadeRatio   = 3.0       // of the distance over the lag to that on its sides
	fadeRest    = 400_000   // us without a hit that end a run of them
	fadeApart   = 1_000_000 // us between two cuts, of which the later is a fade
	fadeLike    = 0.85      // a shorter lag with this part of the best distance places the fade
)

// fadeLags are the lengths of transitions looked for, in microseconds.
var fadeLags = [...]int64{600_000, 1_200_000, 2_000_000, 3_000_000}

// fadeSide is how long the picture must be steady on both sides of a lag.
func fadeSide(lag int64) int64 { return max(fadeRest, lag/2) }

type fadeLook struct {
	us   int64
	hist shotHist
}

// fadeRun are the hits of one lag that follow each other.
type fadeRun struct {
	first, last int64 // middle of the lag
	best        float64
}

// fadeDetector is fed with the smoothed histograms of frames in time order,
// and emits the middle of every gradual transition when it is over.
type fadeDetector struct {
	emit  func(us int64, score float64) error
	looks []fadeLook // as long as the longest lag with its sides
	cut   int64      // time of the last hard cut
	last  int64      // time of the last fade
	runs  [len(fadeLags)]fadeRun
	hit   int64 // time of the last hit, 0 = no run is open
}

// hardCut tells of a cut that was found already: what spans it is no fade.
func (d *fadeDetector) hardCut(us int64) {
	d.cut, d.last, d.hit, d.runs = us, us, 0, [len(fadeLags)]fadeRun{}
}

// add takes the next frame. Times must rise.
func (d *fadeDetector) add(us int64, h *shotHist) error {
	if n := len(d.looks); n > 0 && us-d.looks[n-1].us < fadeSpacing {
		return nil
	}
	d.looks = append(d.looks, fadeLook{us, *h})
	longest := fadeLags[len(fadeLags)-1]
	for d.looks[0].us < us-longest-2*fadeSide(longest)-2*fadeSpacing {
		d.looks = d.looks[1:]
	}
	for i, lag := range fadeLags {
		d.look(i, lag)
	}
	if d.hit != 0 && us-d.hit > fadeRest {
		return d.flush()
	}
	return nil
}

// look judges the lag that ends one side before the newest look.
func (d *fadeDetector) look(i int, lag int64) {
	now := &d.looks[len(d.looks)-1]
	side := fadeSide(lag)
	after, before, start := d.at(now.us-side), d.at(now.us-side-lag), d.at(now.us-2*side-lag)
	if after == nil || before == nil || start == nil || start.us <= d.cut { // too near the beginning, or frames are rare
		return
	}
	over := before.hist.distance(&after.hist)
	if over < fadeFloor || over < fadeRatio*max(start.hist.distance(&before.hist), after.hist.distance(&now.hist)) {
		return
	}
	r, middle := &d.runs[i], (before.us+after.us)/2
	if r.best == 0 {
		r.first = middle
	}
	r.last, r.best = middle, max(r.best, over)
	d.hit = now.us
}

// at is the look nearest to a time, nil if none is as old.
func (d *fadeDetector) at(us int64) *fadeLook {
	best, off := -1, int64(math.MaxInt64)
	for i, l := range slices.Backward(d.looks) {
		o := us - l.us
		if max(o, -o) > off {
			break
		}
		best, off = i, max(o, -o)
	}
	if best < 0 || off > fadeSpacing {
		return nil
	}
	return &d.looks[best]
}

// flush ends the run of hits: the shortest lag that sees about as much as any
// tells the middle best.
func (d *fadeDetector) flush() error {
	if d.hit == 0 {
		return nil
	}
	best := 0.0
	for _, r := range d.runs {
		best = max(best, r.best)
	}
	runs := d.runs
	d.runs, d.hit = [len(fadeLags)]fadeRun{}, 0
	for _, r := range runs {
		if r.best < fadeLike*best {
			continue
		}
		middle := (r.first + r.last) / 2
		if middle-d.last < fadeApart { // the rest of the one before
			return nil
		}
		d.last = middle
		return d.emit(middle, best)
	}
	return nil
}
