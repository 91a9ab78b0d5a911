package routes

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/routes/vendor"
	"github.com/warmroute/warmroute/routes/wire"
)

// The limits of a report.
const (
	maxReport = 1 << 20 // bytes
	maxTried  = 64      // attempts of one turn
)

// outcomes takes a report of a turn that /v1/route has decided.
func (s *service) outcomes(c *gin.Context) {
	if slipped(c.Request.Header) {
		refuse(c, catalog.Chat, errSlipped)
		return
	}
	buffer := bodies.Get().(*[]byte)
	defer func() { recycle(buffer) }()
	body, err := s.readUpTo(c.Writer, c.Request, (*buffer)[:0], min(maxReport, s.MaxBody))
	*buffer = body
	if err != nil {
		refuse(c, catalog.Chat, err)
		return
	}
	var report reportShape
	if err := strict(body, "", &report); err != nil {
		refuse(c, catalog.Chat, err)
		return
	}
	if report.Turn == "" {
		refuse(c, catalog.Chat, complaint(`"turn" is missing; it is the one that /v1/route answered with`))
		return
	}
	now, owner := s.now(), tenant(c).ID
	pending, last, found := s.Sidecar.find(owner, report.Turn, now)
	if !found {
		logEntry(c).turn = requestID(c.Writer.Header())
		failAs(c, catalog.Chat, http.StatusNotFound, "turn_not_found", unheard)
		return
	}
	c.Writer.Header()[headerID] = []string{report.Turn}
	logEntry(c).turn = report.Turn
	if pending == nil { // a report that is sent again has the same answer
		write(c, http.StatusOK, "application/json", last)
		return
	}
	turn, err := s.tell(c, pending, &report)
	if err != nil {
		unserved(c, catalog.Chat, nil, err)
		return
	}
	note(logEntry(c), &turn, false)
	settled := pending.Over()
	told := toldOf(&turn, settled, !settled && pending.Open())
	if settled {
		answer := encoded(told)
		s.Sidecar.heard(owner, report.Turn, pending, answer, now)
		write(c, http.StatusOK, "application/json", answer)
		return
	}
	told.Expires = instant(s.Sidecar.heard(owner, report.Turn, pending, nil, now))
	write(c, http.StatusOK, "application/json", encoded(told))
}

// unheard is what a report of a turn that is not known is answered with. It says the
// same of other tenants' turns.
const unheard = "No turn of this id waits for its outcome here: it was decided too long ago, by another process, or before this one started. " +
	"Nothing else is lost: the session's next turn is decided without this one. Ask POST /v1/route for every turn and report to the same process within 15 minutes, as accepted where it takes longer."

// encoded is an answer as bytes.
func encoded(told toldShape) []byte {
	body, _ := json.Marshal(told) // strings, numbers and times of our own: it cannot fail
	return append(body, '\n')
}

// tell reads the report's attempts and has the engine take them. The error is a
// *wire.RefusedError.
func (s *service) tell(c *gin.Context, pending *engine.Pending, report *reportShape) (engine.Turn, error) {
	turn := pending.Turn()
	if len(report.Attempts) > maxTried {
		return turn, complaint(`"attempts" has more than %d`, maxTried)
	}
	took, err := span("took_ms", report.Took)
	if err != nil {
		return turn, err
	}
	told := make([]engine.Told, len(report.Attempts))
	for i := range report.Attempts {
		if told[i], err = report.Attempts[i].read(&turn, s.now()); err != nil {
			return turn, complaint("attempt %d: %v", i+1, err)
		}
	}
	final := report.Final == nil || *report.Final
	turn, err = pending.Tell(c.Request.Context(), told, final, took)
	var wrong *engine.TellError
	if errors.As(err, &wrong) {
		err = complaint("%v", wrong)
	}
	return turn, err
}

