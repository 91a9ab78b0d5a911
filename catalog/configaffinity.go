package catalog

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// ProfileSettings are a profile and what is said beside it: for the gateway, or for
// one tenant. What is not set is the profile's own to say.
type ProfileSettings struct {
	Profile    Setting[Profile]
	Gate       Setting[Gate]
	OrderFirst Setting[bool]   // precedence: order; an explicit order goes ahead of the pin
	Apart      Setting[bool]   // subagents: separate; they have nothing of their parent's
	Sources    []SessionSource // what may name a session, the first choice first; nil: the profile's
	Checks     []RoutingCheck  // of LiteLLM, which switch its affinity on
	Sticky     StickySettings  // of Portkey
}

// SessionSource is one place in a request where a session may be named.
type SessionSource string

// The sources.
const (
	SourceOption         SessionSource = "option"          // body providerOptions.gateway.sessionId
	SourceBody           SessionSource = "body"            // a member of the body, such as session_id
	SourceSessionHeader  SessionSource = "session_header"  // x-session-id, or the profile's own header for it
	SourceAffinityHeader SessionSource = "affinity_header" // x-session-affinity
	SourceOwnHeader      SessionSource = "own_header"      // x-<name>-session-id
	SourceCacheKey       SessionSource = "cache_key"       // body prompt_cache_key
	SourceAgent          SessionSource = "agent"           // what coding agents send
	SourceChain          SessionSource = "chain"           // the assistant turn that was served before
	SourceFingerprint    SessionSource = "fingerprint"     // how the conversation begins
	SourceAPIKey         SessionSource = "api_key"         // the tenant's key that was presented
	SourceHashFields     SessionSource = "hash_fields"     // the fields that [StickySettings] nominate
)

// sessionSources are all sources, as a config file names them.
var sessionSources = []string{
	string(SourceOption), string(SourceBody), string(SourceSessionHeader), string(SourceAffinityHeader), string(SourceOwnHeader),
	string(SourceCacheKey), string(SourceAgent), string(SourceChain), string(SourceFingerprint), string(SourceAPIKey), string(SourceHashFields),
}

// RoutingCheck is one of LiteLLM's optional checks before a call, by its name there.
type RoutingCheck string

// The checks.
const (
	CheckSession    RoutingCheck = "session_affinity"    // the model that served a session is tried first
	CheckDeployment RoutingCheck = "deployment_affinity" // so is the vendor and credential
	CheckPrefix     RoutingCheck = "prompt_caching"      // so is what served the prompt's marked prefix
)

var routingChecks = []string{string(CheckSession), string(CheckDeployment), string(CheckPrefix)}

// contentChecks are LiteLLM's checks that hold here whatever is set: content that
// only its maker can read goes there.
var contentChecks = []string{"responses_api_deployment_check", "encrypted_content_affinity"}

// StickySettings are Portkey's sticky sessions.
type StickySettings struct {
	Enabled    Setting[bool]
	HashFields []string // dotted paths of fields of the body that name a session together, such as metadata.user
	TTL        Setting[time.Duration]
}

// Over is s where it is said, and base where it is not. Settings that name another
// profile than base does start afresh from that profile: what base says was said
// beside its own.
func (s ProfileSettings) Over(base ProfileSettings) ProfileSettings {
	if p, ok := s.Profile.Get(); ok && p != base.Profile.Or(ProfileWarmroute) {
		return s
	}
	all := base
	over(&all.Profile, s.Profile)
	over(&all.Gate, s.Gate)
	over(&all.OrderFirst, s.OrderFirst)
	over(&all.Apart, s.Apart)
	over(&all.Sticky.Enabled, s.Sticky.Enabled)
	over(&all.Sticky.TTL, s.Sticky.TTL)
	if s.Sources != nil {
		all.Sources = s.Sources
	}
	if s.Checks != nil {
		all.Checks = s.Checks
	}
	if s.Sticky.HashFields != nil {
		all.Sticky.HashFields = s.Sticky.HashFields
	}
	return all
}

func over[T any](into *Setting[T], s Setting[T]) {
	if s.IsSet() {
		*into = s
	}
}

