package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fleet is a catalog of two models: one with a tier, hours and an implicit read
// price, one that two vendors of different dialects serve.
const fleet = `version: 1
vendors:
  harbour: {api: [chat], base_url: https://harbour.example.com/v1, credentials: [{id: quay, env: HARBOUR_KEY}], cache: {family: implicit, ttl: 10m, min_prefix: 512}}
  strand: {api: [chat], base_url: https://strand.example.com/v1, credentials: [{id: dune, env: STRAND_KEY}]}
  shoal: {api: [messages], base_url: https://shoal.example.com/v1, credentials: [{id: reef, env: SHOAL_KEY}]}
models:
  sea/charts:
    aliases: [charts]
    context: 200000
    routes:
      - vendor: harbour
        model: charts-1
        price:
          input: 3
          output: 15
          cache_read: 0.30
          cache_write: 3.75
          cache_write_1h: 6
          as_of: 2026-11-20
          tiers: [{above: 50000, input: 6, output: 30, cache_read: 0.60, cache_write: 7.50}]
      - vendor: strand
        model: charts-one
        price: {input: 0.90, output: 3, as_of: 2026-11-28}
      - vendor: shoal
        model: charts-reef
        price: {input: 1, output: 3, cache_read: 0.95}
  sea/tides:
    routes:
      - vendor: harbour
        model: tides-1
        price: {input: 2, output: 6, cache_read: 0.20, cache_read_implicit: 0.40, cache_write: 2.50}
      - vendor: strand
        model: tides-one
        price: {input: 2, output: 6, cache_read: 0.20}
        disabled: slow since May
policies:
  any-sea: {models: [sea/charts, sea/tides]}
`

func fleetFile(t *testing.T) string {
	t.Helper()
	t.Setenv("HARBOUR_KEY", "a-key-that-is-none")
	for _, name := range []string{"STRAND_KEY", "SHOAL_KEY"} {
		t.Setenv(name, "")
	}
	file := filepath.Join(t.TempDir(), "catalog.yaml")
	if err := os.WriteFile(file, []byte(fleet), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const fleetTime = "2026-11-29T12:00:00Z"

func TestShowSaysWhatARouteCostsNow(t *testing.T) {
	file := fleetFile(t)
	var got shownCatalog
	out, err := ran(t, catalogShowCommand, file, "charts", "--at", fleetTime, "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Models) != 1 || len(got.Models[0].Routes) != 3 || got.Models[0].Context != 200_000 || got.Currency != "USD" {
		t.Fatalf("shown is %+v", got)
	}
	r := got.Models[0].Routes[0]
	if *r.Price.Input != "3" || *r.Price.CacheRead != "0.3" || *r.Price.CacheWrite1h != "6" || r.AgeDays == nil || *r.AgeDays != 9 ||
		r.Cache.TTL != "10m0s" || r.Cache.MinPrefix != 512 || !r.Credentials[0].Present {
		t.Errorf("the first route is %+v", r)
	}
	second := got.Models[0].Routes[1]
	if second.Price.CacheRead != nil || second.Credentials[0].Present || second.Cache.MinPrefix != 256 {
		t.Errorf("the second route is %+v", second)
	}
	if strings.Contains(out, "a-key") {
		t.Error("a key is shown")
	}
	out, err = ran(t, catalogShowCommand, file, "charts", "--at", fleetTime, "--prompt", "50001")
	if err != nil || !strings.Contains(out, "harbour  6      0.6   7.5") || !strings.Contains(out, "no STRAND_KEY") || !strings.Contains(out, "2026-11-20 (9 days)") {
		t.Errorf("above the threshold it says %s, %v", out, err)
	}
}

// What is charged beside the prices of tokens is never left out.
func TestShowAndMatrixTellFeesAndSurcharges(t *testing.T) {
	file := fleetFile(t)
	text := strings.Replace(fleet, "input: 0.90, output: 3, as_of: 2026-11-28", "input: 0.90, output: 3, cache_read: 0.09, request: 0.5, surcharges: [{speed: fast, times: 6}, {region: us, times: 1.1}]", 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := ran(t, catalogShowCommand, file, "charts", "--at", fleetTime)
	if err != nil || !strings.Contains(out, "3 + 0.5 a request") || !strings.Contains(out, "×6 at speed fast, ×1.1 in region us") {
		t.Errorf("show says %s, %v", out, err)
	}
	var got shownCatalog
	out, err = ran(t, catalogShowCommand, file, "charts", "--at", fleetTime, "-o", "json")
	if err := errors.Join(err, json.Unmarshal([]byte(out), &got)); err != nil {
		t.Fatal(err)
	}
	if r := got.Models[0].Routes[1]; r.Price.Request == nil || *r.Price.Request != "0.5" || len(r.Surcharges) != 2 || r.Surcharges[0] != (shownSurcharge{Speed: "fast", Times: "6"}) {
		t.Errorf("the route is %+v", r)
	}
	out, err = ran(t, catalogMatrixCommand, file, "charts", "--at", fleetTime, "--prompt", "2000", "--new", "1000")
	if err != nil || !strings.Contains(out, "3 + 0.5 a request  0.50189") {
		t.Errorf("matrix says %s, %v", out, err)
	}
}

func TestShowFindsModelsVendorsAndPolicies(t *testing.T) {
	file := fleetFile(t)
	for _, c := range []struct {
		name   string
		args   []string
		has    []string
		hasNot []string
	}{
		{"everything", nil, []string{"sea/charts (charts), context 200000", "sea/tides", "disabled: slow since May"}, nil},
		{"a vendor", []string{"shoal"}, []string{"shoal: https://shoal.example.com/v1, messages, no SHOAL_KEY", "sea/charts"}, []string{"sea/tides", "strand"}},
		{"a policy", []string{"any-sea"}, []string{"sea/charts", "sea/tides"}, nil},
		{"what the vendor caches by itself", []string{"sea/tides"}, []string{"0.2, implicit 0.4"}, nil},
		{"a service tier that nobody prices", []string{"charts", "--tier", "flex"}, []string{"service tier flex", "harbour  -      -"}, nil},
	} {
		out, err := ran(t, catalogShowCommand, append([]string{file}, append(c.args, "--at", fleetTime)...)...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, want := range c.has {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, out)
			}
		}
		for _, want := range c.hasNot {
			if strings.Contains(out, want) {
				t.Errorf("%s: %q in\n%s", c.name, want, out)
			}
		}
	}
}

func TestShowRefuses(t *testing.T) {
	file := fleetFile(t)
	for _, c := range []struct {
		name string
		args []string
		code int
	}{
		{"no catalog", nil, exitUsage},
		{"a catalog that is not there", []string{file + ".bak"}, exitNotFound},
		{"a name that is not there", []string{file, "sea/weed"}, exitNotFound},
		{"a time that is none", []string{file, "--at", "noon"}, exitUsage},
		{"a prompt below nothing", []string{file, "--prompt", "-1"}, exitUsage},
	} {
		if _, err := ran(t, catalogShowCommand, c.args...); exitOf(err) != c.code {
			t.Errorf("%s: exit %d, %v; want %d", c.name, exitOf(err), err, c.code)
		}
	}
}
