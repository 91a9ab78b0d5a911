package catalog

import (
	"slices"

	"github.com/warmroute/warmroute/pricing"
	"gopkg.in/yaml.v3"
)

// policies reads the section policies.
func (b *builder) policies(n *yaml.Node) {
	o, _ := b.mapping(n, "", "policies")
	var kept []*Policy
	for _, e := range o.entries {
		p := &Policy{Name: e.key.Value, Index: len(kept), Line: e.key.Line}
		where := "policy " + b.quote(p.Name)
		switch {
		case p.Name == "":
			b.fail(e.key, where, "a policy's name is empty; give it one")
		case nameFault(p.Name) != "":
			b.fail(e.key, where, "the name %s", nameFault(p.Name))
		}
		b.take(e.key, p.Name, where, where)
		b.policy(p, e.value, where)
		kept = append(kept, p)
	}
	for _, p := range kept {
		if _, clash := b.catalog.targets[p.Name]; !clash {
			b.catalog.targets[p.Name] = Target{Policy: p, Models: p.Models}
		}
	}
	b.catalog.Policies = kept
}

func (b *builder) policy(p *Policy, n *yaml.Node, where string) {
	o, ok := b.fixed(n, where, "a policy", keysIn[policyShape]()...)
	if !ok {
		return
	}
	if n := b.need(&o, "models", "name the models to use, the first choice first"); n != nil {
		p.Models = b.policyModels(n, where)
	}
	order, sorted := o.get("order"), o.get("sort")
	if order != nil && sorted != nil {
		b.fail(sorted, where, "has both order and sort; keep one")
	}
	if order != nil {
		p.Order = b.vendorNames(order, where, "order")
	}
	if sorted != nil {
		p.Sort = b.sortBy(sorted, where)
	}
	b.weighted(p, &o, where)
	if n := o.get("only"); n != nil {
		p.Only = b.vendorNames(n, where, "only")
		if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			b.fail(n, where, "only is an empty list, which would leave no vendor; remove the key to allow all")
		}
	}
	if n := o.get("ignore"); n != nil {
		p.Ignore = b.vendorNames(n, where, "ignore")
	}
	b.reachable(p, &o, where)
	if n := o.get("max_price"); n != nil {
		b.maxPrice(p, n, where)
	}
	if n := o.get("tags"); n != nil {
		for _, tag := range b.names(n, where, "tags", "[zdr]") {
			if !b.tags[tag.text] {
				b.warn(tag.node, where, "no vendor, model or route carries the tag %s, so this policy has no route", b.quote(tag.text))
			}
			p.Tags = append(p.Tags, tag.text)
		}
	}
	if n := o.get("affinity"); n != nil {
		p.Affinity = b.affinity(n, where)
	}
}

// reachable refuses a policy whose only and ignore leave none of its models a
// route.
func (b *builder) reachable(p *Policy, o *object, where string) {
	only, ignore := o.get("only"), o.get("ignore")
	routes := 0
	for _, m := range p.Models {
		for _, r := range m.Routes {
			if (only == nil || slices.Contains(p.Only, r.Vendor.Name)) && !slices.Contains(p.Ignore, r.Vendor.Name) {
				return
			}
			routes++
		}
	}
	what, n := "only leaves", only
	switch {
	case only != nil && ignore != nil:
		what, n = "only and ignore together leave", ignore
	case ignore != nil:
		what, n = "ignore leaves", ignore
	}
	// A name that is not known was reported; what it stands for would count.
	if routes == 0 || n == nil || len(p.Only) < listed(only) || len(p.Ignore) < listed(ignore) || only != nil && listed(only) == 0 {
		return
	}
	b.fail(n, where, "%s no vendor that serves a model of this policy; name one that does", what)
}

// listed is how many entries a list has, zero if it is none.
func listed(n *yaml.Node) int {
	if n == nil {
		return 0
	}
	return len(n.Content)
}

// policyModels reads the models of a policy, by name or by alias.
func (b *builder) policyModels(n *yaml.Node, where string) []*Model {
	var all []*Model
	seen := map[*Model]*yaml.Node{}
	for _, name := range b.names(n, where, "models", "[model-name]") {
		target, ok := b.catalog.targets[name.text]
		if !ok {
			if t, ok := b.taken[name.text]; ok {
				b.fail(name.node, where, "models: %s is %s, on line %d; name models here", b.quote(name.text), t.what, t.node.Line)
				continue
			}
			known := make([]string, len(b.catalog.Models))
			for i, m := range b.catalog.Models {
				known[i] = m.Name
			}
			b.fail(name.node, where, "model %s is not in this catalog%s", b.quote(name.text), orAdd(name.text, known, "models"))
			continue
		}
		m := target.Models[0]
		if first, twice := seen[m]; twice {
			b.fail(name.node, where, "models: model %s stands twice, %s; remove one", b.quote(m.Name), both(first, name.node))
			continue
		}
		seen[m] = name.node
		all = append(all, m)
	}
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		b.fail(n, where, "models is an empty list; name the models to use, the first choice first")
	}
	return all
}

// vendorNames reads a list of vendors of this catalog.
func (b *builder) vendorNames(n *yaml.Node, where, what string) []string {
	var all []string
	for _, name := range b.names(n, where, what, "[vendor-name]") {
		if v, ok := b.vendorNamed(name.node, where, what+": vendor", name.text); ok {
			all = append(all, v.Name)
		}
	}
	return all
}

// sortBy reads an order of routes.
func (b *builder) sortBy(n *yaml.Node, where string) Sort {
	word, _ := b.choice(n, where, "sort", sorts...)
	return Sort(word)
}

// maxPrice reads the limits above which a route is left out.
func (b *builder) maxPrice(p *Policy, n *yaml.Node, where string) {
	where += ", max_price"
	o, ok := b.fixed(n, where, "max_price", keysIn[maxPriceShape]()...)
	if !ok {
		return
	}
	for _, limit := range []struct {
		name string
		rate *pricing.Rate
	}{{"input", &p.MaxInput}, {"output", &p.MaxOut}, {"cache_read", &p.MaxRead}} {
		if n := o.get(limit.name); n != nil {
			*limit.rate = b.rate(n, where, limit.name)
		}
	}
}

// affinity reads what a policy says about pins.
func (b *builder) affinity(n *yaml.Node, where string) Affinity {
	var a Affinity
	o, ok := b.fixed(n, where, "affinity", keysIn[affinityShape]()...)
	if !ok {
		return a
	}
	if n := o.get("gate"); n != nil {
		a.Gate, _ = b.gate(n, where, "gate")
	}
	if n := o.get("precedence"); n != nil {
		word, ok := b.choice(n, where, "precedence", "pin", "order")
		a.OrderFirst, a.Precedence = word == "order", ok
	}
	if n := o.get("enabled"); n != nil {
		on, ok := b.truth(n, where, "enabled")
		a.Off = ok && !on
	}
	if n := o.get("cache_ttl"); n != nil {
		if word, ok := b.choice(n, where, "cache_ttl", cacheTTLs...); ok && word != "auto" {
			a.CacheTTL = CacheTTL(word)
		}
	}
	return a
}
