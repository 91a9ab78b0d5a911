package main

import (
	"context"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes"
)

// pinFigures are the pins' figures for the metrics.
func (k *keep) pinFigures() routes.PinFigures {
	s := k.pins.Stats()
	return routes.PinFigures{Records: int64(s.Records), Unwritten: s.Unwritten, Dropped: s.Dropped, Bytes: s.Bytes, Evicted: s.Evicted}
}

// bookFigures are the ledger's figures for the metrics.
func (k *keep) bookFigures() routes.LedgerFigures {
	if k.ledger == nil {
		return routes.LedgerFigures{}
	}
	s := k.ledger.Stats()
	return routes.LedgerFigures{Queued: s.Queued, Dropped: s.Dropped}
}

// listPins lists the stored pins, which are behind those in memory by what is
// unwritten. In memory pins are known by a hash of their key only, so without a
// store there is no list.
func (k *keep) listPins() func(context.Context, func(engine.PinKey, engine.Record) bool) error {
	if k.store == nil {
		return nil
	}
	return k.store.Load
}
