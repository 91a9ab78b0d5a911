package routes_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

const (
	countPath = "/v1/messages/count_tokens"
	embedPath = "/v1/embeddings"
	counted   = "{ \"input_tokens\": 2007 }\n"
	embedded  = `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.1,-2e-07]}],"model":"barge-7","usage":{"prompt_tokens":8,"total_tokens":8}}`
)

func withHeaders(o *routes.Options) { o.Metadata = vendor.MetadataBody }

// nothingBooked says that a passage left no trace.
func (r *rig) nothingBooked(id string) {
	r.t.Helper()
	if count, _ := r.ledger.Count(); count != 0 {
		r.t.Errorf("%d turns recorded, want none", count)
	}
	if id != "" && len(r.pinned(id)) != 0 {
		r.t.Errorf("pins of %s: %v, want none", id, r.pinned(id))
	}
}

func TestCountTokensIsRelayedAndLeavesNoTrace(t *testing.T) {
	paths := make(chan string, 1)
	reef := &script{answer: func(w http.ResponseWriter, r *http.Request) {
		paths <- r.URL.RequestURI()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Request-Id", "req_7")
		w.Header().Set("Set-Cookie", "x=1")
		_, _ = w.Write([]byte(counted))
	}}
	r := newRig(t, withHeaders, stop{name: "reef", api: "messages", serve: reef, price: reefPrice})
	body := `{ "model":"m",  "system":"be brief", "session_id":"s-1", "messages":[{"role":"user","content":"tide\u003f"}]}`
	got := r.send(countPath+"?beta=true", strings.NewReader(body), "Anthropic-Version", "2023-06-01", "Anthropic-Beta", "token-counting-2024-11-01")
	if got.status != http.StatusOK || got.body != counted {
		t.Fatalf("status %d, body %q", got.status, got.body)
	}
	if uri := <-paths; uri != "/v1/messages/count_tokens?beta=true" {
		t.Errorf("the vendor was asked at %s", uri)
	}
	sent := reef.requests()[0]
	if want := `{ "model":"barge-7",  "system":"be brief", "messages":[{"role":"user","content":"tide\u003f"}]}`; sent.body != want {
		t.Errorf("the vendor got %s\nwant %s", sent.body, want)
	}
	if sent.header.Get("Authorization") != "Bearer "+vendorKey || sent.header.Get("Anthropic-Beta") == "" || sent.header.Get("Accept") != "application/json" {
		t.Errorf("the vendor's header: %v", sent.header)
	}
	for name, want := range map[string]string{
		"X-Warmroute-Vendor": "reef", "X-Warmroute-Outcome": "no_pin", "X-Warmroute-Session-Source": "explicit", "Request-Id": "req_7", "Set-Cookie": "",
	} {
		if got.header.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, got.header.Get(name), want)
		}
	}
	if got.header.Get("X-Warmroute-Request-Id") == "" {
		t.Error("the answer has no request id")
	}
	r.nothingBooked("s-1")
}

func TestCountTokensGoesToTheVendorOfThePin(t *testing.T) {
	const turn = `{"model":"m","max_tokens":9,"session_id":"s-2","messages":[{"role":"user","content":"tide?"}]}`
	busy := true
	first := &script{answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if busy {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(`{"input_tokens":1}`))
	}}
	second := &script{text: `{"type":"message","role":"assistant","content":[{"type":"text","text":"in"}],"stop_reason":"end_turn","usage":{"input_tokens":5000,"output_tokens":1,"input_tokens_extra":0}}`}
	r := newRig(t, withHeaders,
		stop{name: "reef", api: "messages", serve: first, price: reefPrice},
		stop{name: "cove", api: "messages", serve: second, price: reefPrice})
	if got := r.post("messages", turn); got.status != http.StatusOK {
		t.Fatalf("the turn: %d %s", got.status, got.body)
	}
	r.turns(1)
	busy = false
	got := r.send(countPath, strings.NewReader(turn))
	if got.header.Get("X-Warmroute-Outcome") != "promoted" || got.header.Get("X-Warmroute-Vendor") != "cove" || got.header.Get("X-Warmroute-Displaced") != "reef" {
		t.Errorf("count_tokens: %d %v", got.status, got.header)
	}
	if count, _ := r.ledger.Count(); count != 1 {
		t.Errorf("%d turns recorded, want the one", count)
	}
}

