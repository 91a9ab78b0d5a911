package routes_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// ask sends a request without a body.
func (r *rig) ask(method, path string, header ...string) reply {
	r.t.Helper()
	request, err := http.NewRequest(method, r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	response, err := r.client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, string(text), err}
}

// The first vendor refuses once: turn 1 goes to the second, and turn 2, with
// the first healthy again, is promoted to it.
func TestTheSecondTurnIsPromotedToTheWarmVendor(t *testing.T) {
	r := newRig(t, func(o *routes.Options) { o.Metadata = "" },
		stop{name: "pier", serve: sim(t, "pier", catalog.Chat, vendorsim.Fault{Status: 503})},
		stop{name: "quay", serve: sim(t, "quay", catalog.Chat)})
	long := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("Which wood floats? ", 400) + `"}]}`
	first := r.post("chat", long, "x-session-id", "dory-3")
	second := r.post("chat", long, "x-session-id", "dory-3")
	for i, c := range []struct {
		got  reply
		want map[string]string
	}{
		{first, map[string]string{"Outcome": "no_pin", "Vendor": "quay", "Session-Source": "explicit", "Pinned": "", "Displaced": ""}},
		{second, map[string]string{"Outcome": "promoted", "Vendor": "quay", "Session-Source": "explicit", "Pinned": "quay", "Displaced": "pier"}},
	} {
		for name, want := range c.want {
			if got := c.got.header.Get("X-Warmroute-" + name); got != want {
				t.Errorf("turn %d: %s is %q, want %q", i+1, name, got, want)
			}
		}
	}
	var body struct {
		ProviderMetadata struct {
			Gateway struct {
				Routing struct {
					ClientSessionID string `json:"clientSessionId"`
					Affinity        struct {
						Outcome, PinnedProvider, DisplacedProvider string
						Gate                                       struct {
							Pays   bool
							Own    map[string]string
							Rivals []map[string]string
						}
					}
				}
			}
		} `json:"provider_metadata"`
	}
	if err := json.Unmarshal([]byte(second.body), &body); err != nil {
		t.Fatalf("%v: %s", err, second.body)
	}
	routing := body.ProviderMetadata.Gateway.Routing
	if a := routing.Affinity; routing.ClientSessionID != "dory-3" || a.Outcome != "promoted" || a.DisplacedProvider != "pier" || !a.Gate.Pays ||
		a.Gate.Own["cache_read"] != "0.25" || len(a.Gate.Rivals) != 1 || a.Gate.Rivals[0]["input"] != "2.5" {
		t.Errorf("routing %+v in %s", routing, second.body)
	}
	if a := r.last(2); a.Usage.CacheRead == 0 {
		t.Errorf("nothing was read from the cache: %+v", a.Usage)
	}
}

func TestMetadataIsWhereItIsAskedFor(t *testing.T) {
	r := newRig(t, func(o *routes.Options) { o.Metadata = "" }, stop{name: "pier", serve: &script{text: jsonAnswer}})
	for mode, c := range map[string]struct {
		status         int
		inBody, inHead bool
	}{
		"": {200, true, true}, "body": {200, true, true}, "header": {200, false, true}, "off": {200, false, false}, "BODY": {400, false, false},
	} {
		header := []string{}
		if mode != "" {
			header = []string{"x-warmroute-metadata", mode}
		}
		got := r.post("chat", bodies[false], header...)
		if got.status != c.status || strings.Contains(got.body, `"provider_metadata":`) != c.inBody || (got.header.Get("X-Warmroute-Vendor") != "") != c.inHead {
			t.Errorf("%q: %d %v %s", mode, got.status, got.header, got.body)
		}
		if got.status == 200 && !c.inBody && got.body != jsonAnswer {
			t.Errorf("%q: the body is not the vendor's: %s", mode, got.body)
		}
		if got.status == 200 && got.header.Get("X-Warmroute-Request-Id") == "" {
			t.Errorf("%q: no request id", mode)
		}
	}
}

