package generate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/reeltree/reeltree/tree"
)

// Turn is one earlier question of a conversation with its answer.
type Turn struct {
	Question string
	Answer   string
	Cited    []Place // in the order of the citations
}

// Place is a cited moment.
type Place struct {
	Source string
	Span   tree.Span
}

// Turns loads the finished turns of a conversation, oldest first.
type Turns func(ctx context.Context, tenant, conversation string) ([]Turn, error)

// ReadTurn reads a turn from the wire events of a finished answer. What is no
// event of an answer is skipped.
func ReadTurn(question string, events []json.RawMessage) Turn {
	r := ReadRecord(question, events)
	return Turn{Question: question, Answer: r.Answer, Cited: r.Places()}
}

// Limits of what earlier turns add.
const (
	mostTurns   = 4   // shown to a model
	mostCarried = 6   // words a follow-up takes over
	turnRunes   = 400 // of an earlier answer
)

// resolve reads a question in its conversation. Without a model: a follow-up
// ("And what did she say after that?") is searched for together with the
// subjects of the turn before it, in the sources that were cited there, and
// "after that" begins where the last cited moment ends. One that asks for
// nothing else ("And what did she say after that?") means what follows there at
// once, whatever it is about. A conversation that cannot be read costs its
// context, not the answer.
func (a *Answerer) resolve(ctx context.Context, q Question) Question {
	if a.Turns == nil || q.Conversation == "" || q.mode() != ModeAnswer {
		return q
	}
	turns, err := a.Turns(ctx, q.Tenant, q.Conversation)
	if err != nil {
		a.log().Warn("the earlier turns of a conversation cannot be read", "conversation", q.Conversation, "error", err)
		return q
	}
	if len(turns) == 0 {
		return q
	}
	q.history = turns[max(0, len(turns)-mostTurns):]
	last := turns[len(turns)-1]
	if !followsUp(q.Text) {
		return q
	}
	if carried := carry(q.Text, turns); len(carried) > 0 {
		q.search = q.Text + " " + strings.Join(carried, " ")
	}
	if len(q.Sources) == 0 {
		q.implied = true
		for _, p := range last.Cited {
			if !slices.Contains(q.Sources, p.Source) {
				q.Sources = append(slices.Clone(q.Sources), p.Source)
			}
		}
	}
	if span := moved(q, last); span != q.Span {
		if q.Span = span; asksForOverview(q.Text) {
			q.placed = true
			if span.EndMS == endOfTime {
				span.EndMS = span.StartMS + soon
			}
			span.StartMS = max(span.StartMS, span.EndMS-soon)
		}
	}
	return q
}

// moved is the span a follow-up means: behind or before the last cited place.
func moved(q Question, last Turn) *tree.Span {
	if q.Span != nil || len(last.Cited) == 0 || len(q.Sources) != 1 {
		return q.Span
	}
	p := last.Cited[len(last.Cited)-1]
	text := " " + strings.Join(lowerWords(q.Text), " ") + " "
	says := func(phrases []string) bool {
		return slices.ContainsFunc(phrases, func(s string) bool { return strings.Contains(text, " "+s+" ") })
	}
	switch {
	case p.Span.Unit != tree.UnitMS || p.Source != q.Sources[0]:
	case says(behind):
		span := tree.MS(p.Span.EndMS, endOfTime)
		return &span
	case says(before) && p.Span.StartMS > 0:
		span := tree.MS(0, p.Span.StartMS)
		return &span
	}
	return nil
}

// soon is how much after or before a place is meant where nothing else is asked, ms.
const soon = 180_000

// endOfTime is later than any recording ends: ten thousand hours.
const endOfTime = 36_000_000_000

var (
	behind   = []string{"after that", "afterwards", "right after", "happens next", "happened next", "and then", "danach", "después", "ensuite", "après cela"}
	before   = []string{"before that", "davor", "antes de eso", "avant cela"}
	openings = []string{"and", "but", "so", "then", "also", "und", "aber", "y", "pero", "et", "mais"}
	pronouns = []string{
		"he", "she", "it", "they", "him", "her", "them", "his", "hers", "its", "their", "that", "this", "those", "these", "one", "ones",
		"er", "sie", "es", "ihn", "ihm", "ihr", "sein", "dies", "das", "él", "ella", "ello", "ellos", "eso", "esto", "il", "elle", "ils", "elles", "cela", "ça",
		"那", "这", "他", "她", "它", "彼", "彼女", "それ", "これ",
	}
)

// followsUp reports whether a question leans on what was said before: it opens
// with a joining word or names things by pronouns and says little itself.
func followsUp(text string) bool {
	words := lowerWords(text)
	if len(words) == 0 {
		return false
	}
	leans := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(pronouns, w) })
	return slices.Contains(openings, words[0]) || leans && len(keywords(text)) <= 4 || len(keywords(text)) <= 1
}

func lowerWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
}

// carry are the subjects a follow-up takes over: the content words of the
// question before it (of the ones before that, while those are follow-ups
// themselves) and the names of the last answer.
func carry(text string, turns []Turn) []string {
	known := map[string]bool{}
	for _, k := range keywords(text) {
		known[k] = true
	}
	var carried []string
	take := func(word string) {
		word = strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		keys := keywords(word)
		if len(keys) == 0 || known[keys[0]] || len(carried) == mostCarried {
			return
		}
		known[keys[0]] = true
		carried = append(carried, word)
	}
	for _, t := range slices.Backward(turns) {
		for word := range strings.FieldsSeq(t.Question) {
			take(word)
		}
		if !followsUp(t.Question) {
			break
		}
	}
	words := strings.Fields(turns[len(turns)-1].Answer)
	for i, word := range words {
		if i > 0 && unicode.IsUpper([]rune(word)[0]) && !strings.ContainsAny(words[i-1], ".!?:") {
			take(word)
		}
	}
	return carried
}

// historyPrompt is what a model is shown of earlier turns, as data.
func historyPrompt(turns []Turn) string {
	if len(turns) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n<earlier>\n")
	for _, t := range turns {
		answer := []rune(fence(t.Answer))
		if len(answer) > turnRunes {
			answer = append(answer[:turnRunes-1], '…')
		}
		fmt.Fprintf(&b, "Question: %s\nAnswer: %s\n", fence(t.Question), string(answer))
	}
	b.WriteString("</earlier>\n")
	return b.String()
}
