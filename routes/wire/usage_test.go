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
		{"reasoning that only fits beside the output", "openai", catalog.Chat, `{"prompt_tokens":20,"completion_tokens":300,"total_tokens":610,"completion_tokens_details":{"reasoning_tokens":290}}`,
			pricing.Usage{Input: 20, Output: 590, Reasoning: 290}, pricing.Derived},
		{"cached tokens that only fit beside the prompt", "openai", catalog.Chat, `{"prompt_tokens":20,"completion_tokens":30,"total_tokens":90,"prompt_tokens_details":{"cached_tokens":40}}`,
			pricing.Usage{Input: 20, CacheRead: 40, Output: 30}, pricing.Derived},
		{"xAI's reasoning, counted inside after all", "xai", catalog.Chat, `{"prompt_tokens":12,"completion_tokens":300,"total_tokens":312,"completion_tokens_details":{"reasoning_tokens":290}}`,
			pricing.Usage{Input: 12, Output: 300, Reasoning: 290}, pricing.Derived},
		{"xAI's cached beyond the prompt, in the total", "xai", catalog.Responses, `{"input_tokens":10,"output_tokens":1,"total_tokens":51,"input_tokens_details":{"cached_tokens":40}}`,
			pricing.Usage{Input: 10, CacheRead: 40, Output: 1}, pricing.Derived},
		{"xAI's cached beyond the prompt, not in the total", "xai", catalog.Responses, `{"input_tokens":10,"output_tokens":1,"total_tokens":11,"input_tokens_details":{"cached_tokens":40}}`,
			pricing.Usage{CacheRead: 10, Output: 1}, pricing.Derived},
		{"a total that nothing adds up to", "openai", catalog.Chat, `{"prompt_tokens":20,"completion_tokens":30,"total_tokens":51}`,
			pricing.Usage{Input: 20, Output: 30}, pricing.Invalid},
		{"a total below the prompt", "openai", catalog.Chat, `{"prompt_tokens":20,"total_tokens":5}`,
			pricing.Usage{Input: 20}, pricing.Invalid},
		{"a total of nothing is none", "openai", catalog.Chat, `{"prompt_tokens":20,"completion_tokens":30,"total_tokens":0}`,
			pricing.Usage{Input: 20, Output: 30}, pricing.Authoritative},
		{"the prompt is what the total leaves", "openai", catalog.Chat, `{"completion_tokens":30,"total_tokens":90,"prompt_tokens_details":{"cached_tokens":40}}`,
			pricing.Usage{Input: 20, CacheRead: 40, Output: 30}, pricing.Derived},
		{"only what was missed", "deepseek", catalog.Chat, `{"prompt_tokens":1200,"prompt_cache_miss_tokens":176,"completion_tokens":90}`,
			pricing.Usage{Input: 176, CacheRead: 1024, Output: 90}, pricing.Derived},
		{"hit and miss without the prompt", "deepseek", catalog.Chat, `{"prompt_cache_hit_tokens":1024,"prompt_cache_miss_tokens":176,"completion_tokens":90}`,
			pricing.Usage{Input: 176, CacheRead: 1024, Output: 90}, pricing.Derived},
		{"hit and miss that are not the prompt", "deepseek", catalog.Chat, `{"prompt_tokens":1200,"prompt_cache_hit_tokens":1024,"prompt_cache_miss_tokens":170,"completion_tokens":90}`,
			pricing.Usage{Input: 176, CacheRead: 1024, Output: 90}, pricing.Derived},
		{"Alibaba's writes", "alibaba", catalog.Chat, `{"prompt_tokens":3000,"completion_tokens":9,"total_tokens":3009,"prompt_tokens_details":{"cached_tokens":1000,"cache_creation_input_tokens":1500,"cache_type":"ephemeral","cache_creation":{"ephemeral_5m_input_tokens":1500}}}`,
			pricing.Usage{Input: 500, CacheRead: 1000, CacheWrite5m: 1500, Output: 9}, pricing.Authoritative},
		{"Converse lists its writes by lifetime", "bedrock", catalog.Native, `{"inputTokens":3,"outputTokens":7,"totalTokens":510,"cacheWriteInputTokens":500,"cacheDetails":[{"ttl":"1h","inputTokens":300},{"inputTokens":200,"ttl":"5m"},{"ttl":"2h","inputTokens":9}]}`,
			pricing.Usage{Input: 3, CacheWrite5m: 200, CacheWrite1h: 300, Output: 7}, pricing.Authoritative},
		{"Bedrock's metrics of an invocation", "bedrock", catalog.Native, `{"inputTokenCount":12,"outputTokenCount":34,"invocationLatency":900,"firstByteLatency":30}`,
			pricing.Usage{Input: 12, Output: 34}, pricing.Authoritative},
		{"Bedrock's OpenAI-compatible endpoint", "bedrock", catalog.Chat, `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_tokens_details":{"cached_tokens":60}}`,
			pricing.Usage{Input: 40, CacheRead: 60, Output: 5}, pricing.Authoritative},
		{"Google's tools are prompt beside the prompt", "gemini", catalog.Native, `{"promptTokenCount":20,"toolUsePromptTokenCount":300,"candidatesTokenCount":4,"thoughtsTokenCount":10,"cachedContentTokenCount":8,"totalTokenCount":334}`,
			pricing.Usage{Input: 312, CacheRead: 8, Output: 14, Reasoning: 10}, pricing.Authoritative},
		{"a split that is more than its sum", "anthropic", catalog.Messages, `{"input_tokens":8,"cache_creation_input_tokens":10,"cache_creation":{"ephemeral_5m_input_tokens":15},"output_tokens":4}`,
			pricing.Usage{Input: 8, CacheWrite5m: 15, Output: 4}, pricing.Derived},
		{"no prompt is empty", "", catalog.Messages, `{"input_tokens":0,"output_tokens":17}`, pricing.Usage{Output: 17}, pricing.Partial},
		{"all of it was read", "", catalog.Messages, `{"input_tokens":0,"cache_read_input_tokens":90,"output_tokens":17}`, pricing.Usage{CacheRead: 90, Output: 17}, pricing.Authoritative},
		{"what was read, without the prompt", "", catalog.Chat, `{"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":40}}`, pricing.Usage{CacheRead: 40, Output: 3}, pricing.Partial},
		{"a list where a number should be", "", catalog.Chat, `{"prompt_tokens":[5],"completion_tokens":1}`, pricing.Usage{Output: 1}, pricing.Invalid},
		{"null details", "", catalog.Chat, `{"prompt_tokens":33,"completion_tokens":5,"prompt_tokens_details":null,"completion_tokens_details":null}`,
			pricing.Usage{Input: 33, Output: 5}, pricing.Authoritative},
		{"embeddings have no output", "", catalog.Chat, `{"prompt_tokens":8,"total_tokens":8}`, pricing.Usage{Input: 8}, pricing.Derived},
		{"only the output", "", catalog.Messages, `{"output_tokens":17}`, pricing.Usage{Output: 17}, pricing.Partial},
		{"an empty object", "", catalog.Chat, `{}`, pricing.Usage{}, pricing.Missing},
		{"null", "", catalog.Chat, `null`, pricing.Usage{}, pricing.Missing},
		{"negative", "", catalog.Chat, `{"prompt_tokens":-5,"completion_tokens":1}`, pricing.Usage{Output: 1}, pricing.Invalid},
		{"a fraction", "", catalog.Chat, `{"prompt_tokens":5.5,"completion_tokens":1}`, pricing.Usage{Output: 1}, pricing.Invalid},
		{"an exponent", "", catalog.Chat, `{"prompt_tokens":1e3,"completion_tokens":1}`, pricing.Usage{Output: 1}, pricing.Invalid},
		{"as much as is believed", "", catalog.Chat, `{"prompt_tokens":1073741824,"completion_tokens":1}`, pricing.Usage{Input: 1 << 30, Output: 1}, pricing.Authoritative},
		{"more than is believed", "", catalog.Chat, `{"prompt_tokens":1073741825,"completion_tokens":1}`, pricing.Usage{Output: 1}, pricing.Invalid},
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
