package pricelist

import (
	"strings"
	"testing"
)

// TestModelNameJoinsSpellings: one model has one name, however a list or a vendor
// spells it.
func TestModelNameJoinsSpellings(t *testing.T) {
	for want, ids := range map[string]string{
		"anthropic/claude-haiku-4.5":    "claude-haiku-4-5 claude-haiku-4-5-20251001 claude-haiku-4-5@20251001 anthropic.claude-haiku-4-5-20251001-v1:0 us.anthropic.claude-haiku-4-5-20251001-v1:0 anthropic/claude-haiku-4.5 anthropic-claude-4.5-haiku anthropic--claude-4.5-haiku databricks-claude-haiku-4-5 ~anthropic/claude-haiku-4.5",
		"anthropic/claude-opus-4.6":     "anthropic.claude-opus-4-6-v1 claude-opus-4-6@default global.anthropic.claude-opus-4-6-v1:0",
		"anthropic/claude-opus-4":       "claude-opus-4-0 claude-opus-4-20250514 claude-4-opus",
		"anthropic/claude-3.5-sonnet":   "claude-3-5-sonnet-latest claude-3.5-sonnet apac.anthropic.claude-3-5-sonnet-20241022-v2:0 claude-sonnet-3.5",
		"anthropic/claude-2.1":          "anthropic.claude-v2:1 claude-2.1",
		"openai/gpt-5.4":                "gpt-5.4 gpt-5-4 openai.gpt-5.4 openai/gpt-5.4-2026-03-05",
		"openai/gpt-oss-120b":           "openai.gpt-oss-120b-1:0 @cf/openai/gpt-oss-120b accounts/fireworks/models/gpt-oss-120b",
		"openai/gpt-3.5-turbo":          "gpt-35-turbo gpt-3.5-turbo",
		"meta/llama-3.3-70b-instruct":   "meta.llama3-3-70b-instruct-v1:0 meta-llama/Llama-3.3-70B-Instruct-Turbo @cf/meta/llama-3.3-70b-instruct-fp8-fast llama3.3-70b-instruct Meta-Llama-3_3-70B-Instruct accounts/fireworks/models/llama-v3p3-70b-instruct llama-3.3-70b-versatile meta/llama-3.3-70b-instruct-maas",
		"meta/llama-4-maverick":         "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8 llama4-maverick-instruct-basic meta.llama4-maverick-17b-instruct-v1:0",
		"moonshotai/kimi-k2-0905":       "moonshotai/Kimi-K2-Instruct-0905 kimi-k2-0905-preview",
		"moonshotai/kimi-k2.5":          "moonshotai.kimi-k2.5 kimi-k2p5 moonshotai/Kimi-K2.5",
		"zai/glm-4.7":                   "zai.glm-4.7 zai-org/GLM-4.7 glm-4p7 zai-glm-4.7",
		"deepseek/deepseek-v3.1":        "deepseek-ai/DeepSeek-V3-1 deepseek.v3.1 deepseek-chat-v3.1",
		"deepseek/deepseek-r1-0528":     "deepseek-ai/DeepSeek-R1-0528 deepseek-r1-0528",
		"qwen/qwen3-coder-480b-a35b":    "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8 qwen/qwen3-coder-480b-a35b-instruct",
		"qwen/qwen2.5-72b-instruct":     "qwen-2.5-72b-instruct Qwen2.5-72B-Instruct qwen-v2p5-72b-instruct",
		"google/gemini-2.0-flash":       "gemini-2.0-flash-001 google/gemini-2.0-flash",
		"google/gemma-2-9b-it":          "gemma2-9b-it google/gemma-2-9b-it",
		"mistral/mistral-large-3":       "mistral-large-2512 mistralai/mistral-large-2512 Mistral-Large-3",
		"xai/grok-4.20-reasoning":       "grok-4-20-reasoning x-ai/grok-4.20-reasoning",
		"acme/wren-7b":                  "acme/wren-7b",
		"hut/wren-7b":                   "wren-7b",
		"nvidia/llama-3.1-nemotron-70b": "nvidia/llama-3.1-nemotron-70b",
	} {
		for _, id := range strings.Fields(ids) {
			if got, _, _ := ModelName("hut", id); got != want {
				t.Errorf("%s is %s, want %s", id, got, want)
			}
		}
	}
}

