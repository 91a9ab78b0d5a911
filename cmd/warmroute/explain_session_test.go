package main

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/engine"
)

// Without a session there is no pin; what would name one is the profile's to say.
func TestExplainSaysWhatWouldNameASession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "warmroute.yaml")
	if err := os.WriteFile(path, []byte(`tenants:
- {id: boats, keys: [{env: X}], affinity: {profile: litellm, checks: [session_affinity]}}
- {id: shop, keys: [{env: Y}], affinity: {profile: portkey, sticky: {enabled: true, hash_fields: [metadata.user, user]}}}
- {id: labels, keys: [{env: Z}], affinity: {profile: merge, sources: [cache_key, fingerprint]}}
- {id: options, keys: [{env: U}], affinity: {sources: [option]}}
- {id: openings, keys: [{env: V}], affinity: {sources: [fingerprint]}}
- {id: bodies, keys: [{env: W}], affinity: {profile: subconscious, sources: [body]}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	const unnamedBody = `{"model":"sea/charts","messages":[]}`
	for _, c := range []struct {
		q    question
		says string
	}{
		{question{}, "add -H 'x-session-id: …'"},
		{question{Profile: "litellm"}, "affinity is off until checks name"},
		{question{Profile: "portkey"}, "affinity is off until sticky has"},
		{question{Tenant: "shop"}, "add metadata.user, user to its body"},
		{question{Tenant: "labels"}, "add prompt_cache_key to its body"},
		{question{Tenant: "options"}, "add providerOptions.gateway.sessionId to its body"},
		{question{Tenant: "openings"}, "so give it messages"},
		{question{Tenant: "bodies"}, "add session_id to its body"},
	} {
		if c.q.Pins = []string{"pier"}; c.q.Tenant != "" {
			c.q.Config = path
		}
		_, err := asked(t, c.q, unnamedBody)
		var exit coded
		if !errors.As(err, &exit) || exit.code != exitUsage || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.q, err, c.says)
		}
	}
	// LiteLLM's deployments stick to the caller's key, and a tenant's caller has one.
	ids := map[string]bool{}
	for _, headers := range [][]string{nil, {"authorization: Bearer one"}, {"x-api-key: one"}, {"api-key: another"}} {
		e, err := asked(t, question{Config: path, Tenant: "boats", Pins: []string{"pier"}, Headers: headers}, unnamedBody)
		if err != nil || e.Session.ID == "" {
			t.Fatalf("%q: %+v, %v", headers, e, err)
		}
		ids[e.Session.ID] = true
	}
	if len(ids) != 3 {
		t.Errorf("%d sessions, of a supposed key and two that were presented", len(ids))
	}
}

func TestOfTheKeyOnlyAHashIsLeft(t *testing.T) {
	h := http.Header{"Authorization": {"Bearer k"}, "X-Api-Key": {"k"}, "X-Session-Id": {"s"}}
	if key := callersKey(h, ""); len(key) != 64 || len(h) != 1 {
		t.Errorf("%q, %v", key, h)
	}
	if key := callersKey(http.Header{}, ""); key != "" {
		t.Errorf("nobody presented %q", key)
	}
}

func TestExplainHearsTheEnvironmentAsServeDoes(t *testing.T) {
	for name, value := range map[string]string{"WARMROUTE_PROFILE": "openrouter", "WARMROUTE_PIN": "reef", "WARMROUTE_API": "speech"} {
		t.Setenv(name, value)
	}
	path := filepath.Join(t.TempDir(), "catalog.yaml")
	if err := os.WriteFile(path, []byte(harbour), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WARMROUTE_CATALOG", path)
	said := func(args ...string) string {
		t.Helper()
		c := explainCommand()
		var text strings.Builder
		c.SetArgs(append(args, "--pin", "pier@1m", "--at", "2026-11-29T09:30:00Z"))
		c.SetIn(strings.NewReader(named))
		c.SetOut(&text)
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	if text := said(); !strings.Contains(text, "openrouter") || !strings.Contains(text, "expires 9m0s after") {
		t.Errorf("the environment names openrouter:\n%s", text)
	}
	if text := said("--profile", "vercel"); !strings.Contains(text, "vercel") {
		t.Errorf("a flag goes before it:\n%s", text)
	}
	// The catalog is the file's where nothing before it names one.
	os.Unsetenv("WARMROUTE_CATALOG") // t.Setenv puts it back
	config := filepath.Join(t.TempDir(), "warmroute.yaml")
	if err := os.WriteFile(config, []byte("catalog: "+path+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text := said("--config", config); !strings.Contains(text, "pinned to pier") {
		t.Errorf("by the file's catalog:\n%s", text)
	}
}

// Each source has words for naming; none is left with those for no source at all.
func TestEveryProfileCanBeNamedASession(t *testing.T) {
	for _, p := range engine.Profiles() {
		if words := naming(p); !strings.HasPrefix(words, "add ") {
			t.Errorf("%s: %s", p.Name, words)
		}
	}
}
