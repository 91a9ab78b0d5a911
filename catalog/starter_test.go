package catalog_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// shop is the starter catalog with the questions that its tests ask.
type shop struct {
	testing.TB
	*catalog.Catalog
}

func starterCatalog(t testing.TB) shop {
	t.Helper()
	c, err := catalog.Parse("starter.yaml", []byte(catalog.Starter()))
	if err != nil {
		t.Fatal(err)
	}
	return shop{t, c}
}

// summer is a day on which DeepSeek's old flat prices held, autumn one of today's.
var (
	summer = moment("2026-08-01T12:00:00Z")
	autumn = moment("2026-11-29T12:00:00Z") // a Sunday
)

func moment(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at
}

func (s shop) route(model, vendor string) *catalog.Route {
	s.Helper()
	target, ok := s.Resolve(model)
	if !ok {
		s.Fatalf("there is no model %s", model)
	}
	for _, r := range target.Models[0].Routes {
		if r.Vendor.Name == vendor {
			return r
		}
	}
	s.Fatalf("%s has no route at %s", model, vendor)
	return nil
}

func (s shop) card(model, vendor string, terms pricing.Terms) pricing.Card {
	s.Helper()
	return s.route(model, vendor).Price.At(terms)
}

// verdict is the gate for a pin at a vendor against these rivals, as a turn of
// these terms would have it.
func (s shop) verdict(model, pinned string, terms pricing.Terms, rivals ...string) pricing.Verdict {
	s.Helper()
	var all []pricing.Rival
	for _, name := range rivals {
		if !slices.ContainsFunc(s.route(model, name).Vendor.API, s.route(model, pinned).Vendor.Speaks) {
			s.Fatalf("%s and %s speak no common dialect", pinned, name)
		}
		all = append(all, pricing.Rival{Vendor: name, Input: s.card(model, name, terms).Input})
	}
	return pricing.ReadPays(s.card(model, pinned, terms), all)
}

// is compares a rate with its text; "" is unknown.
func (s shop) is(what string, got pricing.Rate, want string) {
	s.Helper()
	if text := got.String(); text != want && (want != "" || got.Known()) {
		s.Errorf("%s is %s, want %s", what, text, want)
	}
}

func TestTheStarterHoldsWhatItPromises(t *testing.T) {
	s := starterCatalog(t)
	if first, _, _ := strings.Cut(catalog.Starter(), "\n"); first != "# yaml-language-server: $schema=./catalog.schema.json" {
		t.Errorf("the first line is %q", first)
	}
	if n := len(catalog.Starter()); n > 256<<10 {
		t.Errorf("%d bytes", n)
	}
	routes, reads, served := 0, 0, map[string]bool{}
	for _, m := range s.Models {
		for _, r := range m.Routes {
			routes++
			served[r.Vendor.Name] = true
			if len(r.Price) == 0 {
				t.Errorf("%s at %s has no price", m.Name, r.Vendor.Name)
			}
			for i := range r.Price {
				sheet := &r.Price[i]
				if sheet.AsOf == "" || !strings.HasPrefix(sheet.Source, "https://") {
					t.Errorf("%s at %s: as_of %q, source %q", m.Name, r.Vendor.Name, sheet.AsOf, sheet.Source)
				}
			}
			card := r.Price.At(pricing.Terms{At: autumn})
			if !card.Input.Known() || !card.Output.Known() {
				t.Errorf("%s at %s has no price now", m.Name, r.Vendor.Name)
			}
			if card.CacheRead.Known() {
				reads++
				if !card.CacheRead.Below(card.Input) {
					t.Errorf("%s at %s: reads cost %s, input %s", m.Name, r.Vendor.Name, card.CacheRead, card.Input)
				}
			}
		}
	}
	if len(s.Models) < 40 || len(served) < 15 || len(served) != len(s.Vendors) {
		t.Errorf("%d models, %d vendors, %d of them with a route", len(s.Models), len(s.Vendors), len(served))
	}
	t.Logf("%d models, %d vendors, %d routes, cache_read known on %d", len(s.Models), len(s.Vendors), routes, reads)
	for _, v := range s.Vendors {
		if len(v.Credentials) == 0 {
			t.Errorf("vendor %s would be called without a key", v.Name)
		}
	}
	for _, w := range s.Warnings {
		t.Errorf("a warning: %s", w)
	}
}

