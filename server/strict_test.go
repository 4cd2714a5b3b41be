package server

import (
	"testing"
)

// TestRequestsMeanOneThing: names in another case, repeated fields and numbers
// that no field holds are refused, and the connection goes on.
func TestRequestsMeanOneThing(t *testing.T) {
	s := newService(t, nil)
	conn := s.hello(t)
	for message, code := range map[string]int{
		`{"type":"ping","type":"ping"}`: codeBadRequest,
		`{"type":"ping","Type":"ask"}`:  codeBadRequest,
		`{"TYPE":"ping"}`:               codeBadRequest,
		`{"type":"ask","id":"a","question":"x","options":{"Rounds":1}}`:            codeBadRequest,
		`{"type":"ask","id":"a","question":"x","options":{"rounds":1,"rounds":2}}`: codeBadRequest,
		`{"type":"ask","id":"a","question":"x","options":[]}`:                      codeBadRequest,
		`{"type":"ask","id":"a","question":"x","span":{"start_ms":9,"end_ms":1}}`:  codeBadRequest,
		`{"type":"ask","id":"a","question":"x","tenant":"other"}`:                  codeBadRequest,
		`{"type":"ask","id":"a","question":"x","Tenant":"other"}`:                  codeBadRequest,
		`{"type":"ask","id":"a","question":"x","kinds":[[[[[[[[[[1]]]]]]]]]]}`:     codeBadRequest,
		`{"type":"ask","id":7,"question":"x"}`:                                     codeBadRequest,
		`{"type":"subscribe","stream":"library","epoch":5}`:                        codeBadRequest,
		`{"type":"subscribe","stream":"library","after":1e30}`:                     codeBadRequest,
		`{"type":"ingest","url":"http://example.com/"}`:                            codeBadRequest,
		`{"type":"ingest","id":"i","url":"u","options":{"keep":1}}`:                codeBadRequest,
		`{"type":"unsubscribe","stream":"x","more":1}`:                             codeBadRequest,
		`{"type":null}`:      codeUnknownType,
		`{"type":"welcome"}`: codeUnknownType,
	} {
		say(t, conn, message)
		if m := hear(t, conn); m["type"] != "error" || m["code"] != float64(code) {
			t.Fatalf("%s: %v, want code %d", message, m, code)
		}
	}
}
