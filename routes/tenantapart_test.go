package routes_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
	"github.com/warmroute/warmroute/web"
)

// busyOnce is a vendor that is busy until its first request is over.
func busyOnce(text string) *script {
	var mu sync.Mutex
	busy := true
	return &script{answer: func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if busy {
			busy = false
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(text))
	}}
}

// notedPins are pins that know their keys, as a store's list of them does.
type notedPins struct {
	*inmem.Pins
	mu   sync.Mutex
	keys []engine.PinKey
}

func (p *notedPins) Keep(ctx context.Context, key engine.PinKey, model string, e engine.Entry) error {
	p.mu.Lock()
	if !slices.Contains(p.keys, key) {
		p.keys = append(p.keys, key)
	}
	p.mu.Unlock()
	return p.Pins.Keep(ctx, key, model, e)
}

func (p *notedPins) each(ctx context.Context, each func(engine.PinKey, engine.Record) bool) error {
	p.mu.Lock()
	keys := slices.Clone(p.keys)
	p.mu.Unlock()
	for _, key := range keys {
		r, err := p.Recall(ctx, key)
		if err != nil || !each(key, r) {
			return err
		}
	}
	return nil
}

// house is a gateway that two tenants share, with all that its owner can look at.
type house struct {
	*rig
	noted *notedPins
	admin string
}

// newHouse serves gull and heron from harbor-a and harbor-b, which are named so in
// the answers and are otherwise like the stop given. harbor-a is busy for the very
// first request.
func newHouse(t *testing.T, like stop, answer string, change ...func(gull, heron *routes.Tenant)) (h house, a, b *script) {
	t.Helper()
	a, b = busyOnce(answer), &script{text: answer}
	like.extra = "    hints: [{header: x-session-affinity, form: hashed}]"
	first, second := like, like
	first.name, first.serve = "harbor-a", a
	second.name, second.serve, second.also = "harbor-b", b, nil
	h.rig = newRig(t, shared(t, change...), first, second)
	h.noted = &notedPins{Pins: h.pins}
	h.gateway.Pins = h.noted
	return h, a, b
}

// look opens the owner's surfaces, on the turns so far.
func (h *house) look() {
	h.t.Helper()
	now := func() *catalog.Catalog { return h.catalog }
	metrics := routes.NewMetrics(routes.MetricsOptions{Catalog: now})
	for _, turn := range h.ledger.Recorded() {
		metrics.Record(turn)
	}
	mux := http.NewServeMux()
	mux.Handle("/ui/", web.New(web.Options{Books: h.ledger, Catalog: now}))
	mux.Handle("/", routes.Admin(routes.AdminOptions{
		Metrics: metrics.Handler(),
		API:     routes.APIOptions{Books: h.ledger, Pins: h.noted.each, Catalog: now},
	}))
	server := httptest.NewServer(mux)
	h.t.Cleanup(server.Close)
	h.admin = server.URL
}

// see is one page of the owner's.
func (h *house) see(path string) (int, string) {
	h.t.Helper()
	return fetch(h.t, h.admin+path)
}

