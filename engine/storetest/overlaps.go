package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// Overlaps has three turns of one session overlap in every way: at one vendor and at
// two, for one model and for two, accepted in any order and at the same instant,
// served and broken, under wide limits and under one of one vendor of one model,
// pinned when accepted and when served; and every order in which the store can hear
// of their steps. Each result must be that of a list that is searched and sorted.
// Whatever the order, nothing of a turn that broke is left once it is dropped, and the
// turn accepted last is there unless it broke.
//
// Of all, some 600,000, every one in so many is tried: 1 means all; a number that has
// no divisor in common with 90, of which there are so many orders of six steps, has
// each order met. No goroutines are used.
func Overlaps(t *testing.T, store engine.Pins, every int) {
	o := &overlaps{pins: pins{t, store}, every: every, began: start()}
	for _, most := range []engine.Limits{{}, {Models: 1, Warm: 1}} {
		for _, late := range []bool{false, true} {
			o.casts(func(cast []writer) {
				o.run(script{cast: cast, most: most, late: late})
			})
		}
	}
	if o.tried == 0 || o.seen%len(o.orders) != 0 {
		t.Errorf("%d of %d orders tried", o.tried, o.seen)
	}
}

// writer is one turn that overlaps with others.
type writer struct {
	entry  engine.Entry
	model  string
	broken bool
}

// report is the writer's entry with its usage.
func (w writer) report() engine.Entry {
	e := w.entry
	e.Prompt, e.Read, e.Reported = 1000+int64(e.Turn), 900, true
	return e
}

// script is one way in which three turns may overlap.
type script struct {
	cast []writer
	most engine.Limits
	late bool // pinned when served, where an earlier turn has left a pin
}

// overlaps runs scripts.
type overlaps struct {
	pins
	every  int
	began  time.Time
	seen   int
	tried  int
	orders [][]int
}

// casts calls each with every cast there is.
func (o *overlaps) casts(each func([]writer)) {
	o.orders = nil
	interleave([]int{2, 2, 2}, nil, func(order []int) { o.orders = append(o.orders, slices.Clone(order)) })
	const writers = 3
	for places := range 8 { // which vendor each is at
		for second := range 2 { // whether the last asks for another model
			for _, at := range instants() {
				for broken := range 8 {
					cast := make([]writer, writers)
					for i := range cast {
						vendor := []string{"a", "b"}[places>>i&1]
						cast[i] = writer{model: "m", broken: broken>>i&1 == 1}
						cast[i].entry = entry(vendor, uint64(i+2), o.began.Add(time.Duration(at[i])*time.Second))
					}
					if second == 1 {
						cast[2].model = "n"
					}
					each(cast)
				}
			}
		}
	}
}

// instants are the orders in which three turns may be accepted, some at once.
func instants() (all [][3]int) {
	for a := range 3 {
		for b := range 3 {
			for c := range 3 {
				used := [3]bool{}
				used[a], used[b], used[c] = true, true, true
				if used[0] && (used[1] || !used[2]) {
					all = append(all, [3]int{a, b, c})
				}
			}
		}
	}
	return all
}

// interleave calls each with every order of so many steps of each writer.
func interleave(left, order []int, each func([]int)) {
	done := true
	for w := range left {
		if left[w] == 0 {
			continue
		}
		done = false
		left[w]--
		interleave(left, append(order, w), each)
		left[w]++
	}
	if done {
		each(order)
	}
}

// run plays a script in all orders that are to be tried.
func (o *overlaps) run(s script) {
	for _, order := range o.orders {
		o.seen++
		if o.seen%o.every == 0 && !o.t.Failed() {
			o.tried++
			o.play(s, order)
		}
	}
}

