package engine

import (
	"context"
	"time"
)

// The bounds of a record (design section 4).
const (
	MaxModels = 8 // models a record keeps, least recently served dropped
	MaxWarm   = 4 // warm entries a model keeps, oldest dropped
)

// PinKey names the record of one session in one scope.
type PinKey struct {
	Tenant string
	Class  Class
	ID     string
	Scope  string
}

// Entry is one candidate that served a session and may hold its cache.
type Entry struct {
	Vendor     string
	Credential string // empty where the session's class pins the vendor only
	Group      Group
	Turn       uint64 // the turn that was accepted; tells one entry from its successor
	AcceptedAt time.Time
	ExpiresAt  time.Time
	Prompt     int64 // prompt and output tokens last reported; 0 until then
	TextBytes  int64 // bytes of text in that prompt
	Read       int64 // cache-read tokens last reported
	Write      int64 // cache-write tokens last reported
	Silent     int   // consecutive in-window turns with neither read nor write reported
	Reported   bool  // usage of this entry's turn has been seen
}

// ExpiredAt says whether the window has passed. An entry is warm up to, not
// including, its end.
func (e Entry) ExpiredAt(now time.Time) bool { return !now.Before(e.ExpiresAt) }

// ModelPins are the warm entries of one served model, newest acceptance first.
type ModelPins struct {
	Model string
	Warm  []Entry
}

// Record is what is remembered of one session in one scope: its models, most
// recently served first. The zero Record remembers nothing. A Record handed
// out by a store is never changed afterwards.
type Record struct {
	Models []ModelPins
}

// Pins keeps records. It stands between the engine and whatever stores them;
// every implementation passes engine/storetest and may be called from several
// goroutines.
type Pins interface {
	// Recall returns the record at key, the zero Record if there is none. An
	// error means that the store did not answer in time.
	Recall(ctx context.Context, key PinKey) (Record, error)
	// Keep adds or renews e for model. A later acceptance already stored stays
	// ahead of it; an entry of the same turn is replaced, which is how usage
	// reported after acceptance is added.
	Keep(ctx context.Context, key PinKey, model string, e Entry) error
	// Drop forgets was, provided it is still the same entry. Turns of one
	// session may overlap: an entry that a later turn has replaced stays, and
	// Drop reports success.
	Drop(ctx context.Context, key PinKey, model string, was Entry) error
}

// PinWrite is one record to be made durable. A record without models is a
// deletion.
type PinWrite struct {
	Key    PinKey
	Record Record
}

// PinBacking is a durable store behind the pins in memory.
type PinBacking interface {
	// Get returns the stored record, the zero Record if there is none.
	Get(ctx context.Context, key PinKey) (Record, error)
	// Load calls each with every stored record until it returns false.
	Load(ctx context.Context, each func(PinKey, Record) bool) error
	// Write stores all of writes; on error any part of them may be stored.
	Write(ctx context.Context, writes []PinWrite) error
}
