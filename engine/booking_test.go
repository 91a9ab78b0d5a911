package engine_test

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/storetest"
	"github.com/warmroute/warmroute/pricing"
)

// randomTurns are n turns of a market, a minute apart.
func randomTurns(n int, seed uint64) []engine.Turn {
	r := rand.New(rand.NewPCG(seed, 1))
	market := storetest.NewMarket()
	turns := make([]engine.Turn, n)
	for i := range turns {
		turns[i] = market.Turn(r, i, time.Date(2026, 11, 30, 9, i, 0, 0, time.UTC))
	}
	return turns
}

func ratOf(t *testing.T, d decimal.Decimal) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(d.String())
	if !ok {
		t.Fatalf("%q is no number", d)
	}
	return r
}

// slowSums are what turns come to, told by the attempts as Serve left them, in
// fractions. Money is worked out from the rates by hand.
type slowSums struct {
	turns, failed, attempts, billed, usageKnown, costKnown, savingKnown, hits int64
	prompt, read, output, priced, charged, unread, unreadPrompt               int64
	cost, saving, promptCost, chargedAmount, chargedCost                      big.Rat
}

func (s *slowSums) add(t *testing.T, turn engine.Turn) {
	t.Helper()
	s.turns++
	s.attempts += int64(len(turn.Attempts))
	if last, ok := turn.Last(); !ok || last.Stage != engine.StageServed {
		s.failed++
	}
	for _, a := range turn.Attempts {
		if a.AcceptedAt.IsZero() {
			continue
		}
		s.billed++
		if a.Quality != pricing.Authoritative && a.Quality != pricing.Derived {
			continue
		}
		s.usageKnown++
		read := int64(0)
		for _, u := range usages(a) {
			s.prompt += u.Input + u.CacheRead + u.CacheWrite5m + u.CacheWrite1h
			s.output += u.Output
			read += u.CacheRead
		}
		s.read += read
		if read > 0 {
			s.hits++
		}
		if a.ReadUnknown {
			s.unread++
			s.unreadPrompt += a.Usage.Input + a.Usage.CacheRead + a.Usage.CacheWrite5m + a.Usage.CacheWrite1h
		}
		s.money(t, a)
	}
}

// usages are an attempt's own and its sides'.
func usages(a engine.Attempt) []pricing.Usage {
	all := []pricing.Usage{a.Usage}
	for _, side := range a.Sides {
		all = append(all, side.Usage)
	}
	return all
}

// piece is tokens of one bucket with one card.
type piece struct {
	card   pricing.Card
	bucket int // 0 to 4: input, read, written for 5 minutes, for an hour, output
	tokens int64
}

// pieces are what an attempt is billed for, token by token of its prompt where its
// card has parts.
func pieces(a engine.Attempt) []piece {
	var all []piece
	whole := func(c pricing.Card, u pricing.Usage) {
		for i, n := range []int64{u.Input, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h, u.Output} {
			all = append(all, piece{c, i, n})
		}
	}
	if parts := a.Card.Parts; len(parts) > 0 {
		u, from := a.Usage, int64(0)
		buckets := []struct {
			bucket int
			tokens int64
		}{{1, u.CacheRead}, {3, u.CacheWrite1h}, {2, u.CacheWrite5m}, {0, u.Input}}
		for k, part := range parts {
			to := from + part.Tokens
			if k == len(parts)-1 {
				to = u.Prompt()
			}
			begin := int64(0)
			for _, b := range buckets {
				if n := min(to, begin+b.tokens) - max(from, begin); n > 0 {
					all = append(all, piece{part.Card, b.bucket, n})
				}
				begin += b.tokens
			}
			from = to
		}
		all = append(all, piece{a.Card, 4, u.Output})
	} else {
		whole(a.Card, a.Usage)
	}
	for _, side := range a.Sides {
		whole(side.Card, side.Usage)
	}
	return all
}

