package web

import (
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
)

// overviewPage is the books at a glance.
type overviewPage struct {
	frame
	Ranges      []link
	Chips       []chip
	Period      string
	Empty       *empty
	Cards       []card
	Outcomes    []outcomeRow
	Routes      []routeRow
	Series      series
	RecentTable turnTable
	More        string // address of all turns of the period
}

// card is one figure with what stands behind it.
type card struct {
	Key   string
	Label string
	Word  string // before or beside the value
	Value string
	Kind  string
	Lines []string
	Link  link // where it leads; none without an address
}

// outcomeRow is how many turns had one outcome.
type outcomeRow struct {
	Outcome string
	Means   string
	Turns   string
	Share   string
	Fill    string // width of the bar in percent
	URL     string
}

// routeRow is what one vendor did for one model.
type routeRow struct {
	Vendor, Model       string
	VendorURL, ModelURL string
	Color               string
	Turns               string
	Hit                 share
	PerMillion          string
	Cost, Saving        sumText
	Coverage            share
}

// series is the hit rate over time.
type series struct {
	Summary string
	Zone    string
	Seconds int64 // width of a slot
	From    int64 // what the axis spans, Unix seconds; 0 where the range has no bound
	To      int64
	Slots   []slotRow
}

type slotRow struct {
	At    moment
	Unix  int64
	Turns string
	Hit   share
	Fill  string
	Cost  sumText
}

func (c *call) overview() (view, error) {
	q := c.ask.query(c.now)
	books := c.pages.options.Books
	o, slots, err := engine.LocalOverview(c.ctx, books, q, c.ask.calendar())
	if err != nil {
		return view{}, err
	}
	page := overviewPage{
		frame:  c.frame("Overview", "/ui/"),
		Ranges: c.ask.ranges(),
		Chips:  c.ask.chips(),
		Period: "From " + at(o.Query.From, c.now).Full + " until now.",
		More:   c.ask.with("/ui/turns"),
	}
	if o.Query.From.IsZero() {
		page.Period = "All that is booked."
	}
	if o.Total.Turns == 0 && o.Total.Attempts == 0 {
		page.Empty, err = c.nothing("/ui/")
		return view{name: "overview", data: page}, err
	}
	account, err := c.account(q)
	if err != nil {
		return view{}, err
	}
	page.Cards = c.cards(&o.Total, account)
	page.Outcomes = c.outcomes(o.Outcomes)
	page.Routes = c.routes(o.Routes)
	page.Series = c.series(&o, slots)
	recent, _, err := books.Turns(c.ctx, q, engine.Page{Limit: 12})
	if err != nil {
		return view{}, err
	}
	page.RecentTable = turnTable{Brief: true, Turns: c.turnRows(recent), Tenants: tenants(recent)}
	return view{name: "overview", data: page}, nil
}

