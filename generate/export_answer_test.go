package generate

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/reeltree/reeltree/retrieve"
	"github.com/reeltree/reeltree/tree"
)

// recorded are the wire events of an answer of a scripted model.
func recorded(t *testing.T, reply string, items ...retrieve.Item) []json.RawMessage {
	t.Helper()
	events, _ := collect(t, &Answerer{Find: finder(false, items...), Chat: says(reply)}, Question{Text: "How far?"})
	var out []json.RawMessage
	for _, e := range events {
		raw, err := Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, raw)
	}
	return out
}

func TestAnswersAreExported(t *testing.T) {
	events := recorded(t, "A ship could see the lamp from eight kilometres [1]. Seen from thirty at Cordouan [2], then eight kilometres [1].", evidence...)
	r := ReadRecord("How [far]?", events)
	if len(r.Evidence) != 2 || len(r.Citations) != 3 || r.Finish != FinishStop || r.Answer == "" {
		t.Fatalf("%+v", r)
	}
	for format, parts := range map[string][]string{
		"md": {
			"# How \\[far\\]?\n", "from eight kilometres [0:00:14](/#/s/" + lens.ID + "?t=14).",
			"at Cordouan [0:01:28](/#/s/" + lens.ID + "?t=88), then eight", "## Evidence\n\n- Light across the sea, [0:00:14]",
		},
		"edl": {
			"TITLE: How [far]?\n", "001  AX       V     C        00:00:14:00 00:00:19:00 00:00:00:00 00:00:05:00",
			"002  AX       V     C        00:01:28:00 00:01:33:00 00:00:05:00 00:00:10:00", "* FROM CLIP NAME: Light across the sea",
		},
		"vtt":      {"WEBVTT\n", "00:00:14.000 --> 00:00:19.000\n<v Ann>The best mirrors", "00:01:28.000 --> "},
		"srt":      {"1\n00:00:14,000 --> 00:00:19,000\nAnn: The best mirrors"},
		"chapters": {"0:00:14 The best mirrors lost half of the light.\n0:01:28 The first one"},
		"json":     {`"question":"How [far]?"`, `"citations":[{"n":1,`},
	} {
		mime, data, known, err := ExportAnswer(r, format)
		if err != nil || !known || mime == "" {
			t.Errorf("%s: %v %v %q", format, err, known, mime)
		}
		for _, part := range parts {
			if !strings.Contains(string(data), part) {
				t.Errorf("%s lacks %q:\n%s", format, part, data)
			}
		}
	}
	if _, _, known, _ := ExportAnswer(r, "exe"); known {
		t.Error("an unknown format is known")
	}
}

// TestExportsSayHowAnAnswerWasMade: who reads the file is told, too.
func TestExportsSayHowAnAnswerWasMade(t *testing.T) {
	r := ReadRecord("How far?", append(recorded(t, "Eight kilometres [1].", evidence...)[:3], json.RawMessage(`{"type":"done","finish":"stop","note":"The chat model failed: 401 <b>."}`)))
	for format, want := range map[string]string{"md": "\n> The chat model failed: 401 &lt;b>.\n", "json": `"note":"The chat model failed: 401`} {
		if _, data, _, err := ExportAnswer(r, format); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v\n%s", format, err, data)
		}
	}
}

func TestCaptionsAreOfOneRecording(t *testing.T) {
	two := append(slices.Clone(evidence[:1]), of(other, .8, "The ferry went to the harbour."))
	r := ReadRecord("Where?", recorded(t, "Eight kilometres away [1]. The ferry went to the harbour [2].", two...))
	for _, format := range []string{"vtt", "srt", "chapters"} {
		var refusal *Error
		if _, _, known, err := ExportAnswer(r, format); !known || !errors.As(err, &refusal) || refusal.Kind != KindBadQuestion {
			t.Errorf("%s: %v", format, err)
		}
	}
	if _, data, _, err := ExportAnswer(r, "edl"); err != nil || !strings.Contains(string(data), "* FROM CLIP NAME: Another talk") {
		t.Errorf("%v\n%s", err, data)
	}
}

