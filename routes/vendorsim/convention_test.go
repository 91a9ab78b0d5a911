package vendorsim

import (
	"strings"
	"testing"
)

// Where in a stream usage stands, and whether it is there unasked.
func TestStreamsHaveTheirUsageWhereTheConventionPutsIt(t *testing.T) {
	for _, c := range []struct {
		usage           string
		place           usagePlace
		unasked, inGroq bool
		want            string // in the usage
	}{
		{"", ownChunk, false, false, `"completion_tokens_details":{"reasoning_tokens":0}`},
		{"openrouter", ownChunk, true, false, `"prompt_tokens_details":{"cached_tokens":0}`},
		{"xai", ownChunk, false, false, `"completion_tokens_details":{"reasoning_tokens":`},
		{"gemini", ownChunk, false, false, `"total_tokens":`},
		{"deepseek", lastChunk, false, false, `"prompt_cache_hit_tokens":0`},
		{"moonshot", lastChunk, false, false, `"cached_tokens":0`},
		{"zai", lastChunk, false, false, `"prompt_tokens_details":{"cached_tokens":0}`},
		{"mistral", lastChunk, true, false, `"num_cached_tokens":0`},
		{"groq", lastChunk, false, true, `"total_tokens":`},
		{"perplexity", everyChunk, true, false, `"total_tokens":`},
	} {
		for _, ask := range []bool{false, true} {
			b := start(t, Config{Cache: openaiCache, Usage: c.usage})
			body := with(chatBody(words("rules", 100), "hi"), `"stream":true`)
			if ask {
				body = with(body, `"stream_options":{"include_usage":true}`)
			}
			_, data := b.ok(chatPath, "k", body).events(t)
			n := len(data)
			var at []int
			for i, chunk := range data {
				plain, _, _ := strings.Cut(chunk, `,"x_groq"`)
				if strings.Contains(plain, `"usage":{`) {
					at = append(at, i)
				}
			}
			want := map[usagePlace]int{ownChunk: n - 2, lastChunk: n - 2, everyChunk: 0}[c.place]
			reports := ask || c.unasked
			switch {
			case !reports && len(at) > 0, reports && (len(at) == 0 || at[0] != want), reports && c.place == everyChunk && len(at) != n-1:
				t.Errorf("%q, asked %v: usage in %v of %d", c.usage, ask, at, n)
			case reports && c.place == ownChunk && !strings.Contains(data[n-2], `"choices":[]`),
				reports && c.place != ownChunk && strings.Contains(data[n-2], `"choices":[]`):
				t.Errorf("%q: %s", c.usage, data[n-2])
			case reports && !strings.Contains(data[n-2], c.want):
				t.Errorf("%q: no %s in %s", c.usage, c.want, data[n-2])
			case c.inGroq != strings.Contains(data[n-2], `"x_groq":{"id":"req_`):
				t.Errorf("%q: x_groq in %s", c.usage, data[n-2])
			}
		}
	}
}
