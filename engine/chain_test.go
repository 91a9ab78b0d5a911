package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
)

// chains is a gateway whose sessions are named by the turns it served.
func chains(t testing.TB, now *time.Time) *engine.Gateway {
	t.Helper()
	g, _ := newGateway(t)
	p, ok := engine.ProfileNamed(catalog.ProfileSubconscious)
	if !ok {
		t.Fatal("no profile subconscious")
	}
	g.Profile = p
	if now != nil {
		g.Now = func() time.Time { return *now }
		g.Pins = inmem.New(inmem.Options{Now: g.Now})
	}
	return g
}

// said is a turn with this text and these calls, by its hashes.
func said(text string, calls ...string) engine.Said {
	var h engine.Hearing
	h.Text([]byte(text))
	for _, id := range calls {
		h.Call([]byte(id))
	}
	return h.Said()
}

// continued is a request without an id whose last assistant turn was before.
func continued(before engine.Said, change func(*engine.Request)) engine.Request {
	return chat(func(r *engine.Request) {
		r.BodyID = ""
		r.Opening = func() engine.Opening { return engine.Opening{First: [][]byte{[]byte("go on")}} }
		if before != (engine.Said{}) {
			r.Last = func() engine.Said { return before }
		}
		if change != nil {
			change(r)
		}
	})
}

// answered serves a request with an answer and returns the chain it belongs to.
func answered(t testing.TB, g *engine.Gateway, r engine.Request, answer engine.Said) string {
	t.Helper()
	turn, err := g.Serve(context.Background(), r, func(ctx context.Context, try engine.Try) engine.Attempt {
		if !try.Hears {
			t.Fatal("the answer is not heard")
		}
		a := serves(ctx, try)
		a.Said = answer
		return a
	})
	if err != nil {
		t.Fatal(err)
	}
	if turn.Session.Class != engine.ClassChain || turn.Session.Source() != "chain" || !turn.Session.Found() {
		t.Fatalf("session %+v", turn.Session)
	}
	return turn.Session.ID
}

func TestAChainHoldsItsTurnsTogether(t *testing.T) {
	g := chains(t, nil)
	none := engine.Said{}
	first := answered(t, g, continued(none, nil), said("What colour?", "call_1"))
	if other := answered(t, g, continued(none, nil), said("Which room?")); other == first {
		t.Error("the first turn of a conversation joined another")
	}
	for _, c := range []struct {
		name   string
		before engine.Said
		change func(*engine.Request)
		same   bool
	}{
		{"text and calls", said("What colour?", "call_1"), nil, true},
		{"its text alone", said("What colour?"), nil, true},
		{"its calls alone", said("", "call_1"), nil, true},
		{"other text, the same calls", said("What colour then?", "call_1"), nil, true},
		{"another turn", said("What shade?"), nil, false},
		{"a turn of nothing", none, nil, false},
		{"with another key", said("What colour?", "call_1"), func(r *engine.Request) { r.Key = "k2" }, false},
		{"of another tenant", said("What colour?", "call_1"), func(r *engine.Request) { r.Tenant = "other" }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			// A decision changes nothing, so that the cases do not meet.
			turn, err := g.Decide(context.Background(), continued(c.before, c.change))
			if err != nil || turn.Session.Class != engine.ClassChain || turn.Session.ID == "" {
				t.Fatalf("%+v %v", turn.Session, err)
			}
			if (turn.Session.ID == first) != c.same {
				t.Errorf("joined the chain: %v", turn.Session.ID == first)
			}
		})
	}
	second := answered(t, g, continued(said("What colour?", "call_1"), nil), said("Green it is.", "call_2", "call_3"))
	third := answered(t, g, continued(said("Green it is.", "call_3", "call_2"), nil), said("Done."))
	if second != first || third != first {
		t.Errorf("the chain %q went on as %q and %q", first, second, third)
	}
	// An earlier turn answered anew is of the same chain: a retry, or a fork.
	if again := answered(t, g, continued(said("What colour?", "call_1"), nil), said("Blue it is.")); again != first {
		t.Error("a retry has a chain of its own")
	}
}

