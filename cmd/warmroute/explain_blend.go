package main

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
)

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

// explainedPace is how fast a route answers, as far as it is known.
type explainedPace struct {
	Vendor    string   `json:"vendor"`
	FirstByte *float64 `json:"first_byte_ms"`            // null: too few answers have shown it, so it goes last by latency
	Rate      *float64 `json:"output_tokens_per_second"` // likewise, by throughput
}

func explainPace(p engine.Paced) explainedPace {
	e := explainedPace{Vendor: p.Vendor}
	if p.Speed.KnowsFirstByte() {
		first := float64(p.Speed.FirstByte) / float64(time.Millisecond)
		e.FirstByte = &first
	}
	if p.Speed.KnowsRate() {
		rate := float64(p.Speed.Rate) / 1000
		e.Rate = &rate
	}
	return e
}

// words are the pace for people.
func (e explainedPace) words() string {
	first, rate := "a first byte after an unknown time", "an unknown number of output tokens per second"
	if e.FirstByte != nil {
		first = fmt.Sprintf("a first byte after %g ms", *e.FirstByte)
	}
	if e.Rate != nil {
		rate = fmt.Sprintf("%g output tokens per second", *e.Rate)
	}
	return first + ", " + rate
}

// explainedWeight is a route's weight in a draw.
type explainedWeight struct {
	Vendor string `json:"vendor"`
	Weight string `json:"weight"` // 0: none, so it goes last
}
