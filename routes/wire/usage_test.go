package wire

import (
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

func usageOf(convention string, api catalog.API, objects ...string) (pricing.Usage, pricing.Quality) {
	c := catalog.UsageConvention(convention, api)
	var t tally
	for _, o := range objects {
		t.read(c, []byte(o), span{0, len(o)})
	}
	return t.usage(c)
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		name, convention string
		api              catalog.API
		object           string
		want             pricing.Usage
		quality          pricing.Quality
	}{
		{"cached inside the prompt", "", catalog.Chat, `{"prompt_tokens":4300,"completion_tokens":220,"prompt_tokens_details":{"cached_tokens":4096}}`,
			pricing.Usage{Input: 204, CacheRead: 4096, Output: 220}, pricing.Authoritative},
		{"cached beside the prompt", "", catalog.Messages, `{"input_tokens":7,"cache_read_input_tokens":9000,"cache_creation_input_tokens":0,"output_tokens":5}`,
			pricing.Usage{Input: 7, CacheRead: 9000, Output: 5}, pricing.Authoritative},
		{"paid writes, responses", "openai", catalog.Responses, `{"input_tokens":7204,"output_tokens":64,"total_tokens":7268,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":7200},"output_tokens_details":{"reasoning_tokens":0}}`,
			pricing.Usage{Input: 4, CacheWrite5m: 7200, Output: 64}, pricing.Authoritative},
		{"paid writes and reads, chat", "openai", catalog.Chat, `{"prompt_tokens":2764,"completion_tokens":100,"total_tokens":2864,"prompt_tokens_details":{"cached_tokens":2048,"cache_write_tokens":512}}`,
			pricing.Usage{Input: 204, CacheRead: 2048, CacheWrite5m: 512, Output: 100}, pricing.Authoritative},
		{"writes are never inferred", "openai", catalog.Chat, `{"prompt_tokens":2764,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":2048}}`,
			pricing.Usage{Input: 716, CacheRead: 2048, Output: 100}, pricing.Authoritative},
		{"DeepSeek's own fields", "deepseek", catalog.Chat, `{"prompt_tokens":1200,"prompt_cache_hit_tokens":1024,"prompt_cache_miss_tokens":176,"completion_tokens":90,"total_tokens":1290}`,
			pricing.Usage{Input: 176, CacheRead: 1024, Output: 90}, pricing.Authoritative},
		{"its own fields and OpenAI's", "deepseek", catalog.Chat, `{"prompt_tokens":1200,"prompt_cache_hit_tokens":1024,"prompt_cache_miss_tokens":176,"prompt_tokens_details":{"cached_tokens":1024},"completion_tokens":90,"total_tokens":1290}`,
			pricing.Usage{Input: 176, CacheRead: 1024, Output: 90}, pricing.Authoritative},
		{"Moonshot's at the top", "moonshot", catalog.Chat, `{"prompt_tokens":1200,"cached_tokens":1024,"completion_tokens":90,"total_tokens":1290}`,
			pricing.Usage{Input: 176, CacheRead: 1024, Output: 90}, pricing.Authoritative},
		{"Mistral's spelling", "mistral", catalog.Chat, `{"prompt_tokens":64,"num_cached_tokens":32,"completion_tokens":9}`,
			pricing.Usage{Input: 32, CacheRead: 32, Output: 9}, pricing.Authoritative},
		{"DeepSeek's messages endpoint counts as Anthropic does", "deepseek", catalog.Messages, `{"input_tokens":10,"cache_read_input_tokens":50,"output_tokens":5}`,
			pricing.Usage{Input: 10, CacheRead: 50, Output: 5}, pricing.Authoritative},
		{"Bedrock", "bedrock", catalog.Messages, `{"inputTokens":25,"outputTokens":120,"totalTokens":6945,"cacheReadInputTokens":6000,"cacheReadInputTokenCount":6000,"cacheWriteInputTokens":800}`,
			pricing.Usage{Input: 25, CacheRead: 6000, CacheWrite5m: 800, Output: 120}, pricing.Authoritative},
		{"Bedrock, a family that counts inside", "bedrock", catalog.Messages, `{"inputTokens":7000,"outputTokens":100,"totalTokens":7100,"cacheReadInputTokens":6000}`,
			pricing.Usage{Input: 1000, CacheRead: 6000, Output: 100}, pricing.Derived},
		{"xAI's reasoning is beside", "xai", catalog.Chat, `{"prompt_tokens":12,"completion_tokens":1,"total_tokens":303,"prompt_tokens_details":{"cached_tokens":11},"completion_tokens_details":{"reasoning_tokens":290}}`,
			pricing.Usage{Input: 1, CacheRead: 11, Output: 291, Reasoning: 290}, pricing.Authoritative},
		{"xAI's cached beyond the prompt is beside", "xai", catalog.Responses, `{"input_tokens":10,"output_tokens":1,"input_tokens_details":{"cached_tokens":40}}`,
			pricing.Usage{Input: 10, CacheRead: 40, Output: 1}, pricing.Derived},
		{"Google hides its thoughts in the total", "gemini", catalog.Chat, `{"prompt_tokens":35,"completion_tokens":12,"total_tokens":109}`,
			pricing.Usage{Input: 35, Output: 74}, pricing.Derived},
		{"more cached than prompt", "openai", catalog.Chat, `{"prompt_tokens":1000,"completion_tokens":10,"prompt_tokens_details":{"cached_tokens":1200}}`,
			pricing.Usage{CacheRead: 1000, Output: 10}, pricing.Derived},
		{"hour writes", "anthropic", catalog.Messages, `{"input_tokens":8,"cache_read_input_tokens":2000,"cache_creation_input_tokens":7500,"cache_creation":{"ephemeral_5m_input_tokens":1500,"ephemeral_1h_input_tokens":6000},"output_tokens":40}`,
			pricing.Usage{Input: 8, CacheRead: 2000, CacheWrite5m: 1500, CacheWrite1h: 6000, Output: 40}, pricing.Authoritative},
		{"null details", "", catalog.Chat, `{"prompt_tokens":33,"completion_tokens":5,"prompt_tokens_details":null,"completion_tokens_details":null}`,
			pricing.Usage{Input: 33, Output: 5}, pricing.Authoritative},
		{"embeddings have no output", "", catalog.Chat, `{"prompt_tokens":8,"total_tokens":8}`, pricing.Usage{Input: 8}, pricing.Derived},
		{"only the output", "", catalog.Messages, `{"output_tokens":17}`, pricing.Usage{Output: 17}, pricing.Partial},
		{"an empty object", "", catalog.Chat, `{}`, pricing.Usage{}, pricing.Missing},
		{"null", "", catalog.Chat, `null`, pricing.Usage{}, pricing.Missing},
		{"negative", "", catalog.Chat, `{"prompt_tokens":-5,"completion_tokens":1}`, pricing.Usage{Output: 1}, pricing.Invalid},
		{"a fraction", "", catalog.Chat, `{"prompt_tokens":5.5,"completion_tokens":1}`, pricing.Usage{Output: 1}, pricing.Invalid},
		{"an exponent", "", catalog.Chat, `{"prompt_tokens":1e3,"completion_tokens":1}`, pricing.Usage{Output: 1}, pricing.Invalid},
		{"huge", "", catalog.Chat, `{"prompt_tokens":99999999999999999999,"completion_tokens":1}`, pricing.Usage{Output: 1}, pricing.Invalid},
		{"a text", "", catalog.Chat, `{"prompt_tokens":"12","completion_tokens":1}`, pricing.Usage{Output: 1}, pricing.Invalid},
		{"a list", "", catalog.Chat, `[1]`, pricing.Usage{}, pricing.Invalid},
		{"not a usage at all", "", catalog.Chat, `7`, pricing.Usage{}, pricing.Invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, q := usageOf(c.convention, c.api, c.object)
			if u != c.want || q != c.quality {
				t.Errorf("%+v %q, want %+v %q", u, q, c.want, c.quality)
			}
		})
	}
}

func TestRunningTotalsAreMergedByTheGreatest(t *testing.T) {
	u, q := usageOf("", catalog.Messages,
		`{"input_tokens":2,"cache_creation_input_tokens":3068,"cache_creation":{"ephemeral_1h_input_tokens":3068},"output_tokens":1}`,
		`{"input_tokens":6,"cache_creation_input_tokens":3337,"cache_read_input_tokens":6289,"output_tokens":90}`,
		`{"input_tokens":null,"cache_read_input_tokens":0,"output_tokens":0}`)
	want := pricing.Usage{Input: 6, CacheRead: 6289, CacheWrite5m: 269, CacheWrite1h: 3068, Output: 90}
	if u != want || q != pricing.Derived {
		t.Errorf("%+v %s, want %+v: what grew after the split is of the ordinary lifetime", u, q, want)
	}
}