// Where a rival's fresh input is as cheap as a warm read, the pin is not promoted.
func TestStarterReadsDearerThanARival(t *testing.T) {
	s := starterCatalog(t)
	now := pricing.Terms{Prompt: 20_000, At: autumn}
	for _, c := range []struct{ model, pinned, rivals string }{
		{"kimi-k2.6", "fireworks novita baseten moonshot cloudflare deepinfra together siliconflow inceptron", "vultr"},
		{"deepseek-r1-0528", "io-net", "deepinfra novita nebius"},
		{"kimi-k2-instruct-0905", "groq", "deepinfra io-net"},
		{"kimi-k2-instruct-0905", "deepinfra", "io-net"},
		{"gpt-oss-120b", "groq", "deepinfra io-net novita siliconflow"},
		{"gpt-oss-20b", "groq fireworks", "deepinfra io-net"},
		{"deepseek-v3.2", "friendli", "crof"},
		{"glm-4.7", "fireworks", "crof"},
		{"glm-5", "friendli", "crof"},
	} {
		for pinned := range strings.FieldsSeq(c.pinned) {
			if v := s.verdict(c.model, pinned, now); !v.Pays {
				t.Errorf("%s at %s alone: %s", c.model, pinned, v.Reason)
			}
			for rival := range strings.FieldsSeq(c.rivals) {
				if v := s.verdict(c.model, pinned, now, rival); v.Reason != pricing.NotBelowRivalInput {
					t.Errorf("%s warm at %s, %s beside it: pays %t %s", c.model, pinned, rival, v.Pays, v.Reason)
				}
				if r := s.route(c.model, rival); r.Price.At(now).CacheRead.Known() {
					if v := s.verdict(c.model, rival, now, pinned); !v.Pays {
						t.Errorf("%s warm at %s, %s beside it: %s", c.model, rival, pinned, v.Reason)
					}
				}
			}
		}
	}
	if v := s.verdict("kimi-k2.6", "fireworks", now, "moonshot", "deepinfra", "together", "crof"); !v.Pays {
		t.Errorf("kimi-k2.6 warm at fireworks without vultr: %s", v.Reason)
	}
}

// The prompt says stay; a long answer says move. The gate, which looks at prompts
// only, pays in all of them.
func TestStarterOutputReversesTheAnswer(t *testing.T) {
	s := starterCatalog(t)
	at := pricing.Terms{Prompt: 20_000, At: summer}
	for _, c := range []struct{ model, from, to, want string }{
		{"deepseek-v4-pro", "fireworks", "deepseek", "0.111"},
		{"deepseek-v4-pro", "together", "deepseek", "0.090"},
		{"deepseek-v3.2", "friendli", "deepinfra", "0.009"},
		{"gpt-oss-120b", "fireworks", "deepinfra", "0.059"},
		{"gpt-oss-20b", "groq", "novita", "0.017"},
		{"glm-5", "friendli", "deepinfra", "0.089"},
	} {
		if v := s.verdict(c.model, c.from, at, c.to); !v.Pays {
			t.Errorf("%s from %s to %s: the gate says %s", c.model, c.from, c.to, v.Reason)
		}
		got := pricing.MoveOutput(s.card(c.model, c.from, at), s.card(c.model, c.to, at))
		if got.When != pricing.Above || got.At.FloatString(3) != c.want {
			t.Errorf("%s from %s to %s: %s %v, want above %s", c.model, c.from, c.to, got.When, got.At, c.want)
		}
	}
}

