package pricelist

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestSharedSlipsAreFlagged: every slip and disagreement that the comparison page
// names (multi-vendor-models.md A8, and the two of A1 that concern a price list),
// in the real lists.
func TestSharedSlipsAreFlagged(t *testing.T) {
	lists := readShared(t)
	Check(lists...)
	by := map[string]*List{}
	for _, l := range lists {
		by[l.Source] = l
	}
	for _, c := range []struct {
		name, list, key string
		code            Code
	}{
		{"W&B a hundred thousand times", LiteLLM, "wandb/meta-llama/Llama-3.3-70B-Instruct", UnitSlip},
		{"Together MiniMax-M2.5 a thousand times", Portkey, "together-ai#MiniMaxAI/MiniMax-M2.5", UnitSlip},
		{"MiniMax M2.7 a hundredth", Portkey, "minimax#MiniMax-M2.7", UnitSlip},
		{"Together qwen3.5-397b ten times", Portkey, "together-ai#Qwen/Qwen3.5-397B-A17B", UnitSlip},
		{"Azure MiniMax-M2.5 ten times", Portkey, "azure-ai#accounts/fireworks/models/minimax-m2p5", UnitSlip},
		{"Together Qwen3-235B lost its decimal point", LiteLLM, "together_ai/Qwen/Qwen3-235B-A22B-Instruct-2507-tput", LostDecimal},
		{"Azure llama-4-maverick swapped", LiteLLM, "azure_ai/Llama-4-Maverick-17B-128E-Instruct-FP8", Swapped},
		{"Azure gpt-5 rounded", ModelsDev, "azure/gpt-5", RoundedRead},
		{"Azure gpt-5-mini rounded", ModelsDev, "azure/gpt-5-mini", RoundedRead},
		{"Azure gpt-5.2 stale read", ModelsDev, "azure/gpt-5.2", StaleRead},
		{"Vertex gemini-2.5-flash stale read", ModelsDev, "google-vertex/gemini-2.5-flash", StaleRead},
		{"Fireworks glm-5.2 stale read", ModelsDev, "fireworks-ai/accounts/fireworks/models/glm-5p2", StaleRead},
		{"DeepInfra llama-3.3-70b stale price", LiteLLM, "deepinfra/meta-llama/Llama-3.3-70B-Instruct", StalePrice},
		{"OpenAI o3 dated price", LiteLLM, "o3", DatedPrice},
		{"cache_input for cache_read", ModelsDev, "siliconflow-cn/zai-org/GLM-5.2", MisspeltKey},
		{"cached_input for cache_read", ModelsDev, "minimax-cn/MiniMax-M2.1", MisspeltKey},
		{"Azure deepseek-v3.1 read 0", Portkey, "azure-ai#DeepSeek-V3.1", ZeroCache},
		{"Azure llama-4-maverick read 0", Portkey, "azure-ai#Llama-4-Maverick-17B-128E-Instruct-FP8", ZeroCache},
		{"DeepSeek write 0", LiteLLM, "deepseek/deepseek-chat", ZeroCache},
		{"claude-sonnet-4.5 has no tier", ModelsDev, "anthropic/claude-sonnet-4-5", TierMissing},
		{"Novita mimo-v2-flash read above input", ModelsDev, "novita-ai/xiaomimimo/mimo-v2-flash", ReadAboveInput},
		{"DigitalOcean claude-haiku-4.5 read at input", ModelsDev, "digitalocean/anthropic-claude-4.5-haiku", ReadEqualsInput},
	} {
		t.Run(c.name, func(t *testing.T) {
			if row := rowOf(t, by[c.list], c.key); !row.Has(c.code) {
				t.Errorf("%s has only %v", c.key, row.Flags)
			}
		})
	}
	t.Run("13 of 16 rows of W&B", func(t *testing.T) {
		slips, rows := 0, 0
		for i := range by[LiteLLM].Rows {
			if row := &by[LiteLLM].Rows[i]; row.Vendor == "wandb" {
				rows++
				if row.Has(UnitSlip) {
					slips++
				}
			}
		}
		if slips != 13 || rows != 16 {
			t.Errorf("%d of %d", slips, rows)
		}
	})
	t.Run("misspelt keys of models.dev", func(t *testing.T) {
		n := map[string]int{}
		for _, row := range by[ModelsDev].Rows {
			for _, f := range row.Flags {
				if f.Code == MisspeltKey {
					n[f.Field]++
				}
			}
		}
		// the page counts 9, 7 and 5 files; of the coding plans every price is 0, so they
		// are skipped as free
		if n["cache_input"] != 9 || n["cached_input"] != 5 || n["cached_write"] != 5 && n["cached_write"] != 3 {
			t.Errorf("misspelt keys %v", n)
		}
	})
}

