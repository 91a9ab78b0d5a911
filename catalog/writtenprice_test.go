package catalog

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/warmroute/warmroute/pricing"
)

// The types below describe a price as it is written, key by key, and the bill as a
// reader with pencil and paper would make it out from that: in fractions, token by
// token where tiers are marginal. They share no code with package pricing.

type writtenCard map[string]string // price by key, as written

type writtenTier struct {
	above int64
	card  writtenCard
}

type writtenBand struct {
	card     writtenCard
	tiers    []writtenTier
	marginal bool
}

type writtenWindow struct {
	days           []string
	from, to, zone string
	band           writtenBand
}

type writtenSurcharge struct{ speed, region, times string }

type writtenPeriod struct {
	from, to   string
	fee        string
	band       writtenBand
	windows    []writtenWindow
	services   []string
	service    map[string]writtenBand
	surcharges []writtenSurcharge
}

type writtenPrice struct {
	unit    string
	periods []writtenPeriod
}

// yaml is the price as it stands in a catalog.
func (p *writtenPrice) yaml() string {
	all := make([]string, len(p.periods))
	for i := range p.periods {
		all[i] = p.periods[i].yaml()
	}
	if len(all) == 1 {
		return all[0]
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func (p *writtenPeriod) yaml() string {
	keys := p.band.yaml()
	for _, k := range [][2]string{{"valid_from", p.from}, {"valid_to", p.to}, {"request", p.fee}} {
		if k[1] != "" {
			keys = append(keys, k[0]+": "+k[1])
		}
	}
	var windows, services, surcharges []string
	for _, w := range p.windows {
		all := append(w.band.yaml(), fmt.Sprintf("from: %q", w.from), fmt.Sprintf("to: %q", w.to), "zone: "+w.zone)
		if w.days != nil {
			all = append(all, "days: ["+strings.Join(w.days, ", ")+"]")
		}
		windows = append(windows, "{"+strings.Join(all, ", ")+"}")
	}
	for _, name := range p.services {
		band := p.service[name]
		services = append(services, name+": {"+strings.Join(band.yaml(), ", ")+"}")
	}
	for _, s := range p.surcharges {
		all := []string{"times: " + s.times}
		if s.speed != "" {
			all = append(all, "speed: "+s.speed)
		}
		if s.region != "" {
			all = append(all, "region: "+s.region)
		}
		surcharges = append(surcharges, "{"+strings.Join(all, ", ")+"}")
	}
	if windows != nil {
		keys = append(keys, "windows: ["+strings.Join(windows, ", ")+"]")
	}
	if services != nil {
		keys = append(keys, "service_tiers: {"+strings.Join(services, ", ")+"}")
	}
	if surcharges != nil {
		keys = append(keys, "surcharges: ["+strings.Join(surcharges, ", ")+"]")
	}
	return "{" + strings.Join(keys, ", ") + "}"
}

func (b *writtenBand) yaml() []string {
	keys := b.card.yaml()
	var tiers []string
	for _, t := range b.tiers {
		tiers = append(tiers, "{"+strings.Join(append(t.card.yaml(), fmt.Sprintf("above: %d", t.above)), ", ")+"}")
	}
	if tiers != nil {
		keys = append(keys, "tiers: ["+strings.Join(tiers, ", ")+"]")
	}
	if b.marginal {
		keys = append(keys, "marginal: true")
	}
	return keys
}

func (c writtenCard) yaml() []string {
	var keys []string
	for _, key := range []string{"input", "output", "cache_read", "cache_read_implicit", "cache_write", "cache_write_1h"} {
		if text, ok := c[key]; ok {
			keys = append(keys, key+": "+text)
		}
	}
	return keys
}

// turn is what the bill of a turn depends on beside the price.
type turn struct {
	usage               pricing.Usage
	at                  time.Time
	tier, speed, region string
	implicit            bool
}

// bill is a cost made out by hand.
type bill struct {
	known, noCache                                 bool
	input, read, write5m, write1h, output, fee     *big.Rat
	saving                                         *big.Rat // nil: unknown
	inWindow, pieces, implicit, multiplied, served bool     // what the price of the turn turned on
}

func (b *bill) total() *big.Rat {
	sum := new(big.Rat)
	for _, part := range []*big.Rat{b.input, b.read, b.write5m, b.write1h, b.output, b.fee} {
		sum.Add(sum, part)
	}
	return sum
}

func fraction(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("no number: " + text)
	}
	return r
}

func boundOf(text string) time.Time {
	if len(text) == len("2026-08-21") {
		text += "T00:00:00Z"
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return at
}

const weekdays = "sun mon tue wed thu fri sat "

// names says whether days, such as fri-mon, name a day; nil names all.
func names(days []string, day string) bool {
	for _, d := range days {
		first, last, isRange := strings.Cut(d, "-")
		if !isRange {
			last = first
		}
		for at := strings.Index(weekdays, first); ; at = (at + 4) % len(weekdays) {
			if weekdays[at:at+3] == day {
				return true
			}
			if weekdays[at:at+3] == last {
				break
			}
		}
	}
	return days == nil
}

var loadedZones = map[string]*time.Location{}

// zoneNamed loads a zone once; for one goroutine.
func zoneNamed(name string) *time.Location {
	if loadedZones[name] == nil {
		zone, err := time.LoadLocation(name)
		if err != nil {
			panic(err)
		}
		loadedZones[name] = zone
	}
	return loadedZones[name]
}

// holds compares what the clock on the wall shows with what is written.
func (w *writtenWindow) holds(at time.Time) bool {
	local := at.In(zoneNamed(w.zone))
	clock, today := local.Format("15:04:05.000000000"), strings.ToLower(local.Format("Mon"))
	i := strings.Index(weekdays, today)
	yesterday := weekdays[(i+len(weekdays)-4)%len(weekdays):][:3]
	full := func(text string) string { return text + ":00:00.000000000"[len(text)-2:] }
	from, to := full(w.from), full(w.to)
	if from < to {
		return from <= clock && clock < to && names(w.days, today)
	}
	return from <= clock && names(w.days, today) || clock < to && names(w.days, yesterday)
}

// at is the period that holds; nil: none does.
func (p *writtenPrice) at(at time.Time) *writtenPeriod {
	for i := range p.periods {
		q := &p.periods[i]
		if (q.from == "" || !at.Before(boundOf(q.from))) && (q.to == "" || at.Before(boundOf(q.to))) {
			return q
		}
	}
	return nil
}

// billFor makes out the bill of a turn.
func (p *writtenPrice) billFor(t *turn) bill {
	b := bill{known: true, input: new(big.Rat), read: new(big.Rat), write5m: new(big.Rat), write1h: new(big.Rat), output: new(big.Rat), fee: new(big.Rat)}
	period := p.at(t.at)
	if period == nil {
		b.known = false
		return b
	}
	if period.fee != "" {
		b.fee = fraction(period.fee)
	}
	prompt := t.usage.Input + t.usage.CacheRead + t.usage.CacheWrite5m + t.usage.CacheWrite1h
	band := &period.band
	switch t.tier {
	case "", "auto", "default", "standard":
		for i := range period.windows {
			if period.windows[i].holds(t.at) {
				band, b.inWindow = &period.windows[i].band, true
			}
		}
	default:
		other, ok := period.service[t.tier]
		if !ok {
			b.known = false
			return b
		}
		band, b.served = &other, true
	}
	if len(band.tiers) == 0 && len(period.band.tiers) > 0 && prompt > period.band.tiers[0].above {
		b.known = false
		return b
	}
	times, named := big.NewRat(1, 1), t.speed == "" || t.speed == "standard"
	for _, s := range period.surcharges {
		if s.speed != "" && s.speed != t.speed || s.region != "" && s.region != t.region {
			continue
		}
		times.Mul(times, fraction(s.times))
		named = named || s.speed != ""
		b.multiplied = true
	}
	if !named {
		b.known = false
		return b
	}

	// The stretches of the prompt, each with its prices.
	type stretch struct {
		from, to int64
		card     writtenCard
	}
	const endless = int64(1) << 62
	stretches := []stretch{{0, endless, band.card}}
	for _, tier := range band.tiers {
		switch {
		case band.marginal:
			stretches[len(stretches)-1].to = tier.above
			stretches = append(stretches, stretch{tier.above, endless, tier.card})
		case prompt > tier.above:
			stretches[0].card = tier.card
		}
	}
	rate := func(c writtenCard, keys ...string) (*big.Rat, string) {
		for _, key := range keys {
			text, ok := c[key]
			if !ok {
				continue
			}
			r := fraction(text)
			switch p.unit {
			case "per_million":
				r.Quo(r, big.NewRat(1_000_000, 1))
			case "per_thousand":
				r.Quo(r, big.NewRat(1_000, 1))
			}
			return r.Mul(r, times), key
		}
		return nil, ""
	}
	read := []string{"cache_read", "input"}
	if t.implicit {
		read = []string{"cache_read_implicit", "cache_read", "input"}
	}
	place := int64(0)
	b.saving = new(big.Rat)
	for _, bucket := range []struct {
		tokens int64
		keys   []string
		to     *big.Rat
	}{
		{t.usage.CacheRead, read, b.read},
		{t.usage.CacheWrite1h, []string{"cache_write_1h", "input"}, b.write1h},
		{t.usage.CacheWrite5m, []string{"cache_write", "input"}, b.write5m},
		{t.usage.Input, []string{"input"}, b.input},
	} {
		for i, s := range stretches {
			tokens := min(place+bucket.tokens, s.to) - max(place, s.from)
			if tokens <= 0 {
				continue
			}
			b.pieces = b.pieces || i > 0 && s.from > 0
			r, key := rate(s.card, bucket.keys...)
			if r == nil {
				b.known = false
				return b
			}
			b.noCache = b.noCache || key == "input" && len(bucket.keys) > 1
			b.implicit = b.implicit || key == "cache_read_implicit"
			n := new(big.Rat).SetInt64(tokens)
			paid := new(big.Rat).Mul(r, n)
			bucket.to.Add(bucket.to, paid)
			if fresh, _ := rate(s.card, "input"); fresh == nil {
				b.saving = nil
			} else if b.saving != nil {
				b.saving.Add(b.saving, fresh.Mul(fresh, n)).Sub(b.saving, paid)
			}
		}
		place += bucket.tokens
	}
	last := stretches[0]
	for _, s := range stretches {
		if prompt > s.from {
			last = s
		}
	}
	if prompt == 0 {
		if fresh, _ := rate(last.card, "input"); fresh == nil {
			b.saving = nil
		}
	}
	if t.usage.Output > 0 {
		r, _ := rate(last.card, "output")
		if r == nil {
			b.known = false
			return b
		}
		b.output.Mul(r, new(big.Rat).SetInt64(t.usage.Output))
	}
	return b
}
