package engine_test

import (
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
)

// Two instances that share no store: what one remembers the other does not, and what
// was in memory only is gone with the process. Every turn is served all the same.
func TestInstancesWithoutASharedStore(t *testing.T) {
	one, _ := newGateway(t)
	two, _ := newGateway(t)
	for _, c := range []struct {
		name string
		g    *engine.Gateway
		lose bool
		want engine.Outcome
	}{
		{"the first turn", one, false, engine.NoPin},
		{"the other instance", two, false, engine.NoPin},
		{"the first instance again", one, false, engine.Promoted},
		{"the first instance after a restart", one, true, engine.NoPin},
	} {
		if c.lose {
			c.g.Pins = inmem.New(inmem.Options{})
		}
		turn := serveAt(t, c.g, "b", chat(nil))
		if got := turn.Decision.Models[0].Outcome; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if a, ok := turn.Last(); !ok || a.Stage != engine.StageServed {
			t.Errorf("%s was not served", c.name)
		}
	}
}
