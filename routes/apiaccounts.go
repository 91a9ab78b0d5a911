package routes

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/sim"
)

// shareShape is a part of a whole with its counts: a rate without them says little.
type shareShape struct {
	Of   int64   `json:"of"`
	All  int64   `json:"all"`
	Rate *amount `json:"rate"` // to six places; null of nothing
}

func shareOf(s sim.Share) shareShape {
	shape := shareShape{Of: s.Of, All: s.All}
	if s.All != 0 {
		shape.Rate = moneyOf(decimal.NewFromInt(s.Of).DivRound(decimal.NewFromInt(s.All), 6), true)
	}
	return shape
}

// accountShape is what affinity did to settled turns beyond their bill. Cost,
// cost_without and saving are of the covered turns alone, and cost + saving is
// cost_without to the last digit; they are an estimate by a model of the vendors'
// caches, whose error stands beside them.
type accountShape struct {
	Turns         int64       `json:"turns"`
	Covered       int64       `json:"covered"`
	Uncovered     int64       `json:"uncovered"` // turns whose saving is not known
	Same          int64       `json:"same"`      // turns that affinity changed nothing for
	Cost          *amount     `json:"cost"`
	CostWithout   *amount     `json:"cost_without_affinity"`
	Saving        *amount     `json:"affinity_saving"`
	ModelError    *amount     `json:"model_error"` // Σ|modelled − real| of Σ real; null where nothing was modelled
	LowConfidence bool        `json:"low_confidence"`
	AvoidableLoss lossShape   `json:"avoidable_loss"`
	Losses        []blame     `json:"losses"` // by whose doing
	Misses        []missShape `json:"misses"` // by cause
	HourMarks     hourShape   `json:"hour_marks"`
	PayBack       string      `json:"write_pay_back"` // paying, break_even, losing; empty where nothing was written

	TokenHitRate      shareShape `json:"token_hit_rate"` // of turns that could have read
	RequestHitRate    shareShape `json:"request_hit_rate"`
	AllTrafficHitRate shareShape `json:"all_traffic_hit_rate"`
	PrefixRetention   shareShape `json:"prefix_retention"`
	AvoidableMissRate shareShape `json:"avoidable_miss_rate"`
	PinExpiredRate    shareShape `json:"pin_expired_rate"`
	ExpiredButWarm    shareShape `json:"expired_but_warm"`
	LiveButCold       shareShape `json:"live_but_cold"`
	Displacement      shareShape `json:"displacement"`
	PlanConflicts     shareShape `json:"plan_conflicts"`
	PricingCoverage   shareShape `json:"pricing_coverage"` // prompt tokens
	UsageCoverage     shareShape `json:"usage_coverage"`   // turns
	EffectiveInput    *amount    `json:"effective_input"`  // per million prompt tokens; null where none is priced
}

// lossShape is money that was lost, and the turns of which it is not known how much.
type lossShape struct {
	Amount  amount `json:"amount"`
	Unknown int64  `json:"unknown_turns"`
}

type blame struct {
	By string `json:"by"` // gateway, vendor, client
	lossShape
}

type missShape struct {
	Cause     string `json:"cause"`
	By        string `json:"by"` // gateway, vendor, client; empty: nobody's
	Avoidable bool   `json:"avoidable"`
	Turns     int64  `json:"turns"`
	Tokens    int64  `json:"tokens"`
	Loss      amount `json:"loss"`
	Unknown   int64  `json:"loss_unknown_turns"`
}

// hourShape is what marking for an hour would have saved where it was not done;
// negative: cost.
type hourShape struct {
	Turns  int64  `json:"turns"`
	Saving amount `json:"saving"`
}

