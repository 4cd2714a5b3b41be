package generate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// scan runs a reply, cut at the given bytes, through a scanner that knows the
// three pieces of evidence; the result shows citations as {n}.
func scan(t *testing.T, reply string, cuts ...int) (marked string, dropped int) {
	t.Helper()
	var out strings.Builder
	w := newWriter(func(e Event) error {
		switch e := e.(type) {
		case Token:
			if !utf8.ValidString(e.Text) {
				t.Errorf("the token %q is not whole", e.Text)
			}
			out.WriteString(e.Text)
		case Citation:
			fmt.Fprintf(&out, "{%d}", e.N)
		}
		return nil
	}, time.Now)
	shown := map[int]bool{}
	for i, it := range evidence {
		w.evidence, w.items = append(w.evidence, NewEvidence(i+1, it)), append(w.items, it)
		shown[i+1] = true
	}
	s := &scanner{w: w, judge: (&Answerer{}).newJudge(t.Context(), w), facts: factsOf(w.evidence, w.items, shown)}
	from := 0
	for _, c := range append(cuts, len(reply)) {
		if err := s.write(t.Context(), reply[from:c]); err != nil {
			t.Fatal(err)
		}
		from = c
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), s.dropped
}

var replies = []struct {
	name, reply, want string
	dropped           int
}{
	{"one", "Eight [1].", "Eight{1}.", 0},
	{"several", "Eight [1, 3] and [2;3].", "Eight{1}{3} and{2}{3}.", 0},
	{"range", "All [1-3], all [1–3], back [3-2].", "All{1}{2}{3}, all{1}{2}{3}, back{2}{3}.", 0},
	{"row of marks", "Eight [1][2], thirty [1], [3]. Then [2] [3]", "Eight{1}{2}, thirty{1}{3}. Then{2}{3}", 0},
	{"twice in a mark", "Eight [2, 2, 1-2].", "Eight{2}{1}.", 0},
	{"unknown", "Eight [9], [0], [2, 7], [99999999999999999999].", "Eight{2}.", 4},
	{"long range", "Eight [1-900].", "Eight{1}{2}{3}.", 17},
	{"no marks", "a [note], [], [ ], [1, [x] 3 [ends", "a [note], [], [ ], [1, [x] 3 [ends", 0},
	{"nested", "a [[1]] b", "a [{1}] b", 0},
	{"known times", "At 0:14, 00:14, 0:00:14 and 1:28.", "At 0:14, 00:14, 0:00:14 and 1:28.", 0},
	{"foreign times", "At 5:55, or 1:02:03: no (7:07). 9:59:59", "At, or: no ().", 4},
	{"an impossible time", "Said at 7:77:77, then.", "Said at, then.", 1},
	{"no times", "Ratio 7:77, 1:2:3, 10:5 and 12:", "Ratio 7:77, 1:2:3, 10:5 and 12:", 0},
	{"time in brackets", "At [5:55] and [0:14].", "At [] and [0:14].", 1},
	{"other digits", "Um ５：５５ oder ٥:٥٥ Uhr", "Um oder Uhr", 2},
	{"foreign node", "See abcdefghijklmnopqrstuvwxyz/9.9.9. End", "See abcdefghijklmn. End", 1},
	{"known node", "See lenslenslenslenslenslensle/0.1. End", "See lenslenslenslenslenslensle/0.1. End", 0},
	{"long words", "Donaudampfschifffahrtsgesellschaft and rechtsschutzversicherungsgesellschaften 2345234523452345", "Donaudampfschifffahrtsgesellschaft and rechtsschutzversicherungsgesellschaften 2345234523452345", 0},
	{"other scripts", "八公里。[1] 三十公里[2]。 Größe – 🙂 [3]", "八公里。{1} 三十公里{2}。 Größe – 🙂{3}", 0},
	{"markdown", "# Title\n- **one** [1]\n- `x[1]` two\n", "# Title\n- **one**{1}\n- `x{1}` two\n", 0},
	{"blanks", "  two  blanks   [1]  end ", "two  blanks  {1}  end ", 0},
	{"unfinished", "Eight [2", "Eight [2", 0},
	{"cut code point", "Eight \xe2\x80", "Eight \uFFFD", 0},
}

