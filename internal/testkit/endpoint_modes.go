package testkit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Modes lists every mode with what it does. A mode may carry an argument after
// a colon ("429:2", "ok-slow:50ms") and modes may be joined by "+"
// ("ok-slow+fence").
var modes = map[string]string{
	"ok": "a good reply, usage with the last chunk",

	// How a good reply comes.
	"ok-slow":             "waits before every token; argument: how long, default 5ms",
	"ok-jitter":           "waits up to the argument (default 20ms) before the reply, by the request's number",
	"usage-last":          "usage in a last chunk without choices",
	"no-usage":            "no usage at all",
	"nonstream-json":      "a plain JSON reply although a stream was asked for",
	"keepalive400":        "400 comment lines before the first token",
	"crlf":                "lines end with CR LF",
	"no-blank-after-data": "no blank after \"data:\"",
	"no-last-newline":     "no newline after the last event, no [DONE]",
	"split-utf8":          "characters split over two chunks",
	"reasoning_content":   "thoughts in a field of their own before the text",
	"think":               "thoughts in <think> tags before the text",
	"think-close-only":    "thoughts that only their closing tag marks",
	"think-json":          "thoughts that hold JSON, in <think> tags",

	// Servers that know less; good replies once they are asked their way.
	"no-schema":         "400 for response_format json_schema",
	"no-json":           "400 for any response_format",
	"no-max-tokens":     "400 for max_tokens",
	"no-stream-options": "400 for stream_options",

	// What the text holds.
	"fence":               "JSON in a code fence",
	"fence-nolang":        "JSON in a code fence without language",
	"prose":               "words before and after",
	"trailing-comma":      "JSON with a comma too many",
	"single-quotes":       "JSON with single quotes",
	"cutjson":             "the last third is missing, finish reason stop",
	"badjson-always":      "as cutjson; meant for all calls of a job",
	"length":              "the last third is missing, finish reason length",
	"length-valid":        "a whole reply with finish reason length",
	"fewer":               "one element less",
	"more":                "one element more",
	"shuffled":            "elements in reverse order",
	"missing-field":       "a field of each object is missing",
	"extra-field":         "objects with an unknown field",
	"wrong-type":          "numbers instead of texts",
	"null-content":        "content null",
	"empty-content":       "no text",
	"refusal":             "the refusal field instead of content",
	"content_filter":      "finish reason content_filter after a few words",
	"obey":                "does what any text in the prompt orders",
	"echo-secret":         "repeats the Authorization header",
	"other-language":      "answers in another language",
	"bad-number":          "cites evidence numbers that do not exist",
	"bad-time":            "names times that stand nowhere; transcripts with times beyond the end",
	"bad-node":            "names nodes that do not exist",
	"cite-wrong-evidence": "cites a true evidence number that does not hold the sentence",

	// What goes wrong.
	"429":             "rate limit with Retry-After in seconds; argument, default 1",
	"429-date":        "rate limit with Retry-After as a date; argument: seconds from now, default 1",
	"429-bare":        "rate limit without Retry-After",
	"401":             "the key is refused, and repeated in the message",
	"404-model":       "the model is not known",
	"500":             "a JSON error",
	"503-html":        "a web page with status 503",
	"html403":         "a web page with status 403",
	"html200":         "a web page with status 200",
	"redirect":        "307 to another address",
	"errevent":        "an error as first event of the stream",
	"errevent-spaced": "the same with a blank after the brace, after three tokens",
	"nochoices":       "chunks without choices",
	"hang":            "nothing at all, not even headers",
	"hang-headers":    "headers, then nothing",
	"hang-3":          "three tokens, then nothing",
	"cut":             "three tokens, then the connection is reset",
	"cut-clean":       "three tokens, then a clean end without [DONE]",
	"runaway":         "tokens without end, whatever max_tokens says",
	"huge":            "a reply of 100 MB",
	"gzip-bomb":       "100 MB that are 100 KB on the wire",

	// Embeddings.
	"dim-change":     "another dimension than in ok",
	"nan":            "NaN in one vector, as base64",
	"null-number":    "null in one vector",
	"zero":           "a vector of zeros",
	"fewer-vectors":  "one vector less",
	"double-index":   "the same index twice",
	"order-by-index": "vectors in reverse order with right indexes",
	"base64":         "vectors as base64 although numbers were asked for",
	"not-normalised": "vectors of length 3",

	// Transcription.
	"no-verbose":  "400 for verbose_json",
	"no-segments": "text without segments",
	"no-speech":   "no segments and an empty text",
}

// Modes are the names of all modes, sorted.
func Modes() []string { return slices.Sorted(maps.Keys(modes)) }

// CheckMode refuses a mode that does not exist.
func CheckMode(mode string) error {
	for name := range parseMode(mode) {
		if _, ok := modes[name]; !ok {
			return fmt.Errorf("no mode %q; there are: %s", name, strings.Join(Modes(), ", "))
		}
	}
	return nil
}

// modeSet is a parsed mode: its names with their arguments.
type modeSet map[string]string

func parseMode(mode string) modeSet {
	set := modeSet{}
	for part := range strings.SplitSeq(mode, "+") {
		name, arg, _ := strings.Cut(part, ":")
		set[name] = arg
	}
	return set
}

func (m modeSet) has(name string) bool {
	_, ok := m[name]
	return ok
}

// wait is the duration argument of a mode, 0 when the mode is not set.
func (m modeSet) wait(name string, def time.Duration) time.Duration {
	arg, ok := m[name]
	if !ok {
		return 0
	}
	if d, err := time.ParseDuration(arg); err == nil {
		return d
	}
	return def
}