// TestModelNameKeepsApart: what bills or answers differently has its own name, or
// is told apart by region and variant.
func TestModelNameKeepsApart(t *testing.T) {
	for _, c := range []struct{ id, model, region, variant string }{
		{"eu.anthropic.claude-opus-4-8", "anthropic/claude-opus-4.8", "eu", ""},
		{"us-east-1/zai.glm-5", "zai/glm-5", "us-east-1", ""},
		{"eu/gpt-4o-2024-08-06", "openai/gpt-4o", "eu", "2024-08-06"},
		{"Pro/zai-org/GLM-5.1", "zai/glm-5.1", "", "pro"},
		{"claude-3.7-sonnet:thinking", "anthropic/claude-3.7-sonnet", "", "thinking"},
		{"meta-llama/Llama-3.3-70B-Instruct-FP8-Turbo", "meta/llama-3.3-70b-instruct", "", "turbo,fp8"},
		{"claude-opus-4-8-fast", "anthropic/claude-opus-4.8-fast", "", ""},
		{"gpt-4-turbo", "openai/gpt-4-turbo", "", ""},
		{"qwen-turbo", "qwen/qwen-turbo", "", ""},
		{"gpt-4-0613", "openai/gpt-4-0613", "", ""},
		{"deepseek-r1", "deepseek/deepseek-r1", "", ""},
		{"gpt-4o-mini", "openai/gpt-4o-mini", "", ""},
		{"doubao-seed-2-0-pro-260215", "bytedance/doubao-seed-2.0-pro", "", "260215"},
		{"claude-haiku-4-5-20251001-thinking", "anthropic/claude-haiku-4.5-thinking", "", "20251001"},
		{"gemma-3-4b-it", "google/gemma-3-4b-it", "", ""},
		{"", "", "", ""},
		{"///", "", "", ""},
		{strings.Repeat("a", maxID+1), "", "", ""},
	} {
		model, region, variant := ModelName("hut", c.id)
		if model != c.model || region != c.region || variant != c.variant {
			t.Errorf("%s is %q, region %q, variant %q; want %q, %q, %q", c.id, model, region, variant, c.model, c.region, c.variant)
		}
	}
}

// TestVendorName: the table, and words that it does not have.
func TestVendorName(t *testing.T) {
	for provider, want := range map[string]string{
		"fireworks_ai": "fireworks", "fireworks-ai": "fireworks", "amazon-bedrock": "bedrock", "bedrock_converse": "bedrock", "aws": "bedrock",
		"vertex_ai-anthropic_models": "vertex", "vertex_ai": "vertex", "google-vertex-anthropic": "vertex", "together_ai": "together", "togetherai": "together",
		"azure_ai": "azure", "azure-openai": "azure", "x-ai": "xai", "dashscope": "alibaba", "gemini": "google", "Perch Cloud": "perch-cloud",
		"text-completion-openai": "openai", "huggingface_nebius": "huggingface-nebius", "alibaba-cn": "alibaba-cn", "_": "", "": "",
	} {
		if got := VendorName(provider); got != want {
			t.Errorf("%q is %q, want %q", provider, got, want)
		}
	}
	for word, ours := range vendorNames {
		if VendorName(ours) != ours || strings.ContainsAny(word, "_ ") || slug(ours, "-._") != ours {
			t.Errorf("%q → %q is not a fixed point", word, ours)
		}
	}
}

// TestNotChat: by the words of a name, never by parts of them.
func TestNotChat(t *testing.T) {
	for id, want := range map[string]string{
		"text-embedding-3-large": "embedding", "gpt-image-1": "image", "whisper-1": "audio", "gpt-realtime-2": "audio", "veo-3.1-generate": "video",
		"cohere-rerank-v3": "rerank", "gpt-3.5-turbo-instruct": "completion", "omni-moderation-latest": "moderation",
		"qwen3-vl-32b-instruct": "", "olive-7b": "", "embedded-llama": "", "grok-4.3": "", "wren-vision": "",
	} {
		if got := notChat(id); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
}
