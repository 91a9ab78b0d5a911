package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

func TestCutEvents(t *testing.T) {
	for api, want := range map[catalog.API]string{
		catalog.Chat:      "data: {\"error\":{\"message\":\"a \\\"cut\\\"\",\"type\":\"upstream_error\",\"param\":null,\"code\":\"upstream_error\"}}\n\n",
		catalog.Messages:  "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"a \\\"cut\\\"\"}}\n\n",
		catalog.Responses: "event: error\ndata: {\"type\":\"error\",\"sequence_number\":0,\"code\":\"upstream_error\",\"message\":\"a \\\"cut\\\"\",\"param\":null,\"error\":{\"message\":\"a \\\"cut\\\"\",\"type\":\"upstream_error\",\"param\":null,\"code\":\"upstream_error\"}}\n\n",
	} {
		got := CutEvent(api, `a "cut"`)
		if string(got) != want {
			t.Errorf("%s: %s", api, got)
		}
		// Another gateway's relay reads it as what it is.
		r := NewRelay(RelayOptions{API: api})
		r.Feed(got)
		if r.Failed() == nil || r.Done() || r.Failed().Message != `a "cut"` {
			t.Errorf("%s: read as %+v", api, r.Failed())
		}
	}
}

func TestErrorBodies(t *testing.T) {
	for _, c := range []struct {
		api    catalog.API
		status int
		kind   string
		want   string
	}{
		{catalog.Chat, 400, "", `{"error":{"message":"m\u001b","type":"invalid_request_error","param":null,"code":null}}`},
		{catalog.Chat, 404, "model_not_found", `{"error":{"message":"m\u001b","type":"model_not_found","param":null,"code":"model_not_found"}}`},
		{catalog.Responses, 502, "", `{"error":{"message":"m\u001b","type":"server_error","param":null,"code":null}}`},
		{catalog.Messages, 404, "model_not_found", `{"type":"error","error":{"type":"not_found_error","message":"m\u001b"}}`},
		{catalog.Messages, 413, "", `{"type":"error","error":{"type":"request_too_large","message":"m\u001b"}}`},
		{catalog.Messages, 422, "", `{"type":"error","error":{"type":"invalid_request_error","message":"m\u001b"}}`},
		{catalog.Messages, 429, "", `{"type":"error","error":{"type":"rate_limit_error","message":"m\u001b"}}`},
		{catalog.Messages, 503, "", `{"type":"error","error":{"type":"api_error","message":"m\u001b"}}`},
		{catalog.Messages, 529, "", `{"type":"error","error":{"type":"overloaded_error","message":"m\u001b"}}`},
	} {
		got := ErrorBody(c.api, c.status, c.kind, "m\x1b")
		if string(got) != c.want || !json.Valid(got) {
			t.Errorf("%s %d: %s", c.api, c.status, got)
		}
	}
}

func rate(text string) pricing.Rate { return pricing.PerMillion(decimal.RequireFromString(text)) }

func TestMetadata(t *testing.T) {
	f := engine.Finding{
		Outcome: engine.Promoted, Detail: engine.DetailOlderWarmVendor, Pinned: "bedrock", Displaced: "anthropic", Gate: catalog.GateCacheRead,
		Verdict: pricing.Verdict{Pays: true, CacheRead: rate("0.30"), Input: rate("3"), Rivals: []pricing.Rival{{Vendor: "anthropic", Input: rate("2.50")}, {Vendor: "x"}}},
		Prompt:  engine.Estimate{Tokens: 1234, Basis: "text_bytes"},
	}
	s := engine.Session{Class: engine.ClassCacheKey, ID: "boat \"1\""}
	want := `{"gateway":{"routing":{"clientSessionId":"boat \"1\"","clientSessionIdSource":"explicit","affinity":{"outcome":"promoted",` +
		`"pinnedProvider":"bedrock","displacedProvider":"anthropic","detail":"older_warm_vendor","gate":{"name":"cache_read","pays":true,` +
		`"own":{"cache_read":"0.3","input":"3"},"rivals":[{"vendor":"anthropic","input":"2.5"},{"vendor":"x","input":null}],"prompt_tokens":1234,"basis":"text_bytes"}}}}}`
	if got := string(Metadata(s, f)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got := string(Metadata(engine.Session{}, engine.Finding{Outcome: engine.NoPin, Detail: engine.DetailNoSession}))
	if want := `{"gateway":{"routing":{"affinity":{"outcome":"no_pin","detail":"no_session"}}}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	f.Verdict = pricing.Verdict{Reason: pricing.PriceUnknown, Input: rate("3")}
	got = string(Metadata(s, f))
	if !strings.Contains(got, `"pays":false,"own":{"cache_read":null,"input":"3"},"rivals":[],`) || !json.Valid([]byte(got)) {
		t.Errorf("got %s", got)
	}
}
