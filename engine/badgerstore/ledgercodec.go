package badgerstore

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// The form of a value of the books is that of a pin's: version, CRC32C of key and
// value, and what it holds. In records a name is 0 and its text where it comes
// first, and its number among them afterwards. What an attempt cost and saved is
// not stored: it follows from its usage and its card.
const (
	bookVersion  = 2
	firstVersion = 1 // read, and no longer written: attempts ended with their card

	flagStream  = 1
	flagSettled = 2
	flagPays    = 4
	flagTrial   = 8
	flagHoldout = 16

	flagAccepted = 1
	flagAssumed  = 2
	flagImplicit = 4
	flagCharged  = 8
	flagUnread   = 16
	flagCut      = 32
	flagDown     = 1

	maxList        = 4096 // members of a list; the engine's are far shorter
	maxCoefficient = 512  // bytes of a decimal's digits
	maxExponent    = 4096
	digitsOfInt64  = 18 // that always fit
)

// seal sets version and checksum of a value that was begun with sealed.
func seal(key, b []byte) []byte {
	b[0] = bookVersion
	binary.LittleEndian.PutUint32(b[1:], checksum(key, b))
	return b
}

func sealed(size int) []byte { return make([]byte, headSize, headSize+size) }

// unseal is what a value holds, if it is whole and was stored at key.
func unseal(key, value []byte) (held []byte, ok bool) {
	if len(value) < headSize || value[0] < firstVersion || value[0] > bookVersion || binary.LittleEndian.Uint32(value[1:]) != checksum(key, value) {
		return nil, false
	}
	return value[headSize:], true
}

// output is a record on its way to bytes.
type output struct {
	b     []byte
	names []string
}

func (o *output) name(s string) {
	if i := slices.Index(o.names, s); i >= 0 {
		o.b = binary.AppendUvarint(o.b, uint64(i+1))
		return
	}
	o.names = append(o.names, s)
	o.b = appendString(append(o.b, 0), s)
}

func (o *output) number(v int64) { o.b = binary.AppendVarint(o.b, v) }

func (o *output) time(t time.Time) {
	o.number(t.Unix())
	o.number(int64(t.Nanosecond()))
}

func (o *output) decimal(d decimal.Decimal) { o.b = appendDecimal(o.b, d) }

// appendDecimal writes exponent and digits as they are: what is read back prints
// the same.
func appendDecimal(b []byte, d decimal.Decimal) []byte {
	b = binary.AppendVarint(b, int64(d.Exponent()))
	if d.NumDigits() <= digitsOfInt64 {
		return binary.AppendVarint(append(b, 0), d.CoefficientInt64())
	}
	c := d.Coefficient()
	sign := byte(1)
	if c.Sign() < 0 {
		sign = 2
	}
	return appendString(append(b, sign), string(c.Bytes()))
}

func (o *output) rate(r pricing.Rate) {
	if !r.Known() {
		o.b = append(o.b, 0)
		return
	}
	o.b = append(o.b, 1)
	o.decimal(r.Decimal())
}

func (o *output) usage(u pricing.Usage) {
	for _, v := range [...]int64{u.Input, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h, u.Output, u.Reasoning} {
		o.number(v)
	}
}

func flag(set bool, bit byte) byte {
	if set {
		return bit
	}
	return 0
}

// encodeBooked returns the value to be stored at key.
func encodeBooked(key []byte, b *engine.Booked) []byte {
	var space [24]string
	o := output{b: sealed(512), names: space[:0]}
	o.booked(b)
	return seal(key, o.b)
}

