package routes_test

import (
	"strings"
	"testing"
)

// What a request asked for and nobody understood stands on its answer, whoever gives
// it; not where it wants to be told nothing.
func TestIgnoredSettingsAreTold(t *testing.T) {
	const body = `{"model":"m","messages":[{"role":"user","content":"x"}],"provider":{"preferred_max_latency":3},"providerOptions":{"gateway":{"tags":["a"],"user":"u"}}}`
	const told = "providerOptions.gateway.tags, providerOptions.gateway.user, provider.preferred_max_latency"
	for _, c := range []struct {
		name, body, mode, want string
		status                 int
	}{
		{"served", body, "body", told, 200},
		{"served, metadata in headers", body, "header", told, 200},
		{"served, no metadata", body, "off", "", 200},
		{"no such model", strings.Replace(body, `"m"`, `"nowhere"`, 1), "body", told, 404},
		{"no route", strings.Replace(body, `"preferred_max_latency":3`, `"only":["quay"],"x":1`, 1), "body",
			"providerOptions.gateway.tags, providerOptions.gateway.user, provider.x, only.quay", 400},
		{"vendors that are not there", strings.Replace(body, `"preferred_max_latency":3`, `"order":["quay","pier"],"ignore":["reef/fp8"]`, 1), "body",
			"providerOptions.gateway.tags, providerOptions.gateway.user, ignore.reef?fp8, order.quay", 200},
		{"nothing ignored", `{"model":"m","messages":[{"role":"user","content":"x"}],"provider":{"order":["pier"]}}`, "body", "", 200},
	} {
		r := newRig(t, nil, stop{name: "pier", serve: &script{text: jsonAnswer}})
		got := r.post("chat", c.body, "x-warmroute-metadata", c.mode)
		if got.status != c.status || got.header.Get("X-Warmroute-Ignored") != c.want {
			t.Errorf("%s: %d, %q, want %d, %q", c.name, got.status, got.header.Get("X-Warmroute-Ignored"), c.status, c.want)
		}
	}
}

// OpenRouter's page: without an order the first vendor alone is asked and its error is
// the client's; with one, its vendors are tried in turn and nobody else.
func TestFallbacksMayBeForbidden(t *testing.T) {
	for _, c := range []struct {
		name, provider, served string
		status                 int
	}{
		{"allowed", `{"allow_fallbacks":true}`, "cove", 200},
		{"forbidden", `{"allow_fallbacks":false}`, "", 503},
		{"an order that works", `{"order":["pier","cove"],"allow_fallbacks":false}`, "cove", 200},
		{"an order that does not", `{"order":["pier"],"allow_fallbacks":false}`, "", 503},
		{"an order of nobody", `{"order":["quay"],"allow_fallbacks":false}`, "", 400},
		{"an order, others allowed", `{"order":["pier"]}`, "cove", 200},
	} {
		down, up := &script{status: 503, text: `{"error":{"message":"busy"}}`}, &script{text: jsonAnswer}
		r := newRig(t, nil, stop{name: "pier", serve: down}, stop{name: "cove", serve: up})
		got := r.post("chat", `{"model":"m","messages":[{"role":"user","content":"x"}],"provider":`+c.provider+`}`, "x-warmroute-metadata", "header")
		if vendor := got.header.Get("X-Warmroute-Vendor"); got.status != c.status || c.served != "" && vendor != c.served {
			t.Errorf("%s: %d by %s, want %d by %s", c.name, got.status, vendor, c.status, c.served)
		}
	}
}
