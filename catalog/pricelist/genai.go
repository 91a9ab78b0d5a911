package pricelist

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/warmroute/warmroute/pricing"
)

// genaiField is the place in a card of genai-prices' words.
var genaiField = map[string]int{
	"input_mtok": 0, "output_mtok": 1, "cache_read_mtok": 2, "cache_write_mtok": 3, "cache_write_1h_mtok": 4,
}

var genaiOther = regexp.MustCompile(`audio|image|video|reasoning|searches|citation`)

// readGenai reads version 2 of data.json: a list of providers, USD per million.
func readGenai(l *List, root *value, _ string) error {
	providers := root
	if root.get("providers").is(array) {
		providers = root.get("providers")
	}
	if !providers.is(array) {
		return errors.New("is not a list of providers; give data.json of version 2")
	}
	for i, p := range providers.items {
		id, models := p.get("id").str(), p.get("models")
		if id == "" || !models.is(array) {
			l.skip("["+strconv.Itoa(i)+"]", Malformed, "a provider without id or models")
			continue
		}
		source := ""
		if urls := p.get("pricing_urls"); urls.is(array) && len(urls.items) > 0 {
			source = urls.items[0].str()
		}
		for j, m := range models.items {
			l.genai(id, id+"["+strconv.Itoa(j)+"]", m, source)
		}
	}
	return nil
}

func (l *List) genai(provider, place string, e *value, source string) {
	id, prices := e.get("id").str(), e.get("prices")
	if id == "" || !prices.is(object) && !prices.is(array) {
		l.skip(place, Malformed, "no id or no prices")
		return
	}
	r, ok := l.begin(provider+"/"+id, provider, upstreamID(provider, id))
	if !ok {
		return
	}
	if r.Vendor == "google" && makerOf(strings.TrimPrefix(r.Model, "anthropic/")) == "anthropic" {
		r.Vendor = "vertex" // the list joins both of Google's platforms; AI Studio serves no Claude
	}
	r.Context = tokens(e.get("context_window"))
	r.duplicates(e)
	if day := e.get("prices_checked").str(); day != "" {
		if _, err := time.Parse(time.DateOnly, day); err == nil {
			r.AsOf = day
		}
	}
	if dead := e.get("deprecated"); dead.is(boolean) && dead.text == "true" {
		r.flag(Deprecated, "deprecated", "the list calls the model deprecated")
	}
	if prices.is(object) {
		r.Price = pricing.Price{{Band: r.genaiBand(prices, "")}}
	} else {
		r.Price = r.genaiPeriods(prices)
	}
	for i := range r.Price {
		r.Price[i].Source, r.Price[i].AsOf = source, r.AsOf
	}
	l.done(r)
}

// maxPeriods bounds the prices of an entry; no list has more than two.
const maxPeriods = 64

// genaiPeriods reads prices with constraints. The one without is the ordinary one,
// a start_date begins a period, a start_time with its end_time is a window of the
// day in UTC that holds in every period.
func (r *Row) genaiPeriods(list *value) pricing.Price {
	price := pricing.Price{{}}
	var windows []pricing.Window
	for i, e := range list.items {
		at := "prices[" + strconv.Itoa(i) + "]."
		limit := e.get("constraint")
		if limit == nil || limit.kind == null {
			price[0].Band = r.genaiBand(e.get("prices"), at)
			continue
		}
		day, from, to := limit.get("start_date").str(), limit.get("start_time").str(), limit.get("end_time").str()
		start, errDay := time.Parse(time.DateOnly, day)
		opens, errFrom := clock(from)
		closes, errTo := clock(to)
		switch {
		case i >= maxPeriods:
			r.flag(NotPriced, at, "follows %d others; not read", maxPeriods)
		case day != "" && from == "" && to == "" && errDay == nil:
			price = append(price, pricing.Sheet{From: start, Band: r.genaiBand(e.get("prices"), at)})
		case day == "" && errFrom == nil && errTo == nil && opens != closes:
			windows = append(windows, pricing.Window{From: opens, To: closes, Zone: time.UTC, Band: r.genaiBand(e.get("prices"), at)})
		default:
			r.flag(NotPriced, at+"constraint", "holds under a constraint that this reader does not know; not read")
		}
	}
	slices.SortStableFunc(price[1:], func(a, b pricing.Sheet) int { return a.From.Compare(b.From) })
	return r.follow(price, r.apart(windows))
}

