package sim

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// randomWorld is where random sessions come from.
type randomWorld struct {
	r       *rand.Rand
	offers  []Offer
	threads int
	now     map[uint64]int64
	prompt  map[uint64]int64
	steady  bool // the plan's first always serves
}

func newWorld(r *rand.Rand) *randomWorld {
	w := &randomWorld{r: r, threads: 1 + r.IntN(3), now: map[uint64]int64{}, prompt: map[uint64]int64{}}
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	for _, model := range []string{"m", "n"}[:1+r.IntN(2)] {
		for v := range 1 + r.IntN(4) {
			o := Offer{Model: model, ID: Name("vendor"+strconv.Itoa(v/2), strconv.Itoa(v%2), engine.GroupOperator)}
			o.Rules = Rules{
				Family:    []catalog.Family{catalog.Explicit, catalog.Implicit, catalog.Explicit, catalog.Implicit, catalog.None}[r.IntN(5)],
				TTL:       []time.Duration{5 * time.Minute, 10 * time.Minute, time.Hour}[r.IntN(3)],
				MinPrefix: []int64{0, 256, 1024, 4096}[r.IntN(4)],
				Block:     []int64{0, 1, 64, 128}[r.IntN(4)],
				Writes:    r.IntN(2) > 0,
				Answer:    r.IntN(2) > 0,
			}
			o.Card = card(pick("3", "2.5", "0.28", "1", "3", ""), pick("15", "10", "0.42", "15", ""), pick("0.3", "0.25", "0.028", "0", ""), pick("3.75", "", "1.25"), pick("6", ""))
			if r.IntN(4) > 0 {
				o.Card = card("3", "15", pick("0.3", "0.31"), "3.75", "6")
			}
			if r.IntN(8) == 0 {
				o.Card.Parts = []pricing.Part{{Tokens: 9000, Card: o.Card}, {Tokens: 30_000, Card: card("6", "", pick("0.6", ""), "7.5", "12")}}
			}
			w.offers = append(w.offers, o)
		}
	}
	return w
}

func (w *randomWorld) turn() *Fact {
	r := w.r
	thread := uint64(r.IntN(w.threads))
	gap := []int64{r.Int64N(20), 1 + r.Int64N(90), r.Int64N(700), r.Int64N(5000), -r.Int64N(200)}[r.IntN(5)]
	f := &Fact{Thread: thread, Scope: []string{"", "", "", "policy"}[r.IntN(4)]}
	w.now[thread] += gap * 1000
	f.At = start.Add(time.Duration(w.now[thread]) * time.Millisecond)
	w.prompt[thread] = []int64{w.prompt[thread] + r.Int64N(3000), w.prompt[thread] + r.Int64N(3000), r.Int64N(40_000), w.prompt[thread]}[r.IntN(4)]
	tokens := w.prompt[thread]
	if r.IntN(3) > 0 {
		f.Kept = Kept{Known: true, Tokens: []int64{Whole, Whole, r.Int64N(tokens + 1), 0}[r.IntN(4)]}
	}
	if r.IntN(6) > 0 {
		f.Marks.Any = true
		f.Marks.End = []int64{0, 0, r.Int64N(tokens + 1)}[r.IntN(3)]
		f.Marks.Hour = []int64{0, 0, r.Int64N(tokens + 1), Whole}[r.IntN(4)]
	}
	f.Outcome = []engine.Outcome{engine.Promoted, engine.Confirmed, engine.NoPin, engine.PinExpired, engine.SkippedNotInPlan, engine.SkippedNotCheaper, engine.SkippedHealthDown}[r.IntN(7)]
	f.Offers = append(f.Offers, w.offers...)
	if !w.steady && r.IntN(4) == 0 {
		r.Shuffle(len(f.Offers), func(i, j int) { f.Offers[i], f.Offers[j] = f.Offers[j], f.Offers[i] })
	}
	order := r.Perm(len(f.Offers))
	if w.steady || r.IntN(2) == 0 {
		order = nil
		for i := range f.Offers {
			order = append(order, i)
		}
	}
	for n, o := range order {
		try := Try{Offer: o}
		if r.IntN(3) > 0 {
			try.Started = f.At.Add(time.Duration(n) * time.Second)
		}
		if !w.steady && n+1 < len(order) && r.IntN(5) == 0 {
			try.Taken = r.IntN(4) == 0
			if try.Billed = r.IntN(3) == 0; try.Billed && r.IntN(4) > 0 {
				try.Cost = Known(decimal.New(r.Int64N(1000), -6))
			}
			f.Tries = append(f.Tries, try)
			if r.IntN(8) > 0 {
				continue
			}
			try = Try{Offer: o} // once more
		}
		try.Taken, try.Billed = true, true
		try.Card = f.Offers[o].Card
		try.Quality = []pricing.Quality{pricing.Authoritative, pricing.Authoritative, pricing.Authoritative, pricing.Authoritative, pricing.Derived, pricing.Partial, pricing.Missing}[r.IntN(7)]
		if try.Quality != pricing.Missing {
			read := []int64{0, tokens, r.Int64N(tokens + 1)}[r.IntN(3)]
			wrote := r.Int64N(tokens - read + 1)
			try.Usage = pricing.Usage{CacheRead: read, CacheWrite5m: wrote, Input: tokens - read - wrote, Output: r.Int64N(2000)}
			try.Usage.Reasoning = r.Int64N(try.Usage.Output + 1)
			if r.IntN(9) == 0 {
				try.Beside = decimal.New(r.Int64N(500), -5)
			}
			if cost := try.Card.Cost(try.Usage); cost.Known && try.Quality.Complete() {
				try.Cost = Known(cost.Total.Add(try.Beside))
			}
		} else {
			f.Prompt = tokens
		}
		if r.IntN(2) == 0 {
			f.Accepted = f.At.Add(time.Duration(r.Int64N(40)) * time.Second)
		}
		f.Tries = append(f.Tries, try)
		break
	}
	return f
}

// turns is how many random turns a test takes; seeded by the clock unless SIM_SEED is
// set.
func turns(t *testing.T, full int) (*rand.Rand, int) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SIM_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("SIM_SEED=%d", seed)
	full /= fewer
	if testing.Short() {
		full /= 20
	}
	return rand.New(rand.NewPCG(seed, 17)), full
}
