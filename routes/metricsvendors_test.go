package routes_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/routes"
)

func TestMetricsCountAttemptsInFlight(t *testing.T) {
	m, c := shopMetrics(t)
	if text := scrape(t, m); strings.Contains(text, "warmroute_inflight_requests") {
		t.Error("attempts in flight are shown though nobody tells of them")
	}
	intents := m.InFlight(&inmem.Ledger{})
	flying := func(pier, reef string) {
		t.Helper()
		text := scrape(t, m)
		for _, line := range []string{`{vendor="pier"} ` + pier, `{vendor="reef"} ` + reef} {
			if !strings.Contains(text, "warmroute_inflight_requests"+line+"\n") {
				t.Errorf("no line %s", line)
			}
		}
	}
	flying("0", "0")
	intend := func(turn *engine.Turn, at int) {
		t.Helper()
		if err := intents.Intend(context.Background(), turn, engine.Candidate{Route: c.Models[0].Routes[at]}); err != nil {
			t.Fatal(err)
		}
	}
	first, second := sold(c, 0), sold(c, 1)
	first.Attempts, second.Attempts = nil, nil
	intend(&first, 0)
	intend(&second, 0)
	flying("2", "0")
	second.Attempts = sold(c, 0).Attempts // it failed there
	intend(&second, 1)
	flying("1", "1")
	m.Record(sold(c, 0))
	second.Attempts = append(second.Attempts, sold(c, 1).Attempts...)
	m.Record(second)
	flying("0", "0")
	m.Record(engine.Turn{API: catalog.Chat}) // nobody was tried
	flying("0", "0")
}

func TestMetricsTellWhoIsDown(t *testing.T) {
	c, err := catalog.ParseKeys("test.yaml", []byte(`version: 1
vendors:
  pier: {api: [chat], base_url: "https://pier.example/v1", credentials: [{id: a, env: A}, {id: b, env: B}, {id: keyless, env: NONE}]}
  reef: {api: [chat], base_url: "https://reef.example/v1"}
models:
  m: {routes: [{vendor: pier, model: x}, {vendor: reef, model: x}]}
  n: {routes: [{vendor: pier, model: y}, {vendor: reef, model: y, disabled: not yet}]}
`), func(k catalog.Credential) (string, bool) { return "key", k.Env != "NONE" })
	if err != nil {
		t.Fatal(err)
	}
	health, now := engine.NewHealth(), time.Unix(1_700_000_000, 0)
	m := routes.NewMetrics(routes.MetricsOptions{
		Catalog: func() *catalog.Catalog { return c },
		Down:    func(r *catalog.Route, credential string) bool { return health.Down(r, credential, now) },
	})
	health.Failed(c.Models[0].Routes[0], "b", now, engine.FailureThrottled, time.Minute)
	health.Failed(c.Models[0].Routes[1], "", now, engine.FailureThrottled, time.Minute)
	text := scrape(t, m)
	for _, line := range []string{
		`warmroute_breaker_state{state="up",vendor="pier"} 3`, `warmroute_breaker_state{state="down",vendor="pier"} 1`,
		`warmroute_breaker_state{state="up",vendor="reef"} 0`, `warmroute_breaker_state{state="down",vendor="reef"} 1`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}

func TestMetricsTellWhatTheGatewayTook(t *testing.T) {
	m, c := shopMetrics(t)
	turn := sold(c, 0)
	second := turn.Attempts[0]
	turn.Attempts[0].Started = turn.Started.Add(2 * time.Millisecond)
	turn.Attempts[0].Took = 300 * time.Millisecond
	second.Started = turn.Started.Add(303 * time.Millisecond)
	second.Took = 690 * time.Millisecond
	turn.Attempts = append(turn.Attempts, second)
	turn.Took = time.Second
	m.Record(turn)
	text := scrape(t, m)
	for _, line := range []string{
		`warmroute_overhead_seconds_sum{phase="decide"} 0.002`,
		`warmroute_overhead_seconds_sum{phase="settle"} 0.008`,
		`warmroute_overhead_seconds_bucket{phase="decide",le="0.001"} 0`,
		`warmroute_overhead_seconds_bucket{phase="decide",le="0.0025"} 1`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}
