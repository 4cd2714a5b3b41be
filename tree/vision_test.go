package tree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// model is a scripted vision model. Its replies depend on the prompt alone.
type model struct {
	mu      sync.Mutex
	prompts []Prompt
	replied map[string]bool // texts given so far
	batch   func(n int, good string) string
	delay   int
	fail    func(p Prompt, k int) error // k = number of the call, from 0
}

func (m *model) ask(ctx context.Context, p Prompt) (Reply, error) {
	m.mu.Lock()
	k := len(m.prompts)
	m.prompts = append(m.prompts, p)
	m.mu.Unlock()
	if m.fail != nil {
		if err := m.fail(p, k); err != nil {
			return Reply{}, err
		}
	}
	for range m.delay * len(p.Text) % 991 {
		runtime.Gosched()
	}
	text := m.reply(p)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.replied == nil {
		m.replied = map[string]bool{}
	}
	m.replied[text] = true
	return Reply{Text: text, Finish: "stop", TokensIn: 100, TokensOut: 10}, ctx.Err()
}

var spanIn = regexp.MustCompile(`\d:\d\d:\d\d-\d:\d\d:\d\d`)

func (m *model) reply(p Prompt) string {
	where := spanIn.FindString(p.Text)
	switch {
	case p.Level == L1:
		return "Part " + where + "."
	case p.Level == L2:
		return "Section " + where + "."
	case !p.JSON:
		return "Alone " + string(p.Images[0]) + "."
	}
	var all []string
	for _, img := range p.Images {
		all = append(all, "Seen "+string(img)+".")
	}
	good, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	if m.batch != nil {
		return m.batch(len(all), string(good))
	}
	return string(good)
}

func (m *model) count(level Level, isJSON bool) int {
	n := 0
	for _, p := range m.prompts {
		if p.Level == level && p.JSON == isJSON {
			n++
		}
	}
	return n
}

// mixed is a stretch of a clip of 23 pictures, one of 1, and one of speech only.
func mixed() Material {
	m := Material{Source: testVideo, Title: "Drying", Context: "A lesson for farmers", Span: MS(0, 200000)}
	m.Clips = []Clip{shown(0, make([]string, 23)...), shown(115000, "Moisture 13 %"), spoken(120000, "Anna|Dry it in the sun.", "Ben|How long?")}
	m.Clips[0].Leaves[2].Evidence.Cues = []Cue{{10000, 12000, "Anna", "Look at the lid."}}
	return m
}