// play has the writers' turns settle in one order, and tells the store and the list of
// every change that the engine makes.
func (o *overlaps) play(s script, order []int) {
	k := key(fmt.Sprint("overlap-", o.seen))
	var spec plainly
	change := func(c engine.PinChange) {
		switch {
		case c.Drop:
			o.drop(k, c.Model, c.Entry)
			spec.drop(c.Model, c.Entry)
		case c.Update:
			o.update(k, c.Model, c.Entry)
			spec.update(c.Model, c.Entry)
		default:
			o.keep(k, c.Model, c.Entry)
			spec.keep(c.Model, c.Entry)
		}
	}
	if s.late {
		change(engine.PinChange{Model: "m", Entry: entry("a", 1, o.began.Add(-time.Minute))})
	}
	var facts [3]engine.SettleFacts
	var met [3]bool
	for _, i := range order {
		w := s.cast[i]
		if !met[i] {
			met[i], facts[i] = true, s.facts(w, o.recall(k))
			if c, ok := engine.Accept(facts[i]); ok {
				change(c)
			}
			continue
		}
		a := engine.Attempt{Stage: engine.StageServed, Quality: pricing.Authoritative, Usage: pricing.Usage{Input: 1000, CacheRead: 900}}
		if w.broken {
			a = engine.Attempt{Stage: engine.StageBroken, Failure: engine.FailureCut}
		}
		for _, c := range engine.Settle(facts[i], a) {
			change(c)
		}
	}
	got := o.recall(k)
	if fault := s.fault(got, spec.record()); fault != "" {
		o.t.Errorf("%s:\n%s\nleft is %+v,\nshould %+v", s.told(order), fault, got, spec.record())
	}
}

// facts are what a turn's pin depends on, where its record was recalled as it is now.
func (s script) facts(w writer, r engine.Record) engine.SettleFacts {
	p := *engine.Warmroute()
	p.Models, p.Warm = cmp.Or(int(s.most.Models), p.Models), cmp.Or(int(s.most.Warm), p.Warm)
	if s.late {
		p.Start = engine.StartServed
	}
	return engine.SettleFacts{
		Session: engine.Session{Tenant: "t1", Class: engine.ClassExplicit, ID: "s"},
		Profile: &p, Record: r, Turn: w.entry.Turn, AcceptedAt: w.entry.AcceptedAt, Lifetime: 5 * time.Minute,
		Candidate: engine.Candidate{
			Route:      &catalog.Route{Model: &catalog.Model{Name: w.model}, Vendor: &catalog.Vendor{Name: w.entry.Vendor}},
			Credential: w.entry.Credential,
		},
	}
}

// told is an order in words.
func (s script) told(order []int) string {
	var b strings.Builder
	for _, w := range s.cast {
		fmt.Fprintf(&b, "turn %d of %s at %s from %s, ", w.entry.Turn, w.model, w.entry.Vendor, w.entry.AcceptedAt.Format("05"))
	}
	fmt.Fprintf(&b, "limits %+v", s.most)
	taken := [3]int{}
	for _, i := range order {
		word := "is accepted"
		switch {
		case taken[i] == 0 && s.late:
			word = "is accepted and pins nothing"
		case taken[i] == 1 && s.cast[i].broken:
			word = "breaks"
		case taken[i] == 1:
			word = "is served"
		}
		taken[i]++
		fmt.Fprintf(&b, ", %d %s", s.cast[i].entry.Turn, word)
	}
	return b.String()
}

// fault is what is wrong with what is left, by the list's record and by what must hold
// in any order; empty if nothing is.
func (s script) fault(got, want engine.Record) string {
	if !alike(got, want) {
		return "it is not what a list would hold"
	}
	last := s.cast[0]
	for _, w := range s.cast {
		if later(w.entry, last.entry) {
			last = w
		}
		for _, e := range got.For(w.model) {
			if w.broken && e.Turn == w.entry.Turn {
				return fmt.Sprintf("turn %d broke, and is there", e.Turn)
			}
		}
	}
	model, newest, _ := got.Newest()
	if !last.broken && (newest.Turn != last.entry.Turn || model != last.model || !newest.Reported) {
		return fmt.Sprintf("turn %d was accepted last and is not the newest", last.entry.Turn)
	}
	return ""
}

// alike says whether two records hold the same.
func alike(a, b engine.Record) bool {
	return slices.EqualFunc(a.Models, b.Models, func(a, b engine.ModelPins) bool {
		return a.Model == b.Model && slices.EqualFunc(a.Warm, b.Warm, sameEntry)
	})
}

