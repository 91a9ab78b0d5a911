package catalog

import (
	"slices"
	"testing"
)

func TestKeyOrder(t *testing.T) {
	for name, c := range map[string]struct {
		path  []string
		first []string
	}{
		"the top":       {nil, []string{"version", "currency", "unit", "vendors", "models", "policies"}},
		"a vendor":      {[]string{"vendors", "any"}, []string{"api", "base_url", "auth", "credentials"}},
		"a credential":  {[]string{"vendors", "any", "credentials", ""}, []string{"id", "env", "file"}},
		"a route":       {[]string{"models", "any", "routes", ""}, []string{"vendor", "model", "price"}},
		"a tier":        {[]string{"models", "any", "routes", "", "price", "tiers", ""}, []string{"above", "input", "output"}},
		"a window":      {[]string{"models", "any", "routes", "", "price", "windows", ""}, []string{"days", "from", "to", "zone", "input"}},
		"a price":       {[]string{"models", "any", "routes", "", "price"}, []string{"valid_from", "valid_to", "input", "output", "cache_read"}},
		"a period":      {[]string{"models", "any", "routes", "", "price", ""}, []string{"valid_from", "valid_to", "input", "output", "cache_read"}},
		"its tiers":     {[]string{"models", "any", "routes", "", "price", "", "tiers", ""}, []string{"above", "input", "output"}},
		"a surcharge":   {[]string{"models", "any", "routes", "", "price", "surcharges", ""}, []string{"speed", "region", "times"}},
		"names":         {[]string{"models"}, nil},
		"headers":       {[]string{"vendors", "any", "headers"}, nil},
		"no such key":   {[]string{"colour"}, nil},
		"below a price": {[]string{"models", "any", "routes", "", "price", "input", "x"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := KeyOrder(c.path...)
			if len(got) < len(c.first) || !slices.Equal(got[:len(c.first)], c.first) || c.first == nil && got != nil {
				t.Errorf("%q are %q, want them to begin with %q", c.path, got, c.first)
			}
		})
	}
}
