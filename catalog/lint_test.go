package catalog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/pricing"
)

// lintOf lints a part of a catalog.
func lintOf(t testing.TB, part string) Findings {
	t.Helper()
	text := whole(part)
	c, err := Parse("f", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return Lint(c, []byte(text), lintDay)
}

// said are the findings of some codes, as "line:column severity where: message".
func said(f Findings, codes ...string) string {
	var all []string
	for _, p := range f.Problems {
		if slices.Contains(codes, p.Code) {
			all = append(all, fmt.Sprintf("%d:%d %s %s: %s", p.Line, p.Column, p.Severity, p.Where, p.Message))
		}
	}
	return strings.Join(all, "\n")
}

// routes is a model wren with these routes.
func routesOf(lines ...string) string {
	return "models:\n  wren:\n    routes:\n      - " + strings.Join(lines, "\n      - ") + "\n"
}

func TestLintsOfPrices(t *testing.T) {
	dated := "as_of: 2026-11-20, source: page"
	for name, c := range map[string]struct{ part, code, want string }{
		"a read at the input price": {routesOf("{vendor: alpha, model: w, price: {input: 1, output: 2, cache_read: 1}}"), CodeReadInput,
			`9:76 warning model "wren", route "alpha": cache_read 1 is not below input 1, so a warm cache is never preferred here; check both, and silence this if the vendor really charges so`},
		"a read above input in a tier only": {routesOf("{vendor: alpha, model: w, price: {input: 1, output: 2, cache_read: 0.1, tiers: [{above: 1000, input: 2, output: 4, cache_read: 3}]}}"), CodeReadInput,
			`9:136 warning model "wren", route "alpha", tier 1: cache_read 3 is not below input 2, so a warm cache is never preferred here; check both, and silence this if the vendor really charges so`},
		"a read where the prompt is free": {routesOf("{vendor: alpha, model: w, price: {input: 0, output: 0, cache_read: 0}}"), CodeReadInput, ""},
		"a write below input":             {routesOf("{vendor: alpha, model: w, price: {input: 2, output: 2, cache_write: 0.2}}"), CodeWrite, `9:77 warning model "wren", route "alpha": cache_write 0.2 is below input 2: no vendor sells a write for less than the prompt itself; check it, and leave the key out if writes cost what input does`},
		"a write of 2.5 times input":      {routesOf("{vendor: alpha, model: w, price: {input: 2, output: 2, cache_write: 5}}"), CodeWrite, ""},
		"a write above 2.5 times input":   {routesOf("{vendor: alpha, model: w, price: {input: 2, output: 2, cache_write_1h: 5.000001}}"), CodeWrite, `9:80 warning model "wren", route "alpha": cache_write_1h 5.000001 is 2.5 times input 2, and writes cost at most twice as a rule; check it`},
		"output at the input price":       {routesOf("{vendor: alpha, model: w, price: {input: 2, output: 2}}"), CodeOrder, ""},
		"output of an embedding":          {routesOf("{vendor: alpha, model: w, price: {input: 2, output: 0}}"), CodeOrder, ""},
		"a free write of an implicit cache": {routesOf("{vendor: alpha, model: w, price: {input: 2, output: 2, cache_write: 0}}"), CodeZero,
			`9:77 note model "wren", route "alpha": cache_write is 0, so whatever the vendor reports as written is booked as free; is it really, or is it unknown? remove the key if writes cost what input does`},
		"a free read of one's own machines": {"vendors:\n  rack: {api: [chat], base_url: \"http://10.0.0.7/v1\", allow_private: true}\n" + routesOf("{vendor: rack, model: w, price: {input: 2, output: 2, cache_read: 0}}"), CodeZero, ""},
		"a price per token":                 {routesOf("{vendor: alpha, model: w, price: {input: 0.0000025, output: 0.00001}}"), CodeMagnitude, `9:50 warning model "wren", route "alpha": input is 0.0000025 per million tokens, and 2.5 would be usual, a million times more, so this is most likely a price per token; write it for the unit of the file, or set unit: for the whole file`},
		"a price per million in a file per token": {"unit: per_token\n" + routesOf("{vendor: alpha, model: w, price: {input: 2.50}}"), CodeMagnitude,
			`10:50 warning model "wren", route "alpha": input is 2500000 per million tokens, and 2.5 would be usual, a million times less; check the unit of the file, and the digits`},
		"no price":        {routesOf("{vendor: alpha, model: w}"), CodeUnknown, `9:9 warning model "wren", route "alpha": has no price, so its costs are never known and affinity never engages; give the vendor's prices`},
		"no output price": {routesOf("{vendor: alpha, model: w, price: {input: 1, cache_read: 0.1}}"), CodeUnknown, `9:42 warning model "wren", route "alpha": output is not known, so what a turn costs here is not known either; give the vendor's price`},
		"no read price of a vendor that caches nothing": {routesOf("{vendor: alpha, model: w, price: {input: 1, output: 2}, cache: {family: none}}"), CodeUnknown, ""},
		"a tier without what the card states": {routesOf("{vendor: alpha, model: w, price: {input: 1, output: 2, cache_read: 0.1, tiers: [{above: 1000, input: 2}]}}"), CodeUnknown,
			`9:89 warning model "wren", route "alpha", tier 1: output and cache_read are not known here, and nothing is inherited, so what such a turn costs is not known; state it, even where it is the same`},
		"a window without the tiers": {routesOf(`{vendor: alpha, model: w, price: {input: 1, output: 2, cache_read: 0.1, tiers: [{above: 1000, input: 2, output: 3, cache_read: 0.2}], windows: [{from: "01:00", to: "02:00", zone: UTC, input: 1, output: 2, cache_read: 0.1}]}}`), CodeUnknown,
			`9:153 warning model "wren", route "alpha", window 1: prompts above 1,000 tokens have no price here, since the tiers beside it are not inherited; add tiers:, even where they are the same`},
		"45 days old":                    {routesOf("{vendor: alpha, model: w, price: {input: 1, as_of: 2026-10-16, source: page}}"), CodeAge, ""},
		"46 days old":                    {routesOf("{vendor: alpha, model: w, price: {input: 1, as_of: 2026-10-14, source: page}}"), CodeAge, `9:60 warning model "wren", route "alpha": the prices were read on 2026-10-14, 46 days ago; compare them with the vendor's page, then set as_of`},
		"a day yet to come":              {routesOf("{vendor: alpha, model: w, price: {input: 1, as_of: 2027-11-20, source: page}}"), CodeAge, `9:60 warning model "wren", route "alpha": as_of 2027-11-20 is yet to come; write the day on which the prices were read`},
		"an old price that is over":      {routesOf("{vendor: alpha, model: w, price: [{input: 1, valid_to: 2026-06-01, as_of: 2026-01-01, source: page}, {input: 2, valid_from: 2026-06-01, " + dated + "}]}"), CodeAge, ""},
		"without source":                 {routesOf("{vendor: alpha, model: w, price: {input: 1, as_of: 2026-11-20}}"), CodeUndated, `9:42 note model "wren", route "alpha": source is not stated, so nobody can tell whether the prices still hold; write the day they were read and where`},
		"it ends in 14 days":             {routesOf("{vendor: alpha, model: w, price: {input: 1, valid_to: 2026-12-13}}"), CodeEnds, `9:63 warning model "wren", route "alpha": the price ends on 2026-12-13 and nothing follows, so costs will be unknown; add the next price, or remove valid_to`},
		"it ends in 15 days":             {routesOf("{vendor: alpha, model: w, price: {input: 1, valid_to: 2026-12-14}}"), CodeEnds, ""},
		"it is over":                     {routesOf("{vendor: alpha, model: w, price: {input: 1, valid_to: 2026-11-29T11:00:00Z}}"), CodeEnds, `9:63 warning model "wren", route "alpha": the last price ended on 2026-11-29T11:00:00Z, so costs are unknown since; give the price of today`},
		"it begins later":                {routesOf("{vendor: alpha, model: w, price: {input: 1, valid_from: 2026-12-01}}"), CodeGap, `9:65 warning model "wren", route "alpha": no price holds until 2026-12-01, so costs before are unknown; give the price of today`},
		"a gap that is past":             {routesOf("{vendor: alpha, model: w, price: [{input: 1, valid_to: 2026-06-01}, {input: 2, valid_from: 2026-07-01}]}"), CodeGap, ""},
		"newest first, with a gap":       {routesOf("{vendor: alpha, model: w, price: [{input: 2, valid_from: 2027-01-15}, {input: 1, valid_to: 2027-01-01}]}"), CodeGap, `9:66 warning model "wren", route "alpha", price 1: no price holds from 2027-01-01 to 2027-01-15, so costs of that time are unknown; give it, or let the periods meet`},
		"a disabled route is not judged": {routesOf("{vendor: alpha, model: w, price: {input: 0.0000025, output: 0.000001, cache_read: 0, cache_write: 9}, disabled: too slow}", "{vendor: beta, model: w}"), CodeMagnitude, ""},
		"swapped prices stand out": {routesOf("{vendor: alpha, model: w, price: {input: 0.35, output: 1.40}}", "{vendor: beta, model: w, price: {input: 0.35, output: 1.45}}", "{vendor: gamma, model: w, price: {input: 1.41, output: 0.34}}"), CodeOutlier,
			`11:50 warning model "wren", route "gamma": input 1.41 is 4 times 0.35 and output 0.34 is 1/4.1 of 1.4, the medians of this model's 3 vendors; compare it with the vendor's page`},
		"of two vendors neither stands out": {routesOf("{vendor: alpha, model: w, price: {input: 1, output: 2}}", "{vendor: beta, model: w, price: {input: 50, output: 100}}"), CodeOutlier, ""},
		"exactly four times":                {routesOf("{vendor: alpha, model: w, price: {input: 1}}", "{vendor: beta, model: w, price: {input: 1}}", "{vendor: gamma, model: w, price: {input: 4}}"), CodeOutlier, ""},
	} {
		if got := said(lintOf(t, c.part), c.code); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, c.want)
		}
	}
}

