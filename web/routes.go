package web

import (
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/sim"
)

// routesPage is what turns have shown of every route, beside what the catalog claims.
type routesPage struct {
	frame
	Ranges []link
	Chips  []chip
	Empty  *empty
	Rows   []factsRow
}

// factsRow is one route.
type factsRow struct {
	Vendor, Model, Color string
	URL                  string
	Turns                string
	Hit                  share
	Retention            share
	Blended              string // input price at that hit rate
	Effective            string
	PayBack              string
	Kind                 string
	Claim                string
	Seen                 string
	Verdict              string
	Contradicts          bool
	Ages                 []ageRow
}

// ageRow is how prefixes of one stretch of age were found.
type ageRow struct {
	Age   string
	Found share
}

// routesPage shows routes. Sessions and classes are no part of what is learned.
func (c *call) routesPage() (view, error) {
	q := c.ask.query(c.now)
	q.Session, q.Class, q.Outcome = "", "", ""
	accounts, err := c.pages.options.Books.Accounts(c.ctx, q, engine.Day)
	if err != nil {
		return view{}, err
	}
	page := routesPage{frame: c.frame("Routes", "/ui/routes"), Ranges: c.ask.ranges()}
	for _, k := range c.ask.chips() {
		if k.Name == "tenant" || k.Name == "model" || k.Name == "vendor" {
			page.Chips = append(page.Chips, k)
		}
	}
	for i := range accounts.Routes {
		r := &accounts.Routes[i]
		var account sim.Account
		if r.Vendor == "" || account.UnmarshalBinary(r.Account) != nil {
			continue
		}
		page.Rows = append(page.Rows, c.factsRow(r.Model, r.Vendor, &account))
	}
	if len(page.Rows) == 0 {
		page.Empty, err = c.nothing("/ui/routes")
	}
	return view{name: "routes", data: page}, err
}

func (c *call) factsRow(model, vendor string, account *sim.Account) factsRow {
	t, l := &account.Tally, &account.Learned
	row := factsRow{
		Vendor: plain(vendor), Model: named(model, none), Color: c.color(vendor), URL: c.ask.only("/ui/turns", "model", model, "vendor", vendor),
		Turns: count(t.Turns), Hit: shareOf(l.HitRate()), Retention: shareOf(t.Retention()), Blended: unknown, Effective: unknown,
		PayBack: none, Claim: "not in the catalog", Seen: none, Verdict: none,
	}
	if t.PricedTokens > 0 {
		row.Effective = c.perMillionOf(t.PromptCost, t.PricedTokens)
	}
	switch t.PayBack() {
	case sim.Paying:
		row.PayBack, row.Kind = "✓ paying", "good"
	case sim.Losing:
		row.PayBack, row.Kind = "✗ losing", "bad"
	case sim.Even:
		row.PayBack = "break-even"
	}
	var claim time.Duration
	route, listed := c.route(model, vendor)
	if listed {
		claim = route.Cache.TTL
		row.Claim = took(claim)
		if claim == 0 {
			row.Claim = none
		}
		if sheet, ok := route.Price.Sheet(c.now); ok {
			if blended := sim.Blended(sheet.Card, l.HitRate()); blended.Known() {
				row.Blended = c.money.fixed(blended.Decimal(), 4) + "/M"
			}
		}
	}
	life := l.Lifetime(claim)
	row.Seen = seenText(life)
	for i, trials := range life.Stretches {
		if trials.N == 0 {
			continue
		}
		age := "after more than " + took(sim.Ages[len(sim.Ages)-1])
		if i < len(sim.Ages) {
			age = "after up to " + took(sim.Ages[i])
		}
		row.Ages = append(row.Ages, ageRow{age, shareOf(sim.Share{Of: trials.Found, All: trials.N})})
	}
	switch {
	case len(row.Ages) == 0 || !listed:
	case life.Contradicts():
		row.Verdict, row.Contradicts = "✗ contradicts the claim", true
	default:
		row.Verdict = "✓ fits the claim"
	}
	return row
}

// seenText is how long a cache was seen to live.
func seenText(l sim.Life) string {
	switch {
	case l.Least == 0 && l.Most == 0:
		return none
	case l.Most == 0:
		return "at least " + took(l.Least)
	case l.Least == 0:
		return "below " + took(l.Most)
	}
	return took(l.Least) + " to " + took(l.Most)
}

// shareOf is a share as text.
func shareOf(s sim.Share) share {
	if s.All <= 0 {
		return share{Rate: none}
	}
	return share{Rate: percent(s.Of, s.All), Counts: tokens(s.Of) + " / " + tokens(s.All)}
}

// route is a route of the catalog in force.
func (c *call) route(model, vendor string) (*catalog.Route, bool) {
	if c.catalog == nil {
		return nil, false
	}
	target, ok := c.catalog.Resolve(model)
	if !ok || target.Policy != nil {
		return nil, false
	}
	for _, r := range target.Models[0].Routes {
		if r.Vendor.Name == vendor {
			return r, true
		}
	}
	return nil, false
}
