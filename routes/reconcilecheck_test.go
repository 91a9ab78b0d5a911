package routes_test

import (
	"cmp"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	affinity "github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

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
			at.Took < r.patience // else it may have been too late
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
