package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// withConfig are the settings of serve with a configuration file of this text.
func withConfig(t *testing.T, text string) *settings {
	t.Helper()
	s := &settings{Affinity: true, Config: filepath.Join(t.TempDir(), "warmroute.yaml")}
	if err := os.WriteFile(s.Config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.readConfig(serveCommand().Flags()); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhoseRulesHold(t *testing.T) {
	for name, c := range map[string]struct {
		file, profile, gate string // flags
		want                catalog.Profile
		wantGate            catalog.Gate
		orderFirst          bool
	}{
		"nothing said":                              {"open: false", "", "", catalog.ProfileWarmroute, catalog.GateCacheRead, false},
		"the file's":                                {"affinity: {profile: openrouter}", "", "", catalog.ProfileOpenRouter, catalog.GateOwnPrice, true},
		"the file's, with a gate":                   {"affinity: {profile: openrouter, gate: off}", "", "", catalog.ProfileOpenRouter, catalog.GateOff, true},
		"a gate for the default":                    {"affinity: {gate: own_price}", "", "", catalog.ProfileWarmroute, catalog.GateOwnPrice, false},
		"a flag's gate":                             {"affinity: {profile: openrouter, gate: off}", "", "cache_read", catalog.ProfileOpenRouter, catalog.GateCacheRead, true},
		"a flag's profile, not what was at another": {"affinity: {profile: openrouter, gate: off}", "merge", "", catalog.ProfileMerge, catalog.GateCacheRead, false},
		"a flag's profile, the same":                {"affinity: {profile: openrouter, gate: off, precedence: pin}", "openrouter", "", catalog.ProfileOpenRouter, catalog.GateOff, false},
		"a flag's both":                             {"affinity: {precedence: order}", "vercel", "cache_read", catalog.ProfileVercel, catalog.GateCacheRead, false},
	} {
		s := withConfig(t, c.file+"\n")
		s.Profile, s.Gate = c.profile, c.gate
		p, err := s.profile()
		if err != nil || p.Name != c.want || p.Gate != c.wantGate || p.OrderFirst != c.orderFirst {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	for _, flags := range [][2]string{{"mine", ""}, {"", "warmest"}} {
		if err := knownProfile(flags[0], flags[1]); err == nil || !strings.Contains(err.Error(), "say ") {
			t.Errorf("%q is accepted: %v", flags, err)
		}
	}
}

// A gateway as its users know it, for all and for one tenant: OpenRouter's order goes
// before a pin, Vercel's pin before an order.
func TestAProfileForAllAndForATenant(t *testing.T) {
	first, _ := simulated(t, "first")
	second, _ := simulated(t, "second")
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	twoVendors(t, path, first, second, ", cache_read: 0.30", "5m")
	config := tenantsConfig(t, dir, "")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	heron := strings.Replace(string(text), "metadata: header, only: [second]", "profile: openrouter", 1)
	if err := os.WriteFile(config, []byte(heron), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WARMROUTE_PROFILE", "vercel")
	p := start(t, "serve", "--catalog", path, "--data", filepath.Join(dir, "data"), "--config", config)
	var ready struct{ Profile string }
	p.get(t, "/readyz?verbose", &ready)
	if ready.Profile != "vercel" {
		t.Errorf("it says that %q holds", ready.Profile)
	}
	ask := func(key, order string) answer {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.gateway+"/v1/chat/completions",
			strings.NewReader(fmt.Sprintf(`{"model":"sea/charts","session_id":"dory","providerOptions":{"gateway":{"order":[%q]}},"messages":[{"role":"user","content":"Which wood floats?"}]}`, order)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("content-type", "application/json")
		r.Header.Set("authorization", "Bearer "+key)
		return do(t, r)
	}
	for _, c := range []struct{ key, order, vendor, outcome string }{
		{gullKey, "first", "first", "no_pin"}, {gullKey, "second", "first", "promoted"},
		{heronKey, "first", "first", "no_pin"}, {heronKey, "second", "second", "skipped_order"},
	} {
		if a := ask(c.key, c.order); a.Header.Get("x-warmroute-vendor") != c.vendor || a.Affinity.Outcome != c.outcome {
			t.Errorf("ordered %s: %s served, %s; want %s, %s", c.order, a.Header.Get("x-warmroute-vendor"), a.Affinity.Outcome, c.vendor, c.outcome)
		}
	}
}

// Where LiteLLM's callers name no session, their key does.
func TestACallersKeyIsItsSession(t *testing.T) {
	first, _ := simulated(t, "first")
	second, _ := simulated(t, "second")
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	twoVendors(t, path, first, second, ", cache_read: 0.30", "5m")
	p := start(t, "serve", "--catalog", path, "--data", filepath.Join(dir, "data"), "--config", tenantsConfig(t, dir, "affinity: {profile: litellm, checks: [deployment_affinity]}\n"))
	for i, want := range []string{"no_pin", "confirmed"} {
		if a := p.askAs(t, gullKey, "other-each-time-"+want); a.Affinity.Outcome != want || a.Affinity.PinnedProvider != map[bool]string{true: "first"}[i > 0] {
			t.Errorf("turn %d says %s", i+1, a.Body)
		}
	}
	if a := p.askAs(t, heronKey, "dory"); a.Header.Get("x-warmroute-outcome") != "no_pin" {
		t.Errorf("another caller's key has %s", a.Header.Get("x-warmroute-outcome"))
	}
	if strings.Contains(p.logs.String(), "CANARY") {
		t.Errorf("the log holds a key:\n%s", p.logs)
	}
}

func TestExplainByAnotherProfile(t *testing.T) {
	const ordered = `{"model":"sea/charts","session_id":"boat","providerOptions":{"gateway":{"order":["quay"]}},"messages":[{"role":"user","content":"hi"}]}`
	for _, c := range []struct {
		profile string
		want    engine.Outcome
		ends    string
	}{
		{"", engine.Promoted, "4m45s"}, {"vercel", engine.Promoted, "4m45s"}, {"openrouter", engine.SkippedOrder, "10m0s"}, {"merge", engine.Promoted, "10m0s"},
	} {
		e, err := asked(t, question{Profile: c.profile, Pins: []string{"pier@0s"}}, ordered)
		if err != nil {
			t.Fatal(err)
		}
		if m := e.Models[0]; m.Outcome != c.want || e.Supposed[0].Ends.Sub(e.At).String() != c.ends {
			t.Errorf("%s: %s, ends after %s; want %s, %s", c.profile, m.Outcome, e.Supposed[0].Ends.Sub(e.At), c.want, c.ends)
		}
		if want := c.profile; want != "" && string(e.Profile) != want {
			t.Errorf("%s is shown as %s", want, e.Profile)
		}
	}
	e, err := asked(t, question{Profile: "litellm"}, ordered)
	if err != nil || e.Models[0].Outcome != engine.SkippedModeOff || !strings.Contains(strings.Join(e.Notes, "\n"), "affinity is off until checks name some of") {
		t.Errorf("an explanation of what is off: %+v, %v", e, err)
	}
	var text strings.Builder
	if err := e.print(&text); err != nil || !strings.Contains(text.String(), "profile") || !strings.Contains(text.String(), "litellm") {
		t.Errorf("%v\n%s", err, text.String())
	}
	config := filepath.Join(t.TempDir(), "warmroute.yaml")
	if err := os.WriteFile(config, []byte(`affinity: {profile: openrouter}
tenants:
  - {id: mole, keys: [{env: MOLE_KEY_THAT_IS_NOT_SET}], profile: vercel}
  - {id: wall, keys: [{env: WALL_KEY_THAT_IS_NOT_SET}], affinity: {precedence: pin, gate: cache_read}}
  - {id: reef, keys: [{env: REEF_KEY_THAT_IS_NOT_SET}], affinity: false, only: [pier]}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tenant, profile string
		want            engine.Outcome
		holds           catalog.Profile
	}{
		{"", "", engine.SkippedOrder, "openrouter"}, {"mole", "", engine.Promoted, "vercel"}, {"wall", "", engine.Promoted, "openrouter"},
		{"reef", "", engine.SkippedModeOff, "openrouter"}, {"mole", "openrouter", engine.SkippedOrder, "openrouter"},
	} {
		e, err := asked(t, question{Config: config, Tenant: c.tenant, Profile: c.profile, Pins: []string{"pier@0s"}}, ordered)
		if err != nil {
			t.Fatal(err)
		}
		if e.Models[0].Outcome != c.want || e.Profile != c.holds || c.tenant == "reef" && len(e.Order) != 1 {
			t.Errorf("%q: %s by %s, %d to try; want %s by %s", c.tenant, e.Models[0].Outcome, e.Profile, len(e.Order), c.want, c.holds)
		}
	}
	for _, c := range []struct {
		q    question
		exit int
	}{
		{question{Tenant: "mole"}, exitUsage}, {question{Config: config, Tenant: "moel"}, exitNotFound}, {question{Config: config + "x"}, exitNotFound},
	} {
		if _, err := asked(t, c.q, ordered); exitOf(err) != c.exit {
			t.Errorf("%+v: %v", c.q, err)
		}
	}
	if _, err := asked(t, question{Profile: "mine"}, ordered); exitOf(err) != exitUsage {
		t.Errorf("a profile that is none: %v", err)
	}
}
