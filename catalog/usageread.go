package catalog

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// usage reads how a vendor counts: the name of a convention, or a mapping that says
// what is different from one.
func (b *builder) usage(n *yaml.Node, where string, v *Vendor) {
	if n.Kind == yaml.MappingNode {
		b.ownUsage(n, where, v)
		return
	}
	if text, ok := b.text(n, where, "usage"); ok {
		v.Usage = b.convention(n, where, "usage", text)
	}
}

// convention is a known name; else empty, which is reported.
func (b *builder) convention(n *yaml.Node, where, what, name string) string {
	if slices.Contains(conventions, name) {
		return name
	}
	remedy := "; use " + orList(conventions)
	if near, ok := Nearest(name, conventions); ok {
		remedy = `; did you mean "` + near + `"?`
	}
	if what == "usage" {
		or := ", or a mapping"
		if strings.HasSuffix(remedy, "?") {
			or = " Or write a mapping"
		}
		remedy += or + " such as {like: openai, cache_read: [cached_tokens]}"
	}
	b.fail(n, where, "%s %s is not known%s", what, b.quote(name), remedy)
	return ""
}

// ownUsage reads a vendor's own convention. It holds on those of its APIs on which
// the one it is like holds; without like, on all of them.
func (b *builder) ownUsage(n *yaml.Node, where string, v *Vendor) {
	o, ok := b.fixed(n, where, "usage", keysIn[usageShape]()...)
	if !ok {
		return
	}
	like := ""
	if n := o.get("like"); n != nil {
		if text, ok := b.text(n, where, "like"); ok {
			like = b.convention(n, where, "like", text)
		}
	}
	v.Usage, v.counting = like, map[API]*Usage{}
	changes := b.usageChanges(&o, where)
	held := false
	for _, api := range v.API {
		from := UsageConvention(like, api)
		if like != "" && from.Name != like {
			continue
		}
		held = true
		own := *from
		for _, change := range changes {
			change(&own)
		}
		own.compile()
		if len(own.root.Members) > maxMembers {
			b.fail(n, where, "usage looks for more than %d values; leave out what this vendor never sends", maxMembers)
			return
		}
		v.counting[api] = &own
	}
	if !held && like != "" && len(v.API) > 0 {
		b.fail(o.get("like"), where, "like: %s says nothing about the API %s, which this vendor speaks; use the name of a convention of that API, or leave like out", like, v.API[0])
	}
}

// usageChanges reads what a vendor's own convention makes different.
func (b *builder) usageChanges(o *object, where string) (changes []func(*Usage)) {
	seen := map[string]*yaml.Node{}
	keys := map[string]string{}
	for f := range usageFields {
		n := o.get(f.String())
		if n == nil || f.String() == "" {
			continue
		}
		paths := []string{}
		for _, item := range b.paths(n, where, f.String()) {
			if !b.path(item, where, f.String()) {
				continue
			}
			if first, twice := seen[item.text]; twice {
				b.fail(item.node, where, "path %s stands under %s and under %s, %s; a value can be one thing only, so remove one", b.quote(item.text), keys[item.text], f, both(first, item.node))
				continue
			}
			seen[item.text], keys[item.text] = item.node, f.String()
			paths = append(paths, item.text)
		}
		if len(paths) > maxPaths {
			b.fail(n, where, "%s has more than %d paths; leave out what this vendor never sends", f, maxPaths)
			continue
		}
		changes = append(changes, func(u *Usage) { u.feed(f, paths) })
	}
	if n := o.get("cached"); n != nil {
		if word, ok := b.choice(n, where, "cached", standings...); ok {
			changes = append(changes, func(u *Usage) { u.Cached = Standing(slices.Index(standings, word)) })
		}
	}
	if n := o.get("reasoned"); n != nil {
		if word, ok := b.choice(n, where, "reasoned", standings[:Either]...); ok {
			changes = append(changes, func(u *Usage) { u.Reasoned = Standing(slices.Index(standings, word)) })
		}
	}
	if n := o.get("rest"); n != nil {
		if word, ok := b.choice(n, where, "rest", "output", "none"); ok {
			changes = append(changes, func(u *Usage) { u.RestIsOutput = word == "output" })
		}
	}
	if n := o.get("no_cache_read"); n != nil {
		if word, ok := b.choice(n, where, "no_cache_read", "unknown", "zero"); ok {
			changes = append(changes, func(u *Usage) { u.NoReadIsZero = word == "zero" })
		}
	}
	if n := o.get("sides"); n != nil {
		kinds := texts(b.names(n, where, "sides", "[compaction]"))
		changes = append(changes, func(u *Usage) { u.SideKinds = kinds })
	}
	if n := o.get("object"); n != nil {
		places := [][]string{}
		for _, item := range b.paths(n, where, "object") {
			if b.path(item, where, "object") {
				places = append(places, strings.Split(item.text, "."))
			}
		}
		if len(places) == 0 && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			b.fail(n, where, "object is empty; say where usage stands in an answer, such as [usage]")
		}
		changes = append(changes, func(u *Usage) { u.Places = places })
	}
	return changes
}

// paths reads one path or a list of them.
func (b *builder) paths(n *yaml.Node, where, what string) []entryName {
	if n.Kind != yaml.ScalarNode || isNull(n) {
		return b.names(n, where, what, "[prompt_tokens_details.cached_tokens]")
	}
	if text, ok := b.name(n, where, what); ok {
		return []entryName{{text, n}}
	}
	return nil
}

// path refuses what is no path. Where a usage object stands is a plain one.
func (b *builder) path(item entryName, where, what string) bool {
	_, ok := pathSteps(item.text)
	plain := what != "object" || !strings.Contains(item.text, "[")
	if !ok || !plain {
		b.fail(item.node, where, "%s: %s is no path; write the names from the outside in, joined by dots, such as prompt_tokens_details.cached_tokens, or for an object of a list details[ttl=1h].tokens", what, b.quote(item.text))
	}
	return ok && plain
}
