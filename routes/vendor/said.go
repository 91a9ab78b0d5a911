package vendor

import (
	"net/http"
	"strings"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/wire"
)

// failedWith notes an answer that was accepted and turned out to be an error,
// before anything of it was sent: whose fault it is follows from the vendor's own
// word, and what it said is kept for the client.
func (a *attempt) failedWith(e *wire.StreamError) {
	failure := failureSaid(e)
	a.fail(engine.StageBroken, failure, "an error as the answer: "+a.word(e.Type))
	if failure == engine.FailureCredential || failure == engine.FailureForbidden {
		return // what is said of a key may contain it
	}
	status := statusSaid(a.call.Body.API, failure, e)
	body := wire.VendorError(a.call.Body.API, status, *e)
	if a.echoes(string(body)) {
		body = nil
	}
	a.Reply = &engine.Reply{Status: status, Type: "application/json", Body: body}
}

// statusSaid is the status that the vendor would have sent with its error, had it
// known it in time.
func statusSaid(api catalog.API, failure engine.Failure, e *wire.StreamError) int {
	switch {
	case failure == engine.FailureRequest:
		return http.StatusBadRequest
	case failure == engine.FailureThrottled:
		return http.StatusTooManyRequests
	case !strings.Contains(strings.ToLower(e.Type+" "+e.Code), "overloaded"):
		return http.StatusBadGateway
	case api == catalog.Messages:
		return 529
	}
	return http.StatusServiceUnavailable
}

// words are how errors begin or, with a star in front, what stands in them, and
// whose fault that is. The first that fits counts; what fits none is the vendor's
// own failure.
var words = []struct {
	word    string
	failure engine.Failure
}{
	{"rate_limit", engine.FailureThrottled}, {"too_many_requests", engine.FailureThrottled},
	{"insufficient_quota", engine.FailureThrottled}, {"429", engine.FailureThrottled},

	{"authentication", engine.FailureCredential}, {"invalid_api_key", engine.FailureCredential},
	{"billing", engine.FailureCredential}, {"401", engine.FailureCredential}, {"402", engine.FailureCredential},
	{"permission", engine.FailureForbidden}, {"403", engine.FailureForbidden},

	{"invalid_", engine.FailureRequest}, {"bad_request", engine.FailureRequest}, {"unsupported_", engine.FailureRequest},
	{"*context_length", engine.FailureRequest}, {"*context_window", engine.FailureRequest}, {"string_above_max_length", engine.FailureRequest},
	{"request_too_large", engine.FailureRequest}, {"*not_found", engine.FailureRequest},
	{"*content_policy", engine.FailureRequest}, {"*content_filter", engine.FailureRequest}, {"*moderation", engine.FailureRequest},
	{"400", engine.FailureRequest}, {"404", engine.FailureRequest}, {"413", engine.FailureRequest}, {"422", engine.FailureRequest},
}

// failureSaid sorts an error that came inside an accepted answer. Its code is
// asked before its type, which is the wider word.
func failureSaid(e *wire.StreamError) engine.Failure {
	for _, said := range [...]string{e.Code, e.Type} {
		said = strings.ToLower(said)
		for _, w := range words {
			inside, anywhere := strings.CutPrefix(w.word, "*")
			if anywhere && strings.Contains(said, inside) || !anywhere && strings.HasPrefix(said, w.word) {
				return w.failure
			}
		}
	}
	return engine.FailureStream
}
