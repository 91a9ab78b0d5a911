package engine_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/pricing"
)

// apartCatalog has what a tenant could be told apart by: several credentials, every
// family, a policy, vendors that need a key of the caller's.
const apartCatalog = `
version: 1
vendors:
  a: {api: [chat, responses], base_url: "https://a.example/v1", credentials: [{id: k1, env: A1}, {id: k2, env: A2}], cache: {family: implicit, ttl: 5m}}
  b: {api: [chat, messages, responses], base_url: "https://b.example/v1", credentials: [{id: k, env: B}], cache: {family: explicit, ttl: 5m, min_prefix: 1024}}
  c: {api: [chat, messages], base_url: "https://c.example/v1", credentials: [{id: k1, env: C1}, {id: k2, env: C2}, {id: k3, env: C3}], cache: {family: implicit, ttl: 1h}}
models:
  m:
    routes:
      - {vendor: a, model: m, price: {input: 3, output: 15, cache_read: 0.3}}
      - {vendor: b, model: m, price: {input: 2, output: 10, cache_read: 0.2, cache_write: 2.5, cache_write_1h: 4}}
      - {vendor: c, model: m, price: {input: 2.5, output: 9, cache_read: 2.1}}
  n:
    routes:
      - {vendor: c, model: n, price: {input: 1, output: 1, cache_read: 0.1}}
      - {vendor: b, model: n, price: {input: 1.5, output: 1}}
policies:
  both: {models: [m, n], order: [c, b]}
  late: {models: [n, m], sort: price, affinity: {gate: own_price}}
`

// A tenant's step: its request, and what becomes of each attempt at it.
type apartStep struct {
	at      time.Duration // since the step before
	request engine.Request
	seed    uint64 // of what the vendors do
}

// apartTenant makes the steps of one tenant. Both draw from the same names, so that
// whatever is not bound to the tenant meets.
type apartTenant struct {
	id    string
	rng   *rand.Rand
	turns uint64
}

func (a *apartTenant) pick(words ...string) string { return words[a.rng.IntN(len(words))] }

func (a *apartTenant) step(profile *engine.Profile, responses []string) apartStep {
	rng := a.rng
	r := engine.Request{
		Tenant: a.id, API: catalog.API(a.pick("chat", "chat", "messages", "responses")), Header: http.Header{},
		Target: a.pick("m", "m", "m", "n", "both", "late"), TextBytes: int64(rng.IntN(3)*3000 + rng.IntN(9000)),
		Rules: engine.Rules{Apart: true, Profile: profile}, Key: a.id + "-key",
	}
	id := "session-" + strconv.Itoa(rng.IntN(40))
	switch rng.IntN(8) {
	case 0, 1:
		r.BodyID = id
	case 2:
		r.Header.Set("X-Session-Id", id)
	case 3:
		r.CacheKey = id
	case 4:
		r.Header.Set("X-Claude-Code-Session-Id", id)
		if rng.IntN(2) == 0 {
			r.Header.Set("X-Claude-Code-Agent-Id", "agent-1")
		}
	case 5:
		r.BodyID = id
		r.Header.Set("X-Parent-Session-Id", "session-"+strconv.Itoa(rng.IntN(40)))
	case 6:
		r.Header.Set("X-Crew-Session-Id", id)
	}
	first := a.pick("Begin the task.", "Mend the sail.", "Read the chart.")
	r.Opening = func() engine.Opening { return engine.Opening{First: [][]byte{[]byte(first)}} }
	said := "turn " + strconv.Itoa(rng.IntN(60))
	if rng.IntN(3) > 0 {
		r.Last = func() engine.Said { return engine.Said{Text: said} }
	}
	if r.API == catalog.Responses && len(responses) > 0 && rng.IntN(3) == 0 {
		r.PreviousResponse = responses[rng.IntN(len(responses))]
	}
	switch rng.IntN(10) {
	case 0:
		r.Only = []string{a.pick("a", "b", "c")}
	case 1:
		r.Order = []string{a.pick("a", "b"), "c"}
	case 2:
		r.AffinityOff = true
	case 3:
		r.Models = []string{a.pick("n", "m")}
	case 4:
		r.Sort = catalog.ByPrice
	}
	if rng.IntN(4) == 0 {
		r.OwnKeys = []engine.OwnKey{{Vendor: a.pick("a", "b", "c"), ID: engine.OwnKeyID(a.id + a.pick("-first", "-second"))}}
	}
	if rng.IntN(4) == 0 {
		r.Markers, r.MarkerTTL = 1, time.Hour
	}
	return apartStep{at: time.Duration(rng.IntN(40_000)) * time.Millisecond, request: r, seed: rng.Uint64()}
}

// send is what vendors do with the step. What is wrong with a vendor is a fact about it
// that all its users learn by, and so is none of this test: the operator's credentials
// fail in ways that are the request's own, a caller's own keys in every way.
func (s *apartStep) send(response string) engine.Send {
	return func(_ context.Context, try engine.Try) engine.Attempt {
		rng := rand.New(rand.NewPCG(s.seed, uint64(try.Number)))
		own := try.Candidate.Group == engine.GroupClient
		switch n := rng.IntN(20); {
		case n == 0:
			return engine.Attempt{Status: 400, Failure: engine.FailureRequest}
		case n == 1:
			try.Accepted()
			return engine.Attempt{Stage: engine.StageAbandoned, Failure: engine.FailureClientLeft, Status: 200, Committed: true}
		case own && n < 10:
			return engine.Attempt{Status: 401, Failure: engine.FailureCredential}
		case own && n < 14:
			return engine.Attempt{Status: 429, Failure: engine.FailureThrottled, RetryAfter: time.Minute}
		case own && n < 16:
			try.Accepted()
			return engine.Attempt{Stage: engine.StageBroken, Failure: engine.FailureCut, Status: 200}
		}
		try.Accepted()
		u := pricing.Usage{Input: rng.Int64N(2000), Output: rng.Int64N(500)}
		if rng.IntN(3) > 0 {
			u.CacheRead = rng.Int64N(9000)
		}
		return engine.Attempt{Stage: engine.StageServed, Status: 200, Committed: true, Quality: pricing.Authoritative, Usage: u,
			ResponseID: response, Said: engine.Said{Text: "turn " + strconv.Itoa(rng.IntN(60))}}
	}
}

