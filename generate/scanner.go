package generate

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// scanner takes citation marks, foreign times and foreign node ids out of
// streamed text. It decides rune by rune, so the result does not depend on how
// the text was cut into tokens, and it holds back only what may still become a
// mark, a time or an id.
type scanner struct {
	w       *writer
	judge   *judge
	facts   facts
	dropped int
	began   bool // something came

	state scanState
	held  []rune // not decided yet
	lead  int    // separators at the start of held, which go with a mark or time
	tail  []byte // the first bytes of a code point
	out   strings.Builder
	said  recent

	run  []rune // letters and digits of a possible id, sent ones included
	prev rune   // the last rune that was passed on
}

type scanState uint8

const (
	inText     scanState = iota
	inGap                // a blank, or separators behind a mark
	behindMark           // as inGap, right behind a mark
	inMark               // behind "["
	inNumber             // digits and colons
	inLong               // digits and colons, too many for a time
	inID                 // a word that is long enough for an id
	inIDTail             // the numbers of a node behind a dropped id
	inIDDot              // a dot there
)

const (
	maxMark   = 48     // runes between the brackets of a mark
	maxTime   = 16     // runes of a time
	sureText  = 14     // runes of a word that are passed on before it is known to be no id
	mostText  = 64_000 // code points of one answer; a model that runs away is ended there
	openMark  = '['
	closeMark = ']'
)

// errRunaway ends a reply that grows without end.
var errRunaway = errors.New("the reply has passed the length of an answer")

// write takes the next piece of the reply.
func (s *scanner) write(ctx context.Context, token string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.began = s.began || token != ""
	b := append(s.tail, token...)
	for len(b) > 0 && utf8.FullRune(b) {
		r, n := utf8.DecodeRune(b)
		b = b[n:]
		if err := s.feed(r); err != nil {
			return err
		}
	}
	s.tail = append([]byte(nil), b...)
	if err := s.flush(); err != nil {
		return err
	}
	if s.w.points > mostText {
		return errRunaway
	}
	return nil
}

// close passes on what was held back when the reply ended.
func (s *scanner) close() error {
	if len(s.tail) > 0 {
		s.tail = nil
		if err := s.feed(utf8.RuneError); err != nil {
			return err
		}
	}
	for s.state != inText {
		switch s.state {
		case inMark:
			if err := s.notMark(); err != nil {
				return err
			}
		case inNumber:
			s.endNumber()
		case inID:
			s.endID()
			if s.state == inIDTail {
				s.state = inText
			}
		default:
			s.release()
		}
	}
	return s.flush()
}

func (s *scanner) flush() error {
	text := s.out.String()
	s.out.Reset()
	return s.w.say(text)
}

// feed steps until the rune is used up.
func (s *scanner) feed(r rune) error {
	for {
		used, err := s.step(r)
		if used || err != nil {
			return err
		}
	}
}

// step deals with one rune; false means the state changed and the rune is to
// be looked at again.
func (s *scanner) step(r rune) (used bool, err error) {
	switch s.state {
	case inText:
		return s.text(r), nil
	case inGap, behindMark:
		return s.gap(r), nil
	case inMark:
		return s.mark(r)
	case inNumber:
		return s.number(r), nil
	case inLong:
		if timeDigit(r) >= 0 || isColon(r) {
			s.put(r)
			return true, nil
		}
		s.state = inText
		return false, nil
	default:
		return s.id(r), nil
	}
}

func (s *scanner) text(r rune) bool {
	switch {
	case r == ' ':
		s.hold(inGap, r)
	case r == openMark:
		s.lead = 0
		s.hold(inMark, r)
	case timeDigit(r) >= 0:
		s.lead = 0
		s.hold(inNumber, r)
	default:
		s.put(r)
	}
	return true
}

func (s *scanner) hold(state scanState, r rune) {
	s.state = state
	s.held = append(s.held, r)
}

func (s *scanner) gap(r rune) bool {
	switch {
	case r == openMark:
		s.lead = len(s.held)
		s.hold(inMark, r)
	case s.state == behindMark && len(s.held) < 3 && strings.ContainsRune(" ,;", r):
		s.held = append(s.held, r)
	case timeDigit(r) >= 0 && len(s.held) > 0 && s.held[len(s.held)-1] == ' ':
		s.held = s.held[:len(s.held)-1]
		s.release()
		s.held = append(s.held, ' ')
		s.lead = 1
		s.hold(inNumber, r)
	default:
		s.release()
		return false
	}
	return true
}

// release passes on everything that was held.
func (s *scanner) release() {
	held := s.held
	s.held, s.lead, s.state = nil, 0, inText
	for _, r := range held { // put may begin to hold again
		s.put(r)
	}
}

func (s *scanner) mark(r rune) (used bool, err error) {
	inside := s.held[s.lead+1:]
	switch {
	case r == closeMark && strings.ContainsFunc(string(inside), isDigit):
		numbers := markNumbers(string(inside))
		s.held, s.lead, s.state = nil, 0, behindMark
		return true, s.cite(numbers)
	case len(inside) < maxMark && (isDigit(r) || strings.ContainsRune(markSigns, r)):
		s.held = append(s.held, r)
		return true, nil
	}
	return false, s.notMark()
}

// notMark passes the bracket on and looks again at what stood behind it.
func (s *scanner) notMark() error {
	held, open := s.held, s.lead
	s.held = held[: open+1 : open+1]
	s.release()
	for _, r := range held[open+1:] {
		if err := s.feed(r); err != nil {
			return err
		}
	}
	return nil
}

// cite sends a citation for every known number of a mark.
func (s *scanner) cite(numbers []int) error {
	if err := s.flush(); err != nil {
		return err
	}
	sentence, clause := s.said.cited()
	for _, n := range numbers {
		if !s.facts.numbers[n] || s.w.points == 0 { // unknown, or behind nothing
			s.dropped++
			continue
		}
		if err := s.w.cite(n, s.judge.support(n, sentence, clause), sentence); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) number(r rune) bool {
	if timeDigit(r) < 0 && !isColon(r) {
		s.endNumber()
		return false
	}
	s.held = append(s.held, r)
	if len(s.held)-s.lead > maxTime {
		if s.release(); s.state == inText {
			s.state = inLong
		}
	}
	return true
}

// endNumber passes digits on, unless they are a time that no evidence holds.
func (s *scanner) endNumber() {
	text := s.held[s.lead:]
	end := len(text)
	for end > 0 && isColon(text[end-1]) {
		end--
	}
	if s.facts.foreign(string(text[:end])) {
		s.dropped++
		s.held = text[end:]
	}
	s.release()
}

// put passes a rune on, unless the word it belongs to may be an id.
func (s *scanner) put(r rune) {
	if s.state == inID && !idRune(r) {
		s.endID()
		s.state = inText
	}
	switch {
	case idRune(r) && (len(s.run) > 0 || !unicode.IsLetter(s.prev) && !unicode.IsDigit(s.prev)):
		s.run = append(s.run, r)
	default:
		s.run = s.run[:0]
	}
	s.prev = r
	if len(s.run) > sureText {
		s.hold(inID, r)
		return
	}
	s.out.WriteRune(r)
	s.said.add(r)
}
