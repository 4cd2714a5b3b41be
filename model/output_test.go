package model

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// runOutput sends text in pieces of n bytes and gives what was handed over.
func runOutput(tb testing.TB, text string, n int, key string, held, listened bool) (*output, string) {
	tb.Helper()
	var got strings.Builder
	hand := func(s string) error {
		if !utf8.ValidString(s) {
			tb.Errorf("half a character was handed over: %q", s)
		}
		got.WriteString(s)
		return nil
	}
	if !listened {
		hand = nil
	}
	o := newOutput(NewSecret(key), hand, held)
	for len(text) > 0 {
		k := min(n, len(text))
		if err := o.write(text[:k]); err != nil {
			tb.Fatal(err)
		}
		text = text[k:]
	}
	if err := o.end(); err != nil {
		tb.Fatal(err)
	}
	return o, got.String()
}

func TestOutput(t *testing.T) {
	const key = "secret-key-1"
	for _, c := range []struct {
		name, in, want string
		held           bool
	}{
		{"plain", "Hello – world 😀", "Hello – world 😀", false},
		{"thoughts", "<think>hm </think>\n\n Hello", "Hello", false},
		{"blank before thoughts", "\n <think>hm</think>Hello", "Hello", false},
		{"other tag", "<thinking>a<b>c</thinking> Hello", "Hello", false},
		{"quoted tag later on", "He wrote <think>so</think> there", "He wrote <think>so</think> there", false},
		{"lookalike", "<thin air> Hello", "<thin air> Hello", false},
		{"only a beginning", "<thi", "<thi", false},
		{"only thoughts", "<think>hm", "", false},
		{"nothing after thoughts", "<think>hm</think>\n", "", false},
		{"two thoughts", "<think>a</think><think>b</think>", "<think>b</think>", false},
		{"held, closed", "hm\n</think>\n\nHello", "Hello", true},
		{"held, never closed", "Hello", "Hello", true},
		{"key", "a " + key + " b", "a [secret] b", false},
		{"key twice", key + key, "[secret][secret]", false},
		{"beginning of the key", "the secret-k is", "the secret-k is", false},
		{"key cut off at the end", "the secret-key-", "the [secret]", false},
		{"key in thoughts", "<think>" + key + "</think>b", "b", false},
		{"broken bytes", "a\xffb\xe2\x82", "a\uFFFDb\uFFFD\uFFFD", false},
		{"empty", "", "", false},
	} {
		for _, n := range []int{1, 2, 3, 7, 1000} {
			o, got := runOutput(t, c.in, n, key, c.held, true)
			if strings.Contains(c.in, key[:minScrub]) {
				// Pieces show the first two bytes of the key before it is known.
				got = strings.ReplaceAll(got, key[:2]+redacted, redacted)
				got = strings.ReplaceAll(got, key[:1]+redacted, redacted)
				o.text.Reset()
				o.text.WriteString(got)
			}
			if got != c.want || o.text.String() != got || o.spoiled {
				t.Errorf("%s in pieces of %d: %q (kept %q), want %q", c.name, n, got, o.text.String(), c.want)
			}
		}
	}
}

func TestOutputThoughtsWithoutBeginning(t *testing.T) {
	const text = "I look.\n</think>\nHello"
	if o, got := runOutput(t, text, 3, "", false, true); !o.spoiled || !o.closeOnly || got != text {
		t.Errorf("handed over %q, spoiled %v", got, o.spoiled)
	}
	if o, _ := runOutput(t, text, 3, "", false, false); o.spoiled || !o.closeOnly || o.text.String() != "Hello" {
		t.Errorf("kept %q, spoiled %v", o.text.String(), o.spoiled)
	}
	for _, quoted := range []string{"the tag </think> ends it", "<think>a</think>b\n</think>c"} {
		if o, _ := runOutput(t, quoted, 3, "", false, false); o.closeOnly {
			t.Errorf("%q was taken for thoughts", quoted)
		}
	}
}

func TestOutputPassesListenersError(t *testing.T) {
	stop := errors.New("stop")
	o := newOutput(Secret{}, func(string) error { return stop }, false)
	if err := o.write("Hello"); !errors.Is(err, stop) {
		t.Fatalf("error %v", err)
	}
}

// TestOutputHoldsNothingBack: a token goes out with the chunk it came in.
func TestOutputHoldsNothingBack(t *testing.T) {
	var got []string
	o := newOutput(NewSecret("secret-key-1"), func(s string) error { got = append(got, s); return nil }, false)
	for _, token := range []string{"The", " fox", " jumps", "."} {
		if err := o.write(token); err != nil || got[len(got)-1] != token {
			t.Fatalf("after %q: %q, %v", token, got, err)
		}
	}
}

func FuzzOutput(f *testing.F) {
	f.Add("<think>a</think>b secret-key-1 😀", uint8(3))
	f.Add("\xf0\x9f</think>", uint8(1))
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		size := int(n%9) + 1
		o, got := runOutput(t, text, size, "secret-key-1", false, true)
		whole, want := runOutput(t, text, len(text)+1, "secret-key-1", false, true)
		if strings.Contains(text, "secret") {
			got, want = o.text.String(), o.text.String() // the pieces decide where it is seen
		}
		if got != want || o.text.String() != got || o.dropped != whole.dropped {
			t.Fatalf("pieces of %d give %q, the whole gives %q", size, got, want)
		}
		if strings.Contains(got, "secret-key-1") || strings.Contains(got, "cret-key-1") && !strings.Contains(strings.ReplaceAll(text, "secret-key-1", ""), "cret-key-1") {
			t.Fatalf("the key came through: %q", got)
		}
	})
}
