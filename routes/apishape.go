package routes

import (
	"net/url"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// amount is money, a price per million tokens or a rate, as a canonical decimal.
type amount string

func amountOf(d decimal.Decimal) amount { return amount(d.String()) }

// tokensShape is a usage as the API shows it.
type tokensShape struct {
	Prompt       int64 `json:"prompt"`
	Uncached     int64 `json:"uncached"`
	CacheRead    int64 `json:"cache_read"`
	CacheWrite5m int64 `json:"cache_write_5m"`
	CacheWrite1h int64 `json:"cache_write_1h"`
	Output       int64 `json:"output"`
	Reasoning    int64 `json:"reasoning"`
}

func tokensOf(u pricing.Usage) tokensShape {
	return tokensShape{u.Prompt(), u.Input, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h, u.Output, u.Reasoning}
}

// sumsShape is what turns come to.
type sumsShape struct {
	Turns     int64       `json:"turns"`
	Unsettled int64       `json:"unsettled"`
	Failed    int64       `json:"failed"`
	Attempts  int64       `json:"attempts"`
	Hits      int64       `json:"hits"`
	Tokens    tokensShape `json:"tokens"`
	// HitRate is cache_read of prompt, to six places, prompts left out whose vendor does
	// not say what it read (read_unknown); null without a prompt.
	HitRate *amount `json:"token_hit_rate"`
	Cost    *amount `json:"cost"`
	Saving  *amount `json:"net_cache_saving"`
	// EffectiveInput is what a million prompt tokens cost, all classes together; null
	// where none is priced.
	EffectiveInput *amount       `json:"effective_input"`
	Charged        *chargedShape `json:"vendor_charged"` // null where no vendor says what it charged
	Coverage       coverageShape `json:"coverage"`
}

// chargedShape is what vendors themselves say they charged, beside our cost of the
// same attempts.
type chargedShape struct {
	Attempts int64  `json:"attempts"`
	Charged  amount `json:"charged"`
	Cost     amount `json:"cost"`
	Over     amount `json:"charged_over_cost"`
}

// coverageShape is of how many attempts the sums know what.
type coverageShape struct {
	Billed       int64 `json:"billed"`
	UsageKnown   int64 `json:"usage_known"`
	CostKnown    int64 `json:"cost_known"`
	SavingKnown  int64 `json:"net_cache_saving_known"`
	NoCachePrice int64 `json:"no_cache_price"`
	ReadUnknown  int64 `json:"read_unknown"` // attempts that do not say what was read from the cache; no hit rate counts them
}

func sumsOf(s engine.Sums) sumsShape {
	shape := sumsShape{
		Turns: s.Turns, Unsettled: s.Unsettled, Failed: s.Failed, Attempts: s.Attempts, Hits: s.Hits,
		Tokens:   tokensOf(s.Usage),
		Cost:     moneyOf(s.Cost, s.CostKnown > 0 || s.Billed == 0),
		Saving:   moneyOf(s.Saving, s.SavingKnown > 0 || s.Billed == 0),
		Coverage: coverageShape{s.Billed, s.UsageKnown, s.CostKnown, s.SavingKnown, s.NoCachePrice, s.ReadUnknown},
	}
	if s.PricedPrompt > 0 {
		rate := s.PromptCost.Shift(6).DivRound(decimal.NewFromInt(s.PricedPrompt), 6)
		shape.EffectiveInput = moneyOf(rate, true)
	}
	if s.ChargedKnown > 0 {
		shape.Charged = &chargedShape{s.ChargedKnown, amountOf(s.Charged), amountOf(s.ChargedCost), amountOf(s.Charged.Sub(s.ChargedCost))}
	}
	if prompt := s.HitPrompt(); prompt > 0 {
		shape.HitRate = moneyOf(decimal.NewFromInt(s.Usage.CacheRead).DivRound(decimal.NewFromInt(prompt), 6), true)
	}
	return shape
}

// moneyOf is an amount, null if it is not known.
func moneyOf(d decimal.Decimal, known bool) *amount {
	if !known {
		return nil
	}
	a := amountOf(d)
	return &a
}

// text is null for a text that is empty.
func text[T ~string](t T) *string {
	if t == "" {
		return nil
	}
	s := string(t)
	return &s
}

// instant is null for a time that is zero.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// milliseconds is a length of time in milliseconds.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func groupOf(g engine.Group) string {
	if g == engine.GroupOperator {
		return "operator"
	}
	return string(g)
}

