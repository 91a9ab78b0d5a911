package sim_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/engine/storetest"
	"github.com/warmroute/warmroute/pricing"
)

// heron is a model that two vendors cache where it is marked.
func heron(t testing.TB) *catalog.Model {
	t.Helper()
	c, err := catalog.Parse("catalog.yaml", []byte(`version: 1
vendors:
  north: {api: [messages], base_url: https://north.example/v1, cache: {family: explicit, ttl: 5m, min_prefix: 1024}}
  south: {api: [messages], base_url: https://south.example/v1, cache: {family: explicit, ttl: 5m, min_prefix: 1024}}
models:
  heron:
    routes:
      - {vendor: north, model: heron, price: {input: 3, output: 15, cache_read: 0.30, cache_write: 3.75}}
      - {vendor: south, model: heron, price: {input: 3, output: 15, cache_read: 0.30, cache_write: 3.75}}
`))
	if err != nil {
		t.Fatal(err)
	}
	return c.Models[0]
}

// turnAt is a turn of one session: the model's routes in order, the one at index
// served tried and served alone.
func turnAt(model *catalog.Model, at time.Time, served int, promoted bool, u pricing.Usage, prefix engine.Prefix) engine.Turn {
	t := engine.Turn{
		ID: at.String(), Tenant: "t", Started: at, Took: time.Second,
		Session: engine.Session{Tenant: "t", Class: engine.ClassExplicit, ID: "s"},
		Asked:   engine.Asked{Markers: 1, Prefix: prefix},
	}
	for _, r := range model.Routes {
		t.Plan.Candidates = append(t.Plan.Candidates, engine.Candidate{Route: r, Credential: "main", Card: r.Price[0].Card})
	}
	t.Plan.Models = []engine.ModelPlan{{Model: model, From: 0, To: len(model.Routes)}}
	outcome := engine.Confirmed
	if promoted {
		outcome = engine.Promoted
	}
	t.Decision.Models = []engine.Finding{{Model: model, Outcome: outcome}}
	card := model.Routes[served].Price[0].Card
	t.Attempts = []engine.Attempt{{
		Candidate: t.Plan.Candidates[served], Stage: engine.StageServed, Status: 200, Started: at, AcceptedAt: at,
		Usage: u, Quality: pricing.Authoritative, Card: card, Cost: card.Cost(u),
	}}
	return t
}

func judged(t *testing.T, a engine.Audit) (j sim.Judgement, account sim.Account) {
	t.Helper()
	if err := j.UnmarshalBinary(a.Verdict); err != nil {
		t.Fatal(err)
	}
	if err := account.UnmarshalBinary(a.Account); err != nil {
		t.Fatal(err)
	}
	return j, account
}

var nine = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// A vendor that was promoted once keeps a session warm; without affinity it would
// have gone back to the first vendor, well again, and written everything anew:
// 41,000 × 3.75 for 40,000 × 0.30 + 1,000 × 3.75, per million.
func TestTheAuditorSaysWhatAPromotionSaved(t *testing.T) {
	m := heron(t)
	var auditor sim.Auditor
	failed := turnAt(m, nine, 1, false, pricing.Usage{CacheWrite5m: 40_000, Output: 100}, nil)
	failed.Attempts = append([]engine.Attempt{{Candidate: failed.Plan.Candidates[0], Failure: engine.FailureServer, Status: 503, Started: nine}}, failed.Attempts...)
	cold := auditor.Audit(&failed, nil)
	warm := auditor.Audit(ref(turnAt(m, nine.Add(time.Minute), 1, true, pricing.Usage{CacheRead: 40_000, CacheWrite5m: 1000, Output: 100}, nil)), cold.Memory)
	j, account := judged(t, warm)
	if j.Same || !j.Saving.Known || j.Saving.Amount.String() != "0.138" || j.Without != "north" {
		t.Errorf("%+v", j)
	}
	cost := account.Tally.Cost
	if !j.CostWithout.Amount.Equal(cost.Add(j.Saving.Amount)) || !account.Tally.Saving.Equal(j.Saving.Amount) {
		t.Errorf("%s and %s saved are not %s", cost, j.Saving.Amount, j.CostWithout.Amount)
	}
	forgotten := auditor.Audit(ref(turnAt(m, nine.Add(time.Minute), 1, true, pricing.Usage{CacheRead: 40_000, Output: 100}, nil)), []byte("damaged"))
	if first := auditor.Audit(ref(turnAt(m, nine.Add(time.Minute), 1, true, pricing.Usage{CacheRead: 40_000, Output: 100}, nil)), nil); !reflect.DeepEqual(first, forgotten) {
		t.Error("a damaged memory is not none")
	}
}

func ref(t engine.Turn) *engine.Turn { return &t }

func marks(bytes ...int64) (p engine.Prefix) {
	for i, n := range bytes {
		p = append(p, engine.Mark{Index: int32(i), Hash: uint64(n) * 7919, Bytes: n})
	}
	return p
}

