package engine

import (
	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// Estimate is the prompt size of a turn before a vendor has counted it.
type Estimate struct {
	Tokens int64
	Basis  string // "reported+new_text" or "text_bytes"
}

// Decision is the order in which candidates are tried and what was found on
// the way there.
type Decision struct {
	Order  []int     // indexes into Plan.Candidates: a permutation of all of them
	Models []Finding // one for each of the plan's models
}

// Finding is what affinity did for one model, with every number compared.
type Finding struct {
	Model     *catalog.Model
	Outcome   Outcome
	Detail    Detail
	Pinned    string       // vendor the newest or used entry names; empty with no_pin
	Displaced string       // vendor that would have been first; only with promoted, and empty where that is another credential of the same vendor
	Gate      catalog.Gate // the gate that was asked; empty if none was
	Verdict   pricing.Verdict
	Prompt    Estimate
	Used      Entry // the entry that was judged; zero without a pin
}
