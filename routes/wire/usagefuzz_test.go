package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// everyUsage is each convention on each API on which it holds.
func everyUsage() []*catalog.Usage {
	var all []*catalog.Usage
	for _, name := range catalog.UsageConventions() {
		for _, api := range []catalog.API{catalog.Chat, catalog.Responses, catalog.Messages, catalog.Native} {
			if u := catalog.UsageConvention(name, api); u.Name == name && !slices.Contains(all, u) {
				all = append(all, u)
			}
		}
	}
	return all
}

// lawful holds a report against what must be true of every one.
func lawful(t *testing.T, c *catalog.Usage, sum *tally) {
	t.Helper()
	u, q := sum.usage(c)
	for _, n := range []int64{u.Input, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h, u.Output, u.Reasoning} {
		if n < 0 || n > 8*maxTokens {
			t.Fatalf("%s: %+v out of range", c.Name, u)
		}
	}
	prompt, tool, total := sum.count[catalog.PromptCount], sum.count[catalog.ToolCount], sum.count[catalog.TotalCount]
	stored := sum.count[catalog.ReadCount] + max(sum.count[catalog.WriteCount], sum.count[catalog.Write5mCount]+sum.count[catalog.Write1hCount])
	switch {
	case u.Reasoning > u.Output:
		t.Fatalf("%s: reasoning beside output: %+v", c.Name, u)
	case !sum.any && q != pricing.Missing, sum.invalid && q != pricing.Invalid:
		t.Fatalf("%s: quality %q", c.Name, q)
	case !q.Complete():
	case u.Prompt() == 0:
		t.Fatalf("%s: complete without a prompt: %+v", c.Name, u)
	case total > 0 && u.Prompt()+u.Output != total:
		t.Fatalf("%s: %+v is not %d in all", c.Name, u, total)
	case sum.seen[catalog.PromptCount] && u.Prompt() != prompt+tool && u.Prompt() != prompt+tool+stored:
		t.Fatalf("%s: %+v is not a prompt of %d, %d stored", c.Name, u, prompt, stored)
	case q == pricing.Authoritative && c.Cached == catalog.Inside && u.Prompt() != prompt+tool,
		q == pricing.Authoritative && c.Cached == catalog.Beside && u.Prompt() != prompt+tool+stored:
		t.Fatalf("%s: %+v is sure, and not what the convention says", c.Name, u)
	case q == pricing.Authoritative && u.CacheRead != sum.count[catalog.ReadCount]:
		t.Fatalf("%s: %+v is sure, and something else was read", c.Name, u)
	}
}

// FuzzUsage reads arbitrary usage objects by every convention: no bucket is
// negative, what is complete adds up to the total and to the prompt, and reading
// the same once more, or what was kept of it, changes nothing.
func FuzzUsage(f *testing.F) {
	f.Add([]byte(`{"prompt_tokens":1000,"completion_tokens":10,"prompt_tokens_details":{"cached_tokens":1200}}`), []byte(`{}`), uint8(0))
	f.Add([]byte(`{"input_tokens":8,"cache_creation":{"ephemeral_1h_input_tokens":6000},"output_tokens":-1}`), []byte(`null`), uint8(1))
	f.Add([]byte(`{"input_tokens":8,"iterations":[{"type":"compaction","input_tokens":5,"output_tokens":6},{"type":"message","input_tokens":8,"output_tokens":1}],"output_tokens":1,"speed":"fast"}`), []byte(`{"output_tokens":3}`), uint8(1))
	f.Add([]byte(`{"inputTokens":25,"outputTokens":1e9,"totalTokens":1099511627777,"cacheDetails":[{"ttl":"1h","inputTokens":4}]}`), []byte(`[]`), uint8(18))
	f.Add([]byte(`{"promptTokenCount":20,"toolUsePromptTokenCount":300,"thoughtsTokenCount":10,"cachedContentTokenCount":8,"totalTokenCount":334}`), []byte(`{"trafficType":"x"}`), uint8(16))
	f.Add([]byte(`{"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":5,"total_tokens":90,"cost":1e-5,"cost_in_usd_ticks":77}`), []byte(`{"completion_tokens":7}`), uint8(12))
	all := everyUsage()
	f.Fuzz(func(t *testing.T, first, second []byte, which uint8) {
		c := all[int(which)%len(all)]
		var sum, twice tally
		for _, b := range [][]byte{first, second} {
			b = bytes.TrimSpace(b)
			if json.Valid(b) && len(b) > 0 {
				sum.read(c, b, span{0, len(b)})
				lawful(t, c, &sum)
				twice.read(c, b, span{0, len(b)})
				twice.read(c, b, span{0, len(b)})
			}
		}
		if one, two := sum.report(c), twice.report(c); !reflect.DeepEqual(one, two) {
			t.Fatalf("%s: read twice it is another:\n%+v\n%+v", c.Name, one, two)
		}
		one := Normalise(c, first)
		if again := Normalise(c, one.Raw); len(one.Raw) > 0 && !reflect.DeepEqual(one, again) {
			t.Fatalf("%s: what was kept is read otherwise:\n%+v\n%+v", c.Name, one, again)
		}
	})
}

