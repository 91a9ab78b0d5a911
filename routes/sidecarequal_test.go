package routes_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"context"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
	"github.com/warmroute/warmroute/routes/wire"
)

const twinCatalog = `version: 1
vendors:
  pier: {api: [chat, responses], base_url: "https://pier.example/v1", credentials: [{id: main, env: K}, {id: spare, env: K}], cache: {family: implicit, ttl: 10m}}
  quay: {api: [chat, responses], base_url: "https://quay.example/v1", credentials: [{id: main, env: K}], cache: {family: implicit, ttl: 5m, min_prefix: 16}}
  reef: {api: [chat, responses], base_url: "https://reef.example/v1", credentials: [{id: main, env: K}], cache: {family: explicit, ttl: 5m, min_prefix: 16}}
models:
  m:
    routes:
      - {vendor: pier, model: barge-7, price: {input: 2.50, output: 10, cache_read: 0.25}}
      - {vendor: quay, model: barge-7, price: {input: 1.20, output: 9, cache_read: 0.6}}
      - {vendor: reef, model: barge-7, price: {input: 3, output: 15, cache_read: 0.30, cache_write: 3.75, cache_write_1h: 6}}
  n:
    routes:
      - {vendor: quay, model: sloop-2, price: {input: 0.5, output: 2, cache_read: 0.05, tiers: [{above: 400, input: 1, output: 4, cache_read: 0.1}]}}
      - {vendor: pier, model: sloop-2, price: {input: 0.7, output: 2}}
policies:
  either: {models: [m, n], sort: price}
`

// harbor is one gateway on a clock of its own.
type harbor struct {
	gateway *engine.Gateway
	ledger  *inmem.Ledger
	pins    *notedPins
	handler http.Handler
	now     time.Time
}

func newHarbor(t testing.TB, c *catalog.Catalog, profile *engine.Profile) *harbor {
	w := &harbor{ledger: &inmem.Ledger{}, now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return w.now }
	w.pins = &notedPins{Pins: inmem.New(inmem.Options{Now: clock})}
	id := uint64(0)
	w.gateway = &engine.Gateway{
		Catalog: func() *catalog.Catalog { return c }, Pins: w.pins, Health: engine.NewHealth(), Ledger: w.ledger, Intents: w.ledger,
		Prefixes: true, Profile: profile, Deadline: time.Second, Now: clock,
		TurnID: func() (string, uint64) { id++; return fmt.Sprintf("wr_%d", id), id },
	}
	w.handler = routes.New(routes.Options{Gateway: w.gateway, Vendor: vendor.New(vendor.Options{}), Metadata: vendor.MetadataOff})
	t.Cleanup(func() { _ = w.pins.Close(context.Background()) })
	return w
}

// end is how one attempt goes.
type end struct {
	stage    engine.Stage
	status   int
	failure  engine.Failure
	wait     time.Duration // until the vendor accepts or refuses
	took     time.Duration
	usage    string
	response string
	said     string
	early    bool // its acceptance is told at once
	partial  bool // its end is told before the next begins
}

