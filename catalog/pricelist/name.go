package pricelist

import (
	"regexp"
	"strings"
)

// maxID is the longest id of a model that is read, in bytes.
const maxID = 200

// ModelName is the public name that an upstream id is proposed for at a vendor of
// ours, such as "anthropic/claude-haiku-4.5" for
// "eu.anthropic.claude-haiku-4-5-20251001-v1:0", and what was left out of it:
// the region and the variants, joined by commas. The name is empty where none
// can be made.
//
// The rules, in this order:
//
//  1. Small letters. A Bedrock region (us., eu., global. …) is the region, so are
//     the path segments eu and us of Azure and a cloud region such as us-east-1.
//  2. The name is the last segment of the path; a maker in front of it, as in
//     anthropic.claude or anthropic-claude, goes. Pro/ and TEE/ are variants.
//  3. What is behind a colon or an @ is a version to be dropped (v1:0, default, a
//     day) or a variant (thinking).
//  4. A day at the end (20251001, 2025-08-07) is a variant. Four digits are not:
//     deepseek-r1-0528 is a model of its own.
//  5. How it is hosted is a variant: fp8, bf16, maas, tput, instruct-turbo,
//     fp8-fast … "turbo" and "fast" elsewhere are part of the name.
//  6. Version digits get a point: 4-5, 4p5 and 4_5 are 4.5, llama3-3 is
//     llama-3.3, qwen-2.5 is qwen2.5.
//  7. Claude's family stands before its version from 4 on, and behind it before.
//  8. A short table joins spellings that no rule does, such as Groq's
//     llama-3.3-70b-versatile.
//  9. The maker is known by the family (claude, gpt, gemini …), else it is the
//     segment in front, else the vendor.
func ModelName(vendor, upstream string) (model, region, variant string) {
	n := nameOf(upstream)
	return n.model(vendor), n.region, n.variant()
}

// parsed is what an id says.
type parsed struct {
	base     string // the canonical name, without maker
	segment  string // what stood in front of it, empty if nothing
	region   string
	variants []string
	free     bool
}

func (p *parsed) variant() string { return strings.Join(p.variants, ",") }

// model is the public name at a vendor.
func (p *parsed) model(vendor string) string {
	base := strings.Trim(slugName.ReplaceAllString(p.base, "-"), "-.")
	if base == "" || len(base) > maxID {
		return ""
	}
	maker := makerOf(base)
	if maker == "" {
		maker = makerWord(p.segment)
	}
	if maker == "" {
		maker = slug(vendor, "-._")
	}
	if maker == "" {
		return ""
	}
	return maker + "/" + base
}

