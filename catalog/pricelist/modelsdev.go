package pricelist

import (
	"errors"
	"regexp"
	"strconv"

	"github.com/warmroute/warmroute/pricing"
)

// modelsDevField is the place in a card of models.dev's words.
var modelsDevField = map[string]int{"input": 0, "output": 1, "cache_read": 2, "cache_write": 3, "cache_write_1h": 4}

// modelsDevSlips are keys that stand in the list by mistake, and what they mean.
var modelsDevSlips = map[string]string{
	"cache_input": "cache_read", "cached_input": "cache_read", "cached_read": "cache_read", "cache_hit": "cache_read",
	"cached_write": "cache_write", "cache_creation": "cache_write",
}

var modelsDevOther = regexp.MustCompile(`audio|image|video|reasoning|citation|search`)

// readModelsDev reads api.json, or its files joined to one: an object of providers,
// each with its models by id, USD per million.
func readModelsDev(l *List, root *value, _ string) error {
	if !root.is(object) {
		return errors.New("is not an object of providers; give api.json")
	}
	if len(root.keys) > 0 && !root.items[0].get("models").is(object) {
		return errors.New("its first provider has no models; give api.json")
	}
	for i, provider := range root.keys {
		p := root.items[i]
		models := p.get("models")
		if !models.is(object) {
			l.skip(provider, Malformed, "a provider without models")
			continue
		}
		for _, id := range models.again {
			l.skip(provider+"/"+id, Repeated, "")
		}
		doc := p.get("doc").str()
		if doc == "" {
			doc = p.get("provider", "doc").str()
		}
		for j, id := range models.keys {
			l.modelsDev(provider, id, models.items[j], doc)
		}
	}
	return nil
}

func (l *List) modelsDev(provider, id string, e *value, doc string) {
	key := provider + "/" + id
	switch cost := e.get("cost"); {
	case !e.is(object):
		l.skip(key, Malformed, "not an object")
		return
	case !answersText(e.get("modalities", "output")):
		l.skip(key, NotChat, "its output is not text")
		return
	case cost != nil && !cost.is(object):
		l.skip(key, Malformed, "cost is not an object")
		return
	}
	r, ok := l.begin(key, provider, upstreamID(provider, id))
	if !ok {
		return
	}
	r.Context = tokens(e.get("limit", "context"))
	cost := e.get("cost")
	r.duplicates(e)
	r.duplicates(cost)
	s := pricing.Sheet{Source: doc}
	s.Card = r.modelsDevCard(cost, "")
	s.Card.Request = r.rate(cost.get("request"), "request", perThousand) // Perplexity's fee is stated for 1,000
	if tiers := cost.get("tiers"); tiers.is(array) {
		for i, t := range tiers.items {
			r.modelsDevTier(&s.Band, t, "tiers["+strconv.Itoa(i)+"]")
		}
	}
	if over := cost.get("context_over_200k"); over != nil && len(s.Tiers) == 0 {
		r.tier(&s.Band, 200_000, r.modelsDevCard(over, "context_over_200k."), "context_over_200k")
	}
	r.modelsDevModes(e.get("experimental", "modes"), &s)
	if status := e.get("status").str(); status == "deprecated" {
		r.flag(Deprecated, "status", "the list calls the model deprecated")
	}
	r.Price = pricing.Price{s}
	l.done(r)
}

// answersText says whether a list of output kinds has text in it; none stated counts.
func answersText(kinds *value) bool {
	if !kinds.is(array) || len(kinds.items) == 0 {
		return true
	}
	for _, k := range kinds.items {
		if k.str() == "text" {
			return true
		}
	}
	return false
}

// modelsDevCard reads the prices of a cost object or of a tier.
func (r *Row) modelsDevCard(cost *value, at string) pricing.Card {
	var c pricing.Card
	if !cost.is(object) {
		return c
	}
	for i, key := range cost.keys {
		if f, ok := modelsDevField[key]; ok {
			*rates(&c)[f] = r.rate(cost.items[i], at+key, perMillion)
			continue
		}
		meant, slip := modelsDevSlips[key]
		switch {
		case slip && cost.get(meant) != nil:
			r.flag(MisspeltKey, at+key, "%s stands beside %s, which counts", key, meant)
		case slip:
			r.flag(MisspeltKey, at+key, "%s is read as %s", key, meant)
			*rates(&c)[modelsDevField[meant]] = r.rate(cost.items[i], at+key, perMillion)
		case key == "reasoning" && sameNumber(cost.items[i], cost.get("output")):
		case key == "tiers" || key == "tier" || key == "request" || key == "context_over_200k":
		case modelsDevOther.MatchString(key):
			r.unread(at+key, cost.items[i], modelsDevOther)
		case nonzero(cost.items[i]):
			r.flag(UnknownField, at+key, "%s %s is not known to this reader; not read", key, quote(cost.items[i].text))
		}
	}
	r.settle(&c, at)
	return c
}

func (r *Row) modelsDevTier(b *pricing.Band, t *value, at string) {
	above, ok := count(t.get("tier", "size"))
	kind := t.get("tier", "type").str()
	if !ok || above == 0 || kind != "" && kind != "context" {
		r.flag(TierUnreadable, at, "has no size of context; left out")
		return
	}
	r.tier(b, above, r.modelsDevCard(t, at+"."), at)
}

// modelsDevModes reads experimental.modes: a service tier where the mode asks for
// one, a speed where it asks for that.
func (r *Row) modelsDevModes(modes *value, s *pricing.Sheet) {
	if !modes.is(object) {
		return
	}
	for i, name := range modes.keys {
		mode := modes.items[i]
		at := "modes." + name + "."
		cost := mode.get("cost")
		if !cost.is(object) {
			continue
		}
		card := r.modelsDevCard(cost, at)
		body := mode.get("provider", "body")
		switch {
		case body.get("service_tier").str() != "" && !pricing.StandardTier(body.get("service_tier").str()):
			service(s, body.get("service_tier").str(), pricing.Band{Card: card})
		case body.get("speed").str() != "":
			r.surcharge(s, pricing.Surcharge{Speed: body.get("speed").str()}, card)
		default:
			r.flag(NotPriced, at+"cost", "the mode %s says neither service tier nor speed; not read", quote(name))
		}
	}
}
