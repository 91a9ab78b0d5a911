package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/engine"
)

// serveAt serves the request at one vendor and nowhere else.
func serveAt(t *testing.T, g *engine.Gateway, vendor string, r engine.Request) engine.Turn {
	t.Helper()
	turn, err := g.Serve(context.Background(), r, func(ctx context.Context, try engine.Try) engine.Attempt {
		if try.Candidate.Route.Vendor.Name != vendor {
			return engine.Attempt{Failure: engine.FailureThrottled, Status: 429}
		}
		return serves(ctx, try)
	})
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// A child starts where its parent is, however each of the two is named, and keeps
// pins of its own from then on.
func TestAChildStartsWhereItsParentIs(t *testing.T) {
	say := func(text string) func() engine.Opening {
		return func() engine.Opening { return engine.Opening{First: [][]byte{[]byte(text)}} }
	}
	named := func(headers ...string) engine.Request {
		r := chat(func(r *engine.Request) {
			r.BodyID, r.Header, r.Opening = "", map[string][]string{}, say("mend the fence")
		})
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return r
	}
	parents := map[string]func() engine.Request{
		"by a header":          func() engine.Request { return named("x-session-id", "Boat-1") },
		"by the body":          func() engine.Request { r := named(); r.BodyID = "Boat-1"; return r },
		"by an agent":          func() engine.Request { return named("x-claude-code-session-id", "Boat-1") },
		"by a cache key":       func() engine.Request { r := named(); r.CacheKey = "Boat-1"; return r },
		"by its own header":    func() engine.Request { return named("x-yard-session-id", "Boat-1-of-yard") },
		"in small letters":     func() engine.Request { return named("x-session-id", "boat-1") },
		"by Codex's header":    func() engine.Request { return named("session-id", "Boat-1") },
		"by a provider option": func() engine.Request { r := named(); r.OptionID = "Boat-1"; return r },
	}
	children := map[string]func(parent string) engine.Request{
		"by opening": func(p string) engine.Request {
			r := named("x-parent-session-id", p)
			r.Opening = say("find the hammer")
			return r
		},
		"by a cache key": func(p string) engine.Request { r := named("x-parent-session-id", p); r.CacheKey = "dinghy"; return r },
		"by an agent": func(p string) engine.Request {
			return named("x-parent-session-id", p, "x-claude-code-session-id", "dinghy")
		},
		"by the body": func(p string) engine.Request { r := named("x-parent-session-id", p); r.BodyID = "dinghy"; return r },
		"by its own header": func(p string) engine.Request {
			return named("x-yard-parent-session-id", p, "x-yard-session-id", "dinghy-of-yard")
		},
	}
	for parentName, parent := range parents {
		for childName, child := range children {
			t.Run("parent "+parentName+", child "+childName, func(t *testing.T) {
				id := "Boat-1"
				if own := parent().Header.Get("x-yard-session-id"); own != "" {
					id = own
				}
				if strings.HasPrefix(childName, "by its own") && parentName != "in small letters" && parentName != "by its own header" {
					t.Log("an own header comes in small letters, so that it cannot name this parent")
					return
				}
				g, _ := newGateway(t)
				first := serveAt(t, g, "b", parent())
				before, _ := g.Pins.Recall(context.Background(), first.Session.Key(""))
				started := serveAt(t, g, "b", child(id))
				f := started.Decision.Models[0]
				if f.Outcome != engine.Promoted || f.Pinned != "b" || started.Session.ID == first.Session.ID || len(started.Attempts) != 1 {
					t.Fatalf("the child's first turn: %s %s %s in session %+v", f.Outcome, f.Detail, f.Pinned, started.Session)
				}
				after, _ := g.Pins.Recall(context.Background(), first.Session.Key(""))
				if len(after.For("m")) != 1 || before.For("m")[0] != after.For("m")[0] {
					t.Errorf("the child changed its parent's pins: %+v", after)
				}
				own, _ := g.Pins.Recall(context.Background(), started.Session.Key(""))
				if warm := own.For("m"); len(warm) != 1 || warm[0].Vendor != "b" {
					t.Errorf("the child's own pins: %+v", own)
				}
				serveAt(t, g, "a", child(id)) // b fails
				if f := serveAt(t, g, "a", child(id)).Decision.Models[0]; f.Outcome != engine.Confirmed || f.Pinned != "a" {
					t.Errorf("with pins of its own: %s %s", f.Outcome, f.Pinned)
				}
			})
		}
	}
}

// A parent that is not known, of another tenant or in another scope starts nobody.
func TestAStrangeParentIsNone(t *testing.T) {
	g, _ := newGateway(t)
	serveAt(t, g, "b", chat(func(r *engine.Request) { r.Tenant, r.BodyID = "other", "parent" }))
	child := chat(func(r *engine.Request) {
		r.BodyID, r.Header = "child", map[string][]string{"X-Parent-Session-Id": {"parent"}}
	})
	if f := serveAt(t, g, "a", child).Decision.Models[0]; f.Outcome != engine.NoPin || f.Detail != "" {
		t.Errorf("%s %s", f.Outcome, f.Detail)
	}
}

// Per model: the parent's entries of a model the child has not been served by.
func TestTheParentIsAskedModelByModel(t *testing.T) {
	g, _ := newGateway(t)
	serveAt(t, g, "b", chat(func(r *engine.Request) { r.BodyID = "parent" }))
	child := func(target string) engine.Request {
		return chat(func(r *engine.Request) {
			r.Target, r.BodyID, r.Header = target, "child", map[string][]string{"X-Parent-Session-Id": {"parent"}}
		})
	}
	serveAt(t, g, "b", child("o")) // another model
	if f := serveAt(t, g, "b", child("m")).Decision.Models[0]; f.Outcome != engine.Promoted || f.Pinned != "b" {
		t.Errorf("%s %s", f.Outcome, f.Detail)
	}
}
