package routes_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/engine/inmem"
	affinity "github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// sayings are what people in the reconciled world talk of.
var sayings = []string{
	"The pilot boards at the outer buoy and asks for the draught. ",
	"Two lines forward, one aft, and the springs before the engine stops. ",
	"The manifest lists forty crates of lamp oil and one piano. ",
	"Nobody enters the lock while its gate is moving. ",
}

// talk is one session of the reconciled world.
type talk struct {
	id     string
	model  string
	api    catalog.API
	system string
	said   []string // by the user and the assistant in turn
	hour   bool     // marks what it begins with for an hour
	flex   bool
}

func newTalk(r *rand.Rand, id string, of int) *talk {
	m := &market[of%len(market)]
	k := &talk{id: id, model: m.model, api: m.api, hour: r.IntN(2) == 0, flex: m.api != catalog.Messages && r.IntN(4) == 0}
	k.system = "Harbour " + id + ". " + strings.Repeat(sayings[r.IntN(len(sayings))], 2+r.IntN(18))
	return k
}

// body is the request of the next turn.
func (k *talk) body(r *rand.Rand, turn int, leaves string, stream bool) string {
	said := fmt.Sprintf("<%s/%d%s> ", k.id, turn, leaves) + strings.Repeat(sayings[r.IntN(len(sayings))], 1+r.IntN(3))
	k.said = append(k.said, said)
	marker := func(ttl string) string {
		if ttl == "" {
			return ""
		}
		return `,"cache_control":{"type":"ephemeral","ttl":"` + ttl + `"}`
	}
	first := "5m"
	if k.hour {
		first = "1h"
	}
	var messages strings.Builder
	for i, text := range k.said {
		role := [2]string{"user", "assistant"}[i%2]
		if i > 0 {
			messages.WriteByte(',')
		}
		if k.api == catalog.Messages {
			end := ""
			if i == len(k.said)-1 {
				end = marker("5m")
			}
			fmt.Fprintf(&messages, `{"role":%q,"content":[{"type":"text","text":%q%s}]}`, role, text, end)
			continue
		}
		fmt.Fprintf(&messages, `{"role":%q,"content":%q}`, role, text)
	}
	k.said = append(k.said, "So be it.")
	more := ""
	if stream {
		more += `,"stream":true`
		if k.api == catalog.Chat && r.IntN(2) == 0 {
			more += `,"stream_options":{"include_usage":true}`
		}
	}
	if k.flex {
		more += `,"service_tier":"flex"`
	}
	switch k.api {
	case catalog.Messages:
		return fmt.Sprintf(`{"model":%q,"max_tokens":%d%s,"system":[{"type":"text","text":%q%s}],"messages":[%s]}`, k.model, 5+r.IntN(60), more, k.system, marker(first), messages.String())
	case catalog.Responses:
		return fmt.Sprintf(`{"model":%q%s,"instructions":%q,"input":[%s]}`, k.model, more, k.system, messages.String())
	}
	return fmt.Sprintf(`{"model":%q%s,"messages":[{"role":"system","content":%q},%s]}`, k.model, more, k.system, messages.String())
}

// reconciled is a gateway between the world's clients and its vendors, with the books
// on disk.
type reconciled struct {
	t      *testing.T
	world  *world
	dir    string
	ledger *badgerstore.Ledger
	url    string
	client *http.Client
	end    func()
	left   sync.Map // turns whose client left
}