// What a client rewrote is its own doing, and is told from what a vendor forgot.
func TestTheAuditorTellsARewrittenPrefixFromAnEviction(t *testing.T) {
	m := heron(t)
	for _, c := range []struct {
		name   string
		now    engine.Prefix
		read   int64
		miss   string
		expect int64
	}{
		{"kept and read", marks(1000, 5000, 9000, 9900), 40_000, "", 40_000},
		{"kept and not read", marks(1000, 5000, 9000, 9900), 0, "vendor_evicted", 40_000},
		{"half of it rewritten, the other half read", marks(1000, 5000, 9001, 9900), 22_222, "prefix_changed", 22_222},
		{"all of it rewritten", marks(1001, 5001, 9001, 9900), 0, "prefix_changed", 0},
	} {
		var auditor sim.Auditor
		first := auditor.Audit(ref(turnAt(m, nine, 0, false, pricing.Usage{CacheWrite5m: 40_000}, marks(1000, 5000, 9000))), nil)
		usage := pricing.Usage{CacheRead: c.read, CacheWrite5m: 41_000 - c.read, Output: 100}
		said := auditor.Audit(ref(turnAt(m, nine.Add(time.Minute), 0, false, usage, c.now)), first.Memory)
		j, _ := judged(t, said)
		if said.Miss != c.miss || j.Miss.Cause.String() != c.miss || j.Expected != c.expect {
			t.Errorf("%s: miss %q of %+v, want %q and %d", c.name, said.Miss, j, c.miss, c.expect)
		}
	}
}

// An account is the sum of its turns, in whatever order and grouping it is added up,
// and cost + saving = cost without affinity in every part of it.
func TestAccountsAddUp(t *testing.T) {
	const seed = 41
	r := rand.New(rand.NewPCG(seed, 0))
	m := storetest.NewMarket()
	var auditor sim.Auditor
	memories := map[string][]byte{}
	all, halves := auditor.Sum(), [2]engine.AccountSum{auditor.Sum(), auditor.Sum()}
	saved, without := decimal.Zero, decimal.Zero
	for i := range 3000 {
		turn := m.Turn(r, i, nine.Add(time.Duration(i)*time.Second))
		said := auditor.Audit(&turn, memories[turn.Tenant+"/"+turn.Session.ID])
		memories[turn.Tenant+"/"+turn.Session.ID] = said.Memory
		if !all.Add(said.Account) || !halves[i%2].Add(said.Account) {
			t.Fatalf("seed %d, turn %d: its account is not taken", seed, i)
		}
		if j, account := judged(t, said); j.Saving.Known && account.Tally.Covered > 0 {
			saved, without = saved.Add(j.Saving.Amount), without.Add(j.CostWithout.Amount)
		}
	}
	both := auditor.Sum()
	both.Add(halves[0].Account())
	both.Add(halves[1].Account())
	var a, b sim.Account
	if a.UnmarshalBinary(all.Account()) != nil || b.UnmarshalBinary(both.Account()) != nil {
		t.Fatal("a sum is no account")
	}
	if !a.Tally.Equal(&b.Tally) || a.Learned != b.Learned || a.Tally.Turns != 3000 {
		t.Errorf("seed %d: %+v\nin halves %+v", seed, a, b)
	}
	if !a.Tally.Cost.Add(a.Tally.Saving).Equal(a.Tally.CostWithout) || !a.Tally.Saving.Equal(saved) || !a.Tally.CostWithout.Equal(without) {
		t.Errorf("seed %d: cost %s + saving %s (by turn %s) is not %s (by turn %s)", seed, a.Tally.Cost, a.Tally.Saving, saved, a.Tally.CostWithout, without)
	}
	if all.Add([]byte("no account")) {
		t.Error("what is no account was added")
	}
}

func FuzzJudgement(f *testing.F) {
	m := heron(f)
	said := sim.Auditor{}.Audit(ref(turnAt(m, nine, 1, true, pricing.Usage{CacheRead: 40_000, Output: 100}, marks(4, 9))), nil)
	f.Add(said.Verdict, said.Account, said.Memory)
	f.Fuzz(func(t *testing.T, verdict, account, memory []byte) {
		var j sim.Judgement
		_ = j.UnmarshalBinary(verdict)
		var a sim.Account
		_ = a.UnmarshalBinary(account)
		turn := turnAt(m, nine, 0, false, pricing.Usage{CacheRead: 40_000, Output: 100}, marks(4, 9))
		again := sim.Auditor{}.Audit(&turn, memory) // whatever the memory, it judges
		if err := j.UnmarshalBinary(again.Verdict); err != nil {
			t.Fatal(err)
		}
		if sim.Auditor.Sum(sim.Auditor{}).Add(again.Account) == false {
			t.Fatal("its account cannot be added")
		}
	})
}
