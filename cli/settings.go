package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"strings"
)

// Settings is the one table of settings: every field is a flag, an environment
// variable REELTREE_…, a line of the help and a line of docs/config.md.
type Settings struct {
	Data   string `help:"Folder of the durable state." default:"${data}" placeholder:"DIR" group:"Service"`
	Server string `help:"Address of a running service; commands talk to it instead of opening the data folder." placeholder:"URL" group:"Service"`
	Token  bearer `help:"Bearer token: the service asks for it, commands send it. Needed to listen on anything but loopback." group:"Service"`
	JSON   bool   `name:"json" help:"Print data as JSON, one object a line." group:"Service"`
	Log    level  `help:"Least severe log lines that are written: debug, info, warn, error." default:"info" group:"Service"`

	Listen      hostPort `help:"Address the service listens on." default:"127.0.0.1:8400" placeholder:"HOST:PORT" group:"Service"`
	Origins     []string `help:"Further origins whose pages may use the service (scheme://host:port)." placeholder:"ORIGIN" group:"Service"`
	AnswerTTL   duration `name:"answer-ttl" help:"How long a finished answer can be resumed." default:"10m" group:"Service"`
	UploadLimit size     `help:"Largest upload." default:"20GB" group:"Service"`
	Answers     count    `help:"Answers that run at once; further ones wait in a queue." default:"8" group:"Service"`

	L1Target     duration `name:"l1-target" env:"REELTREE_L1_TARGET" help:"Wanted length of a stretch (L1)." default:"10m" group:"Trees"`
	L2Target     duration `name:"l2-target" env:"REELTREE_L2_TARGET" help:"Wanted length of a clip (L2)." default:"1m" group:"Trees"`
	L3FPS        ratio    `name:"l3-fps" env:"REELTREE_L3_FPS" help:"Frames looked at per second before near-duplicates are dropped." default:"1.0" group:"Trees"`
	Sampling     string   `help:"Which frames are looked at: exact (the one on screen at each wanted time; cuts between shots are found) or keyframes (the nearest key frame, for a small part of the work; no cuts)." choice:"exact,keyframes" default:"exact" group:"Trees"`
	L3Batch      count    `name:"l3-batch" env:"REELTREE_L3_BATCH" help:"Frames described per model call." default:"10" group:"Trees"`
	Concurrency  count    `help:"Describing calls at once, per job." default:"16" group:"Trees"`
	FrameSide    count    `help:"Longer side of stored frames in pixels." default:"512" group:"Trees"`
	Language     string   `name:"describe-language" help:"Language of the descriptions; auto = the source's." default:"auto" group:"Trees"`
	Jobs         count    `name:"parallel-jobs" help:"Stretches ingested at once." default:"1" group:"Trees"`
	WorkerMemory size     `help:"Memory a media worker may use before it is ended." default:"256MB" group:"Trees"`
	WorkerTime   duration `help:"Time one request to a media worker may take." default:"2h" group:"Trees"`
	MaxPixels    size     `help:"Largest picture that is decoded, in pixels." default:"40M" group:"Trees"`

	LLM   endpoint `embed:"" prefix:"llm-" group:"Models"`
	VLM   endpoint `embed:"" prefix:"vlm-" group:"Models"`
	Embed endpoint `embed:"" prefix:"embed-" group:"Models"`
	ASR   endpoint `embed:"" prefix:"asr-" group:"Models"`

	Embedder  string `help:"Embedder where no --embed-url is set: builtin, or minilm (all-MiniLM-L6-v2 through ONNX Runtime, which make minilm fetches; hundreds of texts a second instead of hundreds of thousands). After a change vectors are made anew in the background." choice:"builtin,minilm" default:"builtin" group:"Models"`
	MiniLMDir string `name:"minilm-dir" env:"REELTREE_MINILM_DIR" help:"Folder of the files of --embedder minilm." default:"${minilm}" placeholder:"DIR" group:"Models"`

	AnswerFrames count `help:"Pictures of the evidence a chat model sees with a question; 0 for models that read text only." default:"0" group:"Models"`

	MaxCalls  count `help:"Model calls one job may cost; 0 = no cap." default:"0" group:"Models"`
	MaxTokens count `help:"Tokens one job may cost; 0 = no cap." default:"0" group:"Models"`

	Index        string `help:"Vector index: exact (a scan, fast up to about 100,000 nodes), hnsw (a graph, for more) or coder-hnsw (another's graph, for comparison)." choice:"exact,hnsw,coder-hnsw" default:"exact" group:"Retrieval"`
	Budget       count  `help:"Evidence tokens of an answer." default:"3000" group:"Retrieval"`
	Rounds       count  `help:"Retrieval rounds of an answer without a chat model, 1 to 3; with one its critic decides, up to 3." default:"1" group:"Retrieval"`
	AllowPrivate bool   `help:"Let addresses to be ingested lead into private networks." group:"Retrieval"`

	Proxy address `help:"Proxy through which addresses to be ingested are fetched (http://[NAME:PASSWORD@]HOST:PORT); the proxy variables of the environment are not read for them. Names are checked here first; one that only the proxy knows is left to the proxy's own rules." placeholder:"URL" group:"Retrieval"`
}