// OffUntil says what has to be set before the profile has any affinity; it is empty
// where it has.
func (s ProfileSettings) OffUntil() string {
	switch p := s.Profile.Or(ProfileWarmroute); {
	case p == ProfileLiteLLM && len(s.Checks) == 0:
		return "checks name some of " + strings.Join(routingChecks, ", ")
	case p == ProfilePortkey && !s.Sticky.Enabled.Or(false):
		return "sticky has enabled: true and hash_fields"
	}
	return ""
}

// saidBeside are settings that were read, and where.
type saidBeside struct {
	settings *ProfileSettings
	where    string
	at       *yaml.Node // of the profile; nil where none is named
	only     []keyOf    // keys that one profile alone has
	sticky   *yaml.Node
}

// keyOf is a key that only one profile has.
type keyOf struct {
	name string
	node *yaml.Node
	of   Profile
}

// profileSettings reads the settings in o; said collects where they stand.
func (c *configReader) profileSettings(o *object, said *saidBeside) {
	into := said.settings
	setting(o, "profile", &into.Profile, c.profile)
	setting(o, "gate", &into.Gate, c.gate)
	setting(o, "precedence", &into.OrderFirst, c.precedence)
	setting(o, "subagents", &into.Apart, c.subagents)
	if n := o.get("profile"); n != nil {
		said.at = n
	}
	if n := o.get("sources"); n != nil {
		into.Sources = wordsOf[SessionSource](c.reader, n, o.where, "sources", "[option, session_header]", sessionSources)
		for _, item := range n.Content {
			if item.Value == string(SourceHashFields) {
				said.only = append(said.only, keyOf{"sources: hash_fields", item, ProfilePortkey})
			}
		}
		if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			c.fail(n, o.where, "sources is an empty list, so nothing would name a session; remove the key for the profile's own, or say enabled: false")
		}
	}
	if n := o.get("checks"); n != nil {
		into.Checks = c.checks(n, o.where)
		said.only = append(said.only, keyOf{"checks", n, ProfileLiteLLM})
	}
	if n := o.get("sticky"); n != nil {
		c.sticky(n, o.where, &into.Sticky)
		said.only = append(said.only, keyOf{"sticky", n, ProfilePortkey})
		said.sticky = n
	}
}

// tenantAffinity reads what a tenant says of affinity: profile and gate, and beside
// them affinity, which is true, false or the same keys as the gateway's.
func (c *configReader) tenantAffinity(t *Tenant, o *object) {
	said := &saidBeside{settings: &t.ProfileSettings, where: o.where}
	c.said = append(c.said, said)
	setting(o, "profile", &t.Profile, c.profile)
	setting(o, "gate", &t.Gate, c.gate)
	said.at = o.get("profile")
	n := o.get("affinity")
	switch {
	case n == nil || n.Kind == yaml.AliasNode: // reported by structure
	case n.Kind == yaml.ScalarNode && (n.Value == "true" || n.Value == "false"):
		setting(o, "affinity", &t.Affinity, c.truth)
	case n.Kind != yaml.MappingNode:
		c.fail(n, o.where, "affinity must be true or false, or a mapping such as {profile: vercel}")
	default:
		inner, ok := c.fixed(n, o.where+", affinity", "affinity of a tenant", keysIn[tenantAffinityShape]()...)
		if !ok {
			return
		}
		for _, key := range [...]string{"profile", "gate"} {
			if twice := inner.get(key); twice != nil && o.get(key) != nil {
				c.fail(twice, inner.where, "%s stands in affinity and beside it, %s; keep one", key, both(o.get(key), twice))
			}
		}
		c.profileSettings(&inner, said)
		setting(&inner, "enabled", &t.Affinity, c.truth)
	}
}

// wordsOf reads a list of words, each once.
func wordsOf[T ~string](r *reader, n *yaml.Node, where, what, example string, words []string) []T {
	var all []T
	for _, name := range r.names(n, where, what, example) {
		if !slices.Contains(words, name.text) {
			r.fail(name.node, where, "%s entry %s is not known; use %s", what, r.quote(name.text), orList(words))
			continue
		}
		all = append(all, T(name.text))
	}
	return all
}

