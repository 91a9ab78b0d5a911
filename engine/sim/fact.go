package sim

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// Fact is one turn that has ended, as the model needs it. It holds no prompt.
//
// A turn without a session is a fact of its own: it is put to a zero [Session].
type Fact struct {
	Scope    string
	Thread   uint64    // see [engine.Thread]; 0 where the session has only one
	At       time.Time // when the turn began
	Accepted time.Time // when the vendor that served it did; zero where that is not known
	Prompt   int64     // prompt tokens, estimated; used where none were reported
	Kept     Kept
	Forked   bool // the first of its thread, which shares its beginning with another
	Marks    Marks
	Outcome  engine.Outcome // of the model that served, or was tried last
	Detail   engine.Detail
	Offers   []Offer // the plan's own order, before affinity
	Removed  []Offer // routes that the plan left out, as far as they are known: what would have been paid there
	Tries    []Try   // the attempts, in the order in which they were made
}

// Kept is how much a prompt has in common with the last of its thread, from the
// beginning, that one's answer counted as part of it: whichever model, scope or
// vendor that went to. The zero Kept is not known: the prompt is then taken to
// continue the last one, as far as it reaches.
type Kept struct {
	Known  bool
	Tokens int64 // 0: nothing; the client has rewritten the beginning
}

// ID tells candidates apart: the account of a vendor that a cache belongs to. IDs of
// one vendor begin with the same 32 bits.
type ID uint64

// Name is the ID of a candidate. It is the same in every process and version.
func Name(vendor, credential string, group engine.Group) ID {
	h := text(fnvOffset, vendor)
	return ID(mix(h)&^0xffff_ffff | mix(text(text(h, credential), string(group)))>>32)
}

// SameVendor says whether both are accounts of one vendor.
func (id ID) SameVendor(other ID) bool { return id>>32 == other>>32 }

// Offer is one candidate of a plan, as it stood on this turn.
type Offer struct {
	Model string
	ID    ID
	Down  bool
	Rules Rules
	Card  pricing.Card // for a prompt of the size that was reported, at the turn's own moment
}

// Try is one attempt as it really went.
type Try struct {
	Offer   int       // index into the fact's Offers; -1 if it is none of them
	Started time.Time // zero: when the turn began
	Taken   bool      // its answer had begun: the vendor processed the prompt
	Billed  bool      // the vendor may bill it
	Silent  bool      // its usage does not say what was read from the cache
	Usage   pricing.Usage
	Quality pricing.Quality
	Card    pricing.Card // what it was billed at
	Cost    Money        // all of it

	// Beside is the part of Cost that is not the usage's, such as another model that
	// was asked for advice. It is taken to cost the same in both worlds.
	Beside decimal.Decimal
}

// Money is an amount in the catalog's currency. The zero Money is unknown, not zero.
type Money struct {
	Known  bool
	Amount decimal.Decimal
}

// Known is money of a known amount.
func Known(amount decimal.Decimal) Money { return Money{Known: true, Amount: amount} }

// plus is both together; unknown if either is.
func (m Money) plus(other Money) Money {
	if !m.Known || !other.Known {
		return Money{}
	}
	return Known(m.Amount.Add(other.Amount))
}

// minus is m without other; unknown if either is.
func (m Money) minus(other Money) Money {
	if !m.Known || !other.Known {
		return Money{}
	}
	return Known(m.Amount.Sub(other.Amount))
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// text continues an FNV-1a hash with a text and its length, so that parts cannot
// reach into one another.
func text(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	for n := uint64(len(s)) + 1; n > 0; n >>= 8 {
		h = (h ^ n&0xff) * fnvPrime
	}
	return h
}

// mix spreads a hash over all of its bits.
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	return h ^ h>>33
}
