package badgerstore

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// The kinds of keys in the books, each the first byte of its keys. A part is its
// length and its bytes; newest is eight bytes that sort later times first. What
// is one tenant's begins with the tenant; the lists of all tenants hold no values.
const (
	kindTurn      = 't' // tenant, newest start, id: the record
	kindAllTurns  = 'a' // place of the turn
	kindTurnID    = 'i' // tenant, id: newest start, and whether it is settled
	kindOfSession = 'x' // tenant, session, newest start, id
	kindIntent    = 'n' // tenant, id: the record so far
	kindSession   = 's' // tenant, class, id: the session's book
	kindRecent    = 'm' // tenant, newest end, class, id
	kindAllRecent = 'M' // place of the session
	kindRollUp    = 'r' // scope, width, slot, model: the sums by vendor and outcome
	kindAccount   = 'u' // as a roll-up: the auditor's accounts
	kindMemory    = 'w' // tenant, class, id of a session: what the auditor remembers of it
)

func appendPart(b []byte, s string) []byte { return appendString(b, s) }

func turnKey(b *engine.Booked) []byte {
	k := engine.AppendNewest(appendPart([]byte{kindTurn}, b.Tenant), b.Started)
	return appendPart(k, b.ID)
}

func allTurnsKey(b *engine.Booked) []byte { return b.Place().AppendBytes([]byte{kindAllTurns}) }

func turnIDKey(tenant, id string) []byte {
	return appendPart(appendPart([]byte{kindTurnID}, tenant), id)
}

func intentKey(tenant, id string) []byte {
	return appendPart(appendPart([]byte{kindIntent}, tenant), id)
}

func ofSessionKey(b *engine.Booked) []byte {
	k := appendPart(appendPart([]byte{kindOfSession}, b.Tenant), b.Session)
	return appendPart(engine.AppendNewest(k, b.Started), b.ID)
}

func sessionKey(tenant string, class engine.Class, id string) []byte {
	return appendPart(appendPart(appendPart([]byte{kindSession}, tenant), string(class)), id)
}

func recentKey(s *engine.SessionBook) []byte {
	k := engine.AppendNewest(appendPart([]byte{kindRecent}, s.Tenant), s.Last)
	return appendPart(appendPart(k, string(s.Class)), s.ID)
}

func allRecentKey(s *engine.SessionBook) []byte {
	return s.Place().AppendBytes([]byte{kindAllRecent})
}

// A level is a width of roll-ups.
type level byte

const (
	minutes level = iota
	hours
	days
)

func (l level) width() time.Duration {
	return [...]time.Duration{time.Minute, time.Hour, engine.Day}[l]
}

func (l level) seconds() int64 { return int64(l.width() / time.Second) }

func levelOf(width time.Duration) level {
	switch width {
	case time.Minute:
		return minutes
	case engine.Day:
		return days
	}
	return hours
}

// down is the last slot of this level that begins at or before second s.
func (l level) down(s int64) int64 {
	return floor(s, l.seconds())
}

// up is the first slot of this level that begins at or after second s.
func (l level) up(s int64) int64 { return l.down(s + l.seconds() - 1) }

// memoryKey is the key of what the auditor remembers of a session.
func memoryKey(tenant string, class engine.Class, id string) []byte {
	return appendPart(appendPart(appendPart([]byte{kindMemory}, tenant), string(class)), id)
}

// scopeKey begins the roll-ups of one tenant, or those of all.
func scopeKey(tenant string, all bool) []byte { return kindScopeKey(kindRollUp, tenant, all) }

func kindScopeKey(kind byte, tenant string, all bool) []byte {
	if all {
		return []byte{kind, 0}
	}
	return appendPart([]byte{kind, 1}, tenant)
}

func appendSlot(scope []byte, l level, second int64) []byte {
	return binary.BigEndian.AppendUint64(append(scope, byte(l)), uint64(second)^1<<63)
}

// slotOf reads what follows the scope and the level of a roll-up's key.
func slotOf(rest []byte) (second int64, model []byte, ok bool) {
	if len(rest) < 8 {
		return 0, nil, false
	}
	in := input{b: rest[8:]}
	model = in.bytes()
	return int64(binary.BigEndian.Uint64(rest) ^ 1<<63), model, !in.bad && len(in.b) == 0
}

// after is a key behind all those that begin with prefix.
func after(prefix []byte) []byte {
	k := append([]byte(nil), prefix...)
	for i := len(k) - 1; i >= 0; i-- {
		if k[i] != math.MaxUint8 {
			k[i]++
			return k[:i+1]
		}
	}
	return nil
}