func TestAChainPinsTheVendorOnly(t *testing.T) {
	g := chains(t, nil)
	id := answered(t, g, continued(engine.Said{}, nil), said("What colour?"))
	record, err := g.Pins.Recall(context.Background(), engine.PinKey{Tenant: "default", Class: engine.ClassChain, ID: id})
	if warm := record.For("m"); err != nil || len(warm) != 1 || warm[0].Credential != "" {
		t.Errorf("%+v %v", record, err)
	}
	r := continued(said("What colour?"), nil)
	turn, _ := g.Decide(context.Background(), r)
	if f := turn.Decision.Models[0]; f.Outcome != engine.Confirmed {
		t.Errorf("%s %s", f.Outcome, f.Detail)
	}
}

func TestTwoChainsMakeAKeyAmbiguousForGood(t *testing.T) {
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	g := chains(t, &now)
	none := engine.Said{}
	canned := said("I will look into it.")
	chainOf := func(before engine.Said) string {
		turn, err := g.Decide(context.Background(), continued(before, nil))
		if err != nil {
			t.Fatal(err)
		}
		return turn.Session.ID
	}
	a := answered(t, g, continued(none, nil), canned)
	if chainOf(canned) != a {
		t.Fatal("one chain is not found")
	}
	now = now.Add(20 * time.Hour)
	b := answered(t, g, continued(none, nil), said("I will look into it.", "call_b"))
	if a == b {
		t.Fatal("the same words joined two first turns")
	}
	if got := chainOf(canned); got == a || got == b {
		t.Error("an ambiguous turn names a chain")
	}
	if chainOf(said("I will look into it.", "call_b")) != b {
		t.Error("the calls name no chain because the text is ambiguous")
	}
	now = now.Add(10 * time.Hour) // the first claim is forgotten, the second is not
	if got := chainOf(canned); got == b {
		t.Error("ambiguity has passed while a claim has not")
	}
	now = now.Add(25 * time.Hour) // both are
	c := answered(t, g, continued(none, nil), canned)
	if chainOf(canned) != c {
		t.Error("what nobody claims any more is not free")
	}
}

func TestTwoKeysOfTwoChainsAreNoMatch(t *testing.T) {
	g := chains(t, nil)
	a := answered(t, g, continued(engine.Said{}, nil), said("Sand first."))
	b := answered(t, g, continued(engine.Said{}, nil), said("", "call_9"))
	turn, err := g.Decide(context.Background(), continued(said("Sand first.", "call_9"), nil))
	if id := turn.Session.ID; err != nil || id == a || id == b || id == "" {
		t.Errorf("%q of %q and %q: %v", id, a, b, err)
	}
}

func TestAChainGoesOnFromAStoredResponse(t *testing.T) {
	g := chains(t, nil)
	g.Catalog = sharedGateway(t).Catalog
	r := continued(engine.Said{}, func(r *engine.Request) { r.API = catalog.Responses })
	turn, err := g.Serve(context.Background(), r, func(ctx context.Context, try engine.Try) engine.Attempt {
		a := serves(ctx, try)
		try.Heard(said("Kept."), "resp_1")
		a.ResponseID = "resp_1"
		return a
	})
	if err != nil {
		t.Fatal(err)
	}
	r.PreviousResponse = "resp_1"
	next, err := g.Decide(context.Background(), r)
	if err != nil || next.Session.ID != turn.Session.ID {
		t.Errorf("%+v %v", next.Session, err)
	}
}

