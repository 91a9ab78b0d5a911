package routes_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// Three requests that are the same, at a vendor with two accounts whose caches know
// nothing of each other: the second and third read what the first wrote, because all
// come to one account, byte for byte. With and without an id of the session.
func TestWhatIsWrittenOnceIsReadFromThenOn(t *testing.T) {
	body := `{"model":"m","max_tokens":8,"system":[{"type":"text","text":"` + strings.Repeat("Oars are kept dry. ", 900) +
		`","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"Say ahoy."}]}`
	for _, header := range [][]string{nil, {"x-session-id", "dory-34"}} {
		held := map[string]string{} // what each account's cache holds
		vendor := &script{}
		vendor.answer = func(w http.ResponseWriter, r *http.Request) {
			got := vendor.requests()
			last, account := got[len(got)-1], r.Header.Get("Authorization")
			read, write := 0, 4400
			if held[account] == last.body {
				read, write = 4400, 0
			}
			held[account] = last.body
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"id":"ahoy","type":"message","role":"assistant","model":"barge-7","content":[{"type":"text","text":"Ahoy."}],"stop_reason":"end_turn","usage":{"input_tokens":11,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":5}}`, write, read)
		}
		r := newRig(t, nil, stop{name: "reef", api: "messages", serve: vendor, price: reefPrice})
		two, err := catalog.ParseKeys("test.yaml", []byte(fmt.Sprintf(`
version: 1
vendors:
  reef: {api: [messages], base_url: %q, allow_private: true, credentials: [{id: one, env: A}, {id: two, env: B}], cache: {family: explicit, ttl: 5m, min_prefix: 1024}}
models:
  m: {routes: [{vendor: reef, model: barge-7, price: %s}]}
`, r.catalog.Vendors[0].BaseURL, reefPrice)), func(c catalog.Credential) (string, bool) { return "key-of-" + c.ID, true })
		if err != nil {
			t.Fatal(err)
		}
		r.gateway.Catalog = func() *catalog.Catalog { return two }
		for range 3 {
			if got := r.post("messages", body, header...); got.status != http.StatusOK {
				t.Fatalf("%d %s", got.status, got.body)
			}
		}
		got := vendor.requests()
		for _, g := range got[1:] {
			if g.body != got[0].body || g.header.Get("Authorization") != got[0].header.Get("Authorization") {
				t.Error("another account, or other bytes")
			}
		}
		total := decimal.Zero
		for _, turn := range r.turns(3) {
			a, _ := turn.Last()
			if !a.Cost.Known || a.Stage != engine.StageServed {
				t.Fatalf("%+v", a)
			}
			total = total.Add(a.Cost.Total)
		}
		if want := "0.019464"; total.String() != want {
			t.Errorf("%v: $%s, want $%s", header, total, want)
		}
	}
}
