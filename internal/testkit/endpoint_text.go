package testkit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// goodReply is what mode ok says to a chat request: JSON where a schema or the
// prompt asks for it, a cited answer where the prompt holds numbered evidence,
// else a sentence or two of description. It depends on the request alone. Who
// has eyes (look is not nil) describes pictures by what it sees.
func goodReply(c *Call, look func(jpeg []byte) string) string {
	g := newWriter(c)
	g.see(look)
	if len(c.Schema) > 0 {
		if v, ok := g.fill(c.Schema); ok {
			return mustJSON(v)
		}
	}
	if n := g.wanted(); n > 0 && asksArray.MatchString(g.orders) {
		if field := asksField.FindStringSubmatch(g.orders); field != nil {
			return mustJSON(map[string]any{field[1]: g.sentences(n)})
		}
		return mustJSON(g.sentences(n))
	}
	if ev := Evidence(c.Prompt); len(ev) > 0 {
		return citedAnswer(ev)
	}
	if len(g.seen) > 0 {
		return strings.Join(slices.Compact(slices.Clone(g.seen)), " ")
	}
	return g.sentence(0) + " " + g.sentence(1)
}

// writer makes texts out of a request's words and its hash.
type writer struct {
	c      *Call
	seed   [32]byte
	words  []string // of the data, else of the whole prompt
	orders string   // the prompt without its data
	seen   []string // what eyes saw, per picture
}

func newWriter(c *Call) *writer {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\x00%s\x00", c.System, c.Prompt) // a hash never fails to write
	for _, jpeg := range c.Images {
		_, _ = h.Write(jpeg)
	}
	g := &writer{c: c}
	h.Sum(g.seed[:0])
	g.orders = data.ReplaceAllString(c.Prompt, "")
	source := strings.Join(data.FindAllString(c.Prompt, -1), "\n")
	if source == "" {
		source = c.Prompt
	}
	for _, w := range longWord.FindAllString(source, -1) {
		if w = strings.ToLower(w); !slices.Contains(g.words, w) && len(g.words) < 400 {
			g.words = append(g.words, w)
		}
	}
	if len(g.words) == 0 {
		g.words = []string{"something"}
	}
	return g
}

var (
	longWord  = regexp.MustCompile(`\p{L}{5,}`)
	data      = regexp.MustCompile(`(?s)<data>.*?(?:</data>|$)`)
	asksField = regexp.MustCompile(`JSON object whose field "(\w+)" is an array`)
	asksArray = regexp.MustCompile(`(?i)json\s+(array|list)|array of|list of \d+`)
	wantedN   = regexp.MustCompile(`(?i)(?:exactly\s+)?(\d+)\s+(?:strings|texts|descriptions|elements|entries|items|sentences)`)
)

// see looks at the pictures of the request.
func (g *writer) see(look func(jpeg []byte) string) {
	if look == nil {
		return
	}
	for _, jpeg := range g.c.Images {
		g.seen = append(g.seen, look(jpeg))
	}
}

// sentence i is what was seen in picture i, else names three words of the prompt and a tag that no other has.
func (g *writer) sentence(i int) string {
	if i < len(g.seen) {
		return g.seen[i]
	}
	sum := sha256.Sum256(fmt.Appendf(g.seed[:], "%d", i))
	pick := func(k int) string { return g.words[(int(sum[k])<<8|int(sum[k+1]))%len(g.words)] }
	return fmt.Sprintf("The picture shows %s beside %s and then %s (%s).",
		pick(0), pick(2), pick(4), hex.EncodeToString(sum[6:9]))
}

func (g *writer) sentences(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = g.sentence(i)
	}
	return out
}

// wanted is the number of texts the prompt asks for, else that of its pictures.
func (g *writer) wanted() int {
	if wish := wantedN.FindStringSubmatch(g.orders); wish != nil {
		n, _ := strconv.Atoi(wish[1])
		return min(n, 1000)
	}
	return len(g.c.Images)
}

// schema is the part of JSON schema that is filled.
type schema struct {
	Type       any               `json:"type"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	MinItems   int               `json:"minItems"`
	MaxItems   int               `json:"maxItems"`
	Enum       []any             `json:"enum"`
}

// fill makes a value of a schema: arrays get as many elements as the schema or
// the prompt wants, truths are true, numbers 1, "follow_up" and the like empty.
func (g *writer) fill(raw json.RawMessage) (any, bool) {
	var s schema
	if json.Unmarshal(raw, &s) != nil {
		return nil, false
	}
	n := 0
	return g.value(s, "", &n), true
}

func (g *writer) value(s schema, name string, n *int) any {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	kind, _ := s.Type.(string)
	switch kind {
	case "object":
		out := map[string]any{}
		for key, sub := range sorted(s.Properties) {
			out[key] = g.value(sub, key, n)
		}
		return out
	case "array":
		out := []any{}
		for range g.length(s, name) {
			out = append(out, g.value(*s.Items, "", n))
		}
		return out
	case "boolean":
		return true
	case "number", "integer":
		return 1
	case "null":
		return nil
	}
	if idle(name) {
		return ""
	}
	*n++
	return g.sentence(*n - 1)
}

func (g *writer) length(s schema, name string) int {
	switch {
	case s.Items == nil || idle(name) && s.MinItems == 0:
		return 0
	case s.MinItems > 0:
		return s.MinItems
	}
	n := g.wanted()
	if s.MaxItems > 0 {
		n = min(n, s.MaxItems)
	}
	return n
}

// idle names fields that a content critic leaves empty.
func idle(name string) bool {
	for _, part := range []string{"missing", "follow", "gap", "query"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// mustJSON encodes without HTML escapes, as models write.
func mustJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // only values made here come in
	}
	return strings.TrimSuffix(b.String(), "\n")
}