func (s *slowSums) money(t *testing.T, a engine.Attempt) {
	million := big.NewRat(1_000_000, 1)
	var cost, fresh big.Rat
	priced := true
	var prompt big.Rat
	inputs := a.Card.Input.Known()
	for _, side := range a.Sides {
		inputs = inputs && side.Card.Input.Known()
	}
	for _, part := range pieces(a) {
		rate := [...]pricing.Rate{part.card.Input, part.card.CacheRead, part.card.CacheWrite5m, part.card.CacheWrite1h, part.card.Output}[part.bucket]
		if !rate.Known() && part.bucket != 4 {
			rate = part.card.Input
		}
		if part.tokens == 0 {
			continue
		}
		if !rate.Known() {
			priced = false
			continue
		}
		tokens := new(big.Rat).Quo(big.NewRat(part.tokens, 1), million)
		bill := new(big.Rat).Mul(ratOf(t, rate.Decimal()), tokens)
		cost.Add(&cost, bill)
		if part.bucket != 4 {
			fresh.Add(&fresh, new(big.Rat).Mul(ratOf(t, part.card.Input.Decimal()), tokens))
			fresh.Sub(&fresh, bill)
			prompt.Add(&prompt, bill)
		}
	}
	if !priced {
		return
	}
	if a.Card.Request.Known() {
		cost.Add(&cost, new(big.Rat).Quo(ratOf(t, a.Card.Request.Decimal()), million))
	}
	s.costKnown++
	s.cost.Add(&s.cost, &cost)
	s.promptCost.Add(&s.promptCost, &prompt)
	for _, u := range usages(a) {
		s.priced += u.Prompt()
	}
	if a.Charged.Known {
		s.charged++
		s.chargedAmount.Add(&s.chargedAmount, ratOf(t, a.Charged.Amount))
		s.chargedCost.Add(&s.chargedCost, &cost)
	}
	if inputs {
		s.savingKnown++
		s.saving.Add(&s.saving, &fresh)
	}
}

// TestSumsAreExact holds the sums of random turns against fractions.
func TestSumsAreExact(t *testing.T) {
	const seed = 30
	t.Logf("seed %d", seed)
	var got engine.Sums
	var want slowSums
	for _, turn := range randomTurns(5000, seed) {
		got = got.Add(engine.Sum(engine.Book(turn)))
		want.add(t, turn)
	}
	for _, tt := range []struct {
		what      string
		got, want int64
	}{
		{"turns", got.Turns, want.turns},
		{"unsettled", got.Unsettled, 0},
		{"failed", got.Failed, want.failed},
		{"attempts", got.Attempts, want.attempts},
		{"billed", got.Billed, want.billed},
		{"usage known", got.UsageKnown, want.usageKnown},
		{"cost known", got.CostKnown, want.costKnown},
		{"saving known", got.SavingKnown, want.savingKnown},
		{"hits", got.Hits, want.hits},
		{"prompt tokens", got.Usage.Prompt(), want.prompt},
		{"tokens read", got.Usage.CacheRead, want.read},
		{"tokens written", got.Usage.Output, want.output},
		{"priced tokens of prompts", got.PricedPrompt, want.priced},
		{"attempts that do not say what they read", got.ReadUnknown, want.unread},
		{"prompt tokens of which it is known what was read", got.HitPrompt(), want.prompt - want.unreadPrompt},
		{"attempts of which the vendor says what it charged", got.ChargedKnown, want.charged},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %d, want %d", tt.what, tt.got, tt.want)
		}
	}
	for _, tt := range []struct {
		what string
		got  decimal.Decimal
		want *big.Rat
	}{
		{"cost", got.Cost, &want.cost},
		{"saving", got.Saving, &want.saving},
		{"cost of prompts", got.PromptCost, &want.promptCost},
		{"charged by vendors", got.Charged, &want.chargedAmount},
		{"cost beside what was charged", got.ChargedCost, &want.chargedCost},
	} {
		if ratOf(t, tt.got).Cmp(tt.want) != 0 {
			t.Errorf("%s %s, want %s", tt.what, tt.got, tt.want.FloatString(30))
		}
	}
	if got.CostKnown == 0 || got.CostKnown == got.UsageKnown || got.UsageKnown == got.Billed || got.Billed == got.Attempts || got.NoCachePrice == 0 || got.ChargedKnown == 0 || got.ReadUnknown == 0 {
		t.Errorf("a case is missing: %+v", got)
	}
}

