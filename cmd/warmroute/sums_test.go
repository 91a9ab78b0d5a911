package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
)

// bookedSums is the part of a turn or an overview that is added up here.
type bookedSums struct {
	Turns, Attempts, Hits int64
	Tokens                map[string]int64
	Cost                  *decimal.Decimal
	Saving                *decimal.Decimal `json:"net_cache_saving"`
	Coverage              map[string]int64
}

func (p *process) get(t *testing.T, path string, into any) {
	t.Helper()
	response, err := http.Get(p.admin + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %s (%v)", path, response.Status, err)
	}
}

// What the overview shows is what its turns add up to, counted here anew, turn by
// turn, from the running demo.
func TestTheOverviewIsTheSumOfItsTurns(t *testing.T) {
	p := start(t, "demo", "--seed", "7")
	p.until(t, "thirty turns are booked", func(ready) bool {
		var overview struct{ Total bookedSums }
		p.get(t, "/api/v1/overview", &overview)
		return overview.Total.Turns >= 30
	})
	// The feed goes on while it is counted: a listing counts if the overview was
	// the same before and after it.
	to := time.Now().UTC().Truncate(time.Minute).Add(time.Minute)
	window := url.Values{"from": {to.Add(-time.Hour).Format(time.RFC3339)}, "to": {to.Format(time.RFC3339)}}
	var before, after struct{ Total bookedSums }
	var sum bookedSums
	p.until(t, "two overviews around a listing agree", func(ready) bool {
		before.Total, after.Total = bookedSums{}, bookedSums{}
		p.get(t, "/api/v1/overview?"+window.Encode(), &before)
		sum = bookedSums{Tokens: map[string]int64{}, Coverage: map[string]int64{}, Cost: &decimal.Decimal{}, Saving: &decimal.Decimal{}}
		for next := ""; ; {
			var page struct {
				Turns []struct{ Sums bookedSums }
				Next  *string
			}
			p.get(t, "/api/v1/turns?limit=1000&"+window.Encode()+"&after="+url.QueryEscape(next), &page)
			for _, turn := range page.Turns {
				sum.add(turn.Sums)
			}
			if page.Next == nil {
				break
			}
			next = *page.Next
		}
		p.get(t, "/api/v1/overview?"+window.Encode(), &after)
		return before.Total.text(t) == after.Total.text(t)
	})
	if got, want := sum.text(t), after.Total.text(t); got != want {
		t.Errorf("the turns add up to\n%s\nand the overview says\n%s", got, want)
	}
	if sum.Turns < 30 || sum.Cost.IsZero() || sum.Tokens["cache_read"] == 0 {
		t.Errorf("too little to prove anything: %s", sum.text(t))
	}
}

func (s *bookedSums) add(o bookedSums) {
	s.Turns, s.Attempts, s.Hits = s.Turns+o.Turns, s.Attempts+o.Attempts, s.Hits+o.Hits
	for name, n := range o.Tokens {
		s.Tokens[name] += n
	}
	for name, n := range o.Coverage {
		s.Coverage[name] += n
	}
	for _, m := range []struct{ to, from *decimal.Decimal }{{s.Cost, o.Cost}, {s.Saving, o.Saving}} {
		if m.from != nil {
			*m.to = m.to.Add(*m.from)
		}
	}
}

func (s bookedSums) text(t *testing.T) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), ",", ",\n")
}
