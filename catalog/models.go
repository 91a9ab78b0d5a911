package catalog

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"gopkg.in/yaml.v3"
)

// taken is a name of the one namespace: what has it, and where.
type taken struct {
	what string // such as `model "m"`
	node *yaml.Node
}

// take claims a name of the one namespace; if it is taken already, both lines
// are reported.
func (b *builder) take(n *yaml.Node, name, where, what string) bool {
	if b.taken == nil {
		b.taken = map[string]taken{}
	}
	if t, twice := b.taken[name]; twice {
		if !b.beyond(n) {
			b.fail(n, where, "%s is already %s, %s; names, aliases and policies share one namespace, so rename one", b.quote(name), t.what, both(t.node, n))
		}
		return false
	}
	b.taken[name] = taken{what, n}
	return true
}

// models reads the section models. All names are claimed before any alias, so
// that of a name and an alias that clash the alias is reported.
func (b *builder) models(n *yaml.Node) {
	o, ok := b.mapping(n, "", "models")
	if ok && len(o.entries) == 0 && !o.partial {
		b.fail(n, "", "models is empty; name at least one model with a route")
	}
	for i, e := range o.entries {
		m := &Model{Name: e.key.Value, Index: i, Line: e.key.Line}
		b.catalog.Models = append(b.catalog.Models, m)
		where := "model " + b.quote(m.Name)
		switch {
		case m.Name == "":
			b.fail(e.key, where, "a model's name is empty; give it one")
		case nameFault(m.Name) != "":
			b.fail(e.key, where, "the name %s", nameFault(m.Name))
		}
		b.take(e.key, m.Name, where, where)
		b.catalog.targets[m.Name] = Target{Models: []*Model{m}}
	}
	for i, e := range o.entries {
		b.model(b.catalog.Models[i], e)
	}
	b.catalog.index()
}

func (b *builder) model(m *Model, e entry) {
	where := "model " + b.quote(m.Name)
	o, ok := b.fixed(e.value, where, "a model", keysIn[modelShape]()...)
	if !ok {
		return
	}
	if n := o.get("aliases"); n != nil {
		for _, alias := range b.names(n, where, "aliases", "[short-name]") {
			if b.take(alias.node, alias.text, where, "an alias of "+where) {
				m.Aliases = append(m.Aliases, alias.text)
				b.catalog.targets[alias.text] = Target{Models: []*Model{m}}
			}
		}
	}
	if n := o.get("context"); n != nil {
		m.Context, _ = b.count(n, where, "context")
	}
	if n := o.get("tags"); n != nil {
		m.Tags = b.tagList(n, where)
	}
	n := b.need(&o, "routes", "say which vendors serve the model")
	if n == nil {
		return
	}
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		b.fail(n, where, "has no routes; say which vendors serve the model, or remove it")
	}
	seen := map[string]*yaml.Node{}
	for i, item := range b.list(n, where, "routes", "[{vendor: name, model: id}]") {
		if r := b.route(m, i, item, seen); r != nil {
			r.Index = len(m.Routes)
			m.Routes = append(m.Routes, r)
		}
	}
	if len(m.Routes) > 0 && !slices.ContainsFunc(m.Routes, func(r *Route) bool { return r.Disabled == "" }) {
		b.warn(e.key, where, "every route is disabled, so whoever asks for it is refused")
	}
}

// route reads one route; nil if it has no vendor of this catalog.
func (b *builder) route(m *Model, i int, item *yaml.Node, seen map[string]*yaml.Node) *Route {
	model := "model " + b.quote(m.Name)
	where := fmt.Sprintf("%s, route %d", model, i+1)
	if item.Kind == yaml.MappingNode {
		for k := 0; k+1 < len(item.Content); k += 2 {
			if v := item.Content[k+1]; item.Content[k].Value == "vendor" && v.Kind == yaml.ScalarNode && v.Value != "" {
				where = fmt.Sprintf("%s, route %s", model, b.quote(v.Value))
				break
			}
		}
	}
	o, ok := b.fixed(item, where, "a route", keysIn[routeShape]()...)
	if !ok {
		return nil
	}
	r := &Route{Model: m, Line: item.Line}
	if n := b.need(&o, "vendor", "name one of the vendors above"); n != nil {
		if name, ok := b.name(n, where, "vendor"); ok {
			if r.Vendor, ok = b.vendorNamed(n, where, "vendor", name); ok {
				r.Cache = r.Vendor.Cache
				if first, twice := seen[name]; twice {
					b.fail(n, where, "this model has two routes to vendor %s, %s; remove one", b.quote(name), both(first, n))
				} else {
					seen[name] = n
				}
			}
		}
	}
	if n := b.need(&o, "model", "give the vendor's own id of the model"); n != nil {
		r.UpstreamModel, _ = b.name(n, where, "model")
	}
	if n := o.get("price"); n != nil {
		r.Price = b.price(n, where)
	}
	if n := o.get("cache"); n != nil {
		r.Cache = b.cacheRules(n, where, r.Cache)
	}
	if n := o.get("tags"); n != nil {
		r.Tags = b.tagList(n, where)
	}
	if n := o.get("disabled"); n != nil {
		r.Disabled = b.disabled(n, where)
	}
	if r.Vendor == nil {
		return nil
	}
	return r
}

// disabled reads why a route is out of use.
func (b *builder) disabled(n *yaml.Node, where string) string {
	text, ok := b.text(n, where, "disabled")
	if !ok {
		return ""
	}
	switch strings.ToLower(text) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "1", "0", "null", "none":
		b.fail(n, where, `disabled is a reason in words, such as "too slow in May"; give one, or remove the key to use the route`)
		return ""
	}
	return text
}

// vendorNamed finds a vendor that something refers to.
func (b *builder) vendorNamed(n *yaml.Node, where, what, name string) (*Vendor, bool) {
	if v, ok := b.catalog.vendors[name]; ok {
		return v, true
	}
	known := make([]string, len(b.catalog.Vendors))
	for i, v := range b.catalog.Vendors {
		known[i] = v.Name
	}
	b.fail(n, where, "%s %s is not in this catalog%s", what, b.quote(name), orAdd(name, known, "vendors"))
	return nil, false
}

// orAdd says what to do about a name that is not there.
func orAdd(name string, known []string, section string) string {
	if len(known) > 2000 {
		known = known[:2000]
	}
	sort.Strings(known)
	if near, ok := Nearest(name, known); ok {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; add it under " + section + ", or correct the name"
}
