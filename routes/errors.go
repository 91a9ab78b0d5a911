package routes

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/wire"
)

// statusClientLeft is what the access log shows for a client that left before
// its answer; nobody receives it.
const statusClientLeft = 499

// dialect is the dialect of a path's errors: what is not for messages clients
// is told as OpenAI's clients read it.
func dialect(path string) catalog.API {
	path = strings.TrimPrefix(path, "/v1") // a base URL that names it twice is the commonest mistake
	switch {
	case strings.HasPrefix(path, "/v1/messages"), strings.HasPrefix(path, "/messages"):
		return catalog.Messages
	case strings.HasPrefix(path, "/v1/responses"), strings.HasPrefix(path, "/responses"):
		return catalog.Responses
	}
	return catalog.Chat
}

// fail answers with an error of ours.
func fail(c *gin.Context, api catalog.API, status int, message string) {
	failAs(c, api, status, "", message)
}

// failAs is fail with a word for programs; empty, the status says it.
func failAs(c *gin.Context, api catalog.API, status int, kind, message string) {
	write(c, status, "application/json", wire.ErrorBody(api, status, kind, message))
}

// errorTime is how long a client may take to accept an error.
const errorTime = 30 * time.Second

// write sends a whole body that is not a vendor's answer.
func write(c *gin.Context, status int, contentType string, body []byte) {
	h := c.Writer.Header()
	h["Content-Type"] = []string{contentType}
	h["Content-Length"] = []string{fmt.Sprint(len(body))}
	h["Cache-Control"] = []string{"no-store"}
	h["X-Content-Type-Options"] = []string{"nosniff"}
	// net/http lifts the deadline before the connection is used again.
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(errorTime))
	c.Writer.WriteHeader(status)
	_, _ = c.Writer.Write(body) // a client that left reads no error
}

// refuse answers a request that could not be read. No turn was begun, so its id
// is one of its own.
func refuse(c *gin.Context, api catalog.API, err error) {
	logEntry(c).turn = requestID(c.Writer.Header())
	unserved(c, api, nil, err)
}

