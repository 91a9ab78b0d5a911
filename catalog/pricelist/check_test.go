package pricelist

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// list makes a list of rows "vendor model input output [read]" in models.dev's form.
func list(t *testing.T, source string, rows ...string) *List {
	t.Helper()
	var vendors []string
	models := map[string][]string{}
	for _, row := range rows {
		f := strings.Fields(row)
		cost := fmt.Sprintf(`"input": %s, "output": %s`, f[2], f[3])
		for i, name := range []string{"cache_read", "cache_write"} {
			if len(f) > 4+i {
				cost += fmt.Sprintf(`, %q: %s`, name, f[4+i])
			}
		}
		if !slices.Contains(vendors, f[0]) {
			vendors = append(vendors, f[0])
		}
		models[f[0]] = append(models[f[0]], fmt.Sprintf(`%q: {"cost": {%s}}`, f[1], cost))
	}
	var text []string
	for _, v := range vendors {
		text = append(text, fmt.Sprintf(`%q: {"models": {%s}}`, v, strings.Join(models[v], ", ")))
	}
	l, err := Read(ModelsDev, strings.NewReader("{"+strings.Join(text, ", ")+"}"))
	if err != nil {
		t.Fatal(err)
	}
	l.Source = source
	return l
}

// flags are the codes that checking has put on a row, and their fields.
func flags(l *List, key string) string {
	var all []string
	for _, r := range l.Rows {
		if r.Key != key {
			continue
		}
		for _, f := range r.Flags {
			all = append(all, string(f.Code)+" "+f.Field)
		}
	}
	return strings.Join(all, ", ")
}

// TestCheckByMedian: one figure against the model's other vendors.
func TestCheckByMedian(t *testing.T) {
	others := []string{"hut acme/wren 0.6 3.5", "nest acme/wren 0.55 3", "roost acme/wren 0.7 3.6"}
	for _, c := range []struct{ name, row, want string }{
		{"like the others", "perch acme/wren 0.5 3", ""},
		{"per token times a million twice", "perch acme/wren 600000 3500000", "unusual_price input, unusual_price output, unit_slip input"},
		{"a hundred thousand times, off the median", "perch acme/wren 135000 900000", "unusual_price input, unusual_price output, unit_slip input"},
		{"a thousand times", "perch acme/wren 600 3500", "unusual_price output, unit_slip input"},
		{"ten times", "perch acme/wren 6 36", "unit_slip input"},
		{"a hundredth", "perch acme/wren 0.006 0.035", "unit_slip input"},
		{"swapped", "perch acme/wren 3.5 0.6", "output_below_input output, swapped input"},
		{"lost decimal point of output", "perch acme/wren 0.6 35", "lost_decimal output"},
		{"lost decimal point of input", "perch acme/wren 6 3.5", "output_below_input output, lost_decimal input"},
		{"six times", "perch acme/wren 3.6 21", "far_from_median input, far_from_median output"},
		{"a sixth of the output", "perch acme/wren 0.6 0.58", "output_below_input output, far_from_median output"},
		{"input unknown", "perch acme/wren 0 3500", "zero_price input, unusual_price output"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := list(t, "one", append([]string{c.row}, others...)...)
			Check(l)
			if got := flags(l, "perch/acme/wren"); got != c.want {
				t.Errorf("flags %q, want %q", got, c.want)
			}
			for _, key := range []string{"hut/acme/wren", "nest/acme/wren", "roost/acme/wren"} {
				if got := flags(l, key); got != "" {
					t.Errorf("%s has flags %q", key, got)
				}
			}
			before := show(l)
			Check(l)
			if show(l) != before {
				t.Error("checking again changes the flags")
			}
		})
	}
}

// TestCompareTwoLists: what differs between two lists about one pair, and whose row
// is flagged.
func TestCompareTwoLists(t *testing.T) {
	for _, c := range []struct{ name, a, b, kinds, flagA, flagB string }{
		{"the same", "3 15 0.3", "3 15 0.3", "", "", ""},
		{"unknown is no disagreement", "3 15", "3 15 0.3 3.75", "", "", ""},
		{"rounded up", "1.25 10 0.13", "1.25 10 0.125", "rounded_cache_read", "rounded_cache_read cache_read", ""},
		{"rounded to even", "1.74 3.48 0.145", "1.74 3.48 0.14", "rounded_cache_read", "", "rounded_cache_read cache_read"},
		{"stale read", "1.75 14 0.125", "1.75 14 0.175", "stale_cache_read", "stale_cache_read cache_read", "stale_cache_read cache_read"},
		{"stale price", "0.1 0.32", "0.23 0.4", "stale_price", "stale_price input", "stale_price input"},
		{"swapped", "1.41 0.35", "0.35 1.41", "swapped", "output_below_input output, swapped input", ""},
		{"a thousand times", "0.3 1.2", "300 1200 60", "unit_slip", "unit_slip input", "unusual_price output, unit_slip input"},
		{"lost decimal point", "0.2 0.6", "0.2 6", "lost_decimal", "lost_decimal output", "lost_decimal output"},
		{"write differs", "3 15 0.3 3.75", "3 15 0.3 4", "cache_write_differs", "cache_write_differs cache_write", "cache_write_differs cache_write"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := list(t, "a", "perch wren "+c.a), list(t, "b", "perch wren "+c.b)
			all := Compare(a, b)
			got := ""
			if len(all) > 0 {
				for _, k := range all[0].Kinds {
					got += " " + string(k)
				}
				if len(all[0].Figures) != 2 || all[0].Figures[0].List != "a" || all[0].Figures[1].Card.Input != b.Rows[0].Price[0].Card.Input {
					t.Errorf("figures %v", all[0].Figures)
				}
			}
			if strings.TrimSpace(got) != c.kinds || len(all) > 1 {
				t.Errorf("kinds %q, want %q", got, c.kinds)
			}
			Check(a, b)
			if got := flags(a, "perch/wren"); got != c.flagA {
				t.Errorf("first list has %q, want %q", got, c.flagA)
			}
			if got := flags(b, "perch/wren"); got != c.flagB {
				t.Errorf("second list has %q, want %q", got, c.flagB)
			}
		})
	}
}

