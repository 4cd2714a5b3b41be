package model

import (
	"strings"
	"unicode/utf8"
)

// output is the way of the text from chunks to the caller. It joins characters
// split over chunks, takes out the thoughts at the start, and takes out the
// key should the endpoint echo it. Everything else passes at once.
type output struct {
	hand func(string) error // nil: only text is kept
	key  string

	text    strings.Builder // what the caller gets
	size    int             // bytes that came
	dropped int             // bytes of thoughts
	pending string          // not yet handed: half a character, or half the key
	shown   string          // the last bytes handed over: the key may have begun there
	head    string          // not yet decided: may begin with thoughts
	state   headState

	closeOnly bool // thoughts began with nothing and ended with </think>
	spoiled   bool // and they have been handed over already
}

// headState is where the start of a reply stands.
type headState int

const (
	headUndecided headState = iota
	headInside              // in thoughts
	headHeld                // thoughts are expected although nothing opened them
	headBlank               // after thoughts: blanks before the answer are dropped
	headDone
)

// thinkTags are the marks of thoughts at the start of a reply. They mean
// nothing later on: a quoted text may hold them.
var thinkTags = [][2]string{{"<think>", "</think>"}, {"<thinking>", "</thinking>"}}

const (
	closeTag = "</think>"
	blanks   = " \t\r\n"
	minHold  = 3 // bytes of the key from which on text is held back
)

func newOutput(key Secret, hand func(string) error, held bool) *output {
	o := &output{hand: hand}
	if k := key.reveal(); len(k) >= minScrub {
		o.key = k
	}
	if held {
		o.state = headHeld
	}
	return o
}

// write takes the text of one chunk.
func (o *output) write(text string) error {
	o.size += len(text)
	if o.state == headDone {
		return o.pass(text)
	}
	o.head += text
	return o.decide(false)
}

// decide looks whether the head is known well enough to go on.
func (o *output) decide(last bool) error {
	if o.state == headUndecided {
		o.open(last)
	}
	if o.state == headInside || o.state == headHeld {
		o.skip(last)
	}
	if o.state == headBlank {
		if o.head = strings.TrimLeft(o.head, blanks); o.head == "" {
			return nil
		}
		o.state = headDone
	}
	if o.state != headDone {
		return nil
	}
	text := o.head
	o.head = ""
	return o.pass(text)
}

// skip drops thoughts once their end is there; at the last chunk held text
// turns out to be none, and open thoughts to be all there is.
func (o *output) skip(last bool) {
	for _, tag := range thinkTags {
		if before, after, ok := strings.Cut(o.head, tag[1]); ok {
			o.dropped += len(before)
			o.head, o.state = after, headBlank
			return
		}
	}
	switch {
	case last && o.state == headHeld:
		o.state = headDone
	case last:
		o.dropped, o.head = o.dropped+len(o.head), ""
	}
}

// open decides whether the reply begins with thoughts.
func (o *output) open(last bool) {
	start := strings.TrimLeft(o.head, blanks)
	for _, tag := range thinkTags {
		if strings.HasPrefix(start, tag[0]) {
			o.state = headInside
			return
		}
		if !last && strings.HasPrefix(tag[0], start) {
			return
		}
	}
	o.state = headDone
}

// pass hands text over, but for a tail that may become part of a character or
// of the key. The first bytes of the key are not held back: every text has
// them, and a token should not wait for the next one.
func (o *output) pass(text string) error {
	text = o.hideKey(o.pending + text)
	keep := halfRune(text)
	if n := halfKey(o.shown+text, o.key); n >= minHold {
		keep = max(keep, min(n, len(text)))
	}
	o.pending = text[len(text)-keep:]
	text = text[:len(text)-keep]
	if shown := o.shown + text; o.key != "" {
		o.shown = shown[len(shown)-min(len(shown), minHold-1):]
	}
	return o.give(text)
}

// hideKey replaces the key, also where its first bytes were shown already.
func (o *output) hideKey(text string) string {
	if o.key == "" {
		return text
	}
	if i := strings.Index(o.shown+text, o.key); i >= 0 && i < len(o.shown) {
		text = redacted + text[i+len(o.key)-len(o.shown):]
	}
	return strings.ReplaceAll(text, o.key, redacted)
}

func (o *output) give(text string) error {
	if !utf8.ValidString(text) {
		text = string([]rune(text)) // one mark per broken byte, however they were split
	}
	if text == "" {
		return nil
	}
	o.text.WriteString(text)
	if o.hand == nil {
		return nil
	}
	return o.hand(text)
}

// end hands over what was held back. Without a listener thoughts that only
// their end marks are still taken out; with one they are out already.
func (o *output) end() error {
	if err := o.decide(true); err != nil {
		return err
	}
	rest := o.pending
	o.pending = ""
	if n := halfKey(o.shown+rest, o.key); n >= minScrub {
		rest = rest[:max(0, len(rest)-n)] + redacted // a key cut off by the end of the reply
	}
	if err := o.give(rest); err != nil {
		return err
	}
	before, after, ok := strings.Cut(o.text.String(), closeTag)
	alone := strings.HasSuffix(before, "\n") || before == ""
	if !ok || !alone || strings.Contains(before, "<think>") || o.dropped > 0 {
		return nil
	}
	o.closeOnly, o.spoiled = true, o.hand != nil
	if !o.spoiled {
		o.text.Reset()
		o.text.WriteString(strings.TrimLeft(after, blanks))
	}
	return nil
}

// halfRune is the length of an incomplete character at the end of s.
func halfRune(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if c := s[len(s)-n]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(s[len(s)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// halfKey is the length of the longest end of s that the key begins with.
func halfKey(s, key string) int {
	for n := min(len(key)-1, len(s)); n > 0; n-- {
		if strings.HasSuffix(s, key[:n]) {
			return n
		}
	}
	return 0
}
