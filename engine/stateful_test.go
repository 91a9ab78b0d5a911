package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
)

// A route that was disabled or repriced is judged by today's catalog on the next turn,
// and again when the catalog is as it was: its pin has stayed.
func TestARouteIsJudgedAfresh(t *testing.T) {
	g, _ := newGateway(t)
	serveAt(t, g, "b", chat(func(r *engine.Request) { r.Only = []string{"b"} })) // a would come first
	ask := func(old, new string, outcome engine.Outcome, detail engine.Detail, first string) {
		t.Helper()
		if !strings.Contains(pair, old) {
			t.Fatalf("the catalog has no %q", old)
		}
		c := parse(t, strings.Replace(pair, old, new, 1))
		g.Catalog = func() *catalog.Catalog { return c }
		turn, err := g.Decide(context.Background(), chat(nil))
		if err != nil {
			t.Fatal(err)
		}
		found := turn.Decision.Models[0]
		vendor := turn.Plan.Candidates[turn.Decision.Order[0]].Route.Vendor.Name
		if found.Outcome != outcome || found.Detail != detail || vendor != first {
			t.Errorf("%s: %s %s, first %s; want %s %s, first %s", new, found.Outcome, found.Detail, vendor, outcome, detail, first)
		}
	}
	const route, price = "{vendor: b, model: m, price:", "price: {input: 2, output: 10, cache_read: 0.2}"
	ask(route, route, engine.Promoted, "", "b")
	ask(route, "{vendor: b, model: m, disabled: away, price:", engine.SkippedNotInPlan, engine.DetailRouteRemoved, "a")
	ask(price, "price: {input: 2, output: 10, cache_read: 2.5}", engine.SkippedNotCheaper, engine.DetailNotBelowOwnInput, "a")
	ask(price, "price: {input: 9, output: 10, cache_read: 3.1}", engine.SkippedNotCheaper, engine.DetailNotBelowRivalInput, "a")
	ask(price, "price: {output: 10, input: 2}", engine.SkippedPriceUnknown, "", "a")
	ask(route, route, engine.Promoted, "", "b")
}

// with is a request with this content.
func with(contents ...engine.Stateful) engine.Request {
	return chat(func(r *engine.Request) { r.BodyID, r.Stateful = "", contents })
}

// makerOf is whose content is remembered to be, empty if nobody's.
func makerOf(t *testing.T, g *engine.Gateway, c engine.Stateful) string {
	t.Helper()
	record, err := g.Pins.Recall(context.Background(), c.Key("default"))
	if err != nil {
		t.Fatal(err)
	}
	_, e, ok := record.Newest()
	if ok != (e.Vendor != "") {
		t.Fatalf("%+v", record)
	}
	return e.Vendor
}

// Who accepts content that nobody was known to have made is its maker from then on,
// unless the acceptance comes to nothing; what is known stays as it is.
func TestMakersAreLearntByAcceptance(t *testing.T) {
	g, _ := newGateway(t)
	file, thought := engine.Stateful{Kind: engine.KindFile, ID: "file-1"}, engine.Stateful{Kind: engine.KindSigned, ID: "s"}
	var none *engine.NoRouteError
	if _, err := g.Decide(context.Background(), with(file)); !errors.As(err, &none) || none.Forgotten != engine.KindFile || none.Keyless() {
		t.Fatalf("a file at one of two vendors: %v", err)
	}
	only := func(vendor string, contents ...engine.Stateful) engine.Request {
		r := with(contents...)
		r.Only = []string{vendor}
		return r
	}
	breaks := func(_ context.Context, try engine.Try) engine.Attempt {
		try.Accepted()
		return engine.Attempt{Stage: engine.StageBroken, Failure: engine.FailureRequest, Reply: &engine.Reply{Status: 400}}
	}
	if _, err := g.Serve(context.Background(), only("b", file), breaks); err != nil || makerOf(t, g, file) != "" {
		t.Errorf("%v, maker %q after an acceptance that came to nothing", err, makerOf(t, g, file))
	}
	serveAt(t, g, "b", only("b", file, thought))
	if makerOf(t, g, file) != "b" || makerOf(t, g, thought) != "b" {
		t.Errorf("makers %q and %q", makerOf(t, g, file), makerOf(t, g, thought))
	}
	if turn := serveAt(t, g, "b", with(file)); len(turn.Plan.Candidates) != 1 {
		t.Errorf("%d candidates for the file", len(turn.Plan.Candidates))
	}
	// A vendor that takes another's signature does not become its maker.
	serveAt(t, g, "a", only("a", thought))
	if makerOf(t, g, thought) != "b" {
		t.Errorf("maker %q", makerOf(t, g, thought))
	}
	// Another tenant has files of its own.
	other := with(file)
	other.Tenant = "other"
	if _, err := g.Decide(context.Background(), other); !errors.As(err, &none) {
		t.Errorf("another tenant's request: %v", err)
	}
	// Content of a vendor that may not be used names what to do.
	r := with(file)
	r.Ignore = []string{"b"}
	if _, err := g.Decide(context.Background(), r); err == nil || !strings.Contains(err.Error(), "can be read only by b") || !strings.Contains(err.Error(), "send the file itself") {
		t.Errorf("%v", err)
	}
}

// The memory of a maker lasts a day from when it was last of use.
func TestMakersAreRemembered(t *testing.T) {
	g, _ := newGateway(t)
	now := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	g.Now = func() time.Time { return now }
	g.Pins = inmem.New(inmem.Options{Now: g.Now})
	sealed := engine.Stateful{Kind: engine.KindReasoning, ID: "r"}
	_, err := g.Serve(context.Background(), chat(func(r *engine.Request) { r.Only = []string{"b"} }), func(ctx context.Context, try engine.Try) engine.Attempt {
		a := serves(ctx, try)
		try.Made(sealed)
		return a
	})
	if err != nil {
		t.Fatal(err)
	}
	at := func() time.Time {
		record, _ := g.Pins.Recall(context.Background(), sealed.Key("default"))
		_, e, _ := record.Newest()
		return e.AcceptedAt
	}
	first := at()
	if !first.Equal(now) {
		t.Fatalf("remembered at %v", first)
	}
	now = now.Add(59 * time.Minute)
	serveAt(t, g, "b", with(sealed))
	if !at().Equal(first) {
		t.Error("renewed within the hour")
	}
	now = now.Add(time.Minute)
	serveAt(t, g, "b", with(sealed))
	if !at().Equal(now) {
		t.Errorf("not renewed: %v", at())
	}
}

// At an account that tenants share, what came about through turns is its tenant's:
// nobody continues a conversation that it was not seen to have. With a key of its own
// the account is its own.
func TestSharedAccountsKeepConversationsApart(t *testing.T) {
	g, _ := newGateway(t)
	for kind, refused := range map[engine.Kind]bool{engine.KindConversation: true, engine.KindContainer: true, engine.KindFile: false, engine.KindReasoning: false} {
		r := with(engine.Stateful{Kind: kind, ID: "x"})
		r.Only, r.Rules.Apart = []string{"b"}, true
		_, err := g.Decide(context.Background(), r)
		if (err != nil) != refused {
			t.Errorf("%s: %v", kind, err)
		}
		r.OwnKeys, r.Rules.OwnOnly = []engine.OwnKey{{Vendor: "b", ID: engine.OwnKeyID("1")}}, true
		if _, err := g.Decide(context.Background(), r); err != nil {
			t.Errorf("%s, with a key of its own: %v", kind, err)
		}
	}
}
