package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
)

const supportKey, batchKey = "support-canary-0123456789", "batch-canary-0123456789"

// variables is a look-up of environment variables in a map.
func variables(all map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := all[name]
		return value, ok
	}
}

var bothKeys = variables(map[string]string{"SUPPORT_KEY": " " + supportKey + "\n", "BATCH_KEY": batchKey, "PROXY_KEY": "proxy-canary-0123456789", "SHOP_KEY": "shop-canary-0123456789", "SUPPORT_ANTHROPIC_KEY": "own-canary-1", "SUPPORT_AZURE_KEY": " own-canary-2\n", "SAME_KEY": supportKey, "SHORT_KEY": "fifteen-letters", "BLANK_KEY": " ", "ODD_KEY": "two words of a canary"})

func hashOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

func TestFullConfig(t *testing.T) {
	file, text := example(t, "warmroute.yaml")
	c, err := ParseConfig(file, text, bothKeys)
	if err != nil {
		t.Fatal(err)
	}
	if c.Path != file || len(c.Digest) != 64 || len(c.Warnings) != 0 {
		t.Errorf("path %s, digest %s, warnings %v", c.Path, c.Digest, c.Warnings)
	}
	const day = 24 * time.Hour
	spoken := ProfileSettings{Profile: Set(ProfileWarmroute), Gate: Set(GateCacheRead), OrderFirst: Set(false), Apart: Set(false),
		Sources: []SessionSource{SourceOption, SourceBody, SourceSessionHeader, SourceAffinityHeader, SourceOwnHeader, SourceCacheKey, SourceAgent, SourceFingerprint}}
	for what, pair := range map[string][2]any{
		"listen":              {c.Listen, Set("127.0.0.1:8080")},
		"admin":               {c.Admin, Set("127.0.0.1:9090")},
		"data":                {c.Data, Set("./data")},
		"catalog":             {c.Catalog, Set("catalog.yaml")},
		"open":                {c.Open, Set(false)},
		"log_level":           {c.LogLevel, Set("info")},
		"metadata":            {c.Metadata, Set("body")},
		"affinity":            {c.Affinity, AffinitySettings{spoken, Set(5 * time.Millisecond), Set(true), Set(decimal.New(1, -2))}},
		"on_client_left":      {c.OnClientLeft, Set(LeftDrain)},
		"drain":               {c.Drain, DrainSettings{Set(30 * time.Second), Set(int64(1 << 20))}},
		"retention":           {c.Retention, RetentionSettings{Set(30 * day), Set(7 * day), Set(400 * day)}},
		"timeouts":            {c.Timeouts, TimeoutSettings{Set(2 * time.Second), Set(10 * time.Minute), Set(2 * time.Minute), Set(time.Minute)}},
		"limits":              {c.Limits, LimitSettings{Set(int64(32 << 20)), Set(1_000_000), Set(6000)}},
		"tenants":             {len(c.Tenants), 4},
		"support's id":        {c.Tenants[0].ID, "support"},
		"support's profile":   {c.Tenants[0].Profile, Set(ProfileOpenRouter)},
		"support's gate":      {c.Tenants[0].Gate, Set(GateCacheRead)},
		"support's metadata":  {c.Tenants[0].Metadata, Set("header")},
		"support's only":      {c.Tenants[0].Only, []string{"anthropic", "azure-eu"}},
		"support's affinity":  {c.Tenants[0].Affinity, Set(true)},
		"support's first key": {c.Tenants[0].Keys[0], TenantKey{sha256.Sum256([]byte(supportKey)), "SUPPORT_KEY"}},
		"support's other key": {hex.EncodeToString(c.Tenants[0].Keys[1].SHA256[:]), "7d7b1d9bb4ee2efda5d5a3e6e40b0e90ff9f9a1ea4b9d6c4d3a1c8ad0bd3c5f2"},
		"batch's place":       {c.Tenants[1].Index, 1},
		"batch's limits":      {c.Tenants[1].Limits, TenantLimits{Set(100_000), Set(600)}},
		"batch's key":         {c.Tenants[1].Keys, []TenantKey{{sha256.Sum256([]byte(batchKey)), "BATCH_KEY"}}},
		"batch's affinity":    {c.Tenants[1].Affinity, Set(false)},
		"batch's clients":     {c.Tenants[1].Left, Set(LeftCancel)},
		"support's clients":   {c.Tenants[0].Left, Setting[ClientLeft]{}},
		"batch's gate":        {c.Tenants[1].Gate, Setting[Gate]{}},
		"proxy's affinity":    {c.Tenants[2].Affinity, Set(true)},
		"proxy's settings":    {c.Tenants[2].ProfileSettings, ProfileSettings{Profile: Set(ProfileLiteLLM), Checks: []RoutingCheck{CheckSession, CheckDeployment, CheckPrefix}}},
		"shop's affinity":     {c.Tenants[3].Affinity, Setting[bool]{}},
		"shop's settings": {c.Tenants[3].ProfileSettings, ProfileSettings{Profile: Set(ProfilePortkey), Gate: Set(GateOff), OrderFirst: Set(true), Apart: Set(true),
			Sources: []SessionSource{SourceHashFields, SourceSessionHeader},
			Sticky:  StickySettings{Set(true), []string{"metadata.user"}, Set(30 * time.Minute)}}},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s is %+v, not %+v", what, pair[0], pair[1])
		}
	}
	if printed := fmt.Sprintf("%+v %#v", c, c.Tenants[0]); strings.Contains(printed, "canary") {
		t.Errorf("a key is kept: %s", printed)
	}
	fullFile, fullText := example(t, "full.yaml")
	full, err := Parse(fullFile, fullText)
	if err != nil {
		t.Fatal(err)
	}
	if problems := c.Check(full); problems != nil {
		t.Errorf("it does not fit the example catalog: %v", problems)
	}
}

