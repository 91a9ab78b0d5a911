package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestUsageConventions(t *testing.T) {
	want := []string{"openai", "anthropic", "azure", "deepseek", "moonshot", "mistral", "fireworks", "together", "zai", "minimax", "cerebras",
		"groq", "openrouter", "perplexity", "alibaba", "xai", "gemini", "vertex", "bedrock"}
	if got := UsageConventions(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for _, c := range []struct {
		name string
		api  API
		want string
	}{
		{"", Chat, "openai"}, {"", Responses, "openai"}, {"", Messages, "anthropic"}, {"", Native, "openai"},
		{"deepseek", Chat, "deepseek"}, {"deepseek", Messages, "anthropic"},
		{"anthropic", Chat, "openai"}, {"anthropic", Native, "anthropic"},
		{"bedrock", Chat, "bedrock"}, {"bedrock", Messages, "bedrock"}, {"bedrock", Native, "bedrock"},
		{"gemini", Native, "gemini"}, {"unheard-of", Chat, "openai"},
	} {
		if u := UsageConvention(c.name, c.api); u.Name != c.want {
			t.Errorf("%s on %q is %s, want %s", c.name, c.api, u.Name, c.want)
		}
	}
	if u := UsageConvention("bedrock", Chat); u.Cached != Inside {
		t.Error("Bedrock's OpenAI-compatible endpoint counts inside")
	}
	if u := UsageConvention("bedrock", Native); u.Cached != Beside {
		t.Error("Converse counts beside")
	}
	if chat, answers := UsageConvention("xai", Chat), UsageConvention("xai", Responses); chat.Reasoned != Beside || answers.Reasoned != Inside {
		t.Error("xAI's reasoning is beside on chat and inside on responses")
	}
}

// Every path of every convention is one, leads to its field, and feeds one thing.
func TestUsagePathsLeadToTheirFields(t *testing.T) {
	for _, row := range conventionTable {
		u, seen := row.usage, map[string]UsageField{}
		for f := range usageFields {
			for _, path := range u.Paths(f) {
				if first, twice := seen[path]; twice {
					t.Errorf("%s: %s feeds %s and %s", u.Name, path, first, f)
				}
				seen[path] = f
				steps, ok := pathSteps(path)
				if !ok {
					t.Errorf("%s: %s is no path", u.Name, path)
					continue
				}
				n := u.Root()
				for _, s := range steps {
					if n = n.Member([]byte(s.name)); n == nil {
						t.Fatalf("%s: %s leads nowhere", u.Name, path)
					}
					if s.key != "" {
						n = n.item(s.key, s.value)
					}
				}
				if n.Feeds != f {
					t.Errorf("%s: %s feeds %s", u.Name, path, n.Feeds)
				}
			}
		}
		if len(u.Places) == 0 {
			t.Errorf("%s stands nowhere", u.Name)
		}
	}
}

func usageOf(t *testing.T, vendor string) *Vendor {
	t.Helper()
	c, err := Parse("f", []byte(with(vendor, "", "")))
	if err != nil {
		t.Fatal(err)
	}
	v, _ := c.Vendor("beta")
	return v
}

func TestAVendorsOwnUsage(t *testing.T) {
	v := usageOf(t, "usage: {like: openai, cache_read: [meter.warm, cached_tokens], cached: beside, total: [], rest: output, no_cache_read: zero, object: [meter.usage]}")
	u := v.UsageOf(Chat)
	if v.Usage != "openai" || u.Name != "openai" || u.Cached != Beside || !u.RestIsOutput || !u.NoReadIsZero {
		t.Errorf("%+v", u)
	}
	if got := u.Paths(ReadCount); !slices.Equal(got, []string{"meter.warm", "cached_tokens"}) {
		t.Errorf("reads stand at %q", got)
	}
	if len(u.Paths(TotalCount)) != 0 || u.Root().Member([]byte("total_tokens")) != nil {
		t.Error("there is no total to check against")
	}
	if got := fmt.Sprint(u.Places); got != "[[meter usage]]" {
		t.Errorf("usage stands at %s", got)
	}
	if got := u.Paths(PromptCount); !slices.Equal(got, UsageConvention("openai", Chat).Paths(PromptCount)) {
		t.Errorf("what is not said is OpenAI's: %q", got)
	}
	if std := UsageConvention("openai", Chat); std.Cached != Inside || len(std.Paths(TotalCount)) != 1 || len(std.Places) != 2 {
		t.Error("the convention itself has changed")
	}
}

// A path that the convention takes for something else is taken from it.
func TestAPathFeedsWhatTheCatalogSays(t *testing.T) {
	u := usageOf(t, "usage: {uncached: prompt_tokens, prompt: all_tokens}").UsageOf(Chat)
	if n := u.Root().Member([]byte("prompt_tokens")); n == nil || n.Feeds != UncachedCount {
		t.Errorf("prompt_tokens feeds %+v", n)
	}
	if slices.Contains(u.Paths(PromptCount), "prompt_tokens") {
		t.Error("it feeds the prompt as well")
	}
}

func TestAVendorsUsageByName(t *testing.T) {
	if v := usageOf(t, "usage: groq"); v.Usage != "groq" || !v.UsageOf(Chat).NoReadIsZero {
		t.Errorf("%q", v.Usage)
	}
	if v := usageOf(t, ""); v.Usage != "" || v.UsageOf(Chat).Name != "openai" {
		t.Errorf("%q", v.Usage)
	}
}

func TestUsageMistakes(t *testing.T) {
	for _, c := range []struct{ usage, want string }{
		{"usage: {like: openia}", `like "openia" is not known; did you mean "openai"?` + "\n"},
		{"usage: opnai", `usage "opnai" is not known; did you mean "openai"? Or write a mapping such as`},
		{"usage: none-of-them", `usage "none-of-them" is not known; use openai, anthropic,`},
		{"usage: {like: antropic}", `like "antropic" is not known; did you mean "anthropic"?`},
		{"usage: {like: anthropic}", `like: anthropic says nothing about the API chat`},
		{"usage: {cache_reed: a}", `"cache_reed" is not a key of usage; did you mean "cache_read"?`},
		{"usage: {cached: around}", `cached "around" is not known; use inside, beside or either`},
		{"usage: {reasoned: either}", `reasoned "either" is not known; use inside or beside`},
		{"usage: {rest: prompt}", `rest "prompt" is not known; use output or none`},
		{"usage: {no_cache_read: 0}", `no_cache_read "0" is not known; use unknown or zero`},
		{"usage: {cache_read: a..b}", `cache_read: "a..b" is no path`},
		{`usage: {cache_read: "a[ttl=5m]"}`, `cache_read: "a[ttl=5m]" is no path`},
		{`usage: {object: "a[x=y].b"}`, `object: "a[x=y].b" is no path`},
		{"usage: {object: []}", `object is empty`},
		{"usage: {prompt: a, output: a}", `path "a" stands under prompt and under output`},
		{"usage: {cache_read: }", `cache_read is empty`},
		{"usage: {cache_read: a.b.c.d.e.f.g}", `is no path`},
		{"usage: [openai]", `usage must be a single value`},
	} {
		_, err := Parse("f", []byte(with(c.usage, "", "")))
		if err == nil || !strings.Contains(err.Error()+"\n", c.want) || !strings.Contains(err.Error(), "f:") {
			t.Errorf("%s: %v, want %s", c.usage, err, c.want)
		}
	}
}

func TestPathSteps(t *testing.T) {
	for path, want := range map[string]int{
		"a": 1, "a.b": 2, "a[k=v].b": 2, "a-b.c_d": 2,
		"": 0, ".": 0, "a.": 0, ".a": 0, "a[k].b": 0, "a[k=].b": 0, "a[=v].b": 0, "a[k=v]": 0, "a[k=v]b": 0, "a]b": 0, "9": 0, "a b": 0, "a.b.c.d.e.f.g": 0,
		strings.Repeat("a", 65): 0,
	} {
		steps, ok := pathSteps(path)
		if ok != (want > 0) || ok && len(steps) != want {
			t.Errorf("%q: %v %v", path, steps, ok)
		}
	}
}
