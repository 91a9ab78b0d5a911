package engine

import (
	"net/http"
	"time"

	"github.com/warmroute/warmroute/catalog"
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
	Sort    catalog.Sort
	Stream  bool
	Service string // service tier asked for; empty if none
	Speed   string // body speed, such as "fast"; empty if none
	Region  string // where the vendor is told to compute: body inference_geo; empty if nowhere

	OptionID     string        // body providerOptions.gateway.sessionId
	BodyID       string        // body session_id, else sessionId
	CacheKey     string        // body prompt_cache_key
	MetadataUser string        // body metadata.user_id
	AffinityOff  bool          // sessionAffinity: false, or the header x-warmroute-affinity: off
	Origin       string        // why only the route that made some content can read it, such as "previous_response_id"; empty if none
	TextBytes    int64         // bytes of text in the prompt, base64 not counted
	Markers      int           // cache_control markers in the body
	MarkerTTL    time.Duration // longest lifetime a marker asks for; 0 where none names one
	Retention    time.Duration // prompt_cache_retention or prompt_cache_options.ttl; 0 if none

	PreviousResponse string // body previous_response_id; empty if none
	Unstored         bool   // store: false; the response cannot be continued

	// Opening is the body's first words; it is asked when nothing else named the
	// session. nil means the body has none.
	Opening func() Opening
	// Words is Opening without the tools, which cost the most to read; it is
	// asked to tell the threads of a session apart. nil: Opening is asked.
	Words func() Opening
	// Prefix marks the boundaries of the prompt; it is asked after the answer, while
	// the body is still there. nil: they cannot be told.
	Prefix func() Prefix
}

// originResponse is the Origin of a request that continues a stored response.
const originResponse = "previous_response_id"

// Opening is how a conversation begins: what a fingerprint is made of.
//
// Texts are decoded blocks in order; a plain string is one block.
type Opening struct {
	System [][]byte // first system or developer message
	First  [][]byte // first other message
	Tools  []Tool
}

// Tool is one tool of a request: decoded name and description, raw JSON schema.
type Tool struct{ Name, Description, Schema []byte }
