package eval

import (
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
)

// Questions that need all rows or the whole recording are seen, and questions
// for one span are not taken for them. Saying yes to all fails the second,
// saying no the first; guessing at any rate fails one of them, since what is
// wanted of both adds up to far more than 1.
func TestAggregateQuestionsAreTold(t *testing.T) {
	pages, err := loadTables(Files{Data: testkit.Shared(t, "bench", "tables-dev.jsonl.gz")})
	if err != nil {
		t.Fatal(err)
	}
	if m := aggregates(pages); m["aggregate_count"] < .9 || m["aggregate_span"] > .1 {
		t.Errorf("of tables: %v", m)
	}
	recordings, err := loadMeetings(Files{Data: testkit.Shared(t, "bench", "meetings-dev.jsonl.gz")})
	if err != nil {
		t.Fatal(err)
	}
	if m := aggregates(recordings); m["aggregate_general"] < .9 || m["aggregate_specific"] > .4 {
		t.Errorf("of recordings: %v", m)
	}
}

// Counted by hand on lines of our own.
func TestAggregatesByKind(t *testing.T) {
	j := &tables{data: []page{{Queries: []pageQuery{
		{Type: "count", Query: "How many rows are there?"}, {Type: "count", Query: "Which is first?"}, {Type: "span", Query: "Who sold it?"},
	}}}}
	if m := aggregates(j); m["aggregate_count"] != .5 || m["aggregate_span"] != 0 || len(m) != 2 {
		t.Errorf("of tables: %v", m)
	}
	k := &meetings{data: []meeting{{General: []meetingQuery{{Query: "Summarize the meeting"}}, Queries: []meetingQuery{{Query: "Who spoke?"}}}}}
	if m := aggregates(k); m["aggregate_general"] != 1 || m["aggregate_specific"] != 0 {
		t.Errorf("of recordings: %v", m)
	}
	if m := aggregates(&moments{}); len(m) != 0 {
		t.Errorf("of videos: %v", m)
	}
}
