package model

import (
	"context"
	"encoding/json"
	"errors"

	openai "github.com/sashabaranov/go-openai"

	"github.com/reeltree/reeltree/tree"
)

// Message is one turn of a conversation; Images are JPEG.
type Message struct {
	Role   string // "user" or "assistant"; empty = "user"
	Text   string
	Images [][]byte
}

// Request is what a chat model is asked.
type Request struct {
	System     string
	Messages   []Message
	MaxTokens  int             // most tokens of the reply; 0 = the endpoint's own limit
	JSONSchema json.RawMessage // nil: free text
}

// Reply is a complete answer: a finish reason was seen.
type Reply struct {
	Text       string // all tokens joined
	Finish     string // "stop", or "length" when MaxTokens ended it
	TokensIn   int
	TokensOut  int
	UsageKnown bool // false: the endpoint sent no usage and the counts are estimates
}

// Chat asks one chat or vision model. Safe for concurrent use.
type Chat struct {
	*client
	dialect dialect
}

// NewChat checks the settings; it opens no connection.
func NewChat(c Config) (*Chat, error) {
	shared, err := newClient("chat", c)
	if err != nil {
		return nil, err
	}
	return &Chat{client: shared, dialect: dialect{current: firstPhrasing(c.Model)}}, nil
}

// Complete asks and waits for the whole reply. onToken (may be nil) gets every
// piece of text as it comes; its error ends the call, closes the request and
// is returned as it is. Once a piece was handed over the call is not tried
// again: on an error the reply holds what came, so that a partial answer can be
// marked as such. Cancelling ctx closes the request at once.
func (c *Chat) Complete(ctx context.Context, r Request, onToken func(string) error) (Reply, error) {
	if len(r.Messages) == 0 && r.System == "" {
		return Reply{}, errors.New("chat request holds no message")
	}
	run := &completion{chat: c, request: r, onToken: onToken, as: c.dialect.get()}
	err := c.do(ctx, call{
		cost:  try{tokens: r.estimate() + r.MaxTokens, images: r.images()},
		once:  run.once,
		adapt: run.adapt,
		final: func() bool { return run.given },
	})
	return run.reply, err
}

// completion is one Complete while it runs.
type completion struct {
	chat    *Chat
	request Request
	onToken func(string) error
	as      phrasing
	reply   Reply // of the last try
	given   bool  // onToken was called
}

// once makes one try.
func (r *completion) once(ctx context.Context, ex *exchange, w *watch) (usage, error) {
	r.reply = Reply{}
	c := r.chat
	w.expect("until the first token", c.cfg.FirstToken)
	stream, err := c.api.CreateChatCompletionStream(ctx, r.as.request(c.cfg.Model, r.request))
	if err != nil {
		return usage{}, err
	}
	defer stream.Close() //nolint:errcheck // the reply is complete or the try has failed already
	reader := &streamReader{
		client: c.client, ex: ex, watch: w,
		out:   newOutput(c.cfg.Key, r.hand(w), c.dialect.closeOnly()),
		limit: r.request.textLimit(),
	}
	err = reader.readAll(ctx, stream)
	r.reply = reader.reply(r.request.estimate())
	if reader.out.closeOnly {
		c.dialect.learnCloseOnly()
	}
	return usage{r.reply.TokensIn, r.reply.TokensOut}, err
}

// hand gives a piece of text to the caller; the clock rests meanwhile.
func (r *completion) hand(w *watch) func(string) error {
	if r.onToken == nil {
		return nil
	}
	return func(text string) error {
		r.given = true
		w.rest()
		if err := r.onToken(text); err != nil {
			return &callbackError{err}
		}
		w.expect("between two tokens", r.chat.cfg.BetweenTokens)
		return nil
	}
}

func (r *completion) adapt(e *Error) bool {
	next, ok := r.as.after(e, r.request)
	if ok {
		r.as = next
		r.chat.dialect.set(next)
	}
	return ok
}

// callbackError marks an error of the caller's own function.
type callbackError struct{ error }

func (e *callbackError) Unwrap() error { return e.error }

// estimate is a guess of the input tokens, without pictures, in the measure of
// quotes and budgets.
func (r Request) estimate() int {
	n := tree.Tokens(r.System) + tree.Tokens(string(r.JSONSchema))
	for _, m := range r.Messages {
		n += tree.Tokens(m.Text)
	}
	return n
}

func (r Request) images() int {
	n := 0
	for _, m := range r.Messages {
		n += len(m.Images)
	}
	return n
}

// textLimit is the most text a reply may hold: an endpoint that ignores
// MaxTokens must not run away. No tokenizer makes tokens of more than 32 bytes
// on average. 0 = only the size cap of the transport holds.
func (r Request) textLimit() int {
	if r.MaxTokens == 0 {
		return 0
	}
	return 32*r.MaxTokens + 4096
}

// toMessages writes the request in the terms of go-openai. Text alone stays a
// plain string, since small servers know no lists of parts.
func (r Request) toMessages() []openai.ChatCompletionMessage {
	var list []openai.ChatCompletionMessage
	if r.System != "" {
		list = append(list, openai.ChatCompletionMessage{Role: "system", Content: r.System})
	}
	for _, m := range r.Messages {
		if m.Text == "" && len(m.Images) == 0 {
			continue // an absent content is refused by some servers
		}
		out := openai.ChatCompletionMessage{Role: m.Role, Content: m.Text}
		if out.Role == "" {
			out.Role = "user"
		}
		if len(m.Images) > 0 {
			out.Content, out.MultiContent = "", parts(m)
		}
		list = append(list, out)
	}
	return list
}
