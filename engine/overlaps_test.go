package engine_test

import (
	"context"
	"os"
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/storetest"
)

// plainPins are records in a map, one call at a time: the pure functions and nothing
// else.
type plainPins map[engine.PinKey]engine.Record

func (p plainPins) Recall(_ context.Context, key engine.PinKey) (engine.Record, error) {
	return p[key], nil
}

func (p plainPins) Keep(_ context.Context, key engine.PinKey, model string, e engine.Entry) error {
	p[key] = p[key].Keep(model, e)
	return nil
}

func (p plainPins) Update(_ context.Context, key engine.PinKey, model string, e engine.Entry) error {
	p[key] = p[key].Update(model, e)
	return nil
}

func (p plainPins) Drop(_ context.Context, key engine.PinKey, model string, was engine.Entry) error {
	p[key] = p[key].Drop(model, was)
	return nil
}

// The orders in which a record can hear of three turns that overlap, all of them with
// WARMROUTE_TEST_LONG: none loses the newest pin, none brings a dead one back.
func TestThreeTurnsOverlapInEveryOrder(t *testing.T) {
	every := 13
	if os.Getenv("WARMROUTE_TEST_LONG") != "" {
		every = 1
	}
	storetest.Overlaps(t, plainPins{}, every)
}
