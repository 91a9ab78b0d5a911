package catalog

import (
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"
	"github.com/warmroute/warmroute/pricing"
)

// maxMoments bounds the hours that are looked at for one model, maxCards the cards
// that are: a real model has a fiftieth of them. maxLooks bounds the cards and
// windows that are looked at for all models together; beyond, a model has eight
// situations. A real catalog has a hundredth of them.
const (
	maxMoments = 200
	maxCards   = 200_000
	maxLooks   = 2_000_000
)

// situation is one set of terms on which the routes of a model are compared, with
// words for it.
type situation struct {
	terms pricing.Terms
	size  string // such as "above 200,000 tokens"; empty where the size of a prompt makes no difference
}

// rivals finds warm caches that cost no less than a cold prompt elsewhere: the gate
// cache_read declines there, as it should. A rival speaks an API of the route's
// vendor, as no dialect is translated.
func (l *linter) rivals(m *Model, used []*Route) {
	if len(used) < 2 {
		return
	}
	var scenes []scene
	for _, s := range l.situations(used) {
		scenes = append(scenes, sceneOf(s, used))
	}
	for k, r := range used {
		if r.Cache.Family != None {
			l.rival(r, k, used, scenes)
		}
	}
}

// scene is a situation with the cards of all routes, and the two cheapest routes of
// each API; -1 is none.
type scene struct {
	situation
	cards []pricing.Card
	least map[API][2]int
}

func sceneOf(s situation, used []*Route) scene {
	at := scene{s, make([]pricing.Card, len(used)), map[API][2]int{}}
	for k, r := range used {
		at.cards[k] = r.Price.At(s.terms)
		if !at.cards[k].Input.Known() {
			continue
		}
		for _, api := range r.Vendor.API {
			two, seen := at.least[api]
			switch {
			case !seen:
				two = [2]int{k, -1}
			case at.cheaper(k, two[0]):
				two = [2]int{k, two[0]}
			case two[1] < 0 || at.cheaper(k, two[1]):
				two[1] = k
			}
			at.least[api] = two
		}
	}
	return at
}

func (s *scene) cheaper(a, b int) bool { return s.cards[a].Input.Below(s.cards[b].Input) }

// cheapest is the rival of a route with the lowest known input price, the first of
// the catalog among equals; -1 if nobody competes.
func (s *scene) cheapest(r *Route, mine int) int {
	best := -1
	for _, api := range r.Vendor.API {
		two, seen := s.least[api]
		if !seen {
			continue
		}
		k := two[0]
		if k == mine {
			k = two[1]
		}
		if k >= 0 && (best < 0 || s.cheaper(k, best) || k < best && !s.cheaper(best, k)) {
			best = k
		}
	}
	return best
}

// rival judges one of the routes. mine is its place in used.
func (l *linter) rival(r *Route, mine int, used []*Route, scenes []scene) {
	compared, failed := 0, 0
	var where []string
	first := ""
	for i := range scenes {
		s := &scenes[i]
		own := &s.cards[mine]
		best := s.cheapest(r, mine)
		if !own.CacheRead.Below(own.Input) || best < 0 {
			continue // its own test fails there, which is another finding, or nobody competes
		}
		compared++
		if own.CacheRead.Below(s.cards[best].Input) {
			continue
		}
		failed++
		if first == "" {
			first = fmt.Sprintf("cache_read %s is not below the input price of %s", own.CacheRead, l.cheaperThan(r, mine, used, s))
		}
		if words := l.words(&s.situation, used, mine, best); !slices.Contains(where, words) && len(where) < 16 {
			where = append(where, words)
		}
	}
	if failed == 0 {
		return
	}
	at := l.atRoute(r)
	if s := l.inForce(r); s != nil {
		at = l.sheetAt(r, s).in("cache_read")
	}
	when := "so affinity will never engage here while that route is up"
	if failed < compared {
		if rest := len(where) - 3; rest > 0 {
			where = append(where[:3], fmt.Sprintf("in %d more situations", rest))
		}
		when = "so affinity does not engage " + andList(where)
	}
	l.say(at, SeverityNote, CodeReadRival, "%s, %s; check the prices: if they are right, a cold prompt there is cheaper than a warm cache here, and nothing is lost", first, when)
}

// cheaperThan names the rivals that are no dearer than a route's cache, at most
// three, the cheapest first.
func (l *linter) cheaperThan(r *Route, mine int, used []*Route, s *scene) string {
	var all []int
	for k, other := range used {
		if k != mine && s.cards[k].Input.Known() && !s.cards[mine].CacheRead.Below(s.cards[k].Input) && shareAPI(r.Vendor, other.Vendor) {
			all = append(all, k)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return s.cards[a].Input.Decimal().Cmp(s.cards[b].Input.Decimal()) })
	var names []string
	for _, k := range all[:min(len(all), 3)] {
		names = append(names, fmt.Sprintf("%s (%s)", l.quote(used[k].Vendor.Name), s.cards[k].Input))
	}
	return andList(names)
}

