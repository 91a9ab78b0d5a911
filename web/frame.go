package web

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// call is one page being made.
type call struct {
	pages   *Pages
	ctx     context.Context
	ask     ask
	now     time.Time
	catalog *catalog.Catalog // nil: none yet
	money   money
}

// frame is what every page has around its own matter.
type frame struct {
	Title   string
	Nav     []link
	Banners []banner
	Made    moment // when the page was
	Catalog string // version of the prices
	Unit    string // of the prices
	Pins    string
	Live    bool // live.js was built
	Plots   bool // plots.js was
	Styles  bool // plots.css was
	Zone    string
	Path    string      // of the page, for the form that sets the zone
	Address [][2]string // what the form keeps
	Zones   bool        // there is such a form
}

// banner is what must not be overlooked.
type banner struct {
	Kind  string // "bad" or "note"
	Title string
	Lines []string
}

// frame makes the frame of a page; path is the entry of the navigation it
// belongs to.
func (c *call) frame(title, path string) frame {
	status := c.pages.options.Status()
	f := frame{Title: title, Made: at(c.now, c.now), Catalog: none, Unit: "prices per million tokens", Pins: count(status.Pins),
		Zone: c.ask.zone.String(), Path: c.ask.path}
	f.Address, f.Zones = c.ask.address()
	if c.catalog != nil {
		f.Catalog = digest(c.catalog.Digest)
		f.Unit = "prices in " + plain(c.catalog.Currency) + " per million tokens"
	}
	for _, l := range []link{{Text: "Overview", URL: "/ui/"}, {Text: "Sessions", URL: "/ui/sessions"}, {Text: "Turns", URL: "/ui/turns"}, {Text: "Misses", URL: "/ui/misses"}, {Text: "Routes", URL: "/ui/routes"}} {
		l.Current = l.URL == path
		l.URL = c.ask.only(l.URL, "tenant", c.ask.get("tenant"))
		f.Nav = append(f.Nav, l)
	}
	_, f.Live = c.pages.assets["live.js"]
	_, f.Plots = c.pages.assets["plots.js"]
	_, f.Styles = c.pages.assets["plots.css"]
	if status.Problem != "" {
		f.Banners = append(f.Banners, banner{Kind: "bad", Title: "The catalog on disk is not in use. The last good one is.", Lines: plainLines(status.Problem)})
	}
	if status.Books != "" {
		f.Banners = append(f.Banners, banner{Kind: "bad", Title: "The ledger on disk is not in use: what is shown here is in memory only, and ends with the process.", Lines: plainLines(status.Books)})
	}
	if status.Dropped > 0 {
		f.Banners = append(f.Banners, banner{Kind: "bad", Title: counted(status.Dropped, "turn") + " could not be booked: every figure here is short of them."})
	}
	if status.Draining {
		f.Banners = append(f.Banners, banner{Kind: "note", Title: "The gateway is draining: turns under way end, new ones are refused."})
	}
	return f
}

func plainLines(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = plain(lines[i])
	}
	return lines
}

// digest is the beginning of a catalog's version.
func digest(whole string) string {
	whole = plain(whole)
	if whole == "" {
		return unknown
	}
	return whole[:min(12, len(whole))]
}

// messagePage says something in place of what was asked for.
type messagePage struct {
	frame
	Text string
}

func (c *call) message(code int, title, text string) view {
	return view{name: "message", code: code, data: messagePage{frame: c.frame(title, ""), Text: plain(text)}}
}

// empty is what a page says that has nothing to show.
type empty struct {
	Title string
	Text  string
	Curl  string // a line that changes it
	Links []link
}

// emptyBooks is said before the first turn.
func (c *call) emptyBooks() *empty {
	return &empty{
		Title: "No turns yet",
		Text:  "Send one through the gateway. Sent again, the line below is confirmed: its session has a pin by then.",
		Curl:  c.curl(),
	}
}

// emptyAsk is said when there are turns, and none that are meant.
func (c *call) emptyAsk(path string) *empty {
	e := &empty{Title: "Nothing matches", Text: "No turn of the last " + c.ask.span.Name + " is meant by this address."}
	if c.ask.filters() {
		e.Links = append(e.Links, link{Text: "Clear the filters", URL: c.ask.only(path)})
	}
	if c.ask.span != spans[len(spans)-1] {
		e.Links = append(e.Links, link{Text: "Look at 30 days", URL: c.ask.with(path, "range", "30d")})
	}
	return e
}

// curl is a request that the catalog in force can answer, as a line for a shell.
func (c *call) curl() string {
	api, model := catalog.Chat, "MODEL"
	if c.catalog != nil {
		api, model = firstTarget(c.catalog)
	}
	body := map[string]any{"model": model, "messages": []map[string]string{{"role": "user", "content": "Say hello."}}}
	extra := ""
	switch api {
	case catalog.Messages:
		body["max_tokens"] = 64
		extra = " -H 'anthropic-version: 2023-06-01'"
	case catalog.Responses:
		body = map[string]any{"model": model, "input": "Say hello."}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return ""
	}
	return "curl " + strings.TrimRight(c.pages.options.Gateway, "/") + "/v1" + api.Path() +
		" -H 'content-type: application/json' -H 'x-session-id: first-steps'" + extra +
		" -d '" + strings.ReplaceAll(string(text), "'", `'\''`) + "'"
}

// firstTarget is the first model of the catalog that has a route in use, and an
// API that reaches it.
func firstTarget(c *catalog.Catalog) (catalog.API, string) {
	for _, m := range c.Models {
		for _, r := range m.Routes {
			if r.Disabled == "" && len(r.Vendor.API) > 0 {
				return r.Vendor.API[0], m.Name
			}
		}
	}
	return catalog.Chat, "MODEL"
}