func TestPassagesFallBackAndRelayTheLastRefusal(t *testing.T) {
	for _, c := range []struct {
		name, path, api, body string
	}{
		{"count_tokens", countPath, "messages", `{"model":"m","messages":[]}`},
		{"embeddings", embedPath, "chat", `{"model":"m","input":"tide"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			lacks := &script{status: 404, text: `{"error":{"message":"no such path"}}`}
			serves := &script{text: counted}
			r := newRig(t, withHeaders, stop{name: "a", api: c.api, serve: lacks}, stop{name: "b", api: c.api, serve: serves})
			for range 4 { // and the first is not taken for down
				got := r.send(c.path, strings.NewReader(c.body))
				if got.status != 200 || got.body != counted || got.header.Get("X-Warmroute-Vendor") != "b" {
					t.Fatalf("%d %q from %s", got.status, got.body, got.header.Get("X-Warmroute-Vendor"))
				}
			}
			if n := len(lacks.requests()); n != 4 {
				t.Errorf("the first vendor was asked %d times, want 4", n)
			}
			r.nothingBooked("")

			serves.text, serves.status, serves.header = `{"error":{"message":"slow down"}}`, 429, http.Header{"Retry-After": {"7"}}
			got := r.send(c.path, strings.NewReader(c.body))
			if got.status != 429 || got.body != serves.text || got.header.Get("Retry-After") != "7" {
				t.Errorf("the last refusal: %d %q %v", got.status, got.body, got.header)
			}

			serves.status, serves.header, serves.text = 0, nil, "data: {}\n\n"
			if got := r.send(c.path, strings.NewReader(c.body)); got.status != http.StatusBadGateway {
				t.Errorf("events as the answer: %d %q", got.status, got.body)
			}
		})
	}
}

func TestEmbeddingsArePassedByteForByte(t *testing.T) {
	paths := make(chan string, 16)
	pier := &script{answer: func(w http.ResponseWriter, r *http.Request) {
		paths <- r.URL.Path
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(embedded))
	}}
	r := newRig(t, withHeaders,
		stop{name: "reef", api: "messages", url: "http://127.0.0.1:1"},
		stop{name: "pier", serve: pier, extra: "    hints: [{header: x-session-affinity, form: raw}, {member: prompt_cache_key, form: raw}]"})
	for i, input := range []string{
		`"the tide"`, `["a boat", "the tide"]`, `[1, 2, 3]`, `[[1,2],[3]]`, ` "a\ud83d\ude00"`, `"` + strings.Repeat("tide ", 100_000) + `"`,
	} {
		body := `{"input":` + input + `, "model" : "m","encoding_format":"base64","dimensions":1e2, "stream":true,"user":"u"}`
		got := r.send(embedPath, strings.NewReader(body), "X-Session-Id", "s-3")
		if got.status != 200 || got.body != embedded {
			t.Fatalf("input %.20s: %d %q", input, got.status, got.body)
		}
		if path := <-paths; path != "/v1/embeddings" {
			t.Errorf("the vendor was asked at %s", path)
		}
		sent := pier.requests()[i]
		if want := strings.Replace(body, `"m"`, `"barge-7"`, 1); sent.body != want {
			t.Errorf("the vendor got %.200s\nwant %.200s", sent.body, want)
		}
		if sent.header.Get("X-Session-Affinity") != "" {
			t.Error("the vendor was told a session")
		}
		if got.header.Get("X-Warmroute-Vendor") != "pier" || got.header.Get("X-Warmroute-Request-Id") == "" ||
			got.header.Get("X-Warmroute-Outcome") != "" || got.header.Get("X-Warmroute-Session-Source") != "" {
			t.Errorf("header of the answer: %v", got.header)
		}
	}
	r.nothingBooked("s-3")
	if strings.Contains(r.log.String(), `"outcome"`) {
		t.Errorf("the log speaks of an outcome: %s", r.log)
	}
}

func TestPassagesRefuseInTheirDialect(t *testing.T) {
	refusing := &script{status: 401, text: `{"error":{"message":"bad key ` + vendorKey + `"}}`}
	r := newRig(t, nil, stop{name: "pier", serve: refusing})
	for _, c := range []struct {
		name, path, body string
		header           []string
		status           int
		says             string
	}{
		{"no vendor of the dialect", countPath, `{"model":"m","messages":[]}`, nil, 400, `"type":"error"`},
		{"unknown model to count", countPath, `{"model":"nope"}`, nil, 404, `"type":"error"`},
		{"unknown model to embed", embedPath, `{"model":"nope","input":"x"}`, nil, 404, "model_not_found"},
		{"not JSON", embedPath, `tide`, nil, 400, "not a JSON object"},
		{"no model", embedPath, `{"input":"x"}`, nil, 400, "model"},
		{"the gateway's own key", embedPath, `{"model":"m","input":"x"}`, nil, 502, "key"},
	} {
		got := r.send(c.path, strings.NewReader(c.body), c.header...)
		if got.status != c.status || !strings.Contains(got.body, c.says) {
			t.Errorf("%s: %d %s, want %d and %q", c.name, got.status, got.body, c.status, c.says)
		}
		if strings.Contains(got.body, vendorKey) {
			t.Errorf("%s: the answer holds the key", c.name)
		}
	}
	r.nothingBooked("")
}
