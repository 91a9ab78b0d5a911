package badgerstore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/engine/storetest"
)

// openLedger opens a ledger that the end of the test closes, unless the test did.
func openLedger(t testing.TB, dir string, o badgerstore.LedgerOptions) *badgerstore.Ledger {
	t.Helper()
	l, err := badgerstore.OpenLedger(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil && !errors.Is(err, badgerstore.ErrLedgerClosed) {
			t.Error(err)
		}
	})
	return l
}

func flush(t testing.TB, l *badgerstore.Ledger) {
	t.Helper()
	if err := l.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestLedger(t *testing.T) {
	storetest.Ledger(t, func(t *testing.T) (storetest.Books, func()) {
		l := openLedger(t, t.TempDir(), badgerstore.LedgerOptions{Wait: 1e10, Auditor: storetest.Counter{}})
		return l, func() { flush(t, l) }
	})
}
