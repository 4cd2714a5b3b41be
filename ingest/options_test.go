package ingest

import (
	"strings"
	"testing"

	"github.com/reeltree/reeltree/tree"
)

func TestWishesAreChecked(t *testing.T) {
	for want, o := range map[string]tree.IngestOptions{
		"from 0 upward":            {FromMS: -5},
		"ends before the source":   {ToMS: -1},
		"not after its beginning":  {FromMS: 7_200_000, ToMS: 3_600_000},
		"at 0:00:05":               {FromMS: 5000, ToMS: 5000},
		"audio track -1":           {AudioTrack: -1},
		"calls or tokens":          {MaxCalls: -1},
		"tokens is below 0":        {MaxTokens: -1},
		"give on or off":           {Visual: "perhaps"},
		"give low, normal or high": {Detail: "most"},
		"give media or frames":     {Keep: "all\nof it"},
	} {
		err := CheckOptions(o)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	for _, o := range []tree.IngestOptions{
		{},
		{FromMS: 5000},
		{FromMS: 5000, ToMS: 5001},
		{ToMS: 1},
		{AudioTrack: 3, MaxCalls: 1, MaxTokens: 1},
		{Visual: "off", Detail: "high", Keep: "frames", Language: "de"},
		{Visual: "on", Detail: "normal", Keep: "media"},
	} {
		if err := CheckOptions(o); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
