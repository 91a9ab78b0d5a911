package faults_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
)

// hurt is what befalls a store of pins.
type hurt int

const (
	unhurt hurt = iota
	stalls      // nothing is answered until the caller gives up
	fails       // every call is an error
	forges      // every record is of a vendor that nobody may use
)

// hurtPins is a store of pins to which something happens. What a caller is still told
// after a stall is the error of its own context.
type hurtPins struct {
	engine.Pins
	now atomic.Int64 // a hurt
}

var errHurt = errors.New("the store is broken")

func (p *hurtPins) befall(ctx context.Context) error {
	switch hurt(p.now.Load()) {
	case stalls:
		<-ctx.Done()
		return ctx.Err()
	case fails:
		return errHurt
	}
	return nil
}

func (p *hurtPins) Recall(ctx context.Context, key engine.PinKey) (engine.Record, error) {
	if err := p.befall(ctx); err != nil {
		return engine.Record{}, err
	}
	r, err := p.Pins.Recall(ctx, key)
	if hurt(p.now.Load()) == forges {
		return engine.Record{}.Keep("sea/charts", engine.Entry{Vendor: "forged", Credential: "none", AcceptedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour)}), err
	}
	return r, err
}

func (p *hurtPins) Keep(ctx context.Context, key engine.PinKey, model string, e engine.Entry) error {
	if err := p.befall(ctx); err != nil {
		return err
	}
	return p.Pins.Keep(ctx, key, model, e)
}

func (p *hurtPins) Update(ctx context.Context, key engine.PinKey, model string, e engine.Entry) error {
	if err := p.befall(ctx); err != nil {
		return err
	}
	return p.Pins.Update(ctx, key, model, e)
}

func (p *hurtPins) Drop(ctx context.Context, key engine.PinKey, model string, was engine.Entry) error {
	if err := p.befall(ctx); err != nil {
		return err
	}
	return p.Pins.Drop(ctx, key, model, was)
}

// deafLedger is told of turns and of attempts to come, keeps nothing, and fails where it
// can say so.
type deafLedger struct{ turns, attempts atomic.Int64 }

func (l *deafLedger) Record(engine.Turn) { l.turns.Add(1) }

func (l *deafLedger) Intend(context.Context, *engine.Turn, engine.Candidate) error {
	l.attempts.Add(1)
	return errHurt
}

// Whatever befalls the store of pins, every turn is served by the vendor that would
// have been first without affinity, no later than its deadlines allow.
func TestStoresThatAreHurtHurtNoTurn(t *testing.T) {
	text := "version: 1\nvendors:\n"
	for _, name := range []string{"first", "second"} {
		text += fmt.Sprintf("  %s: {api: [chat], base_url: https://%s.example/v1}\n", name, name)
	}
	text += "models:\n  sea/charts:\n    routes:\n      - {vendor: first, model: charts, price: {input: 2, output: 8, cache_read: 0.2}}\n      - {vendor: second, model: charts, price: {input: 3, output: 9, cache_read: 0.3}}\n"
	c, err := catalog.Parse("catalog.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []struct {
		name    string
		hurt    hurt
		outcome engine.Outcome
	}{{"stalls", stalls, engine.StoreUnavailable}, {"fails", fails, engine.StoreUnavailable}, {"forges", forges, engine.SkippedNotInPlan}} {
		t.Run(h.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pins, ledger := &hurtPins{Pins: inmem.New(inmem.Options{})}, &deafLedger{}
				g := &engine.Gateway{Catalog: func() *catalog.Catalog { return c }, Pins: pins, Health: engine.NewHealth(), Ledger: ledger, Intents: ledger, Now: time.Now}
				send := func(_ context.Context, try engine.Try) engine.Attempt {
					try.Accepted()
					return engine.Attempt{Stage: engine.StageServed, Status: 200, Committed: true}
				}
				serve := func() (engine.Turn, time.Duration) {
					began := time.Now()
					turn, err := g.Serve(t.Context(), engine.Request{Tenant: "shop", API: catalog.Chat, Target: "sea/charts", BodyID: "one"}, send)
					if err != nil {
						t.Fatal(err)
					}
					return turn, time.Since(began)
				}
				serve()
				pins.now.Store(int64(h.hurt))
				for range 20 {
					turn, took := serve()
					last, _ := turn.Last()
					if last == nil || last.Stage != engine.StageServed || last.Candidate.Route.Vendor.Name != "first" || turn.Decision.Models[0].Outcome != h.outcome {
						t.Fatalf("outcome %s, last attempt %+v", turn.Decision.Models[0].Outcome, last)
					}
					if took > 4*engine.DefaultDeadline {
						t.Errorf("the store held a turn for %v", took)
					}
				}
				pins.now.Store(int64(unhurt))
				if turn, _ := serve(); turn.Decision.Models[0].Outcome != engine.Confirmed {
					t.Errorf("once the store is well the outcome is %s", turn.Decision.Models[0].Outcome)
				}
				if ledger.turns.Load() != 22 || ledger.attempts.Load() != 22 {
					t.Errorf("the ledger was told of %d turns and %d attempts", ledger.turns.Load(), ledger.attempts.Load())
				}
			})
		})
	}
}
