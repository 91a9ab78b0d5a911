package vendor_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
)

// A vendor that breaks off a stream with an error in which the gateway's key stands is
// not repeated: the client gets what came before, and an error of ours.
func TestAnErrorInMidStreamThatRepeatsTheKey(t *testing.T) {
	for name, c := range map[string]struct{ api, body, begin, fails, kept string }{
		"chat": {"chat", chatStream, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Ebb\"}}]}\n\n",
			"data: {\"error\":{\"message\":\"for %[1]s\",\"type\":\"%[1]s\"}}\n\n", "Ebb"},
		"chat, cut short": {"chat", chatStream, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Ebb\"}}]}\n\n",
			"data: {\"error\":{\"message\":\"for %.17s\"}}\n\n", "Ebb"},
		"messages": {"messages", messagesBody, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"usage\":{\"input_tokens\":1}}}\n\n",
			"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"for %[1]s\"}}\n\n", "msg_1"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, c.begin)
				w.(http.Flusher).Flush()
				fmt.Fprintf(w, c.fails, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			}))
			defer server.Close()
			k := newKit(t, server.URL, func(s *vendorSpec) { s.api = c.api })
			client := vendor.New(vendor.Options{})
			defer client.Close()
			cut := false
			call := k.call(c.body)
			call.Cut = func() { cut = true }
			w := httptest.NewRecorder()
			a := client.Send(context.Background(), w, call, k.try())
			if got := w.Body.String(); strings.Contains(got, "CANARY") || !strings.Contains(got, c.kept) || !strings.Contains(got, "ended with an error") {
				t.Errorf("the client got %q", got)
			}
			if a.Stage != engine.StageBroken || !cut || strings.Contains(a.Cause, "CANARY") {
				t.Errorf("%s, %q, cut %v", a.Stage, a.Cause, cut)
			}
		})
	}
}
