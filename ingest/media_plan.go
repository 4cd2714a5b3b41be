package ingest

import "math"

// framePlan holds the wanted times of a stretch in microseconds. A wanted time
// takes the frame that is on screen then; one that comes within half a usual
// frame after it counts as on screen, since times of containers are rounded.
type framePlan struct {
	from, to  int64
	step, tol float64
	k         int64 // the next wanted time is from + k*step
	force     bool  // the next frame is taken whatever its time
}

func newFramePlan(r MediaRequest, intervalUS int64) framePlan {
	p := framePlan{from: r.FromMS * 1000, to: math.MaxInt64 / 4, step: 1e6 / r.FPS}
	if r.ToMS > 0 {
		p.to = r.ToMS * 1000
	}
	p.tol = min(float64(intervalUS)/2, p.step/2)
	return p
}

func (p *framePlan) want() float64 { return float64(p.from) + float64(p.k)*p.step }

// done reports whether every wanted time of the stretch is served.
func (p *framePlan) done() bool { return p.want() >= float64(p.to) }

// begin is told the time of the first frame. Wanted times before it show
// nothing; the first frame is taken all the same if it lies in the stretch.
func (p *framePlan) begin(us int64) {
	if float64(us) > p.want()+p.tol && us < p.to {
		p.force = true
	}
}

// due reports whether the frame that was on screen from us until next is
// wanted, and moves on behind it.
func (p *framePlan) due(us, next int64) bool {
	k := math.Ceil((float64(us) - p.tol - float64(p.from)) / p.step)
	p.k = max(p.k, int64(min(max(k, 0), 1e15)))
	due := p.force
	p.force = false
	end := float64(next) - p.tol
	if w := p.want(); w < end && w < float64(p.to) {
		due = true
		// Behind every wanted time the frame serves, without stepping through them.
		p.k = max(p.k+1, int64(math.Ceil((end-float64(p.from))/p.step)))
	}
	return due
}
