package routes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/sim"
)

// APIOptions are what the JSON API of the admin address answers from. Without
// Books there is no API.
//
// Its paths are all read with GET and listed by [APIOptions.OpenAPI], which is
// served at /api/v1/openapi.json: an overview, what turns have shown of routes, lists
// of turns, misses, sessions and pins in pages, and one turn or session.
//
// An id in a path is percent-encoded and may hold slashes. Proxies and servers
// clean paths, so an id with an empty or dotted part needs the query; the href of
// a session uses it always. Every href is relative to the admin address.
//
// What is meant is said by range (such as 15m, 24h or 7d, up to now) or from and
// to (RFC 3339, to exclusive), tenant, model, vendor, outcome, class and session;
// left out, they exclude nothing. A list of turns can be asked for by the cause of a
// miss (any for all of them), too. A parameter that is not known is an error, as is
// one given twice.
//
// In the overview, what was tried, used, billed and saved stands at the model and
// vendor of each attempt, and a turn at those of its last. Asked for a model or a
// vendor, it has all their attempts, those of turns that went on elsewhere too, and
// the turns that they were the last of; the list of turns has these turns alone.
//
// Its series is cut by the clocks of a zone, UTC if none is named: days of zones that
// change their clocks have 23 or 25 hours, and slots add up to the total. Minutes and
// hours are kept for a time only. A slot's start and end say what is in it: where only
// days in UTC are left, that day; where only hours are, whole hours of them.
//
// A list takes limit (1 to 1,000, 100 if left out) and after, the next of the page
// before. Each page is of its own moment: a session that is active between two
// pages moves ahead of the second, and may so be in neither.
//
// With format=csv the overview (of=series, routes or outcomes), the routes and the
// lists are rows of RFC 4180, at most 100,000 of a list, whose pages are read one
// after the other; where there are more, the trailer Warmroute-Next is the after of
// the rest. The first row has the names of the JSON, with a dot before each inner one;
// lists of objects, such as a turn's attempts, are left out. What is not known is
// empty. Numbers are as in the JSON, negative ones too. Any other text that a
// spreadsheet would take for a formula, because it begins with =, +, -, @, a tab or a
// line break, has an apostrophe before it. An answer that is cut short is not ended
// as HTTP has it.
//
// Money, prices per million tokens and rates are decimals in strings; what is not
// known is null. Sums of money are of what is known: coverage says how much that
// is, and while cost_known is less than billed, cost is a lower bound. Tokens are
// integers in classes that do not overlap, summed over the attempts whose usage is
// complete; reasoning is part of output. Times are UTC, but those of a series.
//
// An error is a problem of RFC 9457. No other web site may read the answers.
type APIOptions struct {
	Books engine.Books
	// Pins calls each with every record until it returns false. nil: there is no
	// list of pins.
	Pins    func(ctx context.Context, each func(engine.PinKey, engine.Record) bool) error
	Catalog func() *catalog.Catalog // in force, for its currency; nil: USD
	Now     func() time.Time        // nil means time.Now
}

// api answers the JSON API.
type api struct{ APIOptions }

// register adds the API's paths.
func (o APIOptions) register(r gin.IRoutes) {
	if o.Books == nil {
		return
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	a := &api{o}
	for _, e := range o.endpoints() {
		r.GET(e.path, func(c *gin.Context) {
			asked, err := ask(c, e.inQuery()...)
			if err != nil {
				troubled(c, err)
				return
			}
			e.serve(a, c, asked)
		})
	}
}

// currency is that of the catalog in force.
func (a *api) currency() string {
	if a.Catalog == nil {
		return "USD"
	}
	return a.Catalog().Currency
}

// answer sends a value as JSON. No browser takes it for a page, so that an href
// may be readable.
func answer(c *gin.Context, value any) {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		troubled(c, err)
		return
	}
	write(c, http.StatusOK, "application/json", body.Bytes())
}

// problemShape is an error as RFC 9457 has it.
type problemShape struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// problem sends an error.
func problem(c *gin.Context, status int, detail string) {
	title := http.StatusText(status)
	if status == statusClientLeft {
		title = "Client Left"
	}
	body, _ := json.Marshal(problemShape{"about:blank", title, status, detail}) // strings and a number: it cannot fail
	write(c, status, "application/problem+json", append(body, '\n'))
}

// askError is a request that does not say what it wants; its text says what to do.
type askError struct{ text string }

func (e *askError) Error() string { return e.text }

func wrong(format string, args ...any) error { return &askError{fmt.Sprintf(format, args...)} }

// troubled answers with what kept the books from answering.
func troubled(c *gin.Context, err error) {
	var ask *askError
	switch {
	case errors.As(err, &ask):
		problem(c, http.StatusBadRequest, sentence(ask))
	case errors.Is(err, engine.ErrPage), errors.Is(err, engine.ErrQuery):
		problem(c, http.StatusBadRequest, sentence(err))
	case c.Request.Context().Err() != nil:
		problem(c, statusClientLeft, "The client left.")
	case errors.Is(err, context.DeadlineExceeded):
		problem(c, http.StatusGatewayTimeout, "The books did not answer in time.")
	default:
		logEntry(c).cause = "the books did not answer"
		problem(c, http.StatusInternalServerError, "The books could not be read.")
	}
}

// asked is a request's parameters, each of them known and given once.
type asked struct{ values url.Values }

