package tree

import "time"

// State is where a source or job stands. Never done with captions missing.
type State string

// The states of jobs and sources (DESIGN 3).
const (
	StateQueued    State = "queued"
	StateRunning   State = "running"
	StatePaused    State = "paused"    // cap reached or wish
	StatePartial   State = "partial"   // up to the damage, with a warning
	StateDone      State = "done"      // everything described and searchable
	StateFailed    State = "failed"    // one sentence says why
	StateCancelled State = "cancelled" // on wish
)

// Ended reports whether a job in this state does no more work by itself.
func (s State) Ended() bool {
	switch s {
	case StateDone, StatePartial, StateFailed, StateCancelled, StatePaused:
		return true
	}
	return false
}

// IngestOptions are the wishes of one ingest; zero values mean the server's settings.
type IngestOptions struct {
	FromMS     int64  `json:"from_ms,omitempty"`
	ToMS       int64  `json:"to_ms,omitempty"`  // 0 = to the end
	Visual     string `json:"visual,omitempty"` // "", "on", "off"
	Detail     string `json:"detail,omitempty"` // "", "low", "normal", "high"
	Language   string `json:"language,omitempty"`
	AudioTrack int    `json:"audio_track,omitempty"` // 1-based stream choice; 0 = the default track
	MaxCalls   int    `json:"max_calls,omitempty"`
	MaxTokens  int    `json:"max_tokens,omitempty"`
	Keep       string `json:"keep,omitempty"` // "", "media", "frames"
}

// Job is the durable record of one ingest. Its id is a hash of source and
// settings, so the same wish twice is one job and redelivery is harmless.
type Job struct {
	ID         string        `json:"id"`
	Tenant     string        `json:"tenant"`
	Source     string        `json:"source"`
	URL        string        `json:"url,omitempty"`        // to be fetched first; Source is empty until then
	Collection string        `json:"collection,omitempty"` // of a fetched source
	State      State         `json:"state"`
	Error      string        `json:"error,omitempty"`
	Warnings   []string      `json:"warnings,omitempty"`
	Options    IngestOptions `json:"options"`
	Plan       []Span        `json:"plan,omitempty"`     // L1 stretches, once planned
	Finished   []int         `json:"finished,omitempty"` // indexes into Plan that are stored, ascending
	Tries      int           `json:"tries"`
	Created    time.Time     `json:"created"`
	Updated    time.Time     `json:"updated"`
}

// Task is one item of the work queue: planning a job, or one of its L1 stretches.
type Task struct {
	Tenant  string `json:"tenant"`
	Job     string `json:"job"`
	Stretch int    `json:"stretch"` // index into Job.Plan; PlanTask for planning
}

// PlanTask as Task.Stretch means: probe, cut and enqueue the stretches.
const PlanTask = -1

// Progress is one step of a job as people see it.
type Progress struct {
	Stage  string `json:"stage"` // "fetch", "probe", "speech", "describe", "index", "ended"
	Done   int64  `json:"done"`
	Total  int64  `json:"total"`
	Calls  int    `json:"calls"`
	Tokens int    `json:"tokens"`
	ETAMS  int64  `json:"eta_ms,omitempty"`
	Ready  Span   `json:"ready"` // what can be asked about by now
}
