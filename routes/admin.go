package routes

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/catalog"
)

// Readiness is what GET /readyz?verbose shows.
type Readiness struct {
	Ready   bool          `json:"ready"`
	Reason  string        `json:"reason,omitempty"`  // why it is not, or what is degraded
	Profile string        `json:"profile,omitempty"` // whose rules of affinity hold for tenants that have none of their own
	Catalog CatalogStatus `json:"catalog"`
	Pins    PinStatus     `json:"pins"`
	Ledger  LedgerStatus  `json:"ledger"`
}

// CatalogStatus is the catalog in force and the last attempt to replace it.
type CatalogStatus struct {
	Path   string    `json:"path"`
	Digest string    `json:"digest"`
	Loaded time.Time `json:"loaded"`
	// Problem is what is wrong with the file as it is now; the last good catalog
	// stays in force. Empty if nothing is.
	Problem string `json:"problem,omitempty"`
	// Since is when that was found, zero where nothing is wrong.
	Since time.Time `json:"since,omitzero"`
	// Mistakes are those of the file, each at its place, at most [catalog.MaxProblems]
	// and one more that counts the others. Empty too where the file cannot be read.
	Mistakes []mistake `json:"mistakes,omitempty"`
}

// Refused adds why the file is not the catalog in force; a nil error adds nothing.
func (s *CatalogStatus) Refused(err error, at time.Time) {
	if err != nil {
		s.Problem, s.Since, s.Mistakes = err.Error(), at, mistakesOf(err)
	}
}

// PerInstance says that every instance of the gateway has pins of its own: a session
// whose turns come to several is warm by chance.
const PerInstance = "pins per instance"

// PinStatus is how far the pins in memory and on disk agree.
type PinStatus struct {
	Kept      string `json:"kept,omitempty"` // who shares them: see [PerInstance]
	Loaded    bool   `json:"loaded"`         // every stored pin is in memory
	Unwritten int    `json:"unwritten"`      // records changed and not yet durable
	Records   int    `json:"records"`        // in memory
	Problem   string `json:"problem,omitempty"`
}

// LedgerStatus is how far what is booked has come to disk.
type LedgerStatus struct {
	Queued  int64  `json:"queued"`  // turns that wait to be written
	Dropped int64  `json:"dropped"` // turns given up since the start
	Problem string `json:"problem,omitempty"`
}

// AdminOptions are what the health and reload endpoints need.
type AdminOptions struct {
	Ready  func() Readiness // nil: always ready
	Reload func() error     // reads the catalog again; nil: there is nothing to reload
	Log    *slog.Logger     // nil: nothing is logged
	// Metrics is served at /metrics; nil: there is no such path.
	Metrics http.Handler
	API     APIOptions // without books there is no API
}

// Admin makes the handler of /healthz, /readyz, /-/reload, /metrics, the JSON
// schemas of the catalog and the config file, and the JSON API, whose paths
// [APIOptions] lists.
//
// /healthz is 200 while the process serves. /readyz is 200 or 503; with
// ?verbose its body is a [Readiness]. POST /-/reload is 200, or 422 with the
// catalog's problems as text and one by one, the last good one staying in force; a browser's request
// from another site is refused.
func Admin(o AdminOptions) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := router(o.Log)
	health := func(c *gin.Context) { c.String(http.StatusOK, "ok\n") }
	r.GET("/healthz", health)
	r.HEAD("/healthz", health)
	ready := o.readyz
	r.GET("/readyz", ready)
	r.HEAD("/readyz", ready)
	r.POST("/-/reload", o.reload)
	for path, schema := range map[string][]byte{"/catalog.schema.json": catalog.Schema(), "/config.schema.json": catalog.ConfigSchema()} {
		serve := func(c *gin.Context) { c.Data(http.StatusOK, "application/schema+json", schema) }
		r.GET(path, serve)
		r.HEAD(path, serve)
	}
	if o.Metrics != nil {
		r.GET("/metrics", gin.WrapH(o.Metrics))
	}
	o.API.register(r)
	absent := func(status int) gin.HandlerFunc {
		return func(c *gin.Context) {
			if strings.HasPrefix(c.Request.URL.Path, "/api/") {
				problem(c, status, o.API.paths())
				return
			}
			c.JSON(status, gin.H{"error": "this address serves GET /ui/, GET /api/v1/overview, GET /metrics, GET /healthz, GET /readyz, GET /catalog.schema.json and POST /-/reload"})
		}
	}
	r.NoRoute(absent(http.StatusNotFound))
	r.NoMethod(absent(http.StatusMethodNotAllowed))
	return http.NewCrossOriginProtection().Handler(r)
}

func (o AdminOptions) readyz(c *gin.Context) {
	now := Readiness{Ready: true}
	if o.Ready != nil {
		now = o.Ready()
	}
	status := http.StatusOK
	if !now.Ready {
		status = http.StatusServiceUnavailable
	}
	if _, verbose := c.GetQuery("verbose"); verbose {
		c.JSON(status, now)
		return
	}
	if now.Ready {
		c.String(status, "ready\n")
		return
	}
	c.String(status, "not ready: %s\n", now.Reason)
}

// mistake is one of a file, for programs.
type mistake struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Where   string `json:"where,omitempty"`
	Message string `json:"message"`
	Code    string `json:"code,omitempty"`
}

// mistakesOf are the mistakes of a file that could be read, in its order; none if it
// could not.
func mistakesOf(err error) []mistake {
	all := []mistake{}
	var problems catalog.Problems
	if errors.As(err, &problems) {
		for _, p := range problems {
			all = append(all, mistake{p.File, p.Line, p.Column, p.Where, p.Message, p.Code})
		}
	}
	return all
}

func (o AdminOptions) reload(c *gin.Context) {
	if o.Reload == nil {
		c.JSON(http.StatusNotFound, gin.H{"error": "there is no catalog to reload"})
		return
	}
	if err := o.Reload(); err != nil {
		c.JSON(http.StatusUnprocessableEntity, gin.H{"error": err.Error(), "problems": mistakesOf(err)})
		return
	}
	c.JSON(http.StatusOK, gin.H{"reloaded": true})
}
