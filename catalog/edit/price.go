package edit

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// days are the names of days as catalogs write them, by time.Weekday.
var days = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// PriceValue is a price as a catalog writes it, in its unit: a mapping, or a list
// of them where it has several periods. What is not known is left out; a price of
// which nothing is known is an empty mapping.
func PriceValue(p pricing.Price, unit pricing.Unit) Value {
	sheets := make([]Value, len(p))
	for i := range p {
		sheets[i] = sheetValue(&p[i], unit)
	}
	switch len(sheets) {
	case 0:
		return Map()
	case 1:
		return sheets[0]
	}
	return List(sheets...)
}

func sheetValue(s *pricing.Sheet, unit pricing.Unit) Value {
	var f []Field
	if !s.From.IsZero() {
		f = append(f, Field{Key: "valid_from", Value: moment(s.From)})
	}
	if !s.To.IsZero() {
		f = append(f, Field{Key: "valid_to", Value: moment(s.To)})
	}
	f = append(f, cardFields(&s.Card, unit)...)
	if s.Card.Request.Known() {
		f = append(f, Field{Key: "request", Value: Rate(s.Card.Request, pricing.PerToken)})
	}
	if s.AsOf != "" {
		f = append(f, Field{Key: "as_of", Value: Plain(s.AsOf)})
	}
	if s.Source != "" {
		f = append(f, Field{Key: "source", Value: Text(s.Source)})
	}
	f = append(f, tierFields(&s.Band, unit)...)
	if len(s.Windows) > 0 {
		windows := make([]Value, len(s.Windows))
		for i := range s.Windows {
			windows[i] = windowValue(&s.Windows[i], unit)
		}
		f = append(f, Field{Key: "windows", Value: List(windows...)})
	}
	if len(s.ServiceTiers) > 0 {
		var tiers []Field
		for _, name := range slices.Sorted(maps.Keys(s.ServiceTiers)) {
			band := s.ServiceTiers[name]
			tiers = append(tiers, Field{Key: name, Value: Map(append(cardFields(&band.Card, unit), tierFields(&band, unit)...)...)})
		}
		f = append(f, Field{Key: "service_tiers", Value: Map(tiers...)})
	}
	if len(s.Surcharges) > 0 {
		all := make([]Value, len(s.Surcharges))
		for i, x := range s.Surcharges {
			all[i] = surchargeValue(x)
		}
		f = append(f, Field{Key: "surcharges", Value: List(all...)})
	}
	return Map(f...)
}

func surchargeValue(x pricing.Surcharge) Value {
	var f []Field
	if x.Speed != "" {
		f = append(f, Field{Key: "speed", Value: Text(x.Speed)})
	}
	if x.Region != "" {
		f = append(f, Field{Key: "region", Value: Text(x.Region)})
	}
	return Map(append(f, Field{Key: "times", Value: number(x.Times.String())})...)
}

// cardFields are the known prices of a card.
func cardFields(c *pricing.Card, unit pricing.Unit) []Field {
	var f []Field
	for _, r := range catalog.KeyedRates(c) {
		if r.Rate.Known() {
			f = append(f, Field{Key: r.Key, Value: Rate(*r.Rate, unit)})
		}
	}
	return f
}

// tierFields are the tiers of a band and how they are billed.
func tierFields(b *pricing.Band, unit pricing.Unit) []Field {
	if len(b.Tiers) == 0 {
		return nil
	}
	tiers := make([]Value, len(b.Tiers))
	for i := range b.Tiers {
		t := &b.Tiers[i]
		tiers[i] = Map(append([]Field{{Key: "above", Value: Count(t.Above)}}, cardFields(&t.Card, unit)...)...)
	}
	f := []Field{{Key: "tiers", Value: List(tiers...)}}
	if b.Marginal {
		f = append(f, Field{Key: "marginal", Value: Plain("true")})
	}
	return f
}

func windowValue(w *pricing.Window, unit pricing.Unit) Value {
	var f []Field
	if names := dayRanges(w.Days); len(names) > 0 {
		f = append(f, Field{Key: "days", Value: Texts(names...)})
	}
	zone := "UTC"
	if w.Zone != nil {
		zone = w.Zone.String()
	}
	f = append(f, Field{Key: "from", Value: hour(w.From)}, Field{Key: "to", Value: hour(w.To)}, Field{Key: "zone", Value: Text(zone)})
	f = append(f, cardFields(&w.Band.Card, unit)...)
	return Map(append(f, tierFields(&w.Band, unit)...)...)
}

// dayRanges are days as catalogs write them, such as mon-fri; none for every day.
func dayRanges(on [7]bool) []string {
	if on == [7]bool{} || on == [7]bool{true, true, true, true, true, true, true} {
		return nil
	}
	var all []string
	for day := range on {
		if !on[day] || on[(day+6)%7] {
			continue
		}
		last := day
		for on[(last+1)%7] {
			last = (last + 1) % 7
		}
		if last == day {
			all = append(all, days[day])
			continue
		}
		all = append(all, days[day]+"-"+days[last])
	}
	return all
}

// hour is an hour of the day between quotes, which other readers of YAML need to
// take it for one.
func hour(since time.Duration) Value {
	text := twoDigits(int(since/time.Hour)) + ":" + twoDigits(int(since%time.Hour/time.Minute))
	if seconds := int(since % time.Minute / time.Second); seconds > 0 {
		text += ":" + twoDigits(seconds)
	}
	return Value{kind: Text("").kind, text: text, quoted: true}
}

func twoDigits(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// moment is the bound of a period: a day where it falls on midnight in UTC.
func moment(t time.Time) Value {
	t = t.UTC()
	if t.Equal(t.Truncate(24 * time.Hour)) {
		return Plain(t.Format(time.DateOnly))
	}
	return Plain(t.Format(time.RFC3339Nano))
}

// Rate is a known price in a unit, as catalogs write it: digits with a point, or
// an exponent where the digits would be too many.
func Rate(r pricing.Rate, unit pricing.Unit) Value {
	d := r.Decimal()
	switch unit {
	case pricing.PerToken:
		d = d.Shift(-6)
	case pricing.PerThousandTokens:
		d = d.Shift(-3)
	}
	text := d.String()
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if _, err := pricing.ParseRate(text, unit); err == nil && (unit == pricing.PerMillionTokens || len(text) <= 12) {
		return number(text)
	}
	return number(scientific(d))
}

func number(text string) Value {
	v := Plain(text)
	v.number = true
	return v
}

// scientific is a decimal as digits and an exponent, such as 3e-06.
func scientific(d decimal.Decimal) string {
	digits := strings.TrimRight(d.Coefficient().String(), "0")
	if digits == "" {
		return "0"
	}
	exponent := int(d.Exponent()) + len(d.Coefficient().String()) - 1
	text := digits[:1]
	if len(digits) > 1 {
		text += "." + digits[1:]
	}
	sign := "+"
	if exponent < 0 {
		sign, exponent = "-", -exponent
	}
	return text + "e" + sign + twoDigits(exponent)
}
