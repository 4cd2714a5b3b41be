package generate

import "slices"

// idLengths are the lengths of source and frame ids.
var idLengths = []int{26, 52}

func idRune(r rune) bool { return r >= 'a' && r <= 'z' || r >= '2' && r <= '7' }

// id deals with a rune of a long word, or of what follows a dropped id.
func (s *scanner) id(r rune) bool {
	switch {
	case s.state == inID && idRune(r) && len(s.run) <= idLengths[1]:
		s.run = append(s.run, r)
		s.held = append(s.held, r)
		return true
	case s.state == inID:
		s.endID()
	case s.state == inIDTail && r == '.':
		s.hold(inIDDot, r)
		return true
	case isDigit(r) || s.state == inIDTail && r == '/':
		s.held, s.state = nil, inIDTail
		return true
	default:
		s.release()
	}
	return false
}

// endID passes a long word on, unless it names what no evidence holds.
func (s *scanner) endID() {
	if slices.Contains(idLengths, len(s.run)) && !s.facts.ids[string(s.run)] {
		s.dropped++
		s.held, s.run, s.state = nil, nil, inIDTail
		return
	}
	held := s.held
	s.held, s.run, s.state, s.prev = nil, nil, inText, held[len(held)-1]
	for _, r := range held {
		s.out.WriteRune(r)
		s.said.add(r)
	}
}
