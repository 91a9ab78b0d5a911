package web_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/pricing"
)

// audited are books with an account of their own.
type audited struct {
	shelf
	account sim.Tally
}

func (a audited) Accounts(_ context.Context, q engine.Query, _ time.Duration) (engine.Accounts, error) {
	total, err := sim.Account{Tally: a.account}.MarshalBinary()
	return engine.Accounts{Query: q, Total: total}, err
}

// said is the card of a page.
func said(page, key string) string {
	_, rest, _ := strings.Cut(page, `<div class="card" data-key="`+key+`">`)
	text, _, _ := strings.Cut(rest, "</div>")
	return text
}

func TestTheAffinitySavingSaysWhatItRestsOn(t *testing.T) {
	dollars := decimal.NewFromInt
	for _, c := range []struct {
		name       string
		tally      sim.Tally
		want, lack []string
	}{
		{"a gain", sim.Tally{Turns: 4, Covered: 4, Cost: dollars(2), CostWithout: dollars(5), Saving: dollars(3), Real: dollars(2), Deviation: decimal.New(1, -1)},
			[]string{`value good`, "estimate", "$3.00", "would have cost $5.00, and cost $2.00", "model error 5.0", "against the same sessions without affinity"},
			[]string{"low confidence", "at least", "not covered"}},
		{"a loss, with a bad model", sim.Tally{Turns: 4, Covered: 3, Uncovered: 1, Cost: dollars(5), CostWithout: dollars(4), Saving: dollars(-1), Real: dollars(2), Deviation: dollars(1)},
			[]string{`value bad`, "loss, estimate", "−$1.00", "at least $4.00, and cost at least $5.00", "1 of 4 turns not covered", "model error 50.0", "low confidence"}, nil},
		{"none, with a bad model", sim.Tally{Turns: 4, Same: 4, Covered: 4, Cost: dollars(5), CostWithout: dollars(5), Real: dollars(2), Deviation: dollars(1)},
			[]string{"estimate", "$0"}, []string{"low confidence", "model error", "good", "bad"}},
		{"nothing known", sim.Tally{Turns: 4, Uncovered: 4}, []string{"unknown"}, []string{"$0"}},
		{"nobody looked", sim.Tally{}, []string{"not known", "no settled turn has been judged"}, []string{"$0"}},
	} {
		books, prices := seeded(t)
		card := said(get(t, options(audited{books, c.tally}, prices), "/ui/").Body.String(), "affinity")
		for _, want := range c.want {
			if !strings.Contains(card, want) {
				t.Errorf("%s: the card lacks %q: %s", c.name, want, card)
			}
		}
		for _, lack := range c.lack {
			if strings.Contains(card, lack) {
				t.Errorf("%s: the card says %q: %s", c.name, lack, card)
			}
		}
	}
}

func TestAvoidableLossLeadsToTheMisses(t *testing.T) {
	books, prices := seeded(t)
	tally := sim.Tally{Turns: 9, Reported: 9, Eligible: 8}
	tally.Missed[sim.PinLost] = sim.Misses{Turns: 3, Tokens: 50_000, Loss: decimal.New(25, -2), Unknown: 1}
	tally.Missed[sim.PinExpired] = sim.Misses{Turns: 2, Tokens: 9_000, Loss: decimal.NewFromInt(7)}
	o := options(audited{books, tally}, prices)
	card := said(get(t, o, "/ui/?vendor=bedrock").Body.String(), "loss")
	for _, want := range []string{"at least", "$0.2500", "of 1 avoidable miss it is not known", "3 / 8", `<a href="/ui/misses?vendor=bedrock">5 misses</a>`} {
		if !strings.Contains(card, want) {
			t.Errorf("the card lacks %q: %s", want, card)
		}
	}
	page := get(t, o, "/ui/misses").Body.String()
	for _, want := range []string{"pin_lost", "the gateway&#39;s doing", "≥", "$7.0000", "the client&#39;s doing"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestATurnShowsWhatWasBilledBesideIt(t *testing.T) {
	books, prices := seeded(t)
	page := get(t, options(books, prices), golden["beside"]).Body.String()
	for _, want := range []string{"advisor by gpt-5.6: uncached input", "assumed", "$0.031", "more than the cost", "cache_read_input_tokens", "900 × $1.25/M &#43; 40 × $10.00/M = <strong>$0.029"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// Bug case 59, on the page: the evening belongs to the day of its zone.
func TestTheDaysOfAZoneAreThoseOfItsClocks(t *testing.T) {
	s := &story{catalog: prices(t)}
	for _, turn := range []struct {
		at      time.Time
		dollars int64
	}{
		{time.Date(2026, 11, 25, 7, 59, 59, 0, time.UTC), 1}, {time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC), 2},
		{time.Date(2026, 11, 26, 5, 30, 0, 0, time.UTC), 4}, {time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC), 8},
	} {
		b := s.tell(scene{session: "s", class: engine.ClassExplicit, ago: now.Sub(turn.at), model: sonnet, vendor: "anthropic", outcome: engine.NoPin})
		b.Attempts[0].Card.Output = pricing.PerMillion(decimal.NewFromInt(1))
		b.Attempts[0].Usage.Output = turn.dollars * 1_000_000
		b.Attempts[0].Price()
	}
	o := options(s.turns, s.catalog)
	costs := func(address string) (costs []string) {
		_, table, _ := strings.Cut(get(t, o, address).Body.String(), `<table id="series-table"`)
		table, _, _ = strings.Cut(table, "</table>")
		for row := range strings.SplitSeq(table, "<tr data-key") {
			_, cost, found := strings.Cut(row, `<td class="n"><span class="">`)
			if cost, _, _ = strings.Cut(cost, "<"); found {
				costs = append(costs, cost)
			}
		}
		return costs
	}
	if got := strings.Join(costs("/ui/?range=30d"), " "); got != "$3.00 $12.00" {
		t.Errorf("in UTC: %s", got)
	}
	if got := strings.Join(costs("/ui/?range=30d&zone=America/Los_Angeles"), " "); got != "$1.00 $6.00 $8.00" {
		t.Errorf("in Los Angeles: %s", got)
	}
	page := get(t, o, "/ui/?range=30d&zone=America/Los_Angeles").Body.String()
	for _, want := range []string{"all times are those of America/Los_Angeles", `href="/ui/sessions?range=30d&amp;zone=America%2FLos_Angeles"`, `href="/ui/?range=7d&amp;zone=America%2FLos_Angeles"`, "Nov 24 00:00:00", `&amp;zone=America%2FLos_Angeles"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if answer := get(t, o, "/ui/?zone=Mars"); answer.Code != 400 || !strings.Contains(answer.Body.String(), "No such time zone") {
		t.Errorf("a zone that is none answers %d", answer.Code)
	}
}
