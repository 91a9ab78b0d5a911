package pricelist

import "strings"

// vendorNames are the lists' words for a provider, in small letters with dashes
// for underscores, and our word. A word that is not here is our word as it is.
//
// Only what bills alike and is one account is one vendor: Alibaba's and Moonshot's
// Chinese platforms, coding plans and resellers keep their own names.
var vendorNames = map[string]string{
	"ai-studio":                "google",
	"alibaba":                  "alibaba",
	"amazon-bedrock":           "bedrock",
	"aws":                      "bedrock", // genai-prices
	"azure-ai":                 "azure",
	"azure-cognitive":          "azure",
	"azure-openai":             "azure",
	"azure-text":               "azure",
	"azure-cognitive-services": "azure",
	"bedrock-converse":         "bedrock",
	"bedrock-mantle":           "bedrock",
	"cloudflare-workers-ai":    "cloudflare",
	"codestral":                "mistral",
	"cohere-chat":              "cohere",
	"dashscope":                "alibaba",
	"fireworks-ai":             "fireworks",
	"friendliai":               "friendli",
	"gemini":                   "google",
	"gmicloud":                 "gmi",
	"google-vertex":            "vertex",
	"google-vertex-anthropic":  "vertex",
	"gradient-ai":              "digitalocean", // DigitalOcean's own word for its platform
	"lambda-ai":                "lambda",
	"llama":                    "meta", // Meta's own API in models.dev
	"meta-llama":               "meta",
	"mistral-ai":               "mistral",
	"moonshotai":               "moonshot",
	"moonshotai-cn":            "moonshot-cn",
	"novita-ai":                "novita",
	"nvidia-nim":               "nvidia",
	"oracle":                   "oci",
	"perplexity-ai":            "perplexity",
	"snowflake-cortex":         "snowflake",
	"stepfun-ai":               "stepfun",
	"together-ai":              "together",
	"togetherai":               "together",
	"vercel-ai-gateway":        "vercel",
	"vertex-ai":                "vertex",
	"wafer.ai":                 "wafer",
	"workers-ai":               "cloudflare",
	"x-ai":                     "xai",
	"z-ai":                     "zai",
	"zhipuai":                  "zhipu",
}

// VendorName is our word for a list's provider, such as "bedrock" for
// "bedrock_converse" or "vertex" for "vertex_ai-anthropic_models". It is a slug
// that may name a vendor in a catalog, or empty where none can be made.
func VendorName(provider string) string {
	if len(provider) > maxID {
		return ""
	}
	word := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(provider)), "_", "-")
	if ours, ok := vendorNames[word]; ok {
		return ours
	}
	switch { // litellm says what is served beside who serves it
	case strings.HasPrefix(word, "vertex-ai-"):
		return "vertex"
	case strings.HasPrefix(word, "fireworks-ai-"):
		return "fireworks"
	case strings.HasPrefix(word, "text-completion-"):
		return VendorName(strings.TrimPrefix(word, "text-completion-"))
	}
	return slug(word, "-._")
}

// platformRank orders the platforms of one vendor: its first, then those that are
// reached another way.
func platformRank(provider string) int {
	switch strings.ReplaceAll(strings.ToLower(provider), "_", "-") {
	case "azure-ai", "azure-text", "azure-cognitive-services", "bedrock-mantle":
		return 1
	}
	return 0
}

// slug keeps small letters, digits and the extra characters, and writes a dash for
// each run of others. It begins with a letter or digit and has at most 64 bytes.
func slug(word, extra string) string {
	var b strings.Builder
	for _, c := range []byte(strings.ToLower(word)) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', strings.IndexByte(extra, c) >= 0:
			b.WriteByte(c)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	word = strings.Trim(b.String(), "-._")
	if len(word) > 64 {
		word = strings.TrimRight(word[:64], "-._")
	}
	return word
}
