package web

import (
	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/sim"
)

// missesPage is the turns that read less than they could have, and why.
type missesPage struct {
	frame
	Ranges []link
	Chips  []chip
	Reason string // why there are no sums by cause; empty if there are
	Causes []causeRow
	Loss   card
	Rates  []fact
	Empty  *empty
	Table  turnTable
	First  string
	Next   string
}

// causeRow is the misses of one cause.
type causeRow struct {
	Cause, Means, By, Avoidable, Turns, Tokens string
	Loss                                       sumText
	URL                                        string
	Fill                                       string
}

// missText is what one turn missed; empty if it did not.
type missText struct{ Cause, Means, By, Tokens, Loss string }

func (c *call) misses() (view, error) {
	c.ask.kept = "cause"
	q := c.ask.query(c.now)
	account, err := c.account(q)
	if err != nil {
		return view{}, err
	}
	q.Miss = engine.AnyMiss
	if cause, ok := sim.CauseOf(c.ask.get("cause")); ok && cause != sim.NoMiss {
		q.Miss = cause.String()
	}
	list, next, err := c.pages.options.Books.Turns(c.ctx, q, engine.Page{After: c.ask.get("after")})
	if err != nil {
		return view{}, err
	}
	page := missesPage{
		frame: c.frame("Misses", "/ui/misses"), Ranges: c.ask.ranges(), Chips: c.ask.chips(),
		Table: turnTable{Brief: true, Missed: true, Turns: c.turnRows(list), Tenants: tenants(list)},
	}
	if account.Known {
		page.Causes, page.Rates = c.causes(&account.Tally), missRates(&account.Tally)
	} else {
		page.Reason = account.Reason
	}
	if c.ask.get("after") != "" {
		page.First = c.ask.with("/ui/misses")
	}
	if next != "" {
		page.Next = c.ask.with("/ui/misses", "after", next)
	}
	if len(list) == 0 {
		page.Empty = &empty{Title: "No misses", Text: "No turn of the last " + c.ask.span.Name + " that is meant by this address read less than it could have."}
		if !account.Known {
			page.Empty, err = c.nothing("/ui/misses")
		}
	}
	return view{name: "misses", data: page}, err
}

// causes are the misses by cause, in the order in which causes are asked.
func (c *call) causes(t *sim.Tally) []causeRow {
	var losses []decimal.Decimal
	var most int64
	for cause := sim.NoMiss + 1; cause < sim.Causes; cause++ {
		losses = append(losses, t.Missed[cause].Loss)
		most = max(most, t.Missed[cause].Turns)
	}
	write := c.money.column(losses)
	var rows []causeRow
	for cause := sim.NoMiss + 1; cause < sim.Causes; cause++ {
		m := &t.Missed[cause]
		if m.Turns == 0 {
			continue
		}
		row := causeRow{
			Cause: cause.String(), Means: causeMeaning(cause), By: blameText(cause), Avoidable: "no", Turns: count(m.Turns), Tokens: tokens(m.Tokens),
			Loss: sumText{Text: write(m.Loss)}, URL: c.ask.with("/ui/misses", "cause", cause.String()), Fill: width(m.Turns, most),
		}
		if cause.Avoidable() {
			row.Avoidable = "yes"
		}
		switch {
		case m.Unknown == m.Turns:
			row.Loss = sumText{Text: unknown, Kind: "dim"}
		case m.Unknown > 0:
			row.Loss.Word = "at least"
		}
		rows = append(rows, row)
	}
	return rows
}

// missRates are the rates that say whether lifetimes are right, with their counts.
func missRates(t *sim.Tally) []fact {
	rate := func(name string, s sim.Share, note string) fact {
		f := fact{Name: name, Value: percent(s.Of, s.All), Note: note}
		if s.All > 0 {
			f.Note = count(s.Of) + " / " + count(s.All) + ", " + note
		}
		return f
	}
	return []fact{
		rate("Avoidable miss rate", t.AvoidableMissRate(), "of turns that could have read"),
		rate("pin_expired rate", t.PinExpiredRate(), "of look-ups that found a pin, live or dead"),
		rate("Expired but warm", t.ExpiredButWarm(), "of expired pins whose cache still held half: lifetimes are too short"),
		rate("Live but cold", t.LiveButCold(), "of live pins whose cache held less than a tenth: lifetimes are too long, or the vendor evicts"),
		rate("Prefix retention", t.Retention(), "of the tokens that the turn before promised"),
	}
}

// miss is what a turn missed.
func (c *call) miss(b *engine.Booked) missText {
	j, ok := judgement(b)
	if !ok || j.Miss.Cause == sim.NoMiss {
		return missText{}
	}
	text := missText{
		Cause: j.Miss.Cause.String(), Means: causeMeaning(j.Miss.Cause), By: blameText(j.Miss.Cause), Tokens: tokens(j.Miss.Tokens), Loss: unknown,
	}
	if j.Miss.Loss.Known {
		text.Loss = c.money.amount(j.Miss.Loss.Amount)
	}
	return text
}

// judgement is what was said of a turn; ok is false where nobody judged it.
func judgement(b *engine.Booked) (j sim.Judgement, ok bool) {
	return j, len(b.Audit) > 0 && j.UnmarshalBinary(b.Audit) == nil
}

func blameText(c sim.Cause) string {
	switch c.Blame() {
	case sim.Gateway:
		return "the gateway's doing"
	case sim.Vendor:
		return "the vendor's doing"
	case sim.Client:
		return "the client's doing"
	}
	return "nobody's doing"
}

// causeMeaning is a cause in a sentence, with what helps where something does.
func causeMeaning(c sim.Cause) string {
	switch c {
	case sim.PrefixChanged:
		return "the client rewrote what had been cached: keep the system prompt and tools as they are"
	case sim.NoCacheMarker:
		return "the vendor caches what is marked, and nothing was: mark the stable prefix"
	case sim.BelowMinPrefix:
		return "the route that served caches no prompt this short"
	case sim.DeliberateMove:
		return "another vendor was cheaper even cold"
	case sim.PlanExcluded:
		return "settings kept the turn from the warm vendor"
	case sim.VendorSwitched:
		return "the warm vendor was allowed and healthy, and not used"
	case sim.CredentialSwitched:
		return "the same vendor, another account"
	case sim.PinLost:
		return "the pin was gone before its time: a restart, or replicas without a shared store"
	case sim.HealthDown:
		return "the warm vendor was down or failed"
	case sim.PinExpired:
		return "the pause was longer than the cache or the pin lives: a longer lifetime may help"
	case sim.VendorEvicted:
		return "same vendor, in time, same prefix, and next to nothing read"
	}
	return "none of the known causes"
}
