package sim

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"

	"github.com/shopspring/decimal"
)

// What is stored begins with a byte that says what it is and one that says in which
// version. Numbers are varints; a stored form has no checksum of its own.
const (
	tagSession = 'S'
	tagLearned = 'L'
	tagTally   = 'T'

	sessionVersion = 1
	learnedVersion = 1
	tallyVersion   = 1
)

// ErrStored means that what was to be read was not written by this package, or by a
// later version of it. A session that cannot be read begins anew: it costs the model
// what it knew, and no money is invented.
var ErrStored = errors.New("sim: not a stored form that this version knows; leave it out and begin anew")

// input is what is left to be read. Once bad, it reads zeros.
type input struct {
	b   []byte
	bad bool
}

// open reads the first two bytes.
func open(b []byte, tag, version byte) input {
	if len(b) < 2 || b[0] != tag || b[1] != version {
		return input{bad: true}
	}
	return input{b: b[2:]}
}

func (in *input) fail() { in.b, in.bad = nil, true }

func (in *input) uint() uint64 {
	v, n := binary.Uvarint(in.b)
	if n <= 0 {
		in.fail()
		return 0
	}
	in.b = in.b[n:]
	return v
}

func (in *input) int() int64 {
	v, n := binary.Varint(in.b)
	if n <= 0 {
		in.fail()
		return 0
	}
	in.b = in.b[n:]
	return v
}

// upTo reads a number that is at most so much.
func (in *input) upTo(most uint64) int64 {
	v := in.uint()
	if v > most {
		in.fail()
		return 0
	}
	return int64(v)
}

func (in *input) fixed() uint64 {
	if len(in.b) < 8 {
		in.fail()
		return 0
	}
	v := binary.LittleEndian.Uint64(in.b)
	in.b = in.b[8:]
	return v
}

// done is the error of all reads.
func (in *input) done() error {
	if in.bad || len(in.b) > 0 {
		return ErrStored
	}
	return nil
}

// maxDigits bounds the bytes of a stored amount.
const maxDigits = 64

// appendDecimal appends an amount: its exponent, and its whole number with the sign as
// the lowest bit of the length.
func appendDecimal(b []byte, d decimal.Decimal) []byte {
	digits := d.Coefficient()
	sign := uint64(0)
	if digits.Sign() < 0 {
		sign = 1
	}
	raw := digits.Bytes()
	b = binary.AppendUvarint(b, uint64(len(raw))<<1|sign)
	if len(raw) == 0 {
		return b
	}
	b = append(b, raw...)
	return binary.AppendVarint(b, int64(d.Exponent()))
}

func (in *input) decimal() decimal.Decimal {
	head := in.uint()
	n := head >> 1
	if n > maxDigits || n > uint64(len(in.b)) {
		in.fail()
		return decimal.Decimal{}
	}
	if n == 0 {
		return decimal.Decimal{}
	}
	digits := new(big.Int).SetBytes(in.b[:n])
	in.b = in.b[n:]
	if head&1 == 1 {
		digits.Neg(digits)
	}
	exponent := in.int()
	if in.bad || exponent < -1024 || exponent > 1024 {
		in.fail()
		return decimal.Decimal{}
	}
	return decimal.NewFromBigInt(digits, int32(exponent))
}

// AppendBinary appends the stored form of the session to b. The error is always nil.
//
// A session without tracks is two bytes; a track with one candidate, alike in both
// worlds, is some fifty.
func (s *Session) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, tagSession, sessionVersion)
	for i := range s.tracks {
		b = s.tracks[i].append(b)
	}
	return b, nil
}

func (t *track) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, t.key)
	b = binary.LittleEndian.AppendUint64(b, t.thread)
	b = binary.AppendVarint(b, t.last)
	for _, n := range [...]int64{t.given.tokens, t.given.block, t.given.minimum} {
		b = binary.AppendUvarint(b, uint64(max(n, 0)))
	}
	b = binary.AppendVarint(b, t.given.ready-t.last)
	alike := alikeHolds(t.held[actual], t.held[without])
	head := uint64(len(t.held[actual])) << 1
	if alike {
		head |= 1
	}
	b = binary.AppendUvarint(b, head)
	b = t.appendHolds(b, actual)
	if alike {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(t.held[without])))
	return t.appendHolds(b, without)
}

func alikeHolds(a, b []hold) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (t *track) appendHolds(b []byte, world int) []byte {
	for i := range t.held[world] {
		h := &t.held[world][i]
		b = binary.LittleEndian.AppendUint64(b, uint64(h.id))
		b = binary.AppendUvarint(b, uint64(max(h.cache.held, 0)))
		b = binary.AppendUvarint(b, uint64(max(h.cache.hour, 0)))
		b = binary.AppendVarint(b, h.cache.used-t.last)
		b = binary.AppendUvarint(b, uint64(max(h.cache.life, 0)))
	}
	return b
}

