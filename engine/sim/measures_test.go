package sim

import (
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// Two yardsticks for one request: they are told apart and never added.
func TestSavingsKeepTheirBaselines(t *testing.T) {
	u := pricing.Usage{Input: 80, CacheRead: 25_500, CacheWrite5m: 600, Output: 120}
	shop := (&shop{}).sell("dearest", byMarker, fable).sell("served", byMarker, sonnet)
	var s Session
	first := shop.turn(-60, "served", engine.Promoted, u)
	first.Marks.End = 25_500
	step(t, &s, first)
	// In both worlds the vendor is warm, each world's own.
	f := shop.turn(0, "served", engine.Promoted, u)
	f.Marks.End = 26_100
	res := step(t, &s, f)
	wants(t, "cost", res.Cost, "0.01194")
	if saved := sonnet.Saving(u); !saved.Known || !saved.Amount.Equal(dec("0.0684")) {
		t.Errorf("against no cache: %+v", saved)
	}
	wants(t, "of which reads and writes", res.Gain.minus(res.Premium), "0.0684")
	wants(t, "against the dearest, the same buckets", res.Saving, "0.02786")
	wants(t, "which would have cost", res.CostWithout, "0.0398")
	var sum Tally
	sum.Take(&res)
	if sum.PayBack() != Paying || !sum.Saving.Equal(dec("0.02786")) {
		t.Errorf("%s, %s", sum.PayBack(), sum.Saving)
	}
}

func percent(t *testing.T, s Share, want string) {
	t.Helper()
	got, ok := s.Percent(2)
	if want == "-" && !ok || ok && got.StringFixed(2) == want {
		return
	}
	t.Errorf("%d of %d: %s (%t), want %s", s.Of, s.All, got, ok, want)
}

func TestHitRatesNameTheirDenominator(t *testing.T) {
	shop, s, sum := twoMarked(), Session{}, Tally{}
	percent(t, sum.TokenHitRate(), "-")
	percent(t, sum.RequestHitRate(), "-")
	for i, u := range []pricing.Usage{{Input: 12, CacheRead: 18_400}, {Input: 988, CacheWrite5m: 600}} {
		f := shop.turn(int64(i)*30, "first", engine.Confirmed, u)
		f.Kept.Tokens = 0
		res := step(t, &s, f)
		sum.Take(&res)
	}
	percent(t, sum.TokenHitRate(), "92.00")
	percent(t, sum.RequestHitRate(), "50.00")
	percent(t, sum.AllTrafficHitRate(), "92.00")
	if sum.EffectiveInput().String() != pricing.PerMillion(dec("18400").Mul(dec("0.3")).Add(dec("3000")).Add(dec("600").Mul(dec("3.75"))).Div(dec("20000"))).String() {
		t.Error(sum.EffectiveInput())
	}
	percent(t, sum.PricingCoverage(), "100.00")
	percent(t, sum.UsageCoverage(), "100.00")
}

func TestSharesOfATally(t *testing.T) {
	var sum Tally
	take := func(times int, res Result) {
		for range times {
			sum.Take(&res)
		}
	}
	read := func(o engine.Outcome, r int64) Result {
		return Result{Outcome: o, Accepted: true, Reported: true, Eligible: true, Stayed: true, Kept: true, Expected: 1001, Promised: 1001, Usage: pricing.Usage{CacheRead: r}}
	}
	take(3, read(engine.Promoted, 1001))
	take(1, read(engine.Promoted, 100)) // cold
	take(1, read(engine.Confirmed, 101))
	take(5, read(engine.Confirmed, 5000))
	take(1, read(engine.PinExpired, 501)) // warm
	take(1, read(engine.PinExpired, 500))
	take(1, Result{Outcome: engine.SkippedNotInPlan, Accepted: true})
	take(1, Result{Outcome: engine.SkippedHealthDown, Accepted: true})
	take(2, Result{Outcome: engine.SkippedNotCheaper, Accepted: true})
	take(9, Result{Outcome: engine.NoPin})
	percent(t, sum.Displacement(), "40.00")
	percent(t, sum.PinExpiredRate(), "12.50")
	percent(t, sum.PlanConflicts(), "6.25")
	percent(t, sum.ExpiredButWarm(), "50.00")
	percent(t, sum.LiveButCold(), "10.00")
	percent(t, sum.UsageCoverage(), "75.00")
	take(3, Result{Reported: true, Miss: Miss{Cause: PinLost, Tokens: 5000}})
	take(1, Result{Reported: true, Miss: Miss{Cause: VendorEvicted, Tokens: 5000}})
	percent(t, sum.AvoidableMissRate(), "25.00")
	if sum.ReadsPerWrite() != (Share{sum.Reads, 0}) || (&Tally{}).EffectiveInput().Known() {
		t.Error(sum.ReadsPerWrite())
	}
	if sum.Retention() != (Share{8*1001 + 100 + 101 + 501 + 500, 12 * 1001}) {
		t.Error(sum.Retention())
	}
	if whole := sum.Add(sum); !whole.Sub(sum).equal(sum) || whole.equal(sum) {
		t.Error("sums do not add up")
	}
}

func (t Tally) equal(other Tally) bool { return t.Equal(&other) }

func TestPayBack(t *testing.T) {
	for _, c := range []struct {
		gain, premium string
		want          Verdict
	}{{"2", "1", Paying}, {"1", "1", Even}, {"0.5", "0.50000001", Losing}} {
		sum := Tally{Reads: 1, Writes: 1, Gain: dec(c.gain), Premium: dec(c.premium)}
		if got := sum.PayBack(); got != c.want {
			t.Errorf("%s against %s: %s", c.gain, c.premium, got)
		}
	}
	if (&Tally{}).PayBack() != NothingWritten {
		t.Error("nothing was written")
	}
}

func TestBlendedPrices(t *testing.T) {
	if got := Blended(sonnet, Share{1, 3}).String(); got != "2.1" {
		t.Error(got)
	}
	if Blended(sonnet, Share{}).Known() || Blended(card("3", "", "", "", ""), Share{1, 2}).Known() {
		t.Error("a blend of nothing is known")
	}
}

func TestModelError(t *testing.T) {
	for _, c := range []struct {
		deviation string
		low       bool
	}{{"0.1", false}, {"0.100000001", true}} {
		sum := Tally{Real: dec("1"), Deviation: dec(c.deviation)}
		if got, ok := sum.ModelError(); !ok || !got.Equal(dec(c.deviation)) || sum.LowConfidence() != c.low {
			t.Errorf("%s: %s, low %t", c.deviation, got, sum.LowConfidence())
		}
	}
	if _, ok := (&Tally{}).ModelError(); ok || (&Tally{}).LowConfidence() {
		t.Error("nothing modelled has an error")
	}
}