// lookedUp is the slow twin of reading a usage object: the values at a path, by
// encoding/json.
func lookedUp(v any, path string) (found []any) {
	name, rest, more := strings.Cut(path, ".")
	name, choice, chooses := strings.Cut(name, "[")
	object, ok := v.(map[string]any)
	if !ok || object[name] == nil {
		return nil
	}
	inner := []any{object[name]}
	if chooses {
		key, value, _ := strings.Cut(strings.TrimSuffix(choice, "]"), "=")
		list, _ := object[name].([]any)
		inner = nil
		for _, item := range list {
			if o, ok := item.(map[string]any); ok && o[key] == value {
				inner = append(inner, item)
			}
		}
	}
	if !more {
		return inner
	}
	for _, v := range inner {
		found = append(found, lookedUp(v, rest)...)
	}
	return found
}

// put sets the value at a path.
func put(object map[string]any, path string, value any) {
	name, rest, more := strings.Cut(path, ".")
	name, choice, chooses := strings.Cut(name, "[")
	switch {
	case chooses:
		key, kind, _ := strings.Cut(strings.TrimSuffix(choice, "]"), "=")
		item := map[string]any{key: kind}
		put(item, rest, value)
		list, _ := object[name].([]any)
		object[name] = append(list, item)
	case more:
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[name] = inner
		}
		put(inner, rest, value)
	default:
		object[name] = value
	}
}

// Random objects of every convention, read as a slow reader reads them.
func TestUsageIsReadAsASlowReaderReadsIt(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 3))
	qualities := map[pricing.Quality]int{}
	for range 300 {
		for _, c := range everyUsage() {
			object := map[string]any{}
			for f := catalog.PromptCount; f < catalog.UsageCounters; f++ {
				for _, path := range c.Paths(f) {
					if rnd.IntN(3) == 0 {
						put(object, path, []any{float64(rnd.IntN(40)), float64(rnd.IntN(1 << 26)), nil}[min(rnd.IntN(9)/4, 2)])
					}
				}
			}
			var want [catalog.UsageCounters]int64
			var seen [catalog.UsageCounters]bool
			for f := catalog.PromptCount; f < catalog.UsageCounters; f++ {
				for _, path := range c.Paths(f) {
					for _, v := range lookedUp(object, path) {
						if n, ok := v.(float64); ok {
							want[f], seen[f] = max(want[f], int64(n)), true
						}
					}
				}
			}
			// In half of them the total is right, for one of the ways to count.
			if total := c.Paths(catalog.TotalCount); len(total) > 0 && rnd.IntN(2) == 0 {
				n := want[catalog.PromptCount] + want[catalog.ToolCount] + want[catalog.OutputCount]
				if rnd.IntN(2) == 0 {
					n += want[catalog.ReasoningCount]
				}
				if rnd.IntN(2) == 0 {
					n += want[catalog.ReadCount] + max(want[catalog.WriteCount], want[catalog.Write5mCount]+want[catalog.Write1hCount])
				}
				for _, path := range total {
					put(object, path, float64(n))
				}
				want[catalog.TotalCount], seen[catalog.TotalCount] = n, true
			}
			text, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			text = plainNumbers(text)
			var sum tally
			sum.read(c, text, span{0, len(text)})
			if sum.count != want || sum.seen != seen || sum.invalid {
				t.Fatalf("%s: %s\nread    %v %v\ntwin    %v %v, invalid %v", c.Name, text, sum.count, sum.seen, want, seen, sum.invalid)
			}
			lawful(t, c, &sum)
			_, q := sum.usage(c)
			qualities[q]++
		}
	}
	t.Log(qualities)
	for _, q := range []pricing.Quality{pricing.Authoritative, pricing.Derived, pricing.Partial, pricing.Invalid} {
		if qualities[q] < 20 {
			t.Errorf("only %d are %q", qualities[q], q)
		}
	}
}

// plainNumbers writes floats as whole numbers.
func plainNumbers(text []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return text
	}
	var plain func(v any) any
	plain = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k := range v {
				v[k] = plain(v[k])
			}
		case []any:
			for i := range v {
				v[i] = plain(v[i])
			}
		case json.Number:
			f, _ := v.Float64()
			return json.Number(fmt.Sprintf("%.0f", f))
		}
		return v
	}
	out, err := json.Marshal(plain(v))
	if err != nil {
		return text
	}
	return out
}
