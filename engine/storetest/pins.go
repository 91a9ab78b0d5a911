package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// Pins runs what every implementation of [engine.Pins] must hold. open returns
// an empty store, which open itself cleans up after the test.
func Pins(t *testing.T, open func(t *testing.T) engine.Pins) {
	tests := []struct {
		name string
		run  func(t *testing.T, p pins)
	}{
		{"a session never seen has no record", unknown},
		{"what is kept is recalled, newest first", kept},
		{"usage reported later replaces the entry of its turn", reported},
		{"usage of an entry that is not there any more changes nothing", stale},
		{"two turns overlap and one breaks: what is left does not depend on who is heard first", overlapping},
		{"threads of one candidate are apart", threads},
		{"an older acceptance stored later does not win", overtaken},
		{"a drop removes only the entry that failed", dropped},
		{"a drop after a later turn renewed the candidate removes nothing", renewed},
		{"the last drop leaves no record", emptied},
		{"eight models of eight threads of four entries, the least recent go", bounds},
		{"every field comes back as it was", fields},
		{"keys that look alike are apart", apart},
		{"an expired entry is readable for a day and no longer", readable},
		{"a record handed out never changes", frozen},
		{"a profile's limits hold what is kept", limited},
		{"three turns overlap, and are heard of in some of all orders", func(t *testing.T, p pins) { Overlaps(t, p.store, 61) }},
		{"three turns overlap and race", raced},
		{"many goroutines on one session and on many", crowd},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, pins{t, open(t)}) })
	}
}

// pins fails the test where a store returns an error.
type pins struct {
	t     *testing.T
	store engine.Pins
}

func (p pins) keep(key engine.PinKey, model string, e engine.Entry) {
	p.t.Helper()
	if err := p.store.Keep(context.Background(), key, model, e); err != nil {
		p.t.Errorf("keep: %v", err)
	}
}

func (p pins) drop(key engine.PinKey, model string, e engine.Entry) {
	p.t.Helper()
	if err := p.store.Drop(context.Background(), key, model, e); err != nil {
		p.t.Errorf("drop: %v", err)
	}
}

func (p pins) update(key engine.PinKey, model string, e engine.Entry) {
	p.t.Helper()
	if err := p.store.Update(context.Background(), key, model, e); err != nil {
		p.t.Errorf("update: %v", err)
	}
}

func (p pins) recall(key engine.PinKey) engine.Record {
	p.t.Helper()
	r, err := p.store.Recall(context.Background(), key)
	if err != nil {
		p.t.Errorf("recall: %v", err)
	}
	return r
}

func unknown(t *testing.T, p pins) {
	if r := p.recall(key("s")); len(r.Models) != 0 {
		t.Fatalf("got %+v", r)
	}
	p.drop(key("s"), "m", entry("a", 1, start()))
	if r := p.recall(key("s")); len(r.Models) != 0 {
		t.Fatalf("after a drop of nothing: %+v", r)
	}
}

func kept(t *testing.T, p pins) {
	now := start()
	a, b, c := entry("a", 1, now), entry("b", 2, now.Add(time.Second)), entry("c", 3, now.Add(2*time.Second))
	p.keep(key("s"), "m", a)
	p.keep(key("s"), "m", b)
	p.keep(key("s"), "n", c)
	same(t, "record", p.recall(key("s")), engine.Record{Models: []engine.ModelPins{
		{Model: "n", Warm: []engine.Entry{c}},
		{Model: "m", Warm: []engine.Entry{b, a}},
	}})
}

func reported(t *testing.T, p pins) {
	e := entry("a", 1, start())
	p.keep(key("s"), "m", e)
	e.Prompt, e.Output, e.Read, e.Write, e.Reported = 1200, 80, 1000, 150, true
	p.update(key("s"), "m", e)
	same(t, "record", p.recall(key("s")), engine.Record{}.Keep("m", e))
}