// shareAPI says whether one request can go to either vendor.
func shareAPI(a, b *Vendor) bool { return slices.ContainsFunc(a.API, b.Speaks) }

// words say on which terms something happens.
func (l *linter) words(s *situation, used []*Route, mine, other int) string {
	text := s.size
	if s.terms.Tier != "" {
		text = spaced(text, "in service tier "+l.quote(s.terms.Tier))
	}
	for _, k := range []int{mine, other} {
		if window, ok := windowAt(used[k], s.terms.At); ok && s.terms.Tier == "" {
			text = spaced(text, "in the window of "+l.quote(used[k].Vendor.Name)+" "+hours(window))
		}
	}
	if text == "" && s.terms.At.After(l.now.Add(8*24*time.Hour)) {
		return "from " + boundText(s.terms.At) + " on"
	}
	if text == "" {
		return "at ordinary prices"
	}
	return text
}

func spaced(a, b string) string {
	if a == "" {
		return b
	}
	return a + " " + b
}

// windowAt is the window of a route that holds at a moment.
func windowAt(r *Route, at time.Time) (w *pricing.Window, ok bool) {
	s, ok := r.Price.Sheet(at)
	if !ok {
		return nil, false
	}
	for i := range s.Windows {
		if s.Windows[i].Holds(at) {
			return &s.Windows[i], true
		}
	}
	return nil, false
}

// hours are those of a window, such as "01:00–04:00 UTC".
func hours(w *pricing.Window) string {
	clock := func(d time.Duration) string { return fmt.Sprintf("%02d:%02d", d/time.Hour, d%time.Hour/time.Minute) }
	zone := "UTC"
	if w.Zone != nil {
		zone = w.Zone.String()
	}
	return clock(w.From) + "–" + clock(w.To) + " " + zone
}

// situations are the terms on which some route of a model has other prices: each size
// at which a tier begins, each hour at which a window begins or ends, each service
// tier, and each period to come.
func (l *linter) situations(used []*Route) []situation {
	above, tiers, moments := []int64{0}, []string{""}, []time.Time{l.now}
	add := func(b *pricing.Band) {
		for i := range b.Tiers {
			if !slices.Contains(above, b.Tiers[i].Above) {
				above = append(above, b.Tiers[i].Above)
			}
		}
	}
	for _, r := range used {
		for i := range r.Price {
			s := &r.Price[i]
			if !s.To.IsZero() && !s.To.After(l.now) {
				continue
			}
			if s.From.After(l.now) && len(moments) < maxMoments {
				moments = append(moments, s.From)
			}
			add(&s.Band)
			for k := range s.Windows {
				add(&s.Windows[k].Band)
				if s.Holds(l.now) {
					moments = append(moments, changes(&s.Windows[k], l.now, maxMoments-len(moments))...)
				}
			}
			for _, name := range tierNames(s) {
				band := s.ServiceTiers[name]
				add(&band)
				if !slices.Contains(tiers, name) && len(tiers) < 16 {
					tiers = append(tiers, name)
				}
			}
		}
	}
	slices.Sort(above)
	if len(above) > 16 {
		above = above[:16]
	}
	slices.SortFunc(moments, time.Time.Compare)
	moments = slices.CompactFunc(moments, time.Time.Equal)
	var all []situation
	for _, tier := range tiers {
		for i, size := range above {
			words := ""
			if size > 0 {
				words = "above " + thousands(int(size)) + " tokens"
			} else if len(above) > 1 {
				words = "up to " + thousands(int(above[1])) + " tokens"
			}
			if size > 0 && i+1 < len(above) {
				words = "from " + thousands(int(size)) + " to " + thousands(int(above[i+1])) + " tokens"
			}
			for k, at := range moments {
				if tier != "" && k > 0 {
					break // windows are for the ordinary tier
				}
				all = append(all, situation{pricing.Terms{Prompt: size + 1, At: at, Tier: tier}, words})
			}
		}
	}
	looks := 0 // of one situation
	for _, r := range used {
		looks++
		if s := l.inForce(r); s != nil {
			looks += len(s.Windows)
		}
	}
	all = all[:min(len(all), max(8, min(maxCards/len(used), (maxLooks-l.looks)/looks)))]
	l.looks += len(all) * looks
	return all
}

// changes are the moments of the coming week at which a window begins or ends.
func changes(w *pricing.Window, now time.Time, most int) []time.Time {
	zone := w.Zone
	if zone == nil {
		zone = time.UTC
	}
	var all []time.Time
	year, month, day := now.In(zone).Date()
	for d := 0; d <= 7 && len(all)+2 <= most; d++ {
		for _, since := range []time.Duration{w.From, w.To} {
			at := time.Date(year, month, day+d, 0, 0, int(since/time.Second), 0, zone)
			if !at.Before(now) && at.Before(now.Add(7*24*time.Hour)) {
				all = append(all, at)
			}
		}
	}
	return all
}

// An outlier is more than four times the median of its model, or less than a
// quarter. The median of fewer vendors says nothing.
const fewest = 3

