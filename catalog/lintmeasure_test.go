package catalog

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// crowd is a catalog of this many models with three routes each, all of them with
// something to remark.
func crowd(models int) []byte {
	var text strings.Builder
	text.WriteString("version: 1\nvendors:\n  alpha: {api: [chat], base_url: https://a.example/v1}\n  beta: {api: [chat], base_url: https://b.example/v1}\n  gamma: {api: [chat], base_url: https://c.example/v1}\nmodels:\n")
	for i := range models {
		fmt.Fprintf(&text, "  maker/model-%d:\n    aliases: [m%d]\n    routes:\n", i, i)
		fmt.Fprintf(&text, "      - {vendor: alpha, model: a, price: {input: 3, output: 15, cache_read: 0.30, cache_write: 3.75, as_of: 2026-08-01, source: page, tiers: [{above: 200000, input: 6, output: 22.50, cache_read: 0.60}]}}\n")
		fmt.Fprintf(&text, "      - {vendor: beta, model: b, price: {input: 0.28, output: 12, windows: [{days: [mon-fri], from: \"01:00\", to: \"04:00\", zone: UTC, input: 0.50, output: 6}]}}\n")
		fmt.Fprintf(&text, "      - {vendor: gamma, model: c, price: {input: 3.10, output: 15, cache_read: 0.31, service_tiers: {flex: {input: 1.50, output: 7}}}}\n")
	}
	return []byte(text.String())
}

// One iteration lints a catalog of 500 models with three routes each.
func BenchmarkLint(b *testing.B) {
	text := crowd(500)
	c, err := Parse("f", text)
	if err != nil {
		b.Fatal(err)
	}
	if f := Lint(c, text, lintDay); f.Count(SeverityWarning) < 500 || f.Count(SeverityNote) < 2500 {
		b.Fatalf("%d warnings, %d notes", f.Count(SeverityWarning), f.Count(SeverityNote))
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Lint(c, text, lintDay)
	}
}

// A catalog that is made to be slow to judge is judged in time: one model with as
// many vendors as fit, all with tiers, and names that all look alike.
func TestLintOfAHostileCatalog(t *testing.T) {
	var vendors, routes, names strings.Builder
	vendorCount := 3000 / (1 + slower/4)
	for i := range vendorCount {
		fmt.Fprintf(&vendors, "  v%d: {api: [chat], base_url: https://v.example/v1}\n", i)
		fmt.Fprintf(&routes, "      - {vendor: v%d, model: m, silence: {price-ends: never so}, price: {input: %d, output: 2, cache_read: 0.%d, tiers: [{above: %d, input: 2, cache_read: 1}], windows: [{from: \"%02d:%02d\", to: \"23:59\", zone: UTC, input: 1}]}}\n", i, 1+i%7, 1+i%9, 1000+i, i%23, i%59)
		fmt.Fprintf(&names, "  %s: {routes: [{vendor: v1, model: m}]}\n", "n"+strings.Repeat("-", 1+i%50)+fmt.Sprint(i))
	}
	text := []byte("version: 1\nvendors:\n" + vendors.String() + "models:\n  big:\n    routes:\n" + routes.String() + names.String())
	c, err := Parse("f", text)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	f := Lint(c, text, lintDay)
	took := time.Since(begin)
	if len(f.Problems) < 2*vendorCount {
		t.Errorf("%d problems", len(f.Problems))
	}
	if took > 20*time.Second*slower {
		t.Errorf("it took %s", took)
	}
	t.Logf("%d bytes, %d findings in %s", len(text), len(f.Problems), took)
}

// What the situations of many models cost together is bounded, and so little of it is
// needed for a catalog of five hundred models that none of them is cut short.
func TestTheStagesOfAllModelsAreBounded(t *testing.T) {
	var models strings.Builder
	for m := range 40 {
		fmt.Fprintf(&models, "  m%d:\n    routes:\n", m)
		for v := range 6 {
			fmt.Fprintf(&models, "      - vendor: v%d\n        model: m\n        price:\n          input: 3\n          cache_read: 0.3\n          tiers: [{above: %d, input: 6}, {above: %d, input: 9}]\n          windows:\n", v, 1000+v, 2000+v)
			for w := range 64 {
				fmt.Fprintf(&models, "            - {from: \"%02d:%02d\", to: \"%02d:%02d\", zone: UTC, input: 1}\n", (w*20+v)/60, (w*20+v)%60, (w*20+v+1)/60, (w*20+v+1)%60)
			}
		}
	}
	vendors := ""
	for v := range 6 {
		vendors += fmt.Sprintf("  v%d: {api: [chat], base_url: https://v.example/v1}\n", v)
	}
	for _, x := range []struct {
		text []byte
		most int
	}{
		{[]byte("version: 1\nvendors:\n" + vendors + "models:\n" + models.String()), maxLooks + 40*8*6*65},
		{crowd(500), maxLooks / 10},
	} {
		c, err := Parse("f", x.text)
		if err != nil {
			t.Fatal(err)
		}
		l := &linter{catalog: c, now: lintDay}
		for _, m := range c.Models {
			if got := l.situations(m.Routes); len(got) < 8 {
				t.Fatalf("%s has %d situations", m.Name, len(got))
			}
		}
		if l.looks == 0 || l.looks > x.most {
			t.Errorf("%d looks; want at most %d", l.looks, x.most)
		}
	}
}

// Whatever can be read can be judged, in the same way each time, and every finding
// has a code, a place in the file and something to do.
func FuzzLint(f *testing.F) {
	for _, name := range []string{"full.yaml", "minimal.yaml"} {
		text, err := os.ReadFile("../testdata/catalogs/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add(crowd(2))
	for _, code := range Codes() {
		page, _, _ := Explain(code)
		f.Add([]byte(whole(page.Example)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseKeys("f", text, keysOf(nil))
		if err != nil {
			return
		}
		found := Lint(c, text, lintDay)
		again := Lint(c, text, lintDay)
		if fmt.Sprint(found) != fmt.Sprint(again) {
			t.Fatal("two lints differ")
		}
		lines := len(splitLines(text))
		for i, p := range found.Problems {
			if kinds[p.Code] == "" || p.Line < 1 || p.Line > lines || p.Column < 1 || p.Wrong() == "" || p.Remedy() == "" || p.Severity == SeverityError {
				t.Fatalf("%+v", p)
			}
			if i > 0 && p.Line < found.Problems[i-1].Line {
				t.Fatal("not in the order of lines")
			}
		}
	})
}
