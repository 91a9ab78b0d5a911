package routes

import (
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/sim"
)

// holdoutShape is the only measure of what affinity is worth that no model has a part
// in: what a million prompt tokens cost in sessions that were held out, and in those
// that ran with affinity at the same time.
type holdoutShape struct {
	Held       armShape       `json:"held_out"`
	Treated    armShape       `json:"treated"`
	Difference *amount        `json:"difference"` // held out less treated, per million prompt tokens: positive where affinity saves; null where either side has nothing that counts
	Interval   *intervalShape `json:"interval"`   // in which the difference lies in 95 of 100 such trials; null with fewer than ten sessions on either side
}

type intervalShape struct {
	Low  amount `json:"low"`
	High amount `json:"high"`
}

// armShape is one side of a hold-out.
type armShape struct {
	Sessions  int64   `json:"sessions"`
	Turns     int64   `json:"turns"` // that count: cost and usage are known
	Uncovered int64   `json:"uncovered"`
	Prompt    int64   `json:"prompt_tokens"`
	Cost      *amount `json:"cost"`             // answers included
	Mean      *amount `json:"cost_per_million"` // prompt tokens; null where nothing counts
}

func armOf(a *sim.Arm) armShape {
	mean, known := a.Mean()
	return armShape{
		Sessions: a.Sessions, Turns: a.Turns, Uncovered: a.Uncovered, Prompt: a.Tokens,
		Cost: moneyOf(a.Cost, known), Mean: moneyOf(mean, known),
	}
}

// holdoutOf is nil where no turn of a whole account was held out. Part of the turns
// is no trial: a session's turns at one route, or of one outcome, were not drawn.
func holdoutOf(q engine.Query, total *sim.Account) *holdoutShape {
	if q.Model != "" || q.Vendor != "" || q.Outcome != "" {
		return nil
	}
	trial, ok := total.Tally.Trial()
	if !ok {
		return nil
	}
	shape := &holdoutShape{Held: armOf(&trial.Held), Treated: armOf(&trial.Treated)}
	d, ok := trial.Difference()
	shape.Difference = moneyOf(d.Mean, ok)
	if d.Interval {
		shape.Interval = &intervalShape{amountOf(d.Low), amountOf(d.High)}
	}
	return shape
}
