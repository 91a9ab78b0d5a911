package wire

import (
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// normalising is how long an object takes to be read: the least of some tries.
func normalising(c *catalog.Usage, object []byte, tries int) time.Duration {
	least := time.Hour
	for range tries {
		start := time.Now()
		Normalise(c, object)
		least = min(least, time.Since(start))
	}
	return least
}

// A usage object costs its size, whatever a vendor puts into it.
func TestUsageCostsNoMoreThanItsSize(t *testing.T) {
	const size = 256 << 10
	many := func(unit string) string { return strings.Repeat(unit+",", size/(len(unit)+1)) + unit }
	plain := []byte(`{"x":[` + many("0") + `]}`)
	for name, c := range map[string]struct {
		convention string
		object     string
	}{
		"an element chosen again and again": {"bedrock", `{"cacheDetails":[{` + many(`"ttl":"5m"`) + `}]}`},
		"very many elements":                {"bedrock", `{"cacheDetails":[` + many(`{"ttl":"1h","inputTokens":1}`) + `]}`},
		"very many lists":                   {"bedrock", `{` + many(`"cacheDetails":[{"ttl":"1h"}]`) + `}`},
		"very many steps":                   {"anthropic", `{"iterations":[` + many(`{"input_tokens":1}`) + `]}`},
		"very many lists of steps":          {"anthropic", `{` + many(`"iterations":[{"input_tokens":1}]`) + `}`},
		"steps in steps":                    {"anthropic", `{"iterations":[` + strings.Repeat(`{"iterations":[`, 50) + many("0") + strings.Repeat(`]}`, 50) + `]}`},
		"very many details":                 {"openai", `{` + many(`"prompt_tokens_details":{"cached_tokens":1}`) + `}`},
		"details of much":                   {"openai", `{"prompt_tokens_details":{"cache_creation":{"x":[` + many("0") + `]}}}`},
	} {
		u := catalog.UsageConvention(c.convention, catalog.Native)
		ratio := 0.0
		for range 6 { // the machine may be busy with something else
			if ratio = float64(normalising(u, []byte(c.object), 3)) / float64(normalising(u, plain, 3)); ratio <= 12 {
				break
			}
		}
		if ratio > 12 {
			t.Errorf("%s takes %.1f times as long as a plain object of its size", name, ratio)
		}
	}
}