var (
	slugName    = regexp.MustCompile(`[^a-z0-9.+:-]+`)
	cloudRegion = regexp.MustCompile(`^([a-z]{2}(-[a-z]+)+-?\d+)$`)
	geoPrefix   = regexp.MustCompile(`^(us|eu|apac|ap|global|au|jp|ca|sa|me|af|us-gov|regional)\.([a-z0-9]+\..+)$`)
	dotMaker    = regexp.MustCompile(`^(ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen|stability|twelvelabs|writer|xai|zai)\.(.+)$`)
	dashMaker   = regexp.MustCompile(`^(alibaba|anthropic|databricks|deepseek-ai|google|meta|mistralai|moonshotai|openai|xai|zai)--?((?:claude|deepseek|gemini|gemma|glm|gpt|grok|kimi|llama|mistral|mixtral|qwen|o\d).*)$`)
	bedrockTail = regexp.MustCompile(`-v\d+:\d+(:\w+)?$|-\d:\d$`)
	shortTail   = regexp.MustCompile(`^((?:claude|nova|titan|palmyra|jamba)-.*)-v\d$`)
	day         = regexp.MustCompile(`[-@](20\d{6}|20\d\d-\d\d-\d\d|2[3-9](?:0[1-9]|1[0-2])[0-3]\d)(-thinking)?$`)
	hosting     = regexp.MustCompile(`-(fp8|fp4|nvfp4|mxfp4|bf16|int4|int8|awq|gptq|maas|tput|hf|basic|tee)$`)
	turbo       = regexp.MustCompile(`^(.*-instruct(?:-fp8)?)-turbo$`)
	fp8Fast     = regexp.MustCompile(`-fp8-(fast|dynamic|throughput)$`)
	under       = regexp.MustCompile(`(\d)_(\d)`)
	pPoint      = regexp.MustCompile(`(\d)p(\d)`)
	dashPoint   = regexp.MustCompile(`((?:^|[a-z-])\d{1,2})-(\d)(-|$)`)
	llama       = regexp.MustCompile(`^(?:meta-)?llama-?v?(\d)`)
	gemma       = regexp.MustCompile(`^gemma(\d)`)
	grok        = regexp.MustCompile(`^grok-4-20(-|$)`)
	qwen        = regexp.MustCompile(`^qwen-v?(\d)`)
	claudeNew   = regexp.MustCompile(`^claude-([4-9](?:\.\d)?)-(opus|sonnet|haiku|fable)(.*)$`)
	claudeOld   = regexp.MustCompile(`^claude-(opus|sonnet|haiku)-(3(?:\.\d)?)(.*)$`)
	claudeZero  = regexp.MustCompile(`^(claude-[a-z]+-\d)\.0$`)
	gemini00    = regexp.MustCompile(`^(gemini-[\d.]+-[a-z-]+)-00\d$`)
	llama4      = regexp.MustCompile(`^llama-4-(maverick|scout)(-17b)?(-\d+e)?(-instruct)?$`)
	qwenCoder   = regexp.MustCompile(`^(qwen3-coder-\d+b-a\d+b)-instruct$`)
)

// nameOf takes an id apart.
func nameOf(upstream string) parsed {
	var p parsed
	if len(upstream) > maxID {
		return p
	}
	s := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(upstream)), "~")
	segments := strings.Split(s, "/")
	s = segments[len(segments)-1]
	for _, segment := range segments[:len(segments)-1] {
		p.path(segment)
	}
	if m := geoPrefix.FindStringSubmatch(s); m != nil {
		p.region, s = m[1], m[2]
	}
	if m := dotMaker.FindStringSubmatch(s); m != nil {
		if p.segment, s = m[1], m[2]; p.segment == "deepseek" && !strings.HasPrefix(s, "deepseek") {
			s = "deepseek-" + s // deepseek.v3.2
		}
	}
	if m := dashMaker.FindStringSubmatch(s); m != nil {
		p.segment, s = m[1], m[2]
	}
	s = p.versions(s)
	s = p.hosting(s)
	s = points(s)
	s = families(s)
	if joined, ok := spellings[s]; ok {
		s = joined
	}
	p.base = s
	return p
}

// path reads a segment in front of the name.
func (p *parsed) path(segment string) {
	switch segment {
	case "", "accounts", "models", "fireworks", "@cf", "@hf", "routers", "global-standard", "global", "standard", "publishers":
	case "pro", "tee", "lora":
		p.variants = append(p.variants, segment)
	case "eu", "us":
		p.region = segment
	default:
		if cloudRegion.MatchString(segment) {
			p.region = segment
			return
		}
		p.segment = segment
	}
}

// versions drops what stands behind a name: versions, days and words behind a colon.
func (p *parsed) versions(s string) string {
	if tail := bedrockTail.FindString(s); tail != "" && strings.TrimSuffix(s, tail) != "claude" {
		s = strings.TrimSuffix(s, tail)
	}
	if name, word, ok := strings.Cut(s, ":"); ok && name != "claude-v2" {
		s = name
		p.free = p.free || word == "free"
		p.variants = append(p.variants, word)
	}
	if name, ok := strings.CutSuffix(s, "-free"); ok {
		s, p.free = name, true
	}
	if name, word, ok := strings.Cut(s, "@"); ok {
		if s = name; word != "default" && word != "latest" && word != "" {
			p.variants = append(p.variants, word)
		}
	}
	if m := shortTail.FindStringSubmatch(s); m != nil && s != "claude-instant-v1" {
		s = m[1]
	}
	if strings.HasPrefix(s, "claude-") {
		s = strings.TrimSuffix(s, "-latest")
	}
	return s
}

