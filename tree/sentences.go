package tree

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Limits that keep a stretch of speech without punctuation, as automatic
// captions are, from becoming one endless sentence.
const (
	softWords = 25   // a cue's end is taken for a sentence's end from here on
	hardWords = 50   // cut at a word here
	pauseMS   = 2000 // a pause this long ends a sentence
)

// sentence is one sentence of a clip with who said it.
type sentence struct {
	speaker string
	text    string
}

// String is the sentence with its speaker as a reader expects it.
func (s sentence) String() string {
	if s.speaker == "" {
		return s.text
	}
	return s.speaker + ": " + s.text
}

// clipSentences are the sentences of a clip's speech and passages, in order,
// repeated ones (rolling captions, refrains) once.
func clipSentences(c Clip) []sentence {
	var out []sentence
	seen := map[string]bool{}
	for _, s := range rawSentences(c) {
		key := strings.ToLower(s.text)
		if s.text == "" || seen[key] {
			continue
		}
		seen[key] = true
		out = append(out, s)
	}
	return out
}

func rawSentences(c Clip) []sentence {
	var j joiner
	for _, l := range c.Leaves {
		for _, cue := range l.Evidence.Cues {
			j.cue(cue)
		}
		if l.Evidence.Passage != "" {
			j.flush()
			j.buf = clean(l.Evidence.Passage)
			j.flush()
		}
	}
	j.flush()
	return j.out
}

// joiner puts cues together where a sentence runs over several of them.
type joiner struct {
	out     []sentence
	buf     string
	speaker string
	endMS   int64
}

func (j *joiner) cue(c Cue) {
	text := clean(c.Text)
	if text == "" {
		return
	}
	who := clean(c.Speaker)
	if who != j.speaker || c.StartMS-j.endMS >= pauseMS {
		j.flush()
	}
	j.speaker, j.endMS = who, c.EndMS
	j.buf = joinText(j.buf, text)
	if Words(j.buf) >= roomy(j.buf, softWords) {
		whole := splitSentences(j.buf)
		last := whole[len(whole)-1]
		j.buf = strings.Join(whole[:len(whole)-1], " ")
		speaker := j.speaker
		j.flush()
		j.buf, j.speaker = last, speaker
		if Words(last) >= roomy(last, softWords) {
			j.flush()
		}
	}
}

func (j *joiner) flush() {
	for _, s := range splitSentences(j.buf) {
		for _, part := range cutWords(s, roomy(s, hardWords)) {
			j.out = append(j.out, sentence{j.speaker, part})
		}
	}
	j.buf = ""
}

// transcriber marks such as {pause} or {disfmarker} say nothing to a reader.
var marks = regexp.MustCompile(`\{[a-z_]+\}`)

// clean makes one line of a raw text: no marks, no runs of blanks, no dash
// before a change of speaker, no blank before punctuation.
func clean(s string) string {
	if strings.Contains(s, "{") {
		s = marks.ReplaceAllString(s, "")
	}
	fields := strings.FieldsFunc(s, func(r rune) bool { return blank(r) || unicode.IsControl(r) })
	out := make([]string, 0, len(fields))
	for _, f := range fields {
		if n := len(out); n > 0 && (strings.Trim(f, ".,;:!?") == "" || contraction(f)) {
			out[n-1] += f
			continue
		}
		out = append(out, f)
	}
	return strings.TrimLeft(strings.Join(out, " "), "-–—.,; ")
}

// contraction is an English ending that some transcripts write apart.
func contraction(f string) bool {
	return slices.Contains([]string{"'s", "'re", "'m", "'ve", "'ll", "'d", "n't"}, strings.TrimRight(f, ".,;:!?"))
}

// joinText puts two pieces together, with a blank unless both sides are
// written without blanks.
func joinText(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	if unspaced(lastRune(a)) && unspaced(firstRune(b)) {
		return a + b
	}
	return a + " " + b
}

// unspaced scripts put no blank between words or clauses: kana, Han and their
// punctuation. Thai puts one between clauses.
func unspaced(r rune) bool {
	return dense(r) && !unicode.In(r, unicode.Hangul, unicode.Thai) || (r >= 0x3001 && r <= 0x303f) || (r >= 0xff01 && r <= 0xff60)
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

func lastRune(s string) rune {
	r := []rune(s[max(0, len(s)-4):])
	return r[len(r)-1]
}