// read turns one attempt into what the engine is told. The error's text is for the
// client.
func (t *triedShape) read(turn *engine.Turn, now time.Time) (told engine.Told, err error) {
	if told.Candidate, err = t.candidate(turn); err != nil {
		return told, err
	}
	a := &told.Attempt
	if err := t.ending(&told); err != nil {
		return told, err
	}
	if a.FirstByte, err = span("first_byte_ms", t.FirstByte); err != nil {
		return told, err
	}
	if a.Took, err = span("took_ms", t.Took); err != nil {
		return told, err
	}
	if t.Started != nil {
		a.Started = *t.Started
	}
	if t.Accepted != nil {
		a.AcceptedAt = *t.Accepted
	}
	a.RetryAfter = vendor.RetryAfter(t.RetryAfter, now)
	if len(t.Response) > maxWord || len(t.Served) > maxWord || len(t.Tier) > maxWord {
		return told, complaint("response_id, served_model and service_tier have at most %d bytes", maxWord)
	}
	if turn.API == catalog.Responses {
		a.ResponseID = t.Response
	}
	a.Candidate = turn.Plan.Candidates[told.Candidate]
	if err := t.usage(turn.API, a); err != nil {
		return told, err
	}
	a.ServedModel = t.Served
	if t.Tier != "" {
		a.ServedTier = t.Tier
	}
	if t.Said != nil {
		var h engine.Hearing
		h.Text([]byte(t.Said.Text))
		for _, id := range t.Said.ToolCalls {
			h.Call([]byte(id))
		}
		a.Said = h.Said()
	}
	a.Cause = "told of by another gateway"
	a.Answered = t.answered(a)
	return told, nil
}

// maxWord is the longest word of a vendor's that is taken, in bytes.
const maxWord = 256

// answered is the status that the client got, as far as the attempt tells.
func (t *triedShape) answered(a *engine.Attempt) int {
	if a.Stage == engine.StageServed {
		return a.Status
	}
	return answered(a)
}

// candidate is the place in the plan of the one that an attempt names.
func (t *triedShape) candidate(turn *engine.Turn) (index int, err error) {
	index, fit := -1, 0
	for _, i := range turn.Decision.Order {
		if t.names(&turn.Plan.Candidates[i]) {
			fit++
			if index < 0 {
				index = i
			}
		}
	}
	if fit == 1 {
		return index, nil
	}
	var names []string
	for _, i := range turn.Decision.Order[:min(len(turn.Decision.Order), maxNamed)] {
		c := choiceOf(&turn.Plan.Candidates[i])
		names = append(names, strings.TrimSpace(c.Vendor+" "+c.Credential)+" for "+c.Model)
	}
	what := "it names no candidate of this turn"
	if fit > 1 {
		what = "it names several candidates of this turn; give the model, credential and group of the order, too"
	}
	return 0, complaint("%s; they are %s", what, strings.Join(names, ", "))
}

// maxNamed is how many candidates an error names.
const maxNamed = 16

func (t *triedShape) names(c *engine.Candidate) bool {
	is := func(said *string, name string) bool { return said == nil || *said == name }
	return t.Vendor == c.Route.Vendor.Name && is(t.Model, c.Route.Model.Name) && is(t.UpstreamModel, c.Route.UpstreamModel) &&
		is(t.Credential, c.Credential) && is(t.Group, groupOf(c.Group))
}

// failures are the words for what went wrong.
var failures = []engine.Failure{
	engine.FailureConnect, engine.FailureTimeout, engine.FailureThrottled, engine.FailureServer, engine.FailureCredential, engine.FailureForbidden,
	engine.FailureNotFound, engine.FailureRequest, engine.FailureStream, engine.FailureCut, engine.FailureClientLeft, engine.FailureShutdown,
}