// One turn says stay, the rest of the session says move. The loads are an agent's,
// a chat's and a long answer's; 0 is never.
func TestStarterTurnsUntilMovingPays(t *testing.T) {
	s := starterCatalog(t)
	loads := [3]pricing.Load{{Warm: 100_000, New: 700, Output: 220}, {Warm: 10_000, New: 2000, Output: 350}, {Warm: 4000, New: 1000, Output: 4000}}
	for _, c := range []struct {
		model, from, to string
		want            [3]int64
	}{
		{"deepseek-v4-pro", "fireworks", "deepseek", [3]int64{3, 1, 1}},
		{"deepseek-v4-pro", "deepinfra", "deepseek", [3]int64{5, 2, 1}},
		{"deepseek-v4-pro", "together", "deepinfra", [3]int64{12, 6, 2}},
		{"glm-4.7", "fireworks", "deepinfra", [3]int64{2, 2, 1}},
		{"glm-5", "friendli", "deepinfra", [3]int64{2, 1, 1}},
		{"glm-5.2", "neuralwatt", "deepinfra", [3]int64{5, 3, 1}},
		{"kimi-k2.5", "baseten", "hpc-ai", [3]int64{4, 2, 1}},
		{"kimi-k2.6", "together", "deepinfra", [3]int64{11, 4, 1}},
		{"qwen3.5-397b-a17b", "deepinfra", "nebius", [3]int64{5, 9, 0}},
		{"claude-sonnet-4.6", "bedrock", "anthropic", [3]int64{0, 0, 0}},
		{"gpt-5.4", "bedrock-openai", "openai", [3]int64{75, 18, 2}},
	} {
		for i, l := range loads {
			terms := pricing.Terms{Prompt: l.Warm + l.New, At: summer}
			turns, ok := pricing.MoveTurns(s.card(c.model, c.from, terms), s.card(c.model, c.to, terms), l).Least()
			if !ok {
				turns = new(big.Int)
			}
			if turns.Int64() != c.want[i] {
				t.Errorf("%s from %s to %s, load %d: from %s turns on, want %d", c.model, c.from, c.to, i, turns, c.want[i])
			}
		}
	}
}

// A read price that nobody states is unknown: no promotion, and a bill that says so.
func TestStarterReadsThatNobodyStates(t *testing.T) {
	s := starterCatalog(t)
	now := pricing.Terms{Prompt: 20_000, At: autumn}
	for _, c := range []struct{ model, vendors string }{
		{"qwen3-235b-a22b-instruct-2507", "deepinfra novita nebius together wandb friendli scaleway fireworks"},
		{"qwen3-coder-480b-a35b", "alibaba deepinfra novita together siliconflow nebius fireworks wandb"},
		{"llama-3.3-70b-instruct", "groq together deepinfra vertex azure"},
		{"llama-4-maverick", "groq together deepinfra vertex azure"},
		{"gpt-oss-120b", "bedrock-openai together deepinfra novita siliconflow baseten cerebras cloudflare azure"},
		{"kimi-k2.6", "azure digitalocean vultr"},
		{"deepseek-v3.1", "azure together siliconflow baseten"},
		{"glm-5", "bedrock-openai together siliconflow"},
		{"claude-sonnet-4.6", "deepinfra"},
	} {
		for vendor := range strings.FieldsSeq(c.vendors) {
			if v := s.verdict(c.model, vendor, now); v.Reason != pricing.PriceUnknown {
				t.Errorf("%s at %s: pays %t %s", c.model, vendor, v.Pays, v.Reason)
			}
			cost := s.card(c.model, vendor, now).Cost(pricing.Usage{CacheRead: 10_000, Input: 1})
			if !cost.Known || !cost.NoCachePrice {
				t.Errorf("%s at %s: a read costs %s, flagged %t", c.model, vendor, cost.Total, cost.NoCachePrice)
			}
		}
	}
}

