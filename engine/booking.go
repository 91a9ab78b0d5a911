package engine

import (
	"time"

	"github.com/warmroute/warmroute/pricing"
)

// StageBegun is the stage of an attempt whose end is not known. It occurs only
// in turns that are not settled.
const StageBegun Stage = "begun"

// Book is the turn as the ledger keeps it, settled.
//
// Outcome, detail, verdict and estimate are those of the model of the last
// attempt; without an attempt, of the plan's first model. Money is computed
// where the usage is complete, at the card that the attempt holds: the rates of
// its own moment, of the prompt size that was reported and of the service tier
// that served.
func Book(t Turn) Booked {
	b := book(&t)
	b.State = Settled
	b.Took = t.Took
	finding := 0
	if last, ok := t.Last(); ok {
		finding = last.Finding
		if last.Candidate.Route != nil {
			b.Model = last.Candidate.Route.Model.Name
		}
	}
	b.find(&t, finding)
	return b
}

// BookIntent is the turn as it is known before next is tried: unsettled, with
// next as an attempt that has begun.
func BookIntent(t *Turn, next Candidate, now time.Time) Booked {
	b := book(t)
	begun := BookedAttempt{Credential: next.Credential, Group: next.Group, Stage: StageBegun, Accepted: true, Started: utc(now)}
	finding := 0
	if next.Route != nil {
		begun.Model, begun.Vendor = next.Route.Model.Name, next.Route.Vendor.Name
		for i := range t.Decision.Models {
			if t.Decision.Models[i].Model == next.Route.Model {
				finding = i
			}
		}
	}
	b.Attempts = append(b.Attempts, begun)
	b.Model = begun.Model
	b.find(t, finding)
	return b
}

// book is what a turn's record says whether or not it has ended.
func book(t *Turn) Booked {
	b := Booked{
		ID:      t.ID,
		Tenant:  t.Tenant,
		Client:  t.Session.Client,
		API:     t.API,
		Stream:  t.Stream,
		Session: t.Session.ID,
		Class:   t.Session.Class,
		Parent:  t.Session.Parent,
		Target:  t.Target,
		Scope:   t.Scope,
		Catalog: t.Catalog,
		Trial:   t.Trial,
		Holdout: t.Holdout,
		Started: utc(t.Started),
	}
	if n := len(t.Plan.Candidates); n > 0 {
		b.Order = make([]BookedCandidate, n)
	}
	for i := range b.Order {
		c := &t.Plan.Candidates[i]
		b.Order[i] = BookedCandidate{Credential: c.Credential, Group: c.Group, Down: c.Down}
		if c.Route != nil {
			b.Order[i].Model, b.Order[i].Vendor = c.Route.Model.Name, c.Route.Vendor.Name
		}
	}
	if n := len(t.Attempts); n > 0 {
		b.Attempts = make([]BookedAttempt, n, n+1)
	}
	for i := range b.Attempts {
		b.Attempts[i] = bookAttempt(&t.Attempts[i])
	}
	return b
}

// find takes over what affinity found for one of the turn's models.
func (b *Booked) find(t *Turn, finding int) {
	if finding < 0 || finding >= len(t.Decision.Models) {
		return
	}
	f := &t.Decision.Models[finding]
	b.Outcome, b.Detail, b.Pinned, b.Displaced = f.Outcome, f.Detail, f.Pinned, f.Displaced
	b.Gate, b.Verdict, b.Prompt = f.Gate, f.Verdict, f.Prompt
	if b.Model == "" && f.Model != nil {
		b.Model = f.Model.Name
	}
}

func bookAttempt(a *Attempt) BookedAttempt {
	b := BookedAttempt{
		Credential:  a.Candidate.Credential,
		Group:       a.Candidate.Group,
		Stage:       a.Stage,
		Failure:     a.Failure,
		Status:      a.Status,
		Started:     utc(a.Started),
		Accepted:    a.Billable(),
		FirstByte:   a.FirstByte,
		Took:        a.Took,
		Usage:       a.Usage,
		Quality:     a.Quality,
		ServedModel: a.ServedModel,
		ServedTier:  a.ServedTier,
		TierAssumed: a.TierAssumed,
		Speed:       a.Speed,
		Region:      a.Region,
		MarkersCut:  a.MarkersCut,
		Implicit:    a.Implicit,
		ReadUnknown: a.ReadUnknown,
		Charged:     a.Charged,
		RawUsage:    a.RawUsage,
	}
	if len(a.RawUsage) > MaxRawUsage {
		b.RawUsage = nil
	}
	if route := a.Candidate.Route; route != nil {
		b.Model, b.Vendor = route.Model.Name, route.Vendor.Name
	}
	if a.Quality.Complete() || a.Quality == pricing.Partial {
		b.Card, b.Priced = a.Card, a.Priced
		for i := range a.Sides {
			b.Sides = append(b.Sides, BookedSide(a.Sides[i]))
		}
	}
	b.Price()
	return b
}

// Answered says whether the vendor's answer had begun.
func (a *BookedAttempt) Answered() bool { return a.Status != 0 }

// PromptCost is what the tokens of the attempt's prompt cost at its card, without the
// fee of the request. It is known for usage that was cut short too: vendors report the
// prompt before they answer, and what is unknown then is the output.
func (a *BookedAttempt) PromptCost() pricing.Cost {
	if !a.Quality.Complete() && a.Quality != pricing.Partial || a.Usage.Prompt() == 0 {
		return pricing.Cost{}
	}
	prompt, card := a.Usage, a.Card
	prompt.Output, prompt.Reasoning = 0, 0
	card.Request = pricing.Rate{}
	return card.Cost(prompt)
}

// Price computes what the attempt's usage cost and saved at its card: a reader
// of stored attempts need not store both. Where the usage is not complete, both
// are unknown.
func (a *BookedAttempt) Price() {
	a.Cost, a.Saving = pricing.Cost{}, pricing.Saving{}
	if !a.Quality.Complete() {
		return
	}
	a.Cost, a.Saving = a.Card.Cost(a.Usage), a.Card.Saving(a.Usage)
	for i := range a.Sides {
		side := &a.Sides[i]
		a.Cost = a.Cost.Plus(side.Card.Cost(side.Usage))
		a.Saving = a.Saving.Plus(side.Card.Saving(side.Usage))
	}
}

// Used is all that the attempt used: its usage and its sides'.
func (a *BookedAttempt) Used() pricing.Usage {
	used := a.Usage
	for i := range a.Sides {
		used = plus(used, a.Sides[i].Usage, 1)
	}
	return used
}

// Last is the attempt that served the turn or was made last; ok is false if
// none was.
func (b *Booked) Last() (a *BookedAttempt, ok bool) {
	if len(b.Attempts) == 0 {
		return nil, false
	}
	return &b.Attempts[len(b.Attempts)-1], true
}

// Vendor is that of the last attempt; empty if none was made.
func (b *Booked) Vendor() string {
	if a, ok := b.Last(); ok {
		return a.Vendor
	}
	return ""
}

// Served says whether the turn was.
func (b *Booked) Served() bool {
	a, ok := b.Last()
	return ok && a.Stage == StageServed
}

// utc is t as it can be stored: without a zone and a monotonic reading.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Round(0).UTC()
}
