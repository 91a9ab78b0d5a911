package routes_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

// decided is an answer of /v1/route.
type decided struct {
	Turn    string
	Expires time.Time
	Target  string
	Scope   string
	Session *struct{ ID, Source string }
	Order   []struct {
		Model, Vendor, Credential, Group string
		Upstream                         string `json:"upstream_model"`
		Down                             bool
	}
	Affinity []json.RawMessage
}

// outcome is the outcome of the order's first model.
func (d *decided) outcome(t testing.TB) string {
	t.Helper()
	var a struct{ Outcome string }
	if err := json.Unmarshal(d.Affinity[0], &a); err != nil {
		t.Fatal(err)
	}
	return a.Outcome
}

// told is an answer of /v1/outcomes.
type told struct {
	Turn     string
	Settled  bool
	Expires  *time.Time
	Attempts []struct {
		Vendor, Stage string
		Failure, Cost *string
		Quality       string `json:"usage_quality"`
	}
	Next *struct{ Vendor, Credential string }
}

// decide asks /v1/route and is its answer.
func (r *rig) decide(body string, header ...string) decided {
	r.t.Helper()
	got := r.send("/v1/route", strings.NewReader(body), header...)
	var d decided
	if err := json.Unmarshal([]byte(got.body), &d); err != nil || got.status != http.StatusOK {
		r.t.Fatalf("%d %s", got.status, got.body)
	}
	return d
}

// report tells /v1/outcomes and is its answer.
func (r *rig) report(body string, header ...string) told {
	r.t.Helper()
	got := r.send("/v1/outcomes", strings.NewReader(body), header...)
	var o told
	if err := json.Unmarshal([]byte(got.body), &o); err != nil || got.status != http.StatusOK {
		r.t.Fatalf("%d %s", got.status, got.body)
	}
	return o
}

// asksFor is what /v1/route is asked for a conversation of one session.
func asksFor(session string) string {
	return `{"api":"chat","headers":{"x-session-id":"` + session + `"},"body":{"model":"m","messages":[{"role":"user","content":"Which tide?"}]}}`
}

// served is an attempt that a vendor served, with an ordinary usage.
func served(vendor string) string {
	return `{"vendor":"` + vendor + `","stage":"served","status":200,"usage":{"prompt_tokens":100,"completion_tokens":5}}`
}

func twoStops() []stop {
	return []stop{{name: "pier", url: "http://127.0.0.1:1"}, {name: "quay", url: "http://127.0.0.1:1"}}
}

func TestATurnIsDecidedHereAndServedElsewhere(t *testing.T) {
	r := newRig(t, nil, twoStops()...)
	d := r.decide(asksFor("ebb"))
	if d.Target != "m" || d.Scope != "" || d.Session == nil || d.Session.ID != "ebb" || d.Session.Source != "explicit" || d.outcome(t) != "no_pin" {
		t.Errorf("decided %+v", d)
	}
	if len(d.Order) != 2 || d.Order[0].Vendor != "pier" || d.Order[1].Vendor != "quay" || d.Order[0].Upstream != "barge-7" ||
		d.Order[0].Credential != "main" || d.Order[0].Group != "operator" || d.Order[0].Model != "m" {
		t.Errorf("order %+v", d.Order)
	}
	if n, _ := r.ledger.Count(); n != 0 || r.pinned("ebb") != nil {
		t.Error("a decision is booked, or pinned")
	}
	o := r.report(`{"turn":"` + d.Turn + `","attempts":[{"vendor":"pier","stage":"refused","status":503},` + served("quay") + `]}`)
	if !o.Settled || o.Expires != nil || o.Next != nil || len(o.Attempts) != 2 || o.Attempts[0].Stage != "refused" || *o.Attempts[0].Failure != "server" ||
		o.Attempts[1].Stage != "served" || o.Attempts[1].Cost == nil || *o.Attempts[1].Cost != "0.0003" {
		t.Errorf("told %+v", o)
	}
	if got := r.pinned("ebb"); fmt.Sprint(got) != "[quay]" {
		t.Errorf("pinned %v", got)
	}
	a := r.last(1)
	if a.Usage != (pricing.Usage{Input: 100, Output: 5}) || a.Candidate.Route.Vendor.Name != "quay" {
		t.Errorf("booked %+v", a)
	}
	if d := r.decide(asksFor("ebb")); d.outcome(t) != "promoted" || d.Order[0].Vendor != "quay" {
		t.Errorf("the session's next turn: %+v", d)
	}
}

