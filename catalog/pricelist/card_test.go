package pricelist

import (
	"slices"
	"testing"

	"github.com/warmroute/warmroute/pricing"
)

// A cache price of another model or unit is not taken over; the dearest writes and
// the lowest reads that are sold are.
func TestACachePriceThatCannotBelongToItsInput(t *testing.T) {
	rate := func(text string) pricing.Rate {
		if text == "" {
			return pricing.Rate{}
		}
		r, err := pricing.ParseRate(text, pricing.PerMillionTokens)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, c := range []struct {
		name                               string
		input, read, write, hour           string
		wantRead, wantWrite, wantHour, why string
	}{
		{"as Anthropic sells", "3", "0.3", "3.75", "6", "0.3", "3.75", "6", ""},
		{"the lowest read that is sold", "0.4", "0.003", "", "", "0.003", "", "", ""},
		{"the hour of a dearer model", "0.25", "0.03", "0.3", "6", "0.03", "0.3", "", "cache_write_1h"},
		{"the hour of a cheaper model", "15", "1.5", "18.75", "6", "1.5", "18.75", "", "cache_write_1h"},
		{"the write of a dearer seller", "0.11", "0.02", "0.375", "", "0.02", "", "", "cache_write"},
		{"the write and the hour", "1", "0.1", "12.5", "20", "0.1", "", "", "cache_write_1h cache_write"},
		{"a read a thousand times off", "15", "0.005", "", "", "", "", "", "cache_read"},
		{"no input to compare with", "", "0.005", "9", "", "0.005", "9", "", ""},
	} {
		row := Row{}
		card := pricing.Card{Input: rate(c.input), Output: rate("20"), CacheRead: rate(c.read), CacheWrite5m: rate(c.write), CacheWrite1h: rate(c.hour)}
		row.settle(&card, "")
		why := ""
		for _, f := range row.Flags {
			if f.Code == FarFromInput {
				why += " " + f.Field
			}
		}
		if !card.CacheRead.Equal(rate(c.wantRead)) || !card.CacheWrite5m.Equal(rate(c.wantWrite)) || !card.CacheWrite1h.Equal(rate(c.wantHour)) {
			t.Errorf("%s: read %s, write %s, hour %s", c.name, card.CacheRead, card.CacheWrite5m, card.CacheWrite1h)
		}
		if want := c.why; want == "" && why != "" || want != "" && why != " "+want {
			t.Errorf("%s: flagged%s; want %s", c.name, why, want)
		}
		if slices.ContainsFunc(row.Flags, func(f Flag) bool { return f.Message == "" }) {
			t.Errorf("%s: a flag says nothing", c.name)
		}
	}
}
