package inmem_test

import (
	"testing"

	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/engine/storetest"
)

func TestLedger(t *testing.T) {
	storetest.Ledger(t, func(*testing.T) (storetest.Books, func()) {
		return &inmem.Ledger{Auditor: storetest.Counter{}}, func() {}
	})
}
