package pricelist

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/pricing"
)

// TestReadGzipIsTheSame: packed or not, the list is one.
func TestReadGzipIsTheSame(t *testing.T) {
	for _, g := range golden {
		data, err := os.ReadFile(filepath.Join("testdata", g.file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		z.Write(data)
		z.Close()
		l, err := Read(g.source, &packed)
		if err != nil {
			t.Fatal(err)
		}
		if show(l) != show(readFile(t, g.source, g.file)) {
			t.Errorf("%s differs when packed", g.file)
		}
	}
}

// TestReadRefuses: each error says what to do, and nothing is read.
func TestReadRefuses(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write([]byte("["))
	for range (maxBytes >> 20) + 1 {
		z.Write(bytes.Repeat([]byte(" "), 1<<20))
	}
	z.Close()
	one := `{"wren": {"pricing_config": {}}}`
	for _, c := range []struct{ name, source, text, says string }{
		{"unknown source", "pricebook", "{}", "name one of litellm"},
		{"provider for another list", "litellm:openai", "{}", "only portkey"},
		{"empty provider", "portkey:", "{}", "only portkey"},
		{"nothing", LiteLLM, "", "not JSON"},
		{"a page", LiteLLM, "<html>", "not JSON"},
		{"cut", LiteLLM, `{"a": {"mode": "chat"`, "not JSON"},
		{"cut in a list", OpenRouter, `{"data": [`, "not JSON"},
		{"two texts", LiteLLM, "{} {}", "after its end"},
		{"deep", LiteLLM, strings.Repeat("[", 100), "deeper than 32"},
		{"damaged gzip", LiteLLM, "\x1f\x8bnothing", "gzip"},
		{"bomb", LiteLLM, bomb.String(), "larger than 64 MiB"},
		{"a list for litellm", LiteLLM, "[]", "model_prices_and_context_window.json"},
		{"numbers for litellm", LiteLLM, `{"a": 1}`, "model_prices_and_context_window.json"},
		{"an error for models.dev", ModelsDev, `{"error": "gone"}`, "api.json"},
		{"a list for models.dev", ModelsDev, `[]`, "api.json"},
		{"an error for openrouter", OpenRouter, `{"error": {}}`, "/api/v1/models"},
		{"a list for portkey", Portkey, `[]`, "pricing/"},
		{"no files for portkey", Portkey, `{"a": 1}`, "pricing/"},
		{"one file without its name", Portkey, one, "portkey:NAME"},
		{"all files with a name", "portkey:perch", `{"perch": ` + one + `}`, "one file of pricing/"},
		{"an object for genai-prices", GenaiPrices, `{}`, "data.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := Read(c.source, strings.NewReader(c.text))
			if err == nil || l != nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, list %v; want one that says %q", err, l, c.says)
			}
		})
	}
}

// TestParseManyValues: a text of more values than is allowed is refused, not kept.
func TestParseManyValues(t *testing.T) {
	text := []byte(`{"a": [1, 2, {"b": null}]}`) // six values
	if _, err := parse(text, 6); err != nil {
		t.Error(err)
	}
	if _, err := parse(text, 5); err == nil || !strings.Contains(err.Error(), "more than 5 values") {
		t.Errorf("error %v", err)
	}
}

// TestPricesAnswerOnTerms: what was read prices a turn as the list says.
func TestPricesAnswerOnTerms(t *testing.T) {
	heron := rowOf(t, readFile(t, LiteLLM, "litellm"), "heron-2-large")
	night := rowOf(t, readFile(t, GenaiPrices, "genai"), "perch/wren-night")
	dated := rowOf(t, readFile(t, GenaiPrices, "genai"), "perch/wren-dated")
	at := func(text string) time.Time {
		day, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return day
	}
	for _, c := range []struct {
		name  string
		row   *Row
		terms pricing.Terms
		want  string
	}{
		{"at the threshold", heron, pricing.Terms{Prompt: 272_000}, "5"},
		{"above the threshold", heron, pricing.Terms{Prompt: 272_001}, "10"},
		{"flex above the threshold", heron, pricing.Terms{Prompt: 272_001, Tier: "flex"}, "5"},
		{"priority above the threshold is not stated", heron, pricing.Terms{Prompt: 272_001, Tier: "priority"}, "unknown"},
		{"batch", heron, pricing.Terms{Tier: "batch"}, "2.5"},
		{"fast in the United States", heron, pricing.Terms{Speed: "fast", Region: "us"}, "33"},
		{"before the window", night, pricing.Terms{At: at("2026-01-05T00:29:59Z")}, "0.135"},
		{"as the window opens", night, pricing.Terms{At: at("2026-01-05T00:30:00Z")}, "0.27"},
		{"as the window closes", night, pricing.Terms{At: at("2026-01-05T16:30:00Z")}, "0.135"},
		{"before the first day", dated, pricing.Terms{At: at("2026-02-28T23:59:59Z")}, "2"},
		{"between the days", dated, pricing.Terms{At: at("2026-08-31T23:59:59Z")}, "2.5"},
		{"on the last day", dated, pricing.Terms{At: at("2026-09-01T00:00:00Z")}, "3"},
	} {
		if got := c.row.Price.At(c.terms).Input.String(); got != c.want {
			t.Errorf("%s: input %s, want %s", c.name, got, c.want)
		}
	}
}

func rowOf(t testing.TB, l *List, key string) *Row {
	t.Helper()
	i := slices.IndexFunc(l.Rows, func(r Row) bool { return r.Key == key })
	if i < 0 {
		t.Fatalf("no row %s in %s", key, l.Source)
	}
	return &l.Rows[i]
}

// TestReadTwiceTheSame: nothing depends on the order of a map.
func TestReadTwiceTheSame(t *testing.T) {
	for _, g := range golden {
		first := show(readFile(t, g.source, g.file))
		for range 5 {
			if show(readFile(t, g.source, g.file)) != first {
				t.Fatalf("%s was read differently", g.file)
			}
		}
	}
}
