package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// classPrefix is the class of the records that say who served a prompt's prefix up
// to its last cache marker. They lie beside the pins of sessions: the same prefix in
// two sessions of a tenant is in one cache.
//
// Source: LiteLLM, "Router settings", the pre-call check prompt_caching. What it
// leaves open: how far a prefix is known that has grown since (not at all: the hash
// is of all of it, so a marker that moves on begins anew).
const classPrefix Class = "prefix"

// LeastMarked is how many tokens a marked prefix has at least, where its route
// documents no minimum of its own.
const LeastMarked = 1024

// The windows of a marked prefix: the longer one where every marker asks for an hour.
const (
	shortPrefix = 5 * time.Minute
	longPrefix  = time.Hour
)

// PrefixKey is where it is kept who served a marked prefix, by its hash.
func PrefixKey(tenant, scope, hash string) PinKey {
	return PinKey{Tenant: tenant, Class: classPrefix, ID: hash, Scope: scope}
}

// MarkedPrefix is a prompt up to its last cache marker. The zero MarkedPrefix is of a
// prompt without any.
type MarkedPrefix struct {
	Hash   string
	Tokens int64         // an estimate
	Window time.Duration // how long who served it is remembered
}

// marked is the request's marked prefix.
func (r *Request) marked() (m MarkedPrefix) {
	if r.MarkedPrefix == nil || r.Markers == 0 {
		return m
	}
	hash, tokens, ok := r.MarkedPrefix()
	if !ok {
		return m
	}
	m = MarkedPrefix{Hash: hash, Tokens: tokens, Window: shortPrefix}
	if r.LongMarkers == r.Markers {
		m.Window = longPrefix
	}
	return m
}

// Marked says which entry of the prefix the attempt leaves that was chosen or
// accepted at this time; ok is false where there is no marked prefix, affinity is
// off, the route caches nothing, or the prefix does not reach the route's minimum.
func Marked(f SettleFacts, m MarkedPrefix, at time.Time) (change PinChange, ok bool) {
	route := f.Candidate.Route
	if f.Off || m.Hash == "" || route.Cache.Family == catalog.None || m.Tokens < cmp.Or(route.Cache.MinPrefix, LeastMarked) {
		return PinChange{}, false
	}
	return PinChange{Model: route.Model.Name, Entry: Entry{
		Vendor:     route.Vendor.Name,
		Credential: f.Candidate.Credential,
		Group:      f.Candidate.Group,
		Turn:       f.Turn,
		AcceptedAt: at,
		ExpiresAt:  at.Add(m.Window),
		TextBytes:  f.TextBytes,
		Most:       f.profile().limits(),
	}}, true
}

// recallMarked fills in who served the request's marked prefix, where the profile
// asks for it.
func (g *Gateway) recallMarked(ctx context.Context, r *Request, s *turnState, m *memory) (err error) {
	if s.off || !s.profile.Marked {
		return nil
	}
	m.marked = r.marked()
	if m.marked.Hash == "" {
		return nil
	}
	ahead, err := g.Pins.Recall(ctx, PrefixKey(r.Tenant, s.turn.Scope, m.marked.Hash))
	m.ahead = ahead.Within(s.profile.limits())
	return err
}

// keepMarked keeps who serves the turn's marked prefix, if this is when the profile
// pins.
func (g *Gateway) keepMarked(ctx context.Context, s *turnState, u *underway, when Start) {
	if g.Pins == nil || s.memory.marked.Hash == "" || s.profile.Start == StartChosen != (when == StartChosen) {
		return
	}
	at := u.pin.AcceptedAt
	if when == StartChosen {
		at = u.pin.ChosenAt
	}
	change, ok := Marked(u.pin, s.memory.marked, at)
	if !ok {
		return
	}
	brief := within(context.WithoutCancel(ctx), g.deadline())
	defer brief.stop()
	_ = g.Pins.Keep(brief, PrefixKey(s.turn.Tenant, s.turn.Scope, s.memory.marked.Hash), change.Model, change.Entry)
}