// hosting drops a day and how a name is hosted.
func (p *parsed) hosting(s string) string {
	for {
		before := s
		if m := day.FindStringSubmatch(s); m != nil {
			s = strings.TrimSuffix(s, m[0]) + m[2]
			p.variants = append(p.variants, m[1])
		}
		if m := fp8Fast.FindStringSubmatch(s); m != nil {
			s = strings.TrimSuffix(s, m[0])
			p.variants = append(p.variants, "fp8", m[1])
		}
		if m := turbo.FindStringSubmatch(s); m != nil {
			s = m[1]
			p.variants = append(p.variants, "turbo")
		}
		if m := hosting.FindStringSubmatch(s); m != nil {
			s = strings.TrimSuffix(s, m[0])
			p.variants = append(p.variants, m[1])
		}
		if s == before {
			return s
		}
	}
}

// points gives version digits their point.
func points(s string) string {
	s = under.ReplaceAllString(s, "$1.$2")
	s = strings.ReplaceAll(s, "_", "-")
	s = pPoint.ReplaceAllString(s, "$1.$2")
	s = llama.ReplaceAllString(s, "llama-$1")
	s = gemma.ReplaceAllString(s, "gemma-$1")
	s = qwen.ReplaceAllString(s, "qwen$1")
	s = dashPoint.ReplaceAllString(s, "$1.$2$3")
	return s
}

// families writes the names of a family in one way.
func families(s string) string {
	s = claudeNew.ReplaceAllString(s, "claude-$2-$1$3")
	s = claudeOld.ReplaceAllString(s, "claude-$2-$1$3")
	s = claudeZero.ReplaceAllString(s, "$1")
	s = grok.ReplaceAllString(s, "grok-4.20$1")
	s = gemini00.ReplaceAllString(s, "$1")
	s = llama4.ReplaceAllString(s, "llama-4-$1")
	s = qwenCoder.ReplaceAllString(s, "$1")
	if rest, ok := strings.CutPrefix(s, "gpt-35"); ok {
		s = "gpt-3.5" + rest
	}
	return s
}

// spellings are names of one model that no rule joins.
var spellings = map[string]string{
	"claude-v2":                          "claude-2",
	"claude-v2:1":                        "claude-2.1",
	"deepseek-chat-v3-0324":              "deepseek-v3-0324",
	"deepseek-chat-v3.1":                 "deepseek-v3.1",
	"kimi-k2-0711-preview":               "kimi-k2",
	"kimi-k2-0905-preview":               "kimi-k2-0905",
	"kimi-k2-instruct":                   "kimi-k2",
	"kimi-k2-instruct-0905":              "kimi-k2-0905",
	"llama-3.1-8b-instant":               "llama-3.1-8b-instruct",
	"llama-3.3-70b":                      "llama-3.3-70b-instruct",
	"llama-3.3-70b-versatile":            "llama-3.3-70b-instruct",
	"mistral-large-3-675b-instruct":      "mistral-large-3",
	"mistral-large-3-675b-instruct-2512": "mistral-large-3",
	"mistral-large-2512":                 "mistral-large-3",
	"qwen3-235b-a22b-2507":               "qwen3-235b-a22b-instruct-2507",
	"qwen3-coder":                        "qwen3-coder-480b-a35b", // OpenRouter
	"qwen3-coder-480b-instruct":          "qwen3-coder-480b-a35b",
}