// apartWorld is one gateway.
type apartWorld struct {
	gateway *engine.Gateway
	now     time.Time
	id      uint64
}

func newApartWorld(t *testing.T, c *catalog.Catalog) *apartWorld {
	w := &apartWorld{now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	now := func() time.Time { return w.now }
	pins := inmem.New(inmem.Options{Max: 160, PerTenant: func(string) int { return 80 }, Now: now})
	w.gateway = &engine.Gateway{
		Catalog: func() *catalog.Catalog { return c },
		Pins:    pins,
		Health:  engine.NewHealth(),
		Now:     now,
		TurnID:  func() (string, uint64) { return "turn-" + strconv.FormatUint(w.id, 10), w.id },
	}
	return w
}

// play makes one step of a tenant and tells all that the tenant could see of it.
func (w *apartWorld) play(s apartStep, at time.Time, id uint64, response string) string {
	w.now, w.id = at, id
	turn, err := w.gateway.Serve(context.Background(), s.request, s.send(response))
	var b strings.Builder
	fmt.Fprintln(&b, err, turn.ID, turn.Session, turn.Scope, turn.Decision.Order)
	for i := range turn.Plan.Candidates {
		c := &turn.Plan.Candidates[i]
		fmt.Fprint(&b, c.Route.Vendor.Name, "/", c.Credential, c.Group, c.Down, " ")
	}
	for i := range turn.Decision.Models {
		fmt.Fprintln(&b, told(turn.Decision.Models[i]))
	}
	for i := range turn.Attempts {
		fmt.Fprintln(&b, went(turn.Attempts[i]))
	}
	return b.String()
}

// TestOneTenantDoesNotSeeAnother plays a tenant's steps in two worlds: in one it is
// alone, in the other a second tenant uses the same names, the same credentials and
// the same store between its steps. What the first sees is the same to the letter.
// WARMROUTE_STEPS sets how many steps there are.
func TestOneTenantDoesNotSeeAnother(t *testing.T) {
	steps, seed := 10_000, rand.Uint64()
	if text := os.Getenv("WARMROUTE_STEPS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		steps = n
	}
	if text := os.Getenv("WARMROUTE_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Log("seed", seed, "steps", steps)
	var profiles []*engine.Profile
	for _, name := range []catalog.Profile{catalog.ProfileWarmroute, catalog.ProfileVercel, catalog.ProfileOpenRouter, catalog.ProfileSubconscious, catalog.ProfileMerge} {
		p, ok := engine.ProfileNamed(name)
		if !ok {
			t.Fatal("no profile", name)
		}
		profiles = append(profiles, p)
	}
	c := parse(t, apartCatalog)
	seen := map[engine.Outcome]int{}
	for i, profile := range profiles {
		share := steps / len(profiles)
		alone, shared := newApartWorld(t, c), newApartWorld(t, c)
		red := &apartTenant{id: "red", rng: rand.New(rand.NewPCG(seed, uint64(i)))}
		blue := &apartTenant{id: "blue", rng: rand.New(rand.NewPCG(seed, uint64(i)+100))}
		when := alone.now
		var responses []string
		respond := func(tenant string, n uint64) string {
			id := "resp_" + hex.EncodeToString([]byte(tenant)) + strconv.FormatUint(n, 10)
			if responses = append(responses, id); len(responses) > 50 {
				responses = responses[1:]
			}
			return id
		}
		for n := 0; n < share; n++ {
			if blue.rng.IntN(2) == 0 {
				blue.turns++
				s := blue.step(profile, responses)
				shared.play(s, when, 1<<40+blue.turns, respond("blue", blue.turns))
				continue
			}
			red.turns++
			s := red.step(profile, responses)
			when = when.Add(s.at)
			response := respond("red", red.turns)
			one, other := alone.play(s, when, red.turns, response), shared.play(s, when, red.turns, response)
			if one != other {
				t.Fatalf("seed %d, profile %s, step %d: alone the tenant saw\n%s\nbeside another it saw\n%s", seed, profile.Name, n, one, other)
			}
			for _, o := range []engine.Outcome{engine.Promoted, engine.Confirmed, engine.NoPin, engine.PinExpired, engine.SkippedNotInPlan, engine.SkippedNotCheaper, engine.SkippedHealthDown} {
				if strings.Contains(one, string(o)) {
					seen[o]++
				}
			}
		}
	}
	t.Log(seen)
	for _, o := range []engine.Outcome{engine.Promoted, engine.Confirmed, engine.NoPin, engine.PinExpired, engine.SkippedNotInPlan, engine.SkippedNotCheaper} {
		if seen[o] == 0 {
			t.Errorf("no step had the outcome %s, so the test does not say much", o)
		}
	}
}
