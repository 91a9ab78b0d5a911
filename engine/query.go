package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
)

// ErrPage means that a page was asked for that does not follow one of ours: its
// After is not the next of a list of the same kind.
var ErrPage = errors.New("this page does not follow one of ours; leave it out to start over")

// ErrQuery means that a list cannot be asked for in this way. The error that
// wraps it says what to leave out.
var ErrQuery = errors.New("the books cannot answer that")

// Matches says whether the booked turn is meant; model and vendor are those of its
// last attempt.
func (q *Query) Matches(b *Booked) bool {
	switch {
	case q.Tenant != "" && b.Tenant != q.Tenant,
		q.Model != "" && b.Model != q.Model,
		q.Outcome != "" && b.Outcome != q.Outcome,
		q.Class != "" && b.Class != q.Class,
		q.Session != "" && b.Session != q.Session,
		q.Miss != "" && (b.Miss == "" || q.Miss != AnyMiss && b.Miss != q.Miss),
		q.Vendor != "" && b.Vendor() != q.Vendor:
		return false
	}
	return q.Within(b.Started)
}

// EveryRoute is the query without vendor and model: it means every turn that an
// overview of q may have an attempt of.
func (q Query) EveryRoute() Query {
	q.Model, q.Vendor = "", ""
	return q
}

// MatchesRoute says whether an overview of q has what stands at this route.
func (q *Query) MatchesRoute(model, vendor string) bool {
	return (q.Model == "" || q.Model == model) && (q.Vendor == "" || q.Vendor == vendor)
}

// Within says whether a time lies inside the query's bounds.
func (q *Query) Within(t time.Time) bool {
	return (q.From.IsZero() || !t.Before(q.From)) && (q.To.IsZero() || t.Before(q.To))
}

// MatchesSession says whether the session is meant. The bounds are those of its
// last activity; model and vendor count if any of its turns had them, as far as
// its book remembers.
func (q *Query) MatchesSession(s *SessionBook) bool {
	switch {
	case q.Tenant != "" && s.Tenant != q.Tenant,
		q.Class != "" && s.Class != q.Class,
		q.Session != "" && s.ID != q.Session,
		q.Model != "" && !slices.Contains(s.Models, q.Model),
		q.Vendor != "" && !slices.Contains(s.Vendors, q.Vendor) && !slices.Contains(s.Latest, q.Vendor):
		return false
	}
	return q.Within(s.Last)
}

// The sizes of a page.
const (
	PageSize    = 100 // where none is asked for
	MaxPageSize = 1000
)

// Size is how many things the page holds at most.
func (p Page) Size() int {
	if p.Limit <= 0 {
		return PageSize
	}
	return min(p.Limit, MaxPageSize)
}

// SlotStart is the start of the slot that t lies in, in UTC. Width is a minute,
// an hour or a day.
func SlotStart(t time.Time, width time.Duration) time.Time {
	return t.UTC().Truncate(width)
}

// SlotWidth is the width that stands for the one asked for: a minute, an hour or
// a day, and an hour for anything else.
func SlotWidth(width time.Duration) time.Duration {
	if width == time.Minute || width == Day {
		return width
	}
	return time.Hour
}

// Day is the width of the widest slot.
const Day = 24 * time.Hour

// Place is where a thing stands in a list that runs from the newest to the
// oldest: a turn by its start, a session by its last activity. Things of one
// instant stand in the order of their tenants, classes and ids, shorter ones
// first. A turn's place has no class.
type Place struct {
	At     time.Time
	Tenant string
	Class  Class
	ID     string
}

// Place is where the turn stands in lists of turns.
func (b *Booked) Place() Place { return Place{At: b.Started, Tenant: b.Tenant, ID: b.ID} }

// Place is where the session stands in lists of sessions.
func (s *SessionBook) Place() Place {
	return Place{At: s.Last, Tenant: s.Tenant, Class: s.Class, ID: s.ID}
}

