package engine

import (
	"context"
	"encoding/binary"
	"slices"
	"time"
)

// The bounds of a record (design section 4).
const (
	MaxModels  = 8 // models a record keeps, least recently served dropped
	MaxThreads = 8 // threads a model keeps, least recently served dropped; see [Record.Keep]
	MaxWarm    = 4 // warm entries a thread keeps, oldest dropped

	// Readable is how long an expired entry is kept, so that "there was one" can
	// be told from "there was none".
	Readable = 24 * time.Hour
)

// PinKey names the record of one session in one scope.
type PinKey struct {
	Tenant string
	Class  Class
	ID     string
	Scope  string
}

// AppendBytes appends the stored form of the key to b: its four parts, tenant
// first, each behind its length, so that no id can reach into another tenant's
// keys and all keys of a tenant share a prefix.
func (k PinKey) AppendBytes(b []byte) []byte {
	for _, part := range [...]string{k.Tenant, string(k.Class), k.ID, k.Scope} {
		b = binary.AppendUvarint(b, uint64(len(part)))
		b = append(b, part...)
	}
	return b
}

// Bytes is the stored form of the key, as [PinKey.AppendBytes] writes it.
func (k PinKey) Bytes() []byte {
	return k.AppendBytes(make([]byte, 0, 8+len(k.Tenant)+len(k.Class)+len(k.ID)+len(k.Scope)))
}

// ParsePinKey reads what [PinKey.Bytes] wrote. ok is false for anything else: a
// key that parses is written back as the same bytes.
func ParsePinKey(b []byte) (k PinKey, ok bool) {
	var parts [4]string
	for i := range parts {
		length, n := binary.Uvarint(b)
		if n <= 0 || n > 1 && b[n-1] == 0 || length > uint64(len(b)-n) {
			return PinKey{}, false
		}
		parts[i] = string(b[n : n+int(length)])
		b = b[n+int(length):]
	}
	if len(b) != 0 {
		return PinKey{}, false
	}
	return PinKey{Tenant: parts[0], Class: Class(parts[1]), ID: parts[2], Scope: parts[3]}, true
}

// Entry is one candidate that served a thread of a session and may hold its
// cache. Candidate and thread together tell entries apart.
type Entry struct {
	Vendor     string
	Credential string // empty where the session's class pins the vendor only
	Group      Group
	Thread     uint64 // how the request opened (see [Thread]); 0 where the session has only one
	Turn       uint64 // the turn that was accepted; tells one entry from its successor
	AcceptedAt time.Time
	ExpiresAt  time.Time
	Prompt     int64 // prompt tokens last reported; 0 until then
	Output     int64 // output tokens reported with it that the next request may send back: all but the reasoning
	TextBytes  int64 // bytes of text in the turn's request
	Read       int64 // cache-read tokens last reported
	Write      int64 // cache-write tokens last reported
	Silent     int   // consecutive in-window turns with neither read nor write reported
	Reported   bool  // usage of this entry's turn has been seen

	// Most bounds the record that the entry is kept in. It goes with the call to
	// Keep and is not stored: what is recalled has none.
	Most Limits
}

// Limits are how much a record keeps. A zero means the bound of every record:
// [MaxModels] and [MaxWarm].
type Limits struct {
	Models uint8 // models
	Warm   uint8 // warm entries of a thread
}

// models and warm are the bounds that hold.
func (l Limits) models() int { return bound(l.Models, MaxModels) }
func (l Limits) warm() int   { return bound(l.Warm, MaxWarm) }

func bound(n uint8, most int) int {
	if n == 0 {
		return most
	}
	return min(int(n), most)
}

// ExpiredAt says whether the window has passed. An entry is warm up to, not
// including, its end.
func (e Entry) ExpiredAt(now time.Time) bool { return !now.Before(e.ExpiresAt) }

// SameCandidate says whether both entries name the same vendor, credential and group.
func (e Entry) SameCandidate(other Entry) bool {
	return e.Vendor == other.Vendor && e.Credential == other.Credential && e.Group == other.Group
}

// Renews says whether both are about the same candidate and thread, so that the
// later of them takes the place of the other.
func (e Entry) Renews(other Entry) bool { return e.Thread == other.Thread && e.SameCandidate(other) }

// Is says whether both are the entry of one acceptance: the same candidate and
// thread in the same turn. What was reported since then does not matter.
func (e Entry) Is(other Entry) bool { return e.Turn == other.Turn && e.Renews(other) }

// after says whether e was accepted later than other. Turns of one instant are
// told apart by their ids, so that the order does not depend on who came first.
func (e Entry) after(other Entry) bool {
	if !e.AcceptedAt.Equal(other.AcceptedAt) {
		return e.AcceptedAt.After(other.AcceptedAt)
	}
	return e.Turn > other.Turn
}

