package wire

import (
	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// RefusedError is a request body that cannot be routed: not JSON, a routing key
// twice or escaped, a member of the wrong type. Its text is for the client.
type RefusedError struct{ Message string }

func (e *RefusedError) Error() string { return e.Message }

// Request is a client's body and the offsets of what routing looks at. It
// refers to the body's bytes, which must not change while it is in use.
type Request struct {
	API    catalog.API
	Body   []byte
	Stream bool
	// AsksUsage: the client set stream_options.include_usage itself (true or false).
	UsageAsked, UsageWanted bool
	facts                   engine.Request
}

// ReadRequest scans a body once; the error is a *RefusedError.
func ReadRequest(api catalog.API, body []byte) (*Request, error) { panic("seam") }

// Facts is what the body says that a decision depends on. Tenant and Header are left to the caller.
func (r *Request) Facts() engine.Request { return r.facts }

// Edits are what is changed in a body for one candidate.
type Edits struct {
	Model    string   // the vendor's own id
	Accepts  []string // members of ours the vendor understands, left in
	Refuses  []string // members the vendor must never be sent, cut out
	AskUsage bool     // append stream_options.include_usage: true if the client said nothing of it
	CacheKey string   // append prompt_cache_key unless the client sent one; empty: do not
}

// Upstream appends the edited body to dst and returns it.
func (r *Request) Upstream(dst []byte, e Edits) []byte { panic("seam") }

// RelayOptions say how one streamed answer is passed on.
type RelayOptions struct {
	API       catalog.API
	Usage     string // usage convention of the vendor; empty: by the API
	Metadata  []byte // JSON value of provider_metadata to put in; nil: none
	HideUsage bool   // the client did not ask for usage that we asked for
}

// Relay passes one event stream on and watches it. It is used by one goroutine.
type Relay struct{}

func NewRelay(o RelayOptions) *Relay { panic("seam") }

// Feed takes what arrived and returns what the client may have now: whole
// events, valid until the next call.
func (r *Relay) Feed(chunk []byte) []byte { panic("seam") }

// Finish is called at the vendor's clean end of stream and returns what was held.
func (r *Relay) Finish() []byte { panic("seam") }

// Began says whether an event that is neither a comment nor a ping has come.
func (r *Relay) Began() bool { panic("seam") }

// Done says whether the dialect's terminal event has come ([DONE],
// message_stop, response.completed/incomplete/failed).
func (r *Relay) Done() bool { panic("seam") }

// Failed is the error event the vendor sent inside the stream, nil if none.
func (r *Relay) Failed() *StreamError { panic("seam") }

// StreamError is an error event.
type StreamError struct{ Type, Message string }

// Usage is what the stream has reported so far.
func (r *Relay) Usage() (pricing.Usage, pricing.Quality) { panic("seam") }

// Served is the model and service tier the vendor says it used; empty if it does not.
func (r *Relay) Served() (model, tier string) { panic("seam") }

// JSONAnswer is a whole JSON answer, read and edited.
type JSONAnswer struct {
	Body    []byte // for the client
	Usage   pricing.Usage
	Quality pricing.Quality
	Model   string
	Tier    string
}

// JSONResponse reads a whole 2xx JSON answer and puts the metadata in.
func JSONResponse(o RelayOptions, body []byte) JSONAnswer { panic("seam") }

// CutEvent is the event that tells a client of this dialect that its stream was cut.
func CutEvent(api catalog.API, message string) []byte { panic("seam") }

// ErrorBody is an error answer in the client's dialect.
func ErrorBody(api catalog.API, status int, kind, message string) []byte { panic("seam") }

// Metadata renders provider_metadata for a finding.
func Metadata(s engine.Session, f engine.Finding) []byte { panic("seam") }
