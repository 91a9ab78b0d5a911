package inmem_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/engine/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPins(t *testing.T) {
	storetest.Pins(t, func(t *testing.T) engine.Pins { return inmem.New(inmem.Options{}) })
}