func TestAffinityCanBeOffForOneRequest(t *testing.T) {
	r := newRig(t, func(o *routes.Options) { o.Metadata = "" }, stop{name: "pier", serve: &script{text: jsonAnswer}})
	if got := r.post("chat", bodies[false], "x-session-id", "dory-4", "x-warmroute-affinity", "off"); got.header.Get("X-Warmroute-Outcome") != "skipped_mode_off" || got.header.Get("X-Warmroute-Session-Source") != "explicit" {
		t.Errorf("header %v", got.header)
	}
	for value, want := range map[string]string{"OFF": "skipped_mode_off", "on": "confirmed", "On": "confirmed", "": "confirmed"} {
		r.post("chat", bodies[false], "x-session-id", "dory-4")
		if got := r.post("chat", bodies[false], "x-session-id", "dory-4", "x-warmroute-affinity", value); got.header.Get("X-Warmroute-Outcome") != want {
			t.Errorf("%q: %d %v", value, got.status, got.header)
		}
	}
	for _, value := range []string{"perhaps", "0", "offf"} {
		if got := r.post("chat", bodies[false], "x-warmroute-affinity", value); got.status != http.StatusBadRequest || !strings.Contains(got.body, "x-warmroute-affinity") {
			t.Errorf("%q: %d %s", value, got.status, got.body)
		}
	}
}

func TestRequestsThatNameNothingThatWorks(t *testing.T) {
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: jsonAnswer}})
	for _, c := range []struct {
		name, api, body string
		status          int
		has             []string
	}{
		{"a model that does not exist", "chat", `{"model":"barge-8","messages":[]}`, 404, []string{`"code":"model_not_found"`, `\"barge-8\"`, "Did you mean", "barge-7", "/v1/models"}},
		{"a fallback that does not exist", "chat", `{"model":"m","models":["m","nowhere"],"messages":[]}`, 404, []string{`\"nowhere\"`}},
		{"no model of that name for a messages client", "messages", `{"model":"x","max_tokens":1,"messages":[]}`, 404, []string{`{"type":"error","error":{"type":"not_found_error"`}},
		{"a vendor of another dialect", "messages", `{"model":"m","max_tokens":1,"messages":[]}`, 400, []string{`"invalid_request_error"`, "pier", "/v1/chat/completions"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := r.post(c.api, c.body)
			if got.status != c.status || got.header.Get("X-Warmroute-Request-Id") == "" {
				t.Errorf("%d %v", got.status, got.header)
			}
			for _, has := range c.has {
				if !strings.Contains(got.body, has) {
					t.Errorf("%s\nlacks %s", got.body, has)
				}
			}
		})
	}
}

func TestModelsAreListedForBothFamiliesOfClients(t *testing.T) {
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: jsonAnswer}})
	var list struct {
		Object  string
		Data    []map[string]any
		HasMore *bool  `json:"has_more"`
		FirstID string `json:"first_id"`
	}
	got := r.ask(http.MethodGet, "/v1/models")
	if err := json.Unmarshal([]byte(got.body), &list); err != nil || list.Object != "list" || len(list.Data) != 1 || list.HasMore == nil || list.FirstID != "m" {
		t.Fatalf("%v %s", err, got.body)
	}
	for _, member := range []string{"id", "object", "type", "created", "created_at", "owned_by", "display_name"} {
		if list.Data[0][member] == nil {
			t.Errorf("no %s in %s", member, got.body)
		}
	}
	if one := r.ask(http.MethodGet, "/v1/models/shop-alias"); one.status != 200 || !strings.Contains(one.body, `"object":"model"`) {
		t.Errorf("%d %s", one.status, one.body)
	}
	if none := r.ask(http.MethodGet, "/v1/models/some/other"); none.status != 404 || !strings.Contains(none.body, "model_not_found") {
		t.Errorf("%d %s", none.status, none.body)
	}
	if none := r.ask(http.MethodGet, "/v1/models/other", "anthropic-version", "2023-06-01"); !strings.HasPrefix(none.body, `{"type":"error"`) {
		t.Errorf("%s", none.body)
	}
}

func TestWhatIsNotServedSaysWhatIs(t *testing.T) {
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: jsonAnswer}})
	for _, c := range []struct {
		method, path string
		status       int
		has          string
	}{
		{"POST", "/v1/completions", 404, "Legacy"},
		{"POST", "/v1/images/generations", 404, "text"},
		{"GET", "/v1/realtime", 404, "realtime"},
		{"POST", "/chat/completions", 404, "/v1"},
		{"POST", "/v1/chat/completions/", 404, `{"error"`},
		{"GET", "/v1/chat/completions", 405, `{"error"`},
		{"GET", "/v1/messages", 405, `{"type":"error"`},
		{"GET", "/%2e%2e/etc", 404, `{"error"`},
	} {
		got := r.ask(c.method, c.path)
		if got.status != c.status || !strings.Contains(got.body, c.has) || !strings.Contains(got.body, "POST /v1/chat/completions") {
			t.Errorf("%s %s: %d %s", c.method, c.path, got.status, got.body)
		}
	}
	if got := r.ask(http.MethodHead, "/"); got.status != http.StatusOK {
		t.Errorf("HEAD /: %d", got.status)
	}
}

