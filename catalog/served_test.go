package catalog

import "testing"

func TestServingFindsTheModelThatAnswered(t *testing.T) {
	c, err := Parse("catalog.yaml", []byte(`version: 1
vendors:
  north: {api: [chat], base_url: https://north.example/v1}
  south: {api: [chat], base_url: https://south.example/v1}
models:
  finch: {routes: [{vendor: north, model: finch, price: {input: 2.50, output: 10}}, {vendor: south, model: finch}]}
  finch-february: {routes: [{vendor: north, model: finch-2026-02-01, price: {input: 4, output: 16}}]}
  robin: {routes: [{vendor: north, model: robin-4-5, price: {input: 3, output: 15}}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	north, _ := c.Vendor("north")
	for served, want := range map[string]string{
		"finch":                "finch",
		"finch-2026-09-09":     "finch",
		"finch-2026-02-01":     "finch-february", // its own entry goes before the family's
		"robin-4-5-20260115":   "robin",
		"north/finch":          "finch",
		"north/finch-20260909": "finch",
		"south/finch":          "", // another vendor's name
		"FINCH":                "",
		"finch-2026-13-01":     "", // no date
		"finch-20260230":       "",
		"robin-4":              "",
		"robin-4-5-mini":       "",
		"-2026-02-01":          "",
		"":                     "",
	} {
		route, ok := north.Serving(served)
		if ok != (want != "") || ok && (route.Model.Name != want || route.Vendor != north) {
			t.Errorf("%q is served by %v, %t; want %q", served, route, ok, want)
		}
	}
}
