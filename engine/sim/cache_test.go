package sim

import (
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// warm is a cache that was used at the start by a prompt of so many tokens.
func warm(r Rules, tokens int64) Cache {
	return Cache{}.After(&r, &Prompt{At: start, Tokens: tokens, Marks: marked})
}

func with(r Rules, change func(*Rules)) Rules {
	change(&r)
	return r
}

func TestTheBillOfOneTurn(t *testing.T) {
	exact := with(byItself, func(r *Rules) { r.Block, r.Answer, r.MinPrefix = 1, false, 1024 })
	tokens := func(c int64) Cache { return Cache{held: c, used: start.UnixMilli(), life: time.Hour.Milliseconds()} }
	for _, c := range []struct {
		name   string
		rules  Rules
		cache  Cache
		after  int64 // seconds since the last use
		prompt int64
		output int64
		marks  Marks
		card   pricing.Card
		want   string // millionths
	}{
		{"whole blocks, the answer held too", byItself, Cache{}.After(&byItself, &Prompt{At: start, Tokens: 4000, Answer: 150}), 30, 5000, 200, Marks{}, card("2.5", "15", "0.25", "", ""), "6284"},
		{"whole blocks, the answer not held", with(byItself, func(r *Rules) { r.Answer = false }), warm(byItself, 4000), 30, 5000, 200, Marks{}, card("2.5", "15", "0.25", "", ""), "6572"},
		{"below the minimum nothing is read", byItself, tokens(900), 30, 1000, 100, Marks{}, card("2.5", "15", "0.25", "", ""), "4000"},
		{"no cache", never, tokens(900), 30, 1000, 100, Marks{}, card("2.4", "15", "", "", ""), "3900"},
		{"most of the prompt is new", byItself, tokens(1100), 30, 50000, 500, Marks{}, card("3", "15", "0.3", "", ""), "154735.2"},
		{"the answer is what costs", byItself, tokens(1900), 30, 2000, 3000, Marks{}, card("1", "20", "0.2", "", ""), "60566.4"},
		{"input dear, answer cheap", byItself, tokens(9990), 30, 10000, 2000, Marks{}, card("1.5", "5", "0.6", "", ""), "16014.4"},
		{"cold, writes paid", byMarker, Cache{}, 0, 20000, 100, marked, card("1", "5", "0.1", "1.25", ""), "25500"},
		{"warm, what is new is written", byMarker, warm(byMarker, 20000), 30, 20500, 100, marked, card("1", "5", "0.1", "1.25", ""), "3125"},
		{"switching back", byItself, tokens(30208), 30, 31000, 200, Marks{}, card("0.6", "2", "0.06", "", ""), "2687.68"},
		{"staying away", byItself, tokens(30600), 30, 31000, 200, Marks{}, card("0.6", "2", "0.3", "", ""), "9822.4"},
		{"no marker: no read and no write", byMarker, warm(byMarker, 20000), 30, 20000, 100, Marks{}, card("3", "15", "0.3", "3.75", ""), "61500"},
		{"the dearer tier of a long prompt", byMarker, warm(byMarker, 195000), 30, 210000, 1000, marked, card("6", "22.5", "0.6", "7.5", ""), "252000"},
		{"at the threshold", byMarker, warm(byMarker, 195000), 30, 200000, 1000, marked, card("3", "15", "0.3", "3.75", ""), "92250"},
		{"one token above it", byMarker, warm(byMarker, 195000), 30, 200001, 1000, marked, card("6", "22.5", "0.6", "7.5", ""), "177007.5"},
		{"in time", with(byMarker, func(r *Rules) { r.TTL = 600 * time.Second }), warm(with(byMarker, func(r *Rules) { r.TTL = 600 * time.Second }), 9500), 400, 10000, 0, marked, card("3", "", "0.3", "3.75", ""), "4725"},
		{"too late", byMarker, warm(byMarker, 9500), 400, 10000, 0, marked, card("3", "", "0.3", "3.75", ""), "37500"},
		{"cut at a divergence", with(byItself, func(r *Rules) { r.MinPrefix = 128 }), tokens(287429).Cut(12672).Cut(288712), 30, 288802, 0, Marks{}, card("0.28", "", "0.028", "", ""), "77671.216"},
		{"the whole prompt again", byItself, tokens(9990), 30, 10000, 0, Marks{}, card("1", "4", "0.1", "", ""), "1014.4"},
		{"equal prompts, deep discount", byItself, tokens(40000), 30, 40000, 0, Marks{}, card("1.2", "0", "0.06", "", ""), "2472.96"},
		{"by the token", exact, tokens(10000), 30, 11000, 0, Marks{}, card("0.6", "", "0.06", "", ""), "1200"},
	} {
		p := Prompt{At: after(c.after), Tokens: c.prompt, Marks: c.marks}
		u := c.cache.Predict(&c.rules, &p)
		if u.Prompt() != c.prompt {
			t.Errorf("%s: %+v is not %d tokens", c.name, u, c.prompt)
		}
		u.Output = c.output
		if got := micro(t, c.card, u); got != c.want {
			t.Errorf("%s: %s, want %s (%+v)", c.name, got, c.want, u)
		}
	}
}

func TestALifetimeCountsFromTheLastUse(t *testing.T) {
	c := Cache{}
	for _, turn := range []struct {
		at   int64
		read bool
	}{{0, false}, {299, true}, {598, true}, {898, false}, {1197, true}} {
		p := Prompt{At: after(turn.at), Tokens: 5000, Marks: marked}
		if got := c.Predict(&byMarker, &p).CacheRead > 0; got != turn.read {
			t.Errorf("at %d s: read %t", turn.at, got)
		}
		c = c.After(&byMarker, &p)
	}
}

func TestPartsMarkedForAnHourOutliveTheRest(t *testing.T) {
	c := Cache{}
	put := func(at int64, tokens int64, m Marks) pricing.Usage {
		p := Prompt{At: after(at), Tokens: tokens, Marks: m}
		u := c.Predict(&byMarker, &p)
		c = c.After(&byMarker, &p)
		return u
	}
	for _, step := range []struct {
		at, tokens int64
		marks      Marks
		want       pricing.Usage
	}{
		{0, 9000, Marks{Any: true, End: 8500, Hour: 6000}, pricing.Usage{Input: 500, CacheWrite1h: 6000, CacheWrite5m: 2500}},
		{60, 9000, Marks{Any: true, End: 8500, Hour: 6000}, pricing.Usage{Input: 500, CacheRead: 8500}},
		{1260, 9500, Marks{Any: true, End: 9000, Hour: 6000}, pricing.Usage{Input: 500, CacheRead: 6000, CacheWrite5m: 3000}},
		{2460, 9500, marked, pricing.Usage{CacheRead: 6000, CacheWrite5m: 3500}}, // renewed, though nothing asks for an hour
		{6060, 9500, Marks{Any: true, Hour: Whole}, pricing.Usage{CacheWrite1h: 9500}},
		{9659, 9600, Marks{Any: true, Hour: Whole}, pricing.Usage{CacheRead: 9500, CacheWrite1h: 100}},
	} {
		if got := put(step.at, step.tokens, step.marks); got != step.want {
			t.Errorf("at %d s: %+v, want %+v", step.at, got, step.want)
		}
	}
}

func TestThreeEqualCallsAreWrittenOnceAndReadTwice(t *testing.T) {
	sonnet, c, sum := card("3", "15", "0.30", "3.75", "6"), Cache{}, dec("0")
	for i, want := range []string{"0.016608", "0.001428", "0.001428"} {
		p := Prompt{At: after(int64(i)), Tokens: 4401, Marks: Marks{Any: true, End: 4400}}
		u := c.Predict(&byMarker, &p)
		c = c.After(&byMarker, &p)
		u.Output = 7
		cost := sonnet.Cost(u).Total
		if cost.String() != want {
			t.Errorf("call %d: %s, want %s", i+1, cost, want)
		}
		sum = sum.Add(cost)
	}
	if sum.String() != "0.019464" {
		t.Errorf("together %s", sum)
	}
}

func TestAPauseAndAnOutageCostWhatTheyShould(t *testing.T) {
	rules := func(ttl int64) Rules {
		return Rules{Family: catalog.Implicit, TTL: time.Duration(ttl) * time.Second, Block: 1}
	}
	type route struct {
		rules Rules
		card  pricing.Card
	}
	pause := map[byte]route{'A': {rules(3600), card("1", "", "0.2", "", "")}, 'B': {rules(300), card("0.9", "", "0.1", "", "")}}
	outage := map[byte]route{'A': {rules(600), card("0.6", "", "0.06", "", "")}, 'B': {rules(600), card("0.6", "", "0.3", "", "")}}
	for _, c := range []struct {
		routes map[byte]route
		gaps   []int64
		path   string
		want   string
	}{
		{pause, []int64{0, 60, 60, 1000}, "AAAA", "19600"}, {pause, []int64{0, 60, 60, 1000}, "BBBB", "24600"},
		{pause, []int64{0, 60, 60, 1000}, "BBBA", "25900"}, {pause, []int64{0, 60, 60, 1000}, "ABBA", "26900"},
		{pause, []int64{0, 60, 60, 60}, "BBBB", "15000"}, {pause, []int64{0, 60, 60, 60}, "ABBB", "24000"},
		{outage, []int64{0, 30, 30, 30}, "ABAA", "15720"}, {outage, []int64{0, 30, 30, 30}, "ABBB", "20700"},
		{outage, []int64{0, 30, 30, 30}, "BBBB", "17700"}, {outage, []int64{0, 30, 30, 30}, "BBAA", "18120"},
		{outage, []int64{0, 30, 30, 30}, "ABAB", "18900"}, {outage, []int64{0, 30, 30, 30}, "ABBA", "18900"},
	} {
		held := map[byte]Cache{}
		at, sum := int64(0), dec("0")
		for i := range c.path {
			at += c.gaps[i]
			r, p := c.routes[c.path[i]], Prompt{At: after(at), Tokens: 10000 + 1000*int64(i)}
			cache := held[c.path[i]]
			sum = sum.Add(r.card.Cost(cache.Predict(&r.rules, &p)).Total)
			held[c.path[i]] = cache.After(&r.rules, &p)
		}
		if got := sum.Shift(6).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
}

func TestBlockOf(t *testing.T) {
	for _, c := range []struct {
		vendor string
		family catalog.Family
		want   int64
	}{
		{"openai", catalog.Implicit, 128}, {"azure-eu", catalog.Implicit, 128}, {"deepseek", catalog.Implicit, 64},
		{"openaix", catalog.Implicit, 1}, {"anthropic", catalog.Explicit, 1}, {"azure", catalog.Explicit, 1},
	} {
		if got := BlockOf(c.vendor, c.family); got != c.want {
			t.Errorf("%s %s: %d, want %d", c.vendor, c.family, got, c.want)
		}
	}
}
