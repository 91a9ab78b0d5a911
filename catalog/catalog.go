package catalog

import (
	"net/url"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/pricing"
)

// API is a dialect a client speaks and a vendor understands.
type API string

// The three client APIs.
const (
	Chat      API = "chat"      // POST /v1/chat/completions
	Responses API = "responses" // POST /v1/responses
	Messages  API = "messages"  // POST /v1/messages
)

// Path is what follows a vendor's base URL for this API.
func (a API) Path() string {
	switch a {
	case Chat:
		return "/chat/completions"
	case Responses:
		return "/responses"
	case Messages:
		return "/messages"
	}
	return ""
}

// Family says how a vendor's prompt cache comes about.
type Family string

// The cache families.
const (
	Implicit Family = "implicit" // the vendor caches by itself
	Explicit Family = "explicit" // the request must carry cache_control markers
	None     Family = "none"     // nothing is cached
)

// Catalog is one whole, valid catalog file.
type Catalog struct {
	Currency string
	Vendors  []*Vendor // in the order of the file, as are models and policies
	Models   []*Model
	Policies []*Policy
	Digest   string // SHA-256 of the text in hex: the version of the prices
	Path     string // the file it was read from, as named by the caller
	// Warnings are what a reader should know and what does not make the catalog invalid.
	Warnings []Problem

	silenced []Silenced        // warnings that the file calls meant
	targets  map[string]Target // names, aliases and policies: one namespace
	vendors  map[string]*Vendor
	keys     Keys      // how its keys were looked up; a reload does it the same way
	loaded   time.Time // when it was read from its file; zero if it was not
}

// Target is what a client asked for: a model or a policy.
type Target struct {
	Policy *Policy  // nil for a model asked for directly
	Models []*Model // in order; never empty
	Sort   Sort     // that the name itself asked for, as OpenRouter's :floor does; the catalog never sets it
}

// Scope is the policy's name, or empty for a model asked for directly.
func (t Target) Scope() string {
	if t.Policy == nil {
		return ""
	}
	return t.Policy.Name
}

// Resolve finds the target a client named: a model, one of its aliases or a
// policy, exactly and case-sensitively. Absence is ok == false.
func (c *Catalog) Resolve(name string) (target Target, ok bool) {
	target, ok = c.targets[name]
	return target, ok
}

// Vendor finds a vendor by name.
func (c *Catalog) Vendor(name string) (vendor *Vendor, ok bool) {
	vendor, ok = c.vendors[name]
	return vendor, ok
}

// Vendor is an endpoint that serves models under our accounts.
type Vendor struct {
	Name         string
	Index        int   // place in the catalog; ties break by it
	API          []API // what it speaks
	BaseURL      *url.URL
	Auth         Auth
	Credentials  []Credential // empty: the vendor is called without a key
	Headers      []Header     // sent with every request, in the order of the file
	Cache        CacheRules   // what its routes inherit
	Hints        []Hint
	Usage        string // usage convention, such as "openai", or the one its own is like; empty: by the API; see UsageOf
	Tags         []string
	Accepts      []string // request members of ours that it understands
	Refuses      []string // request members it must never be sent
	AllowPrivate bool     // its address may be loopback or private
	Line         int

	served   map[string]*Route // by the vendor's own id of the model
	counting map[API]*Usage    // how it counts, where the catalog says more than a name
}

// Speaks says whether the vendor understands this client API.
func (v *Vendor) Speaks(api API) bool {
	for _, a := range v.API {
		if a == api {
			return true
		}
	}
	return false
}

// Auth says where the credential goes: a header of its own, or a bearer token.
//
// The zero Auth is a bearer token.
type Auth struct {
	Header string
}

// Header is one request header.
type Header struct{ Name, Value string }

// Hint is what is sent to help a vendor's own cache routing.
type Hint struct {
	Header string // the request header that carries the session; empty for Member
	Member string // the body member that carries it, such as prompt_cache_key
	Raw    bool   // send the session id as it is; else a keyed hash of it
	API    []API  // only with requests of these; empty: all
}

// For says whether the hint is sent with requests of this API.
func (h *Hint) For(api API) bool { return len(h.API) == 0 || slices.Contains(h.API, api) }

// Credential is one key of a vendor, named by where it is kept.
//
// The key itself is read by [Credential.Secret] at the time the catalog is
// loaded and is never printed.
type Credential struct {
	ID     string
	Env    string // environment variable that holds the key
	File   string // or the file that does
	secret Secret
	loaded bool
}

// Secret is the key; ok is false where the environment variable or file had
// none when the catalog was read, in which case the credential is left out of
// every plan.
func (c *Credential) Secret() (secret Secret, ok bool) { return c.secret, c.loaded }

// CacheRules are what is known of a route's prompt cache.
type CacheRules struct {
	Family    Family
	TTL       time.Duration // how long an unused entry is kept; set on every route
	MinPrefix int64         // fewest tokens that are cached; 0 where none is documented
	Stated    bool          // TTL stands in the file; else it comes from the table of vendors
}

