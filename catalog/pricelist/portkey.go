package pricelist

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
	"github.com/warmroute/warmroute/pricing"
)

// portkeyField is the place in a card of Portkey's words.
var portkeyField = map[string]int{
	"request_token": 0, "response_token": 1, "cache_read_input_token": 2, "cache_write_input_token": 3,
}

var portkeyOther = regexp.MustCompile(`audio|image|video|text_token|search|maps|code_execution|routing|generated|megapixel|steps|default_|reasoning|thinking|embedding|finetune`)

// portkeyHalf is an id for prompts up to, or above, a number of thousand tokens.
var portkeyHalf = regexp.MustCompile(`^(.+)-(lte|gt)-(\d{1,6})k$`)

// readPortkey reads the files of pricing/, joined to one object by file name, or one
// of them if the provider is named. US cents per token.
func readPortkey(l *List, root *value, provider string) error {
	switch {
	case !root.is(object):
		return errors.New("is not an object; give a file of pricing/ or all of them joined by name")
	case provider != "":
		if !root.portkeyFile() {
			return errors.New("holds no models with a pricing_config; give one file of pricing/ when a provider is named")
		}
		l.portkeyFile(provider, root)
		return nil
	case root.portkeyFile():
		return errors.New("is a single provider's file, which does not name its provider; read it as portkey:NAME, the file's name without .json")
	}
	found := len(root.keys) == 0
	for i, name := range root.keys {
		if !root.items[i].portkeyFile() {
			l.skip(name, Malformed, "not a provider's file")
			continue
		}
		found = true
		l.portkeyFile(strings.TrimSuffix(name, ".json"), root.items[i])
	}
	if !found {
		return errors.New("holds no provider's file; give a file of pricing/ or all of them joined by name")
	}
	return nil
}

// portkeyFile says whether a value is a provider's file: an object whose members
// have a pricing_config.
func (v *value) portkeyFile() bool {
	return v.is(object) && (len(v.keys) == 0 || slices.ContainsFunc(v.items, func(e *value) bool { return e.get("pricing_config") != nil }))
}

func (l *List) portkeyFile(provider string, file *value) {
	for _, id := range file.again {
		l.skip(provider+"#"+id, Repeated, "")
	}
	for i, id := range file.keys {
		var above *value // the other half of a pair by prompt size
		threshold := int64(0)
		name := id
		if m := portkeyHalf.FindStringSubmatch(id); m != nil {
			if m[2] == "gt" && file.get(m[1]+"-lte-"+m[3]+"k") != nil {
				continue // read with its lower half
			}
			name = m[1]
			if m[2] == "lte" {
				above = file.get(m[1] + "-gt-" + m[3] + "k")
				thousands, _ := strconv.ParseInt(m[3], 10, 64)
				threshold = thousands * 1000
			}
		}
		l.portkey(provider, id, name, file.items[i], above, threshold)
	}
}

func (l *List) portkey(provider, id, name string, e, above *value, threshold int64) {
	key := provider + "#" + id
	config := e.get("pricing_config")
	plain := config.get("pay_as_you_go")
	currency := config.get("currency").str()
	switch {
	case id == "default":
		l.skip(key, Template, "")
		return
	case !e.is(object) || e.get("pricing_config") == nil:
		l.skip(key, Malformed, "no pricing_config")
		return
	case currency != "" && currency != "USD":
		l.skip(key, Malformed, "its currency is "+quote(currency))
		return
	}
	r, ok := l.begin(key, provider, upstreamID(provider, name))
	if !ok {
		return
	}
	if plain.get("request_token") == nil && (plain.get("image") != nil || plain.get("additional_units") != nil || plain.get("request_audio_token") != nil) {
		l.skip(key, NotChat, "no price for text")
		return
	}
	r.duplicates(e)
	r.duplicates(plain)
	var s pricing.Sheet
	s.Card = r.portkeyCard(plain, "")
	s.Card.Request = r.rate(config.get("fixed_cost", "request", "price"), "fixed_cost.request", centsEach)
	if zero(s.Card.Request) {
		s.Card.Request = pricing.Rate{}
	}
	if c := r.portkeyCard(above.get("pricing_config", "pay_as_you_go"), "tiers[>"+strconv.FormatInt(threshold, 10)+"]."); threshold > 0 && !equal(c, s.Card) {
		r.tier(&s.Band, threshold, c, "tiers[>"+strconv.FormatInt(threshold, 10)+"]")
	}
	if batch := config.get("batch_config"); batch.is(object) {
		if c := r.portkeyCard(batch, "service_tiers.batch."); positive(c.Input) {
			service(&s, "batch", pricing.Band{Card: c})
		}
	}
	r.portkeyCustom(e.get("custom_pricing"), &s)
	r.Price = pricing.Price{s}
	l.done(r)
}

// equal says whether two cards have the same prices and unknowns.
func equal(a, b pricing.Card) bool {
	x, y := rates(&a), rates(&b)
	for i := range x {
		if !x[i].Equal(*y[i]) {
			return false
		}
	}
	return true
}

// portkeyCard reads pay_as_you_go or batch_config.
func (r *Row) portkeyCard(p *value, at string) pricing.Card {
	var c pricing.Card
	if !p.is(object) {
		return c
	}
	for i, key := range p.keys {
		v := p.items[i]
		if f, ok := portkeyField[key]; ok {
			*rates(&c)[f] = r.rate(v.get("price"), at+key, centsEach)
			continue
		}
		if key == "additional_units" {
			c.CacheWrite1h = r.rate(v.get("cache_write_1h", "price"), at+"cache_write_1h", centsEach)
			r.portkeyUnits(v, at)
			continue
		}
		r.portkeyUnread(at+key, v, p)
	}
	r.settle(&c, at)
	return c
}

