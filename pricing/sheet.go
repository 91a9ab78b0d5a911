package pricing

import (
	"strings"
	"time"
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

// fill takes the rates on these terms: of the tier with the highest threshold
// strictly below the prompt, or of all tiers that a marginal band's prompt runs
// through.
func (b *Band) fill(card *Card, t *Terms) {
	from := &b.Card
	for i := range b.Tiers {
		if t.Prompt <= b.Tiers[i].Above {
			break
		}
		if b.Marginal {
			b.marginal(card, t)
			return
		}
		from = &b.Tiers[i].Card
	}
	card.take(from, t.Implicit)
}

// take takes another card's rates, with the read price that holds for how the
// vendor came to cache.
func (c *Card) take(from *Card, implicit bool) {
	c.Input, c.Output, c.CacheRead = from.Input, from.Output, from.CacheRead
	c.CacheWrite5m, c.CacheWrite1h = from.CacheWrite5m, from.CacheWrite1h
	if implicit && from.CacheReadImplicit.Known() {
		c.CacheRead = from.CacheReadImplicit
	}
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
func (p Price) At(t Terms) (card Card) {
	if s, ok := p.Sheet(t.At); ok {
		s.fill(&card, &t)
	}
	return card
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
// A service tier that the sheet does not price gives a card of unknown rates,
// since the vendor charges something else for it; so does a speed that no
// surcharge names. A service tier's prices hold at every hour. Inside a window its
// own tiers count; where it states none and the prompt is above the ordinary
// band's first threshold, the rates are unknown, and the same goes for a service
// tier.
func (s *Sheet) At(t Terms) (card Card) {
	s.fill(&card, &t)
	return card
}

// fill is At into an empty card: a card is large, and a plan asks for one per route.
func (s *Sheet) fill(card *Card, t *Terms) {
	card.Request = s.Card.Request // also beside rates that are unknown
	if StandardTier(t.Tier) {
		s.fillFrom(s.band(t.At), card, t)
		return
	}
	if band, ok := s.ServiceTiers[t.Tier]; ok {
		s.fillFrom(&band, card, t)
	}
}

// band is the band of the hour.
func (s *Sheet) band(now time.Time) *Band {
	for i := range s.Windows {
		if s.Windows[i].Holds(now) {
			return &s.Windows[i].Band
		}
	}
	return &s.Band
}

// fillFrom takes the rates of one of the sheet's bands, surcharges included.
func (s *Sheet) fillFrom(b *Band, card *Card, t *Terms) {
	if len(b.Tiers) == 0 && len(s.Tiers) > 0 && t.Prompt > s.Tiers[0].Above {
		return // a band that replaces the ordinary one and says nothing of long prompts
	}
	if len(s.Surcharges) == 0 && StandardSpeed(t.Speed) {
		b.fill(card, t)
		return
	}
	if times, priced := s.times(t); priced {
		b.fill(card, t)
		card.multiply(times)
	}
}
