package edit

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/warmroute/warmroute/catalog"
)

// families are the names that catalogs give to a vendor that price lists have one
// name for: where it serves Claude under one API and the others under another, or
// where two names are usual. The first that a catalog has and that fits is meant.
var families = map[string][]string{
	"google":     {"google", "gemini"},
	"bedrock":    {"bedrock", "bedrock-openai"},
	"azure":      {"azure", "azure-claude"},
	"vertex":     {"vertex", "vertex-claude"},
	"cloudflare": {"cloudflare"},
}

// localOnly are the vendors whose address holds an account, a project or a region,
// so that nobody but their user can write it.
var localOnly = []string{"bedrock", "azure", "vertex", "cloudflare", "databricks", "snowflake", "sap", "oci", "sagemaker", "watsonx"}

// familyOf are the names under which a catalog may have a list's vendor.
func familyOf(vendor string) []string {
	if names, ok := families[vendor]; ok {
		return names
	}
	return []string{vendor}
}

// serves says whether a vendor of a catalog is the one of its family that a model
// goes to: Claude to the one that speaks its API, all others to the other.
func serves(v *catalog.Vendor, family []string, model string) bool {
	if len(family) < 2 || slices.Contains(family, "gemini") {
		return true
	}
	if isClaude(model) {
		return v.Speaks(catalog.Messages)
	}
	return v.Speaks(catalog.Chat) || v.Speaks(catalog.Responses)
}

func isClaude(model string) bool {
	_, base, _ := strings.Cut(model, "/")
	return strings.HasPrefix(base, "claude")
}

// endpoint is where a vendor is, as its documentation says.
type endpoint struct{ url, env string }

// endpoints are vendors that speak chat by a bearer token and are not in the
// starter catalog. Sources: the vendors' own documentation of their OpenAI-style
// API, as also listed by models.dev (anomalyco/models.dev, providers/*/provider.toml).
var endpoints = map[string]endpoint{
	"alibaba-cn":     {"https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"},
	"berget":         {"https://api.berget.ai/v1", "BERGET_API_KEY"},
	"chutes":         {"https://llm.chutes.ai/v1", "CHUTES_API_KEY"},
	"cohere":         {"https://api.cohere.ai/compatibility/v1", "COHERE_API_KEY"},
	"cortecs":        {"https://api.cortecs.ai/v1", "CORTECS_API_KEY"},
	"github-models":  {"https://models.github.ai/inference", "GITHUB_TOKEN"},
	"gmi":            {"https://api.gmi-serving.com/v1", "GMICLOUD_API_KEY"},
	"huggingface":    {"https://router.huggingface.co/v1", "HF_TOKEN"},
	"hyperbolic":     {"https://api.hyperbolic.xyz/v1", "HYPERBOLIC_API_KEY"},
	"inception":      {"https://api.inceptionlabs.ai/v1", "INCEPTION_API_KEY"},
	"lambda":         {"https://api.lambda.ai/v1", "LAMBDA_API_KEY"},
	"meta":           {"https://api.llama.com/compat/v1", "LLAMA_API_KEY"},
	"minimax-cn":     {"https://api.minimaxi.com/v1", "MINIMAX_API_KEY"},
	"moonshot-cn":    {"https://api.moonshot.cn/v1", "MOONSHOT_API_KEY"},
	"morph":          {"https://api.morphllm.com/v1", "MORPH_API_KEY"},
	"nano-gpt":       {"https://nano-gpt.com/api/v1", "NANO_GPT_API_KEY"},
	"nearai":         {"https://cloud-api.near.ai/v1", "NEARAI_API_KEY"},
	"nvidia":         {"https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"},
	"openrouter":     {"https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
	"perplexity":     {"https://api.perplexity.ai", "PERPLEXITY_API_KEY"},
	"poolside":       {"https://inference.poolside.ai/v1", "POOLSIDE_API_KEY"},
	"requesty":       {"https://router.requesty.ai/v1", "REQUESTY_API_KEY"},
	"siliconflow-cn": {"https://api.siliconflow.cn/v1", "SILICONFLOW_CN_API_KEY"},
	"stepfun":        {"https://api.stepfun.com/v1", "STEPFUN_API_KEY"},
	"synthetic":      {"https://api.synthetic.new/openai/v1", "SYNTHETIC_API_KEY"},
	"upstage":        {"https://api.upstage.ai/v1", "UPSTAGE_API_KEY"},
	"venice":         {"https://api.venice.ai/api/v1", "VENICE_API_KEY"},
	"vercel":         {"https://ai-gateway.vercel.sh/v1", "AI_GATEWAY_API_KEY"},
	"xiaomi":         {"https://api.xiaomimimo.com/v1", "XIAOMI_API_KEY"},
	"zhipu":          {"https://open.bigmodel.cn/api/paas/v4", "ZHIPU_API_KEY"},
}

// known are the vendors that can be added to a catalog.
type known struct{ starter *node }

// knownVendors reads those of the starter catalog.
func knownVendors() (*known, error) {
	d, err := Open("starter.yaml", []byte(catalog.Starter()))
	if err != nil {
		return nil, err
	}
	return &known{d.root.get("vendors")}, nil
}

// vendor is a new vendor's name and its entry for a list's vendor and a model.
func (k *known) vendor(name, model string) (as string, entry Value, ok bool) {
	if slices.Contains(localOnly, name) {
		return "", Value{}, false
	}
	for _, as := range familyOf(name) {
		n := k.starter.get(as)
		if url := n.get("base_url"); url != nil && !strings.Contains(url.text, "/your-") && !strings.Contains(url.text, "//your-") {
			return as, valueOf(n), true
		}
	}
	if e, ok := endpoints[name]; ok {
		return name, Map(
			Field{Key: "api", Value: Texts("chat")},
			Field{Key: "base_url", Value: Text(e.url)},
			Field{Key: "credentials", Value: List(Map(Field{Key: "id", Value: Text("main")}, Field{Key: "env", Value: Text(e.env)}))},
		), true
	}
	return "", Value{}, false
}

// valueOf is what a node says, to be written elsewhere.
func valueOf(n *node) Value {
	switch n.kind {
	case yaml.ScalarNode:
		if n.style == 0 {
			return Plain(n.text)
		}
		return Text(n.text)
	case yaml.MappingNode:
		var fields []Field
		for _, f := range n.fields {
			fields = append(fields, Field{Key: f.key.text, Value: valueOf(f.value)})
		}
		return Map(fields...)
	}
	var items []Value
	for _, item := range n.items {
		items = append(items, valueOf(item))
	}
	return List(items...)
}
