package engine

import (
	"net/http"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// Request is what one client request says of itself, as far as a decision can
// depend on it. Package routes/wire fills the part that stands in the body.
type Request struct {
	Tenant  string
	Rules   Rules // the tenant's
	API     catalog.API
	Header  http.Header // of the client's request
	Target  string      // the model or policy asked for
	Models  []string    // further targets to fall back to: the body's `models`
	Only    []string    // vendors; empty: all
	Ignore  []string
	Order   []string
	Tags    []string // a route must carry all of them, its vendor's counted: what a privacy setting of the request asks for
	AnyTags []string // a route must carry one of them, where there are any: the quantizations of the request
	Sort    catalog.Sort
	Stream  bool
	Service string // service tier asked for; empty if none
	Speed   string // body speed, such as "fast"; empty if none
	Region  string // where the vendor is told to compute: body inference_geo; empty if nowhere

	OptionID     string        // body providerOptions.gateway.sessionId
	BodyID       string        // body session_id
	BodyCamelID  string        // body sessionId
	CacheKey     string        // body prompt_cache_key
	MetadataUser string        // body metadata.user_id
	AffinityOff  bool          // sessionAffinity: false, or the header x-warmroute-affinity: off
	TextBytes    int64         // bytes of text in the prompt, base64 not counted
	Markers      int           // cache_control markers in the body
	MarkerTTL    time.Duration // longest lifetime a marker asks for; 0 where none names one
	LongMarkers  int           // of Markers, those that ask for an hour or more
	History      int           // turns of the conversation that is sent which were answered before
	StableBytes  int64         // those of TextBytes that are tools and system text
	Retention    time.Duration // prompt_cache_retention or prompt_cache_options.ttl; 0 if none

	Key      string        // SHA-256 in hex of the gateway key that was presented; empty where none is asked for
	OwnKeys  []OwnKey      // vendors for which the caller brought or stored a key of its own; only where its tenant may
	MaxPrice MaxPrice      // what a route may charge at most
	Strict   bool          // only routes whose vendor is sent every member of the body
	NoBackup bool          // only vendors of the order, or where there is none the first vendor of each model
	Caching  bool          // caching: auto; markers are placed where the route needs them
	CacheTTL time.Duration // cache_ttl, of the markers that are placed; 0: not said

	PreviousResponse string     // body previous_response_id; empty if none
	Stateful         []Stateful // what else only its maker can read, at most [MaxStateful]: the last sealed piece of each kind, and ids
	Unstored         bool       // store: false; the response cannot be continued

	// Ignored are the members of the body's routing settings that mean nothing here, such
	// as "provider.preferred_max_latency", and vendors it names that there are not: printable, at most [MaxIgnored] of them.
	Ignored []string

	// Opening is the body's first words; it is asked when nothing else named the
	// session. nil means the body has none.
	Opening func() Opening
	// Words is Opening without the tools, which cost the most to read; it is
	// asked to tell the threads of a session apart. nil: Opening is asked.
	Words func() Opening
	// Has says whether the body has a top-level member of this name. nil: it cannot be told.
	Has func(member string) bool
	// Field reads a field of the body by its dotted path, such as "metadata.user";
	// ok is false where it is missing or no plain value. nil: none can be read.
	Field func(path string) (value string, ok bool)
	// Last is the last assistant turn in the conversation that is sent; it is asked
	// where a chain of turns may name the session. nil: there is none.
	Last func() Said
	// MarkedPrefix hashes the prompt up to its last cache marker. ok is false without
	// a marker; tokens is an estimate. nil: there is none.
	MarkedPrefix func() (hash string, tokens int64, ok bool)
	// Prefix marks the boundaries of the prompt; it is asked after the answer, while
	// the body is still there. nil: they cannot be told.
	Prefix func() Prefix
}

// Opening is how a conversation begins: what a fingerprint is made of.
//
// Texts are decoded blocks in order; a plain string is one block.
type Opening struct {
	System    [][]byte // first system or developer message
	First     [][]byte // first other message
	FirstUser [][]byte // first message of a user
	Tools     []Tool
}

// Tool is one tool of a request: decoded name and description, raw JSON schema.
type Tool struct{ Name, Description, Schema []byte }

// Said is an assistant turn by its hashes: SHA-256 in hex of its text, line endings
// made one, and everything but text and the white space around it left out, and of its
// sorted tool-call ids. Each is empty where the turn has none.
type Said struct{ Text, Tools string }

// OwnKey says that the caller has a key of its own for a vendor.
type OwnKey struct {
	Vendor string
	ID     string // what a pin and the books know it by: see [OwnKeyID]
}

// MaxPrice limits what a route may charge, in the catalog's currency. A rate that is
// not known is no limit. Request is per million requests, as [pricing.Card.Request] is.
type MaxPrice struct {
	Input, Output, CacheRead, Request pricing.Rate
}

// Limited says whether there is a limit at all.
func (m *MaxPrice) Limited() bool {
	return m.Input.Known() || m.Output.Known() || m.CacheRead.Known() || m.Request.Known()
}

// Allows says whether a card keeps the limits. A price that is not known cannot be
// shown to keep one; an unknown cache-read price is judged by the input price, which
// would be billed in its place, and no fee of a request is a fee of zero.
func (m *MaxPrice) Allows(card pricing.Card) bool {
	read := card.CacheRead
	if !read.Known() {
		read = card.Input
	}
	keeps := func(limit, rate pricing.Rate) bool {
		return !limit.Known() || rate.Known() && !limit.Below(rate)
	}
	return keeps(m.Input, card.Input) && keeps(m.Output, card.Output) && keeps(m.CacheRead, read) &&
		(!card.Request.Known() || keeps(m.Request, card.Request))
}