func TestWhatIsNotSet(t *testing.T) {
	c, err := ParseConfig("f", []byte("open: false\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if open, ok := c.Open.Get(); open || !ok || !c.Open.IsSet() || c.Open.Or(true) {
		t.Errorf("open: %t, %t", open, ok)
	}
	if listen, ok := c.Listen.Get(); ok || listen != "" || c.Listen.Or("x") != "x" || c.Tenants != nil || c.Affinity.Gate.IsSet() {
		t.Errorf("listen: %q, %t", listen, ok)
	}
}

func TestMistakesOfAConfig(t *testing.T) {
	literal := neverAKey["config file"]
	tenant := func(more string) string { return "tenants:\n- {id: a, keys: [{env: SUPPORT_KEY}], " + more + "}\n" }
	keys := func(list string) string { return "tenants:\n- {id: a, keys: " + list + "}\n" }
	for name, c := range map[string]struct{ text, want string }{
		"key misspelt":       {"lisen: x", `f:1:1: "lisen" is not a key of the config file; did you mean "listen"?`},
		"profile at the top": {"profile: vercel", `f:1:1: "profile" is not a key of the config file; it belongs in affinity, as in affinity: {profile: …}`},
		"models in it":       {"models: {}", `f:1:1: "models" is not a key of the config file; it belongs in the catalog, which --catalog names`},
		"only a profile":     {"affinity: vercel", `f:1:11: affinity: a profile must be a mapping of keys to values; write {profile: vercel}`},
		"another word":       {"affinity: on", `f:1:11: affinity: affinity must be a mapping of keys to values`},
		"weights":            {"affinity: {profile: portkey, weights: {a: 1}, sticky: {enabled: true, hash_fields: [user]}}", `f:1:30: affinity: "weights" is not a key of affinity; it belongs in a policy of the catalog, as in policies: {split: {models: [MODEL], sort: weighted, weights: {VENDOR: 70, OTHER: 30}}}`},
		"one key":            {"tenants:\n- {id: a, key: {env: SUPPORT_KEY}}", `f:2:11: tenant "a": key is not a key of a tenant; it may have several, so write keys: [{env: NAME}]`},
		"one key, written":   {"tenants:\n- {id: a, key: opensesame}", `f:2:11: tenant "a": ` + literal},
		"key twice":          {"open: true\nopen: true", `f:2:1: key "open" stands twice in the config file, on lines 1 and 2; remove one of them`},
		"empty":              {"", "f:1:1: the config file is empty; set something in it, such as listen: 127.0.0.1:8080, or start without it"},
		"an anchor":          {"data: &a x", "f:1:7: anchors such as &name are not used in a config file; remove it"},
		"syntax":             {"data: x\n\tlisten: y", "f:2:1: this is not YAML: found a tab character that violates indentation; indent with spaces, not tabs"},
		"listen":             {"listen: 8080", "f:1:9: listen is not an address; write host:port, such as 127.0.0.1:8080"},
		"listen port":        {"listen: 127.0.0.1:70000", "f:1:9: listen is not an address; write host:port, such as 127.0.0.1:8080"},
		"one port for both":  {"listen: 127.0.0.1:80\nadmin: 127.0.0.1:80", "f:2:8: admin is the same address as listen; give it a port of its own"},
		"open":               {"open: yes", "f:1:7: open must be true or false"},
		"log_level":          {"log_level: loud", `f:1:12: log_level "loud" is not known; use debug, info, warn or error`},
		"metadata":           {"metadata: headers", `f:1:11: metadata "headers" is not known; use body, header or off`},
		"profile unknown":    {"affinity: {profile: mine}", `f:1:21: affinity: profile "mine" is not known; use warmroute, vercel, openrouter, litellm, portkey, subconscious or merge`},
		"gate":               {"affinity: {gate: warm}", "f:1:18: affinity: gate warm is not built yet; use cache_read, own_price or off"},
		"deadline":           {"affinity: {deadline: 5}", `f:1:22: affinity: deadline "5" is not a duration; write a number with a unit, such as 1s`},
		"deadline too long":  {"affinity: {deadline: 2s}", `f:1:22: affinity: deadline "2s" is out of bounds; it may be from 1ms to 1s`},
		"deadline of zero":   {"affinity: {deadline: 0s}", `f:1:22: affinity: deadline "0s" is out of bounds; it may be from 1ms to 1s`},
		"retention":          {"retention: {turns: 30}", `f:1:20: retention: turns "30" is not a duration; write a number with a unit, such as 1m`},
		"retention of days":  {"retention: {days: 30d}", `f:1:13: retention: "days" is not a key of retention; the keys are turns, minutes, hours`},
		"timeouts":           {"timeouts: {idle: -1s}", `f:1:18: timeouts: idle "-1s" is out of bounds; it may be from 10ms to 1d`},
		"limits":             {"limits: {body: 32MB}", "f:1:16: limits: body must be a number of bytes from 1KiB to 1GiB, such as 32MiB"},
		"limits too much":    {"limits: {body: 99999GiB}", "f:1:16: limits: body must be a number of bytes from 1KiB to 1GiB, such as 32MiB"},
		"on_client_left":     {"on_client_left: wait", `f:1:17: on_client_left "wait" is not known; use cancel or drain`},
		"drain":              {"on_client_left: drain\ndrain: {time: 1h, bytes: 64}", "f:2:15: drain: time \"1h\" is out of bounds; it may be from 10ms to 10m\nf:2:26: drain: bytes must be a number of bytes from 1KiB to 1GiB, such as 32MiB"},
		"holdout":            {"affinity: {holdout: 0.51}", `f:1:21: affinity: holdout "0.51" is not a share of sessions; write a number from 0 to 0.5 in at most six decimals, such as 0.01 for one in a hundred`},
		"holdout too fine":   {"affinity: {holdout: 0.0000001}", `f:1:21: affinity: holdout "0.0000001" is not a share of sessions; write a number from 0 to 0.5 in at most six decimals, such as 0.01 for one in a hundred`},
		"holdout a percent":  {"affinity: {holdout: 1%}", `f:1:21: affinity: holdout "1%" is not a share of sessions; write a number from 0 to 0.5 in at most six decimals, such as 0.01 for one in a hundred`},
		"tenants a mapping":  {"tenants: {a: b}", "f:1:10: tenants must be a list, such as [{id: desk, keys: [{env: DESK_KEY}]}]"},
		"no tenants":         {"tenants: []", "f:1:10: tenants is an empty list; name at least one, or remove the key to run without tenants"},
		"tenant without id":  {"tenants:\n- {keys: [{env: SUPPORT_KEY}]}", "f:2:3: tenant 1: id is missing; give it a short name such as desk"},
		"tenant with no key": {"tenants:\n- {id: a}", `f:2:3: tenant "a": keys is missing; name at least one, such as keys: [{env: DESK_KEY}]`},
		"tenant, keys empty": {keys("[]"), `f:2:17: tenant "a": keys is an empty list, so nobody could use this tenant; name at least one, such as keys: [{env: DESK_KEY}]`},
		"tenant default":     {"tenants:\n- {id: default, keys: [{env: SUPPORT_KEY}]}", `f:2:8: tenant "default": id default is the name of the tenant there is when none is configured; choose another`},
		"tenant ill-formed":  {"tenants:\n- {id: Desk, keys: [{env: SUPPORT_KEY}]}", `f:2:8: tenant "Desk": id must be at most 64 small letters, digits, dots, dashes and underscores, and begin with a letter or a digit`},
		"tenant twice":       {"tenants:\n- {id: a, keys: [{env: SUPPORT_KEY}]}\n- {id: a, keys: [{env: BATCH_KEY}]}", `f:3:8: tenant "a": two tenants have the id "a", on lines 2 and 3; rename one`},
		"byok a word":        {tenant("byok: yes"), `f:2:45: tenant "a", byok: byok must be true or false`},
		"byok a key":         {tenant("byok: sk-canary-0123456789abcdef0123"), `f:2:45: tenant "a", byok: ` + (&reader{what: "config file"}).neverAKey()},
		"byok with nothing":  {tenant("byok: {}"), `f:2:45: tenant "a", byok: byok is empty; write byok: true, or {requests: true}`},
		"byok only nothing":  {tenant("byok: {only: true}"), `f:2:45: tenant "a", byok: only leaves no key at all: add requests: true, or keys`},
		"byok key literal":   {tenant("byok: {keys: {openai: sk-canary-0123456789abcdef0123}}"), `f:2:61: tenant "a", byok, key of "openai": ` + (&reader{what: "config file"}).neverAKey()},
		"byok key nowhere":   {tenant("byok: {keys: {openai: {}}}"), `f:2:61: tenant "a", byok, key of "openai": says not where the key is kept; add env: NAME or file: PATH`},
		"byok key unset":     {tenant("byok: {keys: {openai: {env: NOBODYS_KEY}}}"), `f:2:61: tenant "a", byok, key of "openai": environment variable NOBODYS_KEY is not set, or blank; put the key there before the gateway starts, or remove the entry`},
		"byok key file":      {tenant("byok: {keys: {openai: {file: ./nothing/here.txt}}}"), `f:2:61: tenant "a", byok, key of "openai": key file "./nothing/here.txt" cannot be read, or is blank; put the key there before the gateway starts, or remove the entry`},
		"byok no keys":       {"byok: {keys: {}}", `f:1:14: byok: keys is empty; name one, such as keys: {openai: {env: TEAM_OPENAI_KEY}}, or remove it`},
		"tenant profile":     {tenant("profile: merged"), `f:2:48: tenant "a": profile "merged" is not known; use warmroute, vercel, openrouter, litellm, portkey, subconscious or merge`},
		"tenant only nobody": {tenant("only: []"), `f:2:45: tenant "a": only is an empty list, which would leave no vendor; remove the key to allow all`},
		"tenant affinity":    {tenant("affinity: off"), `f:2:49: tenant "a": affinity must be true or false, or a mapping such as {profile: vercel}`},
		"tenant's deadline":  {tenant("affinity: {deadline: 5ms}"), `f:2:50: tenant "a", affinity: "deadline" is not a key of affinity of a tenant; the keys are profile, gate, precedence, subagents, sources, checks, sticky, enabled`},
		"profile twice":      {tenant("profile: merge, affinity: {profile: vercel}"), `f:2:75: tenant "a", affinity: profile stands in affinity and beside it, on line 2 at columns 48 and 75; keep one`},
		"precedence":         {"affinity: {precedence: mine}", `f:1:24: affinity: precedence "mine" is not known; use pin or order`},
		"subagents":          {"affinity: {subagents: alone}", `f:1:23: affinity: subagents "alone" is not known; use shared or separate`},
		"source unknown":     {"affinity: {sources: [header, x-session-id]}", "f:1:22: affinity: sources entry \"header\" is not known; use option, body, session_header, affinity_header, own_header, cache_key, agent, chain, fingerprint, api_key or hash_fields\nf:1:30: affinity: sources entry \"x-session-id\" is not known; use option, body, session_header, affinity_header, own_header, cache_key, agent, chain, fingerprint, api_key or hash_fields"},
		"source twice":       {"affinity: {sources: [body, body]}", `f:1:28: affinity: sources names "body" twice, on line 1 at columns 22 and 28; remove one of them`},
		"no sources":         {"affinity: {sources: []}", `f:1:21: affinity: sources is an empty list, so nothing would name a session; remove the key for the profile's own, or say enabled: false`},
		"source of Portkey":  {"affinity: {profile: vercel, sources: [body, hash_fields]}", "f:1:45: affinity: sources: hash_fields belongs to the profile portkey, and the profile is vercel; say profile: portkey, or remove it"},
		"checks of others":   {"affinity: {checks: [session_affinity]}", "f:1:20: affinity: checks belongs to the profile litellm, and the profile is warmroute; say profile: litellm, or remove it"},
		"check unknown":      {"affinity: {profile: litellm, checks: [prompt_cache]}", `f:1:39: affinity: checks entry "prompt_cache" is not known; use session_affinity, deployment_affinity or prompt_caching`},
		"check that holds":   {"affinity: {profile: litellm, checks: [responses_api_deployment_check]}", "f:1:39: affinity: checks entry responses_api_deployment_check needs no switch: such content always goes to who made it; remove the entry"},
		"sticky of others":   {"affinity: {profile: merge, sticky: {enabled: false}}", "f:1:36: affinity: sticky belongs to the profile portkey, and the profile is merge; say profile: portkey, or remove it"},
		"sticky by nothing":  {"affinity: {profile: portkey, sticky: {enabled: true}}", "f:1:38: affinity: hash_fields is missing in sticky; name the fields of a request that make a session, such as hash_fields: [metadata.user]"},
		"no hash_fields":     {"affinity: {profile: portkey, sticky: {enabled: true, hash_fields: []}}", "f:1:67: affinity, sticky: hash_fields is an empty list, so nothing would name a session; name at least one field, such as [metadata.user]"},
		"hash_fields":        {"affinity: {profile: portkey, sticky: {enabled: true, hash_fields: [metadata..user]}}", `f:1:68: affinity, sticky: hash_fields entry "metadata..user" is not a field of a request; write names joined by dots, such as metadata.user`},
		"sticky ttl":         {"affinity: {profile: portkey, sticky: {enabled: true, hash_fields: [user], ttl: 3600}}", `f:1:80: affinity, sticky: ttl "3600" is not a duration; write a number with a unit, such as 1m`},
		"fields unused":      {"affinity: {profile: portkey, sources: [body], sticky: {hash_fields: [user]}}", "f:1:55: affinity: sticky has hash_fields and sources leaves them out, so they name nothing; add hash_fields to sources, or remove sources"},
		"checks of a tenant": {"affinity: {profile: litellm, checks: [prompt_caching]}\n" + tenant("profile: vercel, affinity: {checks: [prompt_caching]}"), `f:3:75: tenant "a": checks belongs to the profile litellm, and the profile is vercel; say profile: litellm, or remove it`},
		"key literal":        {keys("[" + aKey + "]"), `f:2:18: tenant "a", key 1: ` + literal},
		"key under key":      {keys("[{key: canary}]"), `f:2:19: tenant "a", key 1: ` + literal},
		"key as env":         {keys("[{env: " + aKey + "}]"), `f:2:24: tenant "a", key 1: env must be the name of an environment variable, such as DESK_KEY, never a key`},
		"key as sha256":      {keys("[{sha256: " + aKey + "}]"), `f:2:27: tenant "a", key 1: sha256 must be the 64 hexadecimal digits of the key's SHA-256, as printed by: printf %s "$KEY" | sha256sum`},
		"key of nothing":     {keys("[{sha256: " + hashOf("") + "}]"), `f:2:27: tenant "a", key 1: sha256 is that of an empty text, so the key was not in the variable that was hashed; hash it anew`},
		"key of both":        {keys("[{env: SUPPORT_KEY, sha256: a}]"), `f:2:45: tenant "a", key 1: has both env and sha256; keep one`},
		"key of neither":     {keys("[{}]"), `f:2:18: tenant "a", key 1: says not which key; add env: NAME, or sha256: the SHA-256 of the key`},
		"key not set":        {keys("[{env: NO_KEY}]"), `f:2:24: tenant "a", key 1: environment variable NO_KEY is not set, or blank; put the key there before the gateway starts, or remove the entry`},
		"key blank":          {keys("[{env: BLANK_KEY}]"), `f:2:24: tenant "a", key 1: environment variable BLANK_KEY is not set, or blank; put the key there before the gateway starts, or remove the entry`},
		"key short":          {keys("[{env: SHORT_KEY}]"), `f:2:24: tenant "a", key 1: environment variable SHORT_KEY holds a key shorter than 16 characters, which can be guessed; make a longer one, such as by: openssl rand -hex 32`},
		"key of two words":   {keys("[{env: ODD_KEY}]"), `f:2:24: tenant "a", key 1: environment variable ODD_KEY holds a text with spaces or characters that no header can carry, which is no key`},
		"one key twice":      {keys("[{env: SUPPORT_KEY}, {env: SAME_KEY}]"), `f:2:44: tenant "a", key 2: is the same key as tenant "a", key 1, on line 2 at columns 24 and 44; give every tenant keys of its own, each once`},
		"key and its hash":   {"tenants:\n- {id: a, keys: [{env: SUPPORT_KEY}]}\n- {id: b, keys: [{sha256: " + strings.ToUpper(hashOf(supportKey)) + "}]}", `f:3:27: tenant "b", key 1: is the same key as tenant "a", key 1, on lines 2 and 3; give every tenant keys of its own, each once`},
		"all at once":        {"opn: true\nlimits: {body: 0}\ntenants: [{id: A}]", "f:1:1: \"opn\" is not a key of the config file; did you mean \"open\"?\nf:2:16: limits: body must be a number of bytes from 1KiB to 1GiB, such as 32MiB\nf:3:11: tenant \"A\": keys is missing; name at least one, such as keys: [{env: DESK_KEY}]\nf:3:16: tenant \"A\": id must be at most 64 small letters, digits, dots, dashes and underscores, and begin with a letter or a digit"},
	} {
		_, err := ParseConfig("f", []byte(c.text), bothKeys)
		var all Problems
		if !errors.As(err, &all) || err.Error() != c.want {
			t.Errorf("%s:\n%v\nwant:\n%s", name, err, c.want)
		}
		if strings.Contains(fmt.Sprint(err), "canary") || strings.Contains(fmt.Sprint(err), aKey[:12]) {
			t.Errorf("%s shows a key: %v", name, err)
		}
	}
}

// A profile that is off until something is said warns where nothing is.
func TestAProfileThatIsOff(t *testing.T) {
	tenant := func(more string) string { return "tenants:\n- {id: a, keys: [{env: SUPPORT_KEY}], " + more + "}\n" }
	for name, c := range map[string]struct{ text, want string }{
		"no checks":             {"affinity: {profile: litellm}", "f:1:21: affinity: affinity is off until checks name some of session_affinity, deployment_affinity, prompt_caching; so the profile litellm has it"},
		"empty checks":          {"affinity: {profile: litellm, checks: []}", "f:1:21: affinity: affinity is off until checks name some of session_affinity, deployment_affinity, prompt_caching; so the profile litellm has it"},
		"a check":               {"affinity: {profile: litellm, checks: [deployment_affinity]}", ""},
		"not sticky":            {"affinity: {profile: portkey, sticky: {hash_fields: [user]}}", "f:1:21: affinity: affinity is off until sticky has enabled: true and hash_fields; so the profile portkey has it"},
		"sticky":                {"affinity: {profile: portkey, sticky: {enabled: true, hash_fields: [user]}}", ""},
		"a tenant's":            {tenant("profile: portkey"), `f:2:48: tenant "a": affinity is off until sticky has enabled: true and hash_fields; so the profile portkey has it`},
		"a tenant's by others":  {"affinity: {profile: portkey, sticky: {enabled: true, hash_fields: [user]}}\n" + tenant("profile: portkey"), ""},
		"a tenant's own checks": {"affinity: {profile: litellm}\n" + tenant("affinity: {checks: [prompt_caching]}"), "f:1:21: affinity: affinity is off until checks name some of session_affinity, deployment_affinity, prompt_caching; so the profile litellm has it"},
		"another profile":       {tenant("profile: vercel"), ""},
	} {
		config, err := ParseConfig("f", []byte(c.text), bothKeys)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := Problems(config.Warnings); len(got) == 0 && c.want != "" || len(got) > 0 && got.Error() != c.want {
			t.Errorf("%s:\n%v\nwant:\n%s", name, got, c.want)
		}
	}
}

// What a tenant says goes before what all say, as long as both mean one profile.
func TestSettingsOverOthers(t *testing.T) {
	base := ProfileSettings{Profile: Set(ProfileLiteLLM), Gate: Set(GateOwnPrice), OrderFirst: Set(true), Checks: []RoutingCheck{CheckPrefix}}
	for name, c := range map[string]struct{ said, want ProfileSettings }{
		"nothing":         {ProfileSettings{}, base},
		"a gate":          {ProfileSettings{Gate: Set(GateOff)}, ProfileSettings{Profile: Set(ProfileLiteLLM), Gate: Set(GateOff), OrderFirst: Set(true), Checks: []RoutingCheck{CheckPrefix}}},
		"no checks":       {ProfileSettings{Checks: []RoutingCheck{}}, ProfileSettings{Profile: Set(ProfileLiteLLM), Gate: Set(GateOwnPrice), OrderFirst: Set(true), Checks: []RoutingCheck{}}},
		"one profile":     {ProfileSettings{Profile: Set(ProfileLiteLLM), Apart: Set(false)}, ProfileSettings{Profile: Set(ProfileLiteLLM), Gate: Set(GateOwnPrice), OrderFirst: Set(true), Apart: Set(false), Checks: []RoutingCheck{CheckPrefix}}},
		"another profile": {ProfileSettings{Profile: Set(ProfileMerge)}, ProfileSettings{Profile: Set(ProfileMerge)}},
	} {
		if got := c.said.Over(base); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, not %+v", name, got, c.want)
		}
	}
	unnamed := ProfileSettings{Gate: Set(GateOff)}
	if got := (ProfileSettings{Profile: Set(ProfileWarmroute)}).Over(unnamed); got.Gate != Set(GateOff) {
		t.Errorf("the default profile by name is not the default one: %+v", got)
	}
}

