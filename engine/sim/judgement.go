package sim

import (
	"encoding/binary"

	"github.com/warmroute/warmroute/pricing"
)

const (
	tagJudgement     = 'V'
	judgementVersion = 1

	judgedSame = 1
	judgedLate = 2
)

// maxName is how long a stored name may be.
const maxName = 1 << 16

func appendLength(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) }

func appendName(b []byte, s string) []byte { return append(appendLength(b, len(s)), s...) }

func (in *input) name() string {
	n := in.upTo(maxName)
	if in.bad || int(n) > len(in.b) {
		in.fail()
		return ""
	}
	s := string(in.b[:n])
	in.b = in.b[n:]
	return s
}

func appendMoney(b []byte, m Money) []byte {
	if !m.Known {
		return append(b, 0)
	}
	return appendDecimal(append(b, 1), m.Amount)
}

func (in *input) money() Money {
	if in.upTo(1) == 0 {
		return Money{}
	}
	return Known(in.decimal())
}

func usageCounts(u *pricing.Usage) [6]*int64 {
	return [...]*int64{&u.Input, &u.CacheRead, &u.CacheWrite5m, &u.CacheWrite1h, &u.Output, &u.Reasoning}
}

// append appends the stored form.
func (v *Judgement) append(b []byte) []byte {
	flags := byte(0)
	if v.Same {
		flags |= judgedSame
	}
	if v.Late {
		flags |= judgedLate
	}
	b = append(b, tagJudgement, judgementVersion, flags)
	b = appendName(appendName(b, v.Without), v.Account)
	for _, u := range [...]*pricing.Usage{&v.Predicted, &v.Counterfactual} {
		for _, n := range usageCounts(u) {
			b = binary.AppendVarint(b, *n)
		}
	}
	b = appendMoney(appendMoney(b, v.CostWithout), v.Saving)
	for _, n := range [...]int64{v.Promised, v.Expected, v.Miss.Tokens} {
		b = binary.AppendVarint(b, n)
	}
	b = appendName(b, v.Miss.Cause.String())
	return appendMoney(b, v.Miss.Loss)
}

// UnmarshalBinary reads a judgement as an [Auditor] gives it. The error is [ErrStored];
// v says nothing then.
func (v *Judgement) UnmarshalBinary(b []byte) error {
	*v = Judgement{}
	in := open(b, tagJudgement, judgementVersion)
	flags := in.upTo(judgedSame | judgedLate)
	v.Same, v.Late = flags&judgedSame != 0, flags&judgedLate != 0
	v.Without, v.Account = in.name(), in.name()
	for _, u := range [...]*pricing.Usage{&v.Predicted, &v.Counterfactual} {
		for _, n := range usageCounts(u) {
			*n = in.int()
		}
	}
	v.CostWithout, v.Saving = in.money(), in.money()
	v.Promised, v.Expected, v.Miss.Tokens = in.int(), in.int(), in.int()
	cause, ok := CauseOf(in.name())
	v.Miss.Cause, v.Miss.Loss = cause, in.money()
	if in.done() != nil || !ok {
		*v = Judgement{}
		return ErrStored
	}
	return nil
}
