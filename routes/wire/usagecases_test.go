package wire

import (
	"testing"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// Price cards that the figures below are made of, per million tokens.
var cards = map[string][5]string{ // input, output, read, written for 5 minutes, for an hour
	"sonnet":   {"3", "15", "0.30", "3.75", "6"},
	"opus":     {"5", "25", "0.50", "6.25", "10"},
	"fable":    {"10", "50", "1", "12.50", "20"},
	"gpt":      {"2.50", "10", "0.25", "", ""},
	"gpt-w":    {"5", "30", "0.50", "6.25", ""},
	"deepseek": {"0.28", "0.42", "0.028", "", ""},
}

// listPrice is a price per million; empty is not known.
func listPrice(t *testing.T, text string) pricing.Rate {
	t.Helper()
	if text == "" {
		return pricing.Rate{}
	}
	return pricing.PerMillion(decimal.RequireFromString(text))
}

func cardOf(t *testing.T, name string) pricing.Card {
	t.Helper()
	c, ok := cards[name]
	if !ok {
		t.Fatalf("no card %s", name)
	}
	return pricing.Card{Input: listPrice(t, c[0]), Output: listPrice(t, c[1]), CacheRead: listPrice(t, c[2]), CacheWrite5m: listPrice(t, c[3]), CacheWrite1h: listPrice(t, c[4])}
}

// usageCase is what one usage object must come to.
type usageCase struct {
	name, convention string
	api              catalog.API
	object           string
	card             string
	want             pricing.Usage
	quality          pricing.Quality
	cost             string
	sideCard, both   string // of what was used on the side, and the cost with it
}

var usageCases = []usageCase{
	{name: "writes for an hour", api: catalog.Messages, card: "sonnet",
		object: `{"input_tokens":8,"cache_read_input_tokens":2000,"cache_creation_input_tokens":7500,"cache_creation":{"ephemeral_5m_input_tokens":1500,"ephemeral_1h_input_tokens":6000},"output_tokens":40}`,
		want:   pricing.Usage{Input: 8, CacheRead: 2000, CacheWrite5m: 1500, CacheWrite1h: 6000, Output: 40}, quality: pricing.Authoritative, cost: "0.042849"},
	{name: "paid writes", api: catalog.Responses, card: "gpt-w",
		object: `{"input_tokens":7204,"output_tokens":64,"total_tokens":7268,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":7200},"output_tokens_details":{"reasoning_tokens":0}}`,
		want:   pricing.Usage{Input: 4, CacheWrite5m: 7200, Output: 64}, quality: pricing.Authoritative, cost: "0.04694"},
	{name: "paid writes and reads", api: catalog.Chat, card: "gpt-w",
		object: `{"prompt_tokens":2764,"completion_tokens":100,"total_tokens":2864,"prompt_tokens_details":{"cached_tokens":2048,"cache_write_tokens":512}}`,
		want:   pricing.Usage{Input: 204, CacheRead: 2048, CacheWrite5m: 512, Output: 100}, quality: pricing.Authoritative, cost: "0.008244"},
	{name: "writes without a price", api: catalog.Chat, card: "gpt",
		object: `{"prompt_tokens":2764,"completion_tokens":100,"total_tokens":2864,"prompt_tokens_details":{"cached_tokens":2048,"cache_write_tokens":512}}`,
		want:   pricing.Usage{Input: 204, CacheRead: 2048, CacheWrite5m: 512, Output: 100}, quality: pricing.Authoritative, cost: "0.003302"},
	{name: "a response cut at its limit", api: catalog.Responses, card: "gpt",
		object: `{"input_tokens":3000,"input_tokens_details":{"cached_tokens":2560},"output_tokens":4096,"output_tokens_details":{"reasoning_tokens":1024},"total_tokens":7096}`,
		want:   pricing.Usage{Input: 440, CacheRead: 2560, Output: 4096, Reasoning: 1024}, quality: pricing.Authoritative, cost: "0.0427"},
	{name: "reasoning is in the output", api: catalog.Chat, card: "gpt",
		object: `{"prompt_tokens":810,"completion_tokens":1400,"total_tokens":2210,"completion_tokens_details":{"reasoning_tokens":1152}}`,
		want:   pricing.Usage{Input: 810, Output: 1400, Reasoning: 1152}, quality: pricing.Authoritative, cost: "0.016025"},
	{name: "DeepSeek's own names", convention: "deepseek", api: catalog.Chat, card: "deepseek",
		object: `{"prompt_tokens":1200,"prompt_cache_hit_tokens":1024,"prompt_cache_miss_tokens":176,"completion_tokens":90,"total_tokens":1290}`,
		want:   pricing.Usage{Input: 176, CacheRead: 1024, Output: 90}, quality: pricing.Authoritative, cost: "0.000115752"},
	{name: "DeepSeek's names and OpenAI's", convention: "deepseek", api: catalog.Chat, card: "deepseek",
		object: `{"prompt_tokens":1200,"prompt_cache_hit_tokens":1024,"prompt_cache_miss_tokens":176,"prompt_tokens_details":{"cached_tokens":1024},"completion_tokens":90,"total_tokens":1290}`,
		want:   pricing.Usage{Input: 176, CacheRead: 1024, Output: 90}, quality: pricing.Authoritative, cost: "0.000115752"},
	{name: "Moonshot's name", convention: "moonshot", api: catalog.Chat, card: "deepseek",
		object: `{"prompt_tokens":1200,"cached_tokens":1024,"completion_tokens":90,"total_tokens":1290}`,
		want:   pricing.Usage{Input: 176, CacheRead: 1024, Output: 90}, quality: pricing.Authoritative, cost: "0.000115752"},
	{name: "a try of another model first", api: catalog.Messages, card: "opus", sideCard: "fable",
		object: `{"input_tokens":50,"cache_read_input_tokens":0,"cache_creation_input_tokens":12000,"output_tokens":400,"iterations":[{"model":"ketch-2","input_tokens":50,"cache_read_input_tokens":12000,"cache_creation_input_tokens":0,"output_tokens":30},{"model":"clipper1","input_tokens":50,"cache_read_input_tokens":0,"cache_creation_input_tokens":12000,"output_tokens":400}]}`,
		want:   pricing.Usage{Input: 50, CacheWrite5m: 12000, Output: 400}, quality: pricing.Authoritative, cost: "0.08525", both: "0.09925"},
	{name: "Converse", convention: "bedrock", api: catalog.Native, card: "sonnet",
		object: `{"inputTokens":25,"outputTokens":120,"totalTokens":6945,"cacheReadInputTokens":6000,"cacheWriteInputTokens":800}`,
		want:   pricing.Usage{Input: 25, CacheRead: 6000, CacheWrite5m: 800, Output: 120}, quality: pricing.Authoritative, cost: "0.006675"},
	{name: "more cached than there was prompt", api: catalog.Chat, card: "gpt",
		object: `{"prompt_tokens":1000,"completion_tokens":10,"total_tokens":1010,"prompt_tokens_details":{"cached_tokens":1200}}`,
		want:   pricing.Usage{CacheRead: 1000, Output: 10}, quality: pricing.Derived, cost: "0.00035"},
}

// judge holds an object against a case.
func (c *usageCase) judge(t *testing.T, object []byte) {
	t.Helper()
	r := Normalise(catalog.UsageConvention(c.convention, c.api), object)
	if r.Usage != c.want || r.Quality != c.quality {
		t.Errorf("%+v %q, want %+v %q", r.Usage, r.Quality, c.want, c.quality)
	}
	cost := cardOf(t, c.card).Cost(r.Usage)
	if !cost.Known || !cost.Total.Equal(decimal.RequireFromString(c.cost)) {
		t.Errorf("costs %s, want %s", cost.Total, c.cost)
	}
	if len(r.Raw) == 0 {
		t.Error("the object is not kept")
	}
	if c.both == "" {
		if len(r.Sides) > 0 {
			t.Errorf("sides %+v", r.Sides)
		}
		return
	}
	if len(r.Sides) != 1 {
		t.Fatalf("sides %+v", r.Sides)
	}
	if cost = cost.Plus(cardOf(t, c.sideCard).Cost(r.Sides[0].Usage)); !cost.Total.Equal(decimal.RequireFromString(c.both)) {
		t.Errorf("costs %s with what was used on the side, want %s", cost.Total, c.both)
	}
}

func TestUsageCases(t *testing.T) {
	for _, c := range usageCases {
		t.Run(c.name, func(t *testing.T) { c.judge(t, []byte(c.object)) })
	}
}

// Streams come to the same figures as whole answers.
func TestStreamsCostWhatTheyShould(t *testing.T) {
	for _, c := range []struct {
		file, shared, card string
		api                catalog.API
		quality            pricing.Quality
		cost               string // of the prompt alone, where the rest is not known
	}{
		{"messages-running-totals.sse", "case-01-anthropic-stream.sse", "sonnet", catalog.Messages, pricing.Authoritative, "0.008631"},
		{"chat-no-usage.sse", "case-26-usage-unknown.sse", "gpt", catalog.Chat, pricing.Missing, ""},
		{"chat-running-totals.sse", "case-35-cumulative-usage.sse", "gpt", catalog.Chat, pricing.Authoritative, "0.00155"},
		{"chat-null-usage.sse", "case-36-null-usage-empty-choices.sse", "gpt", catalog.Chat, pricing.Authoritative, "0.0001325"},
		{"messages-other-model.sse", "case-40-served-model.sse", "opus", catalog.Messages, pricing.Authoritative, "0.011"},
		{"messages-late-counters.sse", "case-44-late-only-counters.sse", "sonnet", catalog.Messages, pricing.Authoritative, "0.00252"},
		{"messages-zeros-at-end.sse", "case-44-zero-in-delta.sse", "sonnet", catalog.Messages, pricing.Authoritative, "0.00252"},
		{"messages-error.sse", "case-45-error-after-output.sse", "sonnet", catalog.Messages, pricing.Partial, "0.0027"},
		{"chat-done-without-blank-line.sse", "case-46-done-without-blank-line.sse", "gpt", catalog.Chat, pricing.Authoritative, "0.0002975"},
		{"chat-usage-asked-for.sse", "case-04-upstream-answer.sse", "gpt", catalog.Chat, pricing.Authoritative, "0.000379"},
		{"responses-incomplete.sse", "case-23-responses-incomplete.sse", "gpt", catalog.Responses, pricing.Authoritative, "0.0427"},
	} {
		judge := func(t *testing.T, stream []byte) {
			r := relay(RelayOptions{API: c.api, HideUsage: c.api == catalog.Chat}, stream, 50).Report()
			if r.Quality != c.quality {
				t.Fatalf("%q, want %q", r.Quality, c.quality)
			}
			if c.quality == pricing.Partial {
				r.Usage.Output = 0
			}
			cost := cardOf(t, c.card).Cost(r.Usage)
			if c.cost != "" && (!cost.Known || !cost.Total.Equal(decimal.RequireFromString(c.cost))) {
				t.Errorf("costs %s, want %s", cost.Total, c.cost)
			}
		}
		t.Run(c.file, func(t *testing.T) { judge(t, input(t, "responses", c.file)) })
		t.Run(c.shared, func(t *testing.T) { judge(t, sharedInput(t, c.shared)) })
	}
}