func (o *output) booked(b *engine.Booked) {
	o.b = append(o.b, flag(b.Stream, flagStream)|flag(b.State == engine.Settled, flagSettled)|flag(b.Verdict.Pays, flagPays)|
		flag(b.Trial, flagTrial)|flag(b.Holdout, flagHoldout))
	for _, s := range [...]string{
		b.ID, b.Tenant, b.Client, string(b.API), b.Session, string(b.Class), b.Parent, b.Target, b.Scope, b.Catalog, b.Model,
		string(b.Outcome), string(b.Detail), b.Pinned, b.Displaced, string(b.Gate), string(b.Verdict.Reason), b.Prompt.Basis,
	} {
		o.name(s)
	}
	o.time(b.Started)
	o.number(int64(b.Took))
	o.number(b.Prompt.Tokens)
	o.rate(b.Verdict.CacheRead)
	o.rate(b.Verdict.Input)
	rivals := b.Verdict.Rivals[:min(len(b.Verdict.Rivals), maxList)]
	o.number(int64(len(rivals)))
	for i := range rivals {
		o.name(rivals[i].Vendor)
		o.rate(rivals[i].Input)
	}
	order := b.Order[:min(len(b.Order), maxList)]
	o.number(int64(len(order)))
	for i := range order {
		c := &order[i]
		o.b = append(o.b, flag(c.Down, flagDown))
		o.name(c.Model)
		o.name(c.Vendor)
		o.name(c.Credential)
		o.name(string(c.Group))
	}
	attempts := b.Attempts[:min(len(b.Attempts), maxList)]
	o.number(int64(len(attempts)))
	for i := range attempts {
		o.attempt(&attempts[i])
	}
	o.name(b.Miss)
	o.b = appendBytes(o.b, b.Audit)
}

func (o *output) attempt(a *engine.BookedAttempt) {
	o.b = append(o.b, flag(a.Accepted, flagAccepted)|flag(a.TierAssumed, flagAssumed)|flag(a.Implicit, flagImplicit)|
		flag(a.Charged.Known, flagCharged)|flag(a.ReadUnknown, flagUnread)|flag(a.MarkersCut > 0, flagCut))
	for _, s := range [...]string{
		a.Model, a.Vendor, a.Credential, string(a.Group), string(a.Stage), string(a.Failure), string(a.Quality), a.ServedModel, a.ServedTier,
	} {
		o.name(s)
	}
	o.time(a.Started)
	o.number(int64(a.Status))
	o.number(int64(a.FirstByte))
	o.number(int64(a.Took))
	if a.MarkersCut > 0 {
		o.number(int64(a.MarkersCut))
	}
	o.usage(a.Usage)
	o.rates(&a.Card)
	o.rate(a.Card.Request)
	parts := a.Card.Parts[:min(len(a.Card.Parts), maxList)]
	o.number(int64(len(parts)))
	for i := range parts {
		o.number(parts[i].Tokens)
		o.rates(&parts[i].Card)
	}
	o.name(a.Priced)
	o.name(a.Speed)
	o.name(a.Region)
	if a.Charged.Known {
		o.decimal(a.Charged.Amount)
	}
	o.b = appendBytes(o.b, a.RawUsage)
	sides := a.Sides[:min(len(a.Sides), maxList)]
	o.number(int64(len(sides)))
	for i := range sides {
		o.name(sides[i].Kind)
		o.name(sides[i].Model)
		o.usage(sides[i].Usage)
		o.rates(&sides[i].Card)
	}
}

// rates writes the five rates of a card.
func (o *output) rates(c *pricing.Card) {
	for _, r := range [...]pricing.Rate{c.Input, c.Output, c.CacheRead, c.CacheWrite5m, c.CacheWrite1h} {
		o.rate(r)
	}
}

// decodeBooked reads a record stored at key. ok is false for anything that
// encodeBooked did not write there.
func decodeBooked(key, value []byte) (b engine.Booked, ok bool) {
	held, ok := unseal(key, value)
	if !ok {
		return engine.Booked{}, false
	}
	return readBooked(value[0], held)
}

// bookInput is what is left of a record.
type bookInput struct {
	input
	names   []string
	version byte
}

func (in *bookInput) name() string {
	n := in.uvarint()
	switch {
	case n == 0 && !in.bad:
		s := in.string()
		in.names = append(in.names, s)
		return s
	case n > uint64(len(in.names)) || in.bad:
		in.fail()
		return ""
	}
	return in.names[n-1]
}