// checks reads LiteLLM's checks. Those that always hold need no switch.
func (c *configReader) checks(n *yaml.Node, where string) []RoutingCheck {
	var all []RoutingCheck
	for _, name := range c.names(n, where, "checks", "[deployment_affinity, prompt_caching]") {
		switch {
		case slices.Contains(contentChecks, name.text):
			c.fail(name.node, where, "checks entry %s needs no switch: such content always goes to who made it; remove the entry", name.text)
		case !slices.Contains(routingChecks, name.text):
			c.fail(name.node, where, "checks entry %s is not known; use %s", c.quote(name.text), orList(routingChecks))
		default:
			all = append(all, RoutingCheck(name.text))
		}
	}
	return all
}

// sticky reads Portkey's sticky sessions.
func (c *configReader) sticky(n *yaml.Node, where string, into *StickySettings) {
	o, ok := c.fixed(n, where, "sticky", keysIn[stickyShape]()...)
	if !ok {
		return
	}
	if where != "" {
		o.where += ", "
	}
	o.where += "sticky"
	setting(&o, "enabled", &into.Enabled, c.truth)
	setting(&o, "ttl", &into.TTL, c.stickyTime)
	if n := o.get("hash_fields"); n != nil {
		for _, name := range c.names(n, o.where, "hash_fields", "[metadata.user]") {
			if !isFieldPath(name.text) {
				c.fail(name.node, o.where, "hash_fields entry %s is not a field of a request; write names joined by dots, such as metadata.user", c.quote(name.text))
				continue
			}
			into.HashFields = append(into.HashFields, name.text)
		}
		if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			c.fail(n, o.where, "hash_fields is an empty list, so nothing would name a session; name at least one field, such as [metadata.user]")
		}
	}
}

// isFieldPath says whether text is names joined by dots.
func isFieldPath(text string) bool {
	if len(text) > maxPath {
		return false
	}
	for _, name := range strings.Split(text, ".") {
		if name == "" {
			return false
		}
	}
	return true
}

func (r *reader) stickyTime(n *yaml.Node, where, what string) (time.Duration, bool) {
	return r.duration(n, where, what, time.Second, 24*time.Hour)
}

// precedence says whether an explicit order goes ahead of the pin.
func (r *reader) precedence(n *yaml.Node, where, what string) (orderFirst, ok bool) {
	word, ok := r.choice(n, where, what, "pin", "order")
	return word == "order", ok
}

// subagents says whether they are sessions apart from their parent's.
func (r *reader) subagents(n *yaml.Node, where, what string) (apart, ok bool) {
	word, ok := r.choice(n, where, what, "shared", "separate")
	return word == "separate", ok
}

// fits judges settings by the profile they hold with: general is what holds for
// who does not say otherwise.
func (c *configReader) fits(said *saidBeside, general ProfileSettings) {
	if said.at != nil && !said.settings.Profile.IsSet() {
		return // which profile is meant is not known
	}
	all := said.settings.Over(general)
	profile, at := all.Profile.Or(ProfileWarmroute), said.at
	for _, key := range said.only {
		if key.of != profile {
			c.fail(key.node, said.where, "%s belongs to the profile %s, and the profile is %s; say profile: %[2]s, or remove it", key.name, key.of, profile)
			return
		}
		at = cmp.Or(at, key.node)
	}
	if said.sticky != nil && all.Sticky.Enabled.Or(false) && len(all.Sticky.HashFields) == 0 && valueOf(said.sticky, "hash_fields") == nil {
		c.fail(said.sticky, said.where, "hash_fields is missing in sticky; name the fields of a request that make a session, such as hash_fields: [metadata.user]")
	}
	if said.sticky != nil && len(all.Sticky.HashFields) > 0 && all.Sources != nil && !slices.Contains(all.Sources, SourceHashFields) {
		c.fail(said.sticky, said.where, "sticky has hash_fields and sources leaves them out, so they name nothing; add hash_fields to sources, or remove sources")
	}
	if off := all.OffUntil(); off != "" && at != nil {
		c.warn(at, said.where, "affinity is off until %s; so the profile %s has it", off, profile)
	}
}