// TestCompareThreeLists: with a majority the odd one is flagged alone.
func TestCompareThreeLists(t *testing.T) {
	a, b, c := list(t, "a", "perch wren 0.3 1.2"), list(t, "b", "perch wren 0.3 1.2"), list(t, "c", "perch wren 0.003 0.012")
	Check(a, b, c)
	if x, y, z := flags(a, "perch/wren"), flags(b, "perch/wren"), flags(c, "perch/wren"); x != "" || y != "" || z != "unit_slip input" {
		t.Errorf("flags %q, %q, %q", x, y, z)
	}
	if _, n := compare([]*List{a, b, c}); n != 1 {
		t.Errorf("%d pairs are shared", n)
	}
}

// TestCompareTiersAndPeriods: a tier or a period that only one list has.
func TestCompareTiersAndPeriods(t *testing.T) {
	read := func(source, prices string) *List {
		l, err := Read(GenaiPrices, strings.NewReader(`[{"id": "perch", "models": [{"id": "wren", "prices": `+prices+`}]}]`))
		if err != nil {
			t.Fatal(err)
		}
		l.Source = source
		return l
	}
	tiers := func(above, input string) string {
		return `{"input_mtok": {"base": 3, "tiers": [{"start": ` + above + `, "price": ` + input + `}]}, "output_mtok": 15}`
	}
	flat := `{"input_mtok": 3, "output_mtok": 15}`
	later := `[{"prices": ` + flat + `}, {"constraint": {"start_date": "2027-01-01"}, "prices": {"input_mtok": 4, "output_mtok": 20}}]`
	for _, c := range []struct{ name, a, b, kinds, flagA, flagB string }{
		{"tier missing", tiers("200000", "6"), flat, "[tier_missing]", "", "tier_missing tiers"},
		{"tier at another size", tiers("200000", "6"), tiers("128000", "6"), "[tier_missing]", "", ""},
		{"tier at another price", tiers("200000", "6"), tiers("200000", "7"), "[tiers_differ]", "tiers_differ tiers", "tiers_differ tiers"},
		{"a later price", later, flat, "[dated_price]", "", "dated_price periods"},
		{"ahead", later, `{"input_mtok": 4, "output_mtok": 20}`, "[dated_price]", "", "dated_price periods"},
	} {
		a, b := read("a", c.a), read("b", c.b)
		all := Compare(a, b)
		if len(all) != 1 || fmt.Sprint(all[0].Kinds) != c.kinds {
			t.Fatalf("%s: %v", c.name, all)
		}
		Check(a, b)
		if x, y := flags(a, "perch/wren"), flags(b, "perch/wren"); x != c.flagA || y != c.flagB {
			t.Errorf("%s: flags %q and %q, want %q and %q", c.name, x, y, c.flagA, c.flagB)
		}
	}
}

// TestRoutesTakesThePlainest: one row for a pair, by region, variants, platform and
// place; rows that differ without a reason are flagged.
func TestRoutesTakesThePlainest(t *testing.T) {
	l := list(t, "one",
		"amazon-bedrock eu.anthropic.claude-kestrel-4-8 5.5 27.5", "amazon-bedrock us.anthropic.claude-kestrel-4-8 5 25", "amazon-bedrock global.anthropic.claude-kestrel-4-8 5 25",
		"azure-cognitive-services wren 1 2", "azure wren 1 2",
		"hut wren-fp8 1 2", "hut wren-2026-01-01-fp8 1 2", "hut wren 3 4", "hut Wren 5 6")
	var got []string
	for _, r := range l.Routes() {
		got = append(got, r.Key)
	}
	want := []string{"amazon-bedrock/global.anthropic.claude-kestrel-4-8", "azure/wren", "hut/wren"}
	if !slices.Equal(got, want) {
		t.Errorf("routes %v, want %v", got, want)
	}
	Check(l)
	for key, want := range map[string]bool{"hut/wren": true, "hut/Wren": true, "hut/wren-fp8": false, "azure/wren": false} {
		if got := strings.Contains(flags(l, key), string(PricedTwice)); got != want {
			t.Errorf("%s is priced twice: %v, want %v", key, got, want)
		}
	}
}

// TestPowerOfTen: the same figure in another unit, and figures that only look it.
func TestPowerOfTen(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"0.71", "71000", -5}, {"300", "0.3", 3}, {"0.003", "0.3", -2}, {"6", "0.6", 1}, {"1", "1", 0}, {"1", "8", 0}, {"0", "1", 0}, {"1.01", "0.1", 1}, {"1.1", "0.1", 0}} {
		var r Row
		a, b := r.rate(&value{kind: text, text: c.a}, "", perMillion), r.rate(&value{kind: text, text: c.b}, "", perMillion)
		if got := slip(a, b); got != c.want {
			t.Errorf("%s against %s is 10^%d, want 10^%d", c.a, c.b, got, c.want)
		}
	}
}
