package pricelist

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/warmroute/warmroute/pricing"
)

// fuzz reads arbitrary texts as one source: it never panics, and what it returns
// keeps the package's promises.
func fuzz(f *testing.F, source string) {
	for _, g := range golden {
		data, err := os.ReadFile(filepath.Join("testdata", g.file+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"a":`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Read(source, bytes.NewReader(data))
		if err != nil {
			return
		}
		for i := range l.Rows {
			holds(t, &l.Rows[i])
		}
		Check(l, l)
		first := show(l)
		again, err := Read(source, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		Check(again, again)
		if show(again) != first {
			t.Fatal("read differently the second time")
		}
	})
}

// holds checks what every row promises.
func holds(t *testing.T, r *Row) {
	t.Helper()
	if r.Model == "" || r.Vendor == "" || slug(r.Vendor, "-._") != r.Vendor || len(r.Price) == 0 {
		t.Fatalf("row %q has model %q, vendor %q, %d periods", r.Key, r.Model, r.Vendor, len(r.Price))
	}
	for i, s := range r.Price {
		if i > 0 && !s.From.Equal(r.Price[i-1].To) {
			t.Fatalf("row %q: period %d does not follow the one before", r.Key, i)
		}
		band(t, r, s.Band)
		for _, w := range s.Windows {
			band(t, r, w.Band)
		}
		for _, b := range s.ServiceTiers {
			band(t, r, b)
		}
		for _, x := range s.Surcharges {
			if !x.Times.IsPositive() {
				t.Fatalf("row %q: surcharge %s", r.Key, x.Times)
			}
		}
	}
}

func band(t *testing.T, r *Row, b pricing.Band) {
	t.Helper()
	card(t, r, b.Card)
	for i, tier := range b.Tiers {
		if tier.Above <= 0 || i > 0 && tier.Above <= b.Tiers[i-1].Above {
			t.Fatalf("row %q: tier %d above %d", r.Key, i, tier.Above)
		}
		card(t, r, tier.Card)
	}
}

func card(t *testing.T, r *Row, c pricing.Card) {
	t.Helper()
	for i, rate := range rates(&c) {
		d := rate.Decimal()
		switch {
		case d.IsNegative() || !d.LessThan(maxRate) || !d.Equal(d.Truncate(maxPlaces)):
			t.Fatalf("row %q: %s is %s", r.Key, fields[i], d)
		case i >= 2 && zero(*rate) && !zero(c.Input):
			t.Fatalf("row %q: %s is 0 beside input %s", r.Key, fields[i], c.Input)
		}
	}
}

func FuzzReadLiteLLM(f *testing.F)    { fuzz(f, LiteLLM) }
func FuzzReadModelsDev(f *testing.F)  { fuzz(f, ModelsDev) }
func FuzzReadOpenRouter(f *testing.F) { fuzz(f, OpenRouter) }
func FuzzReadPortkey(f *testing.F)    { fuzz(f, Portkey) }
func FuzzReadPortkeyOne(f *testing.F) { fuzz(f, Portkey+":perch") }
func FuzzReadGenai(f *testing.F)      { fuzz(f, GenaiPrices) }

// FuzzModelName: any id has a name that a catalog takes, or none.
func FuzzModelName(f *testing.F) {
	for _, id := range []string{"claude-haiku-4-5@20251001", "us.anthropic.claude-v2:1", "a/b:c", "ft:gpt", "Pro/@", "-fp8-fast"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		model, _, _ := ModelName("hut", id)
		for _, c := range []byte(model) {
			if c <= ' ' || c >= 0x7f || c >= 'A' && c <= 'Z' {
				t.Fatalf("%q is named %q", id, model)
			}
		}
	})
}
