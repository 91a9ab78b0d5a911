package main

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// supposedHits are the hit rates that --hit-rate asks to suppose, by vendor, as if
// enough turns had shown them.
type supposedHits map[string]engine.HitRate

// HitRate is the one supposed of the vendor, whatever the model.
func (s supposedHits) HitRate(_, vendor string) engine.HitRate { return s[vendor] }

// hits reads what is to be supposed.
func (q question) hits(cat *catalog.Catalog) (supposedHits, error) {
	all := supposedHits{}
	for _, text := range q.Hits {
		vendor, share, _ := strings.Cut(text, "=")
		if _, ok := cat.Vendor(vendor); !ok {
			return nil, notFound(fmt.Errorf("--hit-rate %s: the catalog has no vendor %q", text, vendor))
		}
		rate, err := pricing.ParseRate(share, pricing.PerMillionTokens)
		millionths := rate.Decimal().Shift(6)
		if err != nil || millionths.GreaterThan(decimal.New(1, 6)) || !millionths.IsInteger() {
			return nil, usage(fmt.Errorf("--hit-rate %s: write vendor=share, a share from 0 to 1 in at most six decimals, such as %s=0.94", text, vendor))
		}
		all[vendor] = engine.HitRate{Turns: engine.LeastTurns, Read: millionths.IntPart(), Prompt: 1_000_000}
	}
	return all, nil
}

// explainedBlend is what a prompt token is expected to cost at a route, and why.
type explainedBlend struct {
	Vendor  string  `json:"vendor"`
	Blended *string `json:"blended_input"`      // null: the input price is not known, so the route goes last
	HitRate *string `json:"hit_rate,omitempty"` // absent: too few turns have shown one, or the read price is not known; the input price counts
}

func explainBlend(b engine.Blended) explainedBlend {
	e := explainedBlend{Vendor: b.Vendor, Blended: price(b.Blend.Rate())}
	if h := b.Blend.Hits; h.Prompt > 0 {
		rate := decimal.NewFromInt(h.Read).DivRound(decimal.NewFromInt(h.Prompt), 6).String()
		e.HitRate = &rate
	}
	return e
}

// words are the blend for people.
func (e explainedBlend) words() string {
	switch {
	case e.Blended == nil:
		return "unknown, so it goes last"
	case e.HitRate == nil:
		return *e.Blended + ", its input price: no hit rate is known that counts"
	}
	return *e.Blended + " at a hit rate of " + *e.HitRate
}
