package engine

import (
	"context"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// BookState says whether a turn's end has been booked.
//
// The zero BookState is unsettled: the turn was begun, and if the process that
// served it has ended, it never settled.
type BookState string

// The states of a booked turn.
const (
	Unsettled BookState = ""
	Settled   BookState = "settled"
)

// Booked is a turn as the ledger keeps it: what was decided, who was tried, what
// that used and what it cost at the prices of its own moment. It holds no prompt,
// no key, and of a credential only the id.
type Booked struct {
	ID        string
	State     BookState
	Tenant    string
	Client    string
	API       catalog.API
	Stream    bool
	Session   string // id as kept; empty without a session
	Class     Class
	Parent    string
	Target    string
	Scope     string
	Catalog   string // digest: the version of the prices
	Started   time.Time
	Took      time.Duration
	Model     string // that served, or was tried last
	Outcome   Outcome
	Detail    Detail
	Pinned    string
	Displaced string
	Gate      catalog.Gate
	Verdict   pricing.Verdict
	Prompt    Estimate
	Trial     bool              // a hold-out was on, and the session might have been drawn: see [Holdout]
	Holdout   bool              // it was: the turn ran without affinity
	Order     []BookedCandidate // of the plan, before affinity: what the turn would have done without it
	Attempts  []BookedAttempt
	Miss      string // why it read less than it could have, in the words of the auditor; empty: it did not, or nobody looked
	Audit     []byte // the auditor's verdict, in its own form; nil where there is none
}

// BookedCandidate is one candidate of a plan's own order.
type BookedCandidate struct {
	Model, Vendor, Credential string
	Group                     Group
	Down                      bool
}

// BookedAttempt is one attempt and its money.
type BookedAttempt struct {
	Model, Vendor, Credential string
	Group                     Group
	Stage                     Stage
	Failure                   Failure
	Status                    int
	Started                   time.Time
	Accepted                  bool // by the vendor, or nobody can know that it was not: it may bill
	FirstByte                 time.Duration
	Took                      time.Duration
	Usage                     pricing.Usage
	Quality                   pricing.Quality
	Card                      pricing.Card   // the rates it is billed at; unknown throughout where no usage was reported
	Cost                      pricing.Cost   // of usage and sides; unknown unless the usage is complete
	Saving                    pricing.Saving // net cache saving
	ServedModel               string
	ServedTier                string
	TierAssumed               bool         // the vendor named no tier; Card is that of the one asked for
	Priced                    string       // catalog model whose price Card is, where another than Model served; empty otherwise
	Speed, Region             string       // as the vendor reported them
	MarkersCut                int          // cache markers of the client's that the vendor refuses and was not sent
	Implicit                  bool         // reads came from the vendor's own caching
	ReadUnknown               bool         // the vendor did not say how much it read from its cache; Usage says nothing was
	Sides                     []BookedSide // what the answer used besides Usage
	Charged                   pricing.Charge
	RawUsage                  []byte // the usage object as the vendor sent it, less text; nil where it sent none, or one too long to keep
}

// BookedSide is what an answer used besides its own usage, with its own rates.
type BookedSide struct {
	Kind, Model string
	Usage       pricing.Usage
	Card        pricing.Card
}

// Sums are what booked turns come to. They add up field by field, so that the
// sums of a day are the sums of its hours.
type Sums struct {
	Turns        int64
	Unsettled    int64 // turns begun and not ended
	Failed       int64 // turns that ended with no attempt served, those the caller left among them
	Attempts     int64
	Billed       int64           // attempts that a vendor accepted, or may have accepted: it may bill them
	UsageKnown   int64           // billed attempts whose usage is complete
	CostKnown    int64           // billed attempts whose cost is known
	SavingKnown  int64           // billed attempts whose net cache saving is known
	Hits         int64           // billed attempts with complete usage that read from a cache
	NoCachePrice int64           // billed attempts with a bucket at the input rate for want of its own
	Usage        pricing.Usage   // of the attempts whose usage is complete
	Cost         decimal.Decimal // of those whose cost is known: a lower bound while CostKnown < Billed
	Saving       decimal.Decimal // of those whose saving is known
	PromptCost   decimal.Decimal // the part of Cost that prompts cost
	PricedPrompt int64           // prompt tokens of the attempts whose cost is known
	ReadUnknown  int64           // attempts whose usage is complete but for what was read from the cache: no misses
	UnreadPrompt int64           // their prompt tokens, which no hit rate counts
	ChargedKnown int64           // attempts whose cost is known and of which the vendor itself says what it charged
	Charged      decimal.Decimal // what it says, of those
	ChargedCost  decimal.Decimal // the part of Cost that stands beside Charged
}

// Query says which booked turns are meant. The zero Query is all of them.
//
// In a list of turns, Model and Vendor are those of the last attempt. An
// [Overview] counts attempts as well: there they mean every attempt of that model
// at that vendor, whoever served its turn, and the turns that it was the last of.
type Query struct {
	Tenant   string    // empty: every tenant
	From, To time.Time // From inclusive, To exclusive, by the start of the turn; zero: no bound
	Model    string
	Vendor   string
	Outcome  Outcome
	Class    Class
	Session  string
	// Miss is a cause of misses, or [AnyMiss]. It is asked of settled turns only, in a
	// list of turns; no overview or account can be asked for by it.
	Miss string
}

// AnyMiss is every cause of misses in a [Query].
const AnyMiss = "any"

// Page is a part of a list. The zero Page is its beginning.
type Page struct {
	After string // where the last page ended, as it said
	Limit int    // 0 means 100; at most 1,000
}

// Slot is the sums of one stretch of time.
type Slot struct {
	Start time.Time
	Sums  Sums
}

// OutcomeSums is the sums of the turns with one outcome and of their attempts.
type OutcomeSums struct {
	Outcome Outcome
	Sums    Sums
}

// RouteSums is what stands at one vendor for one model: the attempts made there,
// what they used, cost and saved, whatever became of their turns; and the turns
// whose last attempt was one of them.
type RouteSums struct {
	Vendor, Model string
	Sums          Sums
}

// Overview is the books of a query at a glance. Total is the sum of Outcomes, of
// Routes, and of Series.
//
// Without a vendor and a model in the query, Total is the sum of [Sum] over the
// turns that are meant. With them, it and its parts are those routes' alone: there
// may be attempts without a turn, of turns that went on elsewhere, and turns without
// the attempts that they made elsewhere.
type Overview struct {
	Query    Query // as answered: its bounds are wider than asked where the books no longer tell finer stretches apart
	Total    Sums
	Outcomes []OutcomeSums // in the order of the ladder
	Routes   []RouteSums   // by model, then vendor
	Width    time.Duration // of a slot: a minute, an hour or a day
	Series   []Slot        // oldest first; slots without a turn or an attempt are left out
	// Before Minutes, turns are told apart by the hour only, and before Hours by the
	// day in UTC: no slot of the series is narrower there. Zero: by the minute always.
	Hours, Minutes time.Time
}

// SessionBook is one session's turns at a glance.
type SessionBook struct {
	Tenant      string
	Class       Class
	ID          string
	Client      string
	Parent      string
	First, Last time.Time // start of the first turn, end of the last
	Models      []string  // in the order in which they were first served, at most 32
	Latest      []string  // vendor that served each of Models last
	Vendors     []string  // of the last turns that were served, oldest first, at most 32: the path
	Switches    int64     // turns served by another vendor than the turn before, for the same model
	Sums        Sums
	Account     []byte // the auditor's, of its settled turns; nil where nobody judges turns
}

// Intents is told of every attempt before it is made, so that a turn which a
// crash cuts short is known. Intend returns once the intent would survive the
// end of the process, or when ctx ends; an error means it might not, and the turn
// goes on all the same.
type Intents interface {
	Intend(ctx context.Context, turn *Turn, next Candidate) error
}

// Books are what a ledger can be asked. Answers are consistent: what one call
// returns was true at one moment. The error is ctx's when it ends first,
// [ErrPage] or [ErrQuery]. Methods may be called from several goroutines.
//
// A query with a tenant is answered from that tenant's turns alone.
type Books interface {
	// Overview adds up the turns and attempts that are meant. Width is a minute, an
	// hour or a day, in UTC; anything else is an hour.
	Overview(ctx context.Context, q Query, width time.Duration) (Overview, error)
	// Accounts adds up what an auditor said of the turns that are meant. Without an
	// auditor there is nothing to add up. It cannot be asked for a session or a class.
	Accounts(ctx context.Context, q Query, width time.Duration) (Accounts, error)
	// Turns lists turns, newest start first. next is empty at the end of the list.
	Turns(ctx context.Context, q Query, p Page) (turns []Booked, next string, err error)
	// Turn finds one turn of one tenant.
	Turn(ctx context.Context, tenant, id string) (turn Booked, found bool, err error)
	// Sessions lists sessions, most recently active first: those whose last turn
	// ended inside the query's bounds. They cannot be asked for by outcome. Each
	// page is of its own moment: a session that is active between two pages moves
	// ahead of where the list goes on, and may so be missed. The first page, asked
	// for again, has it.
	Sessions(ctx context.Context, q Query, p Page) (sessions []SessionBook, next string, err error)
	// Session finds one session of one tenant.
	Session(ctx context.Context, tenant string, class Class, id string) (session SessionBook, found bool, err error)
}
