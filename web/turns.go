package web

import (
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
)

// turnsPage is a list of turns.
type turnsPage struct {
	frame
	Ranges []link
	Chips  []chip
	Picks  []link // outcomes to choose from
	Empty  *empty
	Table  turnTable
	First  string // address of the list's beginning; empty on it
	Next   string // address of what follows; empty at the end
}

// turnRow is one turn as text.
type turnRow struct {
	Key        string
	URL        string
	Tenant     string
	At         moment
	Gap        string
	Session    string
	SessionAll string
	SessionURL string
	Class      string
	Client     string
	Model      string
	Vendor     string
	Color      string
	Outcome    string
	Means      string
	Kind       string // "good" for promoted, "dim" for none
	Detail     string
	Displaced  string
	Trouble    string // why it was not simply served
	Prompt     string
	Read       string
	Written    string
	Uncached   string
	Output     string
	Bar        bar
	Took       string
	Cost       sumText
	Tries      string
	Miss       missText
}

// bar is a prompt in its parts, each from and to in percent of the widest.
type bar struct {
	Title                        string
	Read, Write, Uncached        string
	WriteFrom, UncachedFrom, End string
}

// turnTable is a table of turns.
type turnTable struct {
	Turns   []turnRow
	Path    bool // of one session: with gaps, without the session
	Brief   bool // without the columns that a first look does not need
	Tenants bool // of several tenants
	Missed  bool // with what each missed
}

func (c *call) turns() (view, error) {
	q := c.ask.query(c.now)
	list, next, err := c.pages.options.Books.Turns(c.ctx, q, engine.Page{After: c.ask.get("after")})
	if err != nil {
		return view{}, err
	}
	page := turnsPage{
		frame: c.frame("Turns", "/ui/turns"), Ranges: c.ask.ranges(), Chips: c.ask.chips(),
		Table: turnTable{Turns: c.turnRows(list), Tenants: tenants(list)},
	}
	page.Picks = append(page.Picks, link{Text: "all", URL: c.ask.with("/ui/turns", "outcome", ""), Current: q.Outcome == ""})
	for _, o := range engine.Ladder() {
		page.Picks = append(page.Picks, link{Text: string(o), URL: c.ask.with("/ui/turns", "outcome", string(o)), Current: o == q.Outcome})
	}
	if c.ask.get("after") != "" {
		page.First = c.ask.with("/ui/turns")
	}
	if next != "" {
		page.Next = c.ask.with("/ui/turns", "after", next)
	}
	if len(list) == 0 {
		page.Empty, err = c.nothing("/ui/turns")
	}
	return view{name: "turns", data: page}, err
}

// tenants says whether the turns are of several tenants.
func tenants(turns []engine.Booked) bool {
	for i := range turns {
		if turns[i].Tenant != turns[0].Tenant {
			return true
		}
	}
	return false
}

// turnRows are turns as text, in the order given.
func (c *call) turnRows(turns []engine.Booked) []turnRow {
	sums := make([]engine.Sums, len(turns))
	costs := make([]decimal.Decimal, len(turns))
	var widest int64
	for i := range turns {
		sums[i] = engine.Sum(turns[i])
		costs[i] = sums[i].Cost
		widest = max(widest, sums[i].Usage.Prompt())
	}
	write := c.money.column(costs)
	rows := make([]turnRow, len(turns))
	for i := range turns {
		rows[i] = c.turnRow(&turns[i], &sums[i])
		rows[i].Cost = costText(&sums[i], write)
		rows[i].Bar = barOf(&sums[i], widest)
	}
	return rows
}

func (c *call) turnRow(b *engine.Booked, s *engine.Sums) turnRow {
	r := turnRow{
		Key: plain(b.Tenant + "/" + b.ID), URL: c.ask.turn(b), Tenant: plain(b.Tenant), At: at(b.Started, c.now),
		Session: named(short(b.Session), "none"), SessionAll: plain(b.Session), Class: plain(string(b.Class)), Client: plain(b.Client),
		Model: named(b.Model, plain(b.Target)), Vendor: named(b.Vendor(), "not sent"), Color: c.color(b.Vendor()),
		Outcome: named(string(b.Outcome), "no outcome"), Means: meaning(b.Outcome), Detail: plain(string(b.Detail)),
		Displaced: plain(b.Displaced), Trouble: trouble(b), Took: took(b.Took), Tries: count(int64(len(b.Attempts))),
	}
	if b.Session != "" {
		r.SessionURL = c.ask.session(b.Tenant, b.Class, b.Session)
	}
	if b.State != engine.Settled {
		r.Took = unknown
	}
	if b.Outcome == engine.Promoted {
		r.Kind = "good"
	}
	r.Miss = c.miss(b)
	r.Prompt, r.Read, r.Written, r.Uncached, r.Output = none, none, none, none, none
	switch {
	case s.UsageKnown > 0:
		u := s.Usage
		r.Prompt, r.Read, r.Written = tokens(u.Prompt()), tokens(u.CacheRead), tokens(u.CacheWrite5m+u.CacheWrite1h)
		r.Uncached, r.Output = tokens(u.Input), tokens(u.Output)
		if s.UsageKnown < s.Billed {
			r.Prompt = "≥" + thin + r.Prompt
		}
	case s.Billed > 0 || b.State != engine.Settled:
		r.Prompt, r.Read, r.Written, r.Uncached, r.Output = unknown, unknown, unknown, unknown, unknown
	}
	return r
}

// trouble is what kept a turn from being served at the first try; empty if
// nothing did.
func trouble(b *engine.Booked) string {
	last, ok := b.Last()
	switch {
	case b.State != engine.Settled:
		return "no end is booked"
	case !ok:
		return "not sent"
	case last.Stage == engine.StageServed && len(b.Attempts) == 1:
		return ""
	case last.Stage == engine.StageServed:
		return "after " + counted(int64(len(b.Attempts)-1), "failure")
	}
	return stageText(last)
}

// stageText says how an attempt ended.
func stageText(a *engine.BookedAttempt) string {
	text := ""
	switch a.Stage {
	case engine.StageServed:
		return "served"
	case engine.StageAbandoned:
		text = "the caller left"
	case engine.StageBegun:
		return "no end is booked"
	default:
		text = plain(a.Stage.String())
	}
	if a.Failure != engine.FailureNone && a.Failure != engine.FailureClientLeft {
		text += ": " + plain(string(a.Failure))
	}
	if a.Status >= 300 {
		text += fmt.Sprintf(" (%d)", a.Status)
	}
	return text
}

// barOf draws a prompt against the widest of its page.
func barOf(s *engine.Sums, widest int64) bar {
	if s.UsageKnown == 0 || widest == 0 {
		return bar{}
	}
	u := s.Usage
	written := u.CacheWrite5m + u.CacheWrite1h
	part := func(n int64) int64 { p, _ := permille(n, widest); return p }
	read, write, end := part(u.CacheRead), part(u.CacheRead+written), part(u.Prompt())
	text := func(n int64) string { return decimal.New(n, -1).String() + "%" }
	return bar{
		Title: fmt.Sprintf("%s read, %s written, %s uncached", tokens(u.CacheRead), tokens(written), tokens(u.Input)),
		Read:  text(read), Write: text(write - read), Uncached: text(end - write),
		WriteFrom: text(read), UncachedFrom: text(write), End: text(end),
	}
}