// UnmarshalBinary reads what [Session.AppendBinary] wrote, and then goes on as that
// session would have. The error is [ErrStored]; the session is empty then.
func (s *Session) UnmarshalBinary(b []byte) error {
	s.tracks = nil
	in := open(b, tagSession, sessionVersion)
	var tracks []track
	for !in.bad && len(in.b) > 0 {
		if len(tracks) == MaxTracks {
			in.fail()
			break
		}
		tracks = append(tracks, in.track())
	}
	if err := in.done(); err != nil {
		return err
	}
	for i := range tracks {
		for j := range i {
			if tracks[i].key == tracks[j].key && tracks[i].thread == tracks[j].thread {
				return ErrStored
			}
		}
	}
	s.tracks = tracks
	return nil
}

// farTime bounds stored times, in milliseconds from 1970, so that no sum of two of
// them overflows.
const farTime = math.MaxInt64 / 8

func (in *input) time(from int64) int64 {
	t := in.int()
	if t < -farTime || t > farTime || from+t < -farTime || from+t > farTime {
		in.fail()
		return 0
	}
	return from + t
}

func (in *input) track() track {
	t := track{key: in.fixed(), thread: in.fixed(), last: in.time(0)}
	t.given = promise{tokens: in.upTo(2 * maxTokens), block: in.upTo(maxTokens), minimum: in.upTo(maxTokens)}
	t.given.ready = in.time(t.last)
	head := in.upTo(2*MaxCaches + 1)
	t.held[actual] = in.holds(int(head>>1), t.last)
	if head&1 == 1 {
		if len(t.held[actual]) > 0 {
			t.held[without] = append([]hold(nil), t.held[actual]...)
		}
		return t
	}
	t.held[without] = in.holds(int(in.upTo(MaxCaches)), t.last)
	if alikeHolds(t.held[actual], t.held[without]) {
		in.fail()
	}
	return t
}

func (in *input) holds(n int, last int64) []hold {
	if n == 0 {
		return nil
	}
	held := make([]hold, 0, n)
	for range n {
		h := hold{id: ID(in.fixed())}
		h.cache.held = in.upTo(2 * maxTokens)
		h.cache.hour = in.upTo(maxTokens)
		h.cache.used = in.time(last)
		h.cache.life = in.upTo(farTime)
		for i := range held {
			if held[i].id == h.id {
				in.fail()
			}
		}
		held = append(held, h)
	}
	return held
}

// AppendBinary appends the stored form to b. The error is always nil.
func (l *Learned) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, tagLearned, learnedVersion)
	for _, n := range l.numbers() {
		b = binary.AppendVarint(b, *n)
	}
	return b, nil
}

// UnmarshalBinary reads what [Learned.AppendBinary] wrote. The error is [ErrStored];
// l has seen nothing then.
func (l *Learned) UnmarshalBinary(b []byte) error {
	*l = Learned{}
	in := open(b, tagLearned, learnedVersion)
	for _, n := range l.numbers() {
		*n = in.int()
	}
	if err := in.done(); err != nil {
		*l = Learned{}
		return err
	}
	return nil
}

// numbers are all that is stored, in their order.
func (l *Learned) numbers() []*int64 {
	all := make([]*int64, 0, 4+3*(1+Stretches))
	all = append(all, &l.Turns, &l.Hits, &l.Prompt, &l.Read, &l.Tried.N, &l.Tried.Parts, &l.Tried.Found)
	for i := range l.Kept {
		t := &l.Kept[i]
		all = append(all, &t.N, &t.Parts, &t.Found)
	}
	return all
}

// AppendBinary appends the stored form to b. The error is always nil.
func (t *Tally) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, tagTally, tallyVersion)
	for _, n := range t.counts() {
		b = binary.AppendVarint(b, *n)
	}
	for _, d := range t.sums() {
		b = appendDecimal(b, *d)
	}
	return b, nil
}

// UnmarshalBinary reads what [Tally.AppendBinary] wrote. The error is [ErrStored]; t
// is of no turns then.
func (t *Tally) UnmarshalBinary(b []byte) error {
	*t = Tally{}
	in := open(b, tagTally, tallyVersion)
	for _, n := range t.counts() {
		*n = in.int()
	}
	for _, d := range t.sums() {
		*d = in.decimal()
	}
	if err := in.done(); err != nil {
		*t = Tally{}
		return err
	}
	return nil
}
