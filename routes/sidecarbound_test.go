package routes_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/routes"
)

// desks is a gateway on a clock of its own whose pending turns can be looked at.
func desks(t testing.TB, change func(*routes.Options)) (r *rig, sidecar *routes.Sidecar, now *atomic.Int64) {
	sidecar, now = &routes.Sidecar{}, &atomic.Int64{}
	now.Store(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC).UnixNano())
	r = newRig(t, func(o *routes.Options) {
		if change != nil {
			change(o)
		}
		o.Sidecar = sidecar
		o.Gateway.Now = func() time.Time { return time.Unix(0, now.Load()).UTC() }
		o.Gateway.Intents = o.Gateway.Ledger.(engine.Intents)
	}, twoStops()...)
	return r, sidecar, now
}

func (r *rig) figures(s *routes.Sidecar) routes.SidecarFigures { return s.Figures(r.gateway.Now()) }

func TestATurnThatNobodyReportsIsForgotten(t *testing.T) {
	r, sidecar, now := desks(t, nil)
	d := r.decide(asksFor("ebb"))
	if want := r.gateway.Now().Add(routes.PendingTime); !d.Expires.Equal(want) {
		t.Errorf("expires %v, want %v", d.Expires, want)
	}
	now.Add(int64(routes.PendingTime))
	if f := r.figures(sidecar); f.Pending != 1 || f.Bytes == 0 {
		t.Errorf("to the last moment: %+v", f)
	}
	now.Add(1)
	got := r.send("/v1/outcomes", strings.NewReader(`{"turn":"`+d.Turn+`","attempts":[`+served("pier")+`]}`))
	if got.status != http.StatusNotFound || !strings.Contains(got.body, "POST /v1/route") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if f := r.figures(sidecar); f != (routes.SidecarFigures{Unheard: 1}) {
		t.Errorf("%+v", f)
	}
	if n, _ := r.ledger.Count(); n != 0 || r.pinned("ebb") != nil {
		t.Error("it is booked, or pinned")
	}
}

// What a vendor may bill is in the books whatever became of who would have told.
func TestAnAcceptedTurnIsBookedThoughItsEndIsNeverTold(t *testing.T) {
	r, sidecar, now := desks(t, nil)
	d := r.decide(asksFor("ebb"))
	now.Add(int64(time.Second))
	open := `{"turn":"` + d.Turn + `","attempts":[{"vendor":"pier","status":200}],"final":false}`
	o := r.report(open)
	if want := r.gateway.Now().Add(routes.OpenTime); o.Expires == nil || !o.Expires.Equal(want) {
		t.Errorf("expires %v, want %v", o.Expires, want)
	}
	now.Add(int64(routes.OpenTime))
	if o := r.report(open); o.Settled {
		t.Errorf("%+v", o)
	}
	now.Add(int64(routes.OpenTime) + 1)
	if f := r.figures(sidecar); f != (routes.SidecarFigures{Abandoned: 1}) {
		t.Errorf("%+v", f)
	}
	a := r.last(1)
	if a.Stage != engine.StageAbandoned || !a.Billable() || a.Quality != "" || fmt.Sprint(r.pinned("ebb")) != "[pier]" {
		t.Errorf("booked %+v, pinned %v", a, r.pinned("ebb"))
	}
	turn := r.turns(1)[0]
	if booked, _, err := r.ledger.Turn(t.Context(), turn.Tenant, turn.ID); err != nil || booked.State != engine.Settled {
		t.Errorf("%v %+v", err, booked)
	}
}

