package routes

import (
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/sim"
)

// endpoint is one path of the API: what it is for, what it can be asked and what it
// answers. The router, the check of parameters and the OpenAPI document are all made
// from it.
type endpoint struct {
	path       string // as gin has it
	name       string // of the operation
	about      string
	parameters []parameter
	answer     any  // a value of what it answers; nil: an object of any kind
	rows       bool // it can be had as CSV
	missing    bool // it answers 404 for what is not there
	serve      func(a *api, c *gin.Context, asked asked)
}

// parameter is one thing that can be asked.
type parameter struct {
	name   string
	about  string
	inPath bool
	schema map[string]any
}

func textual(extra ...any) map[string]any {
	schema := map[string]any{"type": "string"}
	for i := 0; i+1 < len(extra); i += 2 {
		schema[extra[i].(string)] = extra[i+1]
	}
	return schema
}

// causeNames are the causes of misses that can be asked for.
func causeNames() []string {
	names := []string{engine.AnyMiss}
	for c := sim.NoMiss + 1; c < sim.Causes; c++ {
		names = append(names, c.String())
	}
	return names
}

// The parameters.
var (
	askRange   = parameter{name: "range", about: "A length of time up to now, such as 15m, 24h or 7d. Not beside from or to.", schema: textual()}
	askFrom    = parameter{name: "from", about: "The beginning, inclusive.", schema: textual("format", "date-time")}
	askTo      = parameter{name: "to", about: "The end, exclusive.", schema: textual("format", "date-time")}
	askTenant  = parameter{name: "tenant", about: "A tenant; left out, every tenant.", schema: textual()}
	askWhose   = parameter{name: "tenant", about: "Whose it is; left out, default.", schema: textual()}
	askModel   = parameter{name: "model", about: "A model by its public name.", schema: textual()}
	askVendor  = parameter{name: "vendor", about: "A vendor.", schema: textual()}
	askClass   = parameter{name: "class", about: "How sessions were named.", schema: textual("enum", classNamesOfSessions)}
	askSession = parameter{name: "session", about: "The whole id of a session.", schema: textual()}
	askOutcome = parameter{name: "outcome", about: "What affinity did.", schema: textual("enum", engine.Ladder())}
	askCause   = parameter{name: "cause", about: "Why a turn read less than it could have; any for every cause.", schema: textual("enum", causeNames())}
	askWidth   = parameter{name: "width", about: "Of a slot of the series; left out, one that gives a series of a readable length.", schema: textual("enum", []string{"minute", "hour", "day"})}
	askZone    = parameter{name: "zone", about: "The IANA time zone by whose clocks the series is cut; left out, UTC.", schema: textual("examples", []string{"America/Los_Angeles"})}
	askAfter   = parameter{name: "after", about: "The next of the page before.", schema: textual()}
	askLimit   = parameter{name: "limit", about: "How many at most: 1 to 1000 and 100 if left out; as CSV 1 to 100000, and that if left out.",
		schema: map[string]any{"type": "integer", "minimum": 1, "maximum": maxExport}}
	askPage   = parameter{name: "limit", about: "How many at most; 100 if left out.", schema: map[string]any{"type": "integer", "minimum": 1, "maximum": engine.MaxPageSize, "default": engine.PageSize}}
	askFormat = parameter{name: "format", about: "CSV has one row for each, and the names of the JSON before them.", schema: textual("enum", formats, "default", "json")}
	askOf     = parameter{name: "of", about: "What CSV is of.", schema: textual("enum", parts, "default", "series")}
	askID     = parameter{name: "id", about: "The id of the session.", schema: textual()}

	pathClass   = parameter{name: "class", inPath: true, about: askClass.about, schema: askClass.schema}
	pathSession = parameter{name: "id", inPath: true, about: "The id of the session, percent-encoded; it may hold slashes.", schema: textual()}
	pathTurn    = parameter{name: "id", inPath: true, about: "The id of the turn.", schema: textual()}
)

// choosing are the parameters that choose turns or sessions.
func choosing(more ...parameter) []parameter {
	return append([]parameter{askRange, askFrom, askTo, askTenant, askModel, askVendor, askClass, askSession}, more...)
}

// endpoints are the API's paths.
func (o APIOptions) endpoints() []endpoint {
	list := choosing(askAfter, askLimit, askOutcome, askCause, askFormat)
	all := []endpoint{
		{path: "/api/v1/overview", name: "overview", about: "Sums of turns: in all, by outcome, by route, over time, and what affinity saved.",
			parameters: choosing(askOutcome, askWidth, askZone, askFormat, askOf), answer: overviewShape{}, rows: true, serve: (*api).overview},
		{path: "/api/v1/routes", name: "routes", about: "What turns have shown of every route, beside the catalog's claims.",
			parameters: []parameter{askRange, askFrom, askTo, askTenant, askModel, askVendor, askFormat}, answer: routeList{}, rows: true, serve: (*api).routes},
		{path: "/api/v1/misses", name: "misses", about: "Turns that read less than they could have, newest first.",
			parameters: list, answer: turnList{}, rows: true, serve: (*api).misses},
		{path: "/api/v1/turns", name: "turns", about: "Turns, newest first.",
			parameters: list, answer: turnList{}, rows: true, serve: (*api).turns},
		{path: "/api/v1/turns/:id", name: "turn", about: "One turn of one tenant.",
			parameters: []parameter{pathTurn, askWhose}, answer: oneTurn{}, missing: true, serve: (*api).turn},
		{path: "/api/v1/sessions", name: "sessions", about: "Sessions whose last turn ended inside the bounds, most recently active first.",
			parameters: choosing(askAfter, askLimit, askFormat), answer: sessionList{}, rows: true, serve: (*api).sessions},
		{path: "/api/v1/sessions/:class", name: "sessionByQuery", about: "One session of one tenant, for ids that a path cannot carry.",
			parameters: []parameter{pathClass, askWhose, askID}, answer: oneSession{}, missing: true, serve: (*api).session},
		{path: "/api/v1/sessions/:class/*id", name: "session", about: "One session of one tenant.",
			parameters: []parameter{pathClass, pathSession, askWhose}, answer: oneSession{}, missing: true, serve: (*api).session},
	}
	if o.Pins != nil {
		all = append(all, endpoint{path: "/api/v1/pins", name: "pins", about: "What is remembered of sessions.",
			parameters: []parameter{askTenant, askClass, askSession, askModel, askVendor, askAfter, askPage}, answer: pinList{}, serve: (*api).pins})
	}
	return append(all, endpoint{path: "/api/v1/openapi.json", name: "openapi", about: "This document.", serve: (*api).openAPI})
}

// inQuery are the names of the parameters that are no part of the path.
func (e *endpoint) inQuery() []string {
	names := make([]string, 0, len(e.parameters))
	for _, p := range e.parameters {
		if !p.inPath {
			names = append(names, p.name)
		}
	}
	return names
}

// template is the path as OpenAPI writes it.
func (e *endpoint) template() string {
	parts := strings.Split(e.path, "/")
	for i, part := range parts {
		if part != "" && strings.ContainsAny(part[:1], ":*") {
			parts[i] = "{" + part[1:] + "}"
		}
	}
	return strings.Join(parts, "/")
}

// paths is what a 404 of the API says.
func (o APIOptions) paths() string {
	var names []string
	for _, e := range o.endpoints() {
		names = append(names, e.template())
	}
	return "There are GET " + strings.Join(names, ", ") + "."
}