func TestWhatIsAddedCanBeTakenOut(t *testing.T) {
	var sums engine.Sums
	turns := randomTurns(400, 31)
	for _, turn := range turns {
		sums = sums.Add(engine.Sum(engine.Book(turn)))
	}
	for _, turn := range turns {
		sums = sums.Sub(engine.Sum(engine.Book(turn)))
	}
	if !sums.Equal(engine.Sums{}) {
		t.Errorf("%+v are left", sums)
	}
}

func TestBook(t *testing.T) {
	market := storetest.NewMarket()
	model, other := market.Models[0], market.Models[1]
	anthropic, bedrock := model.Routes[0], model.Routes[1]
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.FixedZone("", 3600))
	usage := pricing.Usage{Input: 1000, CacheRead: 40_000, CacheWrite5m: 2000, Output: 500}
	turn := engine.Turn{
		ID: "1", Tenant: "t", Started: at, Took: time.Second,
		Session: engine.Session{Tenant: "t", Class: engine.ClassAgent, ID: "s", Client: "codex", Parent: "p"},
		Plan: engine.Plan{Candidates: []engine.Candidate{
			{Route: anthropic, Credential: "main"},
			{Route: bedrock, Credential: "eu", Down: true, Group: engine.GroupClient},
			{Route: other.Routes[0]},
		}},
		Decision: engine.Decision{Order: []int{1, 0, 2}, Models: []engine.Finding{
			{Model: model, Outcome: engine.Promoted, Pinned: "bedrock", Displaced: "anthropic", Gate: catalog.GateCacheRead},
			{Model: other, Outcome: engine.NoPin},
		}},
		Attempts: []engine.Attempt{
			{Candidate: engine.Candidate{Route: bedrock}, Failure: engine.FailureThrottled, Status: 429, Reply: &engine.Reply{Body: []byte("secret")}},
			{
				Candidate: engine.Candidate{Route: anthropic, Credential: "main"}, Stage: engine.StageServed, Started: at, AcceptedAt: at,
				Usage: usage, Quality: pricing.Authoritative, Card: anthropic.Price[0].Card,
			},
		},
	}
	b := engine.Book(turn)
	if b.Outcome != engine.Promoted || b.Displaced != "anthropic" || b.Model != model.Name || b.Vendor() != "anthropic" || !b.Served() {
		t.Errorf("the model of the last attempt: %+v", b)
	}
	if len(b.Order) != 3 || b.Order[0].Vendor != "anthropic" || b.Order[1] != (engine.BookedCandidate{
		Model: model.Name, Vendor: "bedrock", Credential: "eu", Group: engine.GroupClient, Down: true,
	}) {
		t.Errorf("the plan's own order: %+v", b.Order)
	}
	last, _ := b.Last()
	// 1,000 × 3 + 40,000 × 0.30 + 2,000 × 3.75 + 500 × 15, per million.
	if !last.Cost.Known || last.Cost.Total.String() != "0.03" {
		t.Errorf("cost %+v", last.Cost)
	}
	// 43,000 × 3 per million are 0.129; the prompt cost 0.0225.
	if !last.Saving.Known || last.Saving.Amount.String() != "0.1065" {
		t.Errorf("saving %+v", last.Saving)
	}
	if b.Attempts[0].Accepted || b.Attempts[0].Cost.Known || b.Attempts[0].Card.Input.Known() || !last.Accepted {
		t.Errorf("attempts %+v", b.Attempts)
	}
	if b.Started.Location() != time.UTC || !b.Started.Equal(at) {
		t.Errorf("started %v", b.Started)
	}
	if b.State != engine.Settled || b.Client != "codex" || b.Parent != "p" || b.Class != engine.ClassAgent {
		t.Errorf("%+v", b)
	}

	partial := turn
	partial.Attempts = []engine.Attempt{turn.Attempts[1]}
	partial.Attempts[0].Quality, partial.Attempts[0].Stage = pricing.Partial, engine.StageAbandoned
	if s := engine.Sum(engine.Book(partial)); s.Billed != 1 || s.UsageKnown != 0 || s.CostKnown != 0 || s.Usage != (pricing.Usage{}) || !s.Cost.IsZero() || s.Failed != 1 {
		t.Errorf("an abandoned turn is counted, and not billed: %+v", s)
	}

	fallback := turn
	fallback.Attempts = []engine.Attempt{{Candidate: turn.Plan.Candidates[2], Stage: engine.StageServed, Finding: 1}}
	if b := engine.Book(fallback); b.Outcome != engine.NoPin || b.Model != other.Name {
		t.Errorf("the outcome of the model that served: %+v", b)
	}

	none := turn
	none.Attempts = nil
	if b := engine.Book(none); b.Outcome != engine.Promoted || b.Model != model.Name || b.Vendor() != "" || engine.Sum(b).Failed != 1 {
		t.Errorf("without an attempt: %+v", b)
	}

	begun := engine.BookIntent(&fallback, turn.Plan.Candidates[0], at)
	if s := engine.Sum(begun); begun.State != engine.Unsettled || begun.Model != model.Name || begun.Outcome != engine.Promoted ||
		len(begun.Attempts) != 2 || s.Unsettled != 1 || s.Failed != 0 || s.Attempts != 2 || s.Billed != 2 {
		t.Errorf("an intent: %+v, %+v", begun, s)
	}
	if len(fallback.Attempts) != 1 {
		t.Error("an intent changes its turn")
	}
	if b := engine.Book(engine.Turn{}); b.State != engine.Settled {
		t.Errorf("an empty turn: %+v", b)
	}
}