func TestScannerTakesOutMarksAndWhatIsForeign(t *testing.T) {
	for _, c := range replies {
		t.Run(c.name, func(t *testing.T) {
			got, dropped := scan(t, c.reply)
			if got != c.want || dropped != c.dropped {
				t.Errorf("%q gives %q and %d dropped, want %q and %d", c.reply, got, dropped, c.want, c.dropped)
			}
		})
	}
}

func TestScannerDoesNotDependOnTheTokens(t *testing.T) {
	for _, c := range replies {
		for i := range len(c.reply) + 1 {
			for j := i; j <= len(c.reply); j++ {
				if got, dropped := scan(t, c.reply, i, j); got != c.want || dropped != c.dropped {
					t.Fatalf("%q cut at %d and %d gives %q and %d dropped", c.reply, i, j, got, dropped)
				}
			}
		}
		every := make([]int, len(c.reply))
		for i := range every {
			every[i] = i
		}
		if got, _ := scan(t, c.reply, every...); got != c.want {
			t.Errorf("%q byte by byte gives %q", c.reply, got)
		}
	}
}

func TestScannerHoldsBackOnlyWhatMayBeAMark(t *testing.T) {
	var sent []string
	w := newWriter(func(e Event) error { sent = append(sent, e.(Token).Text); return nil }, time.Now)
	s := &scanner{w: w}
	for _, token := range []string{"The", " light", " was", " seen", " from", " 30", " km", "."} {
		before := len(sent)
		if err := s.write(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		if token != " 30" && len(sent) != before+1 {
			t.Errorf("%q is held back", token)
		}
	}
	if got := strings.Join(sent, ""); got != "The light was seen from 30 km." {
		t.Errorf("sent %q", got)
	}
}

func TestMarkNumbers(t *testing.T) {
	for text, want := range map[string][]int{
		"1": {1}, "1,2": {1, 2}, " 1 ; 2 ": {1, 2}, "1 2": {1, 2}, "2-4": {2, 3, 4}, "2—4": {2, 3, 4}, "4-2": {2, 3, 4},
		"-3": {3}, "3-": {3}, "1-2-3": {0, 1}, "": nil, " - ": {0},
	} {
		if got := markNumbers(text); !slices.Equal(got, want) {
			t.Errorf("%q gives %v, want %v", text, got, want)
		}
	}
}

func TestReadTime(t *testing.T) {
	for text, want := range map[string]int64{"0:14": 14, "00:14": 14, "1:02:03": 3723, "75:00": 4500, "1:60:61": 7261, "１:０２": 62} {
		if got, ok := readTime(text); !ok || got != want {
			t.Errorf("%q reads as %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "14", "1:2", "1:60", "1:02:3", "1:02:03:04", ":14", "1:", "1:002"} {
		if got, ok := readTime(text); ok {
			t.Errorf("%q reads as %d", text, got)
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, c := range replies {
		f.Add(c.reply, 3, 7)
	}
	f.Fuzz(func(t *testing.T, reply string, i, j int) {
		i, j = max(0, min(i, len(reply))), max(0, min(j, len(reply)))
		whole, dropped := scan(t, reply)
		if parts, again := scan(t, reply, min(i, j), max(i, j)); whole != parts || dropped != again {
			t.Errorf("cut at %d and %d: %q instead of %q", i, j, parts, whole)
		}
		for _, n := range []string{"{0}", "{4}", "{9}"} {
			if strings.Contains(whole, n) && !strings.Contains(reply, n) {
				t.Errorf("a number of no evidence is cited: %q", whole)
			}
		}
	})
}
