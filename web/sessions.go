package web

import (
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
)

// sessionsPage is a list of sessions.
type sessionsPage struct {
	frame
	Ranges   []link
	Chips    []chip
	Find     string      // the id that is looked for
	Hidden   [][2]string // what the form keeps of the address
	Empty    *empty
	Sessions []sessionRow
	Tenants  bool
	First    string
	Next     string
}

// sessionRow is one session as text.
type sessionRow struct {
	Key      string
	ID       string
	Whole    string
	URL      string
	Tenant   string
	Class    string
	Means    string // how the class is named
	Client   string
	Models   []string
	Path     path
	Turns    string
	Hit      share
	Cost     sumText
	Switches string
	Last     moment
}

func (c *call) sessions() (view, error) {
	q := c.ask.query(c.now)
	q.Outcome = "" // sessions have turns of many
	list, next, err := c.pages.options.Books.Sessions(c.ctx, q, engine.Page{After: c.ask.get("after"), Limit: 50})
	if err != nil {
		return view{}, err
	}
	page := sessionsPage{
		frame: c.frame("Sessions", "/ui/sessions"), Ranges: c.ask.ranges(), Chips: c.ask.chips(),
		Find: plain(q.Session), Sessions: c.sessionRows(list),
	}
	for i := range list {
		page.Tenants = page.Tenants || list[i].Tenant != list[0].Tenant
	}
	for _, key := range []string{"range", "zone", "tenant", "model", "vendor", "class"} {
		if v := c.ask.get(key); v != "" {
			page.Hidden = append(page.Hidden, [2]string{key, v})
		}
	}
	if c.ask.get("after") != "" {
		page.First = c.ask.with("/ui/sessions")
	}
	if next != "" {
		page.Next = c.ask.with("/ui/sessions", "after", next)
	}
	if len(list) == 0 {
		page.Empty, err = c.nothing("/ui/sessions")
	}
	return view{name: "sessions", data: page}, err
}

func (c *call) sessionRows(list []engine.SessionBook) []sessionRow {
	costs := make([]decimal.Decimal, len(list))
	for i := range list {
		costs[i] = list[i].Sums.Cost
	}
	write := c.money.column(costs)
	rows := make([]sessionRow, len(list))
	for i := range list {
		s := &list[i]
		rows[i] = sessionRow{
			Key: plain(s.Tenant + "/" + string(s.Class) + "/" + s.ID), ID: short(s.ID), Whole: plain(s.ID), URL: c.ask.session(s.Tenant, s.Class, s.ID),
			Tenant: plain(s.Tenant), Class: plain(string(s.Class)), Means: classMeaning(s.Class), Client: plain(s.Client),
			Models: plains(s.Models), Path: c.path(s.Vendors), Turns: count(s.Sums.Turns), Hit: hitRate(&s.Sums), Cost: costText(&s.Sums, write),
			Switches: count(s.Switches), Last: at(s.Last, c.now),
		}
	}
	return rows
}

func plains(texts []string) []string {
	out := make([]string, len(texts))
	for i := range texts {
		out[i] = plain(texts[i])
	}
	return out
}

// path is the vendors that served a session, one mark for each turn.
type path struct {
	Steps []step
	Text  string // the same in words
}

type step struct{ Letter, Vendor, Color string }

// path draws vendors, oldest first.
func (c *call) path(vendors []string) path {
	var p path
	run := int64(0)
	for i, v := range vendors {
		name := named(v, none)
		_, size := utf8.DecodeRuneInString(name)
		p.Steps = append(p.Steps, step{Letter: name[:size], Vendor: name, Color: c.color(v)})
		run++
		if i+1 < len(vendors) && vendors[i+1] == v {
			continue
		}
		if p.Text != "" {
			p.Text += ", then "
		}
		p.Text += name + " ×" + thin + count(run)
		run = 0
	}
	return p
}