func (in *input) octet(allowed byte) byte {
	if len(in.b) == 0 || in.b[0]&^allowed != 0 {
		in.fail()
		return 0
	}
	v := in.b[0]
	in.b = in.b[1:]
	return v
}

func (in *input) list() int { return int(in.between(0, maxList)) }

func (in *input) decimal() decimal.Decimal {
	exponent := int32(in.between(-maxExponent, maxExponent))
	switch in.octet(3) {
	case 0:
		if n := in.number(); n != 0 || exponent != 0 {
			return decimal.New(n, exponent)
		}
		return decimal.Decimal{}
	case 1:
		return decimal.NewFromBigInt(in.digits(), exponent)
	case 2:
		return decimal.NewFromBigInt(new(big.Int).Neg(in.digits()), exponent)
	}
	in.fail()
	return decimal.Decimal{}
}

func (in *input) digits() *big.Int {
	s := in.string()
	if len(s) > maxCoefficient {
		in.fail()
		s = ""
	}
	return new(big.Int).SetBytes([]byte(s))
}

func (in *input) rate() pricing.Rate {
	if in.octet(1) == 0 {
		return pricing.Rate{}
	}
	d := in.decimal()
	if in.bad {
		return pricing.Rate{}
	}
	return pricing.PerMillion(d)
}

func (in *input) usage() (u pricing.Usage) {
	u.Input, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h = in.number(), in.number(), in.number(), in.number()
	u.Output, u.Reasoning = in.number(), in.number()
	return u
}

// readBooked reads what follows the head of a record of this version.
func readBooked(version byte, held []byte) (engine.Booked, bool) {
	var space [24]string
	in := bookInput{input: input{b: held}, names: space[:0], version: version}
	flags := in.octet(flagStream | flagSettled | flagPays | flagTrial | flagHoldout)
	b := engine.Booked{Stream: flags&flagStream != 0}
	if flags&flagSettled != 0 {
		b.State = engine.Settled
	}
	b.Verdict.Pays = flags&flagPays != 0
	b.Trial, b.Holdout = flags&flagTrial != 0, flags&flagHoldout != 0
	b.ID, b.Tenant, b.Client, b.API = in.name(), in.name(), in.name(), catalog.API(in.name())
	b.Session, b.Class, b.Parent = in.name(), engine.Class(in.name()), in.name()
	b.Target, b.Scope, b.Catalog, b.Model = in.name(), in.name(), in.name(), in.name()
	b.Outcome, b.Detail, b.Pinned, b.Displaced = engine.Outcome(in.name()), engine.Detail(in.name()), in.name(), in.name()
	b.Gate, b.Verdict.Reason, b.Prompt.Basis = catalog.Gate(in.name()), pricing.Reason(in.name()), in.name()
	b.Started, b.Took, b.Prompt.Tokens = in.time(), time.Duration(in.number()), in.number()
	b.Verdict.CacheRead, b.Verdict.Input = in.rate(), in.rate()
	for range in.list() {
		b.Verdict.Rivals = append(b.Verdict.Rivals, pricing.Rival{Vendor: in.name(), Input: in.rate()})
	}
	for range in.list() {
		down := in.octet(flagDown) != 0
		b.Order = append(b.Order, engine.BookedCandidate{
			Model: in.name(), Vendor: in.name(), Credential: in.name(), Group: engine.Group(in.name()), Down: down,
		})
	}
	for range in.list() {
		b.Attempts = append(b.Attempts, in.attempt())
		if in.bad {
			return engine.Booked{}, false
		}
	}
	if version > firstVersion {
		b.Miss = in.name()
		if audit := in.bytes(); len(audit) > 0 {
			b.Audit = slices.Clone(audit)
		}
	}
	if in.bad || len(in.b) != 0 {
		return engine.Booked{}, false
	}
	return b, true
}

