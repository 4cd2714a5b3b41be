package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reeltree/reeltree/client"
	"github.com/reeltree/reeltree/tree"
)

type askCmd struct {
	Source     []string `help:"Source to search; may be repeated. Without it everything is searched." placeholder:"ID" sep:"none"`
	Collection string   `help:"Collection to search." placeholder:"NAME"`
	Mode       string   `help:"What is wanted: answer, summary, chapters or highlights." choice:"answer,summary,chapters,highlights" default:"answer"`
	Answerer   string   `help:"Who answers: auto, extractive or model." choice:"auto,extractive,model" default:"auto"`
	Trace      bool     `help:"Send the decisions of the search with the answer."`
	Question   string   `arg:"" help:"What you want to know." default:""`
}

// Run prints the answer as it comes.
func (cmd askCmd) Run(ctx context.Context, s *Settings, p Process) error {
	q := client.Question{
		Question: strings.ToValidUTF8(cmd.Question, "\uFFFD"), Sources: cmd.Source, Collection: cmd.Collection,
		Options: client.Options{Trace: cmd.Trace},
	}
	if cmd.Mode != "answer" {
		q.Mode = cmd.Mode
	}
	if cmd.Answerer != "auto" {
		q.Options.Answerer = cmd.Answerer
	}
	return withClient(ctx, s, p, func(c *client.Client) error {
		see := func(e client.Event) error { _, err := fmt.Fprintf(p.Stdout, "%s\n", e.Raw); return err }
		printed := &printer{p: p, times: map[int]string{}, cards: map[int]string{}, from: map[int]sourceRef{}}
		if !s.JSON {
			see = printed.see
		}
		var last client.Event
		err := c.Ask(ctx, q, func(e client.Event) error { last = e; return see(e) })
		if err == nil && last.Finish == "error" {
			if s.JSON {
				return errQuiet
			}
			return fmt.Errorf("%s", faultOf(last))
		}
		return err
	})
}

// faultOf is the sentence of an event that ends with one.
func faultOf(e client.Event) string {
	var fault struct{ Message string }
	_ = json.Unmarshal(e.Fault, &fault) // absent: no fault
	return fault.Message
}

// printer writes an answer for people: text with times, then what they rest on.
type printer struct {
	p     Process
	times map[int]string
	cards map[int]string
	from  map[int]sourceRef // of the evidence, by number
	cited []int             // in the order of the text
	open  bool              // text stands on the last line
}

// sourceRef is the source of a piece of evidence.
type sourceRef struct{ ID, Title string }

func (w *printer) see(e client.Event) error {
	switch e.Type {
	case "queued":
		say(w.p.Stderr, "waiting, position %d\n", e.Position)
	case "evidence":
		w.evidence(e)
	case "token":
		w.open = true
		_, err := fmt.Fprint(w.p.Stdout, e.Text)
		return err
	case "citation":
		if !slices.Contains(w.cited, e.N) {
			w.cited = append(w.cited, e.N)
		}
		place := w.times[e.N]
		if closer, ok := placeText(e); ok {
			place = closer
		}
		if name := w.name(e.N); name != "" && w.mixed() {
			place = name + " " + place
		}
		_, err := fmt.Fprintf(w.p.Stdout, " [%s]", place)
		return err
	case "gap":
		w.cited = nil
		say(w.p.Stdout, "\n(the connection was lost and the answer begins again)\n")
	case "done":
		return w.done(e)
	}
	return nil
}

func (w *printer) evidence(e client.Event) {
	var span tree.Span
	if err := json.Unmarshal(e.Span, &span); err != nil {
		return // a place this version does not know
	}
	w.times[e.N], _ = placeText(e)
	quote := strings.Join(strings.Fields(e.Quote), " ")
	if utf8.RuneCountInString(quote) > 110 {
		quote = string([]rune(quote)[:109]) + "…"
	}
	var ref sourceRef
	_ = json.Unmarshal(e.Source, &ref) // unnamed: the place alone is shown
	w.from[e.N] = ref
	w.cards[e.N] = fmt.Sprintf("%s  %s", span, quote)
	if e.Nearest {
		w.cited = append(w.cited, e.N)
	}
}

// mixed reports whether the evidence comes from more than one source.
func (w *printer) mixed() bool {
	for _, ref := range w.from {
		if ref != w.from[1] {
			return true
		}
	}
	return false
}

// name is the title of the source of a piece of evidence, with its id where
// another source has the same title.
func (w *printer) name(n int) string {
	own := w.from[n]
	title := own.Title
	if utf8.RuneCountInString(title) > 40 {
		title = string([]rune(title)[:39]) + "…"
	}
	for _, ref := range w.from {
		if ref.Title == own.Title && ref.ID != own.ID {
			return title + " (" + own.ID + ")"
		}
	}
	return title
}

// placeText is the place of an event as people read it: where it begins.
func placeText(e client.Event) (string, bool) {
	var span tree.Span
	if len(e.Span) == 0 || json.Unmarshal(e.Span, &span) != nil {
		return "", false
	}
	if span.Unit == tree.UnitMS {
		return tree.Clock(span.StartMS), true
	}
	return span.String(), true
}

func (w *printer) done(e client.Event) error {
	if w.open {
		say(w.p.Stdout, "\n")
	}
	var end struct{ Note string }
	if json.Unmarshal(e.Raw, &end) == nil && end.Note != "" { // what a reader should know of how it was made
		say(w.p.Stdout, "\nnote: %s\n", end.Note)
	}
	if len(w.cited) > 0 {
		say(w.p.Stdout, "\nfrom\n")
	}
	for _, n := range w.cited {
		say(w.p.Stdout, "  %s  %s\n", w.name(n), w.cards[n])
	}
	return nil
}
