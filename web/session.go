package web

import (
	"net/http"
	"slices"

	"github.com/warmroute/warmroute/engine"
)

// sessionPage is one session and its path by turn.
type sessionPage struct {
	frame
	ID      string
	Facts   []fact
	Cards   []card
	Path    path
	Table   turnTable
	Earlier string // address of the turns before these; empty if there are none
	Later   string // address of the latest; empty on them
	Parent  link
}

// fact is a name and what it is here.
type fact struct{ Name, Value, Note string }

func (c *call) session() (view, error) {
	tenant, class, id := c.ask.get("tenant"), engine.Class(c.ask.get("class")), c.ask.get("id")
	s, found, err := c.pages.options.Books.Session(c.ctx, tenant, class, id)
	if err != nil {
		return view{}, err
	}
	if !found || id == "" {
		return c.message(http.StatusNotFound, "No such session", "The books know no session of that tenant, class and id. It may be past what is kept."), nil
	}
	page := sessionPage{
		frame: c.frame("Session "+short(s.ID), "/ui/sessions"),
		ID:    plain(s.ID), Cards: c.sessionCards(&s), Path: c.path(s.Vendors),
		Facts: []fact{
			{"Named by", plain(string(s.Class)), classMeaning(s.Class)},
			{"Tenant", named(s.Tenant, none), ""},
			{"Client", named(s.Client, none), ""},
			{"First turn", at(s.First, c.now).Full, ""},
			{"Last seen", at(s.Last, c.now).Full, ""},
		},
	}
	for i, m := range s.Models {
		latest := none
		if i < len(s.Latest) {
			latest = named(s.Latest[i], none)
		}
		page.Facts = append(page.Facts, fact{"Model", plain(m), "served last by " + latest})
	}
	if s.Parent != "" {
		page.Parent = link{Text: short(s.Parent), URL: address("/ui/sessions", c.ask.clocks(), []string{"tenant", s.Tenant, "session", s.Parent, "range", "30d"})}
	}
	return c.addTurns(page, tenant, class, id)
}

// addTurns adds the turns, oldest first.
func (c *call) addTurns(page sessionPage, tenant string, class engine.Class, id string) (view, error) {
	q := engine.Query{Tenant: tenant, Class: class, Session: id}
	list, next, err := c.pages.options.Books.Turns(c.ctx, q, engine.Page{After: c.ask.get("after")})
	if err != nil {
		return view{}, err
	}
	var before []engine.Booked // the turn before the oldest of these, to tell its gap
	if next != "" {
		if before, _, err = c.pages.options.Books.Turns(c.ctx, q, engine.Page{After: next, Limit: 1}); err != nil {
			return view{}, err
		}
		page.Earlier = c.ask.session(tenant, class, id, "after", next)
	}
	if c.ask.get("after") != "" {
		page.Later = c.ask.session(tenant, class, id)
	}
	slices.Reverse(list)
	page.warnUnread(list)
	page.Table = turnTable{Path: true, Turns: c.turnRows(list)}
	for i := range list {
		page.Table.Turns[i].Gap = none
		previous := before
		if i > 0 {
			previous = list[i-1 : i]
		}
		if len(previous) > 0 {
			page.Table.Turns[i].Gap = took(list[i].Started.Sub(previous[0].Started))
		}
	}
	return view{name: "session", data: page}, nil
}

func (c *call) sessionCards(s *engine.SessionBook) []card {
	account := read(s.Account)
	account.Misses = address("/ui/misses", c.ask.clocks(), []string{"tenant", s.Tenant, "class", string(s.Class), "session", s.ID, "range", "30d"})
	cards := c.cards(&s.Sums, account)
	cards = slices.DeleteFunc(cards, func(k card) bool { return k.Key == "turns" })
	length := card{Key: "length", Label: "Duration", Value: took(s.Last.Sub(s.First)), Lines: []string{
		counted(s.Sums.Turns, "turn") + ", " + switchesText(s.Switches),
	}}
	if s.Sums.Failed > 0 {
		length.Lines = append(length.Lines, counted(s.Sums.Failed, "turn")+" not served to the end")
	}
	if s.Sums.Unsettled > 0 {
		length.Lines = append(length.Lines, count(s.Sums.Unsettled)+" without an end")
	}
	return append(cards, length)
}

func switchesText(n int64) string {
	if n == 1 {
		return "1 vendor switch"
	}
	return count(n) + " vendor switches"
}
