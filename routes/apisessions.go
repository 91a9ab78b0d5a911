package routes

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/sim"
)

// sessionBookShape is one session as the API shows it.
type sessionBookShape struct {
	Tenant   string        `json:"tenant"`
	Class    engine.Class  `json:"class"`
	ID       string        `json:"id"`
	Source   string        `json:"source"`
	Client   *string       `json:"client"`
	Parent   *string       `json:"parent"`
	Href     string        `json:"href"`
	Turns    string        `json:"turns_href"`
	First    *time.Time    `json:"first"` // start of the first turn
	Last     *time.Time    `json:"last"`  // end of the last
	Models   []latestShape `json:"models"`
	Path     []string      `json:"path"` // vendors of the last turns that were served, oldest first
	Switches int64         `json:"switches"`
	Sums     sumsShape     `json:"sums"`
	Affinity *accountShape `json:"affinity"` // null where nobody judges turns
}

// latestShape is a model and the vendor that served it last.
type latestShape struct {
	Model  string `json:"model"`
	Vendor string `json:"vendor"`
}

func sessionBookOf(s *engine.SessionBook) sessionBookShape {
	shape := sessionBookShape{
		Tenant: s.Tenant, Class: s.Class, ID: s.ID, Source: engine.Session{Class: s.Class}.Source(),
		Client: text(s.Client), Parent: text(s.Parent),
		Href:  sessionHref(s.Tenant, s.Class, s.ID),
		Turns: "/api/v1/turns?" + url.Values{"tenant": {s.Tenant}, "class": {string(s.Class)}, "session": {s.ID}}.Encode(),
		First: instant(s.First), Last: instant(s.Last),
		Models: make([]latestShape, len(s.Models)), Path: append([]string{}, s.Vendors...), Switches: s.Switches,
		Sums: sumsOf(s.Sums),
	}
	var account sim.Account
	if len(s.Account) > 0 && account.UnmarshalBinary(s.Account) == nil {
		affinity := accountOf(&account)
		shape.Affinity = &affinity
	}
	for i, model := range s.Models {
		shape.Models[i].Model = model
		if i < len(s.Latest) {
			shape.Models[i].Vendor = s.Latest[i]
		}
	}
	return shape
}

// sessionList is a page of sessions.
type sessionList struct {
	Currency string             `json:"currency"`
	Sessions []sessionBookShape `json:"sessions"`
	Next     *string            `json:"next"`
}

// oneSession is one session.
type oneSession struct {
	Currency string           `json:"currency"`
	Session  sessionBookShape `json:"session"`
}

// sessions lists sessions: those whose last turn ended inside the bounds.
func (a *api) sessions(c *gin.Context, asked asked) {
	q, page, err := asked.list(a.Now())
	if err != nil {
		troubled(c, err)
		return
	}
	read := func(page engine.Page) ([]sessionBookShape, string, error) {
		sessions, next, err := a.Books.Sessions(c.Request.Context(), q, page)
		list := make([]sessionBookShape, 0, len(sessions))
		for i := range sessions {
			list = append(list, sessionBookOf(&sessions[i]))
		}
		return list, next, err
	}
	if asked.csv() {
		export(c, "sessions", page, read)
		return
	}
	list, next, err := read(page)
	if err != nil {
		troubled(c, err)
		return
	}
	answer(c, sessionList{a.currency(), list, text(next)})
}

// session shows one session, its id in the path or in the query.
func (a *api) session(c *gin.Context, asked asked) {
	id := strings.TrimPrefix(c.Param("id"), "/")
	if id == "" {
		id = asked.get("id")
	}
	class, err := classOf(c.Param("class"))
	if err == nil && id == "" {
		err = wrong("the id is missing; give it as /api/v1/sessions/{class}/{id} or in the parameter id")
	}
	if err != nil {
		troubled(c, err)
		return
	}
	session, found, err := a.Books.Session(c.Request.Context(), asked.tenant(), class, id)
	switch {
	case err != nil:
		troubled(c, err)
	case !found:
		problem(c, http.StatusNotFound, "This tenant has no session of this class and id, or it is no longer kept. Say whose it is with tenant; left out, it is default.")
	default:
		answer(c, oneSession{a.currency(), sessionBookOf(&session)})
	}
}
