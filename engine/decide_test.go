package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// house is a catalog of one model with three ordinary vendors, a model with one
// route and one that caches nowhere.
const house = `
version: 1
vendors:
  a: {api: [chat], base_url: "https://a.example/v1", credentials: [{id: k1, env: K}, {id: k2, env: K}], cache: {family: implicit, ttl: 5m, min_prefix: 1024}}
  b: {api: [chat], base_url: "https://b.example/v1", credentials: [{id: k, env: K}], cache: {family: implicit, ttl: 5m, min_prefix: 2048}}
  c: {api: [chat], base_url: "https://c.example/v1", cache: {family: explicit, ttl: 5m}}
  u: {api: [chat], base_url: "https://u.example/v1", cache: {family: implicit}}
  n: {api: [chat], base_url: "https://n.example/v1", cache: {family: none}}
models:
  m:
    routes:
      - {vendor: a, model: m, price: {input: 3, output: 15, cache_read: 0.3}}
      - {vendor: b, model: m, price: {input: 2, output: 10, cache_read: 0.2}}
      - {vendor: c, model: m, price: {input: 4, output: 10, cache_read: 2}}
  single: {routes: [{vendor: a, model: s, price: {input: 3, output: 15, cache_read: 0.3}}]}
  plain:
    routes:
      - {vendor: n, model: p, price: {input: 1, output: 1}}
  dear:
    routes:
      - {vendor: a, model: d, price: {input: 1, output: 1, cache_read: 1}}
      - {vendor: b, model: d, price: {input: 3, output: 1, cache_read: 3}}
      - {vendor: u, model: d, price: {input: 5, output: 1}}
      - {vendor: c, model: d, price: {output: 1, cache_read: 0.1}}
      - {vendor: n, model: d, price: {output: 1}}
`

// scene builds the facts of one decision.
type scene struct {
	t       *testing.T
	catalog *catalog.Catalog
	request Request
	down    string // vendors, and vendor/credential, that are down
	f       Facts
}

func newScene(t *testing.T, models string) *scene {
	s := &scene{t: t, catalog: parse(t, house), request: Request{API: catalog.Chat}}
	s.f = Facts{Now: pinEpoch, Session: Session{Tenant: "t", Class: ClassExplicit, ID: "boat-2"}, Prompt: Estimate{Tokens: 5000, Basis: BasisTextBytes}}
	s.f.Record = Record{}
	s.request.Models = strings.Fields(models)
	return s
}

// pin adds an entry of model, written vendor[/credential], accepted so many
// seconds ago.
func (s *scene) pin(model, candidate string, ago int, change ...func(*Entry)) {
	vendor, credential, _ := strings.Cut(candidate, "/")
	at := s.f.Now.Add(-time.Duration(ago) * time.Second)
	e := Entry{Vendor: vendor, Credential: credential, Turn: uint64(10000 - ago), AcceptedAt: at, ExpiresAt: at.Add(285 * time.Second)}
	for _, c := range change {
		c(&e)
	}
	s.f.Record = s.f.Record.Keep(model, e)
}