func TestVisionCalls(t *testing.T) {
	m := &model{}
	v := NewVision(m.ask, VisionOptions{})
	root, calls, err := BuildStretch(context.Background(), v, mixed(), BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := Calls{L1: 1, L2: 3, L3: 4, TokensIn: 800, TokensOut: 80} // L3: 10 + 10 + 3 pictures, then 1, then none
	if calls != want {
		t.Errorf("calls = %+v, want %+v", calls, want)
	}
	plan, pictures := v.Plan(mixed())
	sent := 0
	for _, p := range m.prompts {
		sent += len(p.Images)
	}
	if plan != (Calls{L1: 1, L2: 3, L3: 4}) || pictures != sent || sent != 10+1+24 {
		t.Errorf("planned %+v with %d pictures, sent %d", plan, pictures, sent)
	}
	if got := root.Children[0].Children[22].Text; got != "Seen jpeg-110000." {
		t.Errorf("last picture of the last batch: %q", got)
	}
	if got := root.Children[2].Children[1].Text; got != "Ben: How long?" {
		t.Errorf("a moment without a picture: %q", got)
	}
	for _, p := range m.prompts {
		if len(p.Images) > 10 || p.MaxTokens <= 0 || p.System == "" || p.Schema != nil {
			t.Errorf("prompt %+v", p)
		}
	}
}

func TestVisionFramesOfAnL2(t *testing.T) {
	m := &model{}
	v := NewVision(m.ask, VisionOptions{})
	if _, _, err := v.L2(context.Background(), ClipRequest{Source: testVideo, Clip: mixed().Clips[0]}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, img := range m.prompts[0].Images {
		got = append(got, strings.TrimPrefix(string(img), "jpeg-"))
	}
	if fmt.Sprint(got) != "[0 10000 25000 35000 50000 60000 75000 85000 100000 110000]" {
		t.Errorf("frames at %v", got)
	}
}

// Every L3 prompt holds its L2 text, no L1 prompt goes out before all its L2
// texts came in, and it holds them all and no picture.
func TestVisionPromptsBuildOnEachOther(t *testing.T) {
	m := &model{batch: func(int, string) string { return "no json" }} // the prompts of single pictures, too
	m.fail = func(p Prompt, _ int) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, c := range mixed().Clips {
			text := "Section " + c.Span.String() + "."
			if p.Level == L1 && (!m.replied[text] || !strings.Contains(p.Text, text) || p.Images != nil) {
				return fmt.Errorf("the L1 prompt does not build on %q", text)
			}
			if p.Level == L3 && strings.Contains(p.Text, c.Span.String()) && (!m.replied[text] || !strings.Contains(p.Text, "section: "+text)) {
				return fmt.Errorf("an L3 prompt does not build on %q", text)
			}
		}
		return nil
	}
	if _, _, err := BuildStretch(context.Background(), NewVision(m.ask, VisionOptions{}), mixed(), BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := m.count(L3, true) + m.count(L3, false); n != 4+24 {
		t.Errorf("%d L3 prompts were seen", n)
	}
}

func TestVisionTreesAreEqualWithAnyDelay(t *testing.T) {
	var want string
	for delay := range 8 {
		for _, n := range []int{1, 16} {
			m := &model{delay: delay * 37}
			root, calls, err := BuildStretch(context.Background(), NewVision(m.ask, VisionOptions{Batch: 4}), mixed(), BuildOptions{Concurrency: n})
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(Tree{Source: testVideo, Calls: calls, Roots: []*Node{root}})
			if err != nil {
				t.Fatal(err)
			}
			if want == "" {
				want = string(b)
			}
			if string(b) != want {
				t.Fatalf("delay %d, concurrency %d gave another tree", delay, n)
			}
		}
	}
}

func TestVisionFallsBack(t *testing.T) {
	for name, c := range map[string]struct {
		batch    func(n int, good string) string
		fallback int
		text     string
	}{
		"fence":    {func(_ int, good string) string { return "```json\n" + good + "\n```" }, 0, "Seen jpeg-115000."},
		"prose":    {func(_ int, good string) string { return "Sure! Here you go: " + good }, 0, "Seen jpeg-115000."},
		"cut json": {func(_ int, good string) string { return good[:len(good)-4] }, 24, "Alone jpeg-115000."},
		"fewer": {func(n int, good string) string {
			return "[" + strings.Repeat(`"x",`, n-1) + "]"
		}, 24, "Alone jpeg-115000."},
		"empty":   {func(int, string) string { return "" }, 24, "Alone jpeg-115000."},
		"refusal": {func(int, string) string { return "I'm sorry, I can't." }, 24, "Alone jpeg-115000."},
	} {
		t.Run(name, func(t *testing.T) {
			m := &model{batch: c.batch}
			root, calls, err := BuildStretch(context.Background(), NewVision(m.ask, VisionOptions{}), mixed(), BuildOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if calls.Fallback != c.fallback || calls.L3 != 4 || calls.Total() != len(m.prompts) {
				t.Errorf("calls = %+v of %d prompts", calls, len(m.prompts))
			}
			if got := root.Children[1].Children[0].Text; got != c.text {
				t.Errorf("text %q, want %q", got, c.text)
			}
			if got := root.Children[1].Calls; got.L2 != 1 || got.L3 != 1 || got.Fallback != c.fallback/24 {
				t.Errorf("the clip's own calls = %+v", got)
			}
		})
	}
}

// A model that says nothing at all costs a bounded number of calls, and the
// tree is full all the same.
func TestVisionSilentModel(t *testing.T) {
	asked := 0
	silent := func(context.Context, Prompt) (Reply, error) { asked++; return Reply{Finish: "stop"}, nil }
	root, calls, err := BuildStretch(context.Background(), NewVision(silent, VisionOptions{}), mixed(), BuildOptions{Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	if want := 2*(1+3) + 4 + 24; asked != want || calls.Total() != want || calls.Fallback != 1+3+24 {
		t.Errorf("%d calls, counted %+v, want %d", asked, calls, want)
	}
	if got := root.Children[1].Children[0].Text; got != "New picture at 0:01:55, on screen: Moisture 13 %." {
		t.Errorf("moment = %q", got)
	}
	if got := root.Children[2].Text; got != "Anna: Dry it in the sun. Ben: How long?" {
		t.Errorf("clip = %q", got)
	}
}

func TestVisionErrorKeepsCounts(t *testing.T) {
	down := errors.New("endpoint is down")
	for k := range 8 {
		m := &model{fail: func(_ Prompt, i int) error {
			if i == k {
				return down
			}
			return nil
		}}
		root, calls, err := BuildStretch(context.Background(), NewVision(m.ask, VisionOptions{}), mixed(), BuildOptions{Concurrency: 1})
		if root != nil || !errors.Is(err, down) || calls.Total() != len(m.prompts)-1 {
			t.Errorf("call %d failed: %v, %+v of %d", k, err, calls, len(m.prompts))
		}
	}
	m := &model{batch: func(int, string) string { return "" }, fail: func(p Prompt, _ int) error {
		if p.Level == L3 && !p.JSON {
			return down
		}
		return nil
	}}
	if _, calls, err := BuildStretch(context.Background(), NewVision(m.ask, VisionOptions{}), mixed(), BuildOptions{}); !errors.Is(err, down) || calls.L3 != 2 || calls.Fallback != 0 {
		t.Errorf("fallback failed: %v, %+v", err, calls)
	}
}

// store is a Memory for tests.
type store struct {
	mu   sync.Mutex
	kept map[string][]byte
}

var _ Memory = (*store)(nil)

func (s *store) Recall(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[key], nil
}

func (s *store) Keep(_ context.Context, key string, b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string][]byte{}
	}
	s.kept[key] = b
	return nil
}

// Killed at any call, the next run pays for the rest alone, and the tree with
// its counts equals that of an undisturbed run.
func TestRememberRepeatsNoPaidCall(t *testing.T) {
	want, _, err := BuildStretch(context.Background(), NewVision((&model{}).ask, VisionOptions{}), mixed(), BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 8 {
		s := &store{}
		ctx, kill := context.WithCancel(context.Background())
		paid := 0
		m := &model{fail: func(_ Prompt, i int) error {
			if i == k {
				kill()
				return ctx.Err()
			}
			paid++
			return nil
		}}
		ask := Remember(m.ask, "m1", s)
		if _, _, err := BuildStretch(ctx, NewVision(ask, VisionOptions{}), mixed(), BuildOptions{Concurrency: 1}); err == nil {
			t.Fatal("the killed run ended well")
		}
		again := &model{}
		got, _, err := BuildStretch(context.Background(), NewVision(Remember(again.ask, "m1", s), VisionOptions{}), mixed(), BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if paid+len(again.prompts) != 8 {
			t.Errorf("killed at call %d: %d + %d calls were paid, want 8 in all", k, paid, len(again.prompts))
		}
		sameJSON(t, got, want)
		kill()
	}
}

func TestRememberKnowsWhatDiffers(t *testing.T) {
	s := &store{}
	asked := 0
	ask := func(_ context.Context, p Prompt) (Reply, error) {
		asked++
		return Reply{Text: p.Text, TokensIn: 7}, nil
	}
	base := Prompt{Level: L2, System: "s", Text: "t", Images: [][]byte{{1, 2}, {3}}, MaxTokens: 5}
	other := func(change func(*Prompt)) Prompt { p := base; change(&p); return p }
	for i, p := range []Prompt{
		base,
		other(func(p *Prompt) { p.Level = L3 }), other(func(p *Prompt) { p.System = "" }), other(func(p *Prompt) { p.System, p.Text = "st", "" }),
		other(func(p *Prompt) { p.Text = "u" }), other(func(p *Prompt) { p.Images = [][]byte{{1}, {2, 3}} }), other(func(p *Prompt) { p.JSON = true }),
		other(func(p *Prompt) { p.MaxTokens = 6 }), other(func(p *Prompt) { p.Schema = json.RawMessage("1") }),
	} {
		for range 2 {
			r, err := Remember(ask, "m1", s)(context.Background(), p)
			if err != nil || r.Text != p.Text || (r.Text != "" && r.TokensIn != 7) {
				t.Errorf("prompt %d: %+v, %v", i, r, err)
			}
		}
	}
	if asked != 9+1 { // the empty reply is asked for again
		t.Errorf("%d calls, want one for each of 9 prompts and one more for the empty reply", asked)
	}
	if _, err := Remember(ask, "m2", s)(context.Background(), base); err != nil || asked != 11 {
		t.Errorf("another model's reply was taken: %v", err)
	}
	for key := range maps.Clone(s.kept) {
		s.kept[key] = []byte("{damaged")
	}
	if r, err := Remember(ask, "m1", s)(context.Background(), base); err != nil || r.Text != "t" || asked != 12 {
		t.Errorf("a damaged record: %+v, %v", r, err)
	}
}