// A gateway that asks can put what it was told into its own answers as this gateway
// would have.
func TestWhatAffinityFoundIsToldInOneShape(t *testing.T) {
	r := newRig(t, func(o *routes.Options) { o.Metadata = vendor.MetadataBody }, stop{name: "pier", serve: &script{text: jsonAnswer}}, stop{name: "quay", url: "http://127.0.0.1:1"})
	for range 2 {
		d := r.decide(asksFor("ebb"))
		got := r.post("chat", `{"model":"m","messages":[{"role":"user","content":"Which tide?"}]}`, "x-session-id", "ebb")
		var answer struct {
			Metadata struct {
				Gateway struct {
					Routing struct{ Affinity map[string]any }
				}
			} `json:"provider_metadata"`
		}
		if err := json.Unmarshal([]byte(got.body), &answer); err != nil {
			t.Fatal(err)
		}
		var told map[string]any
		if err := json.Unmarshal(d.Affinity[0], &told); err != nil {
			t.Fatal(err)
		}
		if told["model"] != "m" {
			t.Errorf("model %v", told["model"])
		}
		delete(told, "model")
		if a, b := fmt.Sprint(told), fmt.Sprint(answer.Metadata.Gateway.Routing.Affinity); a != b {
			t.Errorf("told\n%s\nserved\n%s", a, b)
		}
	}
}

func TestAnAcceptanceIsSeenByTurnsThatOverlap(t *testing.T) {
	r := newRig(t, nil, twoStops()...)
	first := r.decide(asksFor("ebb"))
	o := r.report(`{"turn":"` + first.Turn + `","attempts":[{"vendor":"pier","stage":"refused","status":429}],"final":false}`)
	if o.Settled || o.Expires == nil || o.Next == nil || o.Next.Vendor != "quay" {
		t.Errorf("after a refusal: %+v", o)
	}
	o = r.report(`{"turn":"` + first.Turn + `","attempts":[{"vendor":"pier","stage":"refused","status":429},{"vendor":"quay","status":200}],"final":false}`)
	if o.Settled || o.Next != nil || len(o.Attempts) != 1 {
		t.Errorf("after an acceptance: %+v", o)
	}
	if second := r.decide(asksFor("ebb")); second.outcome(t) != "promoted" || second.Order[0].Vendor != "quay" {
		t.Errorf("a turn beside it: %+v", second)
	}
	if n, _ := r.ledger.Count(); n != 0 {
		t.Error("booked before its end")
	}
	open, _, err := r.ledger.Turn(t.Context(), catalog.DefaultTenant, first.Turn)
	if err != nil || open.State != engine.Unsettled {
		t.Errorf("%v %+v", err, open)
	}
	end := `{"turn":"` + first.Turn + `","attempts":[{"vendor":"pier","stage":"refused","status":429},{"vendor":"quay","stage":"broken"}],"took_ms":1500}`
	if o = r.report(end); !o.Settled || o.Attempts[1].Stage != "broken" || *o.Attempts[1].Failure != "cut" || o.Attempts[1].Quality != "missing" {
		t.Errorf("after its end: %+v", o)
	}
	if got := r.pinned("ebb"); got != nil {
		t.Errorf("a broken answer leaves the pin %v", got)
	}
	if turn := r.turns(1)[0]; turn.Took != 1500*time.Millisecond || !turn.Remote || len(turn.Attempts) != 2 {
		t.Errorf("booked %+v", turn)
	}
}

func TestAReportThatIsSentAgainChangesNothing(t *testing.T) {
	r := newRig(t, nil, twoStops()...)
	d := r.decide(asksFor("ebb"))
	final := `{"turn":"` + d.Turn + `","attempts":[` + served("pier") + `]}`
	early := `{"turn":"` + d.Turn + `","attempts":[{"vendor":"pier","status":200}],"final":false}`
	for range 2 {
		if o := r.report(early); o.Settled {
			t.Errorf("%+v", o)
		}
	}
	first := r.send("/v1/outcomes", strings.NewReader(final))
	for _, again := range []string{final, early, `{"turn":"` + d.Turn + `","attempts":[` + served("quay") + `]}`} {
		if got := r.send("/v1/outcomes", strings.NewReader(again)); got.status != http.StatusOK || got.body != first.body {
			t.Errorf("%d %s\nfirst %s", got.status, got.body, first.body)
		}
	}
	if n, _ := r.ledger.Count(); n != 1 || fmt.Sprint(r.pinned("ebb")) != "[pier]" {
		t.Errorf("%d turns, pinned %v", n, r.pinned("ebb"))
	}
}

