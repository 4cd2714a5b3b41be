package tree

import (
	"context"
	"encoding/json"
)

// Prompt is one question to a model. Images are JPEGs in the order the text
// speaks of them; the callee must not keep them.
type Prompt struct {
	Level     Level // what it describes, for counting and logs
	System    string
	Text      string
	Images    [][]byte
	JSON      bool            // the reply should be JSON
	Schema    json.RawMessage // its JSON schema, nil where none is asked for
	MaxTokens int             // of the reply
}

// Reply is what a model said. Finish is "stop" for a whole text, "length" for
// one that was cut.
type Reply struct {
	Text      string `json:"text"`
	Finish    string `json:"finish"`
	TokensIn  int    `json:"tokens_in"`
	TokensOut int    `json:"tokens_out"`
}

// Ask puts a prompt to a model and waits for the whole reply. It must be safe
// for concurrent use; retries, deadlines and budgets are its business.
type Ask func(ctx context.Context, p Prompt) (Reply, error)

// VisionOptions are the wishes for a vision describer; the zero value is usable.
type VisionOptions struct {
	Batch    int    // frames per L3 call; 0 means DefaultBatch
	Language string // the texts' language; "" or "auto" = the source's
	Schema   bool   // the endpoint understands JSON schemas
}

// How many frames go into one call.
const (
	DefaultBatch = 10
	l2Frames     = 10
)

// Vision describes through a vision model: one call per L2 with its frames and
// transcript, one call per batch of frames for L3, one call per L1 from its L2
// texts. Moments without a picture cost no call: their text is what they say.
type Vision struct {
	ask Ask
	opt VisionOptions
}

var _ Describer = (*Vision)(nil)

// NewVision makes a describer that asks ask.
func NewVision(ask Ask, opt VisionOptions) *Vision {
	if opt.Batch <= 0 {
		opt.Batch = DefaultBatch
	}
	return &Vision{ask: ask, opt: opt}
}

// Plan is what the fault-free build of a stretch costs: calls per level and
// pictures sent. Tokens are not counted, since they depend on the model.
func (v *Vision) Plan(m Material) (calls Calls, pictures int) {
	calls.L1 = 1
	for _, c := range m.Clips {
		calls.L2++
		n := len(framed(c.Leaves))
		calls.L3 += (n + v.opt.Batch - 1) / v.opt.Batch
		pictures += n + min(n, l2Frames)
	}
	return calls, pictures
}

// L2 describes a clip in one call.
func (v *Vision) L2(ctx context.Context, r ClipRequest) (string, Calls, error) {
	text, calls, err := v.text(ctx, v.clipPrompt(r))
	if err == nil && text == "" {
		text, _, err = Extractive{}.L2(ctx, r)
	}
	return text, calls, err
}

// L1 describes a stretch in one call, from its L2 texts alone.
func (v *Vision) L1(ctx context.Context, r StretchRequest) (string, Calls, error) {
	text, calls, err := v.text(ctx, v.stretchPrompt(r))
	if err == nil && text == "" {
		text, _, err = Extractive{}.L1(ctx, r)
	}
	return text, calls, err
}

// L3 describes the leaves of a clip, in batches one after the other.
func (v *Vision) L3(ctx context.Context, r LeafRequest) ([]string, Calls, error) {
	out := make([]string, len(r.Clip.Leaves))
	for i, l := range r.Clip.Leaves {
		out[i] = leafText(l)
	}
	var calls Calls
	places := framed(r.Clip.Leaves)
	for len(places) > 0 {
		n := min(v.opt.Batch, len(places))
		c, err := v.batch(ctx, r, places[:n], out)
		if calls = calls.Add(c); err != nil {
			return nil, calls, err
		}
		places = places[n:]
	}
	return out, calls, nil
}

// batch describes the leaves at places in one call, or one by one where the
// reply is not what was asked for.
func (v *Vision) batch(ctx context.Context, r LeafRequest, places []int, out []string) (Calls, error) {
	reply, err := v.ask(ctx, v.leavesPrompt(r, places))
	if err != nil {
		return Calls{}, err
	}
	calls := cost(L3, reply)
	if texts, ok := parseTexts(reply.Text, len(places)); ok {
		for i, k := range places {
			out[k] = texts[i]
		}
		return calls, nil
	}
	for _, k := range places {
		reply, err := v.ask(ctx, v.leafPrompt(r, k))
		if err != nil {
			return calls, err
		}
		calls = calls.Add(cost(0, reply))
		if text := plainText(reply); text != "" {
			out[k] = text // else what the moment says by itself stays
		}
	}
	return calls, nil
}

// text asks for one plain text, once more if nothing comes back.
func (v *Vision) text(ctx context.Context, p Prompt) (string, Calls, error) {
	reply, err := v.ask(ctx, p)
	if err != nil {
		return "", Calls{}, err
	}
	calls := cost(p.Level, reply)
	if text := plainText(reply); text != "" {
		return text, calls, nil
	}
	if reply, err = v.ask(ctx, p); err != nil {
		return "", calls, err
	}
	return plainText(reply), calls.Add(cost(0, reply)), nil
}

// cost counts one call; level 0 is a fallback.
func cost(level Level, r Reply) Calls {
	c := Calls{TokensIn: r.TokensIn, TokensOut: r.TokensOut}
	switch level {
	case L1:
		c.L1 = 1
	case L2:
		c.L2 = 1
	case L3:
		c.L3 = 1
	default:
		c.Fallback = 1
	}
	return c
}

// framed are the places of the leaves whose picture is at hand.
func framed(leaves []Leaf) []int {
	var out []int
	for i, l := range leaves {
		if len(l.JPEG) > 0 {
			out = append(out, i)
		}
	}
	return out
}
