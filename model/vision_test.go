package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/internal/testkit"
	"github.com/reeltree/reeltree/model"
	"github.com/reeltree/reeltree/tree"
)

// asker puts the prompts of the tree to a chat model, the way the product wires them.
func asker(chat *model.Chat) tree.Ask {
	return func(ctx context.Context, p tree.Prompt) (tree.Reply, error) {
		r, err := chat.Complete(ctx, model.Request{
			System: p.System, Messages: []model.Message{{Text: p.Text, Images: p.Images}},
			MaxTokens: p.MaxTokens, JSONSchema: p.Schema,
		}, nil)
		if errors.Is(err, model.ErrNoText) {
			err = nil
		}
		return tree.Reply{Text: r.Text, Finish: r.Finish, TokensIn: r.TokensIn, TokensOut: r.TokensOut}, err
	}
}

// film is a stretch of two clips with 13 pictures and speech.
func film() tree.Material {
	m := tree.Material{
		Source: tree.Source{ID: strings.Repeat("a", 26), Kind: tree.KindVideo, Title: "Rivers", DurationMS: 130000},
		Span:   tree.MS(0, 130000),
	}
	at := int64(0)
	for _, n := range []int64{12, 1} {
		clip := tree.Clip{Span: tree.MS(at, at+n*10000)}
		for range n {
			clip.Leaves = append(clip.Leaves, tree.Leaf{
				Span: tree.MS(at, at+10000), JPEG: fmt.Appendf([]byte{0xFF, 0xD8}, "picture %d", at),
				Evidence: tree.Evidence{
					Cues:  []tree.Cue{{StartMS: at, EndMS: at + 5000, Text: fmt.Sprintf("Flooding number %d of the river with 99 strings", at)}},
					Frame: &tree.FrameRef{TimeMS: at},
				},
			})
			at += 10000
		}
		m.Clips = append(m.Clips, clip)
	}
	return m
}

// grow builds the stretch through an endpoint in one mode.
func grow(t *testing.T, e *testkit.Endpoint, concurrency int, schema bool) (string, tree.Calls) {
	t.Helper()
	v := tree.NewVision(asker(newChat(t, testConfig(e))), tree.VisionOptions{Schema: schema})
	root, calls, err := tree.BuildStretch(t.Context(), v, film(), tree.BuildOptions{Concurrency: concurrency})
	if err != nil {
		t.Fatal(err)
	}
	if err := whole(root); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(tree.Tree{Source: film().Source, Roots: []*tree.Node{root}})
	if err != nil {
		t.Fatal(err)
	}
	return string(b), calls
}

// whole reports a node without a text.
func whole(n *tree.Node) error {
	if n.Text == "" {
		return fmt.Errorf("node %s has no text", n.ID)
	}
	for _, c := range n.Children {
		if err := whole(c); err != nil {
			return err
		}
	}
	return nil
}

// TestVisionThroughEveryMode: a full tree, or one sentence; calls as many as
// planned, and never more than the fallback costs.
func TestVisionThroughEveryMode(t *testing.T) {
	const planned = 6       // L1 1, L2 2, L3 10 + 2 + 1 pictures
	const fallback = 13 + 3 // one per picture, one more per L2 and L1
	for mode, calls := range map[string][2]int{
		"ok": {planned, planned}, "usage-last": {planned, planned}, "nonstream-json": {planned, planned}, "fence": {planned, planned},
		"fence-nolang": {planned, planned}, "prose": {planned, planned}, "trailing-comma": {planned, planned}, "think": {planned, planned},
		"think-json": {planned, planned}, "think-close-only": {planned, planned}, "reasoning_content": {planned, planned}, "extra-field": {planned, planned},
		"keepalive400": {planned, planned}, "crlf": {planned, planned}, "no-last-newline": {planned, planned}, "other-language": {planned, planned},
		"shuffled": {planned, planned}, "obey": {planned + 1, planned + fallback},
		"cutjson": {planned + 13, planned + 13}, "fewer": {planned + 13, planned + 13}, "more": {planned + 13, planned + 13}, "badjson-always": {planned + 13, planned + 13},
		"length": {planned + 13, planned + 13}, "single-quotes": {planned, planned + 13}, "wrong-type": {planned, planned + 13}, "missing-field": {planned, planned + 13},
		"null-content": {planned + fallback, planned + fallback}, "empty-content": {planned + fallback, planned + fallback},
		"refusal": {planned + fallback, planned + fallback}, "content_filter": {planned, planned + fallback},
	} {
		t.Run(mode, func(t *testing.T) {
			e := testkit.NewEndpoint(t)
			e.Always(mode)
			_, counted := grow(t, e, 4, false)
			if n := e.Count(); n < calls[0] || n > calls[1] || counted.Total() != n {
				t.Errorf("%d calls, counted %+v, want %v", n, counted, calls)
			}
		})
	}
}

func TestVisionTreesAreEqual(t *testing.T) {
	want := ""
	for _, n := range []int{1, 16} {
		for _, schema := range []bool{false, true} {
			e := testkit.NewEndpoint(t)
			e.Always("ok-jitter:5ms")
			got, _ := grow(t, e, n, schema)
			if schema {
				continue // other prompts, other texts; it must work
			}
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("concurrency %d gives another tree", n)
			}
		}
	}
}

// TestVisionPrompts: as sent, every L3 prompt holds its L2 text, the L1 prompt
// all L2 texts, and no L1 call comes before them.
func TestVisionPrompts(t *testing.T) {
	e := testkit.NewEndpoint(t)
	grow(t, e, 16, true)
	var l2 []testkit.Call
	for _, c := range e.Calls() {
		if len(c.Images) > 0 && c.Schema == nil {
			l2 = append(l2, c)
		}
	}
	if len(l2) != 2 {
		t.Fatalf("%d L2 calls", len(l2))
	}
	for _, c := range e.Calls() {
		held := 0
		for _, d := range l2 {
			if strings.Contains(c.Prompt, d.Reply) {
				held++
			}
			if len(c.Images) == 0 && c.Opened.Before(d.FirstToken) {
				t.Error("the L1 call came before its L2 texts")
			}
		}
		if want := map[bool]int{true: 1, false: 2}[c.Schema != nil]; held != want && (c.Schema != nil || len(c.Images) == 0) {
			t.Errorf("%d L2 texts in %s", held, c.Prompt)
		}
	}
}