var farOff = decimal.New(4, 0)

// outliers finds prices far from what the model's other vendors charge.
func (l *linter) outliers(m *Model, used []*Route) {
	var sold []*Route
	for _, r := range used {
		if !r.Vendor.AllowPrivate { // what one's own machines cost is no list price
			sold = append(sold, r)
		}
	}
	far := make([][]string, len(sold))
	first := make([]string, len(sold))
	vendors := 0
	for _, key := range []string{"input", "output"} {
		var known []decimal.Decimal
		rates := make([]pricing.Rate, len(sold))
		for i, r := range sold {
			card := r.Price.At(pricing.Terms{Prompt: 1, At: l.now})
			if rates[i] = rateOf(&card, key); rates[i].Known() {
				known = append(known, rates[i].Decimal())
			}
		}
		if len(known) < fewest {
			continue
		}
		vendors = len(known)
		middle := median(known)
		for i, r := range sold {
			if how := distance(rates[i], middle); how != "" && !(key == "output" && r.Cache.Family == None) {
				far[i] = append(far[i], fmt.Sprintf("%s %s is %s %s", key, rates[i], how, middle))
				if first[i] == "" {
					first[i] = key
				}
			}
		}
	}
	for i, r := range sold {
		if len(far[i]) == 0 {
			continue
		}
		at := l.atRoute(r)
		if s := l.inForce(r); s != nil {
			at = l.sheetAt(r, s).in(first[i])
		}
		what := "the median"
		if len(far[i]) > 1 {
			what = "the medians"
		}
		l.say(at, SeverityWarning, CodeOutlier, "%s, %s of this model's %d vendors; compare it with the vendor's page", andList(far[i]), what, vendors)
	}
}

// distance says how far a rate is from a median, empty if it is near or in another
// unit altogether, which is another finding.
func distance(rate pricing.Rate, middle decimal.Decimal) string {
	d := rate.Decimal()
	switch {
	case !rate.Known() || middle.IsZero() || outOfBounds(d):
	case d.GreaterThan(middle.Mul(farOff)):
		return times(d, middle) + " times"
	case d.IsZero():
		return "nothing against"
	case d.Mul(farOff).LessThan(middle):
		return "1/" + times(middle, d) + " of"
	}
	return ""
}

// median is the middle of some prices, or the mean of the two in the middle.
func median(all []decimal.Decimal) decimal.Decimal {
	all = slices.Clone(all)
	slices.SortFunc(all, decimal.Decimal.Cmp)
	n := len(all)
	if n%2 == 1 {
		return all[n/2]
	}
	return all[n/2-1].Add(all[n/2]).Div(decimal.New(2, 0))
}

// unknownReads finds the routes whose warm cache is never preferred because its
// price is not known.
func (l *linter) unknownReads(m *Model, used []*Route) {
	var without []*Route
	with := 0
	for _, r := range used {
		s := l.inForce(r)
		switch {
		case r.Cache.Family == None || s == nil:
		case s.Card.CacheRead.Known() || s.Card.CacheReadImplicit.Known():
			with++
		default:
			without = append(without, r)
		}
	}
	for _, r := range without {
		l.say(l.sheetAt(r, l.inForce(r)), SeverityNote, CodeUnknown, "cache_read is not known, as on %d of the model's %d routes, so affinity never engages here; give the price, or cache: {family: none} if nothing is cached",
			len(without), len(used))
	}
}

// coverage says how much of the whole catalog has prices, where some are missing
// and nobody said why.
func (l *linter) coverage() {
	missing := slices.ContainsFunc(l.found, func(p Problem) bool { return p.Code == CodeUnknown })
	if !missing || len(l.catalog.Models) < 2 {
		return
	}
	routes, priced, reads, caching := 0, 0, 0, 0
	for _, m := range l.catalog.Models {
		for _, r := range l.inUse(m) {
			routes++
			card := pricing.Card{}
			if s := l.inForce(r); s != nil {
				card = s.Card
			}
			if card.Input.Known() && card.Output.Known() {
				priced++
			}
			if r.Cache.Family != None {
				caching++
				if card.CacheRead.Known() || card.CacheReadImplicit.Known() {
					reads++
				}
			}
		}
	}
	if priced == routes && reads == caching {
		return
	}
	at := finding{valueOf(l.outline.root, "models"), "", nil}
	at.scopes = append(at.scopes, l.outline.root)
	for i := 0; i+1 < len(l.outline.root.Content); i += 2 {
		if key := l.outline.root.Content[i]; key.Value == "models" {
			at.node = key
		}
	}
	l.say(at, SeverityNote, CodeCoverage, "input and output are known on %s, cache_read on %s that cache; fill in what the notes on price-unknown name", share(priced, routes), share(reads, caching))
}

// share is "61 of 87 routes (70 %)".
func share(n, of int) string {
	if of == 0 {
		return "none of 0 routes"
	}
	return fmt.Sprintf("%d of %d routes (%d %%)", n, of, n*100/of)
}