// AppendBytes appends the stored form of the place, whose bytes are in the order
// of the list.
func (p Place) AppendBytes(b []byte) []byte {
	b = AppendNewest(b, p.At)
	for _, part := range [...]string{p.Tenant, string(p.Class), p.ID} {
		b = binary.AppendUvarint(b, uint64(len(part)))
		b = append(b, part...)
	}
	return b
}

// AppendNewest appends eight bytes that sort the later of two times first. Times
// outside the years 1678 to 2261 are taken for the nearest inside.
func AppendNewest(b []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64(b, ^(uint64(nanos(t)) ^ 1<<63))
}

// ParseNewest reads what AppendNewest wrote.
func ParseNewest(b []byte) (t time.Time, ok bool) {
	if len(b) != newestSize {
		return time.Time{}, false
	}
	return time.Unix(0, int64(^binary.BigEndian.Uint64(b)^1<<63)).UTC(), true
}

func nanos(t time.Time) int64 {
	switch s := t.Unix(); {
	case s < math.MinInt64/int64(time.Second)+1:
		return math.MinInt64
	case s > math.MaxInt64/int64(time.Second)-1:
		return math.MaxInt64
	}
	return t.UnixNano()
}

// Compare orders places as their stored forms.
func (p Place) Compare(other Place) int {
	if a, b := nanos(p.At), nanos(other.At); a != b {
		if a > b {
			return -1
		}
		return 1
	}
	for _, pair := range [...][2]string{{p.Tenant, other.Tenant}, {string(p.Class), string(other.Class)}, {p.ID, other.ID}} {
		if pair[0] == pair[1] {
			continue
		}
		a := append(binary.AppendUvarint(nil, uint64(len(pair[0]))), pair[0]...)
		b := append(binary.AppendUvarint(nil, uint64(len(pair[1]))), pair[1]...)
		return bytes.Compare(a, b)
	}
	return 0
}

// Token is the place as a page's After.
func (p Place) Token() string {
	return base64.RawURLEncoding.EncodeToString(p.AppendBytes([]byte{placeVersion}))
}

const placeVersion = 1

// ParsePlace reads a token. The empty token is the beginning, and has no place.
// The error is [ErrPage].
func ParsePlace(token string) (p Place, found bool, err error) {
	if token == "" {
		return Place{}, false, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) == 0 || b[0] != placeVersion {
		return Place{}, false, ErrPage
	}
	if p, found = ParsePlaceBytes(b[1:]); !found {
		return Place{}, false, ErrPage
	}
	return p, true, nil
}

// ParsePlaceBytes reads what [Place.AppendBytes] wrote. ok is false for anything
// else.
func ParsePlaceBytes(b []byte) (p Place, ok bool) {
	if len(b) < newestSize {
		return Place{}, false
	}
	p.At, _ = ParseNewest(b[:newestSize])
	parts := make([]byte, 0, len(b)-newestSize+1)
	key, ok := ParsePinKey(append(append(parts, b[newestSize:]...), 0)) // three of a key's four parts; the last is empty
	if !ok || key.Scope != "" {
		return Place{}, false
	}
	p.Tenant, p.Class, p.ID = key.Tenant, key.Class, key.ID
	return p, true
}

// newestSize is what AppendNewest appends.
const newestSize = 8

// ladder is the order in which outcomes are shown.
var ladder = []Outcome{
	SkippedModeOff, StoreUnavailable, NotCacheCapable, SkippedBelowMinPrefix, NoPin, PinExpired, SkippedNotInPlan,
	SkippedHealthDown, Confirmed, SkippedOrder, SkippedPriceUnknown, SkippedNotCheaper, Promoted, MovedOnPrice,
}

// Ladder is every outcome in the order of design section 5.
func Ladder() []Outcome { return slices.Clone(ladder) }

// CompareOutcomes orders outcomes by their ladder; those that are not on it come
// last, by name.
func CompareOutcomes(a, b Outcome) int {
	if d := rung(a) - rung(b); d != 0 {
		return d
	}
	return strings.Compare(string(a), string(b))
}

func rung(o Outcome) int {
	if i := slices.Index(ladder, o); i >= 0 {
		return i
	}
	return len(ladder)
}