func fetch(t testing.TB, address string) (int, string) {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// ways are the ways in which a request names its session, each for the same one.
func ways() map[string]struct {
	body   string
	header []string
} {
	long := strings.Repeat("The tide tables of the northern harbour, hour by hour. ", 100)
	plain := `{"model":"m","messages":[{"role":"user","content":"tide?"}]}`
	with := func(member string) string { return `{` + member + `,` + plain[1:] }
	type way = struct {
		body   string
		header []string
	}
	return map[string]way{
		"provider option":  {with(`"providerOptions":{"gateway":{"sessionId":"dawn"}}`), nil},
		"body id":          {with(`"session_id":"dawn"`), nil},
		"session header":   {plain, []string{"x-session-id", "dawn"}},
		"affinity header":  {plain, []string{"x-session-affinity", "dawn"}},
		"own header":       {plain, []string{"x-acme-session-id", "dawn-dawn"}},
		"prompt cache key": {with(`"prompt_cache_key":"dawn"`), nil},
		"agent header":     {strings.Replace(plain, "tide?", long, 1), []string{"x-claude-code-session-id", "dawn"}},
		"fingerprint":      {strings.Replace(plain, "tide?", long, 1), nil},
	}
}

// longAnswer reports a prompt that every vendor caches.
const longAnswer = `{"id":"x","object":"chat.completion","model":"barge-7","choices":[{"index":0,"message":{"role":"assistant","content":"At nine."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1400,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":1024}}}`

// However a session is named: what one tenant's turns left behind is not there for
// the other, and a vendor is not told that they are called the same.
func TestTwoTenantsWithOneNameAreTwoSessions(t *testing.T) {
	for name, way := range ways() {
		t.Run(name, func(t *testing.T) {
			h, a, b := newHouse(t, stop{}, longAnswer)
			say := func(key string, header ...string) reply {
				got := h.post("chat", way.body, slices.Concat(way.header, header, []string{"x-api-key", key})...)
				if got.status != http.StatusOK {
					t.Fatalf("%d %s", got.status, got.body)
				}
				return got
			}
			outcome := func(r reply) string {
				return r.header.Get("X-Warmroute-Vendor") + " " + r.header.Get("X-Warmroute-Outcome")
			}
			for _, turn := range []struct{ who, key, want string }{
				{"gull", gullKey, "harbor-b no_pin"},
				{"gull", gullKey, "harbor-b promoted"},
				{"heron", heronKey, "harbor-a no_pin"},
				{"heron", heronKey, "harbor-a confirmed"},
				{"gull", gullKey, "harbor-b promoted"},
			} {
				if got := outcome(say(turn.key)); got != turn.want {
					t.Errorf("%s: %s, want %s", turn.who, got, turn.want)
				}
			}
			hints := map[string]bool{}
			for _, sent := range slices.Concat(a.requests()[1:], b.requests()) {
				hint := sent.header.Get("X-Session-Affinity")
				if hint == "dawn" || hint == "" {
					t.Errorf("the vendor is told %q", hint)
				}
				hints[hint] = true
			}
			if len(hints) != 2 {
				t.Errorf("the vendors know %d sessions, want 2", len(hints))
			}
			h.apart(5)
		})
	}
}

// A parent is looked for among the tenant's own sessions only.
func TestASessionOfAnotherTenantIsNoParent(t *testing.T) {
	h, _, _ := newHouse(t, stop{}, jsonAnswer)
	body := `{"model":"m","messages":[{"role":"user","content":"tide?"}]}`
	h.post("chat", body, "x-api-key", gullKey, "x-session-id", "dawn")
	child := func(key, id string) string {
		got := h.post("chat", body, "x-api-key", key, "x-session-id", id, "x-parent-session-id", "dawn")
		return got.header.Get("X-Warmroute-Vendor") + " " + got.header.Get("X-Warmroute-Outcome")
	}
	if got := child(gullKey, "child"); got != "harbor-b promoted" {
		t.Errorf("gull's child: %s", got)
	}
	if got := child(heronKey, "child"); got != "harbor-a no_pin" {
		t.Errorf("heron's child: %s", got)
	}
	h.apart(3)
}

// A vendor whose account both use would continue anybody's response.
func TestAResponseIsContinuedByItsTenantOnly(t *testing.T) {
	h, a, b := newHouse(t, stop{api: "responses"}, `{"id":"resp_gull1","object":"response","status":"completed","output":[],"usage":{"input_tokens":4000,"output_tokens":10,"input_tokens_details":{"cached_tokens":0}}}`)
	if got := h.post("responses", `{"model":"m","input":"tide?"}`, "x-api-key", gullKey); got.status != http.StatusOK {
		t.Fatal(got.body)
	}
	const next = `{"model":"m","previous_response_id":"resp_gull1","input":"and then?"}`
	for _, body := range []string{
		next,
		strings.Replace(next, `"input"`, `"session_id":"dawn","input"`, 1),
		strings.Replace(next, `"input"`, `"providerOptions":{"gateway":{"only":["harbor-b"]}},"input"`, 1),
	} {
		asked := len(a.requests()) + len(b.requests())
		got := h.post("responses", body, "x-api-key", heronKey)
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, "send the whole conversation") || len(a.requests())+len(b.requests()) != asked {
			t.Errorf("heron: %d %s", got.status, got.body)
		}
	}
	got := h.post("responses", next, "x-api-key", gullKey)
	if got.status != http.StatusOK || got.header.Get("X-Warmroute-Vendor") != "harbor-b" {
		t.Errorf("gull: %d %s %s", got.status, got.header.Get("X-Warmroute-Vendor"), got.body)
	}
}

// A vendor answers a request that it has answered before with the same answer,
// and knows it by a word of the client's.
func TestAnIdempotencyKeyIsItsTenants(t *testing.T) {
	pier := &script{text: jsonAnswer}
	r := newRig(t, shared(t), stop{name: "pier", serve: pier})
	for _, key := range []string{gullKey, heronKey, gullKey} {
		r.post("chat", bodies[false], "x-api-key", key, "Idempotency-Key", "retry-1")
	}
	r.send(embedPath, strings.NewReader(`{"model":"m","input":"x"}`), "x-api-key", gullKey, "Idempotency-Key", "retry-1")
	var sent []string
	for _, got := range pier.requests() {
		sent = append(sent, got.header.Get("Idempotency-Key"))
	}
	if len(sent) != 4 || sent[0] == "retry-1" || len(sent[0]) != 64 || sent[0] == sent[1] || sent[0] != sent[2] || sent[0] != sent[3] {
		t.Errorf("the vendor got %q", sent)
	}
	alone := newRig(t, func(o *routes.Options) { o.Tenants = tenantsOf(t, team("crew-gull", gullKey)) }, stop{name: "pier", serve: pier})
	alone.post("chat", bodies[false], "x-api-key", gullKey, "Idempotency-Key", "retry-1")
	if got := pier.requests()[4].header.Get("Idempotency-Key"); got != "retry-1" {
		t.Errorf("one tenant alone: %q", got)
	}
}