// later says which of two acceptances is the later one.
func later(a, b engine.Entry) bool {
	return a.AcceptedAt.After(b.AcceptedAt) || a.AcceptedAt.Equal(b.AcceptedAt) && a.Turn > b.Turn
}

// plainly is what a store must do, in the plainest way.
type plainly []placed

type placed struct {
	model string
	entry engine.Entry
}

func (l *plainly) keep(model string, e engine.Entry) {
	most := e.Most
	e.Most = engine.Limits{}
	for _, x := range *l {
		if x.model == model && x.entry.Turn != e.Turn && x.entry.Renews(e) && later(x.entry, e) {
			return
		}
	}
	*l = slices.DeleteFunc(*l, func(x placed) bool {
		return x.model == model && (x.entry.Turn == e.Turn || x.entry.Renews(e))
	})
	*l = append(*l, placed{model, e})
	slices.SortStableFunc(*l, func(a, b placed) int {
		if later(a.entry, b.entry) {
			return -1
		}
		return 1
	})
	models, warm := cmp.Or(int(most.Models), engine.MaxModels), cmp.Or(int(most.Warm), engine.MaxWarm)
	var kept plainly
	for _, x := range *l {
		ahead, others := 0, map[string]bool{}
		for _, y := range kept {
			if y.model == x.model {
				ahead++
			} else {
				others[y.model] = true
			}
		}
		if x.model == model && ahead == warm || ahead == 0 && len(others) == models {
			continue
		}
		kept = append(kept, x)
	}
	*l = kept
}

func (l *plainly) update(model string, e engine.Entry) {
	e.Most = engine.Limits{}
	for i, x := range *l {
		if x.model == model && x.entry.Is(e) {
			(*l)[i].entry = e
		}
	}
}

func (l *plainly) drop(model string, was engine.Entry) {
	*l = slices.DeleteFunc(*l, func(x placed) bool { return x.model == model && x.entry.Is(was) })
}

// record is the list as a record: models by their latest entry, entries latest first.
func (l plainly) record() (r engine.Record) {
	for _, x := range l {
		at := slices.IndexFunc(r.Models, func(m engine.ModelPins) bool { return m.Model == x.model })
		if at < 0 {
			at = len(r.Models)
			r.Models = append(r.Models, engine.ModelPins{Model: x.model})
		}
		r.Models[at].Warm = append(r.Models[at].Warm, x.entry)
	}
	return r
}

// raced is three turns that really run at once, many times.
func raced(t *testing.T, p pins) {
	began := start()
	for round := range 200 {
		k := key(fmt.Sprint("raced-", round))
		most := engine.Limits{}
		if round%2 == 1 {
			most = engine.Limits{Models: 1, Warm: 1}
		}
		var cast [3]writer
		var wg sync.WaitGroup
		for i := range cast {
			w := writer{model: "m", broken: round>>i%3 == 1, entry: entry([]string{"a", "b"}[round>>1>>i&1], uint64(i+1), began.Add(time.Duration(round*(i+1)%3)*time.Second))}
			w.entry.Most = most
			cast[i] = w
			wg.Go(func() {
				ctx := context.Background()
				err := p.store.Keep(ctx, k, w.model, w.entry)
				if w.broken {
					err = cmp.Or(err, p.store.Drop(ctx, k, w.model, w.entry))
				} else {
					err = cmp.Or(err, p.store.Update(ctx, k, w.model, w.report()))
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		left, last := p.recall(k), cast[0]
		for _, w := range cast {
			if later(w.entry, last.entry) {
				last = w
			}
			if w.broken && slices.ContainsFunc(left.For("m"), func(e engine.Entry) bool { return e.Turn == w.entry.Turn }) {
				t.Errorf("round %d: turn %d broke, and is there", round, w.entry.Turn)
			}
		}
		if _, newest, _ := left.Newest(); !last.broken && (newest.Turn != last.entry.Turn || !newest.Reported) {
			t.Errorf("round %d: the turn accepted last is %d, and %+v is the newest there", round, last.entry.Turn, newest)
		}
	}
}
