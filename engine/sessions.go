package engine

import (
	"sync"
	"time"
)

// Sessions bounds how many new sessions each tenant may have pinned. A session
// beyond the bound is served like any other and not pinned, so that one who names a
// new session with every request cannot push the others' pins out, nor its own.
//
// A session is new while nothing is remembered of it in the scope of the request.
// Implementations may be called from several goroutines.
type Sessions interface {
	// Room says whether the tenant may begin one more; it takes nothing.
	Room(tenant string, now time.Time) bool
	// Take begins one more. ok is false, and nothing is taken, where there is no room.
	Take(tenant string, now time.Time) (ok bool)
}

// SessionRates are [Sessions] by a token bucket for each tenant, which holds what may
// come in a minute and is full at first. Make it with [NewSessionRates].
type SessionRates struct {
	perMinute func(tenant string) int
	mu        sync.Mutex
	buckets   map[string]*bucket
}

// bucket is what a tenant has left. A session takes a minute's worth of nanoseconds
// out of it, and each nanosecond adds as many as sessions may begin in a minute: whole
// numbers, so that no time is lost to rounding.
type bucket struct {
	level, most int64
	rate        int64 // sessions a minute; 0: no bound
	at          time.Time
}

// NewSessionRates bounds new sessions by how many a minute perMinute allows a tenant;
// zero and less are no bound. It is asked once for each tenant.
func NewSessionRates(perMinute func(tenant string) int) *SessionRates {
	return &SessionRates{perMinute: perMinute, buckets: map[string]*bucket{}}
}

// mostRate bounds a rate so that a full bucket can be counted.
const mostRate = 100_000_000

// Room says whether the tenant may begin one more session.
func (s *SessionRates) Room(tenant string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.filled(tenant, now)
	return b.rate == 0 || b.level >= int64(time.Minute)
}

// Take begins one more session of the tenant, if it may.
func (s *SessionRates) Take(tenant string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.filled(tenant, now)
	switch {
	case b.rate == 0:
		return true
	case b.level < int64(time.Minute):
		return false
	}
	b.level -= int64(time.Minute)
	return true
}

// filled is the tenant's bucket with what has come since it was looked at. A clock
// that was set back adds nothing, and goes on from where it was set to.
func (s *SessionRates) filled(tenant string, now time.Time) *bucket {
	b := s.buckets[tenant]
	if b == nil {
		rate := int64(min(max(0, s.perMinute(tenant)), mostRate))
		b = &bucket{level: rate * int64(time.Minute), most: rate * int64(time.Minute), rate: rate, at: now}
		s.buckets[tenant] = b
	}
	past := now.Sub(b.at)
	if past < -time.Minute { // less is two turns that overtook each other
		b.at = now
	}
	if past > 0 {
		b.at = now
		if past >= time.Minute {
			b.level = b.most
		} else {
			b.level = min(b.most, b.level+int64(past)*b.rate)
		}
	}
	return b
}
