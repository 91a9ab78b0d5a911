package catalog

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/pricing"
)

// moment is a time of RFC 3339, for tests.
func moment(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// usd is a cost's total, "unknown" where it is.
func usd(c pricing.Cost) string {
	if !c.Known {
		return "unknown"
	}
	return c.Total.String()
}

// priceOf is the price of the one route of a model m.
func priceOf(t testing.TB, text string) pricing.Price {
	t.Helper()
	c, err := Parse("c.yaml", []byte(with("", text, "")))
	if err != nil {
		t.Fatal(err)
	}
	return c.Models[0].Routes[0].Price
}

func TestThePricesOfTheFullExample(t *testing.T) {
	file, text := example(t, "full.yaml")
	c, err := Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	rook, heron := c.Models[3].Routes, c.Models[0].Routes[0]
	usage := pricing.Usage{Input: 20_000, CacheRead: 100_000, CacheWrite5m: 30_000, Output: 1000}
	for _, p := range []struct {
		name  string
		price pricing.Price
		terms pricing.Terms
		want  string
	}{
		{"before the first change", rook[0].Price, pricing.Terms{At: moment(t, "2026-10-31T23:59:59.999999999Z")}, "0.128"},
		{"at the first change", rook[0].Price, pricing.Terms{At: moment(t, "2026-11-01T00:00:00Z")}, "0.1024"},
		{"before the second", rook[0].Price, pricing.Terms{At: moment(t, "2027-01-31T15:59:59Z")}, "0.1024"},
		{"at the second, by another clock", rook[0].Price, pricing.Terms{At: moment(t, "2027-02-01T00:00:00+08:00")}, "0.1152"},
		// 100000 × 0.18 + 28000 × 2.25 + 2000 × 4.50 + 20000 × 3.60 + 1000 × 14.40, and the fee
		{"piece by piece, what markers cached", rook[1].Price, pricing.Terms{Prompt: 150_000, At: moment(t, "2026-12-02T12:00:00Z")}, "0.1814"},
		{"piece by piece, what the vendor cached", rook[1].Price, pricing.Terms{Prompt: 150_000, At: moment(t, "2026-12-02T12:00:00Z"), Implicit: true}, "0.1994"},
		{"on Saturday", rook[1].Price, pricing.Terms{Prompt: 150_000, At: moment(t, "2026-12-05T00:00:00Z")}, "0.0932"},
		{"in a batch", rook[1].Price, pricing.Terms{Prompt: 150_000, At: moment(t, "2026-12-02T12:00:00Z"), Tier: "batch"}, "0.0932"},
		{"at the ordinary speed", heron.Price, pricing.Terms{Prompt: 150_000, Speed: "standard", Region: "eu"}, "0.2175"},
		{"faster", heron.Price, pricing.Terms{Prompt: 150_000, Speed: "fast"}, "1.305"},
		{"faster and in one region", heron.Price, pricing.Terms{Prompt: 150_000, Speed: "fast", Region: "us"}, "1.4355"},
		{"at a speed nobody named", heron.Price, pricing.Terms{Prompt: 150_000, Speed: "slow"}, "unknown"},
	} {
		u := usage
		if p.terms.Prompt == 0 {
			u = pricing.Usage{Input: 60_000, Output: 1000}
		}
		if got := usd(p.price.At(p.terms).Cost(u)); got != p.want {
			t.Errorf("%s: %s, want %s", p.name, got, p.want)
		}
	}
}

func TestMistakesOfPeriods(t *testing.T) {
	where := `model "m", route "alpha": `
	inside := func(part string) string { return where[:len(where)-2] + ", " + part + ": " }
	for name, c := range map[string]struct{ text, want string }{
		"no price in the list":       {"price: []", `c.yaml:12:16: ` + where + `price is an empty list; remove the key or give a price`},
		"a price that is none":       {"price: [3]", `c.yaml:12:17: ` + inside("price 1") + `price must be a mapping of keys to values`},
		"an empty price":             {"price:\n  -", `c.yaml:13:12: ` + inside("price 1") + `price is empty; remove the key or fill it`},
		"key misspelt":               {"price: [{valid_form: 2026-08-21}]", `c.yaml:12:18: ` + inside("price 1") + `"valid_form" is not a key of price; did you mean "valid_from"?`},
		"no moment":                  {"price: {valid_from: next year}", `c.yaml:12:29: ` + where + `valid_from "next year" is neither a day such as 2026-08-21 nor a time such as 2026-08-16T16:00:00Z`},
		"no such day":                {"price: {valid_from: 2026-02-29}", `c.yaml:12:29: ` + where + `valid_from "2026-02-29" is neither a day such as 2026-08-21 nor a time such as 2026-08-16T16:00:00Z`},
		"a time without an offset":   {"price: {valid_to: 2026-08-16T16:00:00}", `c.yaml:12:27: ` + where + `valid_to "2026-08-16T16:00:00" is neither a day such as 2026-08-21 nor a time such as 2026-08-16T16:00:00Z`},
		"a time with a blank":        {"price: {valid_to: 2026-08-16 16:00:00Z}", `c.yaml:12:27: ` + where + `valid_to "2026-08-16 16:00:00Z" is neither a day such as 2026-08-21 nor a time such as 2026-08-16T16:00:00Z`},
		"a moment that is empty":     {"price: {valid_to: }", `c.yaml:12:27: ` + where + `valid_to is empty; remove the key or give a value`},
		"a year of nobody":           {"price: {valid_to: 0226-08-21}", `c.yaml:12:27: ` + where + `valid_to "0226-08-21" is not a year of any price; write one from 2000 to 2199`},
		"an end before its start":    {"price: {valid_from: 2026-08-21, valid_to: 2026-08-20}", `c.yaml:12:51: ` + where + `valid_to 2026-08-20 is not after valid_from 2026-08-21, so the price would never hold; valid_to is the first moment at which it no longer does`},
		"an end at its start":        {"price: {valid_from: 2026-08-21, valid_to: 2026-08-21T02:00:00+02:00}", `c.yaml:12:51: ` + where + `valid_to 2026-08-21T02:00:00+02:00 is not after valid_from 2026-08-21, so the price would never hold; valid_to is the first moment at which it no longer does`},
		"the earlier has no end":     {"price:\n  - {input: 5}\n  - {valid_from: 2026-08-21, input: 4}", `c.yaml:14:26: ` + where + `overlaps another price, on lines 13 and 14, so two would hold at once; end the other with valid_to: 2026-08-21`},
		"the earlier ends too late":  {"price:\n  - {valid_to: 2026-08-22, input: 5}\n  - {valid_from: 2026-08-21, input: 4}", `c.yaml:14:26: ` + where + `overlaps another price, on lines 13 and 14, so two would hold at once; end the other no later than 2026-08-21, its valid_to is 2026-08-22`},
		"newest first, overlapping":  {"price:\n  - {valid_from: 2026-08-21, input: 4}\n  - {valid_to: 2026-08-22, input: 5}", `c.yaml:13:26: ` + where + `overlaps another price, on lines 13 and 14, so two would hold at once; end the other no later than 2026-08-21, its valid_to is 2026-08-22`},
		"neither has a start":        {"price:\n  - {valid_to: 2026-08-22, input: 5}\n  - {input: 4}", `c.yaml:14:13: ` + where + `begins when another price does, on lines 13 and 14, so two would hold at once; give the later one its own valid_from`},
		"both have the same start":   {"price:\n  - {valid_from: 2026-08-21, input: 5}\n  - {valid_from: 2026-08-21T00:00:00Z, input: 4}", `c.yaml:14:26: ` + where + `begins when another price does, on lines 13 and 14, so two would hold at once; give the later one its own valid_from`},
		"a mistake inside a period":  {"price:\n  - {valid_to: 2026-08-22, input: 5}\n  - {valid_from: 2026-08-22, input: ~}", `c.yaml:14:45: ` + inside("price 2") + `input is empty; remove the key or give a price`},
		"marginal without tiers":     {"price: {input: 3, marginal: true}", `c.yaml:12:37: ` + where + `marginal says how tiers are billed, and there are none; add tiers, or remove it`},
		"marginal no truth":          {"price: {marginal: yes}", `c.yaml:12:27: ` + where + `marginal must be true or false`},
		"marginal in a tier":         {"price: {tiers: [{above: 1, marginal: true}]}", `c.yaml:12:36: ` + inside("tier 1") + `"marginal" is not a key of a tier; the keys are input, output, cache_read, cache_read_implicit, cache_write, cache_write_1h, above`},
		"fee empty":                  {"price: {request: }", `c.yaml:12:26: ` + where + `request is empty; remove the key or give a price`},
		"fee no price":               {"price: {request: 5 per 1000}", `c.yaml:12:26: ` + where + `request "5 per 1000" is not a price; write digits with a decimal point, such as 0.30 or 3e-06`},
		"surcharges no list":         {"price: {surcharges: {speed: fast, times: 2}}", `c.yaml:12:29: ` + where + `surcharges must be a list, such as [{speed: fast, times: 2}]`},
		"surcharge for nothing":      {"price: {surcharges: [{times: 2}]}", `c.yaml:12:30: ` + inside("surcharge 1") + `names neither speed nor region, so it would hold always; add one, such as speed: fast`},
		"surcharge without multiple": {"price: {surcharges: [{speed: fast}]}", `c.yaml:12:30: ` + inside("surcharge 1") + `times is missing; give what the prices are multiplied by, such as 1.1`},
		"surcharge of nothing":       {"price: {surcharges: [{speed: fast, times: 0.0}]}", `c.yaml:12:51: ` + inside("surcharge 1") + `times "0.0" would make everything free; give a multiple such as 1.1`},
		"surcharge in percent":       {"price: {surcharges: [{speed: fast, times: 110}]}", `c.yaml:12:51: ` + inside("surcharge 1") + `times "110" is more than 100 times the price; give the multiple, not a price or a percentage`},
		"surcharge with a sign":      {"price: {surcharges: [{speed: fast, times: 1.1x}]}", `c.yaml:12:51: ` + inside("surcharge 1") + `times "1.1x" is not a multiple; write digits with a decimal point, such as 1.1`},
		"surcharge empty":            {"price: {surcharges: [{speed: fast, times: }]}", `c.yaml:12:51: ` + inside("surcharge 1") + `times is empty; remove the key or give a value`},
		"surcharge octal":            {"price: {surcharges: [{speed: fast, times: 02}]}", `c.yaml:12:51: ` + inside("surcharge 1") + `times "02" has a leading zero, which some readers take for octal; write it without`},
		"the ordinary speed":         {"price: {surcharges: [{speed: standard, times: 2}]}", `c.yaml:12:38: ` + inside("surcharge 1") + `speed "standard" is the ordinary speed; its prices stand directly under price`},
		"surcharge twice":            {"price:\n  surcharges:\n  - {speed: fast, times: 2}\n  - {speed: fast, times: 3}", `c.yaml:15:13: ` + inside("surcharge 2") + `is for the same speed and region as another, on lines 14 and 15, and both would multiply; remove one`},
		"surcharge key":              {"price: {surcharges: [{speed: fast, times: 2, regoin: us}]}", `c.yaml:12:54: ` + inside("surcharge 1") + `"regoin" is not a key of a surcharge; did you mean "region"?`},
	} {
		_, err := Parse("c.yaml", []byte(with("", c.text, "")))
		var all Problems
		if !errors.As(err, &all) || len(all) == 0 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := all[0].String(); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
	many := "price:" + strings.Repeat("\n- {input: 1}", maxPeriods+1)
	check(t, "too many periods", with("", many, ""), `c.yaml:13:9: `+where+`price has more than 64 periods; remove those that are long over`)
	many = "price: {surcharges: [" + strings.Repeat("{speed: a, times: 2}, ", maxSurcharges+1) + "]}"
	check(t, "too many surcharges", with("", many, ""), `c.yaml:12:29: `+where+`surcharges has more than 16 entries; keep those that the vendor charges`)
}

func TestWarningsOfPeriodsAndFees(t *testing.T) {
	where := `c.yaml:%s: model "m", route "alpha"`
	for name, c := range map[string]struct{ text, want string }{
		"a gap":         {"price:\n  - {valid_from: 2026-08-23, input: 4}\n  - {valid_to: 2026-08-21T12:00:00Z, input: 5}", "13:26: no price holds from 2026-08-21T12:00:00Z to 2026-08-23, on lines 13 and 14, so costs of that time are unknown"},
		"a dear fee":    {"price: {input: 1, request: 5}", "12:36: request is the fee of one request, and 5 is much; divide a price of a thousand requests by 1000"},
		"a dear read":   {"price: {input: 1, cache_read_implicit: 1}", "12:48: cache_read_implicit 1 is not below input 1, so a warm cache is never preferred here"},
		"nothing":       {"price:\n  - {valid_from: 2026-08-21, input: 4}\n  - {valid_to: 2026-08-21, input: 5, request: 0.005}", ""},
		"no fee at all": {"price: {input: 1, request: 0}", ""},
	} {
		text, err := Parse("c.yaml", []byte(with("", c.text, "")))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := Problems(text.Warnings).Error()
		want := c.want
		if want != "" {
			place, message, _ := strings.Cut(c.want, ": ")
			want = strings.Replace(where, "%s", place, 1) + ": " + message
		}
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
}

// A price that is over is unknown, however little has come after it, and so is one
// that has not begun.
func TestAPriceOutsideItsPeriodIsUnknown(t *testing.T) {
	p := priceOf(t, "price:\n  - {valid_from: 2026-09-01, valid_to: 2026-10-01T12:00:00+02:00, input: 4, request: 1e-3}\n  - {valid_from: 2026-07-01, valid_to: 2026-08-01, input: 5}")
	if len(p) != 2 || price(p[0].Card.Input) != "5" {
		t.Fatalf("%+v: the oldest is not first", p)
	}
	for when, want := range map[string]string{
		"2026-06-30T23:59:59.999999999Z": "unknown",
		"2026-07-01T00:00:00Z":           "5",
		"2026-07-31T23:59:59.999999999Z": "5",
		"2026-08-01T00:00:00Z":           "unknown",
		"2026-08-31T23:59:59Z":           "unknown",
		"2026-09-01T02:00:00+02:00":      "4.001",
		"2026-10-01T09:59:59.999999999Z": "4.001",
		"2026-10-01T10:00:00Z":           "unknown",
		"2036-10-01T10:00:00Z":           "unknown",
	} {
		card := p.At(pricing.Terms{Prompt: 1_000_000, At: moment(t, when)})
		if got := usd(card.Cost(pricing.Usage{Input: 1_000_000})); got != want {
			t.Errorf("at %s a million tokens cost %s, want %s", when, got, want)
		}
	}
}

// The fee is of one request whatever the unit that prices of tokens are for.
func TestAFeeHasNoUnit(t *testing.T) {
	for unit, input := range map[string]string{"per_million": "3", "per_thousand": "0.003", "per_token": "3e-6"} {
		c := parse(t, "unit: "+unit+"\n"+frame+"  m: {routes: [{vendor: alpha, model: m, price: {input: "+input+", request: 0.005}}]}\n")
		card := c.Models[0].Routes[0].Price.At(pricing.Terms{Prompt: 1000})
		if got := usd(card.Cost(pricing.Usage{Input: 1000})); got != "0.008" {
			t.Errorf("%s: %s", unit, got)
		}
	}
}

// FuzzMoment: what is taken for a moment is the one that RFC 3339 names, and is
// written back as a text that is taken for the same.
func FuzzMoment(f *testing.F) {
	for _, text := range []string{"2026-08-21", "2026-08-16T16:00:00Z", "2026-08-16T16:00:00.5+05:30", "2026-08-16T1:00:00Z", "2026-08-16t16:00:00z", "2026-08-16T16:00:00,5Z", "2026-8-1", "2026-08-16T24:00:00Z", "2026-08-16T23:59:60Z", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, ok := parseMoment(text)
		if !ok {
			if !at.IsZero() {
				t.Fatalf("%q is no moment, and yet %s", text, at)
			}
			return
		}
		var want time.Time
		if err := want.UnmarshalText([]byte(text)); err != nil { // stricter than time.Parse
			if err := want.UnmarshalText([]byte(text + "T00:00:00Z")); err != nil {
				t.Fatalf("%q was taken for %s; it is no text of RFC 3339: %v", text, at, err)
			}
		}
		if !at.Equal(want) || at.Location() != time.UTC {
			t.Fatalf("%q was taken for %s, and is %s", text, at, want)
		}
		if at.Year() < 1 || at.Year() > 9999 {
			return // an offset has moved it out of the years that have a text; moment refuses it
		}
		if again, ok := parseMoment(at.Format(time.RFC3339Nano)); !ok || !again.Equal(at) {
			t.Fatalf("%q is %s, which is taken for %s", text, at, again)
		}
	})
}