// requestID is the id that a response carries: the turn's, or where there is none
// a fresh one, which it puts there.
func requestID(h http.Header) string {
	if id := h.Get(headerID); id != "" {
		return id
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	id := hex.EncodeToString(b[:])
	h[headerID] = []string{id}
	return id
}

// unserved answers a request for which nothing was tried. now is the catalog in
// force, nil where it does not matter.
func unserved(c *gin.Context, api catalog.API, now *catalog.Catalog, err error) {
	var (
		refused *wire.RefusedError
		noRoute *engine.NoRouteError
		unknown *engine.UnknownTargetError
	)
	switch {
	case errors.As(err, &refused):
		fail(c, api, http.StatusBadRequest, refused.Message)
	case errors.As(err, &noRoute) && noRoute.Keyless():
		fail(c, api, http.StatusServiceUnavailable, sentence(noRoute))
	case errors.As(err, &noRoute):
		fail(c, api, http.StatusBadRequest, sentence(noRoute))
	case errors.Is(err, engine.ErrSort):
		fail(c, api, http.StatusBadRequest, sentence(err))
	case errors.As(err, &unknown):
		failAs(c, api, http.StatusNotFound, "model_not_found", nowhere(unknown.Name, now, &tenant(c).Rules))
	case errors.Is(err, errTooLarge):
		c.Writer.Header().Set("Connection", "close") // the rest of the body is not read
		fail(c, api, http.StatusRequestEntityTooLarge, "The request body is larger than this gateway accepts.")
	case errors.Is(err, errOwnKeys):
		fail(c, api, http.StatusForbidden, sentence(err))
	case errors.Is(err, errSlipped):
		c.Writer.Header().Set("Connection", "close")
		fail(c, api, http.StatusForbidden, sentence(err))
	case errors.Is(err, errUnknownCode):
		fail(c, api, http.StatusUnsupportedMediaType, sentence(err))
	case errors.Is(err, errBodyLate):
		c.Writer.Header().Set("Connection", "close")
		fail(c, api, http.StatusRequestTimeout, sentence(err))
	case errors.Is(err, errBodyBroken):
		fail(c, api, http.StatusBadRequest, "The request body is damaged: it does not unpack, or ends too early.")
	case errors.Is(err, errClientGone):
		c.Status(statusClientLeft)
	default:
		fail(c, api, http.StatusInternalServerError, "Something in warmroute itself went wrong; its log says what.")
	}
}

// sentence is an error's text as people read it.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// maxEcho is the most that is repeated of a name a client made up, in bytes.
const maxEcho = 100

// echo is the beginning of a name, cut between characters.
func echo(name string) string {
	if len(name) <= maxEcho {
		return name
	}
	cut := maxEcho
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + "…"
}

// nowhere says that a target does not exist, and what was perhaps meant.
func nowhere(asked string, now *catalog.Catalog, rules *engine.Rules) string {
	text := fmt.Sprintf("There is no model, alias or policy named %q.", echo(asked))
	if near := near(now, asked, rules); len(near) > 0 {
		text += " Did you mean " + strings.Join(near, " or ") + "?"
	}
	return text + " GET /v1/models lists what there is."
}

// answered is the status that the client is answered with for an attempt that is
// the turn's last; nil: there was none. What the client gets and what the metrics
// count both come from here.
func answered(a *engine.Attempt) int {
	switch {
	case a == nil:
		return http.StatusBadGateway
	case a.Committed:
		return a.Status
	case a.Stage == engine.StageServed:
		return statusClientLeft // before it could be given a whole answer
	}
	switch a.Failure {
	case engine.FailureShutdown:
		return http.StatusServiceUnavailable
	case engine.FailureClientLeft:
		return statusClientLeft
	case engine.FailureCredential, engine.FailureForbidden:
		switch {
		case a.Candidate.Group != engine.GroupClient:
			return http.StatusBadGateway
		case a.Status >= 400 && a.Status <= 499: // only the caller's own keys failed
			return a.Status
		}
		return http.StatusUnauthorized
	case engine.FailureTimeout:
		return http.StatusGatewayTimeout
	}
	if a.Reply != nil && a.Reply.Status >= 400 && a.Reply.Status <= 599 {
		return a.Reply.Status
	}
	return http.StatusBadGateway
}

// failed answers a turn whose every attempt failed before anything was sent, with
// the status that [answered] says. last is nil if there was none.
func failed(c *gin.Context, api catalog.API, last *engine.Attempt) {
	status := answered(last)
	switch {
	case last == nil:
		fail(c, api, status, "No vendor could be asked.")
		return
	case status == statusClientLeft:
		c.Status(status)
		return
	}
	who := "The vendor"
	if route := last.Candidate.Route; route != nil {
		who += " " + route.Vendor.Name
	}
	switch last.Failure {
	case engine.FailureCredential, engine.FailureForbidden:
		// What the vendor says of a key may contain it.
		if last.Candidate.Group == engine.GroupClient {
			fail(c, api, status, who+" did not accept your own key for it.")
			return
		}
		fail(c, api, status, who+" did not accept this gateway's key for it; the request itself is not at fault.")
	case engine.FailureTimeout:
		fail(c, api, status, who+" did not answer in time.")
	case engine.FailureShutdown:
		fail(c, api, status, "The gateway is shutting down; ask again.")
	case engine.FailureConnect:
		fail(c, api, status, who+" could not be reached, or it did not answer properly.")
	case engine.FailureCut:
		fail(c, api, status, who+"'s answer was cut before its end.")
	default:
		relay(c, api, status, who, last.Reply)
	}
}

// relay gives the client a vendor's refusal: as it is where it is JSON, which is
// the client's own dialect, since dialects are not translated; else its status
// with a text of ours about who. A reply of another status than the client's is no refusal.
func relay(c *gin.Context, api catalog.API, status int, who string, reply *engine.Reply) {
	if reply == nil || reply.Status != status {
		fail(c, api, status, who+" did not answer this request.")
		return
	}
	for name, values := range reply.Header {
		c.Writer.Header()[name] = values
	}
	if reply.RetryAfter != "" {
		c.Writer.Header()["Retry-After"] = []string{reply.RetryAfter}
	}
	if len(reply.Body) > 0 && json.Valid(reply.Body) {
		write(c, status, "application/json", reply.Body)
		return
	}
	fail(c, api, status, fmt.Sprintf("%s refused the request with status %d.", who, status))
}

// exists is what every 404 names.
const exists = "This gateway serves POST /v1/chat/completions, /v1/responses, /v1/messages, /v1/messages/count_tokens, /v1/embeddings, GET /v1/models, and for other gateways POST /v1/route and /v1/outcomes."

// notFound answers a path that is none of ours.
func (s *service) notFound(c *gin.Context) {
	path := c.Request.URL.Path
	what := "There is nothing at this path."
	switch {
	case strings.HasPrefix(path, "/v1/images"), strings.HasPrefix(path, "/v1/audio"), strings.HasPrefix(path, "/v1/realtime"):
		what = "Images, audio and realtime are not served: session affinity is for text."
	case path == "/v1/completions", path == "/v1/complete":
		what = "Legacy completions are not served."
	case !strings.HasPrefix(path, "/v1/"), strings.HasPrefix(path, "/v1/v1/"):
		what += " The client's base URL should end in /v1 for OpenAI's clients and be the bare address for Anthropic's."
	}
	fail(c, dialect(path), http.StatusNotFound, what+" "+exists)
}

// notAllowed answers a method that a path does not have.
func (s *service) notAllowed(c *gin.Context) {
	fail(c, dialect(c.Request.URL.Path), http.StatusMethodNotAllowed, "This path has no such method. "+exists)
}

// typeName is a value's type, for the log.
func typeName(v any) string { return fmt.Sprintf("%T", v) }