// ask reads the parameters of a request.
func ask(c *gin.Context, known ...string) (asked, error) {
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		return asked{}, wrong("the query is not well formed")
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch {
		case len(known) == 0:
			return asked{}, wrong("there is no parameter %q here, nor any other", name[:min(len(name), maxEcho)])
		case !slices.Contains(known, name):
			return asked{}, wrong("there is no parameter %q here; there are %s", name[:min(len(name), maxEcho)], strings.Join(known, ", "))
		case len(values[name]) > 1:
			return asked{}, wrong("%s is given twice", name)
		}
	}
	a := asked{values}
	for _, choice := range [...]struct {
		name string
		from []string
	}{{"format", formats}, {"of", parts}} {
		if v := a.get(choice.name); v != "" && !slices.Contains(choice.from, v) {
			return asked{}, wrong("%s must be one of %s", choice.name, words(choice.from))
		}
	}
	if a.get("of") != "" && !a.csv() {
		return asked{}, wrong("of chooses what CSV is of; give format=csv with it")
	}
	return a, nil
}

// The choices of format and of.
var (
	formats = []string{"json", "csv"}
	parts   = []string{"series", "routes", "outcomes"}
)

// csv says whether rows are asked for, not JSON.
func (a asked) csv() bool { return a.get("format") == "csv" }

func (a asked) get(name string) string { return a.values.Get(name) }

// tenant is whose one turn or session is asked for.
func (a asked) tenant() string {
	if t := a.get("tenant"); t != "" {
		return t
	}
	return catalog.DefaultTenant
}

// query is which turns or sessions are meant.
func (a asked) query(now time.Time) (q engine.Query, err error) {
	q = engine.Query{
		Tenant:  a.get("tenant"),
		Model:   a.get("model"),
		Vendor:  a.get("vendor"),
		Session: a.get("session"),
	}
	if q.Class, err = classOf(a.get("class")); err != nil {
		return q, err
	}
	if q.Outcome, err = outcomeOf(a.get("outcome")); err != nil {
		return q, err
	}
	if q.Miss, err = causeOf(a.get("cause")); err != nil {
		return q, err
	}
	q.From, q.To, err = a.bounds(now)
	return q, err
}

// bounds are the times asked for; zero where none is.
func (a asked) bounds(now time.Time) (from, to time.Time, err error) {
	text := a.get("range")
	if text != "" && (a.get("from") != "" || a.get("to") != "") {
		return from, to, wrong("range stands beside from or to; give one or the other")
	}
	if text != "" {
		ago, ok := ago(text)
		if !ok {
			return from, to, wrong("range must be a length of time up to now, such as 15m, 24h or 7d")
		}
		return now.Add(-ago), now, nil
	}
	for _, bound := range []struct {
		name string
		to   *time.Time
	}{{"from", &from}, {"to", &to}} {
		text := a.get(bound.name)
		if text == "" {
			continue
		}
		if *bound.to, err = time.Parse(time.RFC3339, text); err != nil {
			return from, to, wrong("%s must be a time such as 2026-11-29T21:00:00Z", bound.name)
		}
		if year := bound.to.UTC().Year(); year < 1700 || year > 2200 { // the books tell times of these years apart
			return from, to, wrong("%s must lie in the years 1700 to 2200", bound.name)
		}
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return from, to, wrong("from must be before to")
	}
	return from, to, nil
}

// maxAgo is the longest range: a hundred years.
const maxAgo = 36525 * engine.Day

// ago reads a length of time; days are d.
func ago(text string) (d time.Duration, ok bool) {
	if days, found := strings.CutSuffix(text, "d"); found {
		n, err := strconv.ParseUint(days, 10, 16)
		d = time.Duration(n) * engine.Day
		return d, err == nil && 0 < d && d <= maxAgo
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && 0 < d && d <= maxAgo
}

// list is which turns or sessions a list is asked for, and which part of them.
func (a asked) list(now time.Time) (q engine.Query, page engine.Page, err error) {
	if q, err = a.query(now); err != nil {
		return q, page, err
	}
	page, err = a.page()
	return q, page, err
}

// page is which part of a list is meant.
func (a asked) page() (p engine.Page, err error) {
	p.After = a.get("after")
	most := engine.MaxPageSize
	if a.csv() {
		most, p.Limit = maxExport, maxExport
	}
	if text := a.get("limit"); text != "" {
		if p.Limit, err = strconv.Atoi(text); err != nil || p.Limit < 1 || p.Limit > most {
			return p, wrong("limit must be a number from 1 to %d", most)
		}
	}
	return p, nil
}

var classNamesOfSessions = []engine.Class{
	engine.ClassExplicit, engine.ClassCacheKey, engine.ClassAgent, engine.ClassChain, engine.ClassFingerprint,
}

func classOf(text string) (engine.Class, error) {
	class := engine.Class(text)
	if text != "" && !slices.Contains(classNamesOfSessions, class) {
		return "", wrong("class must be one of %s", words(classNamesOfSessions))
	}
	return class, nil
}

// causeOf is a cause of misses.
func causeOf(text string) (string, error) {
	if text == "" || text == engine.AnyMiss {
		return text, nil
	}
	if _, ok := sim.CauseOf(text); ok {
		return text, nil
	}
	return "", wrong("cause must be one of %s", words(causeNames()))
}

func outcomeOf(text string) (engine.Outcome, error) {
	outcome := engine.Outcome(text)
	if ladder := engine.Ladder(); text != "" && !slices.Contains(ladder, outcome) {
		return "", wrong("outcome must be one of %s", words(ladder))
	}
	return outcome, nil
}

// words are names as a sentence lists them.
func words[T ~string](names []T) string {
	texts := make([]string, len(names))
	for i, n := range names {
		texts[i] = string(n)
	}
	return strings.Join(texts, ", ")
}