func (s *scene) decide() Decision {
	var targets []catalog.Target
	for _, name := range s.request.Models {
		target, ok := s.catalog.Resolve(name)
		if !ok {
			s.t.Fatalf("no target %s", name)
		}
		targets = append(targets, target)
	}
	var err error
	s.f.Plan, err = BuildPlan(PlanFacts{
		Now: s.f.Now, Request: &s.request, Session: s.f.Session, Targets: targets, Record: s.f.Record, Prompt: s.f.Prompt,
		Down: func(r *catalog.Route, credential string) bool {
			for _, d := range strings.Fields(s.down) {
				if d == r.Vendor.Name || d == r.Vendor.Name+"/"+credential {
					return true
				}
			}
			return false
		},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return Decide(s.f)
}

// tell is a decision as text: the order, then what was found for each model.
func tell(p Plan, d Decision) string {
	var b strings.Builder
	for i, at := range d.Order {
		c := p.Candidates[at]
		if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(c.Route.Vendor.Name)
		if c.Credential != "" {
			b.WriteString("/" + c.Credential)
		}
	}
	for _, f := range d.Models {
		fmt.Fprintf(&b, "; %s", f.Outcome)
		if f.Detail != "" {
			fmt.Fprintf(&b, "(%s)", f.Detail)
		}
		if f.Pinned != "" {
			fmt.Fprintf(&b, " pinned %s", f.Pinned)
		}
		if f.Displaced != "" {
			fmt.Fprintf(&b, " displaced %s", f.Displaced)
		}
		if f.Gate != "" {
			fmt.Fprintf(&b, " %s pays=%v own %s<%s", f.Gate, f.Verdict.Pays, f.Verdict.CacheRead, f.Verdict.Input)
			for _, r := range f.Verdict.Rivals {
				fmt.Fprintf(&b, " %s:%s", r.Vendor, r.Input)
			}
		}
	}
	return b.String()
}

func TestDecide(t *testing.T) {
	silent := func(e *Entry) { e.Silent = 2 }
	agent := func(s *scene) { s.f.Session.Class = ClassAgent }
	// This session's own order of a's credentials is k2, k1.
	const plain = "a/k2 a/k1 b/k c"
	cases := []struct {
		name   string
		models string
		scene  func(s *scene)
		want   string
	}{
		{"off, though there is a pin", "m", func(s *scene) { s.f.Off = true; s.pin("m", "b/k", 60) }, plain + "; skipped_mode_off"},
		{"off goes before a store that does not answer", "m", func(s *scene) { s.f.Off, s.f.Unavailable = true, true }, plain + "; skipped_mode_off"},
		{"no session", "m", func(s *scene) { s.f.Session = Session{Tenant: "t"} }, "a/k2 a/k1 b/k c; no_pin(no_session)"},
		{"the store does not answer", "m", func(s *scene) { s.f.Unavailable = true }, plain + "; store_unavailable"},
		{"the store before what cannot cache", "plain", func(s *scene) { agent(s); s.f.Unavailable = true }, "n; store_unavailable"},
		{"an agent's session of a model that cannot cache", "plain", agent, "n; not_cache_capable"},
		{"the caller's own session of a model that cannot cache", "plain", nil, "n; no_pin"},
		{"an agent's prompt below every minimum", "m", func(s *scene) { agent(s); s.f.Prompt.Tokens = 255; s.pin("m", "b/k", 60) }, "a/k2 a/k1 b/k c; skipped_below_min_prefix"},
		{"the caller's own session pins at any size", "m", func(s *scene) { s.f.Prompt.Tokens = 1; s.pin("m", "b/k", 60) }, "b/k a/k2 a/k1 c; promoted pinned b displaced a cache_read pays=true own 0.2<2 a:3 c:4"},
		{"an agent's prompt below the pinned route's minimum", "m", func(s *scene) { agent(s); s.f.Prompt.Tokens = 2047; s.pin("m", "b/k", 60) }, "a/k2 a/k1 b/k c; skipped_below_min_prefix pinned b"},
		{"an agent's prompt at the pinned route's minimum", "m", func(s *scene) { agent(s); s.f.Prompt.Tokens = 2048; s.pin("m", "b/k", 60) }, "b/k a/k2 a/k1 c; promoted pinned b displaced a cache_read pays=true own 0.2<2 a:3 c:4"},

		{"first turn", "m", nil, plain + "; no_pin"},
		{"another model was used", "m", func(s *scene) { s.pin("single", "a/k1", 60) }, plain + "; no_pin(model_changed)"},
		{"last instant of the window", "m", func(s *scene) { s.pin("m", "b/k", 285, func(e *Entry) { e.ExpiresAt = s.f.Now.Add(1) }) }, "b/k a/k2 a/k1 c; promoted pinned b displaced a cache_read pays=true own 0.2<2 a:3 c:4"},
		{"end of the window", "m", func(s *scene) { s.pin("m", "b/k", 285) }, plain + "; pin_expired pinned b"},
		{"two silent turns are as good as no pin", "m", func(s *scene) { s.pin("m", "b/k", 60, silent) }, plain + "; no_pin(never_engaged)"},
		{"two silent turns of the first in order", "m", func(s *scene) { s.pin("m", "a/k2", 60, silent) }, plain + "; no_pin(never_engaged)"},
		{"one silent turn is patience", "m", func(s *scene) { s.pin("m", "b/k", 60, func(e *Entry) { e.Silent = 1 }) }, "b/k a/k2 a/k1 c; promoted pinned b displaced a cache_read pays=true own 0.2<2 a:3 c:4"},

		{"the request leaves the pinned vendor out", "m", func(s *scene) { s.request.Ignore = []string{"b"}; s.pin("m", "b/k", 60) }, "a/k2 a/k1 c; skipped_not_in_plan pinned b"},
		{"the pinned vendor left the model", "m", func(s *scene) { s.pin("m", "gone/k", 60) }, plain + "; skipped_not_in_plan(route_removed) pinned gone"},
		{"the pinned credential left the catalog", "m", func(s *scene) { s.pin("m", "a/k9", 60) }, plain + "; skipped_not_in_plan(route_removed) pinned a"},
		{"a pin without a credential", "m", func(s *scene) { s.pin("m", "b", 60) }, "b/k a/k2 a/k1 c; promoted pinned b displaced a cache_read pays=true own 0.2<2 a:3 c:4"},
		{"a pin without a credential, the first of them down", "m", func(s *scene) { s.down = "a/k2"; s.pin("m", "a", 60) }, "a/k1 b/k c a/k2; confirmed pinned a cache_read pays=true own 0.3<3 b:2 c:4"},
		{"a pin of the client's own key", "m", func(s *scene) { s.pin("m", "b/k", 60, func(e *Entry) { e.Group = GroupClient }) }, plain + "; skipped_not_in_plan(no_key) pinned b"},
		{"the pinned vendor is down", "m", func(s *scene) { s.down = "b"; s.pin("m", "b/k", 60) }, "a/k2 a/k1 c b/k; skipped_health_down pinned b"},
		{"the pinned credential is down, its vendor is not", "m", func(s *scene) { s.down = "a/k2"; s.pin("m", "a/k2", 60) }, "a/k1 b/k c a/k2; skipped_health_down pinned a"},

		{"first already", "m", func(s *scene) { s.pin("m", "a/k2", 60) }, plain + "; confirmed pinned a cache_read pays=true own 0.3<3 b:2 c:4"},
		{"first already, though the gate would decline", "dear", func(s *scene) { s.pin("dear", "a/k2", 60) }, "a/k2 a/k1 b/k u c n; confirmed pinned a cache_read pays=false own 1<1 b:3 u:5 c:unknown n:unknown"},
		{"first because the others are down", "m", func(s *scene) { s.down = "a"; s.pin("m", "b/k", 60) }, "b/k c a/k2 a/k1; confirmed pinned b cache_read pays=true own 0.2<2 c:4"},
		{"the only route", "single", func(s *scene) { s.pin("single", "a/k2", 60) }, "a/k2 a/k1; confirmed(single_route) pinned a cache_read pays=true own 0.3<3"},
		{"bound to where it came from", "m", func(s *scene) { s.request.PreviousResponse = "resp_1"; s.pin("m", "b/k", 60) }, "b/k; confirmed(bound_to_origin) pinned b cache_read pays=true own 0.2<2"},
		{"an older pin, and content bound to the newest", "m", func(s *scene) {
			s.request.PreviousResponse = "resp_1"
			s.pin("m", "b/k", 60, silent)
			s.pin("m", "c", 70)
		}, "b/k; no_pin(never_engaged)"},
		{"another credential of the first vendor", "m", func(s *scene) {
			s.request.Order = []string{"b"}
			s.request.Only = []string{"a", "b", "c"}
			s.pin("m", "a/k1", 60)
		}, "a/k1 b/k a/k2 c; promoted pinned a displaced b cache_read pays=true own 0.3<3 b:2 c:4"},
		{"own vendor's other credential stands before it", "m", func(s *scene) { s.pin("m", "a/k1", 60) }, "a/k1 a/k2 b/k c; promoted pinned a cache_read pays=true own 0.3<3 b:2 c:4"},
		{"no marker on a route that needs one", "m", func(s *scene) { s.request.Order = []string{"c"}; s.pin("m", "c", 60) }, "c a/k2 a/k1 b/k; confirmed(no_cache_marker) pinned c cache_read pays=false own 2<4 a:3 b:2"},
		{"marked", "m", func(s *scene) { s.request.Order = []string{"c"}; s.f.Marked = true; s.pin("m", "c", 60) }, "c a/k2 a/k1 b/k; confirmed pinned c cache_read pays=false own 2<4 a:3 b:2"},

		{"an explicit order that goes first", "m", func(s *scene) { s.f.Ordered, s.f.OrderFirst = true, true; s.pin("m", "b/k", 60) }, plain + "; skipped_order pinned b cache_read pays=true own 0.2<2 a:3 c:4"},
		{"an explicit order that does not", "m", func(s *scene) { s.f.Ordered = true; s.pin("m", "b/k", 60) }, "b/k a/k2 a/k1 c; promoted pinned b displaced a cache_read pays=true own 0.2<2 a:3 c:4"},
		{"order first, and none given", "m", func(s *scene) { s.f.OrderFirst = true; s.pin("m", "b/k", 60) }, "b/k a/k2 a/k1 c; promoted pinned b displaced a cache_read pays=true own 0.2<2 a:3 c:4"},
		{"cache-read price unknown", "dear", func(s *scene) { s.pin("dear", "u", 60) }, "a/k2 a/k1 b/k u c n; skipped_price_unknown pinned u cache_read pays=false own unknown<5 a:1 b:3 c:unknown n:unknown"},
		{"own input price unknown", "dear", func(s *scene) { s.pin("dear", "c", 60) }, "a/k2 a/k1 b/k u c n; skipped_price_unknown pinned c cache_read pays=false own 0.1<unknown a:1 b:3 u:5 n:unknown"},
		{"reading costs what its own input costs", "dear", func(s *scene) { s.pin("dear", "b/k", 60) }, "a/k2 a/k1 b/k u c n; skipped_not_cheaper(not_below_own_input) pinned b cache_read pays=false own 3<3 a:1 u:5 c:unknown n:unknown"},
		{"a rival's input is as cheap", "m", func(s *scene) { s.pin("m", "c", 60) }, plain + "; skipped_not_cheaper(not_below_rival_input) pinned c cache_read pays=false own 2<4 a:3 b:2"},
		{"that rival is down", "m", func(s *scene) { s.down = "b"; s.pin("m", "c", 60) }, "c a/k2 a/k1 b/k; promoted(no_cache_marker) pinned c displaced a cache_read pays=true own 2<4 a:3"},
		{"gate own_price asks no rival", "m", func(s *scene) { s.f.Gate = catalog.GateOwnPrice; s.f.Marked = true; s.pin("m", "c", 60) }, "c a/k2 a/k1 b/k; promoted pinned c displaced a own_price pays=true own 2<4"},
		{"gate off asks nothing", "dear", func(s *scene) { s.f.Gate = catalog.GateOff; s.pin("dear", "u", 60) }, "u a/k2 a/k1 b/k c n; promoted pinned u displaced a off pays=true own unknown<5 a:1 b:3 c:unknown n:unknown"},
		{"gates that are not built yet", "m", func(s *scene) { s.f.Gate = catalog.GateWarm; s.pin("m", "c", 60) }, plain + "; skipped_not_cheaper(not_below_rival_input) pinned c cache_read pays=false own 2<4 a:3 b:2"},

		{"the newest expired, an older one is warm", "m", func(s *scene) {
			s.pin("m", "c", 60, func(e *Entry) { e.ExpiresAt = s.f.Now })
			s.pin("m", "b/k", 70)
		}, "b/k a/k2 a/k1 c; promoted(older_warm_vendor) pinned b displaced a cache_read pays=true own 0.2<2 a:3 c:4"},
		{"the newest is declined, an older one is first", "m", func(s *scene) { s.pin("m", "c", 60); s.pin("m", "a/k2", 70) }, plain + "; confirmed(older_warm_vendor) pinned a cache_read pays=true own 0.3<3 b:2 c:4"},
		{"none can be used: the newest says why", "m", func(s *scene) { s.down = "a"; s.pin("m", "c", 60); s.pin("m", "a/k1", 70); s.pin("m", "gone", 80) }, "b/k c a/k2 a/k1; skipped_not_cheaper(not_below_rival_input) pinned c cache_read pays=false own 2<4 b:2"},

		{"a fallback model keeps its own pins", "dear m", func(s *scene) { s.pin("m", "b/k", 60); s.pin("dear", "a/k2", 30) },
			"a/k2 a/k1 b/k u c n b/k a/k2 a/k1 c; confirmed pinned a cache_read pays=false own 1<1 b:3 u:5 c:unknown n:unknown; promoted pinned b displaced a cache_read pays=true own 0.2<2 a:3 c:4"},
		{"a model whose routes are all filtered out", "plain m", func(s *scene) { s.request.Ignore = []string{"n"}; s.pin("m", "b/k", 60) },
			"b/k a/k2 a/k1 c; no_pin(model_changed); promoted pinned b displaced a cache_read pays=true own 0.2<2 a:3 c:4"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, c.models)
			if c.scene != nil {
				c.scene(s)
			}
			d := s.decide()
			if got := tell(s.f.Plan, d); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// A pin of the operator's does not pass a key of the client's, nor the reverse.
func TestPromotionStaysInItsGroup(t *testing.T) {
	s := newScene(t, "m")
	s.decide()
	operator := s.f.Plan.Candidates
	var candidates []Candidate
	for _, group := range []Group{GroupClient, GroupOperator} {
		for _, c := range operator {
			c.Group = group
			candidates = append(candidates, c)
		}
	}
	s.f.Plan = Plan{Candidates: candidates, Models: []ModelPlan{{Model: s.f.Plan.Models[0].Model, To: len(candidates)}}}
	for group, want := range map[Group]string{
		GroupOperator: "a/k2 a/k1 b/k c b/k a/k2 a/k1 c; promoted(behind_own_keys) pinned b displaced a cache_read pays=true own 0.2<2 a:3 c:4",
		GroupClient:   "b/k a/k2 a/k1 c a/k2 a/k1 b/k c; promoted pinned b displaced a cache_read pays=true own 0.2<2 a:3 c:4",
	} {
		s.f.Record = Record{}
		s.pin("m", "b/k", 60, func(e *Entry) { e.Group = group })
		if got := tell(s.f.Plan, Decide(s.f)); got != want {
			t.Errorf("group %q\n got %s\nwant %s", group, got, want)
		}
	}
}

func TestAPinWhoseKeyIsGoneSaysSo(t *testing.T) {
	vendor := &catalog.Vendor{Name: "a", Credentials: []catalog.Credential{{ID: "k"}}}
	route := &catalog.Route{Vendor: vendor}
	mp := ModelPlan{Removed: []Removed{{Route: route, Why: WhyCredential}}}
	if got := mp.lost(route, &Entry{Vendor: "a", Credential: "k"}); got != DetailNoKey {
		t.Errorf("detail %q", got)
	}
	mp.Removed[0].Why = WhyIgnore
	if got := mp.lost(route, &Entry{Vendor: "a", Credential: "k"}); got != "" {
		t.Errorf("left out by the request: detail %q", got)
	}
}
