package routes_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// A response is continued by its id at the vendor that made it, whole and
// streamed, without a session and with affinity off; an id that nobody knows is
// refused with what to do.
func TestAResponseIsContinuedAtItsMaker(t *testing.T) {
	pier := vendorsim.New(vendorsim.Config{Name: "pier", API: []catalog.API{catalog.Responses}, Keys: []string{vendorKey}})
	reef := vendorsim.New(vendorsim.Config{Name: "reef", API: []catalog.API{catalog.Responses}, Keys: []string{vendorKey}})
	r := newRig(t, nil, stop{name: "pier", api: "responses", serve: pier}, stop{name: "reef", api: "responses", serve: reef})
	id := func(got reply) string {
		t.Helper()
		text := got.body
		if i := strings.Index(text, `data: {"type":"response.created"`); i >= 0 {
			text = text[i+len("data: "):]
			text = text[:strings.Index(text, "\n")]
		}
		var answer struct {
			ID       string
			Response struct{ ID string }
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil || got.status != http.StatusOK {
			t.Fatalf("status %d, %v: %s", got.status, err, got.body)
		}
		return answer.ID + answer.Response.ID
	}
	for _, stream := range []bool{false, true} {
		pier.Queue(vendorsim.Fault{Status: 503})
		first := id(r.post("responses", fmt.Sprintf(`{"model":"m","stream":%v,"input":"Tell me of boats."}`, stream)))
		if !strings.HasPrefix(first, "resp_reef") {
			t.Fatalf("made by %s", first)
		}
		second := id(r.post("responses", fmt.Sprintf(`{"model":"m","stream":%v,"input":"And of piers?","previous_response_id":%q}`, stream, first)))
		third := id(r.post("responses", fmt.Sprintf(`{"model":"m","stream":%v,"input":"Thanks.","previous_response_id":%q,"providerOptions":{"gateway":{"sessionAffinity":false,"order":["pier"]}}}`, stream, second)))
		if !strings.HasPrefix(second, "resp_reef") || !strings.HasPrefix(third, "resp_reef") {
			t.Errorf("stream %v: continued at %s and %s", stream, second, third)
		}
	}
	for _, unknown := range []string{"resp_elsewhere", "resp_" + strings.Repeat("x", 400)} {
		got := r.post("responses", fmt.Sprintf(`{"model":"m","input":"Go on.","previous_response_id":%q}`, unknown))
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, "send the whole conversation") {
			t.Errorf("status %d: %s", got.status, got.body)
		}
	}
	unstored := id(r.post("responses", `{"model":"m","store":false,"input":"Tell me of boats."}`))
	if got := r.post("responses", fmt.Sprintf(`{"model":"m","input":"Go on.","previous_response_id":%q}`, unstored)); got.status != http.StatusBadRequest {
		t.Errorf("not stored: status %d: %s", got.status, got.body)
	}
	named := r.post("responses", `{"model":"m","input":"Go on.","previous_response_id":"resp_elsewhere","providerOptions":{"gateway":{"only":["pier"]}}}`)
	if named.status != http.StatusBadRequest || !strings.Contains(named.body, "previous_response_not_found") {
		t.Errorf("the vendor's own answer: status %d: %s", named.status, named.body)
	}
}