func stale(t *testing.T, p pins) {
	now := start()
	e := entry("a", 1, now)
	report := e
	report.Prompt, report.Reported = 1200, true
	p.update(key("s"), "m", report)
	same(t, "never kept", p.recall(key("s")), engine.Record{})
	p.keep(key("s"), "m", e)
	p.drop(key("s"), "m", e)
	p.update(key("s"), "m", report)
	same(t, "dropped", p.recall(key("s")), engine.Record{})
	renewal := entry("a", 2, now.Add(time.Second))
	p.keep(key("s"), "m", e)
	p.keep(key("s"), "m", renewal)
	p.update(key("s"), "m", report)
	same(t, "renewed", p.recall(key("s")), engine.Record{}.Keep("m", renewal))
	other := report
	other.Vendor = "b"
	p.update(key("s"), "n", report)
	p.update(key("s"), "m", other)
	same(t, "another model or candidate", p.recall(key("s")), engine.Record{}.Keep("m", renewal))
}

// overlapping has two turns of a session at one vendor: the first is served and
// reports, the second breaks. Each is heard of in its own order, and the first is
// accepted before the second has broken.
func overlapping(t *testing.T, p pins) {
	now := start()
	first, second := entry("a", 1, now), entry("a", 2, now.Add(time.Second))
	report := first
	report.Prompt, report.Reported = 1200, true
	steps := map[string]func(engine.PinKey){
		"1 accepted": func(k engine.PinKey) { p.keep(k, "m", first) },
		"1 reports":  func(k engine.PinKey) { p.update(k, "m", report) },
		"2 accepted": func(k engine.PinKey) { p.keep(k, "m", second) },
		"2 breaks":   func(k engine.PinKey) { p.drop(k, "m", second) },
	}
	for i, order := range [][]string{
		{"1 accepted", "1 reports", "2 accepted", "2 breaks"},
		{"1 accepted", "2 accepted", "1 reports", "2 breaks"},
		{"1 accepted", "2 accepted", "2 breaks", "1 reports"},
		{"2 accepted", "1 accepted", "1 reports", "2 breaks"},
		{"2 accepted", "1 accepted", "2 breaks", "1 reports"},
	} {
		k := key(fmt.Sprint("s", i))
		for _, step := range order {
			steps[step](k)
		}
		same(t, fmt.Sprint(order), p.recall(k), engine.Record{})
	}
}

func threads(t *testing.T, p pins) {
	now := start()
	of := func(thread, turn uint64) engine.Entry {
		e := entry("a", turn, now.Add(time.Duration(turn)*time.Second))
		e.Thread = thread
		return e
	}
	p.keep(key("s"), "m", of(7, 1))
	p.keep(key("s"), "m", of(8, 2))
	p.keep(key("s"), "m", of(0, 3))
	p.keep(key("s"), "m", of(7, 4))
	same(t, "record", p.recall(key("s")), engine.Record{Models: []engine.ModelPins{
		{Model: "m", Warm: []engine.Entry{of(7, 4), of(0, 3), of(8, 2)}},
	}})
	wrong := of(8, 4)
	p.drop(key("s"), "m", wrong)
	p.drop(key("s"), "m", of(0, 3))
	same(t, "after a drop", p.recall(key("s")), engine.Record{Models: []engine.ModelPins{
		{Model: "m", Warm: []engine.Entry{of(7, 4), of(8, 2)}},
	}})
}

func overtaken(t *testing.T, p pins) {
	now := start()
	older, newer := entry("a", 1, now), entry("b", 2, now.Add(time.Second))
	p.keep(key("s"), "m", newer)
	p.keep(key("s"), "m", older)
	if got := vendors(p.recall(key("s")).For("m")); got != "b a " {
		t.Fatalf("two vendors: %q", got)
	}
	renewal, late := entry("b", 4, now.Add(3*time.Second)), entry("b", 3, now.Add(2*time.Second))
	p.keep(key("s"), "m", renewal)
	p.keep(key("s"), "m", late)
	if first := p.recall(key("s")).For("m")[0]; first.Turn != 4 {
		t.Fatalf("one vendor: the older turn %d won", first.Turn)
	}
}

