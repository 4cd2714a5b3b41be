package model

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"
)

func TestParseChunk(t *testing.T) {
	for _, c := range []struct {
		in   string
		want chunk
	}{
		{`{"choices":[{"delta":{"content":"a\nb"}}]}`, chunk{hasChoice: true, text: "a\nb"}},
		{`{"choices":[{"delta":{"content":null},"finish_reason":"stop"}]}`, chunk{hasChoice: true, finish: "stop"}},
		{`{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`, chunk{hasChoice: true, text: "ab"}},
		{`{"choices":[{"message":{"content":"x","refusal":"no"}}]}`, chunk{hasChoice: true, text: "x", refusal: "no"}},
		{`{"choices":[{"delta":{"reasoning":"r"}},{"index":1,"delta":{"content":"other"}}]}`, chunk{hasChoice: true, reasoning: "r"}},
		{`{"choices":[{"text":"old style"}]}`, chunk{hasChoice: true, text: "old style"}},
		{`{"choices":[]}`, chunk{}},
		{`{"choices":null,"error":null}`, chunk{}},
		{`{"error":"text"}`, chunk{failure: "text"}},
		{`{"error":{"message":"m","code":"quota"}}`, chunk{failure: "m, quota"}},
		{`{"error":{"message":"m","code":503}}`, chunk{failure: "m", status: 503}},
		{`{"error":{"odd":1}}`, chunk{failure: `{"odd":1}`}},
		{`{"object":"error","message":"m"}`, chunk{failure: "m "}},
	} {
		got, err := parseChunk([]byte(c.in))
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.in, got, err, c.want)
		}
	}
	if got, err := parseChunk([]byte(`{"choices":[{"delta":{}}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`)); err != nil || *got.usage != (chunkUsage{3, 4}) {
		t.Errorf("usage %+v, %v", got.usage, err)
	}
	for _, in := range []string{"", "null?", "[1]", `{"choices":{}}`, `"x"`} {
		if _, err := parseChunk([]byte(in)); err == nil {
			t.Errorf("%q was taken", in)
		}
	}
}

func FuzzParseChunk(f *testing.F) {
	f.Add([]byte(`{"choices":[{"delta":{"content":"a\ud83d\ude00\u00e9\\\""}}]}`))
	f.Add([]byte("{\"choices\":[{\"delta\":{\"content\":\"\xf0\x9f\"}}]}"))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		_, _ = parseChunk(raw) // must not panic
	})
}

// FuzzRawString: on valid text it equals encoding/json.
func FuzzRawString(f *testing.F) {
	f.Add("plain")
	f.Add("\"quoted\" \\ \n \u2028 😀 <b>")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		for _, escape := range []bool{true, false} {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(escape)
			if err := enc.Encode(text); err != nil {
				t.Fatal(err)
			}
			if got := rawString(bytes.TrimSpace(b.Bytes())); got != text {
				t.Fatalf("%q from %s, want %q", got, b.Bytes(), text)
			}
		}
	})
}

func TestRawStringJoinsSurrogates(t *testing.T) {
	if got := rawString([]byte(`"a\ud83d\ude00b\\u0041\u0041"`)); got != "a😀b\\u0041A" {
		t.Errorf("%q", got)
	}
}

func TestEventBody(t *testing.T) {
	for _, c := range []struct{ name, in, want, kept string }{
		{"plain", "data: {\"a\":1}\n\ndata: [DONE]\n\n", "data: { \"a\":1}\ndata: [DONE]\n", ""},
		{"spelling", "data:{}\r\n\r\ndata:  [DONE]", "data: { }\ndata: [DONE]\n", ""},
		{"other fields", ": ping\nevent: x\nid: 1\nretry: 5\ndata: 1\n", "data: 1\n", ""},
		{"error first", "data: {\"error\":1}\n", "data: { \"error\":1}\n", ""},
		{"no events", "{\n\"choices\": []\n}", "", "{\n\"choices\": []\n}"},
		{"page", "<html>\n</html>", "", "<html>\n</html>"},
		{"empty data", "data:\n\ndata: 1\n", "data: 1\n", ""},
		{"text after events", "data: 1\nstray\n", "data: 1\n", ""},
	} {
		ex := &exchange{}
		body := newEventBody(io.NopCloser(iotest.OneByteReader(strings.NewReader(c.in))), ex)
		got, err := io.ReadAll(body)
		if err != nil || string(got) != c.want || strings.TrimSpace(string(ex.body)) != c.kept {
			t.Errorf("%s: %q, kept %q, %v, want %q", c.name, got, ex.body, err, c.want)
		}
	}
	body := newEventBody(io.NopCloser(io.MultiReader(strings.NewReader("data: {\"cut"), iotest.ErrReader(io.ErrUnexpectedEOF))), &exchange{})
	if got, err := io.ReadAll(body); len(got) != 0 || err != io.ErrUnexpectedEOF { //nolint:errorlint // ReadAll passes it on
		t.Errorf("half a line: %q, %v", got, err)
	}
}

