package catalog

import "testing"

func TestFamilyWhereNobodySays(t *testing.T) {
	for _, c := range []struct {
		name, vendor string
		apis         []API
		want         Family
	}{
		{"chat", "acme", []API{Chat}, Implicit},
		{"messages alone", "acme", []API{Messages}, Explicit},
		{"messages among others", "acme", []API{Chat, Messages}, Implicit},
		{"anthropic by chat too", "anthropic", []API{Messages, Chat}, Explicit},
		{"bedrock by chat", "bedrock", []API{Chat}, Explicit},
		{"a region of bedrock", "bedrock-eu", []API{Chat, Messages}, Explicit},
		{"vertex", "vertex-us", []API{Chat}, Explicit},
		{"a name that only begins alike", "vertexample", []API{Chat}, Implicit},
	} {
		if got := ordinaryFamily(c.vendor, c.apis); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	c := parse(t, "version: 1\nvendors: {bedrock: {api: [chat, messages], base_url: https://a.example}, anthropic: {api: [messages], base_url: https://b.example, cache: {family: implicit}}}\nmodels: {m: {routes: [{vendor: bedrock, model: m}, {vendor: anthropic, model: m}]}}\n")
	if got := c.Models[0].Routes; got[0].Cache.Family != Explicit || got[1].Cache.Family != Implicit {
		t.Errorf("bedrock is %s, and what is said of anthropic gives %s", got[0].Cache.Family, got[1].Cache.Family)
	}
}
