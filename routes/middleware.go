package routes

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// entryKey is where a request's log entry lies in its gin context.
const entryKey = "warmroute.entry"

// entry is what a turn adds to its line in the access log.
type entry struct {
	turn     string
	tenant   string
	class    engine.Class
	vendor   string
	outcome  engine.Outcome
	stage    string // empty: no attempt was made
	failure  engine.Failure
	attempts int
	cause    string
	aborted  bool
	drained  int64 // bytes read on after the client had left
}

// accessLog writes a line per request: the route's template, not its path, and
// neither query, header nor body.
func accessLog(log *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		began := time.Now()
		e := &entry{}
		c.Set(entryKey, e)
		defer func() {
			level := slog.LevelInfo
			if probe(c.FullPath()) {
				level = slog.LevelDebug
			}
			if e.failure != engine.FailureNone && e.failure != engine.FailureClientLeft || c.Writer.Status() >= http.StatusInternalServerError {
				level = slog.LevelWarn
			}
			if !log.Enabled(c.Request.Context(), level) {
				return
			}
			attrs := make([]slog.Attr, 0, 13)
			attrs = append(attrs,
				slog.String("method", knownMethod(c.Request.Method)),
				slog.String("route", template(c)),
				slog.Int("status", c.Writer.Status()),
				slog.Float64("ms", float64(time.Since(began).Microseconds())/1000),
			)
			for _, a := range [...]struct{ name, value string }{
				{"turn", e.turn}, {"tenant", e.tenant}, {"session_class", string(e.class)}, {"vendor", e.vendor}, {"outcome", string(e.outcome)},
				{"stage", e.stage}, {"failure", string(e.failure)}, {"cause", e.cause},
			} {
				if a.value != "" {
					attrs = append(attrs, slog.String(a.name, a.value))
				}
			}
			if e.attempts > 1 {
				attrs = append(attrs, slog.Int("attempts", e.attempts))
			}
			if e.drained > 0 {
				attrs = append(attrs, slog.Int64("drained_bytes", e.drained))
			}
			if e.aborted {
				attrs = append(attrs, slog.Bool("aborted", true))
			}
			log.LogAttrs(c.Request.Context(), level, "request", attrs...)
		}()
		c.Next()
	}
}

// template is the route that a request was matched to. What matched none is a
// client's invention and is not repeated.
func template(c *gin.Context) string {
	if route := c.FullPath(); route != "" {
		return route
	}
	return "none"
}

// probe says whether a route is asked by machines all day.
func probe(route string) bool {
	return route == "/healthz" || route == "/readyz" || route == "/metrics"
}

// logFailure writes a line for an attempt that failed, also where another
// candidate served the turn: who failed, how, and for how long it is left alone. path is
// that of the API at the vendor.
// A client that left is no vendor's failure.
func (s *service) logFailure(ctx context.Context, path string, try *engine.Try, a *engine.Attempt) {
	if a.Failure == engine.FailureNone || a.Failure == engine.FailureClientLeft || a.Failure == engine.FailureRequest {
		return
	}
	attrs := []slog.Attr{
		slog.String("turn", try.TurnID),
		slog.Int("number", try.Number),
		slog.String("model", try.Candidate.Route.Model.Name),
		slog.String("vendor", try.Candidate.Route.Vendor.Name),
		slog.String("credential", try.Candidate.Credential),
		slog.String("failure", string(a.Failure)),
		slog.Int("status", a.Status),
		slog.String("cause", a.Cause),
	}
	v := try.Candidate.Route.Vendor
	if place := keptIn(v, try.Candidate.Credential); place != "" && (a.Failure == engine.FailureCredential || a.Failure == engine.FailureForbidden || a.Status == http.StatusNotFound) {
		attrs = append(attrs, slog.String("key", place))
	}
	if address := upstream(v, path); address != "" {
		attrs = append(attrs, slog.String("upstream", address))
	}
	if a.RetryAfter > 0 {
		attrs = append(attrs, slog.String("retry_after", a.RetryAfter.String()))
	}
	s.Log.LogAttrs(ctx, slog.LevelWarn, "attempt failed", attrs...)
}

// keptIn is the environment variable of a vendor's credential; empty where the key is
// kept elsewhere, since a path may be the key itself by mistake.
func keptIn(v *catalog.Vendor, credential string) string {
	for i := range v.Credentials {
		if v.Credentials[i].ID == credential {
			return v.Credentials[i].Env
		}
	}
	return ""
}

// upstream is the host and path that a vendor was asked at: a base URL that
// names too much or too little of the path is the commonest reason for a 404.
func upstream(v *catalog.Vendor, path string) string {
	if v.BaseURL == nil {
		return ""
	}
	return v.BaseURL.Host + strings.TrimSuffix(v.BaseURL.Path, "/") + path
}

// logEntry is the request's entry.
func logEntry(c *gin.Context) *entry {
	if e, ok := c.MustGet(entryKey).(*entry); ok {
		return e
	}
	return &entry{}
}

// knownMethod keeps a client's invention out of the log.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return method
	}
	return "other"
}

// recovery answers a panic with a 500, or aborts the answer if one had begun.
//
// An abort passes: net/http must see it, or a cut answer ends like a whole one.
// Of the panic's value only the type is logged, unless it is the runtime's own:
// it may hold what a client sent.
func recovery(log *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		defer func() {
			r := recover()
			switch {
			case r == nil:
				return
			case r == http.ErrAbortHandler:
				panic(r)
			}
			what := typeName(r)
			if e, ok := r.(runtime.Error); ok {
				what = e.Error()
			}
			log.LogAttrs(c.Request.Context(), slog.LevelError, "panic",
				slog.String("route", template(c)), slog.String("what", what), slog.String("stack", string(debug.Stack())))
			if c.Writer.Written() {
				panic(http.ErrAbortHandler)
			}
			if c.Request.Method == http.MethodPost && strings.HasPrefix(c.FullPath(), "/v1/") {
				logEntry(c).turn = requestID(c.Writer.Header())
			}
			fail(c, dialect(c.Request.URL.Path), http.StatusInternalServerError, "Something in warmroute itself went wrong; its log says what.")
		}()
		c.Next()
	}
}