// TestAnAttemptStandsAtItsOwnRoute has a turn come back to the vendor and model it
// tried first, and random ones.
func TestAnAttemptStandsAtItsOwnRoute(t *testing.T) {
	tried := func(model, vendor string, input int64) engine.BookedAttempt {
		a := engine.BookedAttempt{
			Model: model, Vendor: vendor, Stage: engine.StageBroken, Accepted: true, Quality: pricing.Authoritative,
			Usage: pricing.Usage{Input: input}, Card: pricing.Card{Input: pricing.PerMillion(decimal.NewFromInt(3))},
		}
		a.Price()
		return a
	}
	refused := engine.BookedAttempt{Model: "n", Vendor: "c"}
	b := engine.Booked{State: engine.Settled, Model: "m", Attempts: []engine.BookedAttempt{
		tried("m", "a", 1000), refused, tried("m", "b", 200), tried("n", "a", 30), tried("m", "a", 4),
	}}
	rows := engine.SumRoutes(&b)
	want := []struct {
		model, vendor                   string
		turns, attempts, billed, tokens int64
		cost                            string
	}{
		{"m", "a", 1, 2, 2, 1004, "0.003012"},
		{"n", "c", 0, 1, 0, 0, "0"},
		{"m", "b", 0, 1, 1, 200, "0.0006"},
		{"n", "a", 0, 1, 1, 30, "0.00009"},
	}
	if len(rows) != len(want) {
		t.Fatalf("%+v", rows)
	}
	for i, w := range want {
		s := rows[i].Sums
		if rows[i].Model != w.model || rows[i].Vendor != w.vendor || s.Turns != w.turns || s.Failed != w.turns || s.Attempts != w.attempts ||
			s.Billed != w.billed || s.Usage != (pricing.Usage{Input: w.tokens}) || !s.Cost.Equal(decimal.RequireFromString(w.cost)) {
			t.Errorf("%+v, want %+v", rows[i], w)
		}
	}
	if rows := engine.SumRoutes(&engine.Booked{Model: "m"}); len(rows) != 1 || rows[0].Model != "m" || rows[0].Vendor != "" || rows[0].Sums.Unsettled != 1 {
		t.Errorf("without an attempt: %+v", rows)
	}
	several := 0
	for _, turn := range randomTurns(500, 6) {
		b := engine.Book(turn)
		var sum engine.Sums
		rows := engine.SumRoutes(&b)
		for _, row := range rows {
			sum = sum.Add(row.Sums)
		}
		if !sum.Equal(engine.Sum(b)) || rows[0].Sums.Turns != 1 || rows[0].Model != b.Model || rows[0].Vendor != b.Vendor() {
			t.Errorf("%s: %+v", b.ID, rows)
		}
		if len(rows) > 1 && rows[1].Sums.Billed > 0 {
			several++
		}
	}
	if several < 20 {
		t.Errorf("%d turns that another vendor billed too", several)
	}
}

