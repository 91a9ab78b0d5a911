package vendor_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
)

// What a vendor says of itself is kept: not the key, no text, nothing without end.
func TestTheWordsOfAReport(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for name, c := range map[string]struct{ model, tier, wantModel, wantTier string }{
		"plain words":          {"their-m-2", "flex", "their-m-2", "flex"},
		"the key":              {vendorKey, vendorKey, "?", "?"},
		"without end":          {long, long, "?", "?"},
		"text for a tier":      {"My Model.gguf", "where is my boat", "My Model.gguf", "?"},
		"nothing":              {"", "", "", ""},
		"what the catalog has": {"their-m", "default", "their-m", "default"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := fmt.Sprintf(`{"model":%q,"service_tier":%q,"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1}}`, c.model, c.tier)
			stream := "data: " + answer + "\n\ndata: [DONE]\n\n"
			for contentType, body := range map[string]string{"application/json": answer, "text/event-stream": stream} {
				client := vendor.New(vendor.Options{})
				defer client.Close()
				k := newKit(t, answers(t, respond(200, "Content-Type: "+contentType+"\r\n", body)), nil)
				request := chatBody
				if body == stream {
					request = chatStream
				}
				a := client.Send(t.Context(), httptest.NewRecorder(), k.call(request), k.try())
				if a.Stage != engine.StageServed || a.Usage.Input != 5 || a.ServedModel != c.wantModel || a.ServedTier != c.wantTier {
					t.Errorf("%s: %s %+v, model %.40q, tier %.40q", contentType, a.Stage, a.Usage, a.ServedModel, a.ServedTier)
				}
			}
		})
	}
}