// TestSharedDisagreements: the disagreements that the page names, with both figures.
func TestSharedDisagreements(t *testing.T) {
	lists := readShared(t)
	all := Compare(lists...)
	for _, c := range []struct {
		model, vendor string
		kind          Code
		figures       string // list input/output/read, those that the page names
	}{
		{"minimax/minimax-m2.5", "together", UnitSlip, "models.dev 0.3/1.2/0.06, portkey 300/1200/unknown"},
		{"minimax/minimax-m2.7", "minimax", UnitSlip, "models.dev 0.3/1.2/0.06, portkey 0.003/0.012/0.0003"},
		{"qwen/qwen3.5-397b-a17b", "together", UnitSlip, "litellm 0.6/3.6/unknown, portkey 6/36/unknown"},
		{"meta/llama-3.3-70b-instruct", "wandb", UnitSlip, "litellm 71000/71000/unknown, models.dev 0.71/0.71/unknown"},
		{"qwen/qwen3-235b-a22b-instruct-2507", "together", LostDecimal, "litellm 0.2/6/unknown, models.dev 0.2/0.6/unknown"},
		{"meta/llama-4-maverick", "azure", Swapped, "litellm 1.41/0.35/unknown, portkey 0.35/1.41/unknown"},
		{"openai/gpt-5", "azure", RoundedRead, "litellm 1.25/10/0.125, models.dev 1.25/10/0.13"},
		{"openai/gpt-5-mini", "azure", RoundedRead, "litellm 0.25/2/0.025, models.dev 0.25/2/0.03"},
		{"openai/gpt-5.2", "azure", StaleRead, "litellm 1.75/14/0.175, models.dev 1.75/14/0.125"},
		{"google/gemini-2.5-flash", "vertex", StaleRead, "litellm 0.3/2.5/0.03, models.dev 0.3/2.5/0.075"},
		{"zai/glm-5.2", "fireworks", StaleRead, "litellm 1.4/4.4/0.14, models.dev 1.4/4.4/0.26"},
		{"meta/llama-3.3-70b-instruct", "deepinfra", StalePrice, "litellm 0.23/0.4/unknown, models.dev 0.1/0.32/unknown"},
		{"anthropic/claude-sonnet-4.5", "anthropic", TierMissing, "litellm 3/15/0.3, models.dev 3/15/0.3"},
		{"openai/o3", "openai", DatedPrice, "litellm 2/8/0.5, genai-prices 2/8/0.5"},
	} {
		t.Run(c.model+" at "+c.vendor, func(t *testing.T) {
			i := slices.IndexFunc(all, func(d Disagreement) bool { return d.Model == c.model && d.Vendor == c.vendor })
			if i < 0 {
				t.Fatal("the lists agree")
			}
			if !all[i].Is(c.kind) {
				t.Errorf("kinds %v, want %s", all[i].Kinds, c.kind)
			}
			var got []string
			for _, f := range all[i].Figures {
				got = append(got, fmt.Sprintf("%s %s/%s/%s", f.List, f.Card.Input, f.Card.Output, f.Card.CacheRead))
			}
			for _, want := range strings.Split(c.figures, ", ") {
				if !slices.Contains(got, want) {
					t.Errorf("figures %v lack %s", got, want)
				}
			}
		})
	}
}

// TestSharedCounts: what the lists hold.
func TestSharedCounts(t *testing.T) {
	lists := readShared(t)
	// every entry is a row or a skip; 82 of Portkey's are upper halves of another
	entries := map[string]int{LiteLLM: 2986, ModelsDev: 5276, OpenRouter: 336, Portkey: 3230 - 82, GenaiPrices: 1466}
	Check(lists...)
	for _, l := range lists {
		if n := len(l.Rows) + len(l.Skipped); n != entries[l.Source] {
			t.Errorf("%s: %d rows and skips, want %d", l.Source, n, entries[l.Source])
		}
		skipped, flagged := map[Reason]int{}, map[Code]int{}
		for _, s := range l.Skipped {
			skipped[s.Reason]++
		}
		var input, output, read int
		for i := range l.Rows {
			for _, code := range l.Rows[i].codes() {
				flagged[code]++
			}
			card := l.Rows[i].Price[0].Card
			input, output, read = input+unknown(card.Input.Known()), output+unknown(card.Output.Known()), read+unknown(card.CacheRead.Known())
		}
		t.Logf("%s: %d rows, %d routes, %d skipped %v; unknown input %d, output %d, read %d; flagged %v",
			l.Source, len(l.Rows), len(l.Routes()), len(l.Skipped), skipped, input, output, read, flagged)
	}
	yard := map[string]bool{}
	for _, y := range readYard(t) {
		for list, s := range y.Seen {
			for _, l := range lists {
				if i := slices.IndexFunc(l.Rows, func(r Row) bool { return l.Source == list && r.Key == yardKey(list, s.Source) }); i >= 0 {
					yard[l.Rows[i].Model+" "+l.Rows[i].Vendor] = true
				}
			}
		}
	}
	all, shared := compare(lists)
	prices, onPage, tiers := 0, 0, 0
	for _, d := range all {
		if slices.ContainsFunc(d.Fields, func(f string) bool { return f == "input" || f == "output" || f == "cache_read" }) {
			prices++
			if yard[d.Model+" "+d.Vendor] {
				onPage++
			}
		}
		if d.Is(TierMissing) || d.Is(TiersDiffer) {
			tiers++
		}
	}
	t.Logf("%d shared pairs, %d disagree, %d of them on input, output or read, %d on tiers; of the page's %d pairs %d disagree on input, output or read",
		shared, len(all), prices, tiers, len(yard), onPage)
	if onPage < 44 {
		t.Errorf("only %d of the page's pairs disagree; its own figures have 44", onPage)
	}
}

func unknown(known bool) int {
	if known {
		return 0
	}
	return 1
}

// codes are the row's codes, each once.
func (r *Row) codes() []Code {
	var all []Code
	for _, f := range r.Flags {
		if !slices.Contains(all, f.Code) {
			all = append(all, f.Code)
		}
	}
	return all
}
