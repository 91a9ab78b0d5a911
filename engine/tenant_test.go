package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

const commons = `
version: 1
vendors:
  ant: {api: [chat, responses], base_url: "https://ant.example/v1", credentials: [{id: main, env: K}], cache: {family: implicit, ttl: 10m}}
  bee: {api: [chat, responses, messages], base_url: "https://bee.example/v1", credentials: [{id: main, env: K}], cache: {family: implicit, ttl: 10m}}
models:
  m:
    routes:
      - {vendor: ant, model: m-ant, price: {input: 3, output: 15, cache_read: 0.3}}
      - {vendor: bee, model: m-bee, price: {input: 2, output: 8, cache_read: 2}}
  n:
    routes:
      - {vendor: bee, model: n-bee, price: {input: 1, output: 2, cache_read: 0.1}}
      - {vendor: ant, model: n-ant, price: {input: 1, output: 2}, disabled: "moved away"}
policies:
  plain: {models: [m]}
  strict: {models: [m], affinity: {gate: own_price}}
  bees: {models: [m], only: [bee]}
  antless: {models: [m], ignore: [ant]}
`

// sharedGateway is a gateway for several tenants.
func sharedGateway(t testing.TB) *engine.Gateway {
	t.Helper()
	g, _ := newGateway(t)
	c := parse(t, commons)
	g.Catalog = func() *catalog.Catalog { return c }
	return g
}

