package engine

import (
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// neverEngaged is after how many in-window turns without a read or write a
// vendor is taken not to cache the session at all (design section 4).
const neverEngaged = 2

// Facts are everything a decision depends on.
type Facts struct {
	Now         time.Time
	Session     Session
	Profile     *Profile // nil: [Warmroute]
	Plan        Plan
	Thread      uint64       // of the request: see [Thread]
	Record      Record       // of the session, in the scope of the target
	Ahead       Record       // of the request's marked prefix, judged before it
	Parent      Record       // of the session that started it, judged where the thread has no entry of its own
	Unavailable bool         // the pin store did not answer in time
	Off         bool         // affinity is off for this request
	Holdout     bool         // beside Off: because the session is held out
	Limited     bool         // the session is new and its tenant has no room for more: see [Sessions]
	Gate        catalog.Gate // empty: cache_read
	Ordered     bool         // the request or policy gives an explicit order
	OrderFirst  bool         // such an order goes ahead of the pin
	Prompt      Estimate
	Marked      bool // the request carries cache markers
}

// Decide puts the warm vendor of each model first, while that is the cheapest
// thing to do, and says what it found.
//
// Its order is a permutation of the plan's candidates in which nothing crosses a
// model or a group; only the outcome [Promoted] moves anything, and it moves one
// candidate to the front of its group. Decide is pure and may be called from
// several goroutines; the caller keeps f's slices unchanged as long as it uses
// the decision, which shares none of them.
func Decide(f Facts) Decision {
	d := Decision{
		Order:  make([]int, len(f.Plan.Candidates)),
		Models: make([]Finding, len(f.Plan.Models)),
	}
	for i := range d.Order {
		d.Order[i] = i
	}
	var rivals []pricing.Rival
	for i := range f.Plan.Models {
		at := f.judge(&f.Plan.Models[i], &d.Models[i], &rivals)
		if d.Models[i].Outcome == Promoted {
			promote(d.Order, f.Plan.groupStart(&f.Plan.Models[i], at), at)
		}
	}
	return d
}

// promote moves order[at] to order[front].
func promote(order []int, front, at int) {
	moved := order[at]
	copy(order[front+1:at+1], order[front:at])
	order[front] = moved
}

// groupStart is the index of the first candidate of the group and model that the
// candidate at index at belongs to.
func (p *Plan) groupStart(mp *ModelPlan, at int) int {
	for at > mp.From && p.Candidates[at-1].Group == p.Candidates[at].Group {
		at--
	}
	return at
}

// judge climbs the ladder of design section 5 for one model. Rungs 1 to 4 are
// about the request; the others are asked of each warm entry, as [Facts.lineUp]
// has them stand, and the first entry that is confirmed or promoted is used. If
// none is, the outcome is that of the first in the line. at is the candidate used.
func (f *Facts) judge(mp *ModelPlan, found *Finding, rivals *[]pricing.Rival) (at int) {
	*found = Finding{Model: mp.Model, Prompt: f.Prompt}
	switch {
	case f.Off:
		found.Outcome = SkippedModeOff
		if f.Holdout {
			found.Detail = DetailHoldout
		}
		return 0
	case !f.Session.Found() && len(f.Ahead.Models) == 0:
		found.Outcome, found.Detail = NoPin, DetailNoSession
		return 0
	case f.Unavailable:
		found.Outcome = StoreUnavailable
		return 0
	case f.Profile.or().needsMinimum(f.Session) && !mp.Model.CacheCapable():
		found.Outcome = NotCacheCapable
		return 0
	case f.Profile.or().needsMinimum(f.Session) && f.Prompt.Tokens < f.Plan.leastMinimum(mp):
		found.Outcome = SkippedBelowMinPrefix
		return 0
	}
	var space [8]*Entry
	line := f.lineUp(space[:0], mp.Model.Name)
	if f.Plan.leads(mp) == GroupClient {
		ownFirst(line)
	}
	if len(line) == 0 {
		found.Outcome = NoPin
		switch {
		case f.Limited:
			found.Detail = DetailSessionLimit
		case len(f.Record.Models) > 0 || len(f.Parent.Models) > 0:
			found.Detail = DetailModelChanged
		}
		return 0
	}
	for i, e := range line {
		next := Finding{Model: mp.Model, Prompt: f.Prompt, Used: *e}
		at = f.weigh(mp, e, &next, rivals)
		used := next.Outcome == Confirmed || next.Outcome == Promoted
		switch {
		case used && f.Plan.Candidates[at].Group != f.Plan.leads(mp):
			next.Detail = DetailBehindOwnKeys
		case used && i > 0:
			next.Detail = DetailOlderWarmVendor
		}
		if used || i == 0 {
			*found = next
		}
		if used {
			return at
		}
	}
	return 0
}

// leads is the group whose candidates of the model are tried first.
func (p *Plan) leads(mp *ModelPlan) Group {
	if mp.From == mp.To {
		return GroupOperator
	}
	return p.Candidates[mp.From].Group
}

// leastMinimum is the fewest tokens that any of the model's candidates caches.
// Where none caches it is the least of all of them.
func (p *Plan) leastMinimum(mp *ModelPlan) int64 {
	least, leastCaching := int64(-1), int64(-1)
	lower := func(to *int64, n int64) {
		if *to < 0 || n < *to {
			*to = n
		}
	}
	for i := mp.From; i < mp.To; i++ {
		rules := p.Candidates[i].Route.Cache
		lower(&least, rules.Minimum())
		if rules.Family != catalog.None {
			lower(&leastCaching, rules.Minimum())
		}
	}
	if leastCaching >= 0 {
		return leastCaching
	}
	return max(least, 0)
}

// weigh climbs rungs 4 to 13 for one entry. at is its candidate, where it has one.
func (f *Facts) weigh(mp *ModelPlan, e *Entry, found *Finding, rivals *[]pricing.Rival) (at int) {
	found.Pinned = e.Vendor
	route := routeOf(mp.Model, e.Vendor)
	switch {
	case f.Profile.or().needsMinimum(f.Session) && route != nil && f.Prompt.Tokens < route.Cache.Minimum():
		found.Outcome = SkippedBelowMinPrefix
		return 0
	case e.ExpiredAt(f.Now):
		found.Outcome = PinExpired
		return 0
	case e.Silent >= neverEngaged && f.Profile.or().Engages:
		// Within its window, so not expired, and yet there is no cache to go back
		// to: as good as no pin, and nobody is named as holding one.
		found.Outcome, found.Detail, found.Pinned = NoPin, DetailNeverEngaged, ""
		return 0
	}
	at, holds := f.Plan.find(mp, e)
	if !holds {
		found.Outcome, found.Detail = SkippedNotInPlan, mp.lost(route, e)
		return 0
	}
	if f.Plan.Candidates[at].Down {
		found.Outcome = SkippedHealthDown
		return at
	}
	found.Gate, found.Verdict = f.ask(mp, at, rivals)
	front := f.Plan.groupStart(mp, at)
	switch {
	case at == front:
		found.Outcome, found.Detail = Confirmed, f.confirmed(mp, &f.Plan.Candidates[at])
	case mp.SignedBy != "" && f.Plan.Candidates[front].Route.Vendor.Name == mp.SignedBy:
		found.Outcome, found.Detail = SkippedOrder, DetailSignedBy
	case f.Ordered && f.OrderFirst:
		found.Outcome = SkippedOrder
	case !found.Verdict.Pays && found.Verdict.Reason == pricing.PriceUnknown:
		found.Outcome = SkippedPriceUnknown
	case !found.Verdict.Pays:
		found.Outcome, found.Detail = SkippedNotCheaper, Detail(found.Verdict.Reason)
	default:
		found.Outcome, found.Detail = Promoted, f.unmarked(&f.Plan.Candidates[at])
		if first := f.Plan.Candidates[front].Route; first != route {
			found.Displaced = first.Vendor.Name
		}
	}
	return at
}

// routeOf is the model's route at a vendor; nil if today's catalog has none.
func routeOf(m *catalog.Model, vendor string) *catalog.Route {
	for _, r := range m.Routes {
		if r.Vendor.Name == vendor {
			return r
		}
	}
	return nil
}

// find is the index of the entry's candidate. Where the entry names no
// credential, the vendor's first candidate that is not down is meant, else its
// first; the plan keeps those that are down behind the others.
func (p *Plan) find(mp *ModelPlan, e *Entry) (at int, ok bool) {
	for i := mp.From; i < mp.To; i++ {
		c := &p.Candidates[i]
		if c.Route.Vendor.Name == e.Vendor && c.Group == e.Group && (e.Credential == "" || e.Credential == c.Credential) {
			return i, true
		}
	}
	return 0, false
}

// lost says why an entry has no candidate, if that needs saying: the catalog no
// longer has its route or credential, or its key is missing, or the content is bound to another route.
func (mp *ModelPlan) lost(route *catalog.Route, e *Entry) Detail {
	if route == nil || route.Disabled != "" {
		return DetailRouteRemoved
	}
	for i := range mp.Removed {
		if mp.Removed[i].Route == route {
			switch mp.Removed[i].Why {
			case WhyOrigin:
				return DetailBoundToOrigin
			case WhyCredential, WhyOwnKey:
				return DetailNoKey
			}
			return ""
		}
	}
	if e.Group == GroupClient {
		return DetailNoKey
	}
	if hasCredential(route.Vendor, e.Credential) {
		return ""
	}
	return DetailRouteRemoved
}

// hasCredential says whether the catalog gives the vendor this credential, with a
// key or without.
func hasCredential(v *catalog.Vendor, id string) bool {
	for i := range v.Credentials {
		if v.Credentials[i].ID == id {
			return true
		}
	}
	return false
}

// confirmed is the detail of an entry that was first already: why it could not
// have been otherwise, or why there may be nothing to read.
func (f *Facts) confirmed(mp *ModelPlan, c *Candidate) Detail {
	for i := range mp.Removed {
		if mp.Removed[i].Why == WhyOrigin {
			return DetailBoundToOrigin
		}
	}
	if mp.SignedBy == c.Route.Vendor.Name {
		return DetailSignedBy
	}
	if detail := f.unmarked(c); detail != "" {
		return detail
	}
	for i := mp.From; i < mp.To; i++ {
		if f.Plan.Candidates[i].Route != c.Route {
			return ""
		}
	}
	return DetailSingleRoute
}

// unmarked says that nothing will be read because of [Candidate.unmarked].
func (f *Facts) unmarked(c *Candidate) Detail {
	if c.unmarked(f.Marked, f.Now) {
		return DetailNoCacheMarker
	}
	return ""
}

// unmarked says whether nothing is cached because the route caches only what is
// marked and the vendor is sent no marker. A vendor that has a price for reads of what
// it cached by itself caches that as well. marked: the client set markers.
func (c *Candidate) unmarked(marked bool, at time.Time) bool {
	if c.Route.Cache.Family != catalog.Explicit || c.Marking.Place > 0 || marked && c.Marking.Cut == 0 {
		return false
	}
	sheet, ok := c.Route.Price.Sheet(at)
	return !ok || !sheet.Card.CacheReadImplicit.Known()
}

// ask puts the candidate at index at to the gate that holds, and names it. The
// gates warm and expected are not built: cache_read is asked in their place, and
// its name is what is reported.
func (f *Facts) ask(mp *ModelPlan, at int, rivals *[]pricing.Rival) (catalog.Gate, pricing.Verdict) {
	own := f.Plan.Candidates[at].Card
	switch f.Gate {
	case catalog.GateOff:
		return catalog.GateOff, pricing.Verdict{Pays: true, CacheRead: own.CacheRead, Input: own.Input, Rivals: f.Plan.rivals(mp, at, rivals)}
	case catalog.GateOwnPrice:
		return catalog.GateOwnPrice, pricing.ReadPays(own, nil)
	}
	return catalog.GateCacheRead, pricing.ReadPays(own, f.Plan.rivals(mp, at, rivals))
}

// rivals are the model's other routes that are not down, each once, in the order
// of the plan. They are cut from all, which grows as it must.
func (p *Plan) rivals(mp *ModelPlan, at int, all *[]pricing.Rival) []pricing.Rival {
	own := p.Candidates[at].Route
	if *all == nil {
		*all = make([]pricing.Rival, 0, len(p.Candidates))
	}
	from := len(*all)
	for i := mp.From; i < mp.To; i++ {
		c := &p.Candidates[i]
		if c.Route == own || c.Down || p.counted(mp, i) {
			continue
		}
		*all = append(*all, pricing.Rival{Vendor: c.Route.Vendor.Name, Input: c.Card.Input})
	}
	to := len(*all)
	return (*all)[from:to:to]
}

// counted says whether an earlier candidate that is not down has the route of
// candidate i, which is not down either. In a group such candidates stand
// together; only another group can hold one further away.
func (p *Plan) counted(mp *ModelPlan, i int) bool {
	c := &p.Candidates[i]
	if i > mp.From && p.Candidates[i-1].Route == c.Route && !p.Candidates[i-1].Down {
		return true
	}
	if p.Candidates[mp.From].Group == c.Group {
		return false
	}
	for j := mp.From; j < i; j++ {
		if p.Candidates[j].Route == c.Route && !p.Candidates[j].Down {
			return true
		}
	}
	return false
}
