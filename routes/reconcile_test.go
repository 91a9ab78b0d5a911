package routes_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/engine/inmem"
	affinity "github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

// reconciled is a gateway between the world's clients and its vendors, with the books
// on disk.
type reconciled struct {
	t      *testing.T
	world  *world
	dir    string
	ledger *badgerstore.Ledger
	url    string
	log    lockedBuffer // of errors alone
	end    func()
	left   sync.Map // turns whose client left

	patience time.Duration // with a vendor that says nothing
}

func newReconciled(t *testing.T, w *world) *reconciled {
	r := &reconciled{t: t, world: w, dir: t.TempDir()}
	r.open()
	pins := inmem.New(inmem.Options{})
	r.patience = time.Second
	if w.faults == 0 {
		r.patience = time.Minute // nobody hangs; a busy machine may be slow
	}
	vendors := vendor.New(vendor.Options{FirstByte: r.patience, Idle: r.patience})
	server := httptest.NewUnstartedServer(nil)
	server.Config = routes.NewServer(routes.New(routes.Options{
		Gateway: &engine.Gateway{
			Catalog: func() *catalog.Catalog { return w.catalog }, Pins: pins, Health: engine.NewHealth(),
			Ledger: r.ledger, Intents: r.ledger, Prefixes: true, Deadline: time.Second,
		},
		Vendor: vendors,
		Log:    slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelError})),
	}))
	server.Start()
	r.url = server.URL
	r.end = func() {
		server.Close()
		vendors.Close()
		w.close()
		_ = pins.Close(context.Background())
	}
	return r
}

func (r *reconciled) open() {
	var err error
	r.ledger, err = badgerstore.OpenLedger(r.dir, badgerstore.LedgerOptions{Auditor: affinity.Auditor{}, Reserve: -1, Wait: time.Minute, Queue: 1 << 20})
	if err != nil {
		r.t.Fatal(err)
	}
}

// reopen closes the books and opens them again: what is on record then is on disk.
func (r *reconciled) reopen() {
	r.close()
	r.open()
}

func (r *reconciled) close() {
	if err := r.ledger.Close(context.Background()); err != nil {
		r.t.Fatal(err)
	}
}

// turn sends one turn of a session. A client that leaves does so when a vendor has its
// request, or after the first bytes of the answer.
func (r *reconciled) turn(client *http.Client, random *rand.Rand, k *talk, n int) error {
	leaves := ""
	stream := random.IntN(3) > 0
	if r.world.faults > 0 {
		switch random.IntN(300) {
		case 0:
			leaves = "/before"
		case 1:
			leaves, stream = "/amid", true
		}
	}
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	mark := fmt.Sprintf("%s/%d", k.id, n)
	if leaves == "/before" {
		r.world.waiting.Store(mark, func() { leave() })
		defer r.world.waiting.Delete(mark)
	}
	if leaves != "" {
		r.left.Store(mark, true)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+paths[string(k.api)], strings.NewReader(k.body(random, n, leaves, stream)))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Anthropic-Version", "2023-06-01")
	request.Header.Set("X-Session-Id", k.id)
	response, err := client.Do(request)
	if err != nil {
		if leaves != "" {
			return nil
		}
		return err
	}
	defer response.Body.Close()
	if leaves == "/amid" {
		_, _ = response.Body.Read(make([]byte, 1))
		leave()
	}
	_, _ = io.Copy(io.Discard, response.Body)
	return nil
}

// run has clients send turns, one session after the other, until there are so many.
func (r *reconciled) run(seed uint64, turns int) {
	const clients = 16
	var wg sync.WaitGroup
	var sent, sessions atomic.Int64
	for c := range clients {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(c)+100))
			// One connection, so that none is opened for later: the gateway would close it
			// when nothing comes, perhaps just as it is used.
			client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
			defer client.CloseIdleConnections()
			for {
				number := sessions.Add(1)
				k := newTalk(random, fmt.Sprintf("s%d", number), int(number))
				for n := range 1 + random.IntN(16) {
					at := sent.Add(1)
					if at > int64(turns) {
						return
					}
					if at%50 == 0 {
						r.world.evict(int(at / 50))
					}
					if err := r.turn(client, random, k, n); err != nil {
						r.t.Errorf("turn %d of %s: %v", n, k.id, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	r.end()
	if log := r.log.String(); strings.Contains(log, "panic") {
		r.t.Errorf("the gateway panicked: %.4000s", log)
	}
}

// What the vendors' own logs say was used, priced from the catalog's text in
// fractions, is what the ledger says, to the last digit; what no log can say is billed
// and unknown; nothing is missing and nothing is there twice. WARMROUTE_TURNS turns,
// of which one request in twenty goes wrong.
func TestTheLedgerIsWhatTheVendorsBill(t *testing.T) {
	usual := 10_000
	if racing {
		usual = 1000 // make test runs all of them once more without
	}
	turns := number(t, "WARMROUTE_TURNS", usual)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	w := newWorld(t, seed, 0.05)
	r := newReconciled(t, w)
	began := time.Now()
	r.run(seed, turns)
	took := time.Since(began)
	r.reopen()
	defer r.close()
	a := r.read()
	tally := r.overviews(a)
	if a.turns != int64(turns) {
		t.Errorf("%d turns are on record, %d were sent", a.turns, turns)
	}
	faults := 0
	for _, n := range w.kinds {
		faults += n
	}
	if faults < turns/30 || a.billed == a.complete || a.promoted == 0 || a.total.saving.IsZero() || a.used.Write1h == 0 || a.used.Write5m == 0 || a.used.Read == 0 {
		t.Errorf("too little to prove anything: %d faults, %+v", faults, a)
	}
	t.Logf("%d turns in %s, %d attempts, %d billed, %d of them complete, %d without a vendor's log; $%s, $%s saved by affinity, %d turns promoted; faults %v; checked in %s",
		a.turns, took.Round(time.Millisecond), a.attempts, a.billed, a.complete, a.silent, a.sums.Cost, tally.Saving, a.promoted, w.kinds, (time.Since(began) - took).Round(time.Millisecond))
}

// Where the order stays as it is and nobody fails, both worlds are the same: affinity
// saves nothing, whatever the vendors forget.
func TestAFixedHealthyOrderSavesNothing(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := newReconciled(t, newWorld(t, seed, 0))
	r.run(seed, 500)
	r.reopen()
	defer r.close()
	a := r.read()
	tally := r.overviews(a)
	if a.promoted != 0 || a.same != a.turns || tally.Covered != a.total.covered || a.complete != a.turns || !tally.Saving.IsZero() || !tally.Cost.Equal(tally.CostWithout) || a.used.Read == 0 {
		t.Errorf("%d turns, %d promoted, %d the same, %d covered, saving %s", a.turns, a.promoted, a.same, tally.Covered, tally.Saving)
	}
}