func TestLintsOfRivals(t *testing.T) {
	tail := "; check the prices: if they are right, a cold prompt there is cheaper than a warm cache here, and nothing is lost"
	for name, c := range map[string]struct{ part, want string }{
		"dearer than a rival": {routesOf("{vendor: alpha, model: w, price: {input: 1, cache_read: 0.5}}", "{vendor: beta, model: w, price: {input: 0.4}}", "{vendor: gamma, model: w, price: {input: 0.45}}"),
			`9:65 note model "wren", route "alpha": cache_read 0.5 is not below the input price of "beta" (0.4) and "gamma" (0.45), so affinity will never engage here while that route is up` + tail},
		"as dear as a rival": {routesOf("{vendor: alpha, model: w, price: {input: 1, cache_read: 0.5}}", "{vendor: beta, model: w, price: {input: 0.5}}"),
			`9:65 note model "wren", route "alpha": cache_read 0.5 is not below the input price of "beta" (0.5), so affinity will never engage here while that route is up` + tail},
		"a rival without a price":     {routesOf("{vendor: alpha, model: w, price: {input: 1, cache_read: 0.5}}", "{vendor: beta, model: w}"), ""},
		"a rival out of use":          {routesOf("{vendor: alpha, model: w, price: {input: 1, cache_read: 0.5}}", "{vendor: beta, model: w, price: {input: 0.1}, disabled: too slow}"), ""},
		"a rival that speaks another": {"vendors:\n  alpha: {api: [chat], base_url: \"https://a.example/v1\"}\n  beta: {api: [messages], base_url: \"https://b.example/v1\"}\n" + routesOf("{vendor: alpha, model: w, price: {input: 1, cache_read: 0.5}}", "{vendor: beta, model: w, price: {input: 0.1}}"), ""},
		"above a threshold only": {routesOf("{vendor: alpha, model: w, price: {input: 0.5, cache_read: 0.05, tiers: [{above: 256000, input: 2, cache_read: 0.6}]}}", "{vendor: beta, model: w, price: {input: 0.5}}"),
			`9:67 note model "wren", route "alpha": cache_read 0.6 is not below the input price of "beta" (0.5), so affinity does not engage above 256,000 tokens` + tail},
		"in a window of the rival": {routesOf("{vendor: alpha, model: w, price: {input: 1, cache_read: 0.3}}", `{vendor: beta, model: w, price: {input: 0.5, windows: [{days: [sat], from: "22:00", to: "06:00", zone: Asia/Tokyo, input: 0.25}]}}`),
			`9:65 note model "wren", route "alpha": cache_read 0.3 is not below the input price of "beta" (0.25), so affinity does not engage in the window of "beta" 22:00–06:00 Asia/Tokyo` + tail},
		"in a service tier": {routesOf("{vendor: alpha, model: w, price: {input: 1, cache_read: 0.3, service_tiers: {flex: {input: 0.6, cache_read: 0.3}}}}", "{vendor: beta, model: w, price: {input: 0.5, service_tiers: {flex: {input: 0.2}}}}"),
			`9:65 note model "wren", route "alpha": cache_read 0.3 is not below the input price of "beta" (0.2), so affinity does not engage in service tier "flex"` + tail},
		"from a day on": {routesOf("{vendor: alpha, model: w, price: {input: 1, cache_read: 0.3}}", "{vendor: beta, model: w, price: [{input: 0.5, valid_to: 2027-01-01}, {input: 0.2, valid_from: 2027-01-01}]}"),
			`9:65 note model "wren", route "alpha": cache_read 0.3 is not below the input price of "beta" (0.2), so affinity does not engage from 2027-01-01 on` + tail},
	} {
		if got := said(lintOf(t, c.part), CodeReadRival); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, c.want)
		}
	}
}

