package routes

import (
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
	"github.com/warmroute/warmroute/routes/wire"
)

// passage is an endpoint whose answers are passed through: it is no turn. It
// writes no pin and no record in the ledger, costs nothing in the books, and
// says nothing of a vendor's health, since a vendor may lack the endpoint and
// serve turns well.
type passage struct {
	api  catalog.API // dialect of its requests and errors
	path string      // below a vendor's base URL
	// plain: nothing names a session and nothing is pinned. Else the candidates
	// stand as they would for a turn of the session, affinity included, so that
	// the vendor that will serve the turn is the one that is asked.
	plain bool
}

// The passages. Both take the first candidate that answers; candidates that
// refuse, fail or lack the endpoint are passed over as for a turn.
var (
	countTokens = passage{api: catalog.Messages, path: "/messages/count_tokens"}
	// Embeddings go to vendors that speak chat, the dialect of the same family.
	// Their usage is not booked: the ledger keeps turns.
	embeddings = passage{api: catalog.Chat, path: "/embeddings", plain: true}
)

// pass answers one request of a passage.
func (s *service) pass(p passage) gin.HandlerFunc {
	return func(c *gin.Context) {
		if slipped(c.Request.Header) {
			refuse(c, p.api, errSlipped)
			return
		}
		buffer := bodies.Get().(*[]byte)
		release := sync.OnceFunc(func() { recycle(buffer) })
		defer release()
		body, err := s.readBody(c.Writer, c.Request, (*buffer)[:0])
		*buffer = body
		if err != nil {
			refuse(c, p.api, err)
			return
		}
		request, err := wire.ReadRequest(p.api, body)
		if err != nil {
			refuse(c, p.api, err)
			return
		}
		facts := request.Facts()
		facts.API, facts.Header = p.api, c.Request.Header
		tenant(c).take(&facts)
		ring, err := s.ownKeys(c.Request.Header, request, tenant(c), &facts)
		if err != nil {
			refuse(c, p.api, err)
			return
		}
		mode, err := read(c.Request.Header, &facts, tenant(c).metadata(s.Metadata))
		if err != nil {
			refuse(c, p.api, err)
			return
		}
		if p.plain {
			facts = nameless(facts)
		}
		s.passOn(c, p, facts, vendor.Call{
			Body:     request,
			Header:   c.Request.Header,
			Query:    c.Request.URL.RawQuery,
			Metadata: mode,
			Apart:    tenant(c).Rules.Apart,
			Key:      ring.find,
			Began:    release,
		})
	}
}

// nameless is the request without what could name a session, and of no size:
// the texts of a batch are many prompts, not one that must fit.
func nameless(r engine.Request) engine.Request {
	r.Header, r.Opening, r.Last, r.Field, r.AffinityOff = nil, nil, nil, nil, true
	r.OptionID, r.BodyID, r.BodyCamelID, r.CacheKey, r.MetadataUser, r.Key = "", "", "", "", "", ""
	r.TextBytes = 0
	return r
}

// passOn asks the candidates one after the other and answers where none did.
func (s *service) passOn(c *gin.Context, p passage, facts engine.Request, call vendor.Call) {
	ctx := c.Request.Context()
	turn, err := s.Gateway.Decide(ctx, facts)
	if err != nil {
		untried(c.Writer.Header(), call.Metadata, &turn)
		logEntry(c).turn = turn.ID
		unserved(c, p.api, s.Gateway.Catalog(), err)
		return
	}
	for {
		index, ok := engine.Next(turn.Plan, turn.Decision, turn.Attempts)
		if !ok || len(turn.Attempts) > 0 && ctx.Err() != nil {
			break
		}
		try := engine.Try{
			TurnID:    turn.ID,
			Candidate: turn.Plan.Candidates[index],
			Number:    len(turn.Attempts) + 1,
			Session:   turn.Session,
		}
		finding := findingOf(&turn, try.Candidate.Route.Model)
		if !p.plain && finding < len(turn.Decision.Models) {
			try.Finding = turn.Decision.Models[finding]
		}
		stamp(c.Writer.Header(), call.Metadata, &try)
		a := s.Vendor.Pass(ctx, c.Writer, call, p.path, try)
		a.Finding = finding
		s.logFailure(ctx, p.path, &try, &a)
		turn.Attempts = append(turn.Attempts, a)
	}
	if p.plain {
		turn.Decision.Models = nil // the log speaks of no outcome either
	}
	note(logEntry(c), &turn, false)
	if last, tried := turn.Last(); !tried || !last.Committed {
		failed(c, p.api, last)
	}
}

// findingOf is the index of what affinity found for a model; beyond the
// decision's models if it found nothing.
func findingOf(t *engine.Turn, model *catalog.Model) int {
	for i := range t.Decision.Models {
		if t.Decision.Models[i].Model == model {
			return i
		}
	}
	return len(t.Decision.Models)
}