// ModelPins are the warm entries of one served model, newest acceptance first,
// whatever their threads.
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

// For returns the entries of model, newest acceptance first; none is nil. The
// caller must not change them.
func (r Record) For(model string) []Entry {
	for i := range r.Models {
		if r.Models[i].Model == model {
			return r.Models[i].Warm
		}
	}
	return nil
}

// Newest returns the entry accepted last, whatever its model; ok is false for a
// record that remembers nothing.
func (r Record) Newest() (model string, e Entry, ok bool) {
	for i := range r.Models {
		if w := r.Models[i].Warm; len(w) > 0 && (!ok || w[0].after(e)) {
			model, e, ok = r.Models[i].Model, w[0], true
		}
	}
	return model, e, ok
}

// Reported returns the entry of the thread that was accepted last of those whose
// usage is known, whatever its model; ok is false if there is none.
func (r Record) Reported(thread uint64) (e Entry, ok bool) {
	for i := range r.Models {
		for j := range r.Models[i].Warm {
			w := &r.Models[i].Warm[j]
			if w.Reported && w.Thread == thread && (!ok || w.after(e)) {
				e, ok = *w, true
			}
		}
	}
	return e, ok
}

// Holds says whether the record has an entry of this model and thread.
func (r Record) Holds(model string, thread uint64) bool {
	for _, e := range r.For(model) {
		if e.Thread == thread {
			return true
		}
	}
	return false
}

// Keep returns the record with e added for model; r itself stays as it was.
//
// An entry of the same turn is replaced. So is an older acceptance of the same
// candidate and thread; a newer one stays, and r is returned as it is. Beyond
// the entries that e.Most allows the thread's oldest goes, beyond [MaxThreads]
// threads and the models it allows those served least recently. Only the thread
// with the longest prompt stays as long as it is warm: an agent may start a dozen
// others between two turns of the conversation itself.
func (r Record) Keep(model string, e Entry) Record {
	most := e.Most
	e.Most = Limits{}
	old := r.For(model)
	for i := range old {
		if old[i].Turn != e.Turn && old[i].Renews(e) && old[i].after(e) {
			return r
		}
	}
	var space [MaxThreads]room
	all := rooms(space[:0])
	warm := make([]Entry, 0, min(len(old)+1, MaxThreads*MaxWarm))
	place := func(next Entry) {
		if all.take(next.Thread, most.warm()) {
			warm = append(warm, next)
		}
	}
	out, full := crowdedOut(old, e)
	if full && out == e.Thread {
		return r
	}
	placed := false
	for i := range old {
		if old[i].Turn == e.Turn || old[i].Renews(e) || full && old[i].Thread == out {
			continue
		}
		if !placed && e.after(old[i]) {
			place(e)
			placed = true
		}
		place(old[i])
	}
	if !placed {
		place(e)
	}
	return r.with(ModelPins{Model: model, Warm: warm}, most)
}

// crowdedOut is the thread that goes instead of the one served least recently,
// because that has the longest prompt of all and is warm; of a model's entries, newest
// first, and e. ok is false where none has to.
func crowdedOut(old []Entry, e Entry) (thread uint64, ok bool) {
	var newest [MaxThreads]*Entry // of each thread
	n := 0
	for i := range old {
		switch {
		case old[i].Thread == e.Thread:
			return 0, false
		case n > 0 && slices.ContainsFunc(newest[:n], func(o *Entry) bool { return o.Thread == old[i].Thread }):
		case n < MaxThreads:
			newest[n] = &old[i]
			n++
		}
	}
	if n < MaxThreads {
		return 0, false
	}
	last, next := newest[n-1], newest[n-2]
	if last.ExpiredAt(e.AcceptedAt) || last.after(e) || last.TextBytes <= e.TextBytes {
		return 0, false
	}
	for _, other := range newest[:n-1] {
		if other.TextBytes >= last.TextBytes && !other.ExpiredAt(e.AcceptedAt) {
			return 0, false
		}
	}
	if next.after(e) {
		return e.Thread, true
	}
	return next.Thread, true
}

// room is how many entries of a thread have been placed.
type room struct {
	thread uint64
	taken  int
}

// rooms are those of the threads met so far: newest first, as entries are placed.
type rooms []room

// take says whether one more entry of the thread may be placed, of at most so many.
func (all *rooms) take(thread uint64, most int) bool {
	for i := range *all {
		if r := &(*all)[i]; r.thread == thread {
			r.taken++
			return r.taken <= most
		}
	}
	if len(*all) == MaxThreads {
		return false
	}
	*all = append(*all, room{thread, 1})
	return true
}