func dropped(t *testing.T, p pins) {
	now := start()
	a, b := entry("a", 1, now), entry("b", 2, now.Add(time.Second))
	p.keep(key("s"), "m", a)
	p.keep(key("s"), "m", b)
	p.keep(key("s"), "n", b)
	p.drop(key("s"), "m", b)
	r := p.recall(key("s"))
	if vendors(r.For("m")) != "a " || vendors(r.For("n")) != "b " {
		t.Fatalf("got %+v", r)
	}
}

func renewed(t *testing.T, p pins) {
	now := start()
	was := entry("a", 1, now)
	renewal := entry("a", 2, now.Add(time.Second))
	p.keep(key("s"), "m", was)
	p.keep(key("s"), "m", renewal)
	p.drop(key("s"), "m", was)
	same(t, "record", p.recall(key("s")), engine.Record{}.Keep("m", renewal))
}

func emptied(t *testing.T, p pins) {
	e := entry("a", 1, start())
	p.keep(key("s"), "m", e)
	p.drop(key("s"), "m", e)
	if r := p.recall(key("s")); len(r.Models) != 0 {
		t.Fatalf("got %+v", r)
	}
	p.keep(key("s"), "m", e)
	same(t, "kept again", p.recall(key("s")), engine.Record{}.Keep("m", e))
}

func bounds(t *testing.T, p pins) {
	now := start()
	want := engine.Record{}
	turn := uint64(0)
	for m := range engine.MaxModels + 2 {
		for thread := range engine.MaxThreads + 1 {
			for w := range engine.MaxWarm + 1 {
				turn++
				model, e := fmt.Sprintf("model-%d", m), entry(fmt.Sprintf("vendor-%d", w), turn, now.Add(time.Duration(turn)*time.Millisecond))
				e.Thread = uint64(thread)
				p.keep(key("s"), model, e)
				want = want.Keep(model, e)
			}
		}
	}
	got := p.recall(key("s"))
	same(t, "record", got, want)
	if len(got.Models) != engine.MaxModels || len(got.For("model-0")) != 0 || len(got.For("model-9")) != engine.MaxThreads*engine.MaxWarm {
		t.Fatalf("bounds: %d models, %d entries", len(got.Models), len(got.For("model-9")))
	}
	for _, e := range got.For("model-9") {
		if e.Thread == 0 || e.Vendor == "vendor-0" {
			t.Errorf("the least recent is still there: %+v", e)
		}
	}
}

// limited keeps under the limits of a profile: what they leave out is gone, also
// where the entry that is kept is older than what is there.
func limited(t *testing.T, p pins) {
	now := start()
	under := func(vendor string, turn uint64, models, warm uint8) engine.Entry {
		e := entry(vendor, turn, now.Add(time.Duration(turn)*time.Second))
		e.Most = engine.Limits{Models: models, Warm: warm}
		return e
	}
	plain := func(vendor string, turn uint64) engine.Entry {
		return entry(vendor, turn, now.Add(time.Duration(turn)*time.Second))
	}
	p.keep(key("s"), "m", under("a", 2, 8, 1))
	p.keep(key("s"), "m", under("b", 3, 8, 1))
	same(t, "one warm vendor", p.recall(key("s")), engine.Record{}.Keep("m", plain("b", 3)))
	p.keep(key("s"), "m", under("c", 1, 8, 1))
	same(t, "an older acceptance", p.recall(key("s")), engine.Record{}.Keep("m", plain("b", 3)))
	p.keep(key("s"), "n", under("a", 4, 1, 1))
	same(t, "one model", p.recall(key("s")), engine.Record{}.Keep("n", plain("a", 4)))
	p.keep(key("s"), "m", under("b", 3, 1, 1))
	same(t, "an older model", p.recall(key("s")), engine.Record{}.Keep("n", plain("a", 4)))
	p.drop(key("s"), "n", under("a", 4, 1, 1))
	same(t, "what limits left out does not come back", p.recall(key("s")), engine.Record{})
}

func fields(t *testing.T, p pins) {
	want := engine.Record{}
	for _, e := range odd(start()) {
		p.keep(key("s"), "m|\x00é", e)
		want = want.Keep("m|\x00é", e)
	}
	same(t, "record", p.recall(key("s")), want)
}