func TestRetryAfterHeader(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for in, want := range map[string]time.Duration{
		"": 0, "2": 2 * time.Second, " 1.5 ": 1500 * time.Millisecond, "-3": 0, "0": 0, "soon": 0, "1e9": 0, "NaN": 0,
		"Fri, 02 Jan 2026 03:04:35 GMT": 30 * time.Second, "Fri, 02 Jan 2026 03:00:00 GMT": 0,
	} {
		if got := retryAfter(in, now); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestFailureWords(t *testing.T) {
	for in, want := range map[string]string{
		`{"error":{"message":"m"}}`: "m", `{"error":"e"}`: "e", `{"message":"x"}`: "x", `{"detail":"d"}`: "d",
		`{"detail":[{"msg":"d"}]}`: `[{"msg":"d"}]`, "plain words": "plain words", "<html>": "a web page", "": "", `{}`: `{}`,
	} {
		if got := failureWords([]byte(in)); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	if got := clean("a\x00b\n\u202Ec \xff" + strings.Repeat("x", 300)); len([]rune(got)) != 201 || strings.ContainsAny(got, "\x00\n\u202E") {
		t.Errorf("cleaned to %q", got)
	}
}

func FuzzParseVectors(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":0,"embedding":[1,2]}]}`), 1)
	f.Add([]byte(`{"data":[{"index":1,"embedding":"AACAPw=="},{"index":0,"embedding":[3]}]}`), 2)
	f.Add([]byte(`{"data":[{"embedding":[1e308,1e308]}]}`), 1)
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		n &= 7
		vectors, _, err := parseVectors(body, n)
		if err != nil {
			return
		}
		if len(vectors) != n {
			t.Fatalf("%d vectors for %d texts", len(vectors), n)
		}
		for _, v := range vectors {
			sum := 0.0
			for _, x := range v {
				sum += float64(x) * float64(x)
			}
			if math.Abs(sum-1) > 1e-3 {
				t.Fatalf("length² %g", sum)
			}
		}
	})
}

func FuzzParseTranscript(f *testing.F) {
	f.Add([]byte(`{"text":"a","segments":[{"start":0,"end":1.5,"text":" a "},{"start":9,"end":12,"text":"b"}]}`), int64(10000))
	f.Add([]byte(`{"segments":[{"start":1e300,"end":1e301,"text":"a"}]}`), int64(5))
	f.Fuzz(func(t *testing.T, body []byte, length int64) {
		length &= 1<<40 - 1
		cues, err := parseTranscript(body, "text/plain", length)
		if err != nil {
			return
		}
		last := int64(0)
		for _, c := range cues {
			if c.StartMS < last || c.EndMS <= c.StartMS && length > 0 || c.EndMS > length || c.Text == "" {
				t.Fatalf("cue %+v of %d ms", c, length)
			}
			last = c.StartMS
		}
	})
}

func FuzzWAVLength(f *testing.F) {
	f.Add(silence())
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, err := wavLength(b); err == nil && n < 0 {
			t.Fatalf("length %d", n)
		}
	})
}

func TestWAVLength(t *testing.T) {
	if n, err := wavLength(silence()); err != nil || n != 500 {
		t.Fatalf("%d, %v", n, err)
	}
	lying := silence()
	copy(lying[40:], []byte{0xFF, 0xFF, 0xFF, 0xFF})
	if n, err := wavLength(lying); err != nil || n != 500 {
		t.Fatalf("a header that promises more: %d, %v", n, err)
	}
}