// makers tell the maker by how a name begins; the first that fits counts.
var makers = []struct{ begins, maker string }{
	{"claude", "anthropic"},
	{"gpt", "openai"}, {"chatgpt", "openai"}, {"codex", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"},
	{"gemini", "google"}, {"gemma", "google"}, {"palm-", "google"}, {"learnlm", "google"},
	{"llama", "meta"}, {"deepseek", "deepseek"},
	{"kimi", "moonshotai"}, {"moonshot", "moonshotai"},
	{"glm", "zai"}, {"qwen", "qwen"}, {"qwq", "qwen"}, {"qvq", "qwen"}, {"minimax", "minimax"},
	{"mistral", "mistral"}, {"mixtral", "mistral"}, {"ministral", "mistral"}, {"magistral", "mistral"}, {"devstral", "mistral"},
	{"codestral", "mistral"}, {"pixtral", "mistral"}, {"voxtral", "mistral"}, {"open-mistral", "mistral"}, {"open-mixtral", "mistral"},
	{"grok", "xai"}, {"nova-", "amazon"}, {"titan", "amazon"}, {"command", "cohere"}, {"c4ai", "cohere"}, {"jamba", "ai21"},
	{"phi-", "microsoft"}, {"wizardlm", "microsoft"}, {"nemotron", "nvidia"}, {"granite", "ibm"}, {"sonar", "perplexity"},
	{"mimo", "xiaomi"}, {"doubao", "bytedance"}, {"seed-", "bytedance"}, {"ernie", "baidu"}, {"hunyuan", "tencent"},
	{"step-", "stepfun"}, {"mercury", "inception"}, {"solar", "upstage"}, {"olmo", "allenai"}, {"lfm", "liquid"},
	{"palmyra", "writer"}, {"hermes", "nousresearch"}, {"reka", "reka"}, {"yi-", "01-ai"},
}

func makerOf(base string) string {
	if strings.Contains(base, "nemotron") {
		return "nvidia"
	}
	for _, m := range makers {
		if strings.HasPrefix(base, m.begins) {
			return m.maker
		}
	}
	return ""
}

// makerWords are makers' names as paths spell them, and ours.
var makerWords = map[string]string{
	"bytedance-seed": "bytedance", "deepseek-ai": "deepseek", "ibm-granite": "ibm", "meta-llama": "meta", "minimaxai": "minimax",
	"mistralai": "mistral", "moonshot": "moonshotai", "rekaai": "reka", "x-ai": "xai", "z-ai": "zai", "zai-org": "zai", "zhipuai": "zai",
}

func makerWord(segment string) string {
	if ours, ok := makerWords[segment]; ok {
		return ours
	}
	return slug(segment, "-._")
}

// notChatWords are words of a name, between its dashes, dots, slashes and spaces,
// that say what else than text it answers with.
var notChatWords = map[string]string{
	"embed": "embedding", "embedding": "embedding", "embeddings": "embedding", "bge": "embedding", "e5": "embedding", "gte": "embedding",
	"voyage": "embedding", "m2-bert": "embedding", "embedcode": "embedding",
	"rerank": "rerank", "reranker": "rerank",
	"image": "image", "images": "image", "imagen": "image", "imagine": "image", "dall": "image", "dalle": "image", "flux": "image", "sdxl": "image",
	"diffusion": "image", "seedream": "image", "recraft": "image", "ideogram": "image", "canvas": "image", "hidream": "image", "playground": "image", "kontext": "image",
	"veo": "video", "sora": "video", "kling": "video", "video": "video", "reel": "video", "hailuo": "video", "wan2.1": "video", "wan2.2": "video", "seedance": "video", "runway": "video",
	"tts": "audio", "whisper": "audio", "transcribe": "audio", "transcription": "audio", "speech": "audio", "audio": "audio", "realtime": "audio",
	"live": "audio", "lyria": "audio", "sonic": "audio", "orpheus": "audio", "playai": "audio", "stt": "audio", "asr": "audio", "cartesia": "audio", "voice": "audio", "eleven": "audio",
	"ada": "completion", "babbage": "completion", "curie": "completion", "davinci": "completion",
	"ocr": "ocr", "moderation": "moderation", "moderations": "moderation",
}

// notChat says what a model does if its name says that it is not chat.
func notChat(id string) string {
	id = strings.ToLower(id)
	for _, word := range strings.FieldsFunc(id, func(c rune) bool { return strings.ContainsRune("-_/ :@", c) }) {
		if what, ok := notChatWords[word]; ok {
			return what
		}
	}
	if strings.Contains(id, "turbo-instruct") {
		return "completion"
	}
	if strings.Contains(id, "embedding") || strings.Contains(id, "text-embed") {
		return "embedding"
	}
	return ""
}
