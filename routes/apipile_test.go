package routes_test

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
)

// plainSums is what the test reads of sums, and adds up by itself.
type plainSums struct {
	Turns, Unsettled, Failed, Attempts, Hits int64
	Tokens                                   plainTokens
	Rate                                     *string `json:"token_hit_rate"`
	Cost                                     *string
	Saving                                   *string `json:"net_cache_saving"`
	Coverage                                 struct {
		Billed       int64
		UsageKnown   int64 `json:"usage_known"`
		CostKnown    int64 `json:"cost_known"`
		SavingKnown  int64 `json:"net_cache_saving_known"`
		NoCachePrice int64 `json:"no_cache_price"`
		ReadUnknown  int64 `json:"read_unknown"`
	}
}

type plainTokens struct {
	Prompt, Uncached int64
	CacheRead        int64 `json:"cache_read"`
	Write5m          int64 `json:"cache_write_5m"`
	Write1h          int64 `json:"cache_write_1h"`
	Output           int64
	Reasoning        int64
}

// plainTurn is what the test reads of a turn.
type plainTurn struct {
	ID, State, Tenant      string
	Started                time.Time
	Model, Vendor, Outcome *string
	Attempts               []plainAttempt
}

type plainAttempt struct {
	Model, Vendor, Stage string
	Billed               bool
	Quality              string `json:"usage_quality"`
	Tokens               *plainTokens
	Cost                 *struct {
		Total        string
		NoCachePrice bool `json:"no_cache_price"`
	}
	Saving *string `json:"net_cache_saving"`
	Unread bool    `json:"read_unknown"`
	Sides  []struct{ Tokens plainTokens }
}

// pile is a sum by the test's own reading of the turns.
type pile struct {
	sums         plainSums
	cost, saving decimal.Decimal
	unread       int64 // prompt tokens of attempts that do not say what they read
}

// add counts a turn and its attempts.
func (p *pile) add(t *plainTurn) {
	p.end(t)
	for i := range t.Attempts {
		p.try(&t.Attempts[i])
	}
}

// try counts an attempt.
func (p *pile) try(a *plainAttempt) {
	p.sums.Attempts++
	if !a.Billed {
		return
	}
	c := &p.sums.Coverage
	c.Billed++
	if a.Quality == "authoritative" || a.Quality == "derived" {
		c.UsageKnown++
		all := []plainTokens{*a.Tokens}
		for _, side := range a.Sides {
			all = append(all, side.Tokens)
		}
		sum, read := &p.sums.Tokens, int64(0)
		for _, u := range all {
			sum.Prompt += u.Uncached + u.CacheRead + u.Write5m + u.Write1h
			sum.Uncached += u.Uncached
			sum.CacheRead += u.CacheRead
			sum.Write5m += u.Write5m
			sum.Write1h += u.Write1h
			sum.Output += u.Output
			sum.Reasoning += u.Reasoning
			read += u.CacheRead
		}
		if read > 0 {
			p.sums.Hits++
		}
		if a.Unread {
			c.ReadUnknown++
			p.unread += all[0].Prompt
		}
	}
	if a.Cost != nil {
		c.CostKnown++
		p.cost = p.cost.Add(decimal.RequireFromString(a.Cost.Total))
		if a.Cost.NoCachePrice {
			c.NoCachePrice++
		}
	}
	if a.Saving != nil {
		c.SavingKnown++
		p.saving = p.saving.Add(decimal.RequireFromString(*a.Saving))
	}
}

// end counts a turn without its attempts.
func (p *pile) end(t *plainTurn) {
	p.sums.Turns++
	served := len(t.Attempts) > 0 && t.Attempts[len(t.Attempts)-1].Stage == "served"
	switch {
	case t.State == "unsettled":
		p.sums.Unsettled++
	case !served:
		p.sums.Failed++
	}
}

// agrees compares what the API said with the pile. No cache price of an attempt
// whose cost is unknown is not told by its turn, so that count is a lower bound.
func (p *pile) agrees(t testing.TB, what string, said plainSums) {
	t.Helper()
	money := func(name string, got *string, known int64, want decimal.Decimal) {
		switch {
		case got == nil && (known > 0 || said.Coverage.Billed == 0):
			t.Errorf("%s: %s is null, want %s", what, name, want)
		case got != nil && !decimal.RequireFromString(*got).Equal(want):
			t.Errorf("%s: %s is %s, want %s", what, name, *got, want)
		case got != nil && *got != decimal.RequireFromString(*got).String():
			t.Errorf("%s: %s is %s, which is not canonical", what, name, *got)
		}
	}
	money("cost", said.Cost, p.sums.Coverage.CostKnown, p.cost)
	money("net_cache_saving", said.Saving, p.sums.Coverage.SavingKnown, p.saving)
	telling := p.sums.Tokens.Prompt - p.unread
	if (said.Rate == nil) != (telling == 0) {
		t.Errorf("%s: token_hit_rate is %v of %d tokens", what, said.Rate, telling)
	} else if said.Rate != nil {
		rate := decimal.NewFromInt(p.sums.Tokens.CacheRead).DivRound(decimal.NewFromInt(telling), 6)
		if *said.Rate != rate.String() {
			t.Errorf("%s: token_hit_rate is %s, want %s", what, *said.Rate, rate)
		}
	}
	if said.Coverage.NoCachePrice < p.sums.Coverage.NoCachePrice {
		t.Errorf("%s: no_cache_price is %d, want at least %d", what, said.Coverage.NoCachePrice, p.sums.Coverage.NoCachePrice)
	}
	said.Cost, said.Saving, said.Rate = nil, nil, nil
	said.Coverage.NoCachePrice = p.sums.Coverage.NoCachePrice
	if said != p.sums {
		t.Errorf("%s: the overview says\n%+v\nthe turns come to\n%+v", what, said, p.sums)
	}
}

func into[K comparable](piles map[K]*pile, key K) *pile {
	if piles[key] == nil {
		piles[key] = &pile{}
	}
	return piles[key]
}