func TestATenantForgetsItsOwnOldestTurns(t *testing.T) {
	r, sidecar, _ := desks(t, shared(t))
	gull, heron := []string{"Authorization", "Bearer " + gullKey}, []string{"Authorization", "Bearer " + heronKey}
	others := r.decide(asksFor("ebb"), heron...)
	first := r.decide(asksFor("ebb"), gull...)
	second := r.decide(asksFor("ebb"), gull...)
	handler := routes.New(routes.Options{Gateway: r.gateway, Sidecar: sidecar, Tenants: tenantsOf(t, team("crew-gull", gullKey))})
	for range routes.MaxPending - 1 {
		answer, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/v1/route", strings.NewReader(asksFor("ebb")))
		request.Header.Set(gull[0], gull[1])
		if handler.ServeHTTP(answer, request); answer.Code != http.StatusOK {
			t.Fatal(answer.Body)
		}
	}
	known := func(d decided, header []string) int {
		return r.send("/v1/outcomes", strings.NewReader(`{"turn":"`+d.Turn+`","attempts":[`+served("pier")+`]}`), header...).status
	}
	if a, b, c := known(first, gull), known(second, gull), known(others, heron); a != 404 || b != 200 || c != 200 {
		t.Errorf("the oldest %d, the one after it %d, the other tenant's %d", a, b, c)
	}
	if f := r.figures(sidecar); f.Pending != routes.MaxPending-1 || f.Unheard != 1 {
		t.Errorf("%+v", f)
	}
}

func TestPendingTurnsAreBoundedInBytes(t *testing.T) {
	r, sidecar, _ := desks(t, nil)
	ask := `{"api":"chat","body":{"model":"m","session_id":"ebb","service_tier":"` + strings.Repeat("t", 1<<20) + `"}}`
	for range 80 {
		r.decide(ask)
	}
	if f := r.figures(sidecar); f.Bytes > routes.MaxPendingBytes || f.Pending < 50 || f.Pending > 64 || f.Unheard != 80-f.Pending {
		t.Errorf("%+v", f)
	}
}

// The bound is one of memory only if the sizes that are added up are true.
func TestASizeIsWhatATurnHolds(t *testing.T) {
	sidecar := &routes.Sidecar{}
	var handler http.Handler
	newRig(t, func(o *routes.Options) {
		o.Sidecar, o.Log = sidecar, nil
		o.Gateway.Prefixes = true
		handler = routes.New(*o)
	}, twoStops()...)
	ask := `{"api":"chat","body":{"model":"m","session_id":"ebb","messages":[` + strings.Repeat(`{"role":"user","content":"tide?"},`, 30) + `{"role":"user","content":"now?"}]}}`
	counted, grown := leastHeld(sidecar, func() {
		for range 4000 {
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/v1/route", strings.NewReader(ask)))
			if answer.Code != http.StatusOK {
				t.Fatal(answer.Body)
			}
		}
	})
	if f := sidecar.Figures(time.Now().Add(time.Hour)); f.Bytes != 0 || f.Unheard != 3*4000 {
		t.Fatalf("%+v", f)
	}
	if grown < counted/2 || grown > 2*counted {
		t.Errorf("%d bytes counted, %d held", counted, grown)
	}
	t.Logf("a turn is counted as %d bytes and holds %d", counted/4000, grown/4000)
}

