package model

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestImageLimit(t *testing.T) {
	for words, want := range map[string]int{
		"at most 1 image(s) may be provided in one request.": 1,
		"you may provide at most 16 images":                  16,
		"a maximum of 4 images per request":                  4,
		"max 8 images":                                       8,
		"up to 20 pictures":                                  20,
		"exceeds limit of 3 images per prompt":               3,
		"at most 4096 tokens":                                0,
		"image 3 of 5 is broken":                             0,
		"":                                                   0,
	} {
		if got := imageLimit(words); got != want {
			t.Errorf("%q: %d, want %d", words, got, want)
		}
	}
}

func TestThinnedKeepsBothEnds(t *testing.T) {
	pictures := func(n int) (all [][]byte) {
		for i := range n {
			all = append(all, []byte{byte(i)})
		}
		return all
	}
	for _, c := range []struct {
		have, most int
		want       []byte
	}{{10, 4, []byte{0, 3, 6, 9}}, {3, 2, []byte{0, 2}}, {5, 1, []byte{0}}, {2, 4, []byte{0, 1}}, {0, 1, nil}} {
		r := Request{Messages: []Message{{Images: pictures(c.have)}, {Text: "no pictures"}}}
		var got []byte
		for _, jpeg := range r.thinned(c.most).Messages[0].Images {
			got = append(got, jpeg...)
		}
		if !slices.Equal(got, c.want) || len(r.Messages[0].Images) != c.have {
			t.Errorf("%d of %d: %v, the request itself has %d", c.most, c.have, got, len(r.Messages[0].Images))
		}
	}
}

// TestPhrasingAfterRefusals goes through the refusals of servers that know less,
// and stops where nothing is left to change.
func TestPhrasingAfterRefusals(t *testing.T) {
	object, list := json.RawMessage(`{"type":"object"}`), json.RawMessage(`{"type":"array"}`)
	refused := func(detail string) *Error { return &Error{Kind: KindUpstream, Status: 400, Detail: detail} }
	for _, c := range []struct {
		name string
		from phrasing
		e    *Error
		r    Request
		want phrasing
		ok   bool
	}{
		{"o-series", phrasing{}, refused("Use 'max_completion_tokens' instead"), Request{MaxTokens: 5}, phrasing{completion: true}, true},
		{"no cap was sent", phrasing{}, refused("max_tokens"), Request{}, phrasing{}, false},
		{"said already", phrasing{completion: true}, refused("max_tokens"), Request{MaxTokens: 5}, phrasing{completion: true}, false},
		{"usage", phrasing{}, refused("extra inputs: stream_options"), Request{}, phrasing{noUsage: true}, true},
		{"schema to object", phrasing{}, refused("response_format.type must be json_object"), Request{JSONSchema: object}, phrasing{format: formatObject}, true},
		{"a list has no object", phrasing{}, refused("json_schema"), Request{JSONSchema: list}, phrasing{format: formatPlain}, true},
		{"object to words", phrasing{format: formatObject}, refused("response_format"), Request{JSONSchema: object}, phrasing{format: formatPlain}, true},
		{"nothing left", phrasing{format: formatPlain}, refused("response_format"), Request{JSONSchema: object}, phrasing{format: formatPlain}, false},
		{"LM Studio's schema", phrasing{}, &Error{Kind: KindUpstream, Status: 500, Detail: "failed to parse grammar"}, Request{JSONSchema: object}, phrasing{format: formatObject}, true},
		{"pictures", phrasing{}, refused("At most 2 image(s)"), Request{Messages: []Message{{Images: make([][]byte, 3)}}}, phrasing{images: 2}, true},
		{"still fewer", phrasing{images: 2}, refused("At most 1 image(s)"), Request{Messages: []Message{{Images: make([][]byte, 3)}}}, phrasing{images: 1}, true},
		{"not fewer", phrasing{images: 1}, refused("At most 1 image(s)"), Request{Messages: []Message{{Images: make([][]byte, 3)}}}, phrasing{images: 1}, false},
		{"another kind", phrasing{}, &Error{Kind: KindAuth, Status: 401, Detail: "max_tokens"}, Request{MaxTokens: 5}, phrasing{}, false},
		{"another status", phrasing{}, &Error{Kind: KindUpstream, Status: 503, Detail: "max_tokens"}, Request{MaxTokens: 5}, phrasing{}, false},
	} {
		if got, ok := c.from.after(c.e, c.r); ok != c.ok || got != c.want {
			t.Errorf("%s: %+v %v, want %+v %v", c.name, got, ok, c.want, c.ok)
		}
	}
}

// TestDialectNeverForgets: calls that ran at once report in any order.
func TestDialectNeverForgets(t *testing.T) {
	var d dialect
	d.set(phrasing{format: formatPlain, images: 2})
	d.set(phrasing{completion: true, images: 4})
	d.set(phrasing{noUsage: true})
	if want := (phrasing{format: formatPlain, completion: true, noUsage: true, images: 2}); d.get() != want {
		t.Errorf("%+v, want %+v", d.get(), want)
	}
	d.set(phrasing{images: 1})
	if d.get().images != 1 {
		t.Errorf("%+v", d.get())
	}
}

func TestRequestsInEachPhrasing(t *testing.T) {
	r := Request{MaxTokens: 7, JSONSchema: json.RawMessage(`{"type":"object"}`), Messages: []Message{{Text: "q"}}}
	plain := phrasing{format: formatPlain, completion: true, noUsage: true}.request("m", r)
	if plain.MaxCompletionTokens != 7 || plain.MaxTokens != 0 || plain.StreamOptions != nil || plain.ResponseFormat != nil { //nolint:staticcheck // the name small servers know
		t.Errorf("%+v", plain)
	}
	full := phrasing{}.request("m", r)
	if full.MaxTokens != 7 || full.MaxCompletionTokens != 0 || !full.StreamOptions.IncludeUsage || full.ResponseFormat.JSONSchema == nil { //nolint:staticcheck // as above
		t.Errorf("%+v", full)
	}
	r.JSONSchema = json.RawMessage(`{"type":"array"}`)
	if got := (phrasing{format: formatObject}).request("m", r); got.ResponseFormat != nil {
		t.Errorf("a list is asked for as an object: %+v", got.ResponseFormat)
	}
}

func TestKindsByWords(t *testing.T) {
	for words, kind := range map[string]Kind{
		"Loading model": KindUpstream, "model 'x' not found": KindNoModel, "The model `x` does not exist": KindNoModel,
		"image input is not supported": KindRefused, "content_filter triggered": KindRefused, "bad grammar": KindUpstream,
	} {
		if got := kindOfStatus(400, words); got != kind {
			t.Errorf("%q: %s, want %s", words, got, kind)
		}
	}
}
