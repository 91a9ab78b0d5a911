package routes

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
)

// The limits of a request body: images come inside the text, and the largest
// request that Anthropic documents is 32 MB.
const (
	DefaultMaxBody  = 32 << 20         // bytes, unpacked
	DefaultBodyTime = 30 * time.Second // from the header to the body's last byte
)

// Options are what the client APIs need.
type Options struct {
	Gateway  *engine.Gateway
	Vendor   *vendor.Client
	Log      *slog.Logger    // nil: nothing is logged
	Metadata vendor.Metadata // where a request says nothing; empty: body
	MaxBody  int64           // bytes of a body, unpacked; 0 means DefaultMaxBody
	BodyTime time.Duration   // to read a body; 0 means DefaultBodyTime
	Drain    vendor.Drain    // how far an answer is read on after its client left; the zero one: the vendor is cancelled at once
	Own      OwnKeys         // keys of its own of everybody, where there are no tenants
	OwnOnly  bool            // everybody is served with such keys only, never with the operator's
	Sidecar  *Sidecar        // the turns that are carried out elsewhere; nil: one of its own
	Tenants  *Tenants        // who may use the gateway, by their keys; nil: everybody, as [catalog.DefaultTenant], whatever key they present
}

// service is the client APIs.
type service struct {
	Options
	everybody Tenant // of every request where there are no tenants
}

// New makes the handler of the client APIs. It may serve any number of requests
// at once.
func New(o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.BodyTime <= 0 {
		o.BodyTime = DefaultBodyTime
	}
	if o.Metadata == "" {
		o.Metadata = vendor.MetadataBody
	}
	if o.Sidecar == nil {
		o.Sidecar = &Sidecar{}
	}
	s := &service{Options: o, everybody: Tenant{ID: catalog.DefaultTenant, Own: o.Own, Rules: engine.Rules{OwnOnly: o.OwnOnly}}}
	r := router(o.Log)
	v1 := r.Group("/v1", s.admit)
	for _, api := range []catalog.API{catalog.Chat, catalog.Responses, catalog.Messages} {
		v1.POST(api.Path(), s.turn(api))
	}
	for _, p := range []passage{countTokens, embeddings} {
		v1.POST(p.path, s.pass(p))
	}
	v1.POST("/route", s.route)
	v1.POST("/outcomes", s.outcomes)
	v1.GET("/models", s.models)
	v1.GET("/models/*id", s.model)
	r.HEAD("/", func(c *gin.Context) { c.Status(http.StatusOK) })
	r.GET("/", func(c *gin.Context) { c.String(http.StatusOK, "warmroute. %s\n", exists) })
	r.NoRoute(s.notFound)
	r.NoMethod(s.notAllowed)
	return r
}

// router is a gin engine with nothing of gin's own in between.
func router(log *slog.Logger) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	_ = r.SetTrustedProxies(nil) // cannot fail for an empty list
	r.HandleMethodNotAllowed = true
	r.RedirectTrailingSlash = false
	r.RedirectFixedPath = false
	r.Use(accessLog(log), recovery(log))
	return r
}

// The server's limits. A header that comes slowly holds a connection for little,
// while one that idles between the turns of an agent stays open.
const (
	readHeaderTimeout = 5 * time.Second
	idleTimeout       = 120 * time.Second
	maxHeader         = 64 << 10 // bytes
	sendBuffer        = 64 << 10 // bytes on their way to a client that the kernel keeps
)

// NewServer makes a server with the limits that the edge needs. It has no read
// or write timeout: streams last. Bodies and writes have their own deadlines.
func NewServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       bounded,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // it would print addresses and panics
	}
}

// bounded keeps what a client does not read small: left alone, the kernel takes megabytes
// for each, which are nobody's heap and everybody's memory. A connection of another kind
// is left as it is.
func bounded(ctx context.Context, conn net.Conn) context.Context {
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetWriteBuffer(sendBuffer) // fails on a closed connection only
	}
	return ctx
}