// Nor is there anything in a request or a report that a turn holds and does not count.
func TestWhatAClientWritesIsCountedOrNotKept(t *testing.T) {
	const long = 100 << 10
	text := func(letter string) string { return strings.Repeat(letter, long) }
	pause := text(" ")
	step := `{"type":"compaction","model":"` + strings.Repeat("m", 50) + `","input_tokens":5,"output_tokens":6}`
	tried := `{"vendor":"pier","stage":"broken","status":200,"served_model":"` + strings.Repeat("m", 250) + `","usage":{"input_tokens":5,"output_tokens":1,"iterations":[` +
		strings.TrimSuffix(strings.Repeat(step+",", 63), ",") + `]}}`
	for _, c := range []struct {
		name, ask, attempts string
		most                int64 // bytes that are counted; 0: any number
	}{
		{"files", `{"api":"responses","body":{"model":"m","input":[{"role":"user","content":[{"type":"input_file","file_id":"1` + text("f") + `"},{"type":"input_file","file_id":"2` + text("f") + `"}]}]}}`, "", 8 << 10},
		{"a container and a conversation", `{"api":"responses","body":{"model":"m","conversation":{"id":"` + text("c") + `"},"tools":[{"type":"code_interpreter","container":"` + text("d") + `"}]}}`, "", 8 << 10},
		{"names of the session", `{"api":"chat","body":{"model":"m","session_id":"` + text("a") + `","sessionId":"` + text("b") + `","prompt_cache_key":"` + text("c") + `","metadata":{"user_id":"` + text("d") + `"}}}`, "", 8 << 10},
		{"a name among white space", `{"api":"chat","body":{"model":"m","session_id":"` + pause + `ebb` + pause + `"}}`, "", 8 << 10},
		{"a header among white space", `{"api":"chat","headers":{"x-tide-session-id":"tide-session` + pause[:16<<10] + `","x-parent-session-id":"ebb` + pause[:16<<10] + `","x-warmroute-client":"gull` + pause[:16<<10] + `"},"body":{"model":"m"}}`, "", 8 << 10},
		{"a user that holds a session", `{"api":"messages","body":{"model":"m","metadata":{"user_id":"user_` + text("u") + `_session_01234567-89ab-cdef-0123-456789abcdef"}}}`, "", 8 << 10},
		{"a service tier", `{"api":"chat","body":{"model":"m","service_tier":"` + text("t") + `"}}`, "", 0},
		{"usage of many steps", asksFor("ebb"), strings.TrimSuffix(strings.Repeat(tried+",", 60), ","), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			sidecar := &routes.Sidecar{}
			var handler http.Handler
			newRig(t, func(o *routes.Options) {
				o.Sidecar, o.Log = sidecar, nil
				o.Gateway.Pins, o.Gateway.Ledger = nil, nil
				handler = routes.New(*o)
			}, stop{name: "pier", url: "http://127.0.0.1:1", api: "chat, responses, messages", extra: "    usage: anthropic"})
			const turns = 40
			counted, held := leastHeld(sidecar, func() {
				for range turns {
					answer := httptest.NewRecorder()
					handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/v1/route", strings.NewReader(c.ask)))
					if answer.Code == http.StatusOK && c.attempts != "" {
						report := `{"turn":"` + answer.Header().Get("X-Warmroute-Request-Id") + `","final":false,"attempts":[` + c.attempts + `]}`
						answer = httptest.NewRecorder()
						handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/v1/outcomes", strings.NewReader(report)))
					}
					if answer.Code != http.StatusOK {
						t.Fatalf("%.300s", answer.Body)
					}
				}
			})
			if held > 2*counted+1<<20 || c.most > 0 && counted > turns*c.most {
				t.Errorf("a turn is counted as %d bytes and holds %d", counted/turns, held/turns)
			}
		})
	}
}

// leastHeld is how many bytes the turns that decide leaves are counted as, and the least
// that the heap shrank in three goes when they were forgotten: what tests before this
// one let go of in the meantime is not theirs.
func leastHeld(sidecar *routes.Sidecar, decide func()) (counted, held int64) {
	for n := range 3 {
		decide()
		full := heapNow()
		counted = sidecar.Figures(time.Now()).Bytes
		sidecar.Figures(time.Now().Add(time.Hour))
		if shrunk := full - heapNow(); n == 0 || shrunk < held {
			held = shrunk
		}
	}
	return counted, held
}