// Above a threshold another vendor is the cheapest.
func TestStarterTiersTurnTheOrderRound(t *testing.T) {
	s := starterCatalog(t)
	for _, c := range []struct {
		model, a, b  string
		above        int64
		below, over  [2]string // input at a and at b
		readA, readB [2]string // below and over
	}{
		{"qwen3-max", "alibaba", "deepinfra", 32_000, [2]string{"1.2", "1.2"}, [2]string{"2.4", "1.2"}, [2]string{"0.12", "0.24"}, [2]string{"0.24", "0.24"}},
		{"qwen3-max", "alibaba", "deepinfra", 128_000, [2]string{"2.4", "1.2"}, [2]string{"3", "1.2"}, [2]string{"0.24", "0.3"}, [2]string{"0.24", "0.24"}},
		{"qwen3.6-plus", "alibaba", "fireworks", 256_000, [2]string{"0.5", "0.5"}, [2]string{"2", "0.5"}, [2]string{"0.05", "0.2"}, [2]string{"0.1", "0.1"}},
		{"gpt-5.4", "openai", "bedrock-openai", 272_000, [2]string{"2.5", "2.75"}, [2]string{"5", "2.75"}, [2]string{"0.25", "0.5"}, [2]string{"0.275", "0.275"}},
		{"gpt-5.5", "azure", "bedrock-openai", 272_000, [2]string{"5", "5.5"}, [2]string{"10", "5.5"}, [2]string{"0.5", "1"}, [2]string{"0.55", "0.55"}},
		{"gemini-2.5-pro", "gemini", "deepinfra", 200_000, [2]string{"1.25", "1.25"}, [2]string{"2.5", "1.25"}, [2]string{"0.125", "0.25"}, [2]string{"", ""}},
		{"gemini-2.5-pro", "vertex", "deepinfra", 200_000, [2]string{"1.25", "1.25"}, [2]string{"2.5", "1.25"}, [2]string{"0.125", "0.25"}, [2]string{"", ""}},
		{"claude-sonnet-4.5", "anthropic", "bedrock", 200_000, [2]string{"3", "3"}, [2]string{"6", "6"}, [2]string{"0.3", "0.6"}, [2]string{"0.3", "0.6"}},
		{"minimax-m3", "minimax", "fireworks", 512_000, [2]string{"0.3", "0.3"}, [2]string{"0.6", "0.3"}, [2]string{"0.06", "0.12"}, [2]string{"0.06", "0.06"}},
		{"grok-4.3", "xai", "xai", 200_000, [2]string{"1.25", "1.25"}, [2]string{"2.5", "2.5"}, [2]string{"0.2", "0.4"}, [2]string{"0.2", "0.4"}},
		{"claude-haiku-5.5", "anthropic", "azure-claude", 100_000, [2]string{"0.1", "0.1"}, [2]string{"0.5", "0.5"}, [2]string{"0.01", "0.05"}, [2]string{"0.01", "0.05"}},
		{"claude-opus-4.8", "anthropic", "vertex-claude", 200_000, [2]string{"5", "5"}, [2]string{"5", "5"}, [2]string{"0.5", "0.5"}, [2]string{"0.5", "0.5"}},
	} {
		for i, want := range [2][2]string{c.below, c.over} {
			terms := pricing.Terms{Prompt: c.above + int64(i), At: autumn}
			a, b := s.card(c.model, c.a, terms), s.card(c.model, c.b, terms)
			s.is(c.model+" input at "+c.a, a.Input, want[0])
			s.is(c.model+" input at "+c.b, b.Input, want[1])
			s.is(c.model+" reads at "+c.a, a.CacheRead, c.readA[i])
			s.is(c.model+" reads at "+c.b, b.CacheRead, c.readB[i])
		}
	}
}

// DeepSeek's price follows the clock, and nobody else's does.
func TestStarterPricesByTheHour(t *testing.T) {
	s := starterCatalog(t)
	for _, c := range []struct{ at, input, read, output string }{
		{"2026-08-16T15:59:59Z", "0.435", "0.003625", "0.87"},
		{"2026-08-16T16:00:00Z", "0.66", "0.022", "1.98"},
		{"2026-11-30T00:59:59Z", "0.66", "0.022", "1.98"},
		{"2026-11-30T01:00:00Z", "1.32", "0.044", "3.96"},
		{"2026-11-30T04:00:00Z", "0.66", "0.022", "1.98"},
		{"2026-11-30T06:00:00Z", "1.32", "0.044", "3.96"},
		{"2026-11-30T10:00:00Z", "0.66", "0.022", "1.98"},
		{"2026-11-29T01:00:00Z", "0.66", "0.022", "1.98"}, // a Sunday
	} {
		card := s.card("deepseek-v4-pro", "deepseek", pricing.Terms{At: moment(c.at)})
		s.is("input at "+c.at, card.Input, c.input)
		s.is("reads at "+c.at, card.CacheRead, c.read)
		s.is("output at "+c.at, card.Output, c.output)
	}
	for _, c := range []struct{ from, at, want string }{
		{"deepinfra", "2026-11-29T12:00:00Z", "0.90"},
		{"together", "2026-11-29T12:00:00Z", "0.31"},
		{"deepinfra", "2026-11-30T02:00:00Z", ""},
		{"together", "2026-11-30T02:00:00Z", ""},
	} {
		terms := pricing.Terms{Prompt: 20_000, At: moment(c.at)}
		got := pricing.MoveOutput(s.card("deepseek-v4-pro", c.from, terms), s.card("deepseek-v4-pro", "deepseek", terms))
		if c.want == "" && got.When != pricing.Never || c.want != "" && (got.When != pricing.Above || got.At.FloatString(2) != c.want) {
			t.Errorf("from %s at %s: %s %v, want above %q", c.from, c.at, got.When, got.At, c.want)
		}
		if v := s.verdict("deepseek-v4-pro", c.from, terms, "deepseek"); !v.Pays {
			t.Errorf("warm at %s at %s: %s", c.from, c.at, v.Reason)
		}
	}
}