// UndocumentedMinPrefix is the minimum assumed where none is documented.
// Source: the Vercel page, "Minimum prompt size".
const UndocumentedMinPrefix = 256

// Minimum is the fewest prompt tokens worth pinning for.
func (r CacheRules) Minimum() int64 {
	if r.MinPrefix == 0 {
		return UndocumentedMinPrefix
	}
	return r.MinPrefix
}

// Model is a public name and the routes that serve it.
type Model struct {
	Name    string
	Index   int
	Aliases []string
	Context int64    // tokens; 0 where not stated
	Tags    []string // every route of the model carries them
	Routes  []*Route // in the order of the file, disabled ones included
	Line    int
}

// CacheCapable says whether any route in use caches prompts.
func (m *Model) CacheCapable() bool {
	for _, r := range m.Routes {
		if r.Disabled == "" && r.Cache.Family != None {
			return true
		}
	}
	return false
}

// Route is one (model, vendor) pair.
type Route struct {
	Model         *Model
	Vendor        *Vendor
	Index         int    // place in the model
	UpstreamModel string // the vendor's own id
	Price         pricing.Price
	Cache         CacheRules
	Tags          []string
	Disabled      string // why it is in the file and out of every plan; empty: in use
	Line          int
}

// Carries says whether the route has all of these tags, its vendor's and its model's
// counted.
func (r *Route) Carries(tags []string) bool {
	for _, tag := range tags {
		if !slices.Contains(r.Tags, tag) && !slices.Contains(r.Vendor.Tags, tag) && !slices.Contains(r.Model.Tags, tag) {
			return false
		}
	}
	return true
}

// Sort is how the routes of a model are put in order.
//
// The zero Sort is the order of the catalog.
type Sort string

// The orders a policy or a request may ask for.
const (
	CatalogOrder Sort = ""
	ByPrice      Sort = "price"      // the lowest input rate first
	ByBlended    Sort = "blended"    // the lowest input rate at the hit rate that turns have shown
	ByLatency    Sort = "latency"    // the shortest time to the first byte that turns have shown
	ByThroughput Sort = "throughput" // the most output tokens per second that turns have shown
	ByWeight     Sort = "weighted"   // drawn anew for every turn, in proportion to the policy's weights
)

// Gate is the economic test a pin must pass to be promoted.
//
// The zero Gate leaves the choice to the next wider setting; at the end of the
// line it is cache_read.
type Gate string

// The gates of design section 6.
const (
	GateCacheRead Gate = "cache_read"
	GateOwnPrice  Gate = "own_price"
	GateOff       Gate = "off"
	GateWarm      Gate = "warm"
	GateExpected  Gate = "expected"
)

// Affinity is what a policy says about pins.
type Affinity struct {
	Gate       Gate
	OrderFirst bool // precedence: order; else the pin goes ahead of an explicit order
	Precedence bool // it is said which goes first; else the profile says
	Off        bool
	CacheTTL   CacheTTL // of the markers that `caching: auto` places
}

// Policy is a named target: models in order, with filters and an ordering.
type Policy struct {
	Name     string
	Index    int
	Models   []*Model
	Order    []string // vendor names; the others follow in catalog order
	Sort     Sort
	Weights  []Weight // of ByWeight, in the order of the file; each vendor once
	Only     []string
	Ignore   []string
	MaxInput pricing.Rate // max_price.input; unknown: no limit
	MaxRead  pricing.Rate
	MaxOut   pricing.Rate
	Tags     []string // a route must carry all of them, see [Route.Carries]
	Affinity Affinity
	Line     int
}

// Weight is a vendor's share of the turns of a policy that is sorted [ByWeight], in
// proportion to the other weights. It is more than zero.
type Weight struct {
	Vendor string
	Weight decimal.Decimal
}

// Weight is the policy's weight of a vendor; ok is false where it has none.
func (p *Policy) Weight(vendor string) (weight decimal.Decimal, ok bool) {
	for i := range p.Weights {
		if p.Weights[i].Vendor == vendor {
			return p.Weights[i].Weight, true
		}
	}
	return decimal.Decimal{}, false
}

// Allows says whether a card keeps the policy's max_price. A rate that is not known
// cannot be shown to keep a limit; only an unknown cache-read rate is judged by what
// would be billed in its place, the input rate.
func (p *Policy) Allows(card pricing.Card) bool {
	read := card.CacheRead
	if !read.Known() {
		read = card.Input
	}
	keeps := func(limit, rate pricing.Rate) bool {
		return !limit.Known() || rate.Known() && !limit.Below(rate)
	}
	return keeps(p.MaxInput, card.Input) && keeps(p.MaxRead, read) && keeps(p.MaxOut, card.Output)
}

// Limited says whether the policy has a max_price at all.
func (p *Policy) Limited() bool {
	return p.MaxInput.Known() || p.MaxRead.Known() || p.MaxOut.Known()
}