// A gateway that does not ship prompts says how large they are.
func TestAPromptMayStayWhereItIs(t *testing.T) {
	r := newRig(t, nil, twoStops()...)
	for _, c := range []struct{ name, ask, tokens string }{
		{"tokens", `{"path":"/v1/chat/completions","body":{"model":"m","session_id":"neap"},"prompt":{"tokens":12000}}`, "12000"},
		{"bytes", `{"api":"chat","body":{"model":"m","session_id":"neap"},"prompt":{"text_bytes":48000,"markers":2,"marker_ttl":"1h"}}`, "12000"},
		{"a count instead of what is there", `{"api":"chat","body":{"model":"m","session_id":"neap","messages":[{"role":"user","content":"And?"}]},"prompt":{"tokens":12000}}`, "12000"},
		{"whole", `{"api":"chat","body":{"model":"m","session_id":"neap","messages":[{"role":"user","content":"` + strings.Repeat("tide ", 800) + `"}]}}`, "1001"},
	} {
		d := r.decide(c.ask)
		o := r.report(`{"turn":"` + d.Turn + `","attempts":[{"vendor":"pier","stage":"abandoned","status":200,"accepted_at":"2026-01-01T00:00:00Z"}]}`)
		if !o.Settled || o.Attempts[0].Stage != "abandoned" {
			t.Errorf("%s: %+v", c.name, o)
		}
		d = r.decide(c.ask)
		if d.outcome(t) != "confirmed" || !strings.Contains(string(d.Affinity[0]), `"prompt_tokens":`+c.tokens+`,`) {
			t.Errorf("%s: %s", c.name, d.Affinity[0])
		}
	}
}

func TestWhatRouteRefuses(t *testing.T) {
	r := newRig(t, func(o *routes.Options) { o.MaxBody = 4 << 10 }, twoStops()...)
	plain := `"body":{"model":"m","messages":[]}`
	for _, c := range []struct {
		name, ask string
		status    int
		says      string
	}{
		{"nothing", ``, 400, "empty"},
		{"no object", `[]`, 400, "not a JSON object"},
		{"cut", `{"api":"chat",`, 400, "not valid JSON"},
		{"two", `{"api":"chat",` + plain + `}{}`, 400, "follows"},
		{"an unknown member", `{"api":"chat","bodies":1,` + plain + `}`, 400, `no member "bodies"`},
		{"a member twice", `{"api":"chat","api":"chat",` + plain + `}`, 400, "twice"},
		{"no dialect", `{` + plain + `}`, 400, `"api" is missing`},
		{"no such dialect", `{"api":"smoke",` + plain + `}`, 400, "chat, responses or messages"},
		{"no such path", `{"path":"/v1/images",` + plain + `}`, 400, "/v1/messages"},
		{"two dialects", `{"api":"chat","path":"/v1/messages",` + plain + `}`, 400, "two dialects"},
		{"a dialect that is none", `{"api":7,` + plain + `}`, 400, `"api" must not be a number`},
		{"no body", `{"api":"chat"}`, 400, `"body" is missing`},
		{"a body as text", `{"api":"chat","body":"{}"}`, 400, "JSON object"},
		{"no model", `{"api":"chat","body":{}}`, 400, `"model" is missing`},
		{"a model twice", `{"api":"chat","body":{"model":"m","model":"n"}}`, 400, `"model" stands in the body twice`},
		{"no such model", `{"api":"chat","body":{"model":"brig"}}`, 404, "brig"},
		{"a dialect that nobody speaks", `{"api":"messages",` + plain + `}`, 400, ""},
		{"headers of another kind", `{"api":"chat","headers":{"x-session-id":["a"]},` + plain + `}`, 400, "headers"},
		{"a header twice", `{"api":"chat","headers":{"x-session-id":"a","X-Session-Id":"b"},` + plain + `}`, 400, "twice"},
		{"a switch that is none", `{"api":"chat","headers":{"x-warmroute-affinity":"perhaps"},` + plain + `}`, 400, "on or off"},
		{"a prompt of no size", `{"api":"chat","prompt":{"markers":1},` + plain + `}`, 400, "tokens or text_bytes"},
		{"a prompt of two", `{"api":"chat","prompt":{"tokens":1,"text_bytes":4},` + plain + `}`, 400, "tokens or text_bytes"},
		{"less than nothing", `{"api":"chat","prompt":{"tokens":-1},` + plain + `}`, 400, "impossible"},
		{"a lifetime that is none", `{"api":"chat","prompt":{"tokens":1,"marker_ttl":"2h"},` + plain + `}`, 400, "5m or 1h"},
		{"an unknown member of the prompt", `{"api":"chat","prompt":{"tokenz":1},` + plain + `}`, 400, `no member "tokenz"`},
		{"too large", `{"api":"chat","body":{"model":"m","x":"` + strings.Repeat("y", 4<<10) + `"}}`, 413, "larger"},
	} {
		got := r.send("/v1/route", strings.NewReader(c.ask))
		var body struct{ Error struct{ Message string } }
		if err := json.Unmarshal([]byte(got.body), &body); err != nil || got.status != c.status || !strings.Contains(body.Error.Message, c.says) || body.Error.Message == "" {
			t.Errorf("%s: %d %s", c.name, got.status, got.body)
		}
		if got.header.Get("X-Warmroute-Request-Id") == "" {
			t.Errorf("%s: no id", c.name)
		}
	}
}

