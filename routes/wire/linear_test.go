package wire

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// lookedAt are the keys that anything in this package looks into, at any depth.
var lookedAt = []string{"cache_control", "function", "custom", "providerOptions", "gateway", "provider", "tools", "content", "messages", "input",
	"system", "instructions", "text", "type", "ttl", "role", "data", "signature", "metadata", "user_id", "prompt_cache_options", "stream_options",
	"sort", "by", "order", "only", "models", "name", "parameters", "input_schema", "format", "description"}

// heavy are members and elements that take long to scan for their size.
var heavy = []string{"0", "[]", "{}", `""`, "true", `{"type":0}`, `{"a":[0]}`}

// nested is payload inside so many containers under these keys.
func nested(rnd *rand.Rand, depth int, keys []string, payload string) string {
	var open, shut string
	for range depth {
		key := keys[rnd.IntN(len(keys))]
		open += `{"` + key + `":`
		shut = "}" + shut
		if len(keys) > 1 && rnd.IntN(4) == 0 {
			open += "["
			shut = "]" + shut
		}
	}
	return open + payload + shut
}

// places are where in a body something can stand.
var placesInBody = []string{`"messages":[{"role":"user","content":[%s]}]`, `"messages":[%s]`, `"tools":[%s]`, `"tools":%s`, `"system":[%s]`,
	`"input":[%s]`, `"providerOptions":{"gateway":%s}`, `"providerOptions":%s`, `"provider":%s`, `"metadata":%s`, `"cache_control":%s`,
	`"prompt_cache_options":%s`, `"stream_options":%s`, `"messages":[{"role":"user","content":[{"text":%s}]}]`}

// readWhole is how long a body takes to be read, with its opening: the least of
// some tries.
func readWhole(body []byte, tries int) time.Duration {
	least := time.Hour
	for range tries {
		start := time.Now()
		if r, err := ReadRequest(catalog.Chat, body); err == nil && r.Facts().Opening != nil {
			r.Facts().Opening()
		}
		least = min(least, time.Since(start))
	}
	return least
}

// A body costs its size, however it nests what is looked at.
func TestNestingCostsNoMoreThanSize(t *testing.T) {
	const size = 128 << 10
	check := func(name, place, body, unit string) {
		payload := "[" + strings.Repeat(unit+",", size/(len(unit)+1)) + unit + "]"
		hostile := []byte(`{"model":"m",` + fmt.Sprintf(place, fmt.Sprintf(body, payload)) + "}")
		plain := []byte(`{"model":"m","messages":[{"role":"user","content":[` + payload + `]}]}`)
		ratio := 0.0
		for range 6 { // the machine may be busy with something else
			if ratio = float64(readWhole(hostile, 3)) / float64(readWhole(plain, 3)); ratio <= 3 {
				return
			}
		}
		t.Errorf("%s in %s takes %.1f times as long as a plain body", name, place, ratio)
	}
	for _, key := range []string{"cache_control", "function", "custom", "content", "text", "gateway", "provider"} {
		for _, place := range []string{placesInBody[0], placesInBody[2], placesInBody[7], placesInBody[9]} {
			check(key, place, nested(rand.New(rand.NewPCG(0, 0)), 110, []string{key}, "%s"), "0")
		}
	}
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	for range 30 {
		body := nested(rnd, 1+rnd.IntN(60), lookedAt, "%s")
		check(body, placesInBody[rnd.IntN(len(placesInBody))], body, heavy[rnd.IntN(len(heavy))])
	}
}

// slowMarkers counts markers in a decoded body by looking everywhere.
func slowMarkers(v any) (n int, ttl time.Duration) {
	add := func(m int, d time.Duration) { n, ttl = n+m, max(ttl, d) }
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			add(slowMarkers(e))
		}
	case map[string]any:
		for key, e := range v {
			add(slowMarkers(e))
			if m, ok := e.(map[string]any); ok && key == "cache_control" && m["type"] == "ephemeral" {
				text, _ := m["ttl"].(string)
				add(1, lifetime(text))
			}
		}
	}
	return n, ttl
}

func TestMarkersAgreeWithASlowTwin(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 2))
	var value func(depth int) any
	value = func(depth int) any {
		switch n := rnd.IntN(8); {
		case depth > 6 || n == 0:
			return []any{"ephemeral", "1h", "5m", "other", 3, nil, true, "9m"}[rnd.IntN(8)]
		case n < 3:
			var list []any
			for range rnd.IntN(4) {
				list = append(list, value(depth+1))
			}
			return list
		default:
			object := map[string]any{}
			for range rnd.IntN(5) {
				key := []string{"cache_control", "cache_control", "type", "ttl", "content"}[rnd.IntN(5)]
				if object[key] = value(depth + 1); key == "type" && rnd.IntN(2) == 0 {
					object[key] = "ephemeral"
				}
			}
			return object
		}
	}
	some := 0
	for range 3000 {
		prompt := map[string]any{"messages": []any{value(0)}, "tools": []any{value(1)}, "system": value(0)}
		want, ttl := slowMarkers(prompt)
		prompt["model"] = "m"
		if top := rnd.IntN(3); top > 0 {
			prompt["cache_control"] = map[string]any{"x": value(5), "type": []any{"ephemeral", "x"}[top-1], "ttl": "24h"}
			if top == 1 {
				want, ttl = want+1, 24*time.Hour
			}
		}
		body, err := json.Marshal(prompt)
		if err != nil {
			t.Fatal(err)
		}
		f := read(t, catalog.Chat, body).Facts()
		if f.Markers != want || f.MarkerTTL != ttl {
			t.Fatalf("seed %d: %d markers of %s, want %d of %s: %s", seed, f.Markers, f.MarkerTTL, want, ttl, body)
		}
		some += want
	}
	if some < 1000 {
		t.Errorf("only %d markers", some)
	}
}