func randomEnd(r *rand.Rand, api catalog.API) end {
	ms := func(n int) time.Duration { return time.Duration(1+r.IntN(n)) * time.Millisecond }
	e := end{wait: ms(2000), early: r.IntN(2) == 0, partial: r.IntN(2) == 0}
	e.took = e.wait + ms(5000)
	prompt, output := 20+r.IntN(1000), 1+r.IntN(50)
	read := r.IntN(prompt)
	if r.IntN(3) == 0 {
		read = 0
	}
	if api == catalog.Responses {
		e.response = fmt.Sprintf("resp_%d", r.IntN(1000))
		e.usage = fmt.Sprintf(`{"input_tokens":%d,"output_tokens":%d,"input_tokens_details":{"cached_tokens":%d}}`, prompt, output, read)
	} else {
		e.usage = fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`, prompt, output, read)
	}
	switch r.IntN(8) {
	case 0, 1:
		e.stage, e.status, e.took = engine.StageRefused, []int{400, 401, 403, 404, 429, 500, 529}[r.IntN(7)], e.wait
		e.failure = vendor.FailureOf(e.status)
	case 2:
		e.stage, e.failure, e.took = engine.StageRefused, engine.FailureTimeout, e.wait
	case 3:
		e.stage, e.status, e.failure = engine.StageBroken, 200, engine.FailureCut
	case 4:
		e.stage, e.status, e.failure = engine.StageAbandoned, 200, engine.FailureClientLeft
	default:
		e.stage, e.status, e.said = engine.StageServed, 200, fmt.Sprintf("Tide %d.", r.IntN(5))
	}
	if e.stage != engine.StageServed {
		e.response, e.usage = "", ""
	}
	return e
}

// attempt is the end as a Send of the gateway's own would tell it.
func (e *end) attempt(w *harbor, api catalog.API, try engine.Try) engine.Attempt {
	a := engine.Attempt{Candidate: try.Candidate, Stage: e.stage, Status: e.status, Failure: e.failure, Started: w.now}
	w.now = w.now.Add(e.wait)
	if e.stage != engine.StageRefused {
		a.AcceptedAt, a.FirstByte = w.now, e.wait
		try.Accepted()
	}
	w.now = w.now.Add(e.took - e.wait)
	a.Took, a.ResponseID = e.took, e.response
	if e.usage != "" {
		r := wire.Normalise(try.Candidate.Route.Vendor.UsageOf(api), []byte(e.usage))
		a.Usage, a.Quality, a.ReadUnknown, a.Implicit, a.ServedTier, a.RawUsage = r.Usage, r.Quality, r.ReadUnknown, r.Implicit, r.Tier, r.Raw
	}
	if e.said != "" && try.Hears {
		var h engine.Hearing
		h.Text([]byte(e.said))
		a.Said = h.Said()
	}
	a.Committed = e.stage == engine.StageServed
	return a
}

// told is the end as another gateway tells it; open, while it goes on.
func (e *end) told(c choice, started time.Time, open bool) map[string]any {
	m := map[string]any{"vendor": c.Vendor, "model": c.Model, "credential": c.Credential, "started_at": started}
	if e.stage != engine.StageRefused {
		m["accepted_at"], m["first_byte_ms"] = started.Add(e.wait), e.wait.Milliseconds()
	}
	if open {
		return m
	}
	m["stage"], m["took_ms"] = e.stage.String(), e.took.Milliseconds()
	if e.status != 0 {
		m["status"] = e.status
	}
	if e.failure == engine.FailureTimeout {
		m["failure"] = e.failure
	}
	if e.usage != "" {
		m["usage"] = json.RawMessage(e.usage)
	}
	if e.response != "" {
		m["response_id"] = e.response
	}
	if e.said != "" {
		m["said"] = map[string]any{"text": e.said}
	}
	return m
}

type choice struct{ Model, Vendor, Credential string }

// call asks the world's sidecar API.
func (w *harbor) call(t testing.TB, path string, ask any, into any) int {
	t.Helper()
	body, err := json.Marshal(ask)
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodPost, path, strings.NewReader(string(body)))
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, request)
	if answer.Code == http.StatusOK {
		if err := json.Unmarshal(answer.Body.Bytes(), into); err != nil {
			t.Fatalf("%v: %s", err, answer.Body)
		}
	}
	if answer.Code >= 500 || strings.HasSuffix(path, "outcomes") && answer.Code != http.StatusOK {
		t.Fatalf("%d %s\nto %s", answer.Code, answer.Body, body)
	}
	return answer.Code
}

// randomAsk is a client's request.
func randomAsk(r *rand.Rand, api catalog.API) (body string, header map[string]string) {
	header = map[string]string{}
	member := []string{`"model":"` + []string{"m", "m", "m", "n", "either"}[r.IntN(5)] + `"`}
	if r.IntN(30) == 0 {
		member[0] = `"model":"nowhere"`
	}
	name := []string{"ebb", "flow"}[r.IntN(2)]
	switch r.IntN(6) {
	case 0, 4:
		member = append(member, `"session_id":"`+name+`"`)
	case 1:
		header["x-session-id"] = name
	case 2:
		member = append(member, `"prompt_cache_key":"`+name+`"`)
	case 3:
		header["x-claude-code-session-id"] = name
	}
	if r.IntN(6) == 0 {
		member = append(member, `"providerOptions":{"gateway":{"order":["reef","quay"]}}`)
	}
	if r.IntN(8) == 0 {
		header["x-warmroute-affinity"] = "off"
	}
	if r.IntN(3) == 0 {
		member = append(member, `"stream":true`)
	}
	var talk []string
	for i := range 1 + r.IntN(4) {
		role := []string{"user", "assistant"}[i%2]
		text := []string{"Which tide? ", "Tide 1.", "And then? " + strings.Repeat("moon ", r.IntN(200)), "Tide 3."}[i]
		talk = append(talk, fmt.Sprintf(`{"role":%q,"content":%q}`, role, text))
	}
	if api == catalog.Responses {
		if r.IntN(4) == 0 {
			member = append(member, fmt.Sprintf(`"previous_response_id":"resp_%d"`, r.IntN(1000)))
		}
		return `{` + strings.Join(append(member, `"input":[`+strings.Join(talk, ",")+`]`), ",") + `}`, header
	}
	return `{` + strings.Join(append(member, `"messages":[`+strings.Join(talk, ",")+`]`), ",") + `}`, header
}

// A turn that is decided here, made elsewhere and reported leaves what the same turn
// leaves when the gateway serves it: the same books and the same pins, whenever its
// acceptances and ends are told. The twin is Serve itself.
func TestAReportedTurnIsTheTurnThatWouldHaveBeenServed(t *testing.T) {
	c, err := catalog.ParseKeys("twin.yaml", []byte(twinCatalog), func(catalog.Credential) (string, bool) { return vendorKey, true })
	if err != nil {
		t.Fatal(err)
	}
	scenarios := 300
	if testing.Short() {
		scenarios = 30
	}
	promoted, several, refused := 0, 0, 0
	for seed := range uint64(scenarios) {
		profile := engine.Profiles()[seed%uint64(len(engine.Profiles()))]
		if seed%2 == 0 {
			profile = engine.Warmroute()
		}
		served, reported := newHarbor(t, c, profile), newHarbor(t, c, profile)
		r := rand.New(rand.NewPCG(seed, 41))
		for range 4 + r.IntN(14) {
			api := []catalog.API{catalog.Chat, catalog.Chat, catalog.Responses}[r.IntN(3)]
			body, header := randomAsk(r, api)
			ends := make([]end, 12)
			for i := range ends {
				ends[i] = randomEnd(r, api)
			}
			began := served.now
			okay := serveHere(t, served, api, body, header, ends)
			over := served.now
			var path []engine.Attempt
			if turns := served.ledger.Recorded(); okay {
				path = turns[len(turns)-1].Attempts
			}
			if fine := reportHere(t, reported, api, body, header, ends, path); fine != okay {
				t.Fatalf("seed %d: served %v, decided %v: %s", seed, okay, fine, body)
			}
			if !okay {
				refused++
				continue
			}
			if !reported.now.Equal(over) {
				t.Fatalf("seed %d: a turn of %v took %v elsewhere", seed, over.Sub(began), reported.now.Sub(began))
			}
			pause := time.Duration(r.IntN(160)) * time.Second
			served.now, reported.now = served.now.Add(pause), reported.now.Add(pause)
			a, b := served.ledger.Recorded(), reported.ledger.Recorded()
			if len(a) != len(b) {
				t.Fatalf("seed %d: %d turns served, %d reported", seed, len(a), len(b))
			}
			one, other := a[len(a)-1], b[len(b)-1]
			if x, y := engine.Book(one), engine.Book(other); !reflect.DeepEqual(x, y) {
				t.Fatalf("seed %d: %s\nserved\n%+v\nreported\n%+v", seed, body, x, y)
			}
			if !reflect.DeepEqual(one.Asked, other.Asked) {
				t.Fatalf("seed %d: asked\n%+v\nreported\n%+v", seed, one.Asked, other.Asked)
			}
			if x, y := served.pins.all(t), reported.pins.all(t); !reflect.DeepEqual(x, y) {
				t.Fatalf("seed %d: pins\n%+v\nreported\n%+v", seed, x, y)
			}
			if len(one.Attempts) > 1 {
				several++
			}
			if slices.ContainsFunc(one.Decision.Models, func(f engine.Finding) bool { return f.Outcome == engine.Promoted }) {
				promoted++
			}
		}
	}
	if least := scenarios / 4; promoted < least || several < least || refused == 0 {
		t.Errorf("%d promotions, %d turns of several attempts, %d refusals: the scenarios say little", promoted, several, refused)
	}
}

// all is every record, by its key.
func (p *notedPins) all(t testing.TB) map[engine.PinKey]engine.Record {
	records := map[engine.PinKey]engine.Record{}
	if err := p.each(t.Context(), func(k engine.PinKey, r engine.Record) bool {
		if len(r.Models) > 0 {
			records[k] = r
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return records
}

// serveHere has the gateway serve the turn; false if it would not.
func serveHere(t testing.TB, w *harbor, api catalog.API, body string, header map[string]string, ends []end) bool {
	request, err := wire.ReadRequest(api, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	facts := request.Facts()
	facts.API, facts.Tenant, facts.Header = api, catalog.DefaultTenant, http.Header{}
	for name, value := range header {
		facts.Header.Set(name, value)
	}
	off, _ := engine.SwitchedOff(facts.Header)
	facts.AffinityOff = facts.AffinityOff || off
	i := 0
	_, err = w.gateway.Serve(t.Context(), facts, func(_ context.Context, try engine.Try) engine.Attempt {
		e := &ends[i]
		i++
		return e.attempt(w, api, try)
	})
	return err == nil
}

// reportHere has another make the attempts of path and tell of them.
func reportHere(t testing.TB, w *harbor, api catalog.API, body string, header map[string]string, ends []end, path []engine.Attempt) bool {
	var d struct{ Turn string }
	ask := map[string]any{"api": api, "headers": header, "body": json.RawMessage(body)}
	if w.call(t, "/v1/route", ask, &d) != http.StatusOK {
		return false
	}
	began := w.now
	var attempts []map[string]any
	var answer struct {
		Settled bool
		Next    *choice
	}
	tell := func(final bool, more ...map[string]any) {
		report := map[string]any{"turn": d.Turn, "attempts": append(slices.Clone(attempts), more...)}
		if !final {
			report["final"] = false
		} else {
			report["took_ms"] = w.now.Sub(began).Milliseconds()
		}
		w.call(t, "/v1/outcomes", report, &answer)
		if answer.Settled != final {
			t.Fatalf("final %v, settled %v", final, answer.Settled)
		}
	}
	for i := range path {
		e, started := &ends[i], w.now
		c := choice{path[i].Candidate.Route.Model.Name, path[i].Candidate.Route.Vendor.Name, path[i].Candidate.Credential}
		if answer.Next != nil && *answer.Next != c {
			t.Fatalf("the gateway tries %v, the answer says %v", c, *answer.Next)
		}
		w.now = w.now.Add(e.wait)
		if e.early && e.stage != engine.StageRefused {
			tell(false, e.told(c, started, true))
		}
		w.now = w.now.Add(e.took - e.wait)
		attempts = append(attempts, e.told(c, started, false))
		answer.Next = nil
		if e.partial {
			tell(false)
			if (answer.Next != nil) != (i < len(path)-1) {
				t.Fatalf("after attempt %d of %d next is %v", i+1, len(path), answer.Next)
			}
		}
	}
	tell(true)
	return true
}

// Reports of many turns, of one turn at once, and decisions beside them.
func TestManyReportAtOnce(t *testing.T) {
	r := newRig(t, nil, twoStops()...)
	const turns, tellers = 40, 4
	var all sync.WaitGroup
	for n := range turns {
		d := r.decide(asksFor(fmt.Sprintf("ebb-%d", n%5)))
		for k := range tellers {
			all.Go(func() {
				for _, report := range []string{
					`{"turn":"` + d.Turn + `","attempts":[{"vendor":"pier","status":200}],"final":false}`,
					`{"turn":"` + d.Turn + `","attempts":[` + served("pier") + `]}`,
				} {
					response, err := http.Post(r.url+"/v1/outcomes", "application/json", strings.NewReader(report))
					if err != nil {
						t.Error(err)
						return
					}
					response.Body.Close()
					if response.StatusCode != http.StatusOK {
						t.Errorf("teller %d: %d", k, response.StatusCode)
					}
				}
			})
		}
	}
	all.Wait()
	if n, _ := r.ledger.Count(); n != turns {
		t.Errorf("%d turns booked, want %d", n, turns)
	}
}
