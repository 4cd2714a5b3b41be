package eval

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/reeltree/reeltree/tree"
)

// tableLine is what is kept of one page.
type tableLine struct {
	Doc        string `json:"doc"`
	Query      int    `json:"query"`
	Rows       []int  `json:"rows"`
	Paragraphs []int  `json:"paragraphs"`
}

// scoreTables measures whether what is kept of a page holds everything an
// answer needs (the numbers of its derivation, its spans, all rows of a count),
// and which share of the page's words it is. Questions whose needs stand
// nowhere on the page are left out.
func scoreTables(data []page, lines []tableLine) (*tally, error) {
	left, err := keyed(lines, func(l tableLine) docKey { return docKey{l.Doc, l.Query} })
	if err != nil {
		return nil, err
	}
	t := &tally{}
	for i := range data {
		p := &data[i]
		for j, q := range p.Queries {
			key := docKey{p.Doc, j}
			l := left[key]
			delete(left, key)
			kept, err := p.keep(l)
			if err != nil {
				return nil, err
			}
			needed := q.needed(p)
			whole := countHeld(needed, p.everything())
			if whole == 0 {
				continue
			}
			t.question(p.Doc)
			for _, label := range []string{"all", q.Type} {
				t.yes(label+"_evidence_complete", countHeld(needed, kept) == whole)
				t.add(label+"_words_kept", float64(p.words(kept))/float64(max(1, p.words(p.everything()))))
			}
		}
	}
	return t, unknown(left)
}

// part is a part of a page: rows of its table and paragraphs, each once, in order.
type part struct {
	page       *page
	rows, pars []int
}

func (p *page) keep(l tableLine) (part, error) {
	out := part{p, sortedSet(l.Rows), sortedSet(l.Paragraphs)}
	bad := func(all []int, n int) bool { return len(all) > 0 && (all[0] < 0 || all[len(all)-1] >= n) }
	if bad(out.rows, len(p.Table)) || bad(out.pars, len(p.Paragraphs)) {
		return part{}, fmt.Errorf("a prediction names a row or paragraph that %s does not have", p.Doc)
	}
	return out, nil
}

func (p *page) everything() part {
	all := part{page: p}
	for i := range p.Table {
		all.rows = append(all.rows, i)
	}
	for i := range p.Paragraphs {
		all.pars = append(all.pars, i)
	}
	return all
}

func sortedSet(all []int) []int {
	out := slices.Clone(all)
	slices.Sort(out)
	return slices.Compact(out)
}

// words counts a part's words.
func (p *page) words(kept part) int {
	n := 0
	for _, i := range kept.rows {
		n += tree.Words(strings.Join(p.Table[i], " "))
	}
	for _, i := range kept.pars {
		n += tree.Words(p.Paragraphs[i])
	}
	return n
}

// cell reports whether a cell of the part fits.
func (k part) cell(fits func(string) bool) bool {
	return slices.ContainsFunc(k.rows, func(i int) bool { return slices.ContainsFunc(k.page.Table[i], fits) })
}

// paragraph reports whether a paragraph of the part fits.
func (k part) paragraph(fits func(string) bool) bool {
	return slices.ContainsFunc(k.pars, func(i int) bool { return fits(k.page.Paragraphs[i]) })
}

// need is one thing an answer rests on.
type need func(part) bool

func countHeld(needs []need, kept part) int {
	n := 0
	for _, held := range needs {
		if held(kept) {
			n++
		}
	}
	return n
}

var numbers = regexp.MustCompile(`\$?[\p{Nd},]+\.?\p{Nd}*`)

// needed is what the answer of a question rests on.
func (q *pageQuery) needed(p *page) []need {
	var out []need
	switch q.Type {
	case "arithmetic":
		for _, n := range distinctTexts(numbers.FindAllString(q.Derivation, -1), digits) {
			out = append(out, func(k part) bool {
				return k.cell(func(c string) bool { return digits(c) == n }) ||
					k.paragraph(func(s string) bool { return strings.Contains(digits(s), n) })
			})
		}
	case "count":
		for i := 0; q.From != "text" && i < len(p.Table); i++ {
			out = append(out, func(k part) bool { return slices.Contains(k.rows, i) })
		}
	default:
		for _, n := range distinctTexts(q.answers(), strings.TrimSpace) {
			holds := func(s string) bool { return strings.Contains(s, n) }
			out = append(out, func(k part) bool { return k.cell(holds) || k.paragraph(holds) })
		}
	}
	return out
}

// distinctTexts are the different non-empty texts after a change, in order.
func distinctTexts(all []string, change func(string) string) []string {
	out := map[string]bool{}
	for _, s := range all {
		if s = change(s); s != "" {
			out[s] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// digits keeps digits and points.
func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return -1
	}, s)
}

// answers are the gold answers as texts: a list, one text or one number.
func (q *pageQuery) answers() []string {
	var list []json.RawMessage
	if json.Unmarshal(q.Answer, &list) != nil {
		list = []json.RawMessage{q.Answer}
	}
	var out []string
	for _, raw := range list {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = number(string(raw))
		}
		out = append(out, text)
	}
	return out
}

// number writes a JSON number as short as it can be, a float with its point.
func number(raw string) string {
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil || !strings.ContainsAny(raw, ".eE") {
		return raw
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