func apart(t *testing.T, p pins) {
	now := start()
	for i, k := range twins() {
		p.keep(k, "m", entry(fmt.Sprint(i), uint64(i), now))
	}
	for i, k := range twins() {
		if got := vendors(p.recall(k).For("m")); got != fmt.Sprint(i)+" " {
			t.Errorf("%+q holds the vendors %q, want %d", k, got, i)
		}
	}
	first := twins()[0]
	p.drop(first, "m", entry("0", 0, now))
	for i, k := range twins()[1:] {
		if got := vendors(p.recall(k).For("m")); got != fmt.Sprint(i+1)+" " {
			t.Errorf("%+q lost its vendor to the drop of %+q", k, first)
		}
	}
}

func readable(t *testing.T, p pins) {
	now := start()
	fresh, stale := entry("fresh", 1, now.Add(-23*time.Hour)), entry("stale", 2, now.Add(-25*time.Hour))
	p.keep(key("fresh"), "m", fresh)
	p.keep(key("stale"), "m", stale)
	p.keep(key("both"), "m", stale)
	p.keep(key("both"), "m", fresh)
	same(t, "expired 23 hours ago", p.recall(key("fresh")), engine.Record{}.Keep("m", fresh))
	same(t, "expired 25 hours ago", p.recall(key("stale")), engine.Record{})
	same(t, "one of each", p.recall(key("both")), engine.Record{}.Keep("m", fresh))
}

func frozen(t *testing.T, p pins) {
	now := start()
	want := engine.Record{}
	for i := range uint64(6) {
		e := entry(fmt.Sprint("v", i%3), i+1, now.Add(time.Duration(i)*time.Second))
		p.keep(key("s"), fmt.Sprint("m", i%2), e)
		want = want.Keep(fmt.Sprint("m", i%2), e)
	}
	held := p.recall(key("s"))
	for i := range uint64(60) {
		e := entry(fmt.Sprint("w", i%5), 100+i, now.Add(time.Minute+time.Duration(i)*time.Second))
		p.keep(key("s"), fmt.Sprint("m", i%3), e)
		if i%4 == 0 {
			p.drop(key("s"), fmt.Sprint("m", i%3), e)
		}
	}
	same(t, "the record held", held, want)
}

// crowd has every goroutine keep, report and drop, on a session of its own,
// whose end is then known, and on one that all share.
func crowd(t *testing.T, p pins) {
	const goroutines, turns = 8, 60
	now := start()
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			own := key(fmt.Sprint("own-", g))
			for i := range uint64(turns) {
				turn := uint64(g)*turns + i + 1
				e := entry(fmt.Sprint("v", g%6), turn, now.Add(time.Duration(turn)*time.Millisecond))
				p.keep(own, "m", e)
				p.keep(key("shared"), "m", e)
				e.Reported, e.Read = true, int64(turn)
				p.update(own, "m", e)
				if len(p.recall(own).For("m")) != 1 {
					t.Errorf("goroutine %d lost its own entry", g)
				}
				for _, w := range p.recall(key("shared")).For("m") {
					if w.Vendor == "" || w.AcceptedAt.Before(now) {
						t.Errorf("torn entry %+v", w)
					}
				}
				if i%3 == 0 {
					p.drop(key("shared"), "m", e)
				}
			}
		})
	}
	wg.Wait()
	for g := range goroutines {
		warm := p.recall(key(fmt.Sprint("own-", g))).For("m")
		if len(warm) != 1 || warm[0].Turn != uint64(g+1)*turns || !warm[0].Reported {
			t.Errorf("goroutine %d: %+v", g, warm)
		}
	}
	shared := p.recall(key("shared")).For("m")
	for i := 1; i < len(shared); i++ {
		if shared[i].AcceptedAt.After(shared[i-1].AcceptedAt) {
			t.Errorf("the shared session is out of order: %+v", shared)
		}
	}
	if len(shared) == 0 || len(shared) > engine.MaxWarm {
		t.Errorf("the shared session has %d entries", len(shared))
	}
}