// With affinity off the chain still names the conversation, and nothing is pinned.
func TestAChainIsNamedWithAffinityOff(t *testing.T) {
	g := chains(t, nil)
	off := func(r *engine.Request) { r.AffinityOff = true }
	first := answered(t, g, continued(engine.Said{}, off), said("What colour?"))
	if second := answered(t, g, continued(said("What colour?"), off), said("Green.")); second != first {
		t.Error("two sessions")
	}
	record, err := g.Pins.Recall(context.Background(), engine.PinKey{Tenant: "default", Class: engine.ClassChain, ID: first})
	if err != nil || len(record.Models) != 0 {
		t.Errorf("pinned: %+v %v", record, err)
	}
}

// What is not served to its end names no chain, and a store that fails fails nothing.
func TestAChainIsAHintLikeEveryOther(t *testing.T) {
	g := chains(t, nil)
	first, err := g.Serve(context.Background(), continued(engine.Said{}, nil), func(_ context.Context, try engine.Try) engine.Attempt {
		try.Accepted()
		return engine.Attempt{Stage: engine.StageAbandoned, Committed: true, Failure: engine.FailureClientLeft, Said: said("half")}
	})
	if err != nil {
		t.Fatal(err)
	}
	if turn, _ := g.Decide(context.Background(), continued(said("half"), nil)); turn.Session.ID == first.Session.ID {
		t.Error("half a turn named a chain")
	}
	answered(t, g, continued(engine.Said{}, nil), said("whole"))
	for name, pins := range map[string]engine.Pins{"hanging": hanging{}, "none": nil} {
		g.Pins = pins
		if id := answered(t, g, continued(said("whole"), nil), said("next")); id == "" {
			t.Errorf("%s: no chain", name)
		}
	}
}

// A request that another source names is in no chain, and its answer is not heard.
func TestANamedSessionIsInNoChain(t *testing.T) {
	g := chains(t, nil)
	r := continued(said("x"), func(r *engine.Request) { r.BodyID = "boat" })
	r.Last = func() engine.Said { t.Error("the last turn was asked for"); return engine.Said{} }
	turn, err := g.Serve(context.Background(), r, func(ctx context.Context, try engine.Try) engine.Attempt {
		if try.Hears {
			t.Error("heard")
		}
		return serves(ctx, try)
	})
	if err != nil || turn.Session.Class != engine.ClassExplicit {
		t.Errorf("%+v %v", turn.Session, err)
	}
}

// Conversations at random, their turns in any order: each stays one chain, as a slow
// twin that compares whole turns says.
func TestChainsAgainstATwin(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 5))
	g := chains(t, nil)
	owners := map[engine.Said]map[string]bool{} // by one hash alone
	claim := func(s engine.Said, chain string) {
		for _, one := range []engine.Said{{Text: s.Text}, {Tools: s.Tools}} {
			if one != (engine.Said{}) {
				if owners[one] == nil {
					owners[one] = map[string]bool{}
				}
				owners[one][chain] = true
			}
		}
	}
	expected := func(s engine.Said) string {
		found := ""
		for _, one := range []engine.Said{{Text: s.Text}, {Tools: s.Tools}} {
			if len(owners[one]) != 1 {
				continue
			}
			for chain := range owners[one] {
				if found != "" && found != chain {
					return ""
				}
				found = chain
			}
		}
		return found
	}
	var all []engine.Said // what each conversation has heard last
	for i := range 3000 {
		n := rng.IntN(len(all) + 1)
		if n == len(all) {
			all = append(all, engine.Said{})
		}
		answer := said(fmt.Sprintf("text %d", rng.IntN(4000)))
		if rng.IntN(2) == 0 {
			answer = said(fmt.Sprintf("text %d", rng.IntN(400)), fmt.Sprintf("call_%d", i))
		}
		want := expected(all[n])
		got := answered(t, g, continued(all[n], nil), answer)
		if want != "" && got != want || want == "" && owners[answer][got] {
			t.Fatalf("seed %d, turn %d: chain %q, want %q", seed, i, got, want)
		}
		all[n] = answer
		claim(answer, got)
	}
}
