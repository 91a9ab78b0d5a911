package catalog

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// listed prices of models that several vendors serve are judged as their collectors
// did by hand: the reads that are no cheaper than a prompt elsewhere, and the prices
// that stand out.
func TestLintOfListPricesShared(t *testing.T) {
	const path = "../../shared/data/prices/multi-vendor.json"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("%s is not here: %v", path, err)
	}
	var rows []struct {
		Model, Vendor  string
		Input, Output  json.Number
		CacheRead      json.Number `json:"cache_read"`
		CacheWrite     json.Number `json:"cache_write_5m"`
		CacheWriteHour json.Number `json:"cache_write_1h"`
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	slug := func(name string) string {
		return strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
	}
	var vendors, models strings.Builder
	seen, last := map[string]bool{}, ""
	for _, r := range rows {
		vendor := slug(r.Vendor)
		if !seen[vendor] {
			fmt.Fprintf(&vendors, "  %s: {api: [chat], base_url: \"https://%s.example/v1\", cache: {min_prefix: 4096}}\n", vendor, vendor)
			seen[vendor] = true
		}
		if r.Model != last {
			fmt.Fprintf(&models, "  %s:\n    routes:\n", r.Model)
			last = r.Model
		}
		if seen[r.Model+" "+vendor] {
			continue
		}
		seen[r.Model+" "+vendor] = true
		var prices []string
		for _, p := range []struct {
			key   string
			price json.Number
		}{{"input", r.Input}, {"output", r.Output}, {"cache_read", r.CacheRead}, {"cache_write", r.CacheWrite}, {"cache_write_1h", r.CacheWriteHour}} {
			if p.price != "" {
				prices = append(prices, p.key+": "+p.price.String())
			}
		}
		fmt.Fprintf(&models, "      - {vendor: %s, model: m, price: {%s, as_of: 2026-11-20, source: list}}\n", vendor, strings.Join(prices, ", "))
	}
	f := lintOf(t, "vendors:\n"+vendors.String()+"models:\n"+models.String())
	at := func(code string) map[string]string {
		all := map[string]string{}
		for _, p := range f.Problems {
			if m := regexp.MustCompile(`^model "(.*?)", route "(.*?)"`).FindStringSubmatch(p.Where); m != nil && p.Code == code {
				all[m[1]+" "+m[2]] = p.Message
			}
		}
		return all
	}
	rivals := at(CodeReadRival)
	for _, want := range []struct{ route, rival string }{
		{"deepseek-r1-0528 io-net", `"hyperbolic" (0.25), "deepinfra" (0.5) and "novita" (0.7)`},
		{"kimi-k2-instruct-0905 groq", `"io-net" (0.39) and "deepinfra" (0.5)`},
		{"kimi-k2-instruct-0905 deepinfra", `"io-net" (0.39)`},
		{"gpt-oss-120b groq", `"deepinfra" (0.039), "io-net" (0.04) and "novita" (0.05)`},
		{"gpt-oss-20b groq", `"deepinfra" (0.03) and "io-net" (0.03)`},
		{"gpt-oss-20b fireworks", `"deepinfra" (0.03) and "io-net" (0.03)`},
		{"deepseek-v3-2 friendli", `"crof" (0.18)`},
		{"glm-4-7 fireworks", `"crof" (0.25)`},
		{"glm-5 friendli", `"crof" (0.48)`},
		{"kimi-k2.6 fireworks", `"vultr" (0.15)`},
		{"kimi-k2.6 deepinfra", `"vultr" (0.15)`},
		{"kimi-k2.6 together", `"vultr" (0.15)`},
	} {
		if got := rivals[want.route]; !strings.Contains(got, "the input price of "+want.rival+", so affinity will never engage") {
			t.Errorf("%s: %q; want %s", want.route, got, want.rival)
		}
	}
	outliers := at(CodeOutlier)
	for _, route := range []string{"llama-3.3-70b-instruct deepinfra", "llama-3.3-70b-instruct hyperbolic", "llama-3.3-70b-instruct io-net", "llama-3.3-70b-instruct nebius", "llama-3.3-70b-instruct novita",
		"minimax-m2.5 azure", "kimi-k2.6 vultr", "qwen3-coder-480b-a35b together"} {
		if outliers[route] == "" {
			t.Errorf("%s does not stand out", route)
		}
	}
	for route := range outliers {
		if _, dear, _ := strings.Cut(route, " "); slices.Contains([]string{"anthropic", "openai", "bedrock"}, dear) {
			t.Errorf("%s stands out: %s", route, outliers[route])
		}
	}
	if at(CodeMagnitude)["deepseek-r1-0528 w-b"] == "" || len(at(CodeMagnitude)) != 1 {
		t.Errorf("in another unit: %v", at(CodeMagnitude))
	}
	if at(CodeWrite)["minimax-m2.5 crof"] == "" {
		t.Errorf("writes: %v", at(CodeWrite))
	}
	if len(at(CodeReadInput))+len(at(CodeOrder)) > 0 {
		t.Errorf("reads %v, orders %v", at(CodeReadInput), at(CodeOrder))
	}
}