// A page that is open in a browser on the same machine can send a form, without
// asking, to any address there.
func TestAWebPageCannotSpendMoneyWithAForm(t *testing.T) {
	v := &script{text: jsonAnswer}
	r := newRig(t, nil, stop{name: "pier", serve: v})
	for _, c := range []struct {
		site, contentType string
		status            int
	}{
		{"cross-site", "text/plain", 403},
		{"same-site", "application/x-www-form-urlencoded", 403},
		{"cross-site", "application/json", 200}, // a browser has asked before it sends this
		{"same-origin", "text/plain", 200},
		{"", "application/x-www-form-urlencoded", 200}, // curl's habit
	} {
		request, _ := http.NewRequest(http.MethodPost, r.url+"/v1/chat/completions", strings.NewReader(bodies[false]))
		request.Header.Set("Content-Type", c.contentType)
		if c.site != "" {
			request.Header.Set("Sec-Fetch-Site", c.site)
		}
		response, err := r.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != c.status {
			t.Errorf("%q %q: %d", c.site, c.contentType, response.StatusCode)
		}
	}
	if n := len(v.requests()); n != 3 {
		t.Errorf("the vendor was called %d times", n)
	}
}

func TestAPanicIsAnErrorInTheDialect(t *testing.T) {
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: jsonAnswer}})
	r.gateway.Catalog = func() *catalog.Catalog { panic("PANICCANARY " + vendorKey) }
	for api, prefix := range map[string]string{"chat": `{"error"`, "messages": `{"type":"error"`} {
		got := r.post(api, `{"model":"m","max_tokens":1,"messages":[]}`)
		if got.status != http.StatusInternalServerError || !strings.HasPrefix(got.body, prefix) {
			t.Errorf("%s: %d %s", api, got.status, got.body)
		}
	}
	if log := r.log.String(); strings.Contains(log, "CANARY") || !strings.Contains(log, "(*service).turn") || !strings.Contains(log, `"what":"string"`) {
		t.Errorf("log %s", log)
	}
}

// panicking is a ledger that fails after the answer has gone out.
type panicking struct{}

func (panicking) Record(engine.Turn) { panic("late") }

func TestAPanicAfterTheAnswerBeganBreaksItOff(t *testing.T) {
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: input(t, "responses/chat-no-usage.sse")}})
	r.gateway.Ledger = panicking{}
	if got := r.post("chat", bodies[true]); got.err == nil {
		t.Errorf("the client read a clean end: %q", got.body)
	}
}

