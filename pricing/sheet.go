package pricing

import (
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Terms are the facts of one attempt that its price depends on.
//
// The zero Terms is an empty prompt at the beginning of time, without extras.
type Terms struct {
	Prompt   int64     // tokens of the whole prompt, those read from and written to a cache included
	At       time.Time // when the attempt itself began
	Tier     string    // service tier, in the vendor's word: the one that served, before that the one asked for
	Speed    string    // the vendor's word for a dearer speed, such as "fast"; empty: the ordinary one
	Region   string    // where the vendor was told to compute, such as "us"; empty: anywhere
	Implicit bool      // the vendor caches by itself on this turn: no markers ask it to
}

// Card is the set of rates that holds for one turn.
//
// The zero Card is unknown rates and no fee.
type Card struct {
	Input        Rate
	Output       Rate
	CacheRead    Rate
	CacheWrite5m Rate
	CacheWrite1h Rate

	// CacheReadImplicit is what a read costs where the vendor cached by itself and
	// has another price for that. [Sheet.At] resolves it into CacheRead; on the card
	// of a turn it is unknown.
	CacheReadImplicit Rate
	// Request is the fee of one request, as a rate per million requests. Unknown is
	// no fee.
	Request Rate
	// Parts are the stretches of a prompt that is billed piece by piece, in its
	// order. Empty: the rates above are for all of it. With parts they are the means
	// over the prompt, which the gates compare, and costs are computed from the parts.
	Parts []Part
}

// Part is a stretch of a prompt and the rates of its tokens.
type Part struct {
	Tokens int64
	Card   Card // of its prompt rates; Output is not looked at
}

// Tier is the card of a whole request whose prompt has strictly more than Above tokens.
type Tier struct {
	Above int64
	Card  Card
}

// Band is a card with its context tiers, lowest threshold first.
//
// By default a tier holds for the whole request. A Marginal band charges each
// prompt token the rates of the tier its own place falls into, and output those
// of the tier that the prompt's end falls into.
type Band struct {
	Card     Card
	Tiers    []Tier
	Marginal bool
}

// at is the card for a prompt of this many tokens: the tier with the highest
// threshold that lies strictly below it, for the whole request.
func (b *Band) at(promptTokens int64) Card {
	card := b.Card
	if b.Marginal && len(b.Tiers) > 0 && promptTokens > b.Tiers[0].Above {
		return b.marginal(promptTokens)
	}
	for i := range b.Tiers {
		if promptTokens <= b.Tiers[i].Above {
			break
		}
		card = b.Tiers[i].Card
	}
	return card
}

// Window is the band that holds at certain hours, by the clock on the wall of
// its zone.
type Window struct {
	Days [7]bool        // by time.Weekday; all false means every day
	From time.Duration  // since midnight in Zone, inclusive
	To   time.Duration  // since midnight in Zone, exclusive; at or before From it wraps midnight
	Zone *time.Location // nil means UTC
	Band Band
}

// Holds says whether now lies inside the window. A window that wraps midnight
// belongs to the day on which it starts.
func (w *Window) Holds(now time.Time) bool {
	zone := w.Zone
	if zone == nil {
		zone = time.UTC
	}
	local := now.In(zone)
	since := time.Duration(local.Hour())*time.Hour + time.Duration(local.Minute())*time.Minute +
		time.Duration(local.Second())*time.Second + time.Duration(local.Nanosecond())
	day := local.Weekday()
	if w.From < w.To {
		return since >= w.From && since < w.To && w.on(day)
	}
	if since >= w.From {
		return w.on(day)
	}
	return since < w.To && w.on((day+6)%7)
}

func (w *Window) on(day time.Weekday) bool {
	return w.Days == [7]bool{} || w.Days[day]
}

// Surcharge multiplies every rate of a card, not its fee.
type Surcharge struct {
	Speed  string // it applies at this speed only; empty: at any
	Region string // it applies to this region only; empty: in any
	Times  decimal.Decimal
}

// Sheet is everything a route's price can depend on during one period.
//
// What a sheet does not state is unknown: a tier, a window or a service tier
// that names no cache-read price has none, and a window without context tiers
// has no price above the ordinary band's threshold. The fee of a request is the
// same in all of them. The zero Sheet is unknown throughout, at all times.
type Sheet struct {
	From, To time.Time // From inclusive, To exclusive; zero: no bound
	Band
	Windows      []Window        // none overlaps another
	ServiceTiers map[string]Band // by the vendor's own word, such as "flex"
	Surcharges   []Surcharge     // each that applies multiplies
	AsOf         string          // the day the prices were read, as written in the catalog
	Source       string          // where they were read
}

// Price is a route's sheets, oldest period first; no two of them overlap. The nil
// Price is unknown at all times.
type Price []Sheet

// At is the card that holds on these terms; unknown throughout where no period
// holds at that time. A marginal band's parts are in the card.
func (p Price) At(t Terms) Card {
	if s, ok := p.Sheet(t.At); ok {
		return s.At(t)
	}
	return Card{}
}

// Sheet is the sheet of the period that holds now.
func (p Price) Sheet(now time.Time) (sheet *Sheet, ok bool) {
	for i := range p {
		if p[i].Holds(now) {
			return &p[i], true
		}
	}
	return nil, false
}

// Holds says whether the period holds now.
func (s *Sheet) Holds(now time.Time) bool {
	return (s.From.IsZero() || !now.Before(s.From)) && (s.To.IsZero() || now.Before(s.To))
}

// StandardTier says whether a service tier is the one that ordinary prices are
// for, such as "default" or "auto".
func StandardTier(name string) bool {
	switch strings.ToLower(name) {
	case "", "auto", "default", "standard", "standard_only", "on_demand":
		return true
	}
	return false
}

// At is the card on these terms, whatever the period.
//
// A service tier the sheet does not price gives a card of unknown rates, since
// the vendor charges something else for it; so does a speed that no surcharge
// names. Inside a window its own tiers
// count; where it states none and the prompt is above the ordinary band's first
// threshold, the card is unknown.
func (s *Sheet) At(t Terms) Card {
	card := s.band(t)
	if t.Implicit && card.CacheReadImplicit.Known() {
		card.CacheRead = card.CacheReadImplicit
	}
	card.CacheReadImplicit, card.Request = Rate{}, s.Card.Request
	for i := range card.Parts {
		part := &card.Parts[i].Card
		if t.Implicit && part.CacheReadImplicit.Known() {
			part.CacheRead = part.CacheReadImplicit
		}
		part.CacheReadImplicit = Rate{}
	}
	if len(s.Surcharges) > 0 || !ordinarySpeed(t.Speed) {
		s.surcharge(&card, t)
	}
	return card
}

// ordinarySpeed says whether a speed is the one that ordinary prices are for.
func ordinarySpeed(name string) bool { return name == "" || name == "standard" }

func (s *Sheet) band(t Terms) Card {
	if !StandardTier(t.Tier) {
		band, ok := s.ServiceTiers[t.Tier]
		if !ok {
			return Card{}
		}
		return s.inside(&band, t.Prompt)
	}
	for i := range s.Windows {
		if s.Windows[i].Holds(t.At) {
			return s.inside(&s.Windows[i].Band, t.Prompt)
		}
	}
	return s.Band.at(t.Prompt)
}

// inside is the card of a band that replaces the ordinary one.
func (s *Sheet) inside(b *Band, promptTokens int64) Card {
	if len(b.Tiers) == 0 && len(s.Tiers) > 0 && promptTokens > s.Tiers[0].Above {
		return Card{}
	}
	return b.at(promptTokens)
}

// surcharge multiplies the card by every surcharge that applies.
func (s *Sheet) surcharge(card *Card, t Terms) {
	times, priced := decimal.New(1, 0), ordinarySpeed(t.Speed)
	for _, x := range s.Surcharges {
		if (x.Speed == "" || x.Speed == t.Speed) && (x.Region == "" || x.Region == t.Region) {
			times, priced = times.Mul(x.Times), priced || x.Speed == t.Speed
		}
	}
	if !priced {
		*card = Card{}
		return
	}
	card.times(times)
	card.Parts = slices.Clone(card.Parts)
	for i := range card.Parts {
		card.Parts[i].Card.times(times)
	}
}

func (c *Card) times(x decimal.Decimal) {
	for _, r := range [...]*Rate{&c.Input, &c.Output, &c.CacheRead, &c.CacheWrite5m, &c.CacheWrite1h} {
		if r.Known() {
			*r = PerMillion(r.Decimal().Mul(x))
		}
	}
}