// portkeyUnits flags the units that are not tokens of text.
func (r *Row) portkeyUnits(units *value, at string) {
	if !units.is(object) {
		return
	}
	for i, key := range units.keys {
		if key != "cache_write_1h" {
			r.portkeyUnread(at+key, units.items[i], nil)
		}
	}
}

func (r *Row) portkeyUnread(name string, v, beside *value) {
	price := v.get("price")
	switch {
	case strings.HasSuffix(name, "reasoning_token") && sameNumber(price, beside.get("response_token", "price")):
	case price != nil && !nonzero(price):
	case portkeyOther.MatchString(name):
		if price == nil {
			price = v
		}
		r.notPriced(name, price)
	case price != nil:
		r.flag(UnknownField, name, "%s %s looks like money and is not known to this reader; not read", name, quote(price.text))
	}
}

// portkeyMode is one execution mode of a region: its card and context tiers.
type portkeyMode struct {
	name string
	band pricing.Band
}

// portkeyCustom reads custom_pricing: context tiers and service tiers of the
// default region, and other regions and the fast mode as multipliers.
func (r *Row) portkeyCustom(custom *value, s *pricing.Sheet) {
	regions := custom.get("regions")
	if !regions.is(object) {
		return
	}
	thresholds := r.portkeyThresholds(custom.get("context_tier_map"))
	home := regions.get("default")
	at := "custom."
	if home == nil && regions.get("global") != nil {
		home = regions.get("global")
	}
	for _, mode := range r.portkeyModes(home, thresholds, at) {
		switch {
		case mode.name == "standard":
			if !same(s.Card, mode.band.Card) {
				r.flag(Contradiction, "custom_pricing", "its standard mode has other prices than pricing_config, whose prices count")
			}
			for _, t := range mode.band.Tiers {
				if !slices.ContainsFunc(s.Tiers, func(have pricing.Tier) bool { return have.Above == t.Above }) {
					r.tier(&s.Band, t.Above, t.Card, "custom_pricing")
				}
			}
		case mode.name == "fast":
			r.surcharge(s, pricing.Surcharge{Speed: mode.name}, mode.band.Card)
		case mode.name == "batch" || mode.name == "flex" || mode.name == "priority":
			service(s, mode.name, mode.band)
		default:
			r.flag(NotPriced, "custom_pricing."+mode.name, "the execution mode %s is not known to this reader; not read", quote(mode.name))
		}
	}
	for i, name := range regions.keys {
		if regions.items[i] != home {
			r.portkeyRegion(name, regions.items[i], thresholds, s)
		}
	}
}

// portkeyRegion reads a region's prices, which several codes may share, as a
// multiplier of the ordinary ones.
func (r *Row) portkeyRegion(names string, region *value, thresholds map[string]int64, s *pricing.Sheet) {
	var card pricing.Card
	var aside Row // what is doubtful in a region is doubtful in the ordinary prices too
	for _, mode := range aside.portkeyModes(region, thresholds, "regions.") {
		if mode.name == "standard" {
			card = mode.band.Card
		}
	}
	if empty(card) {
		return
	}
	times, ok := uniform(s.Card, card)
	switch {
	case !ok:
		r.flag(NotPriced, "regions."+names, "its prices are no multiple of the ordinary ones; not read")
		return
	case times.Equal(decimal.New(1, 0)):
		return
	}
	for _, name := range strings.SplitN(names, ",", maxSurcharges+1) {
		if name = strings.TrimSpace(name); name != "" && len(name) <= 64 && name == slug(name, "-") {
			r.multiply(s, pricing.Surcharge{Region: name, Times: times})
		}
	}
}

// portkeyThresholds reads context_tier_map: {"0": "lte-200k", "200000": "gt-200k"}.
func (r *Row) portkeyThresholds(m *value) map[string]int64 {
	if !m.is(object) {
		return nil
	}
	thresholds := map[string]int64{}
	for i, key := range m.keys {
		above, ok := count(&value{kind: text, text: key})
		if !ok || m.items[i].str() == "" {
			r.flag(TierUnreadable, "context_tier_map."+key, "is not a number of tokens and its label; left out")
			continue
		}
		thresholds[m.items[i].str()] = above
	}
	return thresholds
}

func (r *Row) portkeyModes(region *value, thresholds map[string]int64, at string) []portkeyMode {
	modes := region.get("execution_modes")
	if !modes.is(object) {
		return nil
	}
	var all []portkeyMode
	for i, name := range modes.keys {
		mode := portkeyMode{name: name}
		where := at + name + "."
		if plain := modes.items[i].get("pricing_config", "pay_as_you_go"); plain != nil {
			mode.band.Card = r.portkeyCard(plain, where)
		}
		if tiers := modes.items[i].get("context_tiers"); tiers.is(object) {
			for j, label := range tiers.keys {
				card := r.portkeyCard(tiers.items[j].get("pricing_config", "pay_as_you_go"), where+label+".")
				above, ok := thresholds[label]
				switch {
				case !ok:
					r.flag(TierUnreadable, where+label, "has no threshold in context_tier_map; left out")
				case above == 0:
					mode.band.Card = card
				default:
					r.tier(&mode.band, above, card, where+label)
				}
			}
		}
		all = append(all, mode)
	}
	return all
}
