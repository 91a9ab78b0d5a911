package engine

import (
	"context"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// Stage says how far an attempt came.
//
// The zero Stage is refused: nothing was accepted.
type Stage string

// The stages of design section 1.
const (
	StageRefused   Stage = ""          // nothing accepted
	StageBroken    Stage = "broken"    // accepted, then failed
	StageAbandoned Stage = "abandoned" // the caller left
	StageServed    Stage = "served"
)

// String is the design's word for the stage.
func (s Stage) String() string {
	if s == StageRefused {
		return "refused"
	}
	return string(s)
}

// Failure says what kind of failure ended an attempt. It decides whether
// another candidate may be tried and whether the vendor's health is touched.
//
// The zero Failure is none.
type Failure string

// The failures.
const (
	FailureNone       Failure = ""
	FailureConnect    Failure = "connect"    // no connection, or it ended before an answer
	FailureTimeout    Failure = "timeout"    // no first byte in time
	FailureThrottled  Failure = "throttled"  // 429
	FailureServer     Failure = "server"     // 5xx, 408, 409, 3xx
	FailureCredential Failure = "credential" // 401, 402
	FailureForbidden  Failure = "forbidden"  // 403: of the credential, or of what this one request asks for
	FailureNotFound   Failure = "not_found"  // 404: the vendor does not know the model, or something else the request names
	FailureRequest    Failure = "request"    // the client's own mistake: 400, 413, 422 and other 4xx
	FailureStream     Failure = "stream"     // an error event inside an accepted stream
	FailureCut        Failure = "cut"        // the answer ended before its end
	FailureClientLeft Failure = "client_left"
	FailureShutdown   Failure = "shutdown" // the gateway ended before the answer did
)

// Reply is a vendor's refusal, kept so that the last one can be given to the
// client.
type Reply struct {
	Status     int
	Type       string // content type
	Body       []byte // at most 64 KiB
	RetryAfter string
	Header     map[string][]string // of the vendor's, what a client may have: its ids and limits
}

// Attempt is one try of one candidate.
type Attempt struct {
	Candidate   Candidate
	Stage       Stage
	Failure     Failure
	Status      int           // the vendor's; 0 where there was no answer
	Committed   bool          // something was sent to the client
	Answered    int           // status the client got, or gets if this attempt is the last; 499: it had left; set by Send
	RetryAfter  time.Duration // 0 where the vendor named none
	Reply       *Reply        // of a refusal; nil otherwise
	Usage       pricing.Usage
	Quality     pricing.Quality
	ReadUnknown bool           // the vendor did not say how much it read from its cache: that Usage says nothing was read is no miss
	ServedModel string         // what the vendor says it was; empty if it does not
	ServedTier  string         // service tier the vendor reports; empty if it does not
	Speed       string         // speed the vendor reports, such as "fast"; empty if it does not
	Region      string         // where the vendor says it computed; empty if it does not
	MarkersCut  int            // cache markers of the client's that the vendor refuses and was not sent; set by Serve
	Implicit    bool           // reads that were reported come from the vendor's own caching, at a vendor that tells it from marked prefixes
	Sides       []Side         // what the answer used besides Usage
	Charged     pricing.Charge // what the vendor says it charged
	RawUsage    []byte         // the usage object as it came but for text, at most [MaxRawUsage] bytes; the last one of a stream
	Said        Said           // what the assistant said, where [Try.Hears] asked for it and the answer is complete
	ResponseID  string         // id of a /v1/responses answer, by which a later request may continue it; empty for other answers
	Started     time.Time
	AcceptedAt  time.Time // zero unless accepted
	FirstByte   time.Duration
	Took        time.Duration
	Drained     int64        // bytes of the answer that were read on after the client had left
	Card        pricing.Card // the rates of the attempt's own moment and usage, where that is complete; set by Serve
	Cost        pricing.Cost // at that card; set by Serve
	TierAssumed bool         // the vendor named no tier, and the one asked for is not the ordinary one; set by Serve
	Priced      string       // catalog model whose rates Card holds, if not the candidate's own; set by Serve
	Elsewhere   string       // vendor known to have sealed what this one has refused: it alone is asked next; set by Serve
	Finding     int          // index in the decision's Models
	Cause       string       // for the log: what went wrong; never a prompt or a key
}

// MaxRawUsage is how many bytes of a usage object are kept; a longer one is not.
const MaxRawUsage = 8 << 10

// Side is what an answer used besides its own usage and is billed as well: an
// iteration of compaction, or another model that was asked for advice.
type Side struct {
	Kind  string // the vendor's word, such as "compaction"
	Model string // that did it, in the vendor's words; empty: the model of the answer
	Usage pricing.Usage
	Card  pricing.Card // set by Serve
}

// Used is all that the attempt used: its usage and its sides'.
func (a *Attempt) Used() pricing.Usage {
	used := a.Usage
	for i := range a.Sides {
		used = plus(used, a.Sides[i].Usage, 1)
	}
	return used
}

// Billable says whether the vendor may bill the attempt: it accepted it, or nobody
// can know that it did not, because the request was with it when the wait for its
// answer ended.
func (a *Attempt) Billable() bool {
	return a.Taken() || a.Stage == StageBroken || a.Stage == StageAbandoned || a.Failure == FailureTimeout
}

// Taken says whether the vendor took the attempt's prompt: its answer had begun.
func (a *Attempt) Taken() bool { return !a.AcceptedAt.IsZero() || a.Stage == StageServed }

// Try is the order to make one attempt.
type Try struct {
	TurnID    string
	Candidate Candidate
	Number    int // 1 for the first
	Session   Session
	Finding   Finding  // what affinity found for this candidate's model
	Hears     bool     // Attempt.Said is wanted
	Pass      []string // headers of the client that the vendor is sent as they came: see [Profile.Pass]
	Accepted  func()   // must be called once when 2xx headers have arrived, before anything is sent to the client

	// Heard may be called where Hears asks for it, with what was said and the id of the
	// response if it can be continued, before the client learns that the answer is over:
	// its next request may come at once. The attempt tells the same when it is over.
	Heard func(said Said, response string)

	// Made may be called after Accepted with content of the answer that only its maker
	// can read, such as the id of a response that can be continued, before the client
	// learns it: its next request may come at once. Attempt.ResponseID tells of a
	// response once more when the attempt is over.
	Made func(content Stateful)
}

// Send makes one attempt: it dials the candidate, relays its answer to the
// client if there is one, and says how it went. It sends the client nothing
// unless the vendor's answer has begun.
type Send func(ctx context.Context, try Try) Attempt

// Turn is one request and how it was answered: what the ledger is told.
type Turn struct {
	ID       string
	Tenant   string
	API      catalog.API
	Stream   bool
	Session  Session
	Target   string
	Scope    string
	Catalog  string // digest of the catalog in force when it began
	Started  time.Time
	Took     time.Duration
	Trial    bool // a hold-out was on, and the session might have been drawn
	Holdout  bool // it was: the turn ran without affinity
	Remote   bool // it was decided here and carried out by somebody else: see [Pending]
	Asked    Asked
	Plan     Plan
	Decision Decision
	Attempts []Attempt
}

// Last is the attempt that served or failed the turn; ok is false if none was made.
func (t *Turn) Last() (a *Attempt, ok bool) {
	if len(t.Attempts) == 0 {
		return nil, false
	}
	return &t.Attempts[len(t.Attempts)-1], true
}

// taken says whether some vendor took the turn's prompt.
func (t *Turn) taken() bool {
	for i := range t.Attempts {
		if t.Attempts[i].Taken() {
			return true
		}
	}
	return false
}

// Ledger is told of every turn once it is over. Record must not block and
// cannot fail the response.
type Ledger interface {
	Record(turn Turn)
}