func accountOf(a *sim.Account) accountShape {
	t := &a.Tally
	shape := accountShape{
		Turns: t.Turns, Covered: t.Covered, Uncovered: t.Uncovered, Same: t.Same,
		Cost:              moneyOf(t.Cost, t.Covered > 0 || t.Turns == 0),
		CostWithout:       moneyOf(t.CostWithout, t.Covered > 0 || t.Turns == 0),
		Saving:            moneyOf(t.Saving, t.Covered > 0 || t.Uncovered == 0),
		LowConfidence:     t.LowConfidence(),
		AvoidableLoss:     lossOf(t.AvoidableLoss()),
		Losses:            []blame{},
		Misses:            []missShape{},
		HourMarks:         hourShape{t.HourTurns, amountOf(t.Hour)},
		PayBack:           string(t.PayBack()),
		TokenHitRate:      shareOf(t.TokenHitRate()),
		RequestHitRate:    shareOf(t.RequestHitRate()),
		AllTrafficHitRate: shareOf(t.AllTrafficHitRate()),
		PrefixRetention:   shareOf(t.Retention()),
		AvoidableMissRate: shareOf(t.AvoidableMissRate()),
		PinExpiredRate:    shareOf(t.PinExpiredRate()),
		ExpiredButWarm:    shareOf(t.ExpiredButWarm()),
		LiveButCold:       shareOf(t.LiveButCold()),
		Displacement:      shareOf(t.Displacement()),
		PlanConflicts:     shareOf(t.PlanConflicts()),
		PricingCoverage:   shareOf(t.PricingCoverage()),
		UsageCoverage:     shareOf(t.UsageCoverage()),
	}
	if off, ok := t.ModelError(); ok {
		shape.ModelError = moneyOf(off.Round(6), true)
	}
	if rate := t.EffectiveInput(); rate.Known() {
		shape.EffectiveInput = moneyOf(rate.Decimal(), true)
	}
	for _, by := range [...]sim.Blame{sim.Gateway, sim.Vendor, sim.Client} {
		shape.Losses = append(shape.Losses, blame{string(by), lossOf(t.LossTo(by))})
	}
	for c := sim.NoMiss + 1; c < sim.Causes; c++ {
		if m := &t.Missed[c]; m.Turns > 0 {
			shape.Misses = append(shape.Misses, missShape{c.String(), string(c.Blame()), c.Avoidable(), m.Turns, m.Tokens, amountOf(m.Loss), m.Unknown})
		}
	}
	return shape
}

func lossOf(lost decimal.Decimal, unknown int64) lossShape {
	return lossShape{amountOf(lost), unknown}
}

// learnedShape is what turns have shown of a route's cache, beside what the catalog
// claims of it.
type learnedShape struct {
	Turns         int64      `json:"turns"`
	TokenHitRate  shareShape `json:"token_hit_rate"`
	Blended       *amount    `json:"blended_input"` // per million prompt tokens at that hit rate and today's price; null where either is unknown
	ClaimSeconds  *float64   `json:"claimed_lifetime_seconds"`
	SeenAtLeast   *float64   `json:"seen_lifetime_at_least_seconds"` // half of the prefixes were found up to this age
	SeenAtMost    *float64   `json:"seen_lifetime_below_seconds"`    // and fewer at this
	Contradicts   bool       `json:"contradicts_claim"`
	Stretches     []ageShape `json:"by_age"`
	ClaimedMin    *int64     `json:"claimed_min_prefix"`
	ClaimedFamily *string    `json:"claimed_family"`
}

// ageShape is how prefixes of one stretch of age were found.
type ageShape struct {
	UpTo  *float64   `json:"up_to_seconds"` // null: older than the others
	Found shareShape `json:"found"`         // looks that found at least half
}

// routeFactsShape is one route in the list of routes.
type routeFactsShape struct {
	Model   string       `json:"model"`
	Vendor  string       `json:"vendor"`
	Listed  bool         `json:"in_catalog"`
	Learned learnedShape `json:"learned"`
	Account accountShape `json:"affinity"`
}

func seconds(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	s := d.Seconds()
	return &s
}