func heapNow() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// What a client sends these paths is never a fault of ours.
func FuzzRoute(f *testing.F) {
	f.Add(asksFor("ebb"))
	f.Add(`{"path":"/v1/responses","prompt":{"tokens":12000,"markers":2,"marker_ttl":"1h"},"headers":{"x-a-session-id":"12345678"},"body":{"model":"m","previous_response_id":"r"}}`)
	f.Add(`{"api":"messages","body":{"model":"m","system":[{"type":"text","text":"t","cache_control":{"type":"ephemeral"}}],"messages":[]}}`)
	f.Add(`{"api":"chat","body":{"models":["m","a"],"provider":{"order":["quay"]},"messages":[{"role":"user","content":[{"type":"text","text":"\ud83d"}]}]}}`)
	r := newRig(f, func(o *routes.Options) { o.Log = nil; o.Gateway.Prefixes = true }, twoStops()...)
	f.Fuzz(func(t *testing.T, body string) {
		answer := httptest.NewRecorder()
		fresh(r).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/v1/route", strings.NewReader(body)))
		if answer.Code >= 500 || answer.Code == 200 && !strings.Contains(answer.Body.String(), `"order":[{`) {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
	})
}

// fresh forgets all that happened: what is run twice runs the same code twice, which is
// how a fuzzer knows what is new.
func fresh(r *rig) http.Handler {
	r.ledger = &inmem.Ledger{}
	r.gateway.Ledger, r.gateway.Pins, r.gateway.Health = r.ledger, inmem.New(inmem.Options{Max: 16, Now: r.clock}), engine.NewHealth()
	return routes.New(routes.Options{Gateway: r.gateway, MaxBody: 1 << 20})
}

func FuzzOutcomes(f *testing.F) {
	f.Add(`,"attempts":[` + served("pier") + `]}`)
	f.Add(`,"attempts":[{"vendor":"pier","stage":"refused","status":429,"retry_after":"7"},{"vendor":"quay","status":200,"accepted_at":"2026-11-29T12:00:00Z"}],"final":false}`)
	f.Add(`,"attempts":[{"vendor":"quay","credential":"main","stage":"broken","tokens":{"uncached":1,"cache_read":7,"output":3,"reasoning":2},"served_model":"x","said":{"text":"t","tool_calls":["a"]}}],"took_ms":1e3}`)
	r := newRig(f, func(o *routes.Options) { o.Log = nil }, twoStops()...)
	f.Fuzz(func(t *testing.T, rest string) {
		handler := fresh(r)
		decided := httptest.NewRecorder()
		handler.ServeHTTP(decided, httptest.NewRequest(http.MethodPost, "/v1/route", strings.NewReader(asksFor("ebb"))))
		id := decided.Header().Get("X-Warmroute-Request-Id")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/v1/outcomes", strings.NewReader(`{"turn":"`+id+`"`+rest)))
		booked, _ := r.ledger.Count()
		settled := answer.Code == 200 && strings.Contains(answer.Body.String(), `"settled":true`)
		if answer.Code >= 500 || (booked == 1) != settled {
			t.Errorf("%d, %d booked: %s", answer.Code, booked, answer.Body)
		}
	})
}

// Nobody can check what a tenant tells of its attempts: it moves the tenant's own plans
// and nobody else's.
func TestWhatATenantTellsOfVendorsCountsForItAlone(t *testing.T) {
	r, _, now := desks(t, shared(t))
	gull, heron := []string{"Authorization", "Bearer " + gullKey}, []string{"Authorization", "Bearer " + heronKey}
	down := func(header []string) string {
		var all []string
		for _, c := range r.decide(asksFor("ebb"), header...).Order {
			all = append(all, fmt.Sprint(c.Vendor, " ", c.Down))
		}
		return strings.Join(all, ", ")
	}
	refused := `{"vendor":"pier","stage":"refused","status":429,"retry_after":"300"}`
	d := r.decide(asksFor("neap"), gull...)
	r.report(`{"turn":"`+d.Turn+`","attempts":[`+refused+`,`+refused+`,`+refused+`]}`, gull...)
	if got := down(gull); got != "quay false, pier true" {
		t.Errorf("the tenant's own plan: %s", got)
	}
	if got := down(heron); got != "pier false, quay false" {
		t.Errorf("the other tenant's plan: %s", got)
	}
	for range 3 { // nor can it have tried what everybody's attempts have shown to be down
		r.gateway.Health.Failed(r.catalog.Models[0].Routes[0], "main", r.gateway.Now(), engine.FailureServer, 0)
	}
	now.Add(int64(time.Second))
	d = r.decide(asksFor("spring"), gull...)
	r.report(`{"turn":"`+d.Turn+`","attempts":[`+served("pier")+`]}`, gull...)
	if got := down(heron); got != "quay false, pier true" {
		t.Errorf("the other tenant's plan, of a vendor that is down: %s", got)
	}
}
