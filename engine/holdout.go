package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/shopspring/decimal"
)

// Holdout is the share of sessions that run without affinity, so that what affinity
// is worth can be measured rather than modelled: its only unbiased check.
//
// Whether a session is in it follows from its tenant, its id and the share alone, so
// it is in or out from its first turn to its last, in every process, and stays in
// when the share grows. Sessions without an id are never in it. The zero Holdout
// holds nobody out.
type Holdout struct{ millionths uint64 }

// mostHeldOut is the largest share that makes sense of an experiment.
var mostHeldOut = decimal.New(5, -1)

// NewHoldout holds a share out, from 0 to 0.5 in at most six decimals. The error says
// that it is none.
func NewHoldout(share decimal.Decimal) (Holdout, error) {
	millionths := share.Shift(6)
	if share.IsNegative() || share.GreaterThan(mostHeldOut) || !millionths.IsInteger() {
		return Holdout{}, fmt.Errorf("holdout %s: it must be from 0 to 0.5, in at most six decimals", share)
	}
	return Holdout{uint64(millionths.IntPart())}, nil
}

// On says whether anybody may be held out.
func (h Holdout) On() bool { return h.millionths > 0 }

// Holds says whether a session is held out.
func (h Holdout) Holds(s Session) bool {
	if !h.On() || !s.Found() {
		return false
	}
	var space [192]byte
	b := append(space[:0], "holdout\x00"...)
	for _, part := range [...]string{s.Tenant, s.ID} {
		b = append(binary.AppendUvarint(b, uint64(len(part))), part...)
	}
	sum := sha256.Sum256(b)
	place, _ := bits.Mul64(binary.BigEndian.Uint64(sum[:]), 1_000_000)
	return place < h.millionths
}
