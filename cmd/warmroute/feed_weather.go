package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/warmroute/warmroute/routes/vendorsim"
)

// feedMark ends the message of every fault that the feed scripts, which tells them
// from those that somebody scripts by hand.
const feedMark = " (demo feed)"

// incident is something that goes wrong at vendors.
type incident []struct {
	vendor string
	fault  vendorsim.Fault
}

// incidents are what goes wrong. Each is for one model, so that a request sent by
// hand is left alone: deepseek-v4-pro, with which the README walks through a
// failure, is in none of them.
var incidents = []incident{
	{ // Its sessions go on while it cools: skipped_health_down, then promoted elsewhere.
		{"anthropic", vendorsim.Fault{Status: 429, RetryAfter: "20", Message: "This account has reached its rate limit", ForModel: "claude-sonnet-5"}},
	},
	{ // Whoever starts now starts at deepinfra, which publishes no cache price.
		{"groq", vendorsim.Fault{Status: 503, Message: "The model is at capacity", ForModel: "openai/gpt-oss-120b"}},
		{"fireworks", vendorsim.Fault{Status: 503, Message: "No replica is ready", ForModel: "accounts/fireworks/models/gpt-oss-120b"}},
	},
	{ // Three running: down for half a minute.
		{"openai", vendorsim.Fault{Times: 3, Status: 503, Message: "The engine is overloaded", ForModel: "gpt-5.4"}},
	},
	{ // One refusal: the next vendor is warm from here on, and is promoted.
		{"novita", vendorsim.Fault{Status: 500, Message: "Internal error", ForModel: "moonshotai/kimi-k2.6"}},
	},
	{ // Whose sessions are not warm anywhere else start anew.
		{"azure", vendorsim.Fault{Status: 503, Message: "The deployment is being moved", ForModel: "gpt-5.4"}},
	},
	{ // A stream that is cut: the pin is dropped.
		{"groq", vendorsim.Fault{CutAfterEvents: vendorsim.After(3), Message: "The stream is cut", ForModel: "openai/gpt-oss-120b", ForStream: new(true)}},
	},
	{
		{"groq", vendorsim.Fault{Status: 503, Message: "The model is at capacity", ForModel: "openai/gpt-oss-120b"}},
	},
	{
		{"anthropic", vendorsim.Fault{Status: 529, Message: "Overloaded", ForModel: "claude-haiku-4-5"}},
		{"novita", vendorsim.Fault{ErrorEventFirst: true, Message: "The worker was lost", ForModel: "moonshotai/kimi-k2.6"}},
	},
}

// weather brings the incidents about: each once in the order above, and from then
// on in an order of its own.
type weather struct {
	rand  *rand.Rand
	left  []int // of the round
	begun bool
}

func newWeather(w *world) *weather { return &weather{rand: w.rand(1, 1)} }

// act lets one incident happen. An incident that its vendor has not come to yet is
// not asked for again.
func (w *weather) act(_ context.Context, f *feed) next {
	if len(w.left) == 0 {
		w.left = w.rand.Perm(len(incidents))
		if !w.begun {
			w.begun = true
			for i := range w.left {
				w.left[i] = i
			}
			return next{pause: 12 * time.Second} // until everybody has begun
		}
	}
	for _, part := range incidents[w.left[0]] {
		v := f.Vendors[part.vendor]
		if v == nil || len(v.Faults()) > 2 {
			continue
		}
		fault := part.fault
		fault.Message += feedMark
		if err := v.Queue(fault); err != nil {
			f.Log.Debug("the demo feed's weather failed", "vendor", part.vendor, "error", err.Error())
		}
	}
	w.left = w.left[1:]
	return next{pause: time.Duration(between(w.rand, [2]int{14, 24})) * time.Second}
}