// Update returns the record with e in the place of the entry of the same
// acceptance, if that is still there: see [Entry.Is]. Else it returns r as it is,
// so that what is reported late brings nothing back that was dropped.
func (r Record) Update(model string, e Entry) Record {
	old := r.For(model)
	for i := range old {
		if !old[i].Is(e) {
			continue
		}
		warm := slices.Clone(old)
		e.Most = Limits{}
		warm[i] = e
		return r.with(ModelPins{Model: model, Warm: warm}, Limits{})
	}
	return r
}

// Drop returns the record without was, if it still holds it: the entry of the
// same candidate and turn. Else it returns r as it is.
func (r Record) Drop(model string, was Entry) Record {
	old := r.For(model)
	for i := range old {
		if !old[i].Is(was) {
			continue
		}
		warm := make([]Entry, 0, len(old)-1)
		warm = append(append(warm, old[:i]...), old[i+1:]...)
		return r.with(ModelPins{Model: model, Warm: warm}, Limits{})
	}
	return r
}

// Ahead is how far in the future an acceptance may lie. One that lies further was kept
// before the clock was set back: it would seem warm, and newer than whatever comes, for
// as long as the clock was wrong.
const Ahead = time.Hour

// Sweep returns the record without the entries that expired [Readable] ago or
// earlier and those that were accepted more than [Ahead] from now; r itself, at no
// cost, if there is none.
func (r Record) Sweep(now time.Time) Record {
	latest := now.Add(Ahead)
	gone := func(e *Entry) bool { return !now.Before(e.ExpiresAt.Add(Readable)) || e.AcceptedAt.After(latest) }
	swept := r
	for i := range r.Models {
		kept := 0
		for j := range r.Models[i].Warm {
			if !gone(&r.Models[i].Warm[j]) {
				kept++
			}
		}
		if kept == len(r.Models[i].Warm) {
			continue
		}
		warm := make([]Entry, 0, kept)
		for _, e := range r.Models[i].Warm {
			if !gone(&e) {
				warm = append(warm, e)
			}
		}
		swept = swept.with(ModelPins{Model: r.Models[i].Model, Warm: warm}, Limits{})
	}
	return swept
}

// Within returns what of the record most allows: its newest models, and of each
// thread the newest entries. It is r itself, at no cost, where all of it is. A
// record that was kept under wider limits is read under narrower ones by it.
func (r Record) Within(most Limits) Record {
	models, warm := most.models(), most.warm()
	if models == MaxModels && warm == MaxWarm {
		return r
	}
	within := Record{Models: make([]ModelPins, 0, min(models, len(r.Models)))}
	for i := range r.Models[:min(models, len(r.Models))] {
		var space [MaxThreads]room
		all := rooms(space[:0])
		pins := ModelPins{Model: r.Models[i].Model}
		for _, e := range r.Models[i].Warm {
			if all.take(e.Thread, warm) {
				pins.Warm = append(pins.Warm, e)
			}
		}
		within.Models = append(within.Models, pins)
	}
	return within
}

// with returns the record in which pins stands for its model: in the place its
// newest acceptance gives it, or nowhere if nothing is warm, and with no more
// models than most allows. Of models that one turn tried in one moment it is the last.
func (r Record) with(pins ModelPins, most Limits) Record {
	models := make([]ModelPins, 0, min(len(r.Models)+1, MaxModels))
	placed := len(pins.Warm) == 0
	place := func(next ModelPins) {
		if len(models) < most.models() {
			models = append(models, next)
		}
	}
	for i := range r.Models {
		if r.Models[i].Model == pins.Model || len(r.Models[i].Warm) == 0 {
			continue
		}
		if !placed && !r.Models[i].Warm[0].after(pins.Warm[0]) {
			place(pins)
			placed = true
		}
		place(r.Models[i])
	}
	if !placed {
		place(pins)
	}
	if len(models) == 0 {
		return Record{}
	}
	return Record{Models: models}
}

// Pins keeps records. It stands between the engine and whatever stores them;
// every implementation passes engine/storetest and may be called from several
// goroutines.
type Pins interface {
	// Recall returns the record at key, the zero Record if there is none. An
	// error means that the store did not answer in time. A turn waits for it, so
	// it must return once ctx is over, whatever it was waiting for.
	Recall(ctx context.Context, key PinKey) (Record, error)
	// Keep adds or renews e for model, as [Record.Keep] does. A later acceptance
	// already stored stays ahead of it; an entry of the same turn is replaced.
	Keep(ctx context.Context, key PinKey, model string, e Entry) error
	// Update puts e in the place of the entry of the same acceptance, which is
	// how usage reported after acceptance is added. Where that entry is not
	// there any more, nothing changes and Update reports success.
	Update(ctx context.Context, key PinKey, model string, e Entry) error
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
