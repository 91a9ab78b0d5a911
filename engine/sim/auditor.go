package sim

import (
	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// Auditor judges turns for a ledger: it is an [engine.Auditor]. The zero Auditor is
// ready; it holds nothing, and may be used from several goroutines.
//
// A verdict is a [Judgement], an account an [Account].
type Auditor struct{}

// Audit judges a turn that has ended.
func (Auditor) Audit(t *engine.Turn, remembered []byte) engine.Audit {
	var m memory
	m.read(remembered)
	asked := &t.Asked
	f := FactOf(t, Request{
		Thread:   asked.Thread,
		Kept:     m.kept(asked.Thread, asked.Prefix),
		Markers:  asked.Markers,
		Longest:  asked.MarkerTTL,
		Service:  asked.Service,
		Speed:    asked.Speed,
		Region:   asked.Region,
		Lifetime: asked.Lifetime,
	})
	f.Forked = m.fork(&f, asked.Prefix)
	res := m.session.Step(&f)
	if tokens := promptAndAnswer(t, &f); tokens > 0 {
		m.remember(asked.Thread, t.Started, tokens, asked.Prefix)
	}
	v := judgementOf(t, &f, &res)
	var account Account
	account.take(&res)
	m.trial.take(t, &res, &account.Tally)
	said := engine.Audit{Verdict: v.append(nil), Account: account.append(nil)}
	if res.Miss.Cause != NoMiss {
		said.Miss = res.Miss.Cause.String()
	}
	if t.Session.Found() {
		said.Memory = m.append(nil)
	}
	return said
}

// promptAndAnswer is how many tokens the next prompt would have if it went on; 0
// where no vendor took the turn.
func promptAndAnswer(t *engine.Turn, f *Fact) int64 {
	for i := len(t.Attempts) - 1; i >= 0; i-- {
		a := &t.Attempts[i]
		switch {
		case !a.Taken():
		case a.Quality.Complete():
			return a.Usage.Prompt() + a.Usage.Output - a.Usage.Reasoning
		default:
			return max(f.Prompt, a.Usage.Prompt())
		}
	}
	return 0
}

// Sum begins a sum of accounts.
func (Auditor) Sum() engine.AccountSum { return &accountSum{} }

var _ engine.Auditor = Auditor{}

// Account is what turns of one route come to: their tally, and what they teach of the
// route. The zero Account is of no turns.
type Account struct {
	Tally   Tally
	Learned Learned
}

const (
	tagAccount     = 'A'
	accountVersion = 1
)

func (a *Account) take(res *Result) {
	a.Tally.Take(res)
	a.Learned.Learn(res)
}

// Add is both accounts together.
func (a Account) Add(other Account) Account {
	return Account{Tally: a.Tally.Add(other.Tally), Learned: a.Learned.Add(other.Learned)}
}

// MarshalBinary is the account as an [Auditor] gives it. It never fails.
func (a Account) MarshalBinary() ([]byte, error) { return a.append(nil), nil }

// UnmarshalBinary reads an account as an [Auditor] gives it; nothing at all is the
// account of no turns. The error is [ErrStored]; a is of no turns then.
func (a *Account) UnmarshalBinary(b []byte) error {
	*a = Account{}
	if len(b) == 0 {
		return nil
	}
	in := open(b, tagAccount, accountVersion)
	n := in.upTo(uint64(len(in.b)))
	if in.bad || int(n) > len(in.b) || a.Tally.UnmarshalBinary(in.b[:n]) != nil || a.Learned.UnmarshalBinary(in.b[n:]) != nil {
		*a = Account{}
		return ErrStored
	}
	return nil
}

func (a *Account) append(b []byte) []byte {
	b = append(b, tagAccount, accountVersion)
	tally, _ := a.Tally.AppendBinary(nil) // neither ever fails
	b = append(appendLength(b, len(tally)), tally...)
	b, _ = a.Learned.AppendBinary(b)
	return b
}

type accountSum struct{ sum Account }

func (s *accountSum) Add(account []byte) bool {
	var a Account
	if a.UnmarshalBinary(account) != nil {
		return false
	}
	s.sum = s.sum.Add(a)
	return true
}

func (s *accountSum) Account() []byte { return s.sum.append(nil) }

// Judgement is what an [Auditor] says of one turn.
type Judgement struct {
	Same, Late     bool   // as of a [Result]
	Without        string // vendor that would have served without affinity; empty where none is known
	Account        string // and its credential
	Predicted      pricing.Usage
	Counterfactual pricing.Usage
	CostWithout    Money
	Saving         Money
	Promised       int64
	Expected       int64
	Miss           Miss
}

// judgementOf is a result with the names of its turn.
func judgementOf(t *engine.Turn, f *Fact, res *Result) Judgement {
	v := Judgement{
		Same: res.Same, Late: res.Late, Predicted: res.Predicted, Counterfactual: res.Counterfactual,
		CostWithout: res.CostWithout, Saving: res.Saving, Promised: res.Promised, Expected: res.Expected, Miss: res.Miss,
	}
	if res.Without >= 0 && res.Without < len(f.Offers) && res.Without < len(t.Plan.Candidates) {
		c := &t.Plan.Candidates[res.Without]
		v.Without, v.Account = vendorOf(c.Route), c.Credential
	}
	return v
}

func vendorOf(r *catalog.Route) string {
	if r == nil {
		return ""
	}
	return r.Vendor.Name
}