// The slow twin looks at every quarter of an hour of a week and at every thousand
// tokens, and compares as the gate does.
func TestLintOfRivalsAgreesWithEveryHourAndSize(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 4))
	prices := []string{"0.1", "0.2", "0.3", "0.5", "1", "2"}
	pick := func() string { return prices[random.IntN(len(prices))] }
	card := func() string {
		text := "input: " + pick()
		if random.IntN(4) > 0 {
			text += ", cache_read: " + pick()
		}
		return text
	}
	for range 150 {
		var lines []string
		for _, vendor := range []string{"alpha", "beta", "gamma"}[:2+random.IntN(2)] {
			line := "{vendor: " + vendor + ", model: w, price: {" + card()
			tiers := random.IntN(3) == 0
			if tiers {
				line += fmt.Sprintf(", tiers: [{above: %d, %s}]", 1000*(1+random.IntN(5)), card())
			}
			if random.IntN(2) == 0 {
				from := random.IntN(24)
				line += fmt.Sprintf(`, windows: [{days: [%s], from: "%02d:00", to: "%02d:30", zone: %s, %s}]`, dayNames[random.IntN(7)], from, (from+1+random.IntN(12))%24, []string{"UTC", "Asia/Kolkata", "America/New_York"}[random.IntN(3)], card())
			}
			lines = append(lines, line+"}}")
		}
		part := routesOf(lines...)
		f := lintOf(t, part)
		c, err := Parse("f", []byte(whole(part)))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range c.Models[0].Routes {
			never, ever := everyHourAndSize(r)
			got := ""
			for _, p := range f.Problems {
				if p.Code == CodeReadRival && strings.Contains(p.Where, `"`+r.Vendor.Name+`"`) {
					got = p.Message
				}
			}
			switch {
			case (got != "") != (never > 0):
				t.Fatalf("seed %d: %s: the twin finds %d, the lint %q\n%s", seed, r.Vendor.Name, never, got, part)
			case got != "" && strings.Contains(got, "will never engage") != (ever == 0):
				t.Fatalf("seed %d: %s: %d times it engages, the lint says %q\n%s", seed, r.Vendor.Name, ever, got, part)
			}
		}
	}
}