// Prices that changed, or were to change and did not.
func TestStarterPricesOfADate(t *testing.T) {
	s := starterCatalog(t)
	for _, c := range []struct{ model, vendor, at, input, read string }{
		{"claude-sonnet-5", "anthropic", "2026-08-31T23:59:59Z", "2", "0.2"},
		{"claude-sonnet-5", "anthropic", "2026-09-01T00:00:00Z", "2", "0.2"},
		{"claude-sonnet-5.5", "anthropic", "2026-10-06T23:59:59Z", "2", "0.2"},
		{"claude-sonnet-5.5", "anthropic", "2026-10-07T00:00:00Z", "2", "0.1"},
		{"deepseek-v4-flash", "deepseek", "2026-08-16T15:59:59Z", "0.14", "0.0028"},
		{"deepseek-v4-flash", "deepseek", "2026-08-16T16:00:00Z", "0.22", "0.007"},
		{"deepseek-v4-flash", "deepseek", "2026-08-17T01:00:00Z", "0.44", "0.014"},
		{"deepseek-v4-flash", "deepseek", "2026-09-10T03:59:59Z", "0.44", "0.014"},
		{"deepseek-v4-flash", "deepseek", "2026-09-10T04:00:00Z", "0.15", "0.003"},
		{"deepseek-v4-flash", "deepseek", "2026-09-10T06:00:00Z", "0.3", "0.006"},
	} {
		card := s.card(c.model, c.vendor, pricing.Terms{At: moment(c.at)})
		s.is(c.model+" input at "+c.at, card.Input, c.input)
		s.is(c.model+" reads at "+c.at, card.CacheRead, c.read)
	}
}

// What a write costs decides how often a prefix must be read again.
func TestStarterWritesPayBack(t *testing.T) {
	s := starterCatalog(t)
	now := pricing.Terms{Prompt: 20_000, At: autumn}
	for _, c := range []struct {
		model, vendor, write, point string
		reads                       int64
	}{
		{"claude-sonnet-4.6", "anthropic", "3.75", "0.28", 1},
		{"claude-opus-5", "bedrock", "6.25", "0.28", 1},
		{"gpt-5.6", "openai", "6.25", "0.28", 1},
		{"deepseek-v3.2", "nebius", "0.375", "0.28", 1},
		{"deepseek-r1-0528", "io-net", "4", "2.00", 2},
		{"qwen3.6-plus", "alibaba", "0.625", "0.28", 1},
	} {
		card := s.card(c.model, c.vendor, now)
		s.is(c.model+" writes at "+c.vendor, card.CacheWrite5m, c.write)
		got := card.PayBack(card.CacheWrite5m)
		reads, ok := got.Reached()
		if !ok || got.At.FloatString(2) != c.point || reads.Int64() != c.reads {
			t.Errorf("%s at %s: %s %v, want %s and %d reads", c.model, c.vendor, got.When, got.At, c.point, c.reads)
		}
	}
	hour := s.card("claude-sonnet-4.6", "anthropic", now)
	if reads, ok := hour.PayBack(hour.CacheWrite1h).Reached(); !ok || reads.Int64() != 2 {
		t.Errorf("an hour's write is paid back after %s reads, want 2", reads)
	}
	s.is("gpt-5.6 writes above 272,000 tokens", s.card("gpt-5.6", "openai", pricing.Terms{Prompt: 272_001, At: autumn}).CacheWrite5m, "12.5")
	s.is("gpt-5.5 writes", s.card("gpt-5.5", "openai", now).CacheWrite5m, "")
	s.is("gemini-2.5-flash writes at vertex", s.card("gemini-2.5-flash", "vertex", now).CacheWrite5m, "")
	implicit := now
	implicit.Implicit = true
	s.is("qwen3.6-plus reads by markers", s.card("qwen3.6-plus", "alibaba", now).CacheRead, "0.05")
	s.is("qwen3.6-plus reads without", s.card("qwen3.6-plus", "alibaba", implicit).CacheRead, "0.1")
	free, _ := s.card("claude-sonnet-4.6", "deepinfra", now).Cold(pricing.Load{New: 20_000})
	paid, _ := s.card("claude-sonnet-4.6", "anthropic", now).Cold(pricing.Load{New: 20_000})
	if !free.LessThan(paid) {
		t.Errorf("a cold start costs %s without a write fee and %s with one", free, paid)
	}
}

