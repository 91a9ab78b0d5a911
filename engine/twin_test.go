package engine

import (
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// slowDecide is the ladder of design section 5 once more, slow and obvious: it
// asks every question of every entry, then reads the answers in the order of the
// rungs.
func slowDecide(f Facts) Decision {
	var d Decision
	for _, mp := range f.Plan.Models {
		finding, first := slowJudge(f, mp)
		for i := mp.From; i < mp.To; i++ {
			if first >= 0 && f.Plan.Candidates[i].Group == f.Plan.Candidates[first].Group && !slices.Contains(d.Order, first) {
				d.Order = append(d.Order, first)
			}
			if i != first {
				d.Order = append(d.Order, i)
			}
		}
		d.Models = append(d.Models, finding)
	}
	return d
}

// slowJudge returns the finding for one model and the candidate to put first in
// its group, -1 for none.
func slowJudge(f Facts, mp ModelPlan) (Finding, int) {
	finding := Finding{Model: mp.Model, Prompt: f.Prompt}
	answer := func(o Outcome, detail Detail) (Finding, int) {
		finding.Outcome, finding.Detail = o, detail
		return finding, -1
	}
	selfNamed := f.Session.Class == ClassAgent || f.Session.Class == ClassFingerprint
	caches := false
	for _, r := range mp.Model.Routes {
		caches = caches || r.Disabled == "" && r.Cache.Family != catalog.None
	}
	var minima, cachingMinima []int64
	for _, c := range f.Plan.Candidates[mp.From:mp.To] {
		minima = append(minima, c.Route.Cache.Minimum())
		if c.Route.Cache.Family != catalog.None {
			cachingMinima = append(cachingMinima, c.Route.Cache.Minimum())
		}
	}
	if len(cachingMinima) > 0 {
		minima = cachingMinima
	}
	if f.Off {
		return answer(SkippedModeOff, "")
	}
	if f.Session.ID == "" && len(f.Ahead.Models) == 0 {
		return answer(NoPin, DetailNoSession)
	}
	if f.Unavailable {
		return answer(StoreUnavailable, "")
	}
	if selfNamed && !caches {
		return answer(NotCacheCapable, "")
	}
	if selfNamed && len(minima) > 0 && f.Prompt.Tokens < slices.Min(minima) {
		return answer(SkippedBelowMinPrefix, "")
	}
	var entries []Entry
	others := false
	for _, m := range f.Record.Models {
		if m.Model == mp.Model.Name {
			entries = m.Warm
		} else {
			others = true
		}
	}
	entries, others = slowLine(f, mp.Model.Name, entries), others || len(f.Parent.Models) > 0
	leading := GroupOperator
	if mp.From < mp.To {
		leading = f.Plan.Candidates[mp.From].Group
	}
	if leading == GroupClient {
		slices.SortStableFunc(entries, func(a, b Entry) int { return strings.Compare(string(b.Group), string(a.Group)) })
	}
	if len(entries) == 0 && others {
		return answer(NoPin, DetailModelChanged)
	}
	if len(entries) == 0 {
		return answer(NoPin, "")
	}
	var newest Finding
	for i, e := range entries {
		next, at := slowWeigh(f, mp, e, selfNamed)
		if next.Outcome == Confirmed || next.Outcome == Promoted {
			switch {
			case e.Group != leading:
				next.Detail = DetailBehindOwnKeys
			case i > 0:
				next.Detail = DetailOlderWarmVendor
			}
			if next.Outcome == Promoted {
				return next, at
			}
			return next, -1
		}
		if i == 0 {
			newest = next
		}
	}
	return newest, -1
}

// slowLine sorts all entries that could be meant by how near they are, then takes
// of each candidate the nearest.
func slowLine(f Facts, model string, own []Entry) []Entry {
	type near struct {
		e        Entry
		distance int
	}
	var all []near
	ownThread := false
	for _, e := range own {
		distance := 2
		if e.Thread == f.Thread {
			distance, ownThread = 1, true
		}
		all = append(all, near{e, distance})
	}
	for _, m := range f.Ahead.Models {
		for _, e := range m.Warm {
			switch {
			case m.Model != model:
			case e.ExpiredAt(f.Now):
				all = append(all, near{e, 3})
			default:
				ownThread = true
				all = append(all, near{e, 0})
			}
		}
	}
	for _, m := range f.Parent.Models {
		if m.Model == model && !ownThread {
			for _, e := range m.Warm {
				all = append(all, near{e, 4})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return a.distance - b.distance })
	var line []Entry
	for _, n := range all {
		met := slices.ContainsFunc(line, func(e Entry) bool {
			return e.Vendor == n.e.Vendor && e.Credential == n.e.Credential && e.Group == n.e.Group
		})
		if !met {
			line = append(line, n.e)
		}
	}
	return line
}

func slowWeigh(f Facts, mp ModelPlan, e Entry, selfNamed bool) (Finding, int) {
	finding := Finding{Model: mp.Model, Prompt: f.Prompt, Used: e, Pinned: e.Vendor}
	var route *catalog.Route
	for _, r := range mp.Model.Routes {
		if r.Vendor.Name == e.Vendor {
			route = r
		}
	}
	// The candidates the entry may mean, those that are up first.
	var meant []int
	for _, down := range []bool{false, true} {
		for i := mp.From; i < mp.To; i++ {
			c := f.Plan.Candidates[i]
			if c.Route.Vendor.Name == e.Vendor && c.Group == e.Group && c.Down == down && (e.Credential == "" || c.Credential == e.Credential) {
				meant = append(meant, i)
			}
		}
	}
	if selfNamed && route != nil && f.Prompt.Tokens < route.Cache.Minimum() {
		finding.Outcome = SkippedBelowMinPrefix
		return finding, -1
	}
	if !f.Now.Before(e.ExpiresAt) {
		finding.Outcome = PinExpired
		return finding, -1
	}
	if e.Silent >= 2 {
		finding.Outcome, finding.Detail, finding.Pinned = NoPin, DetailNeverEngaged, ""
		return finding, -1
	}
	removedFor := map[*catalog.Route]Why{}
	bound := false
	for _, r := range mp.Removed {
		removedFor[r.Route] = r.Why
		bound = bound || r.Why == WhyOrigin
	}
	if len(meant) == 0 {
		finding.Outcome = SkippedNotInPlan
		why, removed := removedFor[route]
		known := route != nil && slices.ContainsFunc(route.Vendor.Credentials, func(c catalog.Credential) bool { return c.ID == e.Credential })
		switch {
		case route == nil || route.Disabled != "":
			finding.Detail = DetailRouteRemoved
		case removed && why == WhyOrigin:
			finding.Detail = DetailBoundToOrigin
		case removed && (why == WhyCredential || why == WhyOwnKey), !removed && e.Group == GroupClient:
			finding.Detail = DetailNoKey
		case !removed && !known:
			finding.Detail = DetailRouteRemoved
		}
		return finding, -1
	}
	at := meant[0]
	if f.Plan.Candidates[at].Down {
		finding.Outcome = SkippedHealthDown
		return finding, -1
	}
	// Prices.
	own := f.Plan.Candidates[at].Card
	var rivals []pricing.Rival
	seen := map[string]bool{e.Vendor: true}
	routes := map[string]bool{}
	for _, c := range f.Plan.Candidates[mp.From:mp.To] {
		routes[c.Route.Vendor.Name] = true
		if !c.Down && !seen[c.Route.Vendor.Name] {
			seen[c.Route.Vendor.Name] = true
			rivals = append(rivals, pricing.Rival{Vendor: c.Route.Vendor.Name, Input: c.Card.Input})
		}
	}
	known := own.CacheRead.Known() && own.Input.Known()
	belowOwn := known && own.CacheRead.Decimal().LessThan(own.Input.Decimal())
	belowRivals := known
	for _, r := range rivals {
		belowRivals = belowRivals && (!r.Input.Known() || own.CacheRead.Decimal().LessThan(r.Input.Decimal()))
	}
	finding.Gate = catalog.GateCacheRead
	switch f.Gate {
	case catalog.GateOff:
		finding.Gate, known, belowOwn, belowRivals = catalog.GateOff, true, true, true
	case catalog.GateOwnPrice:
		finding.Gate, belowRivals, rivals = catalog.GateOwnPrice, known, nil
	}
	v := pricing.Verdict{CacheRead: own.CacheRead, Input: own.Input, Rivals: rivals}
	switch {
	case !known:
		v.Reason = pricing.PriceUnknown
	case !belowOwn:
		v.Reason = pricing.NotBelowOwnInput
	case !belowRivals:
		v.Reason = pricing.NotBelowRivalInput
	default:
		v.Pays = true
	}
	finding.Verdict = v
	unmarked := route.Cache.Family == catalog.Explicit && !f.Marked
	first := mp.From
	for f.Plan.Candidates[first].Group != e.Group {
		first++
	}
	switch {
	case at == first:
		finding.Outcome = Confirmed
		switch {
		case bound:
			finding.Detail = DetailBoundToOrigin
		case mp.SignedBy == e.Vendor:
			finding.Detail = DetailSignedBy
		case unmarked:
			finding.Detail = DetailNoCacheMarker
		case len(routes) == 1:
			finding.Detail = DetailSingleRoute
		}
	case mp.SignedBy != "" && f.Plan.Candidates[first].Route.Vendor.Name == mp.SignedBy:
		finding.Outcome, finding.Detail = SkippedOrder, DetailSignedBy
	case f.Ordered && f.OrderFirst:
		finding.Outcome = SkippedOrder
	case v.Reason == pricing.PriceUnknown:
		finding.Outcome = SkippedPriceUnknown
	case !v.Pays:
		finding.Outcome, finding.Detail = SkippedNotCheaper, Detail(v.Reason)
	default:
		finding.Outcome = Promoted
		if unmarked {
			finding.Detail = DetailNoCacheMarker
		}
		if name := f.Plan.Candidates[first].Route.Vendor.Name; name != e.Vendor {
			finding.Displaced = name
		}
	}
	return finding, at
}

// dice makes random facts: small worlds in which everything collides.
type dice struct{ *rand.Rand }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

func (d dice) rate() pricing.Rate {
	if d.chance(15) {
		return pricing.Rate{}
	}
	return pricing.PerMillion(decimal.New(int64(d.IntN(6)), -int32(d.IntN(2))))
}

func (d dice) facts() Facts {
	vendorNames := []string{"v0", "v1", "v2", "v3"}
	var vendors []*catalog.Vendor
	for i, name := range vendorNames {
		v := &catalog.Vendor{Name: name, Index: i}
		for k := range d.IntN(3) {
			v.Credentials = append(v.Credentials, catalog.Credential{ID: string(rune('x' + k))})
		}
		vendors = append(vendors, v)
	}
	f := Facts{
		Now:         pinEpoch,
		Session:     Session{Tenant: "t", Class: pick(d, ClassExplicit, ClassCacheKey, ClassAgent, ClassFingerprint), ID: "s"},
		Unavailable: d.chance(3),
		Off:         d.chance(3),
		Gate:        pick(d, "", "", catalog.GateCacheRead, catalog.GateOwnPrice, catalog.GateOff, catalog.GateExpected),
		Ordered:     d.chance(30),
		OrderFirst:  d.chance(30),
		Prompt:      Estimate{Tokens: pick(d, int64(100), 256, 1024, 5000), Basis: BasisTextBytes},
		Marked:      d.chance(50),
	}
	if d.chance(3) {
		f.Session = Session{Tenant: "t"}
	}
	for m := range 1 + d.IntN(3) {
		model := &catalog.Model{Name: string(rune('m' + m))}
		mp := ModelPlan{Model: model, From: len(f.Plan.Candidates)}
		var clients, operators, downClients, downOperators []Candidate
		for i, v := range vendors {
			if d.chance(25) {
				continue
			}
			r := &catalog.Route{Model: model, Vendor: v, Index: i, Cache: catalog.CacheRules{
				Family: pick(d, catalog.Implicit, catalog.Implicit, catalog.Explicit, catalog.None), MinPrefix: pick(d, int64(0), 1024)}}
			model.Routes = append(model.Routes, r)
			if d.chance(10) {
				r.Disabled = "in the test"
				mp.Removed = append(mp.Removed, Removed{Route: r, Why: WhyDisabled})
				continue
			}
			if d.chance(15) {
				mp.Removed = append(mp.Removed, Removed{Route: r, Why: pick(d, WhyOnly, WhyOrigin, WhyAPI, WhyOwnKey)})
				continue
			}
			card := pricing.Card{Input: d.rate(), CacheRead: d.rate()}
			ids := []string{""}
			if len(v.Credentials) > 0 {
				ids = nil
				for _, c := range v.Credentials {
					ids = append(ids, c.ID)
				}
			}
			for _, id := range ids {
				c := Candidate{Route: r, Credential: id, Card: card, Down: d.chance(20)}
				if d.chance(15) {
					c.Group = GroupClient
				}
				switch {
				case c.Group == GroupClient && c.Down:
					downClients = append(downClients, c)
				case c.Group == GroupClient:
					clients = append(clients, c)
				case c.Down:
					downOperators = append(downOperators, c)
				default:
					operators = append(operators, c)
				}
			}
		}
		f.Plan.Candidates = slices.Concat(f.Plan.Candidates, clients, downClients, operators, downOperators)
		mp.To = len(f.Plan.Candidates)
		if mp.To > mp.From && d.chance(10) {
			mp.SignedBy = f.Plan.Candidates[mp.From].Route.Vendor.Name
		}
		f.Plan.Models = append(f.Plan.Models, mp)
	}
	for turn := range uint64(d.IntN(9)) {
		at := f.Now.Add(-time.Duration(d.IntN(400)) * time.Second)
		e := Entry{Vendor: pick(d, append(vendorNames, "gone")...), Turn: turn, AcceptedAt: at, ExpiresAt: at.Add(pick(d, 285*time.Second, time.Hour)), Silent: d.IntN(100) / 40}
		if d.chance(70) {
			e.Credential = pick(d, "x", "y", "z")
		}
		if d.chance(10) {
			e.Group = GroupClient
		}
		if d.chance(30) {
			e.Thread = 1 + uint64(d.IntN(2))
		}
		if d.chance(15) {
			f.Parent = f.Parent.Keep(pick(d, "m", "n", "o"), e)
			continue
		}
		if d.chance(10) {
			f.Ahead = f.Ahead.Keep(pick(d, "m", "n", "o"), e)
			continue
		}
		f.Record = f.Record.Keep(pick(d, "m", "n", "o"), e)
	}
	if d.chance(20) {
		f.Thread = 1
	}
	return f
}

// howMany is how many random facts are tried: WARMROUTE_FACTS where it is set.
func howMany(t *testing.T) int {
	text := os.Getenv("WARMROUTE_FACTS")
	if text == "" {
		return 100_000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestDecideHoldsItsPromises compares the ladder with its twin on random facts,
// and checks what must be true of every decision.
func TestDecideHoldsItsPromises(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	d := dice{rand.New(rand.NewPCG(seed, 3))}
	outcomes := map[Outcome]int{}
	details := map[Detail]int{}
	for n := range howMany(t) {
		f := d.facts()
		got, want := Decide(f), slowDecide(f)
		if !sameDecision(got, want) {
			t.Fatalf("seed %d, facts %d:\n got %s\nwant %s", seed, n, tell(f.Plan, got), tell(f.Plan, want))
		}
		if problem := broken(f, got); problem != "" {
			t.Fatalf("seed %d, facts %d: %s: %s", seed, n, problem, tell(f.Plan, got))
		}
		for _, m := range got.Models {
			outcomes[m.Outcome]++
			details[m.Detail]++
		}
	}
	for _, o := range []Outcome{SkippedModeOff, StoreUnavailable, NotCacheCapable, SkippedBelowMinPrefix, NoPin, PinExpired, SkippedNotInPlan,
		SkippedHealthDown, Confirmed, SkippedOrder, SkippedPriceUnknown, SkippedNotCheaper, Promoted} {
		if outcomes[o] < 100 {
			t.Errorf("seed %d: %s came up %d times, which proves little", seed, o, outcomes[o])
		}
	}
	for _, o := range []Detail{DetailOlderWarmVendor, DetailModelChanged, DetailSingleRoute, DetailNeverEngaged, DetailNoCacheMarker,
		DetailNotBelowOwnInput, DetailNotBelowRivalInput, DetailRouteRemoved, DetailBoundToOrigin, DetailNoSession, DetailNoKey, DetailSignedBy} {
		if details[o] < 100 {
			t.Errorf("seed %d: detail %s came up %d times, which proves little", seed, o, details[o])
		}
	}
}

func sameDecision(a, b Decision) bool {
	if !slices.Equal(a.Order, b.Order) || len(a.Models) != len(b.Models) {
		return false
	}
	for i := range a.Models {
		x, y := a.Models[i], b.Models[i]
		if len(x.Verdict.Rivals) == 0 && len(y.Verdict.Rivals) == 0 {
			x.Verdict.Rivals, y.Verdict.Rivals = nil, nil
		}
		if !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}

// broken says which invariant a decision breaks; empty if none.
func broken(f Facts, d Decision) string {
	sorted := slices.Sorted(slices.Values(d.Order))
	for i, at := range sorted {
		if i != at {
			return "the order is no permutation of the plan"
		}
	}
	if len(d.Order) != len(f.Plan.Candidates) {
		return "the order is no permutation of the plan"
	}
	for m, mp := range f.Plan.Models {
		found := d.Models[m]
		order := d.Order[mp.From:mp.To]
		var moved []int
		for i, at := range order {
			switch {
			case at < mp.From || at >= mp.To:
				return "a candidate crossed its model"
			case f.Plan.Candidates[at].Group != f.Plan.Candidates[mp.From+i].Group:
				return "a candidate crossed its group"
			case i+1 < len(order) && order[i+1] < at:
				moved = append(moved, at)
			}
		}
		switch {
		case len(moved) > 0 && found.Outcome != Promoted:
			return "something moved without being promoted"
		case found.Outcome == Promoted && len(moved) != 1:
			return "promoted did not move exactly one candidate forward"
		case found.Outcome == Promoted && !found.Verdict.Pays:
			return "promoted though the gate does not pay"
		case found.Outcome == Promoted && f.Plan.Candidates[moved[0]].Route.Vendor.Name != found.Pinned:
			return "another than the pinned vendor moved"
		case found.Outcome == Promoted && f.Plan.Candidates[moved[0]].Down:
			return "a candidate that is down was promoted"
		case found.Displaced != "" && found.Outcome != Promoted:
			return "displaced without promoted"
		case found.Outcome == NoPin && found.Pinned != "":
			return "no_pin names a pin"
		}
	}
	return ""
}
