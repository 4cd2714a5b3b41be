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
		printed := &printer{p: p, times: map[int]string{}, cards: map[int]string{}}
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
	cited []int // in the order of the text
	open  bool  // text stands on the last line
}

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
		_, err := fmt.Fprintf(w.p.Stdout, " [%s]", place)
		return err
	case "gap":
		say(w.p.Stdout, "\n(the connection was lost and the answer begins again)\n")
	case "done":
		return w.done()
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
	w.cards[e.N] = fmt.Sprintf("  %s  %s", span, quote)
	if e.Nearest {
		w.cited = append(w.cited, e.N)
	}
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

func (w *printer) done() error {
	if w.open {
		say(w.p.Stdout, "\n")
	}
	if len(w.cited) > 0 {
		say(w.p.Stdout, "\nfrom\n")
	}
	for _, n := range w.cited {
		say(w.p.Stdout, "%s\n", w.cards[n])
	}
	return nil
}
