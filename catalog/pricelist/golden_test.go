package pricelist

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/pricing"
)

var update = flag.Bool("update", false, "rewrite testdata/*.golden")

// golden are the small lists of our own and how they are read.
var golden = []struct{ source, file string }{
	{LiteLLM, "litellm"},
	{ModelsDev, "modelsdev"},
	{ModelsDev, "modelsdev-api"},
	{OpenRouter, "openrouter"},
	{Portkey, "portkey"},
	{Portkey + ":perch-ai", "portkey-one"},
	{GenaiPrices, "genai"},
}

// TestReadGolden holds every row, skip and flag of a small list in each format.
func TestReadGolden(t *testing.T) {
	for _, g := range golden {
		t.Run(g.file, func(t *testing.T) {
			l := readFile(t, g.source, g.file)
			path := filepath.Join("testdata", g.file+".golden")
			got := show(l)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs; read the diff of go test -update\n%s", path, got)
			}
		})
	}
}

func readFile(t testing.TB, source, file string) *List {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file+".json"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := Read(source, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// show writes a list as text, one fact a line.
func show(l *List) string {
	var b strings.Builder
	fmt.Fprintf(&b, "list %s\n", l.Source)
	for _, r := range l.Rows {
		fmt.Fprintf(&b, "row %s: %s at %s (%s), send %s", r.Key, r.Model, r.Vendor, r.Provider, r.UpstreamModel)
		for _, x := range []struct{ name, text string }{{"region", r.Region}, {"variant", r.Variant}, {"as of", r.AsOf}} {
			if x.text != "" {
				fmt.Fprintf(&b, ", %s %s", x.name, x.text)
			}
		}
		fmt.Fprintf(&b, ", context %d, min prefix %d\n", r.Context, r.MinPrefix)
		for _, s := range r.Price {
			showSheet(&b, s)
		}
		for _, f := range r.Flags {
			fmt.Fprintf(&b, "  ! %s %s: %s\n", f.Code, f.Field, f.Message)
		}
	}
	for _, s := range l.Skipped {
		fmt.Fprintf(&b, "skip %s: %s %s\n", s.Key, s.Reason, s.Detail)
	}
	return b.String()
}

func showSheet(b *strings.Builder, s pricing.Sheet) {
	day := func(t time.Time) string {
		if t.IsZero() {
			return "…"
		}
		return t.Format(time.RFC3339)
	}
	if !s.From.IsZero() || !s.To.IsZero() {
		fmt.Fprintf(b, "  from %s to %s\n", day(s.From), day(s.To))
	}
	showBand(b, "  ", s.Band)
	for _, w := range s.Windows {
		fmt.Fprintf(b, "  %s to %s %s\n", w.From, w.To, w.Zone)
		showBand(b, "    ", w.Band)
	}
	for _, name := range sortedKeys(s.ServiceTiers) {
		fmt.Fprintf(b, "  tier %s\n", name)
		showBand(b, "    ", s.ServiceTiers[name])
	}
	for _, x := range s.Surcharges {
		fmt.Fprintf(b, "  times %s at speed %q region %q\n", x.Times, x.Speed, x.Region)
	}
	if s.Source != "" {
		fmt.Fprintf(b, "  source %s\n", s.Source)
	}
}

func showBand(b *strings.Builder, indent string, band pricing.Band) {
	line := func(c pricing.Card) string {
		var parts []string
		for i, r := range rates(&c) {
			if r.Known() {
				parts = append(parts, fields[i]+" "+r.String())
			}
		}
		if c.Request.Known() {
			parts = append(parts, "request "+c.Request.String())
		}
		return strings.Join(parts, ", ")
	}
	fmt.Fprintf(b, "%s%s\n", indent, line(band.Card))
	for _, t := range band.Tiers {
		fmt.Fprintf(b, "%s> %d: %s\n", indent, t.Above, line(t.Card))
	}
}

func sortedKeys(m map[string]pricing.Band) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
