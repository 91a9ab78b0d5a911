package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// Two turns of a session overlap at one vendor. The later one breaks, and then the
// earlier one reports: what was dropped stays dropped.
func TestALateReportBringsNothingBack(t *testing.T) {
	g, _ := newGateway(t)
	r := chat(func(r *engine.Request) { r.Only = []string{"a"} })
	turn, err := g.Serve(context.Background(), r, func(ctx context.Context, try engine.Try) engine.Attempt {
		a := serves(ctx, try)
		_, err := g.Serve(ctx, r, func(_ context.Context, try engine.Try) engine.Attempt {
			try.Accepted()
			return engine.Attempt{Stage: engine.StageBroken, Failure: engine.FailureCut, Committed: true}
		})
		if err != nil {
			t.Error(err)
		}
		return a
	})
	if err != nil {
		t.Fatal(err)
	}
	if record, _ := g.Pins.Recall(context.Background(), turn.Session.Key("")); len(record.Models) != 0 {
		t.Errorf("left is %+v", record)
	}
}

// A credential that the catalog no longer has drops its pins; a route that is
// disabled or repriced, or a key that is not set, drops nothing.
func TestARevokedCredentialDropsItsPins(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		ordinary       bool // the entry stays
	}{
		{"another credential", "credentials: [{id: k, env: A}]", "credentials: [{id: k2, env: A}]", false},
		{"one more credential", "credentials: [{id: k, env: A}]", "credentials: [{id: k, env: A}, {id: k2, env: A}]", true},
		{"other prices", "price: {input: 3,", "price: {input: 30,", true},
		{"the route is disabled", "{vendor: a, model: m, ", "{vendor: a, model: m, disabled: away, ", true},
		{"the key is not set", "env: A", "env: MISSING", true},
	} {
		g, _ := newGateway(t)
		turn := serveAt(t, g, "a", chat(nil))
		if !strings.Contains(pair, c.old) {
			t.Fatalf("%s: the catalog has no %q", c.name, c.old)
		}
		changed, err := catalog.ParseKeys("test.yaml", []byte(strings.ReplaceAll(pair, c.old, c.new)), func(c catalog.Credential) (string, bool) { return "key", c.Env != "MISSING" })
		if err != nil {
			t.Fatal(c.name, err)
		}
		g.Catalog = func() *catalog.Catalog { return changed }
		if _, err := g.Decide(context.Background(), chat(nil)); err != nil {
			t.Fatal(err)
		}
		holds := func() bool {
			record, _ := g.Pins.Recall(context.Background(), turn.Session.Key(""))
			return slices.ContainsFunc(record.For("m"), func(e engine.Entry) bool { return e.Vendor == "a" && e.Credential == "k" })
		}
		if !holds() {
			t.Errorf("%s: a decision dropped the pin", c.name)
		}
		serveAt(t, g, "b", chat(func(r *engine.Request) { r.AffinityOff = true }))
		if !holds() {
			t.Errorf("%s: a turn with affinity off dropped the pin", c.name)
		}
		serveAt(t, g, "b", chat(nil))
		if holds() != c.ordinary {
			t.Errorf("%s: the pin stays: %v", c.name, holds())
		}
	}
}

// Who made a response is not asked of a store that does not answer.
func TestAStalledStoreFailsNoContinuedResponse(t *testing.T) {
	g, _ := newGateway(t)
	g.Pins, g.Deadline = hanging{}, time.Millisecond
	turn, err := g.Decide(context.Background(), chat(func(r *engine.Request) {
		r.PreviousResponse = "resp_1"
	}))
	if err != nil || len(turn.Plan.Candidates) != 2 {
		t.Errorf("%v, %d candidates", err, len(turn.Plan.Candidates))
	}
}

// What a request asked not to be stored cannot be continued, so nobody is
// remembered as its maker.
func TestUnstoredResponsesAreNotRemembered(t *testing.T) {
	g, _ := newGateway(t)
	for id, unstored := range map[string]bool{"resp_1": false, "resp_2": true} {
		_, err := g.Serve(context.Background(), chat(func(r *engine.Request) { r.Unstored = unstored }), func(ctx context.Context, try engine.Try) engine.Attempt {
			a := serves(ctx, try)
			a.ResponseID = id
			return a
		})
		if err != nil {
			t.Fatal(err)
		}
		record, _ := g.Pins.Recall(context.Background(), engine.OriginKey("default", id))
		if _, e, ok := record.Newest(); ok == unstored || ok && (e.Vendor != "a" || e.Credential != "k" || e.Prompt != 2000 || e.Output != 100) {
			t.Errorf("%s: %+v", id, record)
		}
	}
}

// A request that continues a response opens with what is new, and is of the thread
// that the response is of, though another was served later.
func TestAContinuedResponseStaysInItsThread(t *testing.T) {
	g, _ := newGateway(t)
	serve := func(opening, previous, id string) engine.Turn {
		t.Helper()
		r := chat(func(r *engine.Request) {
			r.Words = func() engine.Opening { return engine.Opening{First: [][]byte{[]byte(opening)}} }
			r.PreviousResponse = previous
		})
		turn, err := g.Serve(context.Background(), r, func(ctx context.Context, try engine.Try) engine.Attempt {
			a := serves(ctx, try)
			a.ResponseID = id
			return a
		})
		if err != nil {
			t.Fatal(err)
		}
		return turn
	}
	serve("mend the fence", "", "resp_1")
	serve("give it a title", "", "resp_2")
	turn := serve("and the gate", "resp_1", "resp_3")
	serve("thanks", "resp_3", "")
	record, _ := g.Pins.Recall(context.Background(), turn.Session.Key(""))
	fence := engine.Thread(engine.Opening{First: [][]byte{[]byte("mend the fence")}})
	if warm := record.For("m"); len(warm) != 2 || warm[0].Thread != fence {
		t.Errorf("threads of the session: %+v, want two with %d first", warm, fence)
	}
}

func TestStagesSayTheDesignsWord(t *testing.T) {
	for stage, want := range map[engine.Stage]string{
		engine.StageRefused: "refused", engine.StageBroken: "broken", engine.StageAbandoned: "abandoned", engine.StageServed: "served",
	} {
		if stage.String() != want {
			t.Errorf("%q, want %q", stage, want)
		}
	}
}
