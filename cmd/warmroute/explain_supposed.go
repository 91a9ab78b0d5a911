package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// supposed is what is asked to be supposed of vendors, whatever the model, as if
// enough turns had shown it.
type supposed struct {
	hits   map[string]engine.HitRate
	speeds map[string]engine.Speed
}

// HitRate is the one supposed of the vendor.
func (s supposed) HitRate(_, vendor string) engine.HitRate { return s.hits[vendor] }

// Speed is the one supposed of the vendor.
func (s supposed) Speed(_, vendor string) engine.Speed { return s.speeds[vendor] }

// shown reads what is to be supposed.
func (q question) shown(cat *catalog.Catalog) (supposed, error) {
	all := supposed{map[string]engine.HitRate{}, map[string]engine.Speed{}}
	for _, text := range q.Hits {
		vendor, share, err := ofVendor(cat, "--hit-rate", text)
		if err != nil {
			return all, err
		}
		rate, err := pricing.ParseRate(share, pricing.PerMillionTokens)
		millionths := rate.Decimal().Shift(6)
		if err != nil || millionths.GreaterThan(decimal.New(1, 6)) || !millionths.IsInteger() {
			return all, usage(fmt.Errorf("--hit-rate %s: write vendor=share, a share from 0 to 1 in at most six decimals, such as %s=0.94", text, vendor))
		}
		all.hits[vendor] = engine.HitRate{Turns: engine.LeastTurns, Read: millionths.IntPart(), Prompt: 1_000_000}
	}
	for _, text := range q.Latencies {
		vendor, value, err := ofVendor(cat, "--latency", text)
		if err != nil {
			return all, err
		}
		first, err := time.ParseDuration(value)
		if err != nil || first <= 0 {
			return all, usage(fmt.Errorf("--latency %s: write vendor=time, the time to the first byte, such as %s=420ms", text, vendor))
		}
		s := all.speeds[vendor]
		s.Firsts, s.FirstByte = engine.LeastAnswers, first
		all.speeds[vendor] = s
	}
	for _, text := range q.Throughputs {
		vendor, value, err := ofVendor(cat, "--throughput", text)
		if err != nil {
			return all, err
		}
		rate, err := pricing.ParseRate(value, pricing.PerMillionTokens)
		thousandths := rate.Decimal().Shift(3)
		if err != nil || !thousandths.IsPositive() || !thousandths.IsInteger() {
			return all, usage(fmt.Errorf("--throughput %s: write vendor=rate, output tokens per second in at most three decimals, such as %s=85.5", text, vendor))
		}
		s := all.speeds[vendor]
		s.Rates, s.Rate = engine.LeastAnswers, thousandths.IntPart()
		all.speeds[vendor] = s
	}
	return all, nil
}

// ofVendor parts vendor=value.
func ofVendor(cat *catalog.Catalog, flag, text string) (vendor, value string, err error) {
	vendor, value, _ = strings.Cut(text, "=")
	if _, ok := cat.Vendor(vendor); !ok {
		return "", "", notFound(fmt.Errorf("%s %s: the catalog has no vendor %q", flag, text, vendor))
	}
	return vendor, value, nil
}
