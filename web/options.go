package web

import (
	"io/fs"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// Options say where the pages get what they show.
type Options struct {
	Books   engine.Books
	Catalog func() *catalog.Catalog // in force now; names the currency, the vendors' order and the version of the prices
	Status  func() Status           // nil: nothing to report
	Now     func() time.Time        // nil: time.Now
	Gateway string                  // address clients use, such as "http://127.0.0.1:8080", for the example of an empty page; empty: that one
	Assets  fs.FS                   // built scripts; nil: those embedded
}

// Status is how the gateway is, as far as every page says it. The zero Status is
// nothing to report.
type Status struct {
	Problem  string // why the catalog on disk is not the one in force, a line per mistake; empty if it is
	Pins     int64  // sessions remembered, each in its scopes
	Dropped  int64  // turns that were served and could not be booked
	Books    string // why turns are booked in memory only, or not at all; empty if they are kept
	Draining bool   // no new turns are taken
}
