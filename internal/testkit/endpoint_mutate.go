package testkit

import (
	"encoding/json"
	"slices"
	"strings"
)

// said is a reply before it is sent.
type said struct {
	text     string
	thoughts string // reasoning_content
	refusal  string
	null     bool // content null
	finish   string
}

// say makes the reply of a chat call in its mode.
func (p *reply) say() said {
	s := said{text: goodReply(p.c, p.e.eyes()), finish: "stop"}
	ev := Evidence(p.c.Prompt)
	whole := map[string]func(){
		"null-content":        func() { s.text, s.null = "", true },
		"empty-content":       func() { s.text = "" },
		"refusal":             func() { s.text, s.refusal = "", "I cannot help with that." },
		"content_filter":      func() { s.text, s.finish = firstWords(s.text, 3), "content_filter" },
		"obey":                func() { s.text = obedient(p.c) },
		"echo-secret":         func() { s.text = "The key is " + p.key() + ", " + s.text },
		"other-language":      func() { s.text = otherLanguage(s.text, ev) },
		"bad-number":          func() { s.text = withMark(s.text, " [97] [0] [1, 98] [3–96]") },
		"bad-time":            func() { s.text = withMark(s.text, " This is said at 7:77:77 and at 99:59.") },
		"bad-node":            func() { s.text = withMark(s.text, " See bbbbbbbbbbbbbbbbbbbbbbbbbb/7.7.7.") },
		"cite-wrong-evidence": func() { s.text = wrong(s.text, ev) },
		"reasoning_content":   func() { s.thoughts = "First I look at the pictures. " },
		"length-valid":        func() { s.finish = "length" },
		"length":              func() { s.text, s.finish = cutThird(s.text), "length" },
		"cutjson":             func() { s.text = cutThird(s.text) },
		"badjson-always":      func() { s.text = cutThird(s.text) },
	}
	for name, change := range sorted(whole) {
		if p.mode.has(name) {
			change()
		}
	}
	for _, m := range reshapes {
		if p.mode.has(m.name) {
			s.text = m.change(s.text)
		}
	}
	return s
}

// reshapes change a text that is JSON, or wrap any text; in this order.
var reshapes = []struct {
	name   string
	change func(string) string
}{
	{"fewer", func(s string) string { return onList(s, func(v []any) []any { return v[:len(v)-1] }) }},
	{"more", func(s string) string { return onList(s, func(v []any) []any { return append(v, v[0]) }) }},
	{"shuffled", func(s string) string { return onList(s, func(v []any) []any { slices.Reverse(v); return v }) }},
	{"wrong-type", func(s string) string {
		return onList(s, func(v []any) []any {
			for i := range v {
				v[i] = 7
			}
			return v
		})
	}},
	{"missing-field", func(s string) string {
		return onObject(s, func(o map[string]any) {
			for key := range sorted(o) {
				delete(o, key)
				return
			}
		})
	}},
	{"extra-field", func(s string) string { return onObject(s, func(o map[string]any) { o["confidence"] = 0.9 }) }},
	{"trailing-comma", func(s string) string {
		if n := len(s) - 1; n > 0 && (s[n] == ']' || s[n] == '}') {
			return s[:n] + "," + s[n:]
		}
		return s
	}},
	{"single-quotes", func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "'", "’"), `"`, "'") }},
	{"fence", func(s string) string { return "```json\n" + s + "\n```" }},
	{"fence-nolang", func(s string) string { return "```\n" + s + "\n```" }},
	{"prose", func(s string) string { return "Sure! Here is what you asked for:\n\n" + s + "\n\nI hope this helps." }},
	{"think", func(s string) string { return "<think>\nI look at [1] and at the clock.\n</think>\n\n" + s }},
	{"think-close-only", func(s string) string { return "I look at [1] and at the clock.\n</think>\n\n" + s }},
	{"think-json", func(s string) string { return "<think>\n[\"draft\", {\"a\": 1}]\n</think>\n" + s }},
}

// onList changes the list in a JSON text: the text itself, or the first list
// in an object. A text that is no JSON stays as it is.
func onList(text string, change func([]any) []any) string {
	var list []any
	if json.Unmarshal([]byte(text), &list) == nil && len(list) > 0 {
		return mustJSON(change(list))
	}
	var object map[string]any
	if json.Unmarshal([]byte(text), &object) != nil {
		return text
	}
	for key, v := range sorted(object) {
		if list, ok := v.([]any); ok && len(list) > 0 {
			object[key] = change(list)
			return mustJSON(object)
		}
	}
	return text
}

// onObject changes the objects in a JSON text; a list of texts becomes a list
// of objects, which is what such models send instead.
func onObject(text string, change func(map[string]any)) string {
	var object map[string]any
	if json.Unmarshal([]byte(text), &object) == nil {
		change(object)
		return mustJSON(object)
	}
	return onList(text, func(list []any) []any {
		for i, v := range list {
			o, ok := v.(map[string]any)
			if !ok {
				o = map[string]any{"index": i, "text": v}
			}
			change(o)
			list[i] = o
		}
		return list
	})
}

// cutThird drops the last third.
func cutThird(s string) string {
	r := []rune(s)
	return string(r[:len(r)*2/3])
}

func firstWords(s string, n int) string {
	words := strings.Fields(s)
	return strings.Join(words[:min(n, len(words))], " ")
}

// withMark adds to a text, and to the first text of a JSON list.
func withMark(s, mark string) string {
	if !json.Valid([]byte(s)) {
		return s + mark
	}
	return onList(s, func(v []any) []any {
		if first, ok := v[0].(string); ok {
			v[0] = first + mark
		}
		return v
	})
}

func otherLanguage(s string, ev []Numbered) string {
	const words = "Das Bild zeigt einen Tisch, 一张桌子 и стол"
	if json.Valid([]byte(s)) {
		return onList(s, func(v []any) []any {
			for i := range v {
				v[i] = words + "."
			}
			return v
		})
	}
	if len(ev) > 0 {
		return words + " [1]."
	}
	return words + "."
}

func wrong(s string, ev []Numbered) string {
	if len(ev) < 2 || json.Valid([]byte(s)) {
		return s
	}
	return wronglyCited(ev)
}
