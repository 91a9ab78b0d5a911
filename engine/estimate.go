package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// The bases of an [Estimate].
const (
	BasisReported  = "reported+new_text" // the thread's last report, and a quarter of the bytes that are new
	BasisTextBytes = "text_bytes"        // a quarter of the bytes of text
)

// bytesPerToken is what an estimate takes a token to be; the context filter
// takes twice as many, so that it never drops a route that might have held the
// prompt (design section 4).
const (
	bytesPerToken     = 4
	bytesPerTokenMost = 8
)

// EstimatePrompt says how many tokens the request's prompt has, as far as the last
// report tells: the prompt that was reported and what came on top of it. That is
// the text that is new since then, the answer it sends back included, and at least
// as much as was reported of that answer.
//
// last is the newest entry of the request's thread whose usage is known, the zero
// Entry if there is none. A prompt with less text than it had is not its
// continuation and is judged by its own text alone. A request that continues a
// stored response holds only what is new: it comes on top of prompt and answer.
func EstimatePrompt(r *Request, last Entry) Estimate {
	text := r.TextBytes / bytesPerToken
	switch {
	case !last.Reported:
	case r.continues():
		return Estimate{Tokens: last.Prompt + last.Output + text, Basis: BasisReported}
	case r.TextBytes >= last.TextBytes:
		added := (r.TextBytes - last.TextBytes) / bytesPerToken
		return Estimate{Tokens: last.Prompt + max(last.Output, added), Basis: BasisReported}
	}
	return Estimate{Tokens: text, Basis: BasisTextBytes}
}

// The lifetimes of design section 4.
const (
	MaxLifetime    = time.Hour        // of a pin, however long the cache lives
	LifetimeMargin = 15 * time.Second // a pin ends this much before its cache
	otherLifetime  = 5 * time.Minute  // where neither the catalog nor the request names one
)

// Lifetime is how long the route's cache keeps what this request puts there: what
// the request asks for where the route honours it, else what the catalog says.
//
// Routes that need cache markers honour the longest lifetime a marker names; OpenAI
// and Azure honour retention. A lifetime within the margin could never be used and
// is not taken as asked for.
func Lifetime(r *Request, route *catalog.Route) time.Duration {
	if asked := askedLifetime(r, route); asked > 0 {
		return asked
	}
	return catalogLifetime(route)
}

// askedLifetime is what the request asks for and the route honours; 0 if nothing.
func askedLifetime(r *Request, route *catalog.Route) time.Duration {
	var asked time.Duration
	switch {
	case route.Cache.Family == catalog.Explicit:
		if r.Markers > 0 {
			asked = r.MarkerTTL
		}
	case honoursRetention(route.Vendor):
		asked = r.Retention
	}
	if asked > LifetimeMargin {
		return asked
	}
	return 0
}

// catalogLifetime is what the catalog says, by its text or its table of vendors.
func catalogLifetime(route *catalog.Route) time.Duration {
	if route.Cache.TTL > 0 {
		return route.Cache.TTL
	}
	return otherLifetime
}

// ExpiryOf is when a pin accepted at this time ends by the default profile: shortly
// before the cache does, and never later than an hour. Others: see [Window.Ends].
func ExpiryOf(acceptedAt time.Time, lifetime time.Duration) time.Time {
	return acceptedAt.Add(min(lifetime, MaxLifetime) - LifetimeMargin)
}

// retention is the request member by which a client asks OpenAI and Azure for a
// longer lifetime.
const retention = "prompt_cache_retention"

// honoursRetention says whether the vendor is OpenAI or Azure, by its name or a
// name that begins with it ("azure-eastus"), or says that it accepts the member;
// refusing it overrides both.
func honoursRetention(v *catalog.Vendor) bool {
	if slices.Contains(v.Refuses, retention) {
		return false
	}
	name, _, _ := strings.Cut(strings.ToLower(v.Name), "-")
	return name == "openai" || name == "azure" || slices.Contains(v.Accepts, retention)
}
