package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// facts reads a body that has these members beside its model.
func factsOf(t testing.TB, members string) engine.Request {
	t.Helper()
	return read(t, catalog.Chat, []byte(`{"model":"m",`+members+`}`)).Facts()
}

// settings is what a request says of its routing, in words.
func settings(f engine.Request) string {
	var all []string
	add := func(set bool, format string, args ...any) {
		if set {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	add(len(f.Order) > 0, "order %v", f.Order)
	add(len(f.Only) > 0, "only %v", f.Only)
	add(len(f.Ignore) > 0, "ignore %v", f.Ignore)
	add(f.Sort != "", "sort %s", f.Sort)
	add(len(f.Models) > 0, "models %v", f.Models)
	add(len(f.Tags) > 0, "tags %v", f.Tags)
	add(len(f.AnyTags) > 0, "any of %v", f.AnyTags)
	add(f.NoBackup, "no backup")
	add(f.Strict, "strict")
	add(f.MaxPrice.Input.Known(), "input %s", f.MaxPrice.Input)
	add(f.MaxPrice.Output.Known(), "output %s", f.MaxPrice.Output)
	add(f.MaxPrice.Request.Known(), "request %s", f.MaxPrice.Request)
	add(f.Caching, "caching")
	add(f.CacheTTL != 0, "ttl %s", f.CacheTTL)
	add(f.AffinityOff, "off")
	add(f.OptionID != "", "id %s", f.OptionID)
	add(len(f.Ignored) > 0, "ignored %s", strings.Join(f.Ignored, " "))
	return strings.Join(all, "; ")
}

func TestRoutingSettings(t *testing.T) {
	gateway := func(members string) string { return `"providerOptions":{"gateway":{` + members + `}}` }
	provider := func(members string) string { return `"provider":{` + members + `}` }
	for _, c := range []struct{ name, members, want string }{
		{"OpenRouter's, all of them", provider(`"order":["a"],"only":["a","b"],"ignore":["c"],"sort":"throughput","allow_fallbacks":false,"require_parameters":true,
			"max_price":{"prompt":1,"completion":"2.50","request":0.01},"quantizations":["fp8","bf16"],"data_collection":"deny","zdr":true,"enforce_distillable_text":true`),
			"order [a]; only [a b]; ignore [c]; sort throughput; tags [no_training zdr distillable]; any of [fp8 bf16]; no backup; strict; input 1; output 2.5; request 10000"},
		{"OpenRouter's, as if not there", provider(`"order":null,"only":[],"sort":null,"allow_fallbacks":true,"require_parameters":false,"max_price":null,"quantizations":[],
			"data_collection":"allow","zdr":false,"enforce_distillable_text":false`), ""},
		{"a limit of nothing", provider(`"max_price":{}`), ""},
		{"limits of zero", provider(`"max_price":{"prompt":0,"completion":"0","request":null,"image":null}`), "input 0; output 0"},
		{"limits to the last digit", provider(`"max_price":{"prompt":0.30000000000000004,"completion":1e-7}`), "input 0.30000000000000004; output 0.0000001"},
		{"a sort with its partition", provider(`"sort":{"by":"latency","partition":"model"}`), "sort latency"},
		{"a partition that is not kept", provider(`"sort":{"partition":"none","by":"price"}`), "sort price; ignored provider.sort.partition"},
		{"wishes", provider(`"preferred_min_throughput":{"p50":100},"preferred_max_latency":3`), "ignored provider.preferred_min_throughput provider.preferred_max_latency"},
		{"Vercel's, all of them", gateway(`"order":["a"],"only":["b"],"ignore":["c"],"sort":"ttft","models":["n"],"sessionId":"s","sessionAffinity":false,"caching":"auto","cacheTtl":"1h",
			"zeroDataRetention":true,"disallowPromptTraining":true,"hipaaCompliant":true,"byok":{"a":[{"apiKey":"k"}]}`),
			"order [a]; only [b]; ignore [c]; sort latency; models [n]; tags [zdr no_training hipaa]; caching; ttl 1h0m0s; off; id s"},
		{"Vercel's labels", gateway(`"tags":["team:blue"],"user":"u"`), "ignored providerOptions.gateway.tags providerOptions.gateway.user"},
		{"each other's words", gateway(`"zdr":true,"allow_fallbacks":false`) + "," + provider(`"zeroDataRetention":true,"sessionId":"x"`),
			"ignored providerOptions.gateway.zdr providerOptions.gateway.allow_fallbacks provider.zeroDataRetention provider.sessionId"},
		{"options of a vendor", `"providerOptions":{"anthropic":{"thinking":{}},"gateway":{"sort":"tps"}}`, "sort throughput; ignored providerOptions.anthropic"},
		{"hints of a wrong type", gateway(`"sessionId":5,"sessionAffinity":"no"`), "ignored providerOptions.gateway.sessionId providerOptions.gateway.sessionAffinity"},
		{"the gateway's own first", gateway(`"order":["a"],"sort":"cost"`) + "," + provider(`"order":["b"],"sort":"latency"`), "order [a]; sort price"},
		{"caching above", `"caching":"auto","cache_ttl":"5m"`, "caching; ttl 5m0s"},
		{"caching as Vercel spells it in a body", gateway(`"caching":"auto","cache_ttl":"60m"`), "caching; ttl 1h0m0s"},
		{"caching off", `"caching":false`, ""},
		{"caching off in a word", gateway(`"caching":"off"`), ""},
		{"no caching in the option, which counts", gateway(`"caching":"off","cacheTtl":"5m"`) + `,"caching":"auto","cache_ttl":"1h"`, "ttl 5m0s"},
		{"caching in the option, which counts", gateway(`"caching":"auto"`) + `,"caching":"off"`, "caching"},
		{"caching is null", `"caching":null,"cache_ttl":null`, ""},
		{"a name that no header carries", provider(`"a\r\nset-cookie: x=é":1,"a b":2`), "ignored provider.a??set-cookie??x??? provider.a?b"},
		{"a long name", provider(`"` + strings.Repeat("n", 100) + `":1`), "ignored provider." + strings.Repeat("n", engine.MaxIgnoredName-len("provider."))},
		{"many of them", provider(`"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1`),
			"ignored provider.a provider.b provider.c provider.d provider.e provider.f provider.g provider.h"},
		{"one of them many times", provider(`"a":1,"a":1,"b":1`), "ignored provider.a provider.b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := factsOf(t, c.members)
			if got := settings(f); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			for _, name := range f.Ignored {
				if len(name) > engine.MaxIgnoredName {
					t.Errorf("%q has %d bytes", name, len(name))
				}
			}
		})
	}
}

// A setting that cannot be kept is refused with what to do, never dropped: who asks
// for a limit would pay more, who asks for privacy would have none.
func TestRoutingSettingsThatAreRefused(t *testing.T) {
	for _, c := range []struct{ members, says string }{
		{`"provider":"a"`, `"provider" must be an object`},
		{`"provider":{"allow_fallbacks":"no"}`, `"provider.allow_fallbacks" must be true or false`},
		{`"provider":{"require_parameters":1}`, `"provider.require_parameters" must be true or false`},
		{`"provider":{"zdr":"true"}`, `"provider.zdr" must be true or false`},
		{`"provider":{"enforce_distillable_text":1}`, `"provider.enforce_distillable_text" must be true or false`},
		{`"provider":{"quantizations":"fp8"}`, `"provider.quantizations" must be a list of strings`},
		{`"provider":{"quantizations":["fp8","tiny"]}`, `"provider.quantizations" may name int4`},
		{`"provider":{"max_price":1}`, `"provider.max_price" must be an object`},
		{`"provider":{"max_price":{"prompt":-1}}`, `"provider.max_price.prompt" must be a price, zero or more`},
		{`"provider":{"max_price":{"prompt":"cheap"}}`, `"provider.max_price.prompt" must be a price`},
		{`"provider":{"max_price":{"completion":[]}}`, `"provider.max_price.completion" must be a price`},
		{`"provider":{"max_price":{"completion":""}}`, `"provider.max_price.completion" must be a price`},
		{`"provider":{"max_price":{"request":1e99999}}`, `"provider.max_price.request" must be a price`},
		{`"provider":{"max_price":{"prompt":1,"pr\u006fmpt":2}}`, `"provider.max_price.prompt" stands in the body twice`},
		{`"provider":{"max_price":{"image":1}}`, `can limit prompt, completion and request`},
		{`"provider":{"sort":{}}`, `"provider.sort" must be price`},
		{`"provider":{"sort":1}`, `"provider.sort" must be price`},
		{`"provider":{"order":["a",1]}`, `"provider.order" must be a list of strings`},
		{`"provider":{"allow_fallbacks":false,"allow_fallbacks":true}`, `"provider.allow_fallbacks" stands in the body twice`},
		{`"providerOptions":{"gateway":[]}`, `"providerOptions.gateway" must be an object`},
		{`"providerOptions":{"gateway":{"hipaaCompliant":"yes"}}`, `"providerOptions.gateway.hipaaCompliant" must be true or false`},
		{`"providerOptions":{"gateway":{"models":"n"}}`, `"providerOptions.gateway.models" must be a list of strings`},
		{`"providerOptions":{"gateway":{"caching":true}}`, `"providerOptions.gateway.caching" must be "auto" or "off"`},
		{`"providerOptions":{"gateway":{"caching":"always"}}`, `"providerOptions.gateway.caching" must be "auto" or "off"`},
		{`"providerOptions":{"gateway":{"cacheTtl":"24h"}}`, `"providerOptions.gateway.cacheTtl" must be "5m" or "1h"`},
		{`"caching":true`, `"caching" must be "auto" or "off"`},
		{`"caching":{"auto":1}`, `"caching" must be "auto" or "off"`},
		{`"cache_ttl":"10m"`, `"cache_ttl" must be "5m" or "1h"`},
		{`"cache_ttl":3600`, `"cache_ttl" must be "5m" or "1h"`},
	} {
		if says := refuse(t, `{"model":"m",`+c.members+`}`); !strings.Contains(says, c.says) {
			t.Errorf("%s: says %q, want %q in it", c.members, says, c.says)
		}
	}
}

// Bug case 62: none of what is for the gateway reaches a vendor, and what is left keeps
// its order and its bytes.
func TestNoSettingReachesAVendor(t *testing.T) {
	const left = `{ "model":"m" , "temperature":0.20 , "metadata":{"user_id":"u"} , "messages":[ {"role":"user","content":"hi"} ] }`
	for _, member := range []string{
		`"session_id":"s"`, `"sessionId":"s"`, `"caching":"auto"`, `"cache_ttl":"1h"`, `"models":["n","p"]`,
		`"providerOptions":{"gateway":{"sessionId":"s","caching":"auto","cacheTtl":"5m","models":["n"],"tags":["a"],"hipaaCompliant":true,"byok":{"a":[{"apiKey":"canary"}]}}}`,
		`"provider":{"order":["a"],"allow_fallbacks":false,"require_parameters":true,"max_price":{"prompt":1},"quantizations":["fp8"],"preferred_max_latency":2}`,
	} {
		for _, body := range []string{
			strings.Replace(left, `"model"`, member+` , "model"`, 1),
			strings.Replace(left, `"metadata"`, member+` , "metadata"`, 1),
			strings.TrimSuffix(left, " }") + ` , ` + member + ` }`,
		} {
			for _, api := range apis {
				r := read(t, api, []byte(body))
				if got := string(r.Upstream(nil, Edits{})); got != left {
					t.Errorf("%s: %s\ngave %s", api, body, got)
				}
			}
		}
	}
}

func TestLifetimesAreTheTwoThereAre(t *testing.T) {
	for text, want := range map[string]time.Duration{"5m": 5 * time.Minute, "300s": 5 * time.Minute, "1h": time.Hour, "60m": time.Hour} {
		if got := factsOf(t, `"cache_ttl":"`+text+`"`).CacheTTL; got != want {
			t.Errorf("%s is %s", text, got)
		}
	}
}

func TestFieldsOfABody(t *testing.T) {
	f := factsOf(t, `"metadata":{"user":{"id":"u\u00e9","n":12.50,"on":true,"none":null,"list":[1],"a.b":"x"},"user2":{}},"seed":1E2,"s\u0065ed2":"y","a":{"b":{"c":{"d":{"e":{"f":{"g":"deep","h":{"i":"deeper"}}}}}}},"stream_options":null`)
	for path, want := range map[string]string{
		"model": "m", "seed": "1E2", "seed2": "y", "metadata.user.id": "ué", "metadata.user.n": "12.50", "metadata.user.on": "true", "a.b.c.d.e.f.g": "deep",
	} {
		if got, ok := f.Field(path); !ok || got != want {
			t.Errorf("%s is %q, %v", path, got, ok)
		}
	}
	for _, path := range []string{"", ".", "nothing", "metadata", "metadata.user", "metadata.user.none", "metadata.user.list", "metadata.user.list.0", "metadata.user.a.b", "metadata..id",
		"model.x", "metadata.user2.id", "a.b.c.d.e.f.h.i.j", "a.b.c.d.e.f.h.i.", strings.Repeat("a.", 1000)} {
		if got, ok := f.Field(path); ok {
			t.Errorf("%s is %q", path, got)
		}
	}
	if got, ok := f.Field("a.b.c.d.e.f.h.i"); !ok || got != "deeper" {
		t.Errorf("eight names lead to %q, %v", got, ok)
	}
	for name, want := range map[string]bool{"model": true, "seed2": true, "metadata": true, "stream_options": false, "user": false, "": false, "Model": false} {
		if f.Has(name) != want {
			t.Errorf("has %q: %v", name, !want)
		}
	}
	if !slices.Equal(f.Ignored, nil) {
		t.Errorf("ignored %v", f.Ignored)
	}
}