func TestTheAccessLogSaysWhatHappenedAndNothingElse(t *testing.T) {
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: jsonAnswer}})
	r.send("/v1/chat/completions?q=QUERY", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"PROMPT"}]}`), "x-session-id", "SESSION", "User-Agent", "AGENT")
	r.ask(http.MethodGet, "/nowhere/SECRETPATH")
	r.turns(1)
	lines := strings.Split(strings.TrimSpace(r.log.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines:\n%s", len(lines), r.log)
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"msg": "request", "method": "POST", "route": "/v1/chat/completions", "status": 200.0,
		"session_class": "explicit", "vendor": "pier", "outcome": "no_pin", "stage": "served",
	} {
		if line[name] != want {
			t.Errorf("%s is %v, want %v", name, line[name], want)
		}
	}
	if line["turn"] == nil || line["ms"] == nil {
		t.Errorf("line %v", line)
	}
	for _, secret := range []string{"QUERY", "PROMPT", "SESSION", "AGENT", "SECRETPATH"} {
		if strings.Contains(r.log.String(), secret) {
			t.Errorf("the log holds %s: %s", secret, r.log)
		}
	}
}

// A vendor that failed is seen in the log although another served the turn.
func TestAFailedAttemptIsLogged(t *testing.T) {
	r := newRig(t, nil,
		stop{name: "quay", serve: &script{status: http.StatusServiceUnavailable, text: "{}", header: http.Header{"Retry-After": {"7"}}}},
		stop{name: "pier", serve: &script{text: jsonAnswer}})
	if got := r.post("chat", `{"model":"m","messages":[]}`); got.status != http.StatusOK {
		t.Fatalf("status %d", got.status)
	}
	r.turns(1)
	var line map[string]any
	if err := json.Unmarshal([]byte(strings.SplitN(r.log.String(), "\n", 2)[0]), &line); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"msg": "attempt failed", "level": "WARN", "vendor": "quay", "credential": "main", "model": "m",
		"failure": "server", "status": 503.0, "number": 1.0, "retry_after": "7s",
	} {
		if line[name] != want {
			t.Errorf("%s is %v, want %v", name, line[name], want)
		}
	}
}

// A refused key and a path that is not there are put right in the catalog: the log says
// where, the client whose they are.
func TestARefusedKeyIsLoggedWithItsPlace(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusNotFound} {
		r := newRig(t, nil, stop{name: "quay", serve: &script{status: status, text: "no", header: http.Header{"Content-Type": {"text/plain"}}}})
		got := r.post("chat", `{"model":"m","messages":[]}`)
		if !strings.Contains(got.body, "The vendor quay ") {
			t.Errorf("%d: the client is told %s", status, got.body)
		}
		var line map[string]any
		if err := json.Unmarshal([]byte(strings.SplitN(r.log.String(), "\n", 2)[0]), &line); err != nil {
			t.Fatalf("%d: %v in %s", status, err, r.log)
		}
		upstream, _ := line["upstream"].(string)
		if line["vendor"] != "quay" || line["key"] == nil || line["status"] != float64(status) || !strings.HasSuffix(upstream, "/v1/chat/completions") {
			t.Errorf("%d: the log says %v", status, line)
		}
	}
}

// The commonest slip of the fingers is two letters that changed places.
func TestASwappedNameIsSuggested(t *testing.T) {
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: jsonAnswer}})
	large, err := catalog.Parse("test.yaml", []byte("version: 1\nvendors:\n  pier: {api: [chat], base_url: https://pier.example/v1}\nmodels:\n  large: {routes: [{vendor: pier, model: x, price: {input: 1, output: 1}}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r.gateway.Catalog = func() *catalog.Catalog { return large }
	if got := r.post("chat", `{"model":"lrage","messages":[]}`); got.status != http.StatusNotFound || !strings.Contains(got.body, "Did you mean large?") {
		t.Errorf("status %d, %s", got.status, got.body)
	}
}

// Missing keys are the operator's to mend: no client can.
func TestWithoutAnyKeyTheGatewayIsUnavailable(t *testing.T) {
	r := newRig(t, nil, stop{name: "pier", serve: &script{text: jsonAnswer}})
	keyless, err := catalog.Parse("test.yaml", []byte("version: 1\nvendors:\n  pier: {api: [chat], base_url: https://pier.example/v1, credentials: [{id: main, env: WARMROUTE_TEST_NO_PIER_KEY}]}\nmodels:\n  other: {routes: [{vendor: pier, model: o, price: {input: 1, output: 1}}]}\n  m:\n    routes: [{vendor: pier, model: x, price: {input: 1, output: 1}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	r.gateway.Catalog = func() *catalog.Catalog { return keyless }
	if got := r.post("chat", `{"model":"m","messages":[]}`); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "pier has no key (set WARMROUTE_TEST_NO_PIER_KEY)") || strings.Contains(got.body, "other") {
		t.Errorf("status %d, %s", got.status, got.body)
	}
}

// FM-19: what net/http lets through or refuses, byte by byte.
func TestOddRequestsOnTheWire(t *testing.T) {
	v := &script{text: jsonAnswer}
	r := newRig(t, nil, stop{name: "pier", serve: v})
	const body = `{"model":"m","messages":[]}`
	for _, c := range []struct {
		name, raw, status string
		calls             int
	}{
		{"chunked", "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1b\r\n" + body + "\r\n0\r\n\r\n", "200", 1},
		{"no host", "POST /v1/chat/completions HTTP/1.1\r\nConnection: close\r\n\r\n", "400", 0},
		{"folded header", "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "400", 0},
		{"a header too large", "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 80<<10) + "\r\n\r\n", "431", 0},
		{"a length that is none", "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 1x\r\n\r\n", "400", 0},
		{"two lengths", "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 27\r\nContent-Length: 3\r\n\r\n" + body, "400", 0},
		{"a declared length over the limit, none sent", "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n", "413", 0},
		{"length and chunks", "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n1b\r\n" + body + "\r\n0\r\n\r\n", "200", 1},
		{"absolute form", "POST http://elsewhere/v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 27\r\n\r\n" + body, "200", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(v.requests())
			conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
			_, _ = io.WriteString(conn, c.raw)
			answer, _ := io.ReadAll(conn)
			if !strings.HasPrefix(string(answer), "HTTP/1.1 "+c.status) || len(v.requests())-before != c.calls {
				t.Errorf("%d calls, %.200q", len(v.requests())-before, answer)
			}
			for _, sent := range v.requests()[before:] {
				if sent.chunky || sent.length != int64(len(sent.body)) {
					t.Errorf("the vendor got %+v", sent)
				}
			}
		})
	}
}
