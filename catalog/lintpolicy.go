package catalog

import "slices"

// policies judges what a policy asks for against what there is.
func (l *linter) policies() {
	for _, p := range l.catalog.Policies {
		l.limits(p)
		l.pinsAndOrder(p)
		l.weights(p)
	}
}

// weights finds weights of vendors that no request for the policy can reach.
func (l *linter) weights(p *Policy) {
	at := l.atPolicy(p)
	at.node = l.outline.policies[p.Name].value
	for _, w := range p.Weights {
		serves := slices.ContainsFunc(p.Models, func(m *Model) bool {
			return slices.ContainsFunc(l.left(p, m), func(r *Route) bool { return r.Vendor.Name == w.Vendor })
		})
		if !serves {
			l.say(at.in("weights", w.Vendor), SeverityWarning, CodeWeightUnused, "weights: %s has no route in use of any model of this policy, so its share goes to the others; correct the name, or remove it", l.quote(w.Vendor))
		}
	}
}

// left are the routes of a model that a policy's lists leave.
func (l *linter) left(p *Policy, m *Model) []*Route {
	var all []*Route
	for _, r := range l.inUse(m) {
		named := (len(p.Only) == 0 || slices.Contains(p.Only, r.Vendor.Name)) && !slices.Contains(p.Ignore, r.Vendor.Name)
		if named && r.Carries(p.Tags) {
			all = append(all, r)
		}
	}
	return all
}

// limits finds a max_price that leaves a model of the policy no route: at all, or
// for long prompts.
func (l *linter) limits(p *Policy) {
	if !p.Limited() {
		return
	}
	at := l.atPolicy(p)
	at.node = l.outline.policies[p.Name].value
	at = at.in("max_price")
	for _, m := range p.Models {
		routes := l.left(p, m)
		if len(routes) == 0 {
			continue
		}
		for _, s := range l.situations(routes) {
			if s.terms.Tier != "" || !s.terms.At.Equal(l.now) {
				continue
			}
			if slices.ContainsFunc(routes, func(r *Route) bool { return p.Allows(r.Price.At(s.terms)) }) {
				continue
			}
			if s.terms.Prompt == 1 {
				l.say(at, SeverityWarning, CodeMaxPrice, "max_price removes every route of model %s, those with unknown prices too, so the policy never uses it; raise the limit, or remove the model", l.quote(m.Name))
			} else {
				l.say(at, SeverityNote, CodeMaxPrice, "max_price removes every route of model %s for prompts %s; raise the limit, or keep it if that is meant", l.quote(m.Name), s.size)
			}
			break
		}
	}
}

// pinsAndOrder says which of the two wins where a policy has an order and pins.
func (l *linter) pinsAndOrder(p *Policy) {
	if len(p.Order) == 0 || p.Affinity.Off {
		return
	}
	choice := slices.ContainsFunc(p.Models, func(m *Model) bool {
		caching := 0
		for _, r := range l.left(p, m) {
			if r.Cache.Family != None {
				caching++
			}
		}
		return caching > 1
	})
	if !choice {
		return
	}
	at := l.atPolicy(p)
	at.node = l.outline.policies[p.Name].value
	if p.Affinity.OrderFirst {
		l.say(at.in("affinity", "precedence"), SeverityNote, CodePinOrder, "precedence: order keeps every warm vendor in its place, so affinity never promotes one under this policy; remove it if warm vendors are to go ahead")
		return
	}
	if at.in("affinity", "precedence").node != at.in("affinity").node && at.in("affinity").node != at.node {
		return // it is stated
	}
	l.say(at.in("order"), SeverityNote, CodePinOrder, "a warm vendor goes ahead of this order where its cache is cheaper than the first one's input; state it with affinity: {precedence: pin}, or keep the order with affinity: {precedence: order}")
}