func TestWhatOutcomesRefuses(t *testing.T) {
	r := newRig(t, nil, twoStops()...)
	d := r.decide(asksFor("ebb"))
	for _, c := range []struct{ name, attempts, says string }{
		{"none", `[]`, "no attempts"},
		{"a vendor of another turn", `[{"vendor":"wharf","stage":"served"}]`, "pier main for m, quay main for m"},
		{"another credential", `[{"vendor":"pier","credential":"spare","stage":"served"}]`, "names no candidate"},
		{"another model", `[{"vendor":"pier","upstream_model":"barge-8","stage":"served"}]`, "names no candidate"},
		{"no stage", `[{"vendor":"pier"}]`, "neither a stage nor accepted_at"},
		{"open at the end", `[{"vendor":"pier","status":200}]`, "no stage"},
		{"no such stage", `[{"vendor":"pier","stage":"sunk"}]`, "refused, broken, abandoned or served"},
		{"no such failure", `[{"vendor":"pier","stage":"broken","failure":"storm"}]`, "connect, timeout"},
		{"served and failed", `[{"vendor":"pier","stage":"served","failure":"cut"}]`, "no failure"},
		{"served with a refusal's status", `[{"vendor":"pier","stage":"served","status":500}]`, "200 to 299"},
		{"refused and accepted", `[{"vendor":"pier","stage":"refused","status":200}]`, "was not refused"},
		{"a status that is none", `[{"vendor":"pier","stage":"refused","status":7}]`, "HTTP status"},
		{"no length of time", `[{"vendor":"pier","stage":"served","took_ms":-1}]`, "took_ms"},
		{"two usages", `[{"vendor":"pier","stage":"served","usage":{},"tokens":{"uncached":1,"output":1}}]`, "either usage or tokens"},
		{"half a usage", `[{"vendor":"pier","stage":"served","tokens":{"uncached":1}}]`, "uncached and output"},
		{"more than all", `[{"vendor":"pier","stage":"served","tokens":{"uncached":1,"output":1,"reasoning":2}}]`, "part of output"},
		{"less than nothing", `[{"vendor":"pier","stage":"served","tokens":{"uncached":-1,"output":1}}]`, "impossible"},
		{"more than any answer", `[{"vendor":"pier","stage":"served","tokens":{"uncached":1073741825,"output":1}}]`, "impossible"},
		{"after the one that served", `[{"vendor":"pier","stage":"served"},{"vendor":"quay","stage":"served"}]`, "attempt 2: nothing is tried after"},
		{"while another is open", `[{"vendor":"pier","status":200},{"vendor":"quay","stage":"served"}]`, "attempt 1: another follows"},
		{"an unknown member", `[{"vendor":"pier","stage":"served","tokenz":1}]`, `no member "tokenz"`},
		{"of another type", `[{"vendor":"pier","stage":7}]`, `"attempts.stage" must not be a number`},
		{"a time that is none", `[{"vendor":"pier","stage":"served","accepted_at":"noon"}]`, "RFC 3339"},
		{"too many", `[` + strings.Repeat(`{"vendor":"pier","stage":"refused","status":500},`, 64) + served("pier") + `]`, "more than 64"},
	} {
		got := r.send("/v1/outcomes", strings.NewReader(`{"turn":"`+d.Turn+`","attempts":`+c.attempts+`}`))
		if got.status != http.StatusBadRequest || !strings.Contains(strings.ReplaceAll(got.body, `\"`, `"`), c.says) {
			t.Errorf("%s: %d %s", c.name, got.status, got.body)
		}
	}
	for _, c := range []struct {
		name, body string
		status     int
	}{
		{"no turn", `{"attempts":[]}`, 400}, {"no object", `7`, 400}, {"nothing", ``, 400}, {"cut", `{"turn":"`, 400}, {"two", `{"turn":"a"}{}`, 400},
		{"another turn", `{"turn":"wr_0","attempts":[` + served("pier") + `]}`, 404}, {"too large", `{"turn":"` + strings.Repeat("y", 1<<20) + `"}`, 413},
	} {
		if got := r.send("/v1/outcomes", strings.NewReader(c.body)); got.status != c.status || !strings.Contains(got.body, `{"error":{"message":`) {
			t.Errorf("%s: %d %s", c.name, got.status, got.body)
		}
	}
	if n, _ := r.ledger.Count(); n != 0 || r.pinned("ebb") != nil {
		t.Error("what was refused has changed something")
	}
	if o := r.report(`{"turn":"` + d.Turn + `","attempts":[` + served("pier") + `]}`); !o.Settled {
		t.Errorf("%+v", o)
	}
}