// routeFactsOf is one route's account beside the catalog's claims.
func (a *api) routeFactsOf(model, vendor string, account *sim.Account) routeFactsShape {
	l := &account.Learned
	shape := routeFactsShape{Model: model, Vendor: vendor, Account: accountOf(account), Learned: learnedShape{
		Turns: l.Turns, TokenHitRate: shareOf(l.HitRate()), Stretches: []ageShape{},
	}}
	var claim time.Duration
	if a.Catalog != nil {
		target, ok := a.Catalog().Resolve(model)
		for i := 0; ok && target.Policy == nil && i < len(target.Models[0].Routes); i++ {
			r := target.Models[0].Routes[i]
			if r.Vendor.Name != vendor {
				continue
			}
			shape.Listed, claim = true, r.Cache.TTL
			minimum := r.Cache.Minimum()
			shape.Learned.ClaimedMin, shape.Learned.ClaimedFamily = &minimum, text(r.Cache.Family)
			if sheet, ok := r.Price.Sheet(a.Now()); ok {
				if rate := sim.Blended(sheet.Card, l.HitRate()); rate.Known() {
					shape.Learned.Blended = moneyOf(rate.Decimal(), true)
				}
			}
		}
	}
	life := l.Lifetime(claim)
	shape.Learned.ClaimSeconds, shape.Learned.SeenAtLeast, shape.Learned.SeenAtMost = seconds(claim), seconds(life.Least), seconds(life.Most)
	shape.Learned.Contradicts = shape.Listed && life.Contradicts()
	for i, trials := range life.Stretches {
		if trials.N == 0 {
			continue
		}
		age := ageShape{Found: shareOf(sim.Share{Of: trials.Found, All: trials.N})}
		if i < len(sim.Ages) {
			age.UpTo = seconds(sim.Ages[i])
		}
		shape.Learned.Stretches = append(shape.Learned.Stretches, age)
	}
	return shape
}

// judgementShape is what the ledger's auditor said of one turn.
type judgementShape struct {
	Same           bool             `json:"same"` // affinity changed nothing
	Without        *string          `json:"vendor_without_affinity"`
	CostWithout    *amount          `json:"cost_without_affinity"`
	Saving         *amount          `json:"affinity_saving"`
	Predicted      tokensShape      `json:"predicted_tokens"`
	Counterfactual tokensShape      `json:"tokens_without_affinity"`
	Promised       int64            `json:"promised_tokens"` // what the last prompt let it expect
	Expected       int64            `json:"expected_tokens"` // of that, what the client kept
	Miss           *missedTurnShape `json:"miss"`
}

// missedTurnShape is why a turn read less than it could have.
type missedTurnShape struct {
	Cause     string  `json:"cause"`
	By        string  `json:"by"`
	Avoidable bool    `json:"avoidable"`
	Tokens    int64   `json:"tokens"`
	Loss      *amount `json:"loss"`
}

// judgementOf is null for a turn that nobody judged.
func judgementOf(b *engine.Booked) *judgementShape {
	var j sim.Judgement
	if len(b.Audit) == 0 || j.UnmarshalBinary(b.Audit) != nil {
		return nil
	}
	shape := &judgementShape{
		Same: j.Same, Without: text(j.Without), CostWithout: moneyOf(j.CostWithout.Amount, j.CostWithout.Known),
		Saving: moneyOf(j.Saving.Amount, j.Saving.Known), Predicted: tokensOf(j.Predicted), Counterfactual: tokensOf(j.Counterfactual),
		Promised: j.Promised, Expected: j.Expected,
	}
	if c := j.Miss.Cause; c != sim.NoMiss {
		shape.Miss = &missedTurnShape{c.String(), string(c.Blame()), c.Avoidable(), j.Miss.Tokens, moneyOf(j.Miss.Loss.Amount, j.Miss.Loss.Known)}
	}
	return shape
}