// ending reads how the attempt ended, or that it has not.
func (t *triedShape) ending(told *engine.Told) error {
	a := &told.Attempt
	a.Status, a.Failure, a.Committed = t.Status, engine.Failure(t.Failure), t.Committed
	fine := t.Status >= 200 && t.Status <= 299
	switch {
	case t.Status != 0 && (t.Status < 100 || t.Status > 599):
		return complaint("status must be the vendor's HTTP status")
	case t.Failure != "" && !slices.Contains(failures, a.Failure):
		return complaint("failure must be one of %s", words(failures))
	}
	switch t.Stage {
	case "":
		if t.Accepted == nil && !fine {
			return complaint("it has neither a stage nor accepted_at; an attempt that no vendor has accepted yet need not be told of")
		}
		told.Open = true
	case "refused":
		if t.Accepted != nil || fine || t.Committed {
			return complaint("an attempt that a vendor accepted was not refused; say served, broken or abandoned")
		}
		if a.Failure == "" && t.Status != 0 {
			a.Failure = vendor.FailureOf(t.Status)
		}
		a.Stage = engine.StageRefused
		orElse(&a.Failure, engine.FailureConnect)
	case "broken":
		a.Stage = engine.StageBroken
		orElse(&a.Failure, engine.FailureCut)
	case "abandoned":
		a.Stage = engine.StageAbandoned
		orElse(&a.Failure, engine.FailureClientLeft)
	case "served":
		if t.Failure != "" || t.Status != 0 && !fine {
			return complaint("an attempt that served has a status of 200 to 299 and no failure")
		}
		a.Stage, a.Committed = engine.StageServed, true
		if a.Status == 0 {
			a.Status = http.StatusOK
		}
	default:
		return complaint("stage must be refused, broken, abandoned or served")
	}
	return nil
}

func orElse(f *engine.Failure, usual engine.Failure) {
	if *f == engine.FailureNone {
		*f = usual
	}
}

// span is a length of time that was told in milliseconds.
func span(name string, ms *float64) (time.Duration, error) {
	switch {
	case ms == nil:
		return 0, nil
	case !(*ms >= 0) || *ms > float64(30*24*time.Hour/time.Millisecond):
		return 0, complaint("%s must be a length of time in milliseconds", name)
	}
	return time.Duration(math.Round(*ms * float64(time.Millisecond))), nil
}

// usage reads what the attempt used.
func (t *triedShape) usage(api catalog.API, a *engine.Attempt) error {
	switch {
	case len(t.Usage) > 0 && t.Tokens != nil:
		return complaint("give either usage or tokens")
	case t.Tokens != nil:
		if err := t.Tokens.take(a); err != nil {
			return err
		}
	case len(t.Usage) > 0 && !bytes.Equal(t.Usage, null):
		r := wire.Normalise(a.Candidate.Route.Vendor.UsageOf(api), t.Usage)
		a.Usage, a.Quality, a.ReadUnknown, a.Implicit = r.Usage, r.Quality, r.ReadUnknown, r.Implicit
		a.ServedTier, a.Speed, a.Region = r.Tier, r.Speed, r.Region
		a.Charged, a.Sides, a.RawUsage = r.Charged, r.Sides, bytes.Clone(r.Raw)
	}
	whole := a.Stage == engine.StageServed
	if t.Complete != nil {
		whole = *t.Complete
	}
	if a.Quality.Complete() && !whole {
		a.Quality = pricing.Partial
	}
	return nil
}

var null = []byte("null")

// take reads buckets, which are complete only by what they were made from.
func (b *bucketsShape) take(a *engine.Attempt) error {
	if b.Uncached == nil || b.Output == nil {
		return complaint("tokens must have uncached and output; those that are not known are no usage")
	}
	a.Usage = pricing.Usage{Input: *b.Uncached, CacheWrite5m: b.CacheWrite5m, CacheWrite1h: b.CacheWrite1h, Output: *b.Output, Reasoning: b.Reasoning}
	if b.CacheRead != nil {
		a.Usage.CacheRead = *b.CacheRead
	}
	u := &a.Usage
	for _, n := range [...]int64{u.Input, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h, u.Output, u.Reasoning} {
		if n < 0 || n > maxPrompt {
			return complaint("tokens has an impossible number")
		}
	}
	if u.Reasoning > u.Output {
		return complaint("tokens.reasoning is part of output and cannot be more")
	}
	a.ReadUnknown = b.CacheRead == nil
	a.Quality = pricing.Derived
	if u.Prompt() == 0 {
		a.Quality = pricing.Partial // no prompt is empty
	}
	return nil
}
