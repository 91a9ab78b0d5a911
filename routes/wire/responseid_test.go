package wire

import (
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

// The id by which a later request may continue a response, whole or streamed.
func TestTheIDOfAResponse(t *testing.T) {
	body := []byte(`{"id":"resp_1","object":"response","status":"completed","model":"m","output":[{"id":"msg_2"}],"usage":{"input_tokens":1,"output_tokens":1}}`)
	if got := JSONResponse(RelayOptions{API: catalog.Responses}, body).ID; got != "resp_1" {
		t.Errorf("whole: %q", got)
	}
	for _, api := range []catalog.API{catalog.Chat, catalog.Messages} {
		if got := JSONResponse(RelayOptions{API: api}, body).ID; got != "" {
			t.Errorf("%s: %q", api, got)
		}
	}
	for _, odd := range []string{`{"id":7}`, `{"id":null}`, `{"response":{"id":"resp_1"}}`, `[]`} {
		if got := JSONResponse(RelayOptions{API: catalog.Responses}, []byte(odd)).ID; got != "" {
			t.Errorf("%s: %q", odd, got)
		}
	}
	for name, stream := range map[string]string{
		"created":        "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"status\":\"in_progress\"}}\n\n",
		"completed only": "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"output\":[{\"id\":\"msg_2\"}]}}\n\n",
	} {
		r := NewRelay(RelayOptions{API: catalog.Responses})
		r.Feed([]byte(stream + "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"item\":{\"id\":\"msg_2\"}}\n\n"))
		if got := r.ResponseID(); got != "resp_1" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
