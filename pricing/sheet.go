package pricing

import (
	"strings"
	"time"
)

// Card is the set of rates that holds for one turn.
//
// The zero Card is five unknown rates.
type Card struct {
	Input        Rate
	Output       Rate
	CacheRead    Rate
	CacheWrite5m Rate
	CacheWrite1h Rate
}

// Tier is the card of a whole request whose prompt has strictly more than Above tokens.
type Tier struct {
	Above int64
	Card  Card
}

// Band is a card with its context tiers, lowest threshold first.
type Band struct {
	Card  Card
	Tiers []Tier
}

// at is the card for a prompt of this many tokens: the tier with the highest
// threshold that lies strictly below it, for the whole request.
func (b *Band) at(promptTokens int64) Card {
	card := b.Card
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

// Sheet is everything a route's price can depend on.
//
// What a sheet does not state is unknown: a tier, a window or a service tier
// that names no cache-read price has none, and a window without context tiers
// has no price above the ordinary band's threshold. The zero Sheet is unknown
// throughout.
type Sheet struct {
	Band
	Windows      []Window        // none overlaps another
	ServiceTiers map[string]Band // by the vendor's own word, such as "flex"
	AsOf         string          // the day the prices were read, as written in the catalog
	Source       string          // where they were read
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

// At is the card for a prompt of this many tokens, at this time, in this
// service tier.
//
// A service tier the sheet does not price gives a card of unknown rates, since
// the vendor charges something else for it. Inside a window its own tiers
// count; where it states none and the prompt is above the ordinary band's first
// threshold, the card is unknown.
func (s *Sheet) At(promptTokens int64, now time.Time, serviceTier string) Card {
	if !StandardTier(serviceTier) {
		band, ok := s.ServiceTiers[serviceTier]
		if !ok {
			return Card{}
		}
		return s.inside(&band, promptTokens)
	}
	for i := range s.Windows {
		if s.Windows[i].Holds(now) {
			return s.inside(&s.Windows[i].Band, promptTokens)
		}
	}
	return s.Band.at(promptTokens)
}

// inside is the card of a band that replaces the ordinary one.
func (s *Sheet) inside(b *Band, promptTokens int64) Card {
	if len(b.Tiers) == 0 && len(s.Tiers) > 0 && promptTokens > s.Tiers[0].Above {
		return Card{}
	}
	return b.at(promptTokens)
}
