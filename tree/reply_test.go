package tree

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseTexts(t *testing.T) {
	good := []struct{ name, reply string }{
		{"plain", `["one","two"]`},
		{"spaced", "\n [ \"one\" ,\n \"two\" ] \n"},
		{"fenced", "```json\n[\"one\", \"two\"]\n```"},
		{"fence without language", "```\n[\"one\", \"two\"]```"},
		{"prose around", "Here are the 2 descriptions:\n[\"one\",\"two\"]\nI hope [this] helps!"},
		{"prose with brackets", "As asked [1] and [\"x\"]: [\"one\",\"two\"]"},
		{"prose with a lone quote", `A 5" screen: ["one","two",]`},
		{"trailing comma", `["one","two",]`},
		{"trailing comma and line break", "[\"one\",\n\"two\"\n,\n]"},
		{"object", `{"descriptions":["one","two"]}`},
		{"objects", `[{"frame":1,"description":"one"},{"text":"two"},]`},
		{"nested", `[["one","two"]]`},
		{"thoughts first", "<think>maybe [\"a\",\"b\"]</think>[\"one\",\"two\"]"},
		{"raw line break in a text", "[\"one\",\"two\n\"]"},
		{"blanks in a text", `["  one ","two\t"]`},
	}
	for _, c := range good {
		got, ok := parseTexts(c.reply, 2)
		if !ok || fmt.Sprint(got) != "[one two]" {
			t.Errorf("%s: %q, %t", c.name, got, ok)
		}
	}
	bad := []struct{ name, reply string }{
		{"empty", ""},
		{"prose", "I cannot see any pictures."},
		{"fewer", `["one"]`},
		{"more", `["one","two","three"]`},
		{"cut", `["one","tw`},
		{"numbers", `[1,2]`},
		{"empty text", `["one",""]`},
		{"blank text", `["one"," \n"]`},
		{"null", `["one",null]`},
		{"object without a text", `[{"a":"one"},{"b":"two"}]`},
		{"only thoughts", `<think>["one","two"]`},
		{"open brackets", strings.Repeat("[", 100000)},
	}
	for _, c := range bad {
		if got, ok := parseTexts(c.reply, 2); ok {
			t.Errorf("%s: took %q", c.name, got)
		}
	}
	quoted, ok := parseTexts(`["a sign, \"no ]\", hangs,]","{,}"]`, 2)
	if !ok || quoted[0] != `a sign, "no ]", hangs,]` || quoted[1] != "{,}" {
		t.Errorf("texts were changed: %q", quoted)
	}
}

func TestPlainText(t *testing.T) {
	for _, c := range []struct{ name, reply, finish, want string }{
		{"plain", " Anna opens the silo. \n", "stop", "Anna opens the silo."},
		{"two lines", "Anna opens\nthe silo.", "stop", "Anna opens the silo."},
		{"fenced", "```text\nAnna opens.\n```", "stop", "Anna opens."},
		{"quoted", `"Anna opens."`, "stop", "Anna opens."},
		{"quotes inside stay", `"No" and "yes"`, "stop", `"No" and "yes"`},
		{"array of one", `["Anna opens."]`, "stop", "Anna opens."},
		{"object", `{"description":"Anna opens.",}`, "stop", "Anna opens."},
		{"thoughts", "<think>hm</think>\nAnna opens.", "stop", "Anna opens."},
		{"tag of the source stays", "A slide shows <think>.", "stop", "A slide shows <think>."},
		{"thoughts without end", "<think>hm", "length", ""},
		{"cut", "Anna opens. She looks and", "length", "Anna opens."},
		{"cut in the first sentence", "Anna opens the", "length", "Anna opens the"},
		{"cut, Chinese", "安娜打开粮仓。她看", "length", "安娜打开粮仓。"},
		{"empty", "", "stop", ""},
	} {
		if got := plainText(Reply{Text: c.reply, Finish: c.finish}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := plainText(Reply{Text: strings.Repeat("again and ", 5000)}); Words(got) > replyWords {
		t.Errorf("a runaway of %d words was kept", Words(got))
	}
}

func FuzzParseTexts(f *testing.F) {
	f.Add(`["one","two"]`, 2)
	f.Add("```json\n[{\"text\":\"a\\\"\"},]", 1)
	f.Add(`<think>[[["`, 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		texts, ok := parseTexts(s, n)
		if ok && len(texts) != n {
			t.Fatalf("%d texts, want %d", len(texts), n)
		}
		for _, text := range texts {
			if tidy(text) != text || text == "" || strings.ContainsAny(text, "\n\r") {
				t.Fatalf("text %q is not fit to be stored", text)
			}
		}
		_ = plainText(Reply{Text: s, Finish: "length"})
	})
}