// everyHourAndSize counts the terms on which a route's own test passes and a rival
// is no dearer than its cache, and those on which all of them are.
func everyHourAndSize(r *Route) (beaten, engages int) {
	for at := lintDay; at.Before(lintDay.Add(7 * 24 * time.Hour)); at = at.Add(15 * time.Minute) {
		for size := int64(1); size < 8000; size += 1000 {
			terms := pricing.Terms{Prompt: size, At: at}
			own := r.Price.At(terms)
			least := pricing.Rate{}
			for _, other := range r.Model.Routes {
				if card := other.Price.At(terms); other != r && card.Input.Known() && (!least.Known() || card.Input.Below(least)) {
					least = card.Input
				}
			}
			switch {
			case !own.CacheRead.Known() || !own.CacheRead.Below(own.Input) || !least.Known():
			case own.CacheRead.Below(least):
				engages++
			default:
				beaten++
			}
		}
	}
	return beaten, engages
}

func TestLintsOfVendors(t *testing.T) {
	anthropic := func(rest, routes string) string {
		return "vendors:\n  claude: {api: [messages], base_url: \"https://api.anthropic.com/v1\"" + rest + "}\n  groq: {api: [chat], base_url: \"https://g.example/v1\", cache: {ttl: 3h}}\nmodels:\n  m: {routes: [" + routes + "]}\n"
	}
	for name, c := range map[string]struct{ part, code, want string }{
		"by the host, for all its routes": {anthropic(", cache: {ttl: 2h}", "{vendor: claude, model: claude-sonnet-5}"), CodeTTL,
			`3:84 warning vendor "claude": ttl 2h is longer than the 1h that anthropic documents for "claude-sonnet-5", so turns are held to a cache that is gone; write at most 1h (docs.claude.com, prompt caching)`},
		"by the name": {anthropic("", "{vendor: groq, model: any}"), CodeTTL,
			`4:70 warning vendor "groq": ttl 3h is longer than the 2h that groq documents for "any", so turns are held to a cache that is gone; write at most 2h (console.groq.com, prompt caching)`},
		"of a route": {anthropic("", "{vendor: claude, model: claude-sonnet-5, cache: {ttl: 90m}}"), CodeTTL,
			`6:70 warning model "m", route "claude": ttl 1h30m is longer than the 1h that anthropic documents for "claude-sonnet-5", so turns are held to a cache that is gone; write at most 1h (docs.claude.com, prompt caching)`},
		"what is inherited and right": {anthropic(", cache: {ttl: 1h}", "{vendor: claude, model: claude-sonnet-5}"), CodeTTL, ""},
		"a minimum for most models": {anthropic(", cache: {min_prefix: 1024}", "{vendor: claude, model: claude-opus-4.6}"), CodeMinLow,
			`6:16 warning model "m", route "claude": min_prefix 1,024 is below the 4,096 tokens that anthropic documents for "claude-opus-4.6", so prompts between are held to a vendor that cached nothing; write 4096 here (docs.claude.com, prompt caching)`},
		"a minimum that is right":          {anthropic(", cache: {min_prefix: 1024}", "{vendor: claude, model: claude-sonnet-5}"), CodeMinLow, ""},
		"a model that no page names":       {anthropic(", cache: {min_prefix: 512}", "{vendor: claude, model: claude-canto-9}"), CodeMinLow, ""},
		"a region before the id":           {"vendors:\n  bedrock-eu: {api: [messages], base_url: \"https://b.example/v1\", cache: {min_prefix: 1024}}\nmodels:\n  m: {routes: [{vendor: bedrock-eu, model: eu.anthropic.claude-haiku-4-5-20251001-v1:0}]}\n", CodeMinLow, `5:16 warning model "m", route "bedrock-eu": min_prefix 1,024 is below the 4,096 tokens that bedrock documents for "eu.anthropic.claude-haiku-4-5-20251001-v1:0", so prompts between are held to a vendor that cached nothing; write 4096 here (AWS Bedrock documentation, prompt caching)`},
		"no writes for an hour on Alibaba": {"vendors:\n  alibaba: {api: [chat], base_url: \"https://a.example/v1\", cache: {family: explicit}}\nmodels:\n  m: {routes: [{vendor: alibaba, model: qwen, price: {input: 1, cache_write: 1.25}}]}\n", CodeWrite1h, ""},
		"an explicit cache nobody knows":   {"vendors:\n  alpha: {api: [chat], base_url: \"https://a.example/v1\", cache: {family: explicit}}\nmodels:\n  m: {routes: [{vendor: alpha, model: q, price: {input: 1, cache_write: 1.25}}]}\n", CodeWrite1h, `5:49 note model "m", route "alpha": cache_write_1h is not known, so writes that a request asks to keep for an hour are booked at the input price, about half of what they cost; give the price, or silence this if the vendor has no such writes`},
	} {
		if got := said(lintOf(t, c.part), c.code); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, c.want)
		}
	}
}

