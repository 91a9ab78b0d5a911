package routes_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/routes"
)

// What other gateways ask and are answered is what the document says.
func TestTheSidecarIsAsTheDocumentSays(t *testing.T) {
	contract := newDesk(t, routes.APIOptions{Books: &inmem.Ledger{}}).contract()
	holds := func(path, place, body string) {
		t.Helper()
		schema, err := contract.compiler.Compile("https://warmroute.example/openapi.json#/paths/~1v1~1" + path + "/post/" + place + "/content/application~1json/schema")
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v in %s", path, err, body)
		}
	}
	r := newRig(t, nil, twoStops()...)
	ask := func(path, body string, place string) reply {
		t.Helper()
		got := r.send("/v1/"+path, strings.NewReader(body))
		if place == "responses/200" {
			holds(path, "requestBody", body)
		}
		holds(path, place, got.body)
		return got
	}
	for _, body := range []string{asksFor("ebb"), `{"path":"/v1/chat/completions","body":{"model":"m"},"prompt":{"tokens":9,"markers":1,"marker_ttl":"1h"}}`} {
		id := ask("route", body, "responses/200").header.Get("X-Warmroute-Request-Id")
		const refused = `{"vendor":"pier","model":"m","upstream_model":"barge-7","credential":"main","group":"operator","down":false,"stage":"refused","status":429,"retry_after":"1"}`
		ask("outcomes", `{"turn":"`+id+`","attempts":[`+refused+`],"final":false}`, "responses/200")
		ask("outcomes", `{"turn":"`+id+`","attempts":[`+refused+`,{"vendor":"quay","status":200,"accepted_at":"2026-11-29T12:00:00Z"}],"final":false}`, "responses/200")
		ask("outcomes", `{"turn":"`+id+`","attempts":[`+refused+`,{"vendor":"quay","stage":"served","usage":{"prompt_tokens":9,"completion_tokens":1},"usage_complete":true,"first_byte_ms":3.5,"took_ms":9,"served_model":"barge-7","service_tier":"default","said":{"text":"now"}}],"took_ms":12}`, "responses/200")
	}
	ask("route", `{}`, "responses/default")
	ask("outcomes", `{"turn":"none"}`, "responses/default")
}
