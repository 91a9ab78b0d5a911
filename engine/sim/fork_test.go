package sim_test

import (
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/pricing"
)

// An agent asks one question after the other under one id, each with the same tools
// and system text: 36,000 of 40,000 tokens. Affinity keeps it at south. Without it,
// north would have written that beginning once, not once for every question; whether
// it would have read it again is known from whether south did.
func TestQuestionsThatBeginAlikeShareACache(t *testing.T) {
	m := heron(t)
	for name, c := range map[string]struct {
		read, without int64 // tokens, of the second question
	}{
		"the beginning is cached for both":     {36_000, 36_000},
		"a part of it is":                      {20_000, 20_000},
		"the vendor caches whole prompts only": {0, 0},
	} {
		var auditor sim.Auditor
		ask := func(question int64, read int64, memory []byte) (sim.Judgement, []byte) {
			at := nine.Add(time.Duration(question) * time.Minute)
			turn := turnAt(m, at, 1, true, pricing.Usage{CacheRead: read, CacheWrite5m: 40_000 - read}, marks(1000, 9000, 10_000+question))
			turn.Asked.Thread = uint64(question)
			said := auditor.Audit(&turn, memory)
			j, _ := judged(t, said)
			return j, said.Memory
		}
		_, memory := ask(1, 0, nil)
		j, memory := ask(2, c.read, memory)
		if j.Counterfactual.CacheRead-c.without > 10 || c.without-j.Counterfactual.CacheRead > 10 || j.Promised != 0 || j.Miss.Cause != sim.NoMiss {
			t.Errorf("%s: %+v, want %d read without affinity", name, j, c.without)
		}
		if j, _ := ask(3, c.read, memory); j.Counterfactual.CacheRead > c.read+10 || j.Counterfactual.CacheRead < c.read-10 {
			t.Errorf("%s, once more: %+v", name, j.Counterfactual)
		}
		if f, _ := j.Saving.Amount.Float64(); !j.Saving.Known || f > 0.001 || f < -0.001 {
			t.Errorf("%s: saved %s", name, j.Saving.Amount)
		}
	}
}