// nothing is what a page without turns says, which depends on whether there are
// any at all.
func (c *call) nothing(path string) (*empty, error) {
	some, _, err := c.pages.options.Books.Turns(c.ctx, engine.Query{}, engine.Page{Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(some) == 0 {
		return c.emptyBooks(), nil
	}
	return c.emptyAsk(path), nil
}

// cards are what sums come to, and what affinity did to them.
func (c *call) cards(s *engine.Sums, account accountOf) []card {
	hit := hitRate(s)
	rate := card{Key: "hit", Label: "Token hit rate", Value: hit.Rate}
	if hit.Counts != "" {
		rate.Lines = append(rate.Lines, hit.Counts+" prompt tokens read from a cache")
		rate.Lines = append(rate.Lines, fmt.Sprintf("by attempt %s: %s / %s", percent(s.Hits, s.HitAttempts()), count(s.Hits), count(s.HitAttempts())))
	}
	if s.UsageKnown < s.Billed {
		rate.Lines = append(rate.Lines, "usage known of "+count(s.UsageKnown)+" / "+counted(s.Billed, "billed attempt"))
	}
	spent := costText(s, c.money.amount)
	cost := card{Key: "cost", Label: "Cost", Word: spent.Word, Value: spent.Text, Kind: spent.Kind}
	cost.Lines = append(cost.Lines, "of "+counted(s.Turns, "turn")+", "+counted(s.Billed, "billed attempt"))
	if left := uncovered(s.CostKnown, s.Billed); left != "" {
		cost.Lines = append(cost.Lines, left)
	}
	if s.NoCachePrice > 0 {
		cost.Lines = append(cost.Lines, counted(s.NoCachePrice, "attempt")+" billed at the input price for want of a cache price")
	}
	net := savingText(s, c.money.amount)
	saving := card{Key: "saving", Label: "Net cache saving", Word: net.Word, Value: net.Text, Kind: net.Kind,
		Lines: []string{"against the same tokens at the input price, cache writes paid for"}}
	if left := uncovered(s.SavingKnown, s.Billed); left != "" {
		saving.Lines = append(saving.Lines, left)
	}
	turns := card{Key: "turns", Label: "Turns", Value: count(s.Turns)}
	turns.Lines = append(turns.Lines, counted(s.Failed, "turn")+" not served to the end", counted(s.Attempts, "attempt"))
	if s.Unsettled > 0 {
		turns.Lines = append(turns.Lines, count(s.Unsettled)+" without an end: under way, or cut short by a crash")
	}
	all := []card{rate, cost, saving, c.affinityCard(account), c.lossCard(account), c.inputCard(s)}
	if s.ChargedKnown > 0 {
		all = append(all, c.chargedCard(s))
	}
	return append(all, turns)
}

func (c *call) outcomes(all []engine.OutcomeSums) []outcomeRow {
	var total, most int64
	for i := range all {
		total += all[i].Sums.Turns
		most = max(most, all[i].Sums.Turns)
	}
	rows := make([]outcomeRow, len(all))
	for i := range all {
		o, n := all[i].Outcome, all[i].Sums.Turns
		rows[i] = outcomeRow{
			Outcome: plain(string(o)), Means: meaning(o), Turns: count(n), Share: percent(n, total),
			Fill: width(n, most), URL: c.ask.with("/ui/turns", "outcome", string(o)),
		}
		if o == "" {
			rows[i].Outcome, rows[i].URL = "no outcome", ""
		}
	}
	return rows
}

func (c *call) routes(all []engine.RouteSums) []routeRow {
	costs, savings := make([]decimal.Decimal, 0, len(all)), make([]decimal.Decimal, 0, len(all))
	for i := range all {
		costs, savings = append(costs, all[i].Sums.Cost), append(savings, all[i].Sums.Saving)
	}
	writeCost, writeSaving := c.money.column(costs), c.money.column(savings)
	rows := make([]routeRow, len(all))
	for i := range all {
		r, s := &all[i], &all[i].Sums
		rows[i] = routeRow{
			Vendor: named(r.Vendor, "not sent"), Model: named(r.Model, none), Color: c.color(r.Vendor),
			Turns: count(s.Turns), Hit: hitRate(s), PerMillion: c.perMillion(s),
			Cost: costText(s, writeCost), Saving: savingText(s, writeSaving), Coverage: coverage(s),
		}
		if r.Vendor != "" {
			rows[i].VendorURL = c.ask.with("/ui/", "vendor", r.Vendor)
		}
		if r.Model != "" {
			rows[i].ModelURL = c.ask.with("/ui/", "model", r.Model)
		}
	}
	return rows
}

// perMillion is what a million prompt tokens came to, answers included. It is
// known only where every usage has a cost: else tokens and money are not of the
// same attempts.
func (c *call) perMillion(s *engine.Sums) string {
	prompt := s.Usage.Prompt()
	switch {
	case s.Billed == 0:
		return none
	case s.UsageKnown == 0 || s.CostKnown != s.UsageKnown:
		return unknown
	case prompt == 0:
		return none
	}
	return c.money.fixed(s.Cost.Mul(million).DivRound(decimal.NewFromInt(prompt), 8), 4)
}

func (c *call) series(o *engine.Overview, slots []engine.LocalSlot) series {
	hit := hitRate(&o.Total)
	s := series{Seconds: int64(c.ask.span.Width.Seconds()), Zone: c.ask.zone.String(), To: c.now.Unix(), Slots: make([]slotRow, len(slots))}
	if !o.Query.From.IsZero() {
		s.From = o.Query.From.Unix()
	}
	if !o.Query.To.IsZero() {
		s.To = o.Query.To.Unix()
	}
	costs := make([]decimal.Decimal, len(slots))
	for i := range slots {
		costs[i] = slots[i].Sums.Cost
	}
	write := c.money.column(costs)
	for i := range slots {
		slot := &slots[i]
		row := slotRow{At: at(slot.Start, c.now), Unix: slot.Start.Unix(), Turns: count(slot.Sums.Turns), Hit: hitRate(&slot.Sums), Cost: costText(&slot.Sums, write)}
		row.Fill = width(row.Hit.Fill, 1000)
		s.Slots[i] = row
	}
	word := widthWord(c.ask.span.Width.Seconds())
	s.Summary = fmt.Sprintf("Token hit rate by %s, %s: %s overall, in %s with turns.", word, s.Zone, hit.Rate, counted(int64(len(s.Slots)), word))
	return s
}

func widthWord(seconds float64) string {
	switch seconds {
	case 60:
		return "minute"
	case 86400:
		return "day"
	}
	return "hour"
}

// width is a bar's, in percent of the longest. What is there at all is seen.
func width(n, most int64) string {
	w, ok := permille(n, most)
	if !ok {
		return "0"
	}
	if n > 0 {
		w = max(w, 4)
	}
	return decimal.New(w, -1).String() + "%"
}

func named(text, instead string) string {
	if text == "" {
		return instead
	}
	return plain(text)
}

// color is the class that paints a vendor, by its place in the catalog.
func (c *call) color(vendor string) string {
	if c.catalog == nil {
		return "vx"
	}
	v, ok := c.catalog.Vendor(vendor)
	if !ok || v.Index >= 6 {
		return "vx"
	}
	return fmt.Sprintf("v%d", v.Index)
}