func TestLintsOfNames(t *testing.T) {
	route := ", routes: [{vendor: alpha, model: x}]}\n"
	for name, c := range map[string]struct{ part, want string }{
		"capitals":                   {"models:\n  Wren: {aliases: [a]" + route + "  tern: {aliases: [wren]" + route, `8:20 warning model "tern": "wren" differs from "Wren", on line 7, only in capitals, and is another target; rename one, or make it an alias of the other`},
		"capitals of one model":      {"models:\n  Wren: {aliases: [wren, WREN]" + route, ""},
		"a policy":                   {"models:\n  wren-4.5: {aliases: [a]" + route + "policies:\n  wren-4-5: {models: [a]}\n", `9:3 warning policy "wren-4-5": "wren-4-5" differs from "wren-4.5", on line 7, only in dots, dashes and underscores, and is another target; rename one, or make it an alias of the other`},
		"a date":                     {"models:\n  wren-4: {aliases: [a]" + route + "  wren-4-2026-01-15: {aliases: [b]" + route, `8:3 note model "wren-4-2026-01-15": "wren-4-2026-01-15" and "wren-4", on line 7, are two models here, both at "alpha": each has its own pins and prices; if they are one model, make one name an alias of the other`},
		"an alias with a date":       {"models:\n  wren-4: {aliases: [a]" + route + "  tern: {aliases: [wren-4@default]" + route, `8:20 note model "tern": "wren-4@default" and "wren-4", on line 7, are two models here, both at "alpha": each has its own pins and prices; if they are one model, make one name an alias of the other`},
		"a region":                   {"models:\n  us.wren-4: {aliases: [a]" + route + "  wren-4: {aliases: [b]" + route, `7:3 note model "us.wren-4": "us.wren-4" and "wren-4", on line 8, are two models here, both at "alpha": each has its own pins and prices; if they are one model, make one name an alias of the other`},
		"a date at another vendor":   {"models:\n  wren-4: {aliases: [a]" + route + "  wren-4-20260115: {routes: [{vendor: beta, model: x}]}\n", ""},
		"two regions, no plain name": {"models:\n  us.wren-4: {aliases: [a]" + route + "  eu.wren-4: {aliases: [b]" + route, ""},
		"versions are no dates":      {"models:\n  wren-4: {aliases: [a]" + route + "  wren-4-5: {aliases: [b]" + route, ""},
	} {
		if got := said(lintOf(t, c.part), CodeNearName, CodeShadow); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, c.want)
		}
	}
}

