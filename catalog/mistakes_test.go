package catalog

import (
	"errors"
	"sort"
	"strings"
	"testing"
)

// with is a catalog whose parts can be replaced one at a time.
func with(vendor, model, policy string) string {
	text := "version: 1\nvendors:\n  alpha: {api: [chat], base_url: https://alpha.example/v1}\n  beta:\n    api: [chat]\n    base_url: https://beta.example/v1\n" + indent(vendor, 4) +
		"models:\n  m:\n    routes:\n      - vendor: alpha\n        model: upstream-m\n" + indent(model, 8)
	if policy != "" {
		text += "policies:\n  p:\n    models: [m]\n" + indent(policy, 4)
	}
	return text
}

func indent(text string, by int) string {
	if text == "" {
		return ""
	}
	pad := strings.Repeat(" ", by)
	return pad + strings.ReplaceAll(text, "\n", "\n"+pad) + "\n"
}

func check(t *testing.T, name, text string, want ...string) {
	t.Helper()
	_, err := Parse("c.yaml", []byte(text))
	var all Problems
	if err != nil && !errors.As(err, &all) {
		t.Fatalf("%s: the error is no Problems: %v", name, err)
	}
	if !sort.SliceIsSorted(all, func(i, j int) bool { return all[i].Line < all[j].Line }) {
		t.Errorf("%s: not in the order of lines:\n%v", name, err)
	}
	got := make([]string, len(all))
	for i := range all {
		got[i] = all[i].String()
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\ngot:\n%s\nwant:\n%s", name, text, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestMistakesOfVendors(t *testing.T) {
	literal := "a key is never written into a catalog; name where it is kept with credentials: [{id: main, env: NAME}] or {id: main, file: PATH}, and replace it if this file was shared"
	where := `vendor "beta": `
	for name, c := range map[string]struct{ line, want string }{
		"key misspelt":           {"heders: {a: b}", `c.yaml:7:5: ` + where + `"heders" is not a key of a vendor; did you mean "headers"?`},
		"key unknown":            {"colour: red", `c.yaml:7:5: ` + where + `"colour" is not a key of a vendor; the keys are api, base_url, auth, credentials, headers, cache, hints, usage, tags, accepts, refuses, allow_private, silence`},
		"key twice":              {"api: [messages]", `c.yaml:7:5: ` + where + `key "api" stands twice in a vendor, on lines 5 and 7; remove one of them`},
		"literal key":            {"api_key: sk-canary-1", `c.yaml:7:5: ` + where + literal},
		"literal in credential":  {"credentials: [{id: main, key: sk-canary-1}]", `c.yaml:7:30: ` + where[:len(where)-2] + `, credential 1: ` + literal},
		"literal as credential":  {"credentials: [sk-canary-1]", `c.yaml:7:19: ` + where[:len(where)-2] + `, credential 1: ` + literal},
		"literal as env":         {"credentials: [{id: main, env: sk-canary-1}]", `c.yaml:7:35: ` + where[:len(where)-2] + `, credential 1: env must be the name of an environment variable, such as VENDOR_API_KEY, never a key`},
		"env and file":           {"credentials: [{id: main, env: A, file: b}]", `c.yaml:7:44: ` + where[:len(where)-2] + `, credential 1: has both env and file; keep one`},
		"neither env nor file":   {"credentials: [{id: main}]", `c.yaml:7:19: ` + where[:len(where)-2] + `, credential 1: says not where the key is kept; add env: NAME or file: PATH`},
		"credential without id":  {"credentials: [{env: A}]", `c.yaml:7:19: ` + where[:len(where)-2] + `, credential 1: id is missing; give it a short name such as main`},
		"credential id bad":      {"credentials: [{id: Main, env: A}]", `c.yaml:7:24: ` + where[:len(where)-2] + `, credential 1: id must be at most 64 small letters, digits, dots, dashes and underscores`},
		"credential twice":       {"credentials:\n- {id: main, env: A}\n- {id: main, env: B}", `c.yaml:9:12: ` + where + `credential "main" stands twice, on lines 8 and 9; rename one`},
		"credentials no list":    {"credentials: {id: main, env: A}", `c.yaml:7:18: ` + where + `credentials must be a list, such as [{id: main, env: NAME}]`},
		"auth both":              {"auth: {header: x-api-key, bearer: true}", `c.yaml:7:39: ` + where + `auth has both header and bearer; keep one`},
		"auth empty":             {"auth: {}", `c.yaml:7:11: ` + where + `auth is empty; use {bearer: true} or {header: x-api-key}`},
		"auth null":              {"auth:", `c.yaml:7:10: ` + where + `auth is empty; remove the key or fill it`},
		"auth a word":            {"auth: bearer", `c.yaml:7:11: ` + where + `auth must be a mapping of keys to values`},
		"auth bearer no":         {"auth: {bearer: false}", `c.yaml:7:20: ` + where + `bearer: false says nothing; name the header with header: x-api-key`},
		"auth bearer yes":        {"auth: {bearer: yes}", `c.yaml:7:20: ` + where + `bearer must be true or false`},
		"auth header bad":        {"auth: {header: content-length}", `c.yaml:7:20: ` + where + `auth header "content-length" cannot carry a key; use a header name such as x-api-key`},
		"header bad":             {"headers: {'a b': c}", `c.yaml:7:15: ` + where + `headers: "a b" is not a header name`},
		"header reserved":        {"headers: {Host: c}", `c.yaml:7:15: ` + where + `headers: Host is set for every request and cannot be changed; remove it`},
		"header with a key":      {"headers: {Authorization: Bearer sk-canary-1}", `c.yaml:7:15: ` + where + `headers: Authorization carries a key, which is never written into a catalog; use auth: {header: Authorization} and credentials`},
		"header twice":           {"headers:\n  x-a: 1\n  X-A: 2", `c.yaml:9:7: ` + where + `headers: X-A stands twice, on lines 8 and 9; capitals make no difference, so remove one`},
		"header a list":          {"headers: {x-a: [1]}", `c.yaml:7:20: ` + where + `header x-a must be a single value, not a list or a mapping`},
		"header of two lines":    {`headers: {x-a: "1\n2"}`, `c.yaml:7:20: ` + where + `headers: the value of x-a is too long or has a character that no header can carry`},
		"cache family":           {"cache: {family: automatic}", `c.yaml:7:21: ` + where + `cache family "automatic" is not known; use implicit, explicit or none`},
		"ttl of 15 s":            {"cache: {ttl: 15s}", `c.yaml:7:18: ` + where + `ttl "15s" is too short: a pin ends 15 s before its cache does, so it must be longer than 15s`},
		"ttl negative":           {"cache: {ttl: -5m}", `c.yaml:7:18: ` + where + `ttl "-5m" is too short: a pin ends 15 s before its cache does, so it must be longer than 15s`},
		"ttl without unit":       {"cache: {ttl: 300}", `c.yaml:7:18: ` + where + `ttl "300" is not a lifetime; write a number with a unit, such as 5m or 1h`},
		"ttl null":               {"cache: {ttl: }", `c.yaml:7:18: ` + where + `ttl is empty; remove the key or give a value`},
		"ttl too long":           {"cache: {ttl: 9000h}", `c.yaml:7:18: ` + where + `ttl "9000h" is too long; at most 720h`},
		"minimum of zero":        {"cache: {min_prefix: 0}", `c.yaml:7:25: ` + where + `min_prefix must be a whole number of tokens, one or more, such as 1024`},
		"minimum not whole":      {"cache: {min_prefix: 1_024}", `c.yaml:7:25: ` + where + `min_prefix must be a whole number of tokens, one or more, such as 1024`},
		"hint without target":    {"hints: [{form: raw}]", `c.yaml:7:13: ` + where[:len(where)-2] + `, hint 1: names neither header nor member; add one`},
		"hint with both":         {"hints: [{header: x-a, member: b}]", `c.yaml:7:35: ` + where[:len(where)-2] + `, hint 1: has both header and member; write two hints`},
		"hint form":              {"hints: [{header: x-a, form: plain}]", `c.yaml:7:33: ` + where[:len(where)-2] + `, hint 1: form "plain" is not known; use hashed or raw`},
		"hint in the key's head": {"hints: [{header: authorization}]", `c.yaml:7:22: ` + where[:len(where)-2] + `, hint 1: header "authorization" cannot carry a session`},
		"usage":                  {"usage: claude", `c.yaml:7:12: ` + where + `usage "claude" is not known; use openai, anthropic, azure, deepseek, moonshot, mistral, fireworks, together, zai, minimax, cerebras, groq, openrouter, perplexity, alibaba, xai, gemini, vertex or bedrock, or a mapping such as {like: openai, cache_read: [cached_tokens]}`},
		"tags a word":            {"tags: zdr", `c.yaml:7:11: ` + where + `tags must be a list, such as [zdr]`},
		"tag twice":              {"tags: [zdr, eu, zdr]", `c.yaml:7:21: ` + where + `tags names "zdr" twice, on line 7 at columns 12 and 21; remove one of them`},
		"accepts a stranger":     {"accepts: [user]", `c.yaml:7:15: ` + where + `accepts: "user" is not a request member of ours; they are session_id, sessionId, providerOptions, caching, cache_ttl, models, provider, prompt_cache_key, prompt_cache_retention or cache_control`},
		"refuses the model":      {"refuses: [model]", `c.yaml:7:15: ` + where + `refuses: no request can do without model`},
		"accepts and refuses":    {"accepts: [models]\nrefuses: [models]", `c.yaml:8:15: ` + where + `models stands under accepts and under refuses; keep one`},
		"allow_private":          {"allow_private: yes", `c.yaml:7:20: ` + where + `allow_private must be true or false`},
		"anchor":                 {"tags: &t [zdr]", `c.yaml:7:11: anchors such as &name are not used in a catalog; remove it`},
		"anchor and alias":       {"tags: &t [zdr]\naccepts: *t", "c.yaml:7:11: anchors such as &name are not used in a catalog; remove it\nc.yaml:8:14: aliases such as *name are not used in a catalog; write the value out"},
		"tag of YAML":            {"usage: !!str openai", `c.yaml:7:12: tags such as !!str are not used in a catalog; remove it, or put the value in quotes`},
		"tag of one's own":       {"usage: !mine openai", `c.yaml:7:12: tags such as !!str are not used in a catalog; remove it, or put the value in quotes`},
		"merge":                  {"<<: {usage: openai}", `c.yaml:7:5: merge keys (<<) are not used in a catalog; write the keys out`},
		"a key that is a list":   {"[a, b]: c", `c.yaml:7:5: ` + where + `a key of a vendor is not a plain word`},
	} {
		check(t, name, with(c.line, "", ""), strings.Split(c.want, "\n")...)
	}
}

func TestMistakesOfAddresses(t *testing.T) {
	plain := "base_url is plain http, which would send the key unencrypted; use https, or add allow_private: true if the vendor runs on a private address"
	for url, want := range map[string]string{
		"ftp://a.example/v1":                            "base_url must begin with https:// (or http:// for a private address)",
		"api.example.com/v1":                            "base_url is not an address such as https://api.example.com/v1",
		"https:///v1":                                   "base_url is not an address such as https://api.example.com/v1",
		"https://a.example:0/v1":                        "base_url has a port that is none; use 1 to 65535",
		"https://a.example:/v1":                         "base_url has a port that is none; use 1 to 65535",
		"https://a.example:99999/v1":                    "base_url has a port that is none; use 1 to 65535",
		"https://me:canary@a.example/v1":                "base_url holds a user name; name the key under credentials instead",
		"https://a.example/v1?key=canary":               "base_url has a query or a fragment; end it before the ? or #",
		"https://a.example/v1?":                         "base_url has a query or a fragment; end it before the ? or #",
		"https://a.example/v1#x":                        "base_url has a query or a fragment; end it before the ? or #",
		"https://a.example/v1/chat/completions":         "base_url goes too far; end it before /chat/completions",
		"https://a.example/v1/messages/":                "base_url goes too far; end it before /messages",
		"http://a.example/v1":                           plain,
		"http://127.0.0.1:8000/v1":                      plain,
		"https://127.0.0.1:8000/v1":                     "base_url is a private or reserved address; add allow_private: true if that is meant",
		"https://localhost/v1":                          "base_url is a private or reserved address; add allow_private: true if that is meant",
		"https://192.168.1.4/v1":                        "base_url is a private or reserved address; add allow_private: true if that is meant",
		"https://[::1]/v1":                              "base_url is a private or reserved address; add allow_private: true if that is meant",
		"https://[::ffff:10.0.0.1]/v1":                  "base_url is a private or reserved address; add allow_private: true if that is meant",
		"http://8.8.8.8/v1, allow_private: true":        "base_url is plain http to a public address, which would send the key unencrypted; use https",
		"https://a.example/v1":                          "",
		"https://a.example:8443":                        "",
		"http://127.0.0.1:8000/v1, allow_private: true": "",
		"http://rack.internal/v1, allow_private: true":  "",
		"https://8.8.8.8/v1":                            "",
	} {
		address, more, _ := strings.Cut(url, ", ")
		if more != "" {
			more = ", " + more
		}
		text := "version: 1\nvendors:\n  v: {api: [chat], base_url: \"" + address + "\"" + more + "}\nmodels: {m: {routes: [{vendor: v, model: m}]}}\n"
		if want == "" {
			check(t, url, text)
			continue
		}
		check(t, url, text, `c.yaml:3:30: vendor "v": `+want)
	}
}

func TestMistakesOfPrices(t *testing.T) {
	where := `model "m", route "alpha": `
	inside := func(part string) string { return where[:len(where)-2] + ", " + part + ": " }
	flow := func(name, text string) string { return name + ": " + text }
	hour := `zone: UTC, input: 1`
	for name, c := range map[string]struct{ line, want string }{
		"empty":              {"price:\n  input: 3\n  cache_read:", `c.yaml:14:22: ` + where + `cache_read is empty; remove the key or give a price`},
		"null":               {"price: {cache_read: null}", `c.yaml:12:29: ` + where + `cache_read is empty; remove the key or give a price`},
		"tilde":              {"price: {cache_read: ~}", `c.yaml:12:29: ` + where + `cache_read is empty; remove the key or give a price`},
		"empty text":         {`price: {cache_read: ""}`, `c.yaml:12:29: ` + where + `cache_read is empty; remove the key or give a price`},
		"the word null":      {`price: {cache_read: "null"}`, `c.yaml:12:29: ` + where + `cache_read "null" is not a price; write digits with a decimal point, such as 0.30 or 3e-06`},
		"price null":         {"price:", `c.yaml:12:15: ` + where + `price is empty; remove the key or fill it`},
		"separators":         {"price: {input: 1_000}", `c.yaml:12:24: ` + where + `input "1_000" is not a price; write digits with a decimal point, such as 0.30 or 3e-06`},
		"octal":              {"price: {input: 010}", `c.yaml:12:24: ` + where + `input "010" has a leading zero, which some readers take for octal; write it without`},
		"comma":              {`price: {input: "0,30"}`, `c.yaml:12:24: ` + where + `input "0,30" is not a price; write digits with a decimal point, such as 0.30 or 3e-06`},
		"currency sign":      {"price: {input: $0.30}", `c.yaml:12:24: ` + where + `input "$0.30" is not a price; write digits with a decimal point, such as 0.30 or 3e-06`},
		"base sixty":         {"price: {input: 1:30}", `c.yaml:12:24: ` + where + `input "1:30" is not a price; write digits with a decimal point, such as 0.30 or 3e-06`},
		"negative":           {"price: {input: -1}", `c.yaml:12:24: ` + where + `input "-1" is not a price; write digits with a decimal point, such as 0.30 or 3e-06`},
		"a list":             {"price: {input: [1]}", `c.yaml:12:24: ` + where + `input must be a price, such as 0.30`},
		"misspelt":           {"price: {cache_raed: 1}", `c.yaml:12:17: ` + where + `"cache_raed" is not a key of price; did you mean "cache_read"?`},
		"one key twice":      {"price:\n  input: 5\n  output: 5\n  input: 6", `c.yaml:15:11: ` + where + `key "input" stands twice in price, on lines 13 and 15; remove one of them`},
		"as_of":              {"price: {as_of: 2026-02-30}", `c.yaml:12:24: ` + where + `as_of "2026-02-30" is not a day such as 2026-11-20`},
		"tier without above": {"price: {tiers: [{input: 1}]}", `c.yaml:12:25: ` + inside("tier 1") + `above is missing; give the number of prompt tokens above which the tier holds`},
		"tier of zero":       {"price: {tiers: [{above: 0, input: 1}]}", `c.yaml:12:33: ` + inside("tier 1") + `above must be a whole number of tokens, one or more, such as 1024`},
		"tiers not in order": {"price:\n  tiers:\n  - {above: 200, input: 1}\n  - {above: 100, input: 1}\n  - {above: 100, input: 2}", `c.yaml:15:21: ` + inside("tier 2") + `above 100 is not more than the 200 of the tier before it; put the lowest first, each once` + "\n" + `c.yaml:16:21: ` + inside("tier 3") + `above 100 is not more than the 100 of the tier before it; put the lowest first, each once`},
		"empty in a tier":    {"price: {tiers: [{above: 5, cache_read: }]}", `c.yaml:12:48: ` + inside("tier 1") + `cache_read is empty; remove the key or give a price`},
		"tiers a mapping":    {"price: {tiers: {above: 5}}", `c.yaml:12:24: ` + where + `tiers must be a list, such as [{above: 200000, input: 6}]`},
		"ordinary tier":      {"price: {service_tiers: {default: {input: 1}}}", `c.yaml:12:33: ` + inside(`service tier "default"`) + `"default" is the ordinary tier; its prices stand directly under price`},
		"window no zone":     {flow("price", `{windows: [{from: "01:00", to: "02:00", input: 1}]}`), `c.yaml:12:27: ` + inside("window 1") + `zone is missing; name the zone of its hours, such as UTC or Asia/Shanghai`},
		"window zone":        {flow("price", `{windows: [{from: "01:00", to: "02:00", zone: Mars/Base, input: 1}]}`), `c.yaml:12:62: ` + inside("window 1") + `zone "Mars/Base" is not known; use UTC or a name of the zone database such as Asia/Shanghai`},
		"window local":       {flow("price", `{windows: [{from: "01:00", to: "02:00", zone: Local, input: 1}]}`), `c.yaml:12:62: ` + inside("window 1") + `zone "Local" is not known; use UTC or a name of the zone database such as Asia/Shanghai`},
		"window no from":     {flow("price", `{windows: [{to: "02:00", `+hour+`}]}`), `c.yaml:12:27: ` + inside("window 1") + `from is missing; give the hour it begins, such as "01:00"`},
		"window hour":        {flow("price", `{windows: [{from: "25:00", to: "02:00", `+hour+`}]}`), `c.yaml:12:34: ` + inside("window 1") + `from "25:00" is not an hour of the day, such as "01:00"`},
		"window from 24":     {flow("price", `{windows: [{from: "24:00", to: "02:00", `+hour+`}]}`), `c.yaml:12:34: ` + inside("window 1") + `from "24:00" is not an hour of the day, such as "01:00"`},
		"window short hour":  {flow("price", `{windows: [{from: "1:00", to: "02:00", `+hour+`}]}`), `c.yaml:12:34: ` + inside("window 1") + `from "1:00" is not an hour of the day, such as "01:00"`},
		"window of nothing":  {flow("price", `{windows: [{from: "01:00", to: "01:00", `+hour+`}]}`), `c.yaml:12:47: ` + inside("window 1") + `from and to are the same hour; for a whole day write from "00:00" to "24:00"`},
		"window day":         {flow("price", `{windows: [{days: [mo], from: "01:00", to: "02:00", `+hour+`}]}`), `c.yaml:12:35: ` + inside("window 1") + `days: "mo" is no day; write mon, tue, wed, thu, fri, sat, sun or a range such as mon-fri`},
		"window day twice":   {flow("price", `{windows: [{days: [mon-fri, wed], from: "01:00", to: "02:00", `+hour+`}]}`), `c.yaml:12:44: ` + inside("window 1") + `days: wed is named twice; name each day once`},
		"disabled true":      {"disabled: true", `c.yaml:12:19: ` + where + `disabled is a reason in words, such as "too slow in May"; give one, or remove the key to use the route`},
	} {
		check(t, name, with("", c.line, ""), strings.Split(c.want, "\n")...)
	}
}

func TestWindowsOverlap(t *testing.T) {
	window := func(days, from, to, zone string) string {
		text := "{from: \"" + from + "\", to: \"" + to + "\", zone: " + zone + ", input: 1"
		if days != "" {
			text += ", days: [" + days + "]"
		}
		return "  - " + text + "}\n"
	}
	for _, c := range []struct {
		name, a, b string
		overlap    bool
	}{
		{"side by side", window("", "01:00", "04:00", "UTC"), window("", "04:00", "06:00", "UTC"), false},
		{"one second shared", window("", "01:00", "04:00:01", "UTC"), window("", "04:00", "06:00", "UTC"), true},
		{"one inside the other", window("", "01:00", "09:00", "UTC"), window("", "04:00", "06:00", "UTC"), true},
		{"equal", window("", "01:00", "02:00", "UTC"), window("", "01:00", "02:00", "UTC"), true},
		{"same hours, other days", window("mon-fri", "01:00", "04:00", "UTC"), window("sat, sun", "01:00", "04:00", "UTC"), false},
		{"Friday night reaches Saturday", window("mon-fri", "22:00", "06:00", "UTC"), window("sat", "05:00", "07:00", "UTC"), true},
		{"Saturday night reaches Sunday, over the week's end", window("sat", "22:00", "06:00", "UTC"), window("sun", "00:00", "01:00", "UTC"), true},
		{"Friday night ends before", window("mon-fri", "22:00", "06:00", "UTC"), window("sat", "06:00", "07:00", "UTC"), false},
		{"a range over the week's end", window("fri-mon", "01:00", "02:00", "UTC"), window("tue-thu", "01:00", "02:00", "UTC"), false},
		{"a whole day and the next", window("mon", "00:00", "24:00", "UTC"), window("tue", "00:00", "24:00", "UTC"), false},
		{"other zones, never at once", window("", "08:00", "16:00", "Asia/Shanghai"), window("", "08:00", "16:00", "UTC"), false},
		{"other zones, at once", window("", "08:00", "17:00", "Asia/Shanghai"), window("", "08:00", "16:00", "UTC"), true},
		{"at once in summer only", window("", "09:00", "10:00", "Europe/Berlin"), window("", "07:00", "08:00", "UTC"), true},
		{"at once in winter only", window("", "09:00", "10:00", "Europe/Berlin"), window("", "08:00", "09:00", "UTC"), true},
		{"in neither", window("", "09:00", "10:00", "Europe/Berlin"), window("", "09:00", "10:00", "UTC"), false},
		{"two zones with different summers", window("", "09:00", "10:00", "Europe/Berlin"), window("", "04:00", "05:00", "America/New_York"), true},
	} {
		text := with("", "price:\n  windows:\n"+c.a+strings.TrimSuffix(c.b, "\n"), "")
		if !c.overlap {
			check(t, c.name, text)
			continue
		}
		check(t, c.name, text, `c.yaml:15:13: model "m", route "alpha", window 2: overlaps another window, on lines 14 and 15, so two prices would hold at once; move the hours of one`)
	}
}

func TestMistakesOfPolicies(t *testing.T) {
	where := `policy "p": `
	for name, c := range map[string]struct{ line, want string }{
		"order and sort":          {"order: [alpha]\nsort: price", `c.yaml:16:11: ` + where + `has both order and sort; keep one`},
		"order a stranger":        {"order: [alhpa]", `c.yaml:15:13: ` + where + `order: vendor "alhpa" is not in this catalog; did you mean "alpha"?`},
		"only a stranger":         {"only: [zeta-cloud]", `c.yaml:15:12: ` + where + `only: vendor "zeta-cloud" is not in this catalog; add it under vendors, or correct the name`},
		"only nobody":             {"only: []", `c.yaml:15:11: ` + where + `only is an empty list, which would leave no vendor; remove the key to allow all`},
		"ignore twice":            {"ignore: [beta, beta]", `c.yaml:15:20: ` + where + `ignore names "beta" twice, on line 15 at columns 14 and 20; remove one of them`},
		"sort":                    {"sort: cheapest", `c.yaml:15:11: ` + where + `sort "cheapest" is not known; use price, blended, latency, throughput or weighted`},
		"weighted, no weights":    {"sort: weighted", `c.yaml:15:11: ` + where + `sort: weighted needs weights; add them, such as weights: {vendor-name: 3, other-vendor: 1}`},
		"weights alone":           {"weights: {alpha: 1}", `c.yaml:15:14: ` + where + `has weights, which only sort: weighted goes by; add that, or remove the weights`},
		"weights beside a sort":   {"sort: price\nweights: {alpha: 1}", `c.yaml:16:14: ` + where + `has weights, which only sort: weighted goes by; add that, or remove the weights`},
		"weights beside an order": {"order: [alpha]\nweights: {alpha: 1}", `c.yaml:16:14: ` + where + `has weights, which only sort: weighted goes by; add that, or remove the weights`},
		"weights, a bad sort":     {"sort: wieghted\nweights: {alpha: 1}", `c.yaml:15:11: ` + where + `sort "wieghted" is not known; use price, blended, latency, throughput or weighted`},
		"weights a list":          {"sort: weighted\nweights: [alpha]", `c.yaml:16:14: ` + where + `weights must be a mapping of keys to values`},
		"weights of nobody":       {"sort: weighted\nweights: {}", `c.yaml:16:14: ` + where + `weights is empty; name vendors in it, such as {vendor-name: 3, other-vendor: 1}`},
		"weights null":            {"sort: weighted\nweights:", `c.yaml:16:13: ` + where + `weights is empty; remove the key or fill it`},
		"a weight of a stranger":  {"sort: weighted\nweights: {alhpa: 1}", `c.yaml:16:15: ` + where + `weights: vendor "alhpa" is not in this catalog; did you mean "alpha"?`},
		"a weight of zero":        {"sort: weighted\nweights: {alpha: 0.0}", `c.yaml:16:22: ` + where + `the weight of "alpha" is zero; leave the vendor out to try it last, or name it under ignore to never try it`},
		"a weight below zero":     {"sort: weighted\nweights: {alpha: -1}", `c.yaml:16:22: ` + where + `the weight of "alpha" is none: "-1"; write a number such as 3 or 0.75`},
		"a weight of words":       {"sort: weighted\nweights: {alpha: half}", `c.yaml:16:22: ` + where + `the weight of "alpha" is none: "half"; write a number such as 3 or 0.75`},
		"a weight of per cent":    {"sort: weighted\nweights: {alpha: 70%}", `c.yaml:16:22: ` + where + `the weight of "alpha" is none: "70%"; write a number such as 3 or 0.75`},
		"a weight of nothing":     {"sort: weighted\nweights: {alpha: }", `c.yaml:16:22: ` + where + `the weight of "alpha" is empty; remove the key or give a value`},
		"a vendor weighed twice":  {"sort: weighted\nweights: {alpha: 1, alpha: 2}", `c.yaml:16:25: ` + where + `key "alpha" stands twice in weights, on line 16 at columns 15 and 25; remove one of them`},
		"max_price":               {"max_price: {input: }", `c.yaml:15:24: policy "p", max_price: input is empty; remove the key or give a price`},
		"max_price key":           {"max_price: {cache_write: 1}", `c.yaml:15:17: policy "p", max_price: "cache_write" is not a key of max_price; the keys are input, output, cache_read`},
		"gate warm":               {"affinity: {gate: warm}", `c.yaml:15:22: ` + where + `gate warm is not built yet; use cache_read, own_price or off`},
		"gate expected":           {"affinity: {gate: expected}", `c.yaml:15:22: ` + where + `gate expected is not built yet; use cache_read, own_price or off`},
		"gate unknown":            {"affinity: {gate: cheap}", `c.yaml:15:22: ` + where + `gate "cheap" is not known; use cache_read, own_price or off`},
		"precedence":              {"affinity: {precedence: last}", `c.yaml:15:28: ` + where + `precedence "last" is not known; use pin or order`},
		"enabled":                 {`affinity: {enabled: "true"}`, `c.yaml:15:25: ` + where + `enabled must be true or false`},
	} {
		check(t, name, with("", "", c.line), strings.Split(c.want, "\n")...)
	}
}

func TestOneNamespace(t *testing.T) {
	share := "; names, aliases and policies share one namespace, so rename one"
	check(t, "clashes of every kind", frame+`  a: {aliases: [deft, petit], routes: [{vendor: alpha, model: a}]}
  b: {aliases: [deft, b], routes: [{vendor: alpha, model: b}]}
  a: {routes: [{vendor: alpha, model: a}]}
  petit: {routes: [{vendor: alpha, model: a}]}
policies:
  deft: {models: [a, deft]}
  b: {models: [b]}
  p: {models: [p, missing, peti]}
`,
		`c.yaml:6:23: model "a": "petit" is already model "petit", on lines 6 and 9`+share,
		`c.yaml:7:17: model "b": "deft" is already an alias of model "a", on lines 6 and 7`+share,
		`c.yaml:7:23: model "b": "b" is already model "b", on line 7 at columns 3 and 23`+share,
		`c.yaml:8:3: key "a" stands twice in models, on lines 6 and 8; remove one of them`,
		`c.yaml:11:3: policy "deft": "deft" is already an alias of model "a", on lines 6 and 11`+share,
		`c.yaml:11:22: policy "deft": models: model "a" stands twice, on line 11 at columns 19 and 22; remove one`,
		`c.yaml:12:3: policy "b": "b" is already model "b", on lines 7 and 12`+share,
		`c.yaml:13:16: policy "p": models: "p" is policy "p", on line 13; name models here`,
		`c.yaml:13:19: policy "p": model "missing" is not in this catalog; add it under models, or correct the name`,
		`c.yaml:13:28: policy "p": model "peti" is not in this catalog; did you mean "petit"?`,
	)
}

func TestMistakesOfModels(t *testing.T) {
	check(t, "routes", frame+`  one: {routes: []}
  two: {context: 1M}
  three:
    routes:
      - {vendor: alpha, model: x}
      - {vendor: gamma, model: x}
      - {vendor: alpha, model: y}
      - {model: z}
      - {vendor: beta}
      - alpha
  four:
  "five 5": {routes: [{vendor: beta, model: "a b"}]}
`,
		`c.yaml:6:17: model "one": has no routes; say which vendors serve the model, or remove it`,
		`c.yaml:7:8: model "two": routes is missing; say which vendors serve the model`,
		`c.yaml:7:18: model "two": context must be a whole number of tokens, one or more, such as 1024`,
		`c.yaml:11:18: model "three", route "gamma": vendor "gamma" is not in this catalog; add it under vendors, or correct the name`,
		`c.yaml:12:18: model "three", route "alpha": this model has two routes to vendor "alpha", on lines 10 and 12; remove one`,
		`c.yaml:13:9: model "three", route 4: vendor is missing; name one of the vendors above`,
		`c.yaml:14:9: model "three", route "beta": model is missing; give the vendor's own id of the model`,
		`c.yaml:15:9: model "three", route 6: a route must be a mapping of keys to values`,
		`c.yaml:16:8: model "four": a model is empty; remove the key or fill it`,
		`c.yaml:17:3: model "five 5": the name has a space or a character that does not print; a name has neither`,
		`c.yaml:17:45: model "five 5", route "beta": model "a b" has a space or a character that does not print; a name has neither`,
	)
}

func TestMistakesOfTheTop(t *testing.T) {
	check(t, "nothing there", "verion: 1\n",
		`c.yaml:1:1: "verion" is not a key of the catalog; did you mean "version"?`,
		`c.yaml:1:1: version is missing; write version: 1`,
		`c.yaml:1:1: vendors is missing; name at least one vendor`,
		`c.yaml:1:1: models is missing; name at least one model with a route`)
	check(t, "wrong values", "version: 2\ncurrency: dollars\nunit: million\nvendors: {}\nmodels: []\npolicies:\n",
		`c.yaml:1:10: version must be 1, the only one there is`,
		`c.yaml:2:11: currency "dollars" is not a code of three capitals, such as USD`,
		`c.yaml:3:7: unit "million" is not known; use per_million, per_thousand or per_token`,
		`c.yaml:4:10: vendors is empty; name at least one vendor`,
		`c.yaml:5:9: models must be a mapping of keys to values`,
		`c.yaml:6:10: policies is empty; remove the key or fill it`)
	check(t, "vendors", "version: 1\nvendors:\n  Alpha: {api: [], base_url: https://a.example}\n  b: {api: [grpc]}\n  c: {api: chat, base_url: }\nmodels: {m: {routes: [{vendor: b, model: m}]}}\n",
		`c.yaml:3:3: vendor "Alpha": a vendor's name is at most 64 small letters, digits, dots, dashes and underscores, because it stands in header names`,
		`c.yaml:3:16: vendor "Alpha": api is empty; say what the vendor speaks: chat, responses or messages`,
		`c.yaml:4:6: vendor "b": base_url is missing; give the address up to /chat/completions, /responses or /messages`,
		`c.yaml:4:13: vendor "b": api "grpc" is not known; use chat, responses or messages`,
		`c.yaml:5:12: vendor "c": api must be a list, such as [chat]`,
		`c.yaml:5:28: vendor "c": base_url is empty; remove the key or give a value`)
}

func TestNoProblemQuotesAKey(t *testing.T) {
	for _, line := range []string{
		"api_key: sk-canary", "credentials: [sk-canary]", "credentials: [{id: sk-canary, env: A-sk-canary}]", "credentials: [{id: main, key: sk-canary}]",
		"credentials: {sk: sk-canary}", "headers: {authorization: sk-canary}", "headers: {x-api-key: sk-canary}", "headers: {x-a: \"sk-canary\\n\"}", "auth: sk-canary",
		"credentials: [{id: main, env: [sk-canary]}]", "credentials: [{id: main, file: \"sk-canary\\n\"}]",
	} {
		_, err := Parse("c.yaml", []byte(with(line, "", "")))
		if err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestWarnings(t *testing.T) {
	c := parse(t, with("", "price: {input: 1, cache_read: 1}", "tags: [zdr]"))
	got := Problems(c.Warnings).Error()
	want := `catalog.yaml:12:39: model "m", route "alpha": cache_read 1 is not below input 1, so a warm cache is never preferred here
catalog.yaml:16:12: policy "p": no vendor, model or route carries the tag "zdr", so this policy has no route`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// FuzzCatalog: no text makes Parse panic, every problem has its place, in order,
// and what is accepted is accepted again with the same digest.
func FuzzCatalog(f *testing.F) {
	for _, name := range []string{"minimal.yaml", "full.yaml"} {
		_, text := example(f, name)
		f.Add(text)
	}
	f.Add([]byte(with("auth: {header: x}", "price: {cache_read: ~}", "order: [alpha]")))
	f.Add([]byte("version: 1\n<<: *a\n? [b]\n: &c !!d\n"))
	f.Add([]byte("a: [\n--- !x\n..."))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse("f", text)
		if err == nil {
			again, err := Parse("f", text)
			if err != nil || again.Digest != c.Digest {
				t.Fatalf("accepted, then %v", err)
			}
			for _, m := range c.Models {
				for _, r := range m.Routes {
					if r.Vendor == nil || r.Vendor.BaseURL == nil || r.Cache.TTL <= margin || r.UpstreamModel == "" {
						t.Fatalf("accepted with a broken route %+v", r)
					}
				}
				if target, ok := c.Resolve(m.Name); !ok || target.Models[0] != m || len(m.Routes) == 0 {
					t.Fatalf("accepted with a broken model %+v", m)
				}
			}
			for _, p := range c.Policies {
				if target, ok := c.Resolve(p.Name); !ok || target.Policy != p || len(target.Models) == 0 {
					t.Fatalf("accepted with a broken policy %+v", p)
				}
			}
			return
		}
		var all Problems
		if !errors.As(err, &all) || len(all) == 0 {
			t.Fatalf("the error is no Problems: %v", err)
		}
		for i, p := range all {
			if p.File != "f" || p.Line < 1 || p.Column < 1 || p.Message == "" || i > 0 && p.Line < all[i-1].Line {
				t.Fatalf("problem %d has no place or is out of order: %v", i, all)
			}
		}
	})
}