func TestASessionsPathAndSwitches(t *testing.T) {
	var s engine.SessionBook
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	add := func(model, vendor string, stage engine.Stage) {
		at = at.Add(time.Minute)
		b := engine.Booked{
			State: engine.Settled, Tenant: "t", Class: engine.ClassAgent, Session: "s", Model: model, Started: at, Took: time.Second,
			Attempts: []engine.BookedAttempt{{Model: model, Vendor: vendor, Stage: stage}},
		}
		s.Add(&b)
	}
	add("m", "a", engine.StageServed)
	add("m", "a", engine.StageServed)
	add("n", "b", engine.StageServed) // another model: no switch
	add("m", "c", engine.StageBroken) // not served: no switch
	add("m", "a", engine.StageServed)
	held := s
	add("m", "b", engine.StageServed)
	add("m", "a", engine.StageServed)
	if s.Switches != 2 || len(s.Models) != 2 || s.Models[0] != "m" || s.Latest[0] != "a" || s.Latest[1] != "b" {
		t.Errorf("%+v", s)
	}
	if len(s.Vendors) != 6 || s.Sums.Turns != 7 || s.Sums.Failed != 1 || s.Last.Sub(s.First) != 6*time.Minute+time.Second {
		t.Errorf("%+v", s)
	}
	if len(held.Vendors) != 4 || held.Latest[0] != "a" {
		t.Errorf("a copy has changed: %+v", held)
	}
	for range 100 {
		add("m", "z", engine.StageServed)
	}
	if len(s.Vendors) != 32 || s.Vendors[0] != "z" {
		t.Errorf("a path of %d", len(s.Vendors))
	}
}

func TestOutcomesStandInTheOrderOfTheLadder(t *testing.T) {
	ladder := engine.Ladder()
	for i := 1; i < len(ladder); i++ {
		if engine.CompareOutcomes(ladder[i-1], ladder[i]) >= 0 {
			t.Errorf("%s stands before %s", ladder[i], ladder[i-1])
		}
	}
	if engine.CompareOutcomes("one of tomorrow", engine.MovedOnPrice) <= 0 || engine.CompareOutcomes("a", "b") >= 0 {
		t.Error("unknown outcomes do not come last, by name")
	}
}

// Only a refusal that a vendor gave, or a connection that never came about, is
// known to cost nothing. Whatever the vendor had in hand when the wait ended may
// be on its bill: counted, and unknown.
func TestWhatMayHaveBeenBilledIsUnknownNotFree(t *testing.T) {
	accepted := time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		made   engine.Attempt
		billed int64
	}{
		{"refused with a status", engine.Attempt{Failure: engine.FailureServer, Status: 503}, 0},
		{"no connection", engine.Attempt{Failure: engine.FailureConnect}, 0},
		{"no first byte in time", engine.Attempt{Failure: engine.FailureTimeout}, 1},
		{"the caller left before the answer", engine.Attempt{Stage: engine.StageAbandoned, Failure: engine.FailureClientLeft}, 1},
		{"cut by a shutdown", engine.Attempt{Stage: engine.StageAbandoned, Failure: engine.FailureShutdown}, 1},
		{"accepted, then broken", engine.Attempt{Stage: engine.StageBroken, Failure: engine.FailureCut, AcceptedAt: accepted, Status: 200}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := engine.Sum(engine.Book(engine.Turn{Attempts: []engine.Attempt{c.made}}))
			if s.Billed != c.billed || s.CostKnown != 0 || s.UsageKnown != 0 {
				t.Errorf("sums %+v, want %d billed and nothing known", s, c.billed)
			}
		})
	}
}

// A fee of the request is no part of what the prompt cost.
func TestThePromptsCostIsWithoutTheFee(t *testing.T) {
	per := func(n int64) pricing.Rate { return pricing.PerMillion(decimal.NewFromInt(n)) }
	a := engine.BookedAttempt{
		Usage: pricing.Usage{Input: 1000, Output: 7}, Quality: pricing.Partial,
		Card: pricing.Card{Input: per(3), Output: per(15), Request: per(5000)},
	}
	if cost := a.PromptCost(); !cost.Known || cost.Total.String() != "0.003" {
		t.Errorf("%+v", cost)
	}
	if !a.Card.Request.Known() {
		t.Error("the attempt's card has lost its fee")
	}
}
