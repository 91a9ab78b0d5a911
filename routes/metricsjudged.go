package routes

import (
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/sim"
)

// The worlds that a real cost is compared with.
const (
	worldNoAffinity = iota // the same sessions without affinity, their caches simulated
	worldNoCache           // the same tokens, every prompt token at the input price
	worlds
)

var worldNames = [worlds]string{"no_affinity", "no_cache"}

// How far what affinity saved on a turn is known.
const (
	coverageCovered   = "covered"   // the cost is known in both worlds
	coverageSame      = "same"      // it is not, and affinity changed nothing
	coverageUncovered = "uncovered" // it is not, and what affinity saved is not known
)

// judged counts what the ledger's auditor said of turns.
type judged struct {
	turns   *prometheus.CounterVec // model, coverage
	misses  *prometheus.CounterVec // model, vendor, cause
	tokens  *prometheus.CounterVec // the same
	unknown *prometheus.CounterVec // model, vendor

	mu     sync.Mutex
	models map[modelKey]*[worlds]bothCosts
	routes map[routeKey]*[sim.Causes]decimal.Decimal // what misses cost
}

// modelKey names what one model is counted under.
type modelKey struct{ model, currency string }

// bothCosts are what the same turns cost, or the same attempts, in a world that was
// not and in the real one. Both only grow: what was saved is their difference.
type bothCosts struct{ without, real decimal.Decimal }

func newJudged() *judged {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "warmroute_" + name, Help: help}, labels)
	}
	return &judged{
		turns:   counter("judged_turns_total", "Turns that were judged for what affinity saved: covered, the cost is known in both worlds; same, it is not, and affinity changed nothing; uncovered, what it saved is not known.", "model", "coverage"),
		misses:  counter("misses_total", "Turns that read notably less from a cache than their session's last turn promised, by why, at the vendor that served.", "model", "vendor", "cause"),
		tokens:  counter("missed_tokens_total", "Tokens that such turns were promised and did not read.", "model", "vendor", "cause"),
		unknown: counter("misses_unpriced_total", "Misses of which it is not known what they cost.", "model", "vendor"),
		models:  map[modelKey]*[worlds]bothCosts{},
		routes:  map[routeKey]*[sim.Causes]decimal.Decimal{},
	}
}

// Settled counts what is known of turns only once they are in the books: what they
// would have cost without affinity and without caches, and why they missed. It is
// for a ledger's own Settled, which tells of each turn once.
//
// A turn that the ledger gave up is not counted here, though [Metrics.Record] counts
// it: see ledger_dropped. A process that ends between writing a turn and a scrape
// takes the count with it, as it does with every other.
func (m *Metrics) Settled(turns []engine.Booked) {
	c := m.o.Catalog()
	j := m.judged
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range turns {
		j.compare(c, &turns[i])
		j.judge(c, &turns[i])
	}
}

// compare adds what every attempt of known cost would have cost without a cache.
func (j *judged) compare(c *catalog.Catalog, b *engine.Booked) {
	for i := range b.Attempts {
		a := &b.Attempts[i]
		if a.Accepted && a.Cost.Known && a.Saving.Known {
			j.costs(c, a.Model)[worldNoCache].add(a.Cost.Total.Add(a.Saving.Amount), a.Cost.Total)
		}
	}
}

// judge adds what the auditor said. A turn that nobody judged adds nothing.
func (j *judged) judge(c *catalog.Catalog, b *engine.Booked) {
	var said sim.Judgement
	if len(b.Audit) == 0 || said.UnmarshalBinary(b.Audit) != nil {
		return
	}
	costs := j.costs(c, b.Model)
	coverage := coverageUncovered
	switch {
	case said.CostWithout.Known && said.Saving.Known: // so that the real cost is known as well
		coverage = coverageCovered
		costs[worldNoAffinity].add(said.CostWithout.Amount, said.CostWithout.Amount.Sub(said.Saving.Amount))
	case said.Same:
		coverage = coverageSame
	}
	model, vendor := modelLabel(c, b.Model), labelNone
	j.turns.WithLabelValues(model, coverage).Inc()
	if name := b.Vendor(); name != "" {
		vendor = vendorLabel(c, name)
	}
	losses := j.losses(routeKey{model, vendor, c.Currency})
	cause := said.Miss.Cause
	if cause == sim.NoMiss {
		return
	}
	j.misses.WithLabelValues(model, vendor, cause.String()).Inc()
	j.tokens.WithLabelValues(model, vendor, cause.String()).Add(float64(max(0, said.Miss.Tokens)))
	if !said.Miss.Loss.Known {
		j.unknown.WithLabelValues(model, vendor).Inc()
		return
	}
	losses[cause] = losses[cause].Add(said.Miss.Loss.Amount)
}