// follow ends each period where the next begins, and leaves out a first one that
// nothing is known of.
func (r *Row) follow(price pricing.Price, windows []pricing.Window) pricing.Price {
	if len(price) > 1 && empty(price[0].Card) {
		price = price[1:]
	}
	kept := price[:1]
	for _, s := range price[1:] {
		last := &kept[len(kept)-1]
		if s.From.Equal(last.From) {
			r.flag(Contradiction, "prices", "two prices begin on %s; the first counts", s.From.Format(time.DateOnly))
			continue
		}
		last.To = s.From
		kept = append(kept, s)
	}
	for i := range kept {
		kept[i].Windows = windows
	}
	return kept
}

// apart leaves out windows that overlap an earlier one.
func (r *Row) apart(windows []pricing.Window) []pricing.Window {
	var kept []pricing.Window
	for _, w := range windows {
		if slices.ContainsFunc(kept, func(k pricing.Window) bool {
			return k.Holds(time.Time{}.Add(w.From)) || w.Holds(time.Time{}.Add(k.From))
		}) {
			r.flag(Contradiction, "prices", "two prices hold at one hour; the first counts")
			continue
		}
		kept = append(kept, w)
	}
	slices.SortFunc(kept, func(a, b pricing.Window) int { return cmp.Compare(a.From, b.From) })
	return kept
}

// clock reads 16:30:00Z as the time since midnight.
func clock(text string) (time.Duration, error) {
	t, err := time.Parse("15:04:05Z", text)
	if err != nil {
		return 0, err
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second, nil
}

// genaiBand reads a prices object. A price is a number, or {base, tiers: [{start,
// price}]}. Where one price has tiers, a plain number beside it holds above the
// threshold as well: in this list crossing a tier prices all tokens anew, each
// price by its own tiers.
func (r *Row) genaiBand(prices *value, at string) pricing.Band {
	var b pricing.Band
	if !prices.is(object) {
		return b
	}
	r.duplicates(prices)
	steps := map[int][]step{}
	var starts []int64
	for i, key := range prices.keys {
		v := prices.items[i]
		f, ok := genaiField[key]
		switch {
		case !ok && key == "requests_kcount":
			b.Card.Request = r.rate(v, at+key, perThousand)
		case !ok && key == "output_reasoning_mtok" && sameNumber(v, prices.get("output_mtok")):
		case !ok:
			r.unread(at+key, v, genaiOther)
		case v.is(object):
			*rates(&b.Card)[f] = r.rate(v.get("base"), at+key+".base", perMillion)
			for _, s := range r.genaiSteps(v.get("tiers"), at+key) {
				steps[f] = append(steps[f], s)
				starts = append(starts, s.above)
			}
		default:
			*rates(&b.Card)[f] = r.rate(v, at+key, perMillion)
		}
	}
	base := b.Card
	r.settle(&b.Card, at)
	slices.Sort(starts)
	for _, above := range slices.Compact(starts) {
		var c pricing.Card
		from, to := rates(&base), rates(&c)
		for f := range fields {
			*to[f] = *from[f]
			for _, s := range steps[f] {
				if s.above <= above {
					*to[f] = s.rate
				}
			}
		}
		where := at + "tiers[>" + strconv.FormatInt(above, 10) + "]"
		r.settle(&c, where+".")
		r.tier(&b, above, c, where)
	}
	return b
}

// step is a price from a threshold on.
type step struct {
	above int64
	rate  pricing.Rate
}

func (r *Row) genaiSteps(tiers *value, at string) []step {
	var steps []step
	if !tiers.is(array) {
		return nil
	}
	for i, t := range tiers.items {
		where := at + ".tiers[" + strconv.Itoa(i) + "]"
		above, ok := count(t.get("start"))
		if !ok || above == 0 || len(steps) >= maxTiers {
			r.flag(TierUnreadable, where, "has no start, or follows %d others; left out", maxTiers)
			continue
		}
		steps = append(steps, step{above, r.rate(t.get("price"), where, perMillion)})
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.above, b.above) })
	return steps
}
