package model

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	openai "github.com/sashabaranov/go-openai"
)

// phrasing is how a request is put to one endpoint. OpenAI, vLLM, llama.cpp,
// LM Studio and Ollama differ here; each difference costs one refused call,
// after which the client remembers it.
type phrasing struct {
	format     format
	completion bool // max_completion_tokens instead of max_tokens
	noUsage    bool // stream_options is not known
	images     int  // most pictures of one request, 0 = no limit is known
}

// format is how JSON is asked for, best first.
type format int

const (
	formatSchema format = iota
	formatObject
	formatPlain // by the words of the prompt alone
)

// firstPhrasing starts with what most servers know. go-openai itself refuses
// max_tokens for the reasoning models of OpenAI.
func firstPhrasing(model string) phrasing {
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(model, prefix) {
			return phrasing{completion: true}
		}
	}
	return phrasing{}
}

// dialect is what a client learned about its endpoint.
type dialect struct {
	mu      sync.Mutex
	current phrasing
	closes  bool // thoughts end with </think> and begin with nothing
}

func (d *dialect) get() phrasing {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.current
}

// set keeps what was learned; calls that run at once learn the same things, so
// a later one never takes anything back.
func (d *dialect) set(p phrasing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.current.format = max(d.current.format, p.format)
	d.current.completion = d.current.completion || p.completion
	d.current.noUsage = d.current.noUsage || p.noUsage
	if p.images > 0 && (d.current.images == 0 || p.images < d.current.images) {
		d.current.images = p.images
	}
}

func (d *dialect) closeOnly() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closes
}

func (d *dialect) learnCloseOnly() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closes = true
}

// after is the next phrasing to try when an endpoint refused this one; false
// when the failure has another reason. Servers answer an unknown field with
// 400 or 422 and name it, some fail with 500 or 501 over a schema.
func (p phrasing) after(e *Error, r Request) (phrasing, bool) {
	if e.Kind != KindUpstream || (e.Status != 400 && e.Status != 422 && e.Status != 500 && e.Status != 501) {
		return p, false
	}
	words := strings.ToLower(e.Detail)
	names := func(any ...string) bool {
		for _, s := range any {
			if strings.Contains(words, s) {
				return true
			}
		}
		return false
	}
	switch {
	case !p.completion && r.MaxTokens > 0 && names("max_completion_tokens", "max_tokens"):
		p.completion = true
	case !p.noUsage && names("stream_options", "include_usage"):
		p.noUsage = true
	case p.fewerImages(words, r):
		p.images = imageLimit(words)
	case r.JSONSchema != nil && p.format == formatSchema && wantsObject(r.JSONSchema) &&
		names("response_format", "json_schema", "schema", "grammar"):
		p.format = formatObject
	case r.JSONSchema != nil && p.format < formatPlain &&
		names("response_format", "json_schema", "json_object", "schema", "grammar"):
		p.format = formatPlain
	default:
		return p, false
	}
	return p, true
}

// mostImages finds the limit in the words of vLLM ("At most 1 image(s) may be
// provided in one request."), of LM Studio and of services that count alike.
var mostImages = regexp.MustCompile(`(?:at most|maximum of|max(?:imum)?|up to|limit(?: is| of)?:?) (\d+) (?:image|picture)`)

func imageLimit(words string) int {
	found := mostImages.FindStringSubmatch(words)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// fewerImages reports whether the endpoint takes fewer pictures than were sent
// and the request still makes sense with fewer: a reply in JSON answers picture
// by picture, so its pictures are never thinned out.
func (p phrasing) fewerImages(words string, r Request) bool {
	n := imageLimit(words)
	return n > 0 && r.JSONSchema == nil && r.images() > n && (p.images == 0 || n < p.images)
}

// wantsObject reports whether the mode that knows objects only can carry the schema.
func wantsObject(schema json.RawMessage) bool {
	var top struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &top) == nil && top.Type == "object"
}

// request is the request in this phrasing.
func (p phrasing) request(model string, r Request) openai.ChatCompletionRequest {
	if p.images > 0 && r.JSONSchema == nil {
		r = r.thinned(p.images)
	}
	req := openai.ChatCompletionRequest{Model: model, Messages: r.toMessages()}
	if p.completion {
		req.MaxCompletionTokens = r.MaxTokens
	} else {
		req.MaxTokens = r.MaxTokens //nolint:staticcheck // the only name that small servers know
	}
	if !p.noUsage {
		req.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	if r.JSONSchema == nil {
		return req
	}
	switch {
	case p.format == formatSchema:
		req.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: "reply", Schema: r.JSONSchema, Strict: true},
		}
	case p.format == formatObject && wantsObject(r.JSONSchema):
		req.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	return req
}

// thinned is the request with at most n pictures in each message, evenly chosen
// with the first and the last.
func (r Request) thinned(n int) Request {
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		all := r.Messages[i].Images
		if len(all) <= n {
			continue
		}
		var some [][]byte
		for k := range n {
			some = append(some, all[k*(len(all)-1)/max(1, n-1)])
		}
		r.Messages[i].Images = some
	}
	return r
}

// parts puts text before pictures, the order all vision servers accept.
func parts(m Message) []openai.ChatMessagePart {
	var list []openai.ChatMessagePart
	if m.Text != "" {
		list = append(list, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: m.Text})
	}
	for _, jpeg := range m.Images {
		list = append(list, openai.ChatMessagePart{
			Type: openai.ChatMessagePartTypeImageURL,
			ImageURL: &openai.ChatMessageImageURL{
				URL: "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(jpeg),
			},
		})
	}
	return list
}
