package model

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestErrorsNameTheRoleOfTheModel: a vision model is not called a chat model,
// and who can change nothing by asking again is told so.
func TestErrorsNameTheRoleOfTheModel(t *testing.T) {
	for status, permanent := range map[int]bool{401: true, 403: true, 404: true, 429: false, 500: false} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		for role, want := range map[string]string{"vision": `the vision model "m" at`, "": `the chat model "m" at`} {
			c, err := NewChat(Config{URL: s.URL, Model: "m", Role: role, Retries: -1})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Complete(t.Context(), Request{Messages: []Message{{Text: "hello"}}}, nil)
			var e *Error
			if !errors.As(err, &e) || !strings.HasPrefix(e.Sentence(), want) || e.Permanent() != permanent {
				t.Errorf("%d: %v", status, err)
			}
		}
		s.Close()
	}
}