// Beyond the places above, a key put anywhere in a tenant is not shown.
func TestAKeyInAConfigIsNeverShown(t *testing.T) {
	for _, line := range []string{
		"tenants: KEY", "tenants: [KEY]", "tenants: {KEY: a}", "tenants: [{KEY: a}]", "tenants: [{id: KEY, keys: [{env: SUPPORT_KEY}]}]", "tenants: [{id: a, keys: KEY}]",
		"tenants: [{id: a, keys: {KEY: b}}]", "tenants: [{id: a, keys: [{KEY: b}]}]", "tenants: [{id: a, keys: [{env: SUPPORT_KEY}], gate: KEY}]",
		"tenants: [{id: a, keys: [{env: SUPPORT_KEY}], only: [KEY, KEY]}]", "KEY: a", "listen: KEY", "metadata: KEY", "limits: {body: KEY}", "timeouts: {idle: KEY}",
	} {
		_, err := ParseConfig("f", []byte(strings.ReplaceAll(line, "KEY", aKey)), bothKeys)
		line = strings.ReplaceAll(line, "SUPPORT_KEY", "")
		if err == nil || strings.Contains(err.Error(), aKey[:12]) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestAConfigFitsACatalog(t *testing.T) {
	full, err := ParseKeys("catalog.yaml", []byte(frame+"  m: {routes: [{vendor: alpha, model: m}]}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ParseConfig("f", []byte(`tenants:
- {id: a, keys: [{env: SUPPORT_KEY}], only: [alhpa, alpha, zeta-cloud]}
- {id: b, keys: [{env: BATCH_KEY}], only: [beta]}
- {id: c, keys: [{env: C}]}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `f:2:46: tenant "a": only: vendor "alhpa" is not in the catalog catalog.yaml; did you mean "alpha"?
f:2:60: tenant "a": only: vendor "zeta-cloud" is not in the catalog catalog.yaml; add it under vendors there, or correct the name
f:3:44: tenant "b": only: no model in the catalog catalog.yaml has a route in use to these vendors, so every request of this tenant would be refused`
	if got := c.Check(full).Error(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestLoadConfig(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "warmroute.yaml")
	if _, err := LoadConfig(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := LoadConfig(dir); err == nil || !strings.Contains(err.Error(), "config file cannot be read") {
		t.Errorf("a folder: %v", err)
	}
	t.Setenv("WARMROUTE_TEST_TENANT", supportKey)
	write(t, path, "tenants: [{id: a, keys: [{env: WARMROUTE_TEST_TENANT}]}]\n")
	c, err := LoadConfig(path)
	if err != nil || c.Tenants[0].Keys[0].SHA256 != sha256.Sum256([]byte(supportKey)) {
		t.Errorf("%+v, %v", c, err)
	}
	write(t, path, "#"+strings.Repeat("x", MaxSize))
	if _, err := LoadConfig(path); err == nil || !strings.Contains(err.Error(), "goes on past 4 MiB") {
		t.Errorf("a large file: %v", err)
	}
}

func TestDrainLimitsThatLimitNothing(t *testing.T) {
	for text, warns := range map[string]bool{
		"drain: {time: 5s}\n":                                                                 true,
		"on_client_left: cancel\ndrain: {time: 5s}\n":                                         true,
		"on_client_left: drain\ndrain: {time: 5s}\n":                                          false,
		"drain: {bytes: 1KiB}\ntenants: [{id: a, keys: [{env: A}], on_client_left: drain}]\n": false,
		"on_client_left: drain\n":                                                             false,
	} {
		c, err := ParseConfig("f", []byte(text), nil)
		if err != nil || (len(c.Warnings) > 0) != warns {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
}

func TestRetentionForever(t *testing.T) {
	c, err := ParseConfig("f", []byte("retention: {turns: forever, minutes: 90m}\ntimeouts: {drain: 0s}\nlimits: {body: 4096}\nlisten: ':0'\nadmin: ':0'\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Retention.Turns != Set(time.Duration(-1)) || c.Retention.Minutes != Set(90*time.Minute) || c.Retention.Hours.IsSet() ||
		c.Timeouts.Drain != Set(time.Duration(0)) || c.Limits.Body != Set(int64(4096)) {
		t.Errorf("%+v", c)
	}
}

// FuzzConfig: no text makes ParseConfig panic, every problem has its place, in
// order, and what is accepted is whole.
func FuzzConfig(f *testing.F) {
	_, text := example(f, "warmroute.yaml")
	f.Add(text)
	f.Add([]byte("tenants: [{id: a, keys: [{env: SUPPORT_KEY}, {sha256: 00}], only: []}]\nlimits: {body: 1KiB}\n"))
	f.Add([]byte("listen: ':0'\n? [b]\n: &c !!d\n"))
	f.Add([]byte("retention: {turns: 1d, hours: ~}\n---\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseConfig("f", text, bothKeys)
		if err != nil {
			var all Problems
			if !errors.As(err, &all) || len(all) == 0 || len(all) > MaxProblems+1 {
				t.Fatalf("the error is no Problems: %v", err)
			}
			for i, p := range all {
				if p.File != "f" || p.Line < 1 || p.Column < 1 || p.Message == "" || i > 0 && p.Line < all[i-1].Line {
					t.Fatalf("problem %d has no place or is out of order: %v", i, all)
				}
				if strings.Contains(p.Message, "canary-0123456789") && !strings.Contains(string(text), "canary") {
					t.Fatalf("a key is shown: %s", p)
				}
			}
			return
		}
		ids, keys := map[string]bool{}, map[[32]byte]bool{}
		for i, tenant := range c.Tenants {
			if !isSlug(tenant.ID) || tenant.ID == DefaultTenant || ids[tenant.ID] || tenant.Index != i || len(tenant.Keys) == 0 {
				t.Fatalf("accepted with a broken tenant %+v", tenant)
			}
			ids[tenant.ID] = true
			for _, key := range tenant.Keys {
				if keys[key.SHA256] || key.SHA256 == [32]byte{} {
					t.Fatalf("accepted with a broken key %+v", key)
				}
				keys[key.SHA256] = true
			}
		}
		if d, ok := c.Affinity.Deadline.Get(); ok && (d < time.Millisecond || d > time.Second) {
			t.Fatalf("deadline %s", d)
		}
		if b, ok := c.Limits.Body.Get(); ok && b < 1024 {
			t.Fatalf("body %d", b)
		}
	})
}

// A tenant's own keys are read from where they are kept, shown to nobody, and must be
// of vendors that it may use.
func TestOwnKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.txt")
	if err := os.WriteFile(path, []byte("own-canary-3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := `
tenants:
- {id: a, keys: [{env: SUPPORT_KEY}], only: [pier, reef], byok: {only: true, keys: {pier: {env: SUPPORT_AZURE_KEY}, quay: {file: ` + path + `}}}}
- {id: b, keys: [{env: BATCH_KEY}], byok: true}
`
	c, err := ParseConfig("f", []byte(text), bothKeys)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := c.Tenants[0].Byok.Get()
	b, _ := c.Tenants[1].Byok.Get()
	if a.Requests || !a.Only || len(a.Keys) != 2 || !b.Requests || b.Only || b.Keys != nil || c.Byok.IsSet() {
		t.Fatalf("%+v, %+v", a, b)
	}
	for i, want := range []string{"own-canary-2", "own-canary-3"} {
		if secret, ok := a.Keys[i].Secret(); !ok || secret.Reveal() != want {
			t.Errorf("key %d: %q", i, secret.Reveal())
		}
	}
	if shown := fmt.Sprintf("%+v", a.Keys); strings.Contains(shown, "canary") {
		t.Errorf("shown: %s", shown)
	}
	with, err := Parse("c", []byte("version: 1\nvendors:\n  pier: {api: [chat], base_url: https://pier.example/v1}\n  reef: {api: [chat], base_url: https://reef.example/v1}\nmodels:\n  m: {routes: [{vendor: pier, model: m}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	problems := fmt.Sprint(c.Check(with))
	if !strings.Contains(problems, `tenant "a", byok: keys: vendor "quay" is not in the catalog c`) {
		t.Errorf("%s", problems)
	}
	text = strings.Replace(text, "only: [pier, reef]", "only: [reef]", 1)
	if c, err = ParseConfig("f", []byte(strings.Replace(text, ", quay: {file: "+path+"}", "", 1)), bothKeys); err != nil {
		t.Fatal(err)
	}
	if problems := fmt.Sprint(c.Check(with)); !strings.Contains(problems, `the tenant may not use "pier" (only)`) {
		t.Errorf("%s", problems)
	}
}
