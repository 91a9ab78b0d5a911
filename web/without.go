package web

import (
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/sim"
)

// withoutView is what the same turn would have been without affinity, and whether it
// missed.
type withoutView struct {
	Known bool
	Text  string
	Facts []fact
	Miss  []fact
}

// without is what was said of a turn.
func (c *call) without(b *engine.Booked) withoutView {
	j, ok := judgement(b)
	if !ok {
		return withoutView{Text: "Not known: nobody judged this turn."}
	}
	w := withoutView{Known: true, Text: "An estimate: the whole session replayed without affinity, with a model of the vendors' caches."}
	if j.Same {
		w.Text = "Affinity changed nothing so far: the session would have been the same without it."
	}
	if j.Late {
		w.Text += " The turn began before its thread's newest one."
	}
	w.Facts = append(w.Facts, fact{"Vendor without affinity", named(j.Without, unknown), ""})
	cost := fact{"Cost without affinity", unknown, ""}
	if j.CostWithout.Known {
		cost.Value = c.money.exact(j.CostWithout.Amount)
		if u := j.Counterfactual; !j.Same {
			cost.Note = tokens(u.CacheRead) + " read, " + tokens(u.CacheWrite5m+u.CacheWrite1h) + " written, " + tokens(u.Input) + " uncached"
		}
	}
	saving := fact{"Affinity saving", unknown, ""}
	if j.Saving.Known {
		saving.Value = c.money.exact(j.Saving.Amount)
		saving.Note = "estimate; against the session without affinity"
		if j.Saving.Amount.IsNegative() {
			saving.Note = "a loss, estimate; against the session without affinity"
		}
	}
	w.Facts = append(w.Facts, cost, saving)
	if j.Promised > 0 {
		promised := fact{"Promised by the turn before", tokens(j.Promised) + " tokens", ""}
		if j.Expected != j.Promised {
			promised.Note = "of which the client kept " + tokens(j.Expected)
		}
		w.Facts = append(w.Facts, promised)
	}
	if j.Miss.Cause == sim.NoMiss {
		return w
	}
	miss := c.miss(b)
	avoidable := "affinity could not have prevented it"
	if j.Miss.Cause.Avoidable() {
		avoidable = "affinity should have prevented it"
	}
	w.Miss = []fact{
		{"Cause of the miss", miss.Cause, miss.Means},
		{"Whose", miss.By, avoidable},
		{"Tokens not read", miss.Tokens, ""},
		{"Loss", miss.Loss, "against reading them from the cache"},
	}
	return w
}