// Parts of a key may not be shifted from one to the next.
func TestTenantsAndSessionsDoNotRunIntoEachOther(t *testing.T) {
	rKey, bKey := "yard_a_000000000000", "yard_ab_00000000000"
	a, b := busyOnce(jsonAnswer), &script{text: jsonAnswer}
	r := newRig(t, func(o *routes.Options) {
		o.Metadata = vendor.MetadataHeader
		o.Tenants = tenantsOf(t, team("a", rKey), team("a|b", bKey), team("a/explicit", "yard_c_000000000000"))
	}, stop{name: "harbor-a", serve: a}, stop{name: "harbor-b", serve: b})
	for _, turn := range []struct{ key, id, want string }{
		{rKey, "b|c", "harbor-b no_pin"},
		{bKey, "c", "harbor-a no_pin"},
		{rKey, "explicit/b|c", "harbor-a no_pin"},
		{"yard_c_000000000000", "b|c", "harbor-a no_pin"},
		{rKey, "b|c", "harbor-b promoted"},
	} {
		got := r.post("chat", bodies[false], "x-api-key", turn.key, "x-session-id", turn.id)
		if text := got.header.Get("X-Warmroute-Vendor") + " " + got.header.Get("X-Warmroute-Outcome"); text != turn.want {
			t.Errorf("%s of %s: %s, want %s", turn.id, turn.key, text, turn.want)
		}
	}
}

// apart walks all that is kept after n turns, by every id there is, as each tenant
// in turn: nothing of the other's is found. The metrics name neither.
func (h *house) apart(n int) {
	h.t.Helper()
	h.turns(int64(n))
	h.settled()
	h.look()
	all, _, err := h.ledger.Turns(h.t.Context(), engine.Query{}, engine.Page{})
	if err != nil || len(all) != n {
		h.t.Fatalf("%d turns, want %d: %v", len(all), n, err)
	}
	if len(h.noted.keys) == 0 {
		h.t.Error("no pin was kept")
	}
	both := []string{"crew-gull", "crew-heron"}
	for i, me := range both {
		other := both[1-i]
		mine := "tenant=" + me
		for _, turn := range all {
			if turn.Tenant == me {
				continue
			}
			_, found, err := h.ledger.Turn(h.t.Context(), me, turn.ID)
			if status, _ := h.see("/api/v1/turns/" + turn.ID + "?" + mine); found || err != nil || status != http.StatusNotFound {
				h.t.Errorf("%s finds a turn of %s: %d %v", me, other, status, err)
			}
			if status, text := h.see("/ui/turn?id=" + turn.ID + "&" + mine); status != http.StatusNotFound || strings.Contains(text, other) {
				h.t.Errorf("%s opens a turn of %s: %d", me, other, status)
			}
			place := "class=" + string(turn.Class) + "&id=" + url.QueryEscape(turn.Session)
			for _, path := range []string{"/api/v1/sessions/" + string(turn.Class) + "?id=" + url.QueryEscape(turn.Session) + "&" + mine, "/ui/session?" + place + "&" + mine} {
				if _, text := h.see(path); strings.Contains(text, other) || strings.Contains(text, turn.ID) {
					h.t.Errorf("%s shows %s something of %s: %s", path, me, other, text)
				}
			}
		}
		for _, path := range []string{
			"/api/v1/turns?", "/api/v1/sessions?", "/api/v1/pins?", "/ui/?range=24h&", "/ui/turns?range=24h&", "/ui/sessions?range=24h&",
		} {
			status, text := h.see(path + mine)
			if status != http.StatusOK || strings.Contains(text, other) {
				h.t.Errorf("%s%s: %d with something of %s", path, mine, status, other)
			}
			for _, turn := range all {
				if turn.Tenant != me && strings.Contains(text, turn.ID) {
					h.t.Errorf("%s%s has a turn of %s", path, mine, other)
				}
			}
		}
		var sums struct{ Total struct{ Turns int } }
		_, text := h.see("/api/v1/overview?" + mine)
		if err := json.Unmarshal([]byte(text), &sums); err != nil || sums.Total.Turns != count(all, me) {
			h.t.Errorf("%s has %d turns in its overview, want %d (%v)", me, sums.Total.Turns, count(all, me), err)
		}
	}
	status, text := h.see("/metrics")
	if status != http.StatusOK || !strings.Contains(text, "warmroute_requests_total{") {
		h.t.Fatalf("metrics: %d", status)
	}
	private := []string{"crew-", "tenant", "yard_"}
	for _, turn := range all {
		private = append(private, `"`+turn.Session+`"`, turn.ID)
	}
	for _, word := range private {
		if strings.Contains(text, word) {
			h.t.Errorf("%s is in the metrics", word)
		}
	}
}

func count(turns []engine.Booked, tenant string) (n int) {
	for i := range turns {
		if turns[i].Tenant == tenant {
			n++
		}
	}
	return n
}