// endpoint is one model behind an OpenAI-style base address.
type endpoint struct {
	URL   address `name:"url" help:"OpenAI-style base address (ends in /v1); unset = built in."`
	Model string  `name:"model" help:"Model name at that address."`
	Key   secret  `name:"key" help:"Key for that address; OPENAI_API_KEY is used where it is unset."`
}

// errUsage marks a command line or setting that cannot be used.
var errUsage = errors.New("usage")

// problem is implemented by setting types that keep their parse error, so that
// every mistake of a configuration can be told at once.
type problem interface{ problem() error }

// conflicts lists what is wrong with the settings beyond each by itself.
func (s *Settings) conflicts() []string {
	var wrong []string
	note := func(flag, env string, err error) {
		wrong = append(wrong, fmt.Sprintf("--%s (%s): %v", flag, env, err))
	}
	if r := s.Rounds.V; s.Rounds.problem() == nil && (r < 1 || r > 3) {
		note("rounds", "REELTREE_ROUNDS", fmt.Errorf("%d is not between 1 and 3", r))
	}
	if base := os.Getenv("OPENAI_BASE_URL"); s.LLM.URL.V == "" && s.LLM.Model != "" && base != "" {
		_ = s.LLM.URL.UnmarshalText([]byte(base)) // keeps its error, which is told in the next line
		if err := s.LLM.URL.problem(); err != nil {
			note("llm-url", "OPENAI_BASE_URL", err)
		}
	}
	if s.LLM.URL.V != "" && s.LLM.Model == "" {
		note("llm-model", "REELTREE_LLM_MODEL", errors.New("name the model to use at --llm-url"))
	}
	if s.VLM.URL.V != "" && s.VLM.Model == "" {
		note("vlm-model", "REELTREE_VLM_MODEL", errors.New("name the model to use at --vlm-url"))
	}
	if s.Embed.URL.V != "" && s.Embed.Model == "" {
		note("embed-model", "REELTREE_EMBED_MODEL", errors.New("name the model to use at --embed-url"))
	}
	if s.Embed.URL.V != "" && s.Embedder == "minilm" {
		note("embedder", "REELTREE_EMBEDDER", errors.New("minilm and the one at --embed-url are two embedders: unset one of them"))
	}
	if s.ASR.URL.V != "" && s.ASR.Model == "" {
		note("asr-model", "REELTREE_ASR_MODEL", errors.New("name the model to use at --asr-url"))
	}
	return wrong
}

// setting is one row of the table.
type setting struct {
	flag, env, help, def, group string
	value                       reflect.Value
}

// walkSettings visits the settings in the order of the struct.
func walkSettings(v reflect.Value, prefix string, visit func(setting)) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if p, ok := f.Tag.Lookup("prefix"); ok {
			walkSettings(v.Field(i), p, visit)
			continue
		}
		flag := f.Tag.Get("name")
		if flag == "" {
			flag = kebab(f.Name)
		}
		flag = prefix + flag
		visit(setting{
			flag: flag, env: "REELTREE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_")),
			help: f.Tag.Get("help"), def: f.Tag.Get("default"), group: f.Tag.Get("group"), value: v.Field(i),
		})
	}
}

func kebab(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

func (s *Settings) logger(p Process) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: s.Log.V}))
}