// Where the public lists disagree, or one has a slip, this is what was taken.
func TestStarterTakesTheRightPrice(t *testing.T) {
	s := starterCatalog(t)
	now := pricing.Terms{Prompt: 20_000, At: autumn}
	for _, c := range []struct{ model, vendor, input, output, read string }{
		{"llama-3.3-70b-instruct", "wandb", "0.71", "0.71", ""},
		{"deepseek-r1-0528", "wandb", "1.35", "5.4", ""},
		{"deepseek-r1-0528", "deepinfra", "0.5", "2.15", "0.4"},
		{"minimax-m2.5", "together", "0.3", "1.2", "0.06"},
		{"minimax-m2.7", "minimax", "0.3", "1.2", "0.06"},
		{"qwen3.5-397b-a17b", "together", "0.6", "3.6", ""},
		{"qwen3-235b-a22b-instruct-2507", "together", "0.2", "0.6", ""},
		{"llama-4-maverick", "azure", "0.35", "1.41", ""},
		{"gpt-5", "azure", "1.25", "10", "0.125"},
		{"gpt-5-mini", "azure", "0.25", "2", "0.025"},
		{"gpt-5.2", "azure", "1.75", "14", "0.175"},
		{"gemini-2.5-flash", "vertex", "0.3", "2.5", "0.03"},
		{"glm-5.2", "fireworks", "1.4", "4.4", "0.14"},
		{"llama-3.3-70b-instruct", "deepinfra", "0.1", "0.32", ""},
		{"o3", "openai", "2", "8", "0.5"},
		{"deepseek-v3.1", "azure", "1.23", "4.94", ""},
		{"gpt-oss-120b", "azure", "0.15", "0.6", ""},
	} {
		card := s.card(c.model, c.vendor, now)
		s.is(c.model+" input at "+c.vendor, card.Input, c.input)
		s.is(c.model+" output at "+c.vendor, card.Output, c.output)
		s.is(c.model+" reads at "+c.vendor, card.CacheRead, c.read)
	}
}

func TestStarterSurchargesAndServiceTiers(t *testing.T) {
	s := starterCatalog(t)
	s.is("opus 5, fast", s.card("claude-opus-5", "anthropic", pricing.Terms{At: autumn, Speed: "fast"}).Input, "10")
	s.is("opus 5, fast, in the US", s.card("claude-opus-5", "anthropic", pricing.Terms{At: autumn, Speed: "fast", Region: "us"}).CacheRead, "1.1")
	s.is("sonnet 5 in the US", s.card("claude-sonnet-5", "anthropic", pricing.Terms{At: autumn, Region: "us"}).Output, "11")
	s.is("gpt-5.6, flex", s.card("gpt-5.6", "openai", pricing.Terms{At: autumn, Tier: "flex"}).CacheRead, "0.25")
	s.is("gpt-5.6, flex, long", s.card("gpt-5.6", "openai", pricing.Terms{At: autumn, Tier: "flex", Prompt: 272_001}).Input, "5")
	s.is("gpt-5.4, flex, long: nobody says", s.card("gpt-5.4", "openai", pricing.Terms{At: autumn, Tier: "flex", Prompt: 272_001}).Input, "")
}

// One iteration parses the whole starter catalog.
func BenchmarkStarter(b *testing.B) {
	starterCatalog(b)
	text := []byte(catalog.Starter())
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := catalog.Parse("starter.yaml", text); err != nil {
			b.Fatal(err)
		}
	}
}