func TestLintsOfPolicies(t *testing.T) {
	two := "models:\n  wren: {routes: [{vendor: alpha, model: w, price: {input: 5, output: 9, tiers: [{above: 1000, input: 7, output: 9}]}}, {vendor: beta, model: w}]}\n  tern: {routes: [{vendor: alpha, model: t}]}\npolicies:\n"
	for name, c := range map[string]struct{ policy, want string }{
		"an order, nothing said":       {"  p: {models: [wren], order: [beta]}", `10:30 note policy "p": a warm vendor goes ahead of this order where its cache is cheaper than the first one's input; state it with affinity: {precedence: pin}, or keep the order with affinity: {precedence: order}`},
		"another thing said":           {"  p: {models: [wren], order: [beta], affinity: {gate: off}}", `10:30 note policy "p": a warm vendor goes ahead of this order where its cache is cheaper than the first one's input; state it with affinity: {precedence: pin}, or keep the order with affinity: {precedence: order}`},
		"pins first, as said":          {"  p: {models: [wren], order: [beta], affinity: {precedence: pin}}", ""},
		"the order first":              {"  p: {models: [wren], order: [beta], affinity: {precedence: order}}", `10:61 note policy "p": precedence: order keeps every warm vendor in its place, so affinity never promotes one under this policy; remove it if warm vendors are to go ahead`},
		"no affinity":                  {"  p: {models: [wren], order: [beta], affinity: {enabled: false}}", ""},
		"one route each":               {"  p: {models: [tern], order: [beta]}", ""},
		"one route left":               {"  p: {models: [wren], order: [beta], only: [beta]}", ""},
		"a limit below every price":    {"  p: {models: [wren], max_price: {input: 4}}", `10:34 warning policy "p": max_price removes every route of model "wren", those with unknown prices too, so the policy never uses it; raise the limit, or remove the model`},
		"a limit for long prompts":     {"  p: {models: [wren], max_price: {input: 6}}", `10:34 note policy "p": max_price removes every route of model "wren" for prompts above 1,000 tokens; raise the limit, or keep it if that is meant`},
		"a limit that all keep":        {"  p: {models: [wren], max_price: {input: 7}}", ""},
		"an unknown price is no price": {"  p: {models: [tern], max_price: {output: 100}}", `10:34 warning policy "p": max_price removes every route of model "tern", those with unknown prices too, so the policy never uses it; raise the limit, or remove the model`},
		"weights that all serve":       {"  p: {models: [wren, tern], sort: weighted, weights: {alpha: 0.7, beta: .3}}", ""},
		"a weight of nobody":           {"  p: {models: [tern], sort: weighted, weights: {alpha: 7, beta: 3}}", `10:65 warning policy "p": weights: "beta" has no route in use of any model of this policy, so its share goes to the others; correct the name, or remove it`},
		"a weight that is ignored":     {"  p: {models: [wren], ignore: [beta], sort: weighted, weights: {alpha: 7, beta: 3}}", `10:81 warning policy "p": weights: "beta" has no route in use of any model of this policy, so its share goes to the others; correct the name, or remove it`},
	} {
		if got := said(lintOf(t, two+c.policy+"\n"), CodePinOrder, CodeMaxPrice, CodeWeightUnused); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, c.want)
		}
	}
}
