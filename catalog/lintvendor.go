package catalog

import (
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// fact is what a vendor documents of its prompt cache. Collected on 2026-11-29
// from the pages named; a fact that is not documented is zero.
type fact struct {
	names   []string // of vendors; each also stands for what begins with it and a dash
	hosts   []string // ends of the host of base_url
	models  []string // beginnings of the vendor's own ids, after regions and makers; empty: all
	longest time.Duration
	minimum int64
	hour    bool // writes that are kept for an hour have a price of their own
	source  string
}

const (
	anthropicPages = "docs.claude.com, prompt caching"
	bedrockPages   = "AWS Bedrock documentation, prompt caching"
	openaiPages    = "developers.openai.com, prompt caching"
	googlePages    = "ai.google.dev, context caching"
)

var (
	anthropicNames, anthropicHosts = []string{"anthropic"}, []string{"anthropic.com"}
	bedrockNames, bedrockHosts     = []string{"bedrock", "aws", "amazon-bedrock"}, []string{"amazonaws.com"}
	vertexNames, vertexHosts       = []string{"vertex", "google-vertex"}, []string{"aiplatform.googleapis.com"}
	openaiNames, openaiHosts       = []string{"openai", "azure"}, []string{"api.openai.com", "openai.azure.com"}
	googleNames, googleHosts       = []string{"google", "gemini", "ai-studio"}, []string{"generativelanguage.googleapis.com"}
	alibabaNames, alibabaHosts     = []string{"alibaba", "dashscope", "qwen"}, []string{"aliyuncs.com"}
)

// facts are looked through in order; the first that fits a route counts. Where two
// pages disagree the milder figure stands, so that nobody is told off by mistake.
var facts = []fact{
	{anthropicNames, anthropicHosts, []string{"claude-haiku-4-5", "claude-opus-4-5", "claude-opus-4-6"}, time.Hour, 4096, true, anthropicPages},
	{anthropicNames, anthropicHosts, []string{"claude-haiku-3", "claude-3-haiku", "claude-3-5-haiku"}, time.Hour, 2048, true, anthropicPages},
	{anthropicNames, anthropicHosts, []string{"claude-sonnet", "claude-opus-4", "claude-3"}, time.Hour, 1024, true, anthropicPages},
	{anthropicNames, anthropicHosts, nil, time.Hour, 512, true, anthropicPages},
	{bedrockNames, bedrockHosts, []string{"claude-haiku-4-5", "claude-opus-4-5", "claude-opus-4-6", "claude-opus-4-7"}, time.Hour, 4096, true, bedrockPages},
	{bedrockNames, bedrockHosts, []string{"claude-sonnet", "claude-opus-4", "claude-3-5", "claude-3-7"}, time.Hour, 1024, true, bedrockPages},
	{bedrockNames, bedrockHosts, []string{"claude"}, time.Hour, 512, true, bedrockPages},
	{bedrockNames, bedrockHosts, nil, time.Hour, 0, false, bedrockPages},
	{vertexNames, vertexHosts, []string{"claude"}, time.Hour, 0, true, anthropicPages},
	{vertexNames, vertexHosts, []string{"gemini"}, 0, 1024, false, googlePages},
	{vertexNames, vertexHosts, nil, 0, 0, false, googlePages},
	{openaiNames, openaiHosts, []string{"gpt-5-6"}, 30 * time.Minute, 1024, false, openaiPages},
	{openaiNames, openaiHosts, []string{"gpt", "o1", "o3", "o4"}, 24 * time.Hour, 1024, false, openaiPages},
	{googleNames, googleHosts, []string{"gemini"}, 0, 1024, false, googlePages},
	{alibabaNames, alibabaHosts, nil, 0, 256, false, "help.aliyun.com, context cache"},
	{[]string{"groq"}, []string{"groq.com"}, nil, 2 * time.Hour, 0, false, "console.groq.com, prompt caching"},
	{[]string{"minimax"}, []string{"minimax.io", "minimaxi.com"}, nil, 0, 512, false, "MiniMax documentation, prompt caching"},
	{[]string{"deepseek"}, []string{"deepseek.com"}, nil, 0, 64, false, "api-docs.deepseek.com, context caching"},
}

// explicitLongest is the lifetime of Alibaba's cache with markers (help.aliyun.com,
// context cache); that of the one without is not promised.
const explicitLongest = 5 * time.Minute

// factOf is what the vendor of a route documents.
func factOf(r *Route) (f fact, ok bool) {
	host := ""
	if r.Vendor.BaseURL != nil {
		host = r.Vendor.BaseURL.Hostname()
	}
	id := plainID(r.UpstreamModel)
	for _, f := range facts {
		if !isOf(r.Vendor.Name, host, f.names, f.hosts) || !beginsWith(id, f.models) {
			continue
		}
		if f.names[0] == "alibaba" && r.Cache.Family == Explicit {
			f.longest, f.minimum = explicitLongest, 1024
		}
		return f, true
	}
	return fact{}, false
}

// isOf says whether a vendor is one that a fact is about.
func isOf(name, host string, names, hosts []string) bool {
	for _, h := range hosts {
		if host == h || strings.HasSuffix(host, "."+h) {
			return true
		}
	}
	for _, n := range names {
		if name == n || strings.HasPrefix(name, n+"-") {
			return true
		}
	}
	return false
}

// plainID is a vendor's own id without region and maker, with dashes for dots.
func plainID(id string) string {
	id = strings.ToLower(id)
	id = id[strings.LastIndexByte(id, '/')+1:]
	id = withoutRegion(id)
	for _, maker := range []string{"anthropic.", "openai.", "google."} {
		id = strings.TrimPrefix(id, maker)
	}
	return strings.ReplaceAll(id, ".", "-")
}

func beginsWith(id string, any []string) bool {
	for _, begin := range any {
		if strings.HasPrefix(id, begin) {
			return true
		}
	}
	return len(any) == 0
}

// vendors judges what a vendor states for all its routes.
func (l *linter) vendors() {
	for _, v := range l.catalog.Vendors {
		r, f, ok := l.shortest(v)
		at := l.atVendor(v)
		if ok && v.Cache.TTL > f.longest {
			at.node = l.outline.vendors[v.Name].value
			l.tooLong(at.in("cache", "ttl"), v.Cache.TTL, f, r)
		}
	}
}

// shortest is, of a vendor's routes that take its lifetime as it stands, the one
// with the longest lifetime documented: only where none of them lives as long is
// the vendor's own figure wrong.
func (l *linter) shortest(v *Vendor) (route *Route, f fact, ok bool) {
	for _, r := range l.served[v] {
		if r.Cache.TTL != v.Cache.TTL || r.Cache.Family == None {
			continue
		}
		g, known := factOf(r)
		if !known || g.longest == 0 {
			return nil, fact{}, false
		}
		if !ok || g.longest > f.longest {
			route, f, ok = r, g, true
		}
	}
	return route, f, ok
}

// stateTTL says whether a vendor or a route states a lifetime itself.
func stateTTL(n *yaml.Node) bool {
	cache := valueOf(n, "cache")
	return cache != nil && valueOf(cache, "ttl") != nil
}

// cacheOf judges what holds of a route's cache.
func (l *linter) cacheOf(r *Route) {
	f, ok := factOf(r)
	if !ok || r.Cache.Family == None {
		return
	}
	at := l.atRoute(r)
	own := at.node != nil && stateTTL(at.node)
	_, vendors, all := l.shortest(r.Vendor)
	if f.longest > 0 && r.Cache.TTL > f.longest && (own || !all || r.Vendor.Cache.TTL <= vendors.longest) {
		l.tooLong(at.in("cache", "ttl"), r.Cache.TTL, f, r)
	}
	if f.minimum == 0 {
		return
	}
	switch {
	case r.Cache.MinPrefix == 0 && f.minimum > UndocumentedMinPrefix:
		l.say(at, SeverityNote, CodeMinUnknown, "min_prefix is not stated, so %d tokens are assumed, and %s documents %s for %s; write cache: {min_prefix: %d}",
			UndocumentedMinPrefix, f.names[0], thousands(int(f.minimum)), l.quote(r.UpstreamModel), f.minimum)
	case r.Cache.MinPrefix > 0 && r.Cache.MinPrefix < f.minimum:
		l.say(at.in("cache", "min_prefix"), SeverityWarning, CodeMinLow, "min_prefix %s is below the %s tokens that %s documents for %s, so prompts between are held to a vendor that cached nothing; write %d here (%s)",
			thousands(int(r.Cache.MinPrefix)), thousands(int(f.minimum)), f.names[0], l.quote(r.UpstreamModel), f.minimum, f.source)
	}
}

func (l *linter) tooLong(at finding, ttl time.Duration, f fact, r *Route) {
	l.say(at, SeverityWarning, CodeTTL, "ttl %s is longer than the %s that %s documents for %s, so turns are held to a cache that is gone; write at most %s (%s)",
		brief(ttl), brief(f.longest), f.names[0], l.quote(r.UpstreamModel), brief(f.longest), f.source)
}

// brief is a lifetime without the parts that are zero, such as 1h.
func brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