// What is told of a turn that was told of before must go on from there.
func TestReportsOfOneTurnContinueEachOther(t *testing.T) {
	r := newRig(t, nil, twoStops()...)
	d := r.decide(asksFor("ebb"))
	tell := func(final bool, attempts string) reply {
		return r.send("/v1/outcomes", strings.NewReader(fmt.Sprintf(`{"turn":%q,"attempts":[%s],"final":%v}`, d.Turn, attempts, final)))
	}
	const refused, open = `{"vendor":"pier","stage":"refused","status":500}`, `{"vendor":"quay","status":200}`
	if got := tell(false, refused+","+open); got.status != http.StatusOK {
		t.Fatal(got.body)
	}
	for _, c := range []struct {
		name, attempts, says string
		final                bool
	}{
		{"fewer at the end", refused, "fewer attempts", true},
		{"another first", open, "attempt 1: it was told of before", false},
		{"another second", refused + "," + refused, "attempt 2: it was told of before", false},
		{"taken back", refused + `,{"vendor":"quay","stage":"refused","status":500}`, "was not refused", true},
	} {
		if got := tell(c.final, c.attempts); got.status != http.StatusBadRequest || !strings.Contains(got.body, c.says) {
			t.Errorf("%s: %d %s", c.name, got.status, got.body)
		}
	}
	if got := tell(false, refused); got.status != http.StatusOK { // one that was overtaken
		t.Error(got.body)
	}
	if got := tell(true, refused+","+served("quay")); got.status != http.StatusOK || !strings.Contains(got.body, `"settled":true`) {
		t.Error(got.body)
	}
}

func TestATurnIsItsTenantsAlone(t *testing.T) {
	r := newRig(t, shared(t), twoStops()...)
	d := r.decide(asksFor("ebb"), "Authorization", "Bearer "+gullKey)
	report := `{"turn":"` + d.Turn + `","attempts":[` + served("pier") + `]}`
	other := r.send("/v1/outcomes", strings.NewReader(report), "Authorization", "Bearer "+heronKey)
	nobodys := r.send("/v1/outcomes", strings.NewReader(strings.Replace(report, d.Turn, "wr_nobodys", 1)), "Authorization", "Bearer "+heronKey)
	if other.status != http.StatusNotFound || other.body != nobodys.body {
		t.Errorf("%d %s\n%d %s", other.status, other.body, nobodys.status, nobodys.body)
	}
	if got := r.send("/v1/outcomes", strings.NewReader(report)); got.status != http.StatusUnauthorized {
		t.Errorf("without a key: %d", got.status)
	}
	if o := r.report(report, "Authorization", "Bearer "+gullKey); !o.Settled {
		t.Errorf("%+v", o)
	}
	if d := r.decide(asksFor("ebb"), "Authorization", "Bearer "+heronKey); d.outcome(t) != "no_pin" {
		t.Errorf("another tenant's session of the same name: %s", d.outcome(t))
	}
}

// Keys that a gateway passes on by mistake name nothing and go nowhere.
func TestKeysAmongTheHeadersAreNotRead(t *testing.T) {
	r := newRig(t, nil, twoStops()...)
	ask := strings.Replace(asksFor("ebb"), `"headers":{`, `"headers":{"Authorization":"Bearer CANARY-1","cookie":"CANARY-2","x-api-key":"CANARY-3",`, 1)
	got := r.send("/v1/route", strings.NewReader(ask))
	r.settled()
	if got.status != http.StatusOK || strings.Contains(got.body+r.log.String(), "CANARY") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if strings.Contains(r.log.String(), "tide") {
		t.Error("the log has the prompt")
	}
}
