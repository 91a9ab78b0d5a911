package routes

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
	"github.com/warmroute/warmroute/routes/wire"
)

// The headers of a response (design section 9), in canonical form.
const (
	headerID        = "X-Warmroute-Request-Id"
	headerOutcome   = "X-Warmroute-Outcome"
	headerVendor    = "X-Warmroute-Vendor"
	headerSource    = "X-Warmroute-Session-Source"
	headerPinned    = "X-Warmroute-Pinned"
	headerDisplaced = "X-Warmroute-Displaced"
	headerIgnored   = "X-Warmroute-Ignored" // settings of the request that mean nothing here
)

// The headers of a request that are warmroute's own, in canonical form.
const (
	headerMetadata = "X-Warmroute-Metadata"
)

// turn answers one turn in the dialect api.
func (s *service) turn(api catalog.API) gin.HandlerFunc {
	return func(c *gin.Context) {
		if slipped(c.Request.Header) {
			refuse(c, api, errSlipped)
			return
		}
		buffer := bodies.Get().(*[]byte)
		release := sync.OnceFunc(func() { recycle(buffer) })
		defer release()
		body, err := s.readBody(c.Writer, c.Request, (*buffer)[:0])
		*buffer = body
		if err != nil {
			refuse(c, api, err)
			return
		}
		request, err := wire.ReadRequest(api, body)
		if err != nil {
			refuse(c, api, err)
			return
		}
		facts := request.Facts()
		facts.API, facts.Header = api, c.Request.Header
		tenant(c).take(&facts)
		ring, err := s.ownKeys(c.Request.Header, request, tenant(c), &facts)
		if err != nil {
			refuse(c, api, err)
			return
		}
		mode, err := read(c.Request.Header, &facts, tenant(c).metadata(s.Metadata))
		if err != nil {
			refuse(c, api, err)
			return
		}
		facts.DisregardStrangers(s.Gateway.Catalog())
		if len(facts.Ignored) > 0 && mode != vendor.MetadataOff {
			c.Writer.Header()[headerIgnored] = []string{strings.Join(facts.Ignored, ", ")}
		}
		began := release // a stream may last; the body has done its work
		if s.Gateway.Prefixes && facts.Prefix != nil {
			// The books ask for the boundaries when the turn is over: they are looked for
			// while the body is still there, and the client has the stream's first bytes.
			prefix := sync.OnceValue(facts.Prefix)
			facts.Prefix = prefix
			began = func() {
				prefix()
				release()
			}
		}
		s.serve(c, facts, vendor.Call{
			Body:     request,
			Header:   c.Request.Header,
			Query:    c.Request.URL.RawQuery,
			Metadata: mode,
			Apart:    tenant(c).Rules.Apart,
			Key:      ring.find,
			Drain:    tenant(c).drain(s.Drain),
			Began:    began,
		})
	}
}

// slipped says whether a web page sent the request to a place it does not belong
// to, in a form for which browsers ask no leave: on a machine of its own the
// gateway would spend its owner's money for any page that is open there. Pages
// that send JSON have asked, and were not given, leave.
func slipped(h http.Header) bool {
	switch h.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return !strings.Contains(strings.ToLower(h.Get("Content-Type")), "json")
	}
	return false
}

// read takes warmroute's own headers of a request. usual is the mode where they
// name none.
func read(h http.Header, facts *engine.Request, usual vendor.Metadata) (vendor.Metadata, error) {
	off, ok := engine.SwitchedOff(h)
	if !ok {
		return "", &wire.RefusedError{Message: "x-warmroute-affinity must be on or off."}
	}
	facts.AffinityOff = facts.AffinityOff || off
	value := h.Get(headerMetadata)
	if value == "" {
		return usual, nil
	}
	mode, known := vendor.ParseMetadata(value)
	if !known {
		return "", &wire.RefusedError{Message: "x-warmroute-metadata must be body, header or off."}
	}
	return mode, nil
}

// serve has the engine serve the turn and answers where no attempt did.
func (s *service) serve(c *gin.Context, facts engine.Request, call vendor.Call) {
	cut := false
	call.Cut = func() { cut = true }
	turn, err := s.Gateway.Serve(c.Request.Context(), facts, func(ctx context.Context, try engine.Try) engine.Attempt {
		stamp(c.Writer.Header(), call.Metadata, &try)
		a := s.Vendor.Send(ctx, c.Writer, call, try)
		a.Answered = answered(&a)
		s.logFailure(ctx, call.Body.API.Path(), &try, &a)
		return a
	})
	last, tried := turn.Last()
	note(logEntry(c), &turn, cut)
	if !tried {
		untried(c.Writer.Header(), call.Metadata, &turn)
	}
	switch {
	case err != nil:
		unserved(c, facts.API, s.Gateway.Catalog(), err)
	case cut:
		panic(http.ErrAbortHandler) // the turn is recorded; net/http breaks the connection off
	case !tried || !last.Committed:
		failed(c, facts.API, last)
	}
}

// untried puts on a response what is known of a turn in which nothing was tried.
func untried(h http.Header, mode vendor.Metadata, turn *engine.Turn) {
	h[headerID] = []string{turn.ID}
	if source := turn.Session.Source(); source != "" && mode != vendor.MetadataOff {
		h[headerSource] = []string{source}
	}
}

// stamp puts on a response what was decided for the candidate that is tried now.
func stamp(h http.Header, mode vendor.Metadata, try *engine.Try) {
	set := func(name, value string) {
		if value == "" {
			delete(h, name)
			return
		}
		h[name] = []string{value}
	}
	set(headerID, try.TurnID)
	if mode == vendor.MetadataOff {
		return
	}
	set(headerOutcome, string(try.Finding.Outcome))
	set(headerVendor, try.Candidate.Route.Vendor.Name)
	set(headerSource, try.Session.Source())
	set(headerPinned, try.Finding.Pinned)
	set(headerDisplaced, try.Finding.Displaced)
}

// note fills the turn's line in the access log.
func note(e *entry, turn *engine.Turn, cut bool) {
	e.turn, e.class, e.attempts, e.aborted = turn.ID, turn.Session.Class, len(turn.Attempts), cut
	last, ok := turn.Last()
	if !ok {
		return
	}
	e.drained = last.Drained
	e.vendor = last.Candidate.Route.Vendor.Name
	e.stage, e.failure, e.cause = last.Stage.String(), last.Failure, last.Cause
	if last.Finding < len(turn.Decision.Models) {
		e.outcome = turn.Decision.Models[last.Finding].Outcome
	}
}
