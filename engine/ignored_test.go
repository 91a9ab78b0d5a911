package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

func TestVendorsThatTheCatalogDoesNotHaveAreNamed(t *testing.T) {
	c, err := catalog.Parse("c.yaml", []byte("version: 1\nvendors:\n  quay: {api: [chat], base_url: https://quay.example/v1}\nmodels:\n  m: {routes: [{vendor: quay, model: m, price: {input: 1, output: 1}}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	many := strings.Fields("a b c d e f g h i j")
	for name, w := range map[string]struct {
		request engine.Request
		want    []string
	}{
		"all known":        {engine.Request{Only: []string{"quay"}, Ignore: []string{"quay"}, Order: []string{"quay"}}, nil},
		"one misspelt":     {engine.Request{Order: []string{"quai", "quay"}}, []string{"order.quai"}},
		"in every list":    {engine.Request{Only: []string{"x"}, Ignore: []string{"x"}, Order: []string{"x", "x"}}, []string{"only.x", "ignore.x", "order.x"}},
		"beside a member":  {engine.Request{Ignored: []string{"provider.x"}, Ignore: []string{"pier"}}, []string{"provider.x", "ignore.pier"}},
		"no header's text": {engine.Request{Order: []string{"a\r\nb: c/d", ""}}, []string{"order.a??b??c?d", "order."}},
		"a long one":       {engine.Request{Order: []string{strings.Repeat("x", 500)}}, []string{"order." + strings.Repeat("x", 58)}},
		"too many":         {engine.Request{Order: many}, []string{"order.a", "order.b", "order.c", "order.d", "order.e", "order.f", "order.g", "order.h"}},
	} {
		w.request.DisregardStrangers(c)
		if !slices.Equal(w.request.Ignored, w.want) {
			t.Errorf("%s: %q, want %q", name, w.request.Ignored, w.want)
		}
	}
}