func (in *bookInput) attempt() (a engine.BookedAttempt) {
	flags := in.octet(flagAccepted | flagAssumed | flagImplicit | flagCharged | flagUnread | flagCut)
	a.Accepted, a.TierAssumed, a.Implicit = flags&flagAccepted != 0, flags&flagAssumed != 0, flags&flagImplicit != 0
	a.ReadUnknown = flags&flagUnread != 0
	a.Model, a.Vendor, a.Credential, a.Group = in.name(), in.name(), in.name(), engine.Group(in.name())
	a.Stage, a.Failure, a.Quality = engine.Stage(in.name()), engine.Failure(in.name()), pricing.Quality(in.name())
	a.ServedModel, a.ServedTier = in.name(), in.name()
	a.Started, a.Status = in.time(), int(in.number())
	a.FirstByte, a.Took = time.Duration(in.number()), time.Duration(in.number())
	if flags&flagCut != 0 {
		a.MarkersCut = int(in.between(1, math.MaxInt32))
	}
	a.Usage = in.usage()
	in.rates(&a.Card)
	if in.version > firstVersion {
		in.rest(&a, flags&flagCharged != 0)
	}
	if !in.bad {
		a.Price()
	}
	return a
}

// rest is what attempts have had since version 2.
func (in *bookInput) rest(a *engine.BookedAttempt, charged bool) {
	a.Card.Request = in.rate()
	for range in.list() {
		part := pricing.Part{Tokens: in.number()}
		in.rates(&part.Card)
		a.Card.Parts = append(a.Card.Parts, part)
	}
	a.Priced, a.Speed, a.Region = in.name(), in.name(), in.name()
	if charged {
		a.Charged = pricing.Charge{Known: true, Amount: in.decimal()}
	}
	if raw := in.bytes(); len(raw) > 0 {
		a.RawUsage = slices.Clone(raw)
	}
	for range in.list() {
		side := engine.BookedSide{Kind: in.name(), Model: in.name(), Usage: in.usage()}
		in.rates(&side.Card)
		a.Sides = append(a.Sides, side)
	}
}

func (in *input) rates(c *pricing.Card) {
	for _, r := range [...]*pricing.Rate{&c.Input, &c.Output, &c.CacheRead, &c.CacheWrite5m, &c.CacheWrite1h} {
		*r = in.rate()
	}
}

// encodeSession returns the value to be stored at the key of a session's book.
func encodeSession(key []byte, s *engine.SessionBook) []byte {
	var space [24]string
	o := output{b: sealed(160), names: space[:0]}
	o.session(s)
	return seal(key, o.b)
}

func (o *output) session(s *engine.SessionBook) {
	for _, name := range [...]string{s.Tenant, string(s.Class), s.ID, s.Client, s.Parent} {
		o.name(name)
	}
	o.time(s.First)
	o.time(s.Last)
	o.number(s.Switches)
	for _, list := range [...][]string{s.Models, s.Latest, s.Vendors} {
		list = list[:min(len(list), maxList)]
		o.number(int64(len(list)))
		for _, name := range list {
			o.name(name)
		}
	}
	o.b = appendBytes(appendSums(o.b, &s.Sums), s.Account)
}

func decodeSession(key, value []byte) (s engine.SessionBook, ok bool) {
	held, ok := unseal(key, value)
	if !ok {
		return engine.SessionBook{}, false
	}
	return readSession(held)
}

func readSession(held []byte) (s engine.SessionBook, ok bool) {
	var space [24]string
	in := bookInput{input: input{b: held}, names: space[:0]}
	s.Tenant, s.Class, s.ID, s.Client, s.Parent = in.name(), engine.Class(in.name()), in.name(), in.name(), in.name()
	s.First, s.Last, s.Switches = in.time(), in.time(), in.number()
	for _, list := range [...]*[]string{&s.Models, &s.Latest, &s.Vendors} {
		for range in.list() {
			*list = append(*list, in.name())
		}
	}
	s.Sums = in.sums()
	if len(in.b) > 0 { // nothing follows in one that was written before version 2
		if account := in.bytes(); len(account) > 0 {
			s.Account = slices.Clone(account)
		}
	}
	if in.bad || len(in.b) != 0 || len(s.Latest) != len(s.Models) {
		return engine.SessionBook{}, false
	}
	return s, true
}
