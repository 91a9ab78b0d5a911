package engine

import (
	"math/rand/v2"
	"testing"
)

func TestNext(t *testing.T) {
	s := newScene(t, "m single") // a/k2 a/k1 b/k c | a/k2 a/k1
	d := s.decide()
	tried := func(index int, f Failure) Attempt {
		return Attempt{Candidate: s.f.Plan.Candidates[index], Failure: f}
	}
	with := func(a Attempt, change func(*Attempt)) Attempt { change(&a); return a }
	cases := []struct {
		name  string
		tried []Attempt
		want  int // -1: nobody
	}{
		{"nothing tried", nil, 0},
		{"no connection", []Attempt{tried(0, FailureConnect)}, 1},
		{"no first byte", []Attempt{tried(0, FailureTimeout)}, 1},
		{"throttled", []Attempt{tried(0, FailureThrottled)}, 1},
		{"server error", []Attempt{tried(0, FailureServer), tried(1, FailureServer)}, 2},
		{"model not found", []Attempt{tried(0, FailureNotFound)}, 1},
		{"cut before anything was sent", []Attempt{with(tried(0, FailureCut), func(a *Attempt) { a.Stage = StageBroken })}, 1},
		{"error event before anything was sent", []Attempt{with(tried(0, FailureStream), func(a *Attempt) { a.Stage = StageBroken })}, 1},
		{"cut after something was sent", []Attempt{with(tried(0, FailureCut), func(a *Attempt) { a.Stage, a.Committed = StageBroken, true })}, -1},
		{"served", []Attempt{with(tried(0, FailureNone), func(a *Attempt) { a.Stage, a.Committed = StageServed, true })}, -1},
		{"the client's own mistake", []Attempt{tried(0, FailureRequest)}, -1},
		{"refused what b has sealed", []Attempt{with(tried(0, FailureRequest), func(a *Attempt) { a.Elsewhere = "b" })}, 2},
		{"which b, down, does not open either", []Attempt{with(tried(0, FailureRequest), func(a *Attempt) { a.Elsewhere = "b" }), tried(2, FailureServer)}, -1},
		{"refused what nobody left has sealed", []Attempt{tried(2, FailureServer), with(tried(0, FailureRequest), func(a *Attempt) { a.Elsewhere = "b" })}, -1},
		{"the caller left", []Attempt{tried(0, FailureClientLeft)}, -1},
		{"the caller left after acceptance", []Attempt{with(tried(0, FailureNone), func(a *Attempt) { a.Stage = StageAbandoned })}, -1},
		{"a refused credential is passed over in every model", []Attempt{tried(0, FailureCredential), tried(1, FailureServer), tried(2, FailureServer), tried(3, FailureServer)}, 5},
		{"an unrefused one is tried for the next model", []Attempt{tried(0, FailureServer), tried(1, FailureServer), tried(2, FailureServer), tried(3, FailureServer)}, 4},
		{"a forbidden credential is passed over in every model", []Attempt{tried(0, FailureForbidden), tried(1, FailureServer), tried(2, FailureServer), tried(3, FailureServer)}, 5},
		{"everybody was tried", []Attempt{tried(0, FailureCredential), tried(1, FailureCredential), tried(2, FailureServer), tried(3, FailureServer)}, -1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			index, ok := Next(s.f.Plan, d, c.tried)
			if !ok {
				index = -1
			}
			if index != c.want {
				t.Errorf("candidate %d, want %d", index, c.want)
			}
		})
	}
}

func TestNextFollowsTheDecision(t *testing.T) {
	s := newScene(t, "m")
	s.pin("m", "b/k", 60)
	if index, _ := Next(s.f.Plan, s.decide(), nil); s.f.Plan.Candidates[index].Route.Vendor.Name != "b" {
		t.Errorf("candidate %d goes first though b was promoted", index)
	}
}

// Whatever fails, every candidate is tried at most once and the turn ends.
func TestNextEnds(t *testing.T) {
	seed := rand.Uint64()
	d := dice{rand.New(rand.NewPCG(seed, 4))}
	for range 2000 {
		f := d.facts()
		decision := Decide(f)
		var tried []Attempt
		seen := map[int]bool{}
		for {
			index, ok := Next(f.Plan, decision, tried)
			if !ok {
				break
			}
			if seen[index] {
				t.Fatalf("seed %d: candidate %d tried twice", seed, index)
			}
			seen[index] = true
			tried = append(tried, Attempt{Candidate: f.Plan.Candidates[index], Failure: pick(d, FailureConnect, FailureServer, FailureCredential, FailureThrottled)})
		}
	}
}
