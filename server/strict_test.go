package server

import "testing"

// TestRequestsMeanOneThing: names in another case, repeated fields and numbers
// that no field holds are refused, and the connection goes on.
func TestRequestsMeanOneThing(t *testing.T) {
	s := newService(t, nil)
	conn := s.hello(t)
	for code, messages := range map[int][]string{
		codeBadRequest: {
			`{"type":"ping","type":"ping"}`,
			`{"type":"ping","Type":"ask"}`,
			`{"TYPE":"ping"}`,
			`{"type":"ask","id":"a","question":"x","options":{"Rounds":1}}`,
			`{"type":"ask","id":"a","question":"x","options":{"rounds":1,"rounds":2}}`,
			`{"type":"ask","id":"a","question":"x","options":[]}`,
			`{"type":"ask","id":"a","question":"x","span":{"start_ms":9,"end_ms":1}}`,
			`{"type":"ask","id":"a","question":"x","tenant":"other"}`,
			`{"type":"ask","id":"a","question":"x","Tenant":"other"}`,
			`{"type":"ask","id":"a","question":"x","kinds":[[[[[[[[[[1]]]]]]]]]]}`,
			`{"type":"ask","id":7,"question":"x"}`,
			`{"type":"subscribe","stream":"library","epoch":5}`,
			`{"type":"subscribe","stream":"library","after":1e30}`,
			`{"type":"ingest","url":"http://example.com/"}`,
			`{"type":"ingest","id":"i","url":"u","options":{"keep":1}}`,
			`{"type":"unsubscribe","stream":"x","more":1}`,
		},
		codeUnknownType: {`{"type":null}`, `{"type":"welcome"}`},
	} {
		for _, message := range messages {
			say(t, conn, message)
			if m := hear(t, conn); m["type"] != "error" || m["code"] != float64(code) {
				t.Fatalf("%s: %v, want code %d", message, m, code)
			}
		}
	}
}