func newReconciled(t *testing.T, w *world) *reconciled {
	r := &reconciled{t: t, world: w, dir: t.TempDir()}
	r.open()
	pins := inmem.New(inmem.Options{})
	patience := time.Second
	if w.faults == 0 {
		patience = time.Minute // nobody hangs; a busy machine may be slow
	}
	vendors := vendor.New(vendor.Options{FirstByte: patience, Idle: patience})
	server := httptest.NewUnstartedServer(nil)
	server.Config = routes.NewServer(routes.New(routes.Options{
		Gateway: &engine.Gateway{
			Catalog: func() *catalog.Catalog { return w.catalog }, Pins: pins, Health: engine.NewHealth(),
			Ledger: r.ledger, Intents: r.ledger, Prefixes: true, Deadline: time.Second,
		},
		Vendor: vendors,
	}))
	server.Start()
	r.url = server.URL
	r.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	r.end = func() {
		r.client.CloseIdleConnections()
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
func (r *reconciled) turn(random *rand.Rand, k *talk, n int) error {
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
	response, err := r.client.Do(request)
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
					if err := r.turn(random, k, n); err != nil {
						r.t.Errorf("turn %d of %s: %v", n, k.id, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	r.end()
}

// account is what is counted of the turns here, turn by turn.
type account struct {
	turns, attempts, billed, complete, priced, silent int64
	used                                              vendorsim.Used
	cost                                              *big.Rat // by the vendors' own logs
	sums                                              engine.Sums
	judged                                            map[string]*worlds // by session
	total                                             worlds
	same, promoted                                    int64
}

// worlds are the money of the turns whose cost is known with and without affinity.
type worlds struct {
	covered               int64
	cost, saving, without decimal.Decimal
}

func (w *worlds) add(cost, saving, without decimal.Decimal) {
	w.covered++
	w.cost, w.saving, w.without = w.cost.Add(cost), w.saving.Add(saving), w.without.Add(without)
}

func (w *worlds) agree() bool { return w.cost.Add(w.saving).Equal(w.without) }

// read goes through every turn on record, against what the vendors' logs say.
func (r *reconciled) read() *account {
	t := r.t
	a := &account{cost: new(big.Rat), judged: map[string]*worlds{}}
	ids, counts := map[string]bool{}, map[string]int{}
	type place struct {
		started time.Time
		turn    engine.Booked
	}
	sessions := map[string][]place{}
	for after := ""; ; {
		turns, next, err := r.ledger.Turns(t.Context(), engine.Query{}, engine.Page{After: after, Limit: engine.MaxPageSize})
		if err != nil {
			t.Fatal(err)
		}
		for i := range turns {
			b := turns[i]
			if ids[b.ID] {
				t.Errorf("turn %s is on record twice", b.ID)
			}
			ids[b.ID] = true
			counts[b.Session]++
			// What the check of a turn needs; the rest is let go.
			b.Order, b.Prompt, b.Verdict = nil, engine.Estimate{}, pricing.Verdict{}
			for j := range b.Attempts {
				b.Attempts[j].RawUsage = nil
			}
			a.sums = a.sums.Add(engine.Sum(b))
			sessions[b.Session] = append(sessions[b.Session], place{b.Started, b})
		}
		if after = next; next == "" {
			break
		}
	}
	for id, list := range sessions {
		slices.SortFunc(list, func(x, y place) int { return cmp.Or(x.started.Compare(y.started)) })
		for n := range list {
			a.check(r, fmt.Sprintf("%s/%d", id, n), &list[n].turn)
		}
	}
	for turn, bills := range r.world.bills {
		if len(bills) > 0 {
			t.Errorf("the vendors answered %d requests of %s that no record has, the first: %s %+v", len(bills), turn, bills[0].vendor, bills[0].seen)
		}
	}
	return a
}

// check holds a turn against its vendors' logs, and crosses those out.
func (a *account) check(r *reconciled, turn string, b *engine.Booked) {
	t := r.t
	a.turns++
	if b.State != engine.Settled {
		t.Errorf("%s is %q", turn, b.State)
	}
	_, left := r.left.Load(turn)
	for i := range b.Attempts {
		at := &b.Attempts[i]
		a.attempts++
		if at.Accepted {
			a.billed++
		}
		bills := r.world.bills[turn]
		row := slices.IndexFunc(bills, func(x bill) bool { return x.vendor == at.Vendor })
		if row < 0 {
			a.silent++
			if at.Quality.Complete() || !left && at.Failure != engine.FailureConnect && at.Failure != engine.FailureTimeout {
				t.Errorf("%s: %s has no request in its log, and the record says %s %s %q", turn, at.Vendor, at.Stage, at.Failure, at.Quality)
			}
			continue
		}
		log := bills[row]
		r.world.bills[turn] = slices.Delete(bills, row, row+1)
		s := &log.seen
		if answered := s.Status == http.StatusOK; answered && !at.Accepted || !answered && s.Status != 0 && !left && at.Accepted {
			t.Errorf("%s: %s answered %d, and accepted is %t (%s %s)", turn, at.Vendor, s.Status, at.Accepted, at.Stage, at.Failure)
		}
		whole := s.Status == http.StatusOK && s.Used != nil && !s.ClientGone && !left && (s.Fault == nil || s.Fault.Gzip) &&
			at.Failure != engine.FailureTimeout // it was too late
		if !at.Quality.Complete() {
			if whole {
				t.Errorf("%s: %s answered whole, %+v, and the record says %s %s %q", turn, at.Vendor, *s.Used, at.Stage, at.Failure, at.Quality)
			}
			if at.Cost.Known {
				t.Errorf("%s: the cost of what is %q is known", turn, at.Quality)
			}
			continue
		}
		if s.Used == nil || s.Fault != nil && (s.Fault.NoUsage || s.Fault.RawBody != "") {
			t.Errorf("%s: %s said nothing of what it used, and the record has %+v", turn, at.Vendor, at.Usage)
			continue
		}
		u := at.Usage
		if booked := (vendorsim.Used{Input: u.Input, Read: u.CacheRead, Write5m: u.CacheWrite5m, Write1h: u.CacheWrite1h, Output: u.Output}); booked != *s.Used {
			t.Errorf("%s: %s used %+v, booked is %+v (%s, fault %+v)", turn, at.Vendor, *s.Used, booked, at.Quality, s.Fault)
		}
		a.complete++
		if log.cost != nil {
			a.priced++
			a.cost.Add(a.cost, log.cost)
		}
		if at.Cost.Known != (log.cost != nil) || at.Cost.Known && at.Cost.Total.Rat().Cmp(log.cost) != 0 {
			t.Errorf("%s: %s bills %v, booked is %s (known %t)", turn, at.Vendor, log.cost, at.Cost.Total, at.Cost.Known)
		}
		a.used = vendorsim.Used{Input: a.used.Input + s.Used.Input, Read: a.used.Read + s.Used.Read, Write5m: a.used.Write5m + s.Used.Write5m,
			Write1h: a.used.Write1h + s.Used.Write1h, Output: a.used.Output + s.Used.Output}
	}
	if len(r.world.bills[turn]) == 0 {
		delete(r.world.bills, turn)
	}
	a.judge(t, turn, b)
}

// judge holds what affinity saved against what the turn cost.
func (a *account) judge(t *testing.T, turn string, b *engine.Booked) {
	var v affinity.Judgement
	if err := v.UnmarshalBinary(b.Audit); err != nil {
		t.Fatalf("%s, %s: %v: %q", turn, b.ID, err, b.Audit)
	}
	if b.Outcome == engine.Promoted {
		a.promoted++
	}
	if v.Same {
		a.same++
	}
	cost, known := decimal.Zero, true
	for i := range b.Attempts {
		if at := &b.Attempts[i]; at.Accepted {
			known = known && at.Cost.Known
			cost = cost.Add(at.Cost.Total)
		}
	}
	if !known || !v.CostWithout.Known {
		if v.Saving.Known && !v.Saving.Amount.IsZero() {
			t.Errorf("%s: %s is saved of a cost that is not known", turn, v.Saving.Amount)
		}
		return
	}
	if !v.Saving.Known || !cost.Add(v.Saving.Amount).Equal(v.CostWithout.Amount) {
		t.Errorf("%s: cost %s + saving %s (known %t) is not %s", turn, cost, v.Saving.Amount, v.Saving.Known, v.CostWithout.Amount)
	}
	if a.judged[b.Session] == nil {
		a.judged[b.Session] = &worlds{}
	}
	a.judged[b.Session].add(cost, v.Saving.Amount, v.CostWithout.Amount)
	a.total.add(cost, v.Saving.Amount, v.CostWithout.Amount)
}

// overviews holds what the books add up against what was added up here.
func (r *reconciled) overviews(a *account) affinity.Tally {
	t := r.t
	o, err := r.ledger.Overview(t.Context(), engine.Query{}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if !o.Total.Equal(a.sums) {
		t.Errorf("the overview says\n%+v, its turns\n%+v", o.Total, a.sums)
	}
	var routes, series, outcomes engine.Sums
	for _, s := range o.Routes {
		routes = routes.Add(s.Sums)
	}
	for _, s := range o.Series {
		series = series.Add(s.Sums)
	}
	for _, s := range o.Outcomes {
		outcomes = outcomes.Add(s.Sums)
	}
	if !routes.Equal(o.Total) || !series.Equal(o.Total) || !outcomes.Equal(o.Total) {
		t.Errorf("the parts of the overview are not its total: %+v, %+v, %+v, %+v", routes, series, outcomes, o.Total)
	}
	u := o.Total.Usage
	if booked := (vendorsim.Used{Input: u.Input, Read: u.CacheRead, Write5m: u.CacheWrite5m, Write1h: u.CacheWrite1h, Output: u.Output}); booked != a.used {
		t.Errorf("the vendors' logs add up to %+v, the ledger to %+v", a.used, booked)
	}
	if o.Total.Cost.Rat().Cmp(a.cost) != 0 {
		t.Errorf("the vendors bill %s, the ledger says %s", a.cost.FloatString(15), o.Total.Cost)
	}
	if o.Total.Turns != a.turns || o.Total.Attempts != a.attempts || o.Total.Billed != a.billed || o.Total.UsageKnown != a.complete || o.Total.CostKnown != a.priced {
		t.Errorf("the overview counts %+v; here are %d turns, %d attempts, %d billed, %d of them complete and %d priced", o.Total, a.turns, a.attempts, a.billed, a.complete, a.priced)
	}
	for id, w := range a.judged {
		if !w.agree() {
			t.Errorf("session %s: %s + %s is not %s", id, w.cost, w.saving, w.without)
		}
	}
	accounts, err := r.ledger.Accounts(t.Context(), engine.Query{}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var total affinity.Account
	if err := total.UnmarshalBinary(accounts.Total); err != nil {
		t.Fatal(err)
	}
	tally := total.Tally
	if !tally.Cost.Equal(a.total.cost) || !tally.Saving.Equal(a.total.saving) || !tally.CostWithout.Equal(a.total.without) ||
		!tally.Cost.Add(tally.Saving).Equal(tally.CostWithout) || tally.Covered != a.total.covered || tally.Turns != a.turns || tally.Promoted != a.promoted {
		t.Errorf("the accounts say %d turns, %d covered, %s + %s = %s, %d promoted; the turns %d, %d, %s + %s = %s, %d", tally.Turns, tally.Covered, tally.Cost, tally.Saving, tally.CostWithout, tally.Promoted,
			a.turns, a.total.covered, a.total.cost, a.total.saving, a.total.without, a.promoted)
	}
	return tally
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