func TestReadRecordSkipsWhatIsForeign(t *testing.T) {
	var events []json.RawMessage
	for _, raw := range []string{
		`{"type":"evidence","n":1,"source":{"id":"a"},"span":{"start_ms":1,"end_ms":2},"quote":"q"}`, `{"type":"token","text":"old"}`,
		`{"type":"citation","n":1,"at":3}`, `{"type":"revised"}`, `{"type":"token","text":"new"}`, `{"type":"citation","n":7,"at":3}`,
		`{"type":"citation","n":"x"}`, `nonsense`, `{"type":"progress","done":1}`, `{"type":"evidence","n":"x"}`,
	} {
		events = append(events, json.RawMessage(raw))
	}
	r := ReadRecord("q", events)
	if r.Answer != "new" || len(r.Citations) != 0 || len(r.Evidence) != 0 || r.Finish != "" {
		t.Errorf("%+v", r)
	}
	if _, data, _, err := ExportAnswer(r, "json"); err != nil || !strings.Contains(string(data), `"evidence":[],"citations":[]`) {
		t.Errorf("%v %s", err, data)
	}
	if _, data, _, err := ExportAnswer(r, "md"); err != nil || string(data) != "# q\n\nnew\n" {
		t.Errorf("%v %q", err, data)
	}
}

func TestClipAsksForJoinedPlaces(t *testing.T) {
	var got Cut
	cut := func(_ context.Context, c Cut, w io.Writer) (string, error) {
		got = c
		_, err := io.WriteString(w, "film")
		return "video/mp4", err
	}
	page := tree.Span{Unit: tree.UnitText, Page: 2}
	places := []Place{
		{"a", tree.MS(5000, 9000)},
		{"a", tree.MS(1000, 6000)},
		{"a", tree.MS(20_000, 21_000)},
		{"b", tree.MS(20_500, 22_000)},
		{"doc", page},
		{"b", tree.MS(30_000, 30_000)},
		{"b", tree.MS(22_000, 23_000)},
		{"a", tree.MS(0, 500)},
	}
	var b strings.Builder
	mime, err := Clip(t.Context(), cut, Cut{Tenant: "default", Places: places, Exact: true}, &b)
	want := []Place{{"a", tree.MS(1000, 9000)}, {"a", tree.MS(20_000, 21_000)}, {"b", tree.MS(20_500, 23_000)}, {"a", tree.MS(0, 500)}}
	if err != nil || mime != "video/mp4" || b.String() != "film" || !slices.Equal(got.Places, want) || !got.Exact || got.Tenant != "default" {
		t.Errorf("%v %q %+v", err, mime, got)
	}
	if places[0].Span.EndMS != 9000 || places[0].Span.StartMS != 5000 {
		t.Error("the caller's places were changed")
	}
}

func TestClipRefuses(t *testing.T) {
	cut := func(context.Context, Cut, io.Writer) (string, error) { t.Error("the cutter was asked"); return "", nil }
	var many []Place
	for i := range int64(mostPlaces + 1) {
		many = append(many, Place{"a", tree.MS(i*10_000, i*10_000+1)})
	}
	for words, c := range map[string]struct {
		cutter Cutter
		places []Place
	}{
		"no media worker":     {nil, many[:1]},
		"no moment":           {cut, []Place{{"doc", tree.Span{Unit: tree.UnitText, Page: 1}}}},
		"201 pieces":          {cut, many},
		"and 200 and 4:00:00": {cut, []Place{{"a", tree.MS(0, longestCut+1)}}},
	} {
		_, err := Clip(t.Context(), c.cutter, Cut{Tenant: "default", Places: c.places}, io.Discard)
		var refusal *Error
		if !errors.As(err, &refusal) || refusal.Kind != KindBadQuestion || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", words, err)
		}
	}
}
