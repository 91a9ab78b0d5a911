package catalog

import (
	"github.com/shopspring/decimal"
	"github.com/warmroute/warmroute/pricing"
	"gopkg.in/yaml.v3"
)

// sorts are the words of a policy's sort.
var sorts = []string{string(ByPrice), string(ByBlended), string(ByLatency), string(ByThroughput), string(ByWeight)}

// weighted reads the weights of a policy. They and sort: weighted need each other.
func (b *builder) weighted(p *Policy, o *object, where string) {
	n, sorted := o.get("weights"), o.get("sort")
	switch {
	case n == nil && p.Sort == ByWeight:
		b.fail(sorted, where, "sort: weighted needs weights; add them, such as weights: {vendor-name: 3, other-vendor: 1}")
	case n != nil && p.Sort != ByWeight && (sorted == nil || p.Sort != CatalogOrder):
		b.fail(n, where, "has weights, which only sort: weighted goes by; add that, or remove the weights")
	}
	if n != nil {
		p.Weights = b.weights(n, where)
	}
}

// weights reads a mapping of vendors of this catalog to their weights.
func (b *builder) weights(n *yaml.Node, where string) []Weight {
	o, ok := b.mapping(n, where, "weights")
	if ok && len(n.Content) == 0 {
		b.fail(n, where, "weights is empty; name vendors in it, such as {vendor-name: 3, other-vendor: 1}")
	}
	var all []Weight
	for _, e := range o.entries {
		name, readable := b.name(e.key, where, "weights entry")
		if !readable {
			continue
		}
		v, known := b.vendorNamed(e.key, where, "weights: vendor", name)
		weight, readable := b.weight(e.value, where, b.quote(name))
		if known && readable {
			all = append(all, Weight{v.Name, weight})
		}
	}
	return all
}

// weight reads one weight from its text.
func (b *builder) weight(n *yaml.Node, where, vendor string) (weight decimal.Decimal, ok bool) {
	text, ok := b.text(n, where, "the weight of "+vendor)
	if !ok {
		return weight, false
	}
	rate, err := pricing.ParseRate(text, pricing.PerMillionTokens) // the grammar of numbers is that of prices
	switch {
	case err != nil && mayBeKey(text):
		b.fail(n, where, "the weight of %s is none; write a number such as 3 or 0.75", vendor)
		return weight, false
	case err != nil:
		b.fail(n, where, "the weight of %s is none: %s; write a number such as 3 or 0.75", vendor, b.quote(text))
		return weight, false
	case !rate.Decimal().IsPositive():
		b.fail(n, where, "the weight of %s is zero; leave the vendor out to try it last, or name it under ignore to never try it", vendor)
		return weight, false
	}
	return rate.Decimal(), true
}
