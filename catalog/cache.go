package catalog

import (
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// margin is what is taken off every lifetime, so that a pin ends before its
// cache does (design section 4). A lifetime this short leaves nothing.
const margin = 15 * time.Second

// longest is the longest lifetime a catalog may state.
const longest = 30 * 24 * time.Hour

// ordinaryTTLs are the lifetimes of vendors whose catalog entry states none
// (design section 4). A name also stands for what begins with it and a dash,
// such as azure-eu.
var ordinaryTTLs = []struct {
	vendor string
	ttl    time.Duration
}{
	{"openai", 10 * time.Minute},
	{"azure", 10 * time.Minute},
	{"deepseek", time.Hour},
}

// ordinaryTTL is how long an unused cache entry is kept where nobody says.
func ordinaryTTL(vendor string) time.Duration {
	for _, o := range ordinaryTTLs {
		if vendor == o.vendor || strings.HasPrefix(vendor, o.vendor+"-") {
			return o.ttl
		}
	}
	return 5 * time.Minute
}

// markedVendors are the vendors whose caches need markers, whatever APIs they are
// spoken to by. A name also stands for what begins with it and a dash.
var markedVendors = []string{"anthropic", "bedrock", "vertex"}

// ordinaryFamily is how a vendor's cache comes about where its catalog entry does
// not say: vendors of the messages API alone want markers, and those known to.
func ordinaryFamily(vendor string, apis []API) Family {
	if len(apis) == 1 && apis[0] == Messages {
		return Explicit
	}
	for _, name := range markedVendors {
		if vendor == name || strings.HasPrefix(vendor, name+"-") {
			return Explicit
		}
	}
	return Implicit
}

// cacheRules lays what a mapping states over what holds without it.
func (b *builder) cacheRules(n *yaml.Node, where string, rules CacheRules) CacheRules {
	o, ok := b.fixed(n, where, "cache", keysIn[cacheShape]()...)
	if !ok {
		return rules
	}
	if n := o.get("family"); n != nil {
		if word, ok := b.choice(n, where, "cache family", string(Implicit), string(Explicit), string(None)); ok {
			rules.Family = Family(word)
		}
	}
	if n := o.get("ttl"); n != nil {
		if ttl, ok := b.lifetime(n, where); ok {
			rules.TTL, rules.Stated = ttl, true
		}
	}
	if n := o.get("min_prefix"); n != nil {
		if tokens, ok := b.count(n, where, "min_prefix"); ok {
			rules.MinPrefix = tokens
		}
	}
	return rules
}

// lifetime reads a ttl.
func (b *builder) lifetime(n *yaml.Node, where string) (ttl time.Duration, ok bool) {
	text, ok := b.text(n, where, "ttl")
	if !ok {
		return 0, false
	}
	ttl, err := time.ParseDuration(text)
	switch {
	case err != nil || len(text) > 32:
		b.fail(n, where, "ttl %s is not a lifetime; write a number with a unit, such as 5m or 1h", b.quote(text))
	case ttl <= margin:
		b.fail(n, where, "ttl %s is too short: a pin ends 15 s before its cache does, so it must be longer than 15s", b.quote(text))
	case ttl > longest:
		b.fail(n, where, "ttl %s is too long; at most 720h", b.quote(text))
	default:
		return ttl, true
	}
	return 0, false
}
