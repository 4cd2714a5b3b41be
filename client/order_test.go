package client_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/reeltree/reeltree/client"
)

// TestMissingEventIsFetched: a service that skips an event is not believed; the
// client connects again and asks for what it has not seen.
func TestMissingEventIsFetched(t *testing.T) {
	var after []uint64
	up := websocket.Upgrader{Subprotocols: []string{"reeltree.v1"}}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		var m struct {
			Type  string
			After uint64
		}
		for m.Type != "subscribe" {
			if conn.ReadJSON(&m) != nil {
				return
			}
		}
		after = append(after, m.After)
		send := func(format string, args ...any) {
			_ = conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, format, args...))
		}
		send(`{"type":"accepted","stream":"j","epoch":"e"}`)
		for seq := m.After + 1; seq <= 4; seq++ {
			if seq == 3 && m.After == 0 {
				continue // lost on the way, the first time
			}
			kind := map[bool]string{true: "done", false: "progress"}[seq == 4]
			send(`{"type":%q,"stream":"j","epoch":"e","seq":%d}`, kind, seq)
		}
		_, _, _ = conn.ReadMessage() // until the client goes
	}))
	defer web.Close()
	var seen []uint64
	err := client.New(client.Config{URL: web.URL}).FollowJob(t.Context(), "j", func(e client.Event) error {
		if e.Seq > 0 {
			seen = append(seen, e.Seq)
		}
		if !json.Valid(e.Raw) {
			t.Errorf("raw: %s", e.Raw)
		}
		return nil
	})
	if err != nil || !slices.Equal(seen, []uint64{1, 2, 3, 4}) || !slices.Equal(after, []uint64{0, 2}) {
		t.Errorf("%v: saw %v, asked after %v", err, seen, after)
	}
}