func (b *bothCosts) add(without, real decimal.Decimal) {
	b.without, b.real = b.without.Add(without), b.real.Add(real)
}

// costs finds the sums of a model. They and its counts are there from the first
// turn on: a rate needs the zero before it.
func (j *judged) costs(c *catalog.Catalog, model string) *[worlds]bothCosts {
	key := modelKey{modelLabel(c, model), c.Currency}
	sums := j.models[key]
	if sums == nil {
		sums = &[worlds]bothCosts{}
		j.models[key] = sums
		for _, coverage := range [...]string{coverageCovered, coverageSame, coverageUncovered} {
			j.turns.WithLabelValues(key.model, coverage)
		}
	}
	return sums
}

// losses finds the sums of a route, in the same way.
func (j *judged) losses(key routeKey) *[sim.Causes]decimal.Decimal {
	sums := j.routes[key]
	if sums == nil {
		sums = &[sim.Causes]decimal.Decimal{}
		j.routes[key] = sums
		for cause := sim.NoMiss + 1; cause < sim.Causes; cause++ {
			j.misses.WithLabelValues(key.model, key.vendor, cause.String())
			j.tokens.WithLabelValues(key.model, key.vendor, cause.String())
		}
		j.unknown.WithLabelValues(key.model, key.vendor)
	}
	return sums
}

// Describe names nothing: the currencies are those of catalogs to come.
func (j *judged) Describe(chan<- *prometheus.Desc) {}

// Collect sends all there is; a float is made of each sum of money here, and none
// before.
func (j *judged) Collect(to chan<- prometheus.Metric) {
	for _, counts := range [...]*prometheus.CounterVec{j.turns, j.misses, j.tokens, j.unknown} {
		counts.Collect(to)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for key, sums := range j.models {
		without := moneyDesc("counterfactual_cost", key.currency, "What turns would have cost without affinity, their caches simulated (world no_affinity, turns of known cost), and accepted attempts without caches, every prompt token at the input price (no_cache). What was saved is this less covered_cost of the same world, and may be negative: sum by (world) (increase(counterfactual_cost)) - sum by (world) (increase(covered_cost)). The two worlds' savings are not to be added.", "model", "world")
		real := moneyDesc("covered_cost", key.currency, "What the turns and attempts in counterfactual_cost really cost. It is less than cost where a world's cost is not known, see judged_turns.", "model", "world")
		for world := range worlds {
			to <- prometheus.MustNewConstMetric(without, prometheus.CounterValue, sums[world].without.InexactFloat64(), key.model, worldNames[world])
			to <- prometheus.MustNewConstMetric(real, prometheus.CounterValue, sums[world].real.InexactFloat64(), key.model, worldNames[world])
		}
	}
	for key, losses := range j.routes {
		d := moneyDesc("missed_cost", key.currency, "What missed tokens cost more than reading them would have; misses whose cost is not known add nothing, see misses_unpriced.", "model", "vendor", "cause")
		for cause := sim.NoMiss + 1; cause < sim.Causes; cause++ {
			to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, losses[cause].InexactFloat64(), key.model, key.vendor, cause.String())
		}
	}
}

// moneyDesc describes a sum of money, which has its currency in its name.
func moneyDesc(name, currency, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("warmroute_"+name+"_"+strings.ToLower(currency)+"_total", help+" In "+currency+".", labels, nil)
}
