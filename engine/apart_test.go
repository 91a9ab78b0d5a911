package engine_test

import (
	"testing"

	"github.com/warmroute/warmroute/engine"
)

// Where a profile keeps sub-agents apart, a child starts where anybody would, and its
// parent is still shown.
func TestAChildApartDoesNotStartWhereItsParentIs(t *testing.T) {
	for _, apart := range []bool{false, true} {
		g, _ := newGateway(t)
		p := *engine.Warmroute()
		p.Apart = apart
		g.Profile = &p
		serveAt(t, g, "b", chat(func(r *engine.Request) { r.BodyID = "parent" }))
		child := chat(func(r *engine.Request) {
			r.BodyID, r.Header = "child", map[string][]string{"X-Parent-Session-Id": {"parent"}}
		})
		turn := serveAt(t, g, "b", child)
		want := engine.Promoted
		if apart {
			want = engine.NoPin
		}
		if f := turn.Decision.Models[0]; f.Outcome != want || turn.Session.Parent != "parent" {
			t.Errorf("apart %v: %s, parent %q", apart, f.Outcome, turn.Session.Parent)
		}
	}
}