// sessionShape names the session of a turn or a pin.
type sessionShape struct {
	Class  engine.Class `json:"class"`
	ID     string       `json:"id"`
	Source string       `json:"source"`
	Parent *string      `json:"parent"`
	Href   string       `json:"href"`
}

// sessionOf is null without a session.
func sessionOf(tenant string, class engine.Class, id, parent string) *sessionShape {
	if id == "" {
		return nil
	}
	s := engine.Session{Class: class, ID: id}
	return &sessionShape{class, id, s.Source(), text(parent), sessionHref(tenant, class, id)}
}

// sessionHref is where one session is.
func sessionHref(tenant string, class engine.Class, id string) string {
	return "/api/v1/sessions/" + url.PathEscape(string(class)) + "?" + url.Values{"id": {id}, "tenant": {tenant}}.Encode()
}

// cardShape is the rates of a bill, per million tokens. Where a prompt was billed
// piece by piece they are the means over it, and the pieces are in parts.
type cardShape struct {
	Input        pricing.Rate `json:"input"`
	Output       pricing.Rate `json:"output"`
	CacheRead    pricing.Rate `json:"cache_read"`
	CacheWrite5m pricing.Rate `json:"cache_write_5m"`
	CacheWrite1h pricing.Rate `json:"cache_write_1h"`
	Request      *amount      `json:"request"` // the fee of one request; null where there is none
	Parts        []partShape  `json:"parts,omitempty"`
}

// partShape is a piece of a prompt with its own rates.
type partShape struct {
	Tokens       int64        `json:"tokens"`
	Input        pricing.Rate `json:"input"`
	CacheRead    pricing.Rate `json:"cache_read"`
	CacheWrite5m pricing.Rate `json:"cache_write_5m"`
	CacheWrite1h pricing.Rate `json:"cache_write_1h"`
}

func cardOf(c *pricing.Card) *cardShape {
	s := &cardShape{Input: c.Input, Output: c.Output, CacheRead: c.CacheRead, CacheWrite5m: c.CacheWrite5m, CacheWrite1h: c.CacheWrite1h}
	if c.Request.Known() {
		s.Request = moneyOf(c.Request.Of(1), true)
	}
	for _, p := range c.Parts {
		s.Parts = append(s.Parts, partShape{p.Tokens, p.Card.Input, p.Card.CacheRead, p.Card.CacheWrite5m, p.Card.CacheWrite1h})
	}
	return s
}

// costShape is a cost by class.
type costShape struct {
	Total        amount `json:"total"`
	Uncached     amount `json:"uncached"`
	CacheRead    amount `json:"cache_read"`
	CacheWrite5m amount `json:"cache_write_5m"`
	CacheWrite1h amount `json:"cache_write_1h"`
	Output       amount `json:"output"`
	Request      amount `json:"request"`
	NoCachePrice bool   `json:"no_cache_price"`
}

// costOf is null for a cost that is not known.
func costOf(c pricing.Cost) *costShape {
	if !c.Known {
		return nil
	}
	return &costShape{
		amountOf(c.Total), amountOf(c.Input), amountOf(c.CacheRead), amountOf(c.CacheWrite5m), amountOf(c.CacheWrite1h),
		amountOf(c.Output), amountOf(c.Request), c.NoCachePrice,
	}
}

// gateShape is what a gate compared.
type gateShape struct {
	Name   string       `json:"name"`
	Pays   bool         `json:"pays"`
	Reason *string      `json:"reason"`
	Own    ownShape     `json:"own"`
	Rivals []rivalShape `json:"rivals"`
}

type ownShape struct {
	CacheRead pricing.Rate `json:"cache_read"`
	Input     pricing.Rate `json:"input"`
}

type rivalShape struct {
	Vendor string       `json:"vendor"`
	Input  pricing.Rate `json:"input"`
}

// gateOf is null where no gate was asked.
func gateOf(b *engine.Booked) *gateShape {
	if b.Gate == "" {
		return nil
	}
	g := &gateShape{
		Name: string(b.Gate), Pays: b.Verdict.Pays, Reason: text(b.Verdict.Reason),
		Own: ownShape{b.Verdict.CacheRead, b.Verdict.Input}, Rivals: make([]rivalShape, 0, len(b.Verdict.Rivals)),
	}
	for _, r := range b.Verdict.Rivals {
		g.Rivals = append(g.Rivals, rivalShape{r.Vendor, r.Input})
	}
	return g
}