func TestRulesLeaveOnlyTheTenantsVendors(t *testing.T) {
	g := sharedGateway(t)
	vendors := func(change func(*engine.Request)) string {
		turn, err := g.Decide(t.Context(), chat(func(r *engine.Request) { r.Target = "m"; change(r) }))
		if err != nil {
			return err.Error()
		}
		var names []string
		for _, c := range turn.Plan.Candidates {
			names = append(names, c.Route.Vendor.Name)
		}
		return strings.Join(names, " ")
	}
	for _, c := range []struct {
		name, want string
		change     func(*engine.Request)
	}{
		{"none set", "ant bee", func(*engine.Request) {}},
		{"one vendor", "bee", func(r *engine.Request) { r.Rules.Only = []string{"bee"} }},
		{"the request cannot widen it", "bee", func(r *engine.Request) {
			r.Rules.Only, r.Only, r.Order = []string{"bee"}, []string{"ant", "bee"}, []string{"ant"}
		}},
		{"nor a policy", "bee", func(r *engine.Request) { r.Rules.Only, r.Target = []string{"bee"}, "plain" }},
		{"what the request leaves of it is nothing", "no route of m can serve this request: bee is not among the vendors allowed (only). Models that the chat API reaches: n",
			func(r *engine.Request) { r.Rules.Only, r.Only = []string{"bee"}, []string{"ant"} }},
		{"a vendor that is not the tenant's is not named", "no route of n can serve this request: none of its vendors is open to this tenant",
			func(r *engine.Request) { r.Rules.Only, r.Target = []string{"cow"}, "n" }},
		{"but its own is, disabled or not", "no route of n can serve this request: ant is disabled in the catalog. Models that the chat API reaches: m",
			func(r *engine.Request) { r.Rules.Only, r.Target = []string{"ant"}, "n" }},
		{"nor the API it speaks", "no route of m can serve this request: ant does not speak the messages API. m can be reached through: /v1/chat/completions, /v1/responses",
			func(r *engine.Request) { r.Rules.Only, r.API = []string{"ant"}, catalog.Messages }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := vendors(c.change); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	turn, err := g.Decide(t.Context(), chat(func(r *engine.Request) { r.Target, r.Rules.Only = "m", []string{"bee"} }))
	if err != nil || len(turn.Plan.Models[0].Removed) != 1 || turn.Plan.Models[0].Removed[0].Why != engine.WhyOnly {
		t.Errorf("removed %v %v", turn.Plan.Models[0].Removed, err)
	}
}

// The second turn of a session at bee, whose cached tokens cost what fresh ones
// do: each gate says something else of it.
func TestTheGateIsThePolicysThenTheTenantsThenTheGateways(t *testing.T) {
	for _, c := range []struct {
		name, target    string
		tenant, gateway catalog.Gate
		off             bool
		want            engine.Outcome
		gate            catalog.Gate
	}{
		{"nobody says", "m", "", "", false, engine.SkippedNotCheaper, catalog.GateCacheRead},
		{"the gateway", "m", "", catalog.GateOff, false, engine.Promoted, catalog.GateOff},
		{"the tenant before the gateway", "m", catalog.GateOwnPrice, catalog.GateOff, false, engine.SkippedNotCheaper, catalog.GateOwnPrice},
		{"the tenant where the policy is silent", "plain", catalog.GateOff, "", false, engine.Promoted, catalog.GateOff},
		{"the policy before the tenant", "strict", catalog.GateOff, catalog.GateOff, false, engine.SkippedNotCheaper, catalog.GateOwnPrice},
		{"off for the tenant", "m", catalog.GateOff, catalog.GateOff, true, engine.SkippedModeOff, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := sharedGateway(t)
			g.Gate = c.gateway
			request := func(only ...string) engine.Request {
				return chat(func(r *engine.Request) {
					r.Target, r.BodyID, r.Only = c.target, "s", only
					r.Rules = engine.Rules{Gate: c.tenant}
				})
			}
			if _, err := g.Serve(t.Context(), request("bee"), serves); err != nil {
				t.Fatal(err)
			}
			second := request()
			second.Rules.Off = c.off
			turn, err := g.Serve(t.Context(), second, serves)
			if err != nil {
				t.Fatal(err)
			}
			if f := turn.Decision.Models[0]; f.Outcome != c.want || c.gate != "" && f.Gate != c.gate {
				t.Errorf("%s under %q, want %s under %q", f.Outcome, f.Gate, c.want, c.gate)
			}
		})
	}
}

// An account that several tenants share hands a stored response to whoever knows
// its id: the gateway must not.
func TestAStoredResponseIsItsTenantsAlone(t *testing.T) {
	g := sharedGateway(t)
	request := func(tenant, previous string, change ...func(*engine.Request)) engine.Request {
		return chat(func(r *engine.Request) {
			r.Tenant, r.API, r.Target, r.BodyID = tenant, catalog.Responses, "n", "main"
			r.Rules.Apart = true
			if previous != "" {
				r.PreviousResponse = previous
			}
			for _, f := range change {
				f(r)
			}
		})
	}
	asked := 0
	send := func(ctx context.Context, try engine.Try) engine.Attempt {
		asked++
		a := serves(ctx, try)
		a.ResponseID = "resp_red"
		return a
	}
	for _, r := range []engine.Request{request("red", ""), request("blue", ""), request("red", "resp_red")} {
		r := r
		answer := send
		if r.Tenant == "blue" {
			answer = func(ctx context.Context, try engine.Try) engine.Attempt {
				a := send(ctx, try)
				a.ResponseID = "resp_blue"
				return a
			}
		}
		if _, err := g.Serve(t.Context(), r, answer); err != nil {
			t.Fatalf("%s: %v", r.Tenant, err)
		}
	}
	asked = 0
	for _, c := range []struct {
		name string
		r    engine.Request
	}{
		{"another tenant's", request("blue", "resp_red")},
		{"nobody's", request("red", "resp_elsewhere")},
		{"with affinity off", request("blue", "resp_red", func(r *engine.Request) { r.AffinityOff = true })},
		{"with the vendor named", request("blue", "resp_red", func(r *engine.Request) { r.Only = []string{"bee"} })},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := g.Serve(t.Context(), c.r, send)
			var none *engine.NoRouteError
			if !errors.As(err, &none) || none.Forgotten != engine.KindResponse || !strings.Contains(err.Error(), "send the whole conversation") || asked != 0 {
				t.Errorf("%v after asking %d vendors", err, asked)
			}
		})
	}
	alone := request("red", "resp_elsewhere", func(r *engine.Request) { r.Rules.Apart = false })
	if _, err := g.Serve(t.Context(), alone, send); err != nil || asked != 1 {
		t.Errorf("a gateway of one tenant: %v", err)
	}
}

func TestWhatRulesLeaveOfATarget(t *testing.T) {
	c := parse(t, commons)
	for _, x := range []struct {
		target string
		only   []string
		want   bool
	}{
		{"m", nil, true},
		{"m", []string{"ant"}, true},
		{"n", []string{"ant"}, false},
		{"n", []string{"bee"}, true},
		{"plain", []string{"ant"}, true},
		{"bees", []string{"ant"}, false},
		{"bees", []string{"ant", "bee"}, true},
		{"antless", []string{"ant"}, false},
		{"m", []string{"nobody"}, false},
	} {
		target, ok := c.Resolve(x.target)
		if rules := (engine.Rules{Only: x.only}); !ok || rules.Leave(target) != x.want {
			t.Errorf("%s under %v: %v", x.target, x.only, !x.want)
		}
	}
	for _, p := range c.Policies {
		if rules := (engine.Rules{Only: []string{"nobody"}}); rules.Leave(catalog.Target{Policy: p}) {
			t.Errorf("%s is left", p.Name)
		}
	}
}
