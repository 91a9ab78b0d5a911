package engine

import "cmp"

// Next says which candidate is tried after these attempts: its index in the
// plan, the first of the decision's order at the start. ok is false when nobody
// is left, or nobody may be tried.
//
// Nobody may be tried once something was sent to the client, the caller has left,
// an attempt served, or the failure was the client's own: another vendor would
// find the same mistake. Where a vendor has refused what another is known to have
// sealed ([Attempt.Elsewhere]), that one may still be asked. After a refused credential every candidate that uses it
// is passed over. Each candidate is tried at most once. Of a model whose first vendor
// is asked alone ([ModelPlan]) no other is.
func Next(p Plan, d Decision, tried []Attempt) (index int, ok bool) {
	sealer := ""
	for i := range tried {
		if tried[i].final() {
			return 0, false
		}
		sealer = cmp.Or(sealer, tried[i].Elsewhere)
	}
	for _, index := range d.Order {
		if sealer != "" && p.Candidates[index].Route.Vendor.Name != sealer {
			continue
		}
		if p.Candidates[index].open(tried) && !p.backup(&d, index) {
			return index, true
		}
	}
	return 0, false
}

// backup says whether the candidate is of another vendor than the one that goes first
// in its model, where no other is wanted.
func (p *Plan) backup(d *Decision, index int) bool {
	m := &p.Models[p.modelOf(index)]
	if !m.Alone {
		return false
	}
	for _, first := range d.Order {
		if m.From <= first && first < m.To {
			return p.Candidates[first].Route.Vendor != p.Candidates[index].Route.Vendor
		}
	}
	return false
}

// final says whether the attempt ends the turn.
func (a *Attempt) final() bool {
	return a.Committed || a.Stage == StageServed || a.Stage == StageAbandoned ||
		a.Failure == FailureClientLeft || a.Failure == FailureShutdown || a.Failure == FailureRequest && a.Elsewhere == ""
}

// refusedKey says whether the vendor would not serve this credential.
func (a *Attempt) refusedKey() bool {
	return a.Failure == FailureCredential || a.Failure == FailureForbidden
}

// open says whether the candidate has not been tried, nor its credential refused.
func (c *Candidate) open(tried []Attempt) bool {
	for i := range tried {
		t := &tried[i].Candidate
		switch {
		case t.Route == c.Route && t.Credential == c.Credential && t.Group == c.Group:
			return false
		case tried[i].refusedKey() && t.Route.Vendor == c.Route.Vendor && t.Credential == c.Credential && t.Group == c.Group:
			return false
		}
	}
	return true
}
