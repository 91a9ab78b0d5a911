package engine

import (
	"context"
	"errors"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// ErrUnknownTarget means that no model, alias or policy has the name asked for.
var ErrUnknownTarget = errors.New("unknown model or policy")

// NoRouteError means that every route of the target was filtered out.
type NoRouteError struct {
	Target string
	Plan   Plan // its Removed lists say why
}

// Error says which target has no route left.
func (e *NoRouteError) Error() string { return "no route of " + e.Target + " can serve this request" }

// Gateway carries decisions out. Set it up once; Serve may then be called from
// any number of goroutines.
type Gateway struct {
	Catalog  func() *catalog.Catalog // the catalog in force; read once a turn
	Pins     Pins
	Health   *Health
	Ledger   Ledger        // nil: nothing is recorded
	Deadline time.Duration // for the pin store; 0 means 5 ms
	Gate     catalog.Gate  // empty means cache_read
	Off      bool          // affinity is off for every request
	Now      func() time.Time
	TurnID   func() (text string, id uint64) // a fresh id
}

// Serve answers one request through send. The error is ErrUnknownTarget or a
// *NoRouteError, and then nothing was tried; else the turn's last attempt says
// how it went, and if that did not commit, the caller answers the client.
func (g *Gateway) Serve(ctx context.Context, r Request, send Send) (Turn, error) {
	panic("seam")
}
