package routes

import (
	"time"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/sim"
)

// overviewShape is the books at a glance. The bounds are those that were
// answered, which may be wider than those asked for: asked for turns with the
// same bounds, and no model or vendor, the books give the turns that the sums are
// of.
type overviewShape struct {
	Currency string         `json:"currency"`
	From     *time.Time     `json:"from"`
	To       *time.Time     `json:"to"`
	Total    sumsShape      `json:"total"`
	Affinity *accountShape  `json:"affinity"`          // of settled turns; null for one session or class, and where nobody judges turns
	Holdout  *holdoutShape  `json:"holdout,omitempty"` // where sessions were held out, and all models, vendors and outcomes are asked for
	Outcomes []outcomeShape `json:"outcomes"`          // in the order of the ladder
	Routes   []routeShape   `json:"routes"`            // by model, then vendor
	Width    string         `json:"width"`
	Zone     string         `json:"zone"`   // by whose clocks the series is cut
	Series   []slotShape    `json:"series"` // oldest first; slots without a turn or an attempt are left out
}

type outcomeShape struct {
	Outcome *string `json:"outcome"`
	sumsShape
}

type routeShape struct {
	Model  *string `json:"model"`
	Vendor *string `json:"vendor"`
	sumsShape
}

// slotShape is one stretch of time, by the clocks of the zone.
type slotShape struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	sumsShape
}

// widths are the widths of a slot, by their names.
var widths = []struct {
	name  string
	width time.Duration
}{{"minute", time.Minute}, {"hour", time.Hour}, {"day", engine.Day}}

// widthOf is the width asked for; where none is, one that gives a series of a
// readable length.
func widthOf(name string, q engine.Query, now time.Time) (time.Duration, error) {
	for _, w := range widths {
		if w.name == name {
			return w.width, nil
		}
	}
	if name != "" {
		return 0, wrong("width must be minute, hour or day")
	}
	to := q.To
	if to.IsZero() {
		to = now
	}
	switch long := to.Sub(q.From); {
	case q.From.IsZero(), long > 7*engine.Day:
		return engine.Day, nil
	case long > 6*time.Hour:
		return time.Hour, nil
	}
	return time.Minute, nil
}

// widthName is a width's name.
func widthName(width time.Duration) string {
	for _, w := range widths {
		if w.width == width {
			return w.name
		}
	}
	return width.String()
}

// affinity puts down what affinity did to the turns that are meant, where that can be
// told.
func (a *api) affinity(c *gin.Context, q engine.Query, width time.Duration, into *overviewShape) error {
	if q.Session != "" || q.Class != "" {
		return nil
	}
	accounts, err := a.Books.Accounts(c.Request.Context(), q, width)
	if err != nil {
		return err
	}
	var total sim.Account
	if len(accounts.Total) == 0 || total.UnmarshalBinary(accounts.Total) != nil {
		return nil
	}
	shape := accountOf(&total)
	into.Affinity, into.Holdout = &shape, holdoutOf(q, &total)
	return nil
}

// routeList is what turns have shown of every route.
type routeList struct {
	Currency string            `json:"currency"`
	From     *time.Time        `json:"from"`
	To       *time.Time        `json:"to"`
	Routes   []routeFactsShape `json:"routes"` // by model, then vendor
}

// routes lists what turns have shown of every route.
func (a *api) routes(c *gin.Context, asked asked) {
	q, err := asked.query(a.Now())
	if err != nil {
		troubled(c, err)
		return
	}
	accounts, err := a.Books.Accounts(c.Request.Context(), q, engine.Day)
	if err != nil {
		troubled(c, err)
		return
	}
	list := make([]routeFactsShape, 0, len(accounts.Routes))
	for _, r := range accounts.Routes {
		var account sim.Account
		if r.Vendor == "" || account.UnmarshalBinary(r.Account) != nil {
			continue
		}
		list = append(list, a.routeFactsOf(r.Model, r.Vendor, &account))
	}
	if asked.csv() {
		exportAll(c, "routes", list)
		return
	}
	answer(c, routeList{a.currency(), instant(accounts.Query.From), instant(accounts.Query.To), list})
}

// calendar is by whose clocks the series is cut, and into what.
func (a asked) calendar(q engine.Query, now time.Time) (c engine.Calendar, err error) {
	if c.Width, err = widthOf(a.get("width"), q, now); err != nil {
		return c, err
	}
	zone, ok := engine.Zone(a.get("zone"))
	if !ok {
		return c, wrong("zone must be a time zone of the IANA database, such as America/Los_Angeles; left out, it is UTC")
	}
	c.Zone = zone
	return c, nil
}

// overview adds turns up.
func (a *api) overview(c *gin.Context, asked asked) {
	now := a.Now()
	q, err := asked.query(now)
	if err != nil {
		troubled(c, err)
		return
	}
	calendar, err := asked.calendar(q, now)
	if err != nil {
		troubled(c, err)
		return
	}
	o, series, err := engine.LocalOverview(c.Request.Context(), a.Books, q, calendar)
	if err != nil {
		troubled(c, err)
		return
	}
	shape := overviewShape{
		Currency: a.currency(), From: instant(o.Query.From), To: instant(o.Query.To),
		Total: sumsOf(o.Total), Width: widthName(calendar.Width), Zone: calendar.Zone.String(),
		Outcomes: make([]outcomeShape, len(o.Outcomes)),
		Routes:   make([]routeShape, len(o.Routes)),
		Series:   make([]slotShape, len(series)),
	}
	for i, s := range o.Outcomes {
		shape.Outcomes[i] = outcomeShape{text(s.Outcome), sumsOf(s.Sums)}
	}
	for i, s := range o.Routes {
		shape.Routes[i] = routeShape{text(s.Model), text(s.Vendor), sumsOf(s.Sums)}
	}
	for i, s := range series {
		shape.Series[i] = slotShape{s.Start, s.End, sumsOf(s.Sums)}
	}
	if asked.csv() {
		switch asked.get("of") {
		case "routes":
			exportAll(c, "overview-routes", shape.Routes)
		case "outcomes":
			exportAll(c, "overview-outcomes", shape.Outcomes)
		default:
			exportAll(c, "overview-series", shape.Series)
		}
		return
	}
	if err := a.affinity(c, q, calendar.Width, &shape); err != nil {
		troubled(c, err)
		return
	}
	answer(c, shape)
}
