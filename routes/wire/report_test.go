package wire

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// A miss is a number; silence is not.
func TestSilenceAboutTheCacheIsNoMiss(t *testing.T) {
	for _, c := range []struct {
		name, convention string
		api              catalog.API
		object           string
		unknown          bool
	}{
		{"0 is a miss", "", catalog.Chat, `{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":0}}`, false},
		{"no details", "", catalog.Chat, `{"prompt_tokens":9,"completion_tokens":1}`, true},
		{"null details", "", catalog.Chat, `{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":null}`, true},
		{"a null count", "", catalog.Chat, `{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":null}}`, true},
		{"details of something else", "", catalog.Chat, `{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"audio_tokens":0}}`, true},
		{"Groq leaves 0 out", "groq", catalog.Chat, `{"prompt_tokens":9,"completion_tokens":1}`, false},
		{"Google leaves 0 out", "gemini", catalog.Native, `{"promptTokenCount":9,"candidatesTokenCount":1,"totalTokenCount":10}`, false},
		{"Anthropic says 0", "", catalog.Messages, `{"input_tokens":9,"output_tokens":1,"cache_read_input_tokens":0}`, false},
		{"its imitators may not", "", catalog.Messages, `{"input_tokens":9,"output_tokens":1}`, true},
		{"what was missed says what was read", "deepseek", catalog.Chat, `{"prompt_tokens":9,"prompt_cache_miss_tokens":4,"completion_tokens":1}`, false},
		{"nothing at all", "", catalog.Chat, `{}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := Normalise(catalog.UsageConvention(c.convention, c.api), []byte(c.object)); r.ReadUnknown != c.unknown {
				t.Errorf("unknown %v: %+v", r.ReadUnknown, r)
			}
		})
	}
}

func TestWhatAVendorSaysBesidesItsCounts(t *testing.T) {
	for _, c := range []struct {
		name, convention string
		api              catalog.API
		object           string
		want             Report
		charged          string
	}{
		{"Anthropic's speed and place", "", catalog.Messages, `{"input_tokens":9,"output_tokens":1,"service_tier":"priority","speed":"fast","inference_geo":"us"}`,
			Report{Tier: "priority", Speed: "fast", Region: "us"}, ""},
		{"a place that is not said", "", catalog.Messages, `{"input_tokens":9,"output_tokens":1,"inference_geo":"not_available","speed":null}`, Report{}, ""},
		{"xAI's ticks", "xai", catalog.Chat, `{"prompt_tokens":9,"completion_tokens":1,"cost_in_usd_ticks":1234567}`, Report{}, "0.0001234567"},
		{"OpenRouter's dollars", "openrouter", catalog.Chat, `{"prompt_tokens":9,"completion_tokens":1,"cost":0.0125}`, Report{}, "0.0125"},
		{"OpenRouter's nothing is something", "openrouter", catalog.Chat, `{"prompt_tokens":9,"completion_tokens":1,"cost":0}`, Report{}, "0"},
		{"OpenRouter's silence", "openrouter", catalog.Chat, `{"prompt_tokens":9,"completion_tokens":1,"cost":null}`, Report{}, ""},
		{"somebody else's cost, in units of their own", "", catalog.Chat, `{"prompt_tokens":9,"completion_tokens":1,"cost":17}`, Report{}, ""},
		{"Perplexity's bill", "perplexity", catalog.Chat, `{"prompt_tokens":9,"completion_tokens":1,"cost":{"input_tokens_cost":0.001,"total_cost":0.006}}`, Report{}, "0.006"},
		{"an amount that is none", "openrouter", catalog.Chat, `{"prompt_tokens":9,"completion_tokens":1,"cost":"free"}`, Report{}, ""},
		{"an amount that would fill the memory", "openrouter", catalog.Chat, `{"prompt_tokens":9,"completion_tokens":1,"cost":1e400000000}`, Report{}, ""},
		{"Alibaba's own cache", "alibaba", catalog.Chat, `{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":4}}`, Report{Implicit: true}, ""},
		{"Alibaba's marked cache", "alibaba", catalog.Chat, `{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":4,"cache_type":"ephemeral"}}`, Report{}, ""},
		{"Google's tier", "gemini", catalog.Native, `{"promptTokenCount":9,"candidatesTokenCount":1,"trafficType":"ON_DEMAND_FLEX"}`, Report{Tier: "ON_DEMAND_FLEX"}, ""},
		{"a word that is too long", "", catalog.Messages, `{"input_tokens":9,"output_tokens":1,"speed":"` + strings.Repeat("x", maxUsageWord+1) + `"}`, Report{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Normalise(catalog.UsageConvention(c.convention, c.api), []byte(c.object))
			charged := ""
			if r.Charged.Known {
				charged = r.Charged.Amount.String()
			}
			if r.Tier != c.want.Tier || r.Speed != c.want.Speed || r.Region != c.want.Region || r.Implicit != c.want.Implicit || charged != c.charged {
				t.Errorf("%+v, charged %q", r, charged)
			}
			kept := strings.ReplaceAll(c.object, strings.Repeat("x", maxUsageWord+1), "?")
			if r.Quality != pricing.Authoritative || string(r.Raw) != kept {
				t.Errorf("%s of %s", r.Quality, r.Raw)
			}
		})
	}
}

func TestWhatATurnUsedOnTheSide(t *testing.T) {
	compacted := engine.Side{Kind: "compaction", Usage: pricing.Usage{Input: 100, CacheRead: 5, CacheWrite5m: 40, CacheWrite1h: 2, Output: 30}}
	asked := engine.Side{Kind: "advisor_message", Model: "clipper1", Usage: pricing.Usage{Input: 700, Output: 60}}
	const (
		compaction = `{"type":"compaction","input_tokens":100,"cache_read_input_tokens":5,"cache_creation_input_tokens":42,"cache_creation":{"ephemeral_5m_input_tokens":40,"ephemeral_1h_input_tokens":2},"output_tokens":30}`
		advice     = `{"type":"advisor_message","model":"clipper1","input_tokens":700,"output_tokens":60}`
		first      = `{"type":"message","input_tokens":20,"output_tokens":3}`
		second     = `{"type":"message","input_tokens":30,"output_tokens":4}`
	)
	for _, c := range []struct {
		name, top, steps string
		sides            []engine.Side
		quality          pricing.Quality
	}{
		{"one step is the answer", `"input_tokens":20,"output_tokens":3`, first, nil, pricing.Authoritative},
		{"two steps are its sum", `"input_tokens":50,"output_tokens":7`, first + "," + second, nil, pricing.Authoritative},
		{"a compaction is beside it", `"input_tokens":20,"output_tokens":3`, compaction + "," + first, []engine.Side{compacted}, pricing.Authoritative},
		{"so is advice, from another model", `"input_tokens":50,"output_tokens":7`, first + "," + advice + "," + second, []engine.Side{asked}, pricing.Authoritative},
		{"and both", `"input_tokens":20,"output_tokens":3`, compaction + "," + advice + "," + first, []engine.Side{compacted, asked}, pricing.Authoritative},
		{"a first try of another model", `"input_tokens":412,"output_tokens":26`,
			`{"type":"message","model":"ketch-2","input_tokens":408,"output_tokens":0},{"type":"fallback_message","model":"clipper1","input_tokens":412,"output_tokens":26}`,
			[]engine.Side{{Kind: "message", Model: "ketch-2", Usage: pricing.Usage{Input: 408}}}, pricing.Authoritative},
		{"the same, where the top is the sum", `"input_tokens":820,"output_tokens":26`,
			`{"type":"message","model":"ketch-2","input_tokens":408,"output_tokens":0},{"type":"fallback_message","model":"clipper1","input_tokens":412,"output_tokens":26}`,
			nil, pricing.Authoritative},
		{"steps without a type", `"input_tokens":50,"output_tokens":9`,
			`{"model":"ketch-2","input_tokens":7,"output_tokens":1},{"model":"clipper1","input_tokens":50,"output_tokens":9}`,
			[]engine.Side{{Kind: "iteration", Model: "ketch-2", Usage: pricing.Usage{Input: 7, Output: 1}}}, pricing.Authoritative},
		{"a step that used nothing", `"input_tokens":20,"output_tokens":3`, `{"type":"compaction","input_tokens":0,"output_tokens":0},` + first, nil, pricing.Authoritative},
		{"a step that is broken", `"input_tokens":20,"output_tokens":3`, `{"type":"compaction","input_tokens":-4,"output_tokens":30},` + first,
			[]engine.Side{{Kind: "compaction", Usage: pricing.Usage{Output: 30}}}, pricing.Invalid},
		{"a step with half its numbers", `"input_tokens":20,"output_tokens":3`, `{"type":"compaction","output_tokens":30},` + first,
			[]engine.Side{{Kind: "compaction", Usage: pricing.Usage{Output: 30}}}, pricing.Partial},
		{"no steps", `"input_tokens":20,"output_tokens":3`, ``, nil, pricing.Authoritative},
		{"what is no step", `"input_tokens":20,"output_tokens":3`, `7,null,"x",[],` + first, nil, pricing.Authoritative},
		{"more steps than an answer has", `"input_tokens":20,"output_tokens":3`, strings.Repeat(first+",", maxIterations) + first, nil, pricing.Invalid},
		{"steps in a step", `"input_tokens":20,"output_tokens":3`, `{"type":"message","input_tokens":20,"output_tokens":3,"iterations":[` + compaction + `]}`, nil, pricing.Authoritative},
	} {
		t.Run(c.name, func(t *testing.T) {
			object := fmt.Sprintf(`{%s,"iterations":[%s]}`, c.top, c.steps)
			r := Normalise(catalog.UsageConvention("", catalog.Messages), []byte(object))
			if !reflect.DeepEqual(r.Sides, c.sides) || r.Quality != c.quality {
				t.Errorf("%+v %q, want %+v %q", r.Sides, r.Quality, c.sides, c.quality)
			}
		})
	}
}

func TestNormaliseOfWhatIsNoObject(t *testing.T) {
	for _, object := range []string{"", " ", "null", "7", "[]", `"x"`, "{", "{} {}", "{}x", `{"prompt_tokens":}`} {
		if r := Normalise(nil, []byte(object)); !reflect.DeepEqual(r, Report{}) {
			t.Errorf("%q: %+v", object, r)
		}
	}
	if r := Normalise(nil, []byte(" {\"prompt_tokens\":5,\"completion_tokens\":1}\n")); r.Usage.Input != 5 || r.Quality != pricing.Authoritative {
		t.Errorf("%+v", r)
	}
	long := `{"prompt_tokens":5,"completion_tokens":1,"x":"` + strings.Repeat("y", engine.MaxRawUsage) + `"}`
	if r := Normalise(nil, []byte(long)); r.Usage.Input != 5 || r.Raw != nil {
		t.Errorf("%d bytes kept of %d", len(r.Raw), len(long))
	}
}

// A vendor that counts like nobody else is a few lines of a catalog.
func TestAVendorThatCountsItsOwnWay(t *testing.T) {
	c, err := catalog.Parse("own.yaml", []byte(`version: 1
vendors:
  wharf:
    api: [chat]
    base_url: https://wharf.example/v1
    usage:
      like: openai
      object: [meter.spent, usage]
      prompt: tokens.fresh
      output: tokens.said
      cache_read: tokens.warm
      cache_write_5m: "tokens.kept[life=short].n"
      cache_write_1h: "tokens.kept[life=long].n"
      reasoning: tokens.thought
      total: tokens.all
      cached: beside
      reasoned: beside
      no_cache_read: zero
      cost: paid
models:
  m: {routes: [{vendor: wharf, model: m}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	wharf, _ := c.Vendor("wharf")
	const spent = `{"tokens":{"fresh":10,"warm":200,"said":30,"thought":5,"all":365,"kept":[{"life":"short","n":20},{"life":"long","n":100}]},"paid":0.25}`
	want := pricing.Usage{Input: 10, CacheRead: 200, CacheWrite5m: 20, CacheWrite1h: 100, Output: 35, Reasoning: 5}
	stream := said + `data: {"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"meter":{"spent":` + spent + "}}\n\ndata: [DONE]\n\n"
	for _, n := range []int{1, 40, len(stream)} {
		r := relay(RelayOptions{API: catalog.Chat, Usage: wharf.UsageOf(catalog.Chat)}, []byte(stream), n)
		if all := r.Report(); all.Usage != want || all.Quality != pricing.Authoritative || all.Charged.Amount.String() != "0.25" || string(all.Raw) != spent {
			t.Errorf("%+v", all)
		}
	}
	body := `{"model":"m","choices":[],"meter":{"spent":` + spent + `}}`
	if a := JSONResponse(RelayOptions{API: catalog.Chat, Usage: wharf.UsageOf(catalog.Chat)}, []byte(body)); a.Usage != want || a.Model != "m" {
		t.Errorf("%+v", a.Report)
	}
	if a := JSONResponse(RelayOptions{API: catalog.Chat}, []byte(body)); a.Quality != pricing.Missing {
		t.Errorf("by OpenAI's convention there is nothing to read: %+v", a.Report)
	}
}

// What a vendor says of usage in words is kept; text, which may repeat the prompt, is not.
func TestNoTextOfAUsageObjectIsKept(t *testing.T) {
	const counts = `"input_tokens":9,"output_tokens":1`
	for object, want := range map[string]string{
		`{` + counts + `,"service_tier":"standard","by":[{"modality":"TEXT"}],"note":""}`:                                          `{` + counts + `,"service_tier":"standard","by":[{"modality":"TEXT"}],"note":""}`,
		`{` + counts + `,"query":"where is \"my\" boat","n":[" ","é"]}`:                                                            `{` + counts + `,"query":"?","n":["?","?"]}`,
		`{` + counts + `,"searches": {"where is my boat" : 1}}`:                                                                    ``,
		`{` + counts + `,"service_tier":"where is my boat","speed":"my boat"}`:                                                     `{` + counts + `,"service_tier":"?","speed":"?"}`,
		`{` + counts + `,"iterations":[{"type":"my boat","model":"my boat",` + counts + `},{"type":"compaction",` + counts + `}]}`: `{` + counts + `,"iterations":[{"type":"?","model":"?",` + counts + `},{"type":"compaction",` + counts + `}]}`,
	} {
		r := Normalise(catalog.UsageConvention("", catalog.Messages), []byte(object))
		if r.Usage.Input != 9 || string(r.Raw) != want {
			t.Errorf("kept %s of %s", r.Raw, object)
		}
		if said := fmt.Sprint(r.Tier, r.Speed, r.Sides); strings.Contains(said, "boat") {
			t.Errorf("%s says %s", object, said)
		}
	}
}
