package wire

import (
	"slices"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// reading is what numbers mean by a convention.
type reading struct {
	prompt, tool, read, write5m, write1h int64
	output, reasoning, total             int64
	cached, reasoned                     catalog.Standing // never Either

	hasPrompt, hasOutput bool
	derived              bool // something was inferred, or settled against what was said
	contradictory        bool // the numbers do not add up, whichever way they are taken
}

// usage puts the numbers into buckets that do not overlap.
//
// Where the vendor states a total, prompt and output must add up to it. If they do
// only with cached tokens or reasoning taken the other way, that is how they are
// taken; if they never do, the usage is invalid, because nobody can say which of
// the numbers is billed.
func (t *tally) usage(c *catalog.Usage) (pricing.Usage, pricing.Quality) {
	if !t.any {
		return pricing.Usage{}, pricing.Missing
	}
	r := t.reading(c)
	r.addUp(c)
	u := r.buckets()
	switch {
	case t.invalid || r.contradictory:
		return u, pricing.Invalid
	case !r.hasPrompt || !r.hasOutput, u.Prompt() == 0: // no prompt is empty: its number has not come
		return u, pricing.Partial
	case r.derived:
		return u, pricing.Derived
	}
	return u, pricing.Authoritative
}

// reading takes the numbers as the convention says, and infers what is left out of
// the prompt.
func (t *tally) reading(c *catalog.Usage) reading {
	r := reading{
		prompt:    t.count[catalog.PromptCount],
		tool:      t.count[catalog.ToolCount],
		read:      t.count[catalog.ReadCount],
		write5m:   t.count[catalog.Write5mCount],
		write1h:   t.count[catalog.Write1hCount],
		output:    t.count[catalog.OutputCount],
		reasoning: t.count[catalog.ReasoningCount],
		total:     t.count[catalog.TotalCount],
		cached:    c.Cached,
		reasoned:  c.Reasoned,
		hasPrompt: t.seen[catalog.PromptCount],
		hasOutput: t.seen[catalog.OutputCount],
	}
	// Writes whose lifetime is not named have the ordinary one.
	written := r.write5m + r.write1h
	unsplit := t.count[catalog.WriteCount] - written
	r.write5m += max(0, unsplit)
	r.derived = unsplit > 0 && r.write1h > 0 || unsplit < 0 && t.seen[catalog.WriteCount]
	if c.Cached == catalog.Either {
		r.cached = catalog.Inside
		if r.hasPrompt && r.stored() > r.prompt {
			r.cached, r.derived = catalog.Beside, true
		}
	}
	if !t.seen[catalog.UncachedCount] || r.cached != catalog.Inside {
		return r
	}
	uncached := t.count[catalog.UncachedCount]
	rest := r.prompt - uncached - r.write5m - r.write1h
	switch {
	case !r.hasPrompt:
		r.prompt, r.hasPrompt, r.derived = r.stored()+uncached, true, true
	case !t.seen[catalog.ReadCount] && rest >= 0:
		r.read, r.derived = rest, true
	case rest != r.read:
		r.derived = true
	}
	return r
}

// stored is the part of the prompt that was read from a cache or written to one.
func (r *reading) stored() int64 { return r.read + r.write5m + r.write1h }

// sum is prompt and output together, where cached tokens and reasoning stand so.
func (r *reading) sum(cached, reasoned catalog.Standing) int64 {
	sum := r.prompt + r.tool + r.output
	if cached == catalog.Beside {
		sum += r.stored()
	}
	if reasoned == catalog.Beside {
		sum += r.reasoning
	}
	return sum
}

// flip is the other way to stand.
func flip(s catalog.Standing) catalog.Standing {
	if s == catalog.Inside {
		return catalog.Beside
	}
	return catalog.Inside
}

// addUp holds the numbers against the total.
func (r *reading) addUp(c *catalog.Usage) {
	if r.total == 0 || !r.hasPrompt && !r.hasOutput {
		return
	}
	rest := r.total - r.sum(r.cached, r.reasoned)
	switch {
	case r.hasPrompt && r.hasOutput && rest == 0:
	case r.hasPrompt && r.hasOutput:
		for _, way := range [...][2]catalog.Standing{
			{r.cached, flip(r.reasoned)}, {flip(r.cached), r.reasoned}, {flip(r.cached), flip(r.reasoned)},
		} {
			if r.sum(way[0], way[1]) == r.total {
				r.cached, r.reasoned, r.derived = way[0], way[1], true
				return
			}
		}
		if rest < 0 || !c.RestIsOutput {
			r.contradictory = true
			return
		}
		r.output += rest
		r.derived = true
	case rest < 0:
		r.contradictory = true
	case r.hasPrompt:
		r.output, r.hasOutput, r.derived = rest, true, true
	default:
		r.prompt, r.hasPrompt, r.derived = rest, true, true
	}
}

// buckets takes cached tokens out of the prompt and reasoning into the output.
func (r *reading) buckets() pricing.Usage {
	u := pricing.Usage{
		Input:        r.prompt + r.tool,
		CacheRead:    r.read,
		CacheWrite5m: r.write5m,
		CacheWrite1h: r.write1h,
		Output:       r.output,
		Reasoning:    r.reasoning,
	}
	if r.reasoned == catalog.Beside {
		u.Output += u.Reasoning
	}
	if u.Reasoning > u.Output {
		u.Reasoning, r.derived = u.Output, true
	}
	switch stored := r.stored(); {
	case r.cached == catalog.Beside:
	case !r.hasPrompt: // what was stored is all that is known of it
	case stored <= r.prompt:
		u.Input -= stored
	default:
		// More cached than there was prompt: never below zero, never more than the prompt.
		u.CacheRead = min(r.read, r.prompt)
		u.CacheWrite1h = min(r.write1h, r.prompt-u.CacheRead)
		u.CacheWrite5m = r.prompt - u.CacheRead - u.CacheWrite1h
		u.Input, r.derived = r.tool, true
	}
	return u
}

// sides finds the steps that the numbers at the top leave out: those of the
// convention's kinds, and tries of another model than the one that served, unless
// the numbers at the top are the sum with them.
func (t *tally) sides(c *catalog.Usage, r *Report) {
	var total int64
	serving := ""
	for i := range t.steps {
		if s := &t.steps[i]; !slices.Contains(c.SideKinds, s.kind) {
			u, _ := s.usage(c)
			total += u.Prompt() + u.Output
			serving = s.model
		}
	}
	summed := total == r.Usage.Prompt()+r.Usage.Output
	for i := range t.steps {
		s := &t.steps[i]
		if !slices.Contains(c.SideKinds, s.kind) && (summed || s.model == serving) {
			continue
		}
		u, q := s.usage(c)
		switch {
		case q == pricing.Invalid:
			r.Quality = pricing.Invalid
		case q == pricing.Partial && r.Quality.Complete() && u != pricing.Usage{}:
			r.Quality = pricing.Partial
		}
		if u == (pricing.Usage{}) {
			continue
		}
		kind := s.kind
		if kind == "" {
			kind = "iteration"
		}
		r.Sides = append(r.Sides, engine.Side{Kind: kind, Model: s.model, Usage: u})
	}
}
