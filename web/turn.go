package web

import (
	"net/http"
	"strings"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// turnPage is one whole decision, step by step.
type turnPage struct {
	frame
	ID       string
	Lead     turnRow
	Asked    []fact
	Order    []orderRow
	Found    []fact
	Gate     gateView
	Attempts []attemptRow
	Bills    []bill
	Total    sumText
	Without  withoutView
}

// orderRow is one candidate of the plan before affinity.
type orderRow struct {
	Place, Model, Vendor, Color, Credential, Group, Note string
}

// gateView is what the gate compared.
type gateView struct {
	Name     string
	Asked    bool // a price was compared
	Read     string
	Vendor   string
	Rows     []gateRow
	Result   string
	Pays     bool
	Estimate string
}

type gateRow struct {
	Against, Price, Sign, Says, Kind string
}

// attemptRow is one attempt.
type attemptRow struct {
	Place, Model, Vendor, Color, Credential, Group, Stage, Kind, FirstByte, Took, Served string
	At                                                                                   moment
}

func (c *call) turn() (view, error) {
	b, found, err := c.pages.options.Books.Turn(c.ctx, c.ask.get("tenant"), c.ask.get("id"))
	if err != nil {
		return view{}, err
	}
	if !found {
		return c.message(http.StatusNotFound, "No such turn", "The books know no turn of that tenant and id. It may be past what is kept."), nil
	}
	sums := engine.Sum(b)
	page := turnPage{
		frame: c.frame("Turn "+short(b.ID), "/ui/turns"),
		ID:    plain(b.ID), Lead: c.turnRow(&b, &sums), Asked: c.askedFacts(&b), Order: c.order(&b), Found: foundFacts(&b),
		Gate: c.gate(&b), Attempts: c.attempts(&b), Bills: c.bills(&b), Total: costText(&sums, c.money.exact), Without: c.without(&b),
	}
	return view{name: "turn", data: page}, nil
}

func (c *call) askedFacts(b *engine.Booked) []fact {
	stream := "whole answer"
	if b.Stream {
		stream = "stream"
	}
	scope := fact{"Scope", "none", "a model asked for directly"}
	if b.Scope != "" {
		scope = fact{"Scope", plain(b.Scope), "the policy that was asked for"}
	}
	return []fact{
		{"Tenant", named(b.Tenant, none), ""},
		{"Client", named(b.Client, none), ""},
		{"Target", named(b.Target, none), ""},
		scope,
		{"API", named(string(b.API), unknown), stream},
		{"Began", at(b.Started, c.now).Full, ""},
		{"Prices of catalog", digest(b.Catalog), ""},
	}
}

func (c *call) order(b *engine.Booked) []orderRow {
	rows := make([]orderRow, len(b.Order))
	for i := range b.Order {
		o := &b.Order[i]
		rows[i] = orderRow{
			Place: count(int64(i + 1)), Model: plain(o.Model), Vendor: named(o.Vendor, none), Color: c.color(o.Vendor),
			Credential: named(o.Credential, none), Group: groupText(o.Group),
		}
		var notes []string
		if o.Down {
			notes = append(notes, "down or cooling: last of its model")
		}
		if o.Vendor != "" && o.Vendor == b.Pinned && o.Model == b.Model {
			notes = append(notes, "pinned")
		}
		if o.Vendor != "" && o.Vendor == b.Displaced && o.Model == b.Model {
			notes = append(notes, "displaced")
		}
		rows[i].Note = strings.Join(notes, ", ")
	}
	return rows
}

func groupText(g engine.Group) string {
	if g == engine.GroupClient {
		return "the caller's key"
	}
	return "ours"
}

// foundFacts is the pin and what came of it.
func foundFacts(b *engine.Booked) []fact {
	facts := []fact{
		{"Pinned vendor", named(b.Pinned, "none"), ""},
		{"Outcome", named(string(b.Outcome), "no outcome"), meaning(b.Outcome)},
	}
	if b.Detail != "" {
		facts = append(facts, fact{"Detail", plain(string(b.Detail)), detailMeaning(b.Detail)})
	}
	if b.Displaced != "" {
		facts = append(facts, fact{"Displaced vendor", plain(b.Displaced), "would have been first without affinity"})
	}
	return facts
}

// gate shows each comparison: reading the pinned route's cache against its own
// input price and against that of every rival.
func (c *call) gate(b *engine.Booked) gateView {
	g := gateView{Name: plain(string(b.Gate)), Vendor: named(b.Pinned, "the pinned vendor"), Pays: b.Verdict.Pays}
	if b.Prompt.Tokens > 0 {
		g.Estimate = tokens(b.Prompt.Tokens) + " prompt tokens, estimated from " + named(strings.ReplaceAll(b.Prompt.Basis, "_", " "), "nothing said")
	}
	v := &b.Verdict
	if b.Gate == "" || b.Pinned == "" {
		return g
	}
	g.Asked, g.Read = true, c.money.rate(v.CacheRead)
	g.Rows = append(g.Rows, c.gateRow("its own input price", v.CacheRead, v.Input, true))
	for _, r := range v.Rivals {
		g.Rows = append(g.Rows, c.gateRow(plain(r.Vendor)+" input price", v.CacheRead, r.Input, false))
	}
	switch {
	case v.Pays:
		g.Result = "Reading the cache is the cheapest: the gate pays."
	case v.Reason == pricing.PriceUnknown:
		g.Result = "A price of the pinned route is not known: the gate cannot pay."
	default:
		g.Result = "Reading the cache is not the cheapest: the gate does not pay."
	}
	return g
}

func (c *call) gateRow(against string, read, price pricing.Rate, own bool) gateRow {
	row := gateRow{Against: against, Price: c.money.rate(price)}
	switch {
	case !price.Known() && !own:
		row.Sign, row.Says = "?", "not known: does not compete"
	case !price.Known() || !read.Known():
		row.Sign, row.Says = "?", "cannot be compared"
	case read.Below(price):
		row.Sign, row.Says, row.Kind = "✓", "the read is below it", "good"
	default:
		row.Sign, row.Says, row.Kind = "✗", "the read is not below it", "bad"
	}
	return row
}

func (c *call) attempts(b *engine.Booked) []attemptRow {
	rows := make([]attemptRow, len(b.Attempts))
	for i := range b.Attempts {
		a := &b.Attempts[i]
		r := attemptRow{
			Place: count(int64(i + 1)), Model: plain(a.Model), Vendor: named(a.Vendor, none), Color: c.color(a.Vendor), Credential: named(a.Credential, none),
			Group: groupText(a.Group), Stage: stageText(a), FirstByte: none, Took: none, At: at(a.Started, c.now), Served: servedText(a),
		}
		if a.Stage != engine.StageServed {
			r.Kind = "bad"
		}
		if a.FirstByte > 0 {
			r.FirstByte = took(a.FirstByte)
		}
		if a.Took > 0 {
			r.Took = took(a.Took)
		}
		rows[i] = r
	}
	return rows
}

// servedText is what the vendor says it served with, where it says so.
func servedText(a *engine.BookedAttempt) string {
	text := plain(a.ServedModel)
	if a.ServedTier != "" {
		text += " (tier " + plain(a.ServedTier) + ")"
	}
	return named(strings.TrimSpace(text), none)
}
