package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	gullKey  = "wr-crew-gull-CANARY-0123456789"
	heronKey = "wr-crew-heron-CANARY-9876543210"
)

// tenantsConfig names two tenants; heron hides the metadata.
func tenantsConfig(t *testing.T, dir, more string) string {
	t.Helper()
	hash := func(key string) string {
		sum := sha256.Sum256([]byte(key))
		return hex.EncodeToString(sum[:])
	}
	path := filepath.Join(dir, "warmroute.yaml")
	text := fmt.Sprintf("tenants:\n  - {id: crew-gull, keys: [{sha256: %s}]}\n  - {id: crew-heron, keys: [{sha256: %s}], metadata: header, only: [second]}\n%s", hash(gullKey), hash(heronKey), more)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// askAs sends one chat turn with a tenant's key.
func (p *process) askAs(t *testing.T, key, session string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.gateway+"/v1/chat/completions",
		strings.NewReader(`{"model":"sea/charts","messages":[{"role":"user","content":"Which wood floats?"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("content-type", "application/json")
	r.Header.Set("x-session-id", session)
	if key != "" {
		r.Header.Set("authorization", "Bearer "+key)
	}
	return do(t, r)
}

func TestTwoTenantsShareAGateway(t *testing.T) {
	first, _ := simulated(t, "first")
	second, _ := simulated(t, "second")
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	twoVendors(t, path, first, second, ", cache_read: 0.30", "5m")
	p := start(t, "serve", "--catalog", path, "--data", filepath.Join(dir, "data"), "--config", tenantsConfig(t, dir, "log_level: debug\n"))

	for _, key := range []string{"", "wr-nobody-CANARY-000000000000"} {
		if a := p.askAs(t, key, "dory"); a.Status != http.StatusUnauthorized || strings.Contains(a.Body, "CANARY") {
			t.Errorf("key %q answers %d %s", key, a.Status, a.Body)
		}
	}
	if a := p.askAs(t, gullKey, "dory"); a.Affinity.Outcome != "no_pin" || a.Header.Get("x-warmroute-vendor") != "first" {
		t.Errorf("gull's first turn says %s", a.Body)
	}
	// The same session id, and the tenant's own settings: only one vendor, nothing in the body.
	if a := p.askAs(t, heronKey, "dory"); a.Header.Get("x-warmroute-outcome") != "no_pin" || a.Header.Get("x-warmroute-vendor") != "second" || a.Affinity.Outcome != "" {
		t.Errorf("heron's first turn says %v %s", a.Header, a.Body)
	}
	if a := p.askAs(t, gullKey, "dory"); a.Affinity.Outcome != "confirmed" || a.Affinity.PinnedProvider != "first" {
		t.Errorf("gull's second turn says %s", a.Body)
	}
	var turns struct{ Turns []struct{ Tenant string } }
	p.until(t, "three turns are booked", func(ready) bool {
		turns.Turns = nil
		p.get(t, "/api/v1/turns?tenant=crew-gull", &turns)
		return len(turns.Turns) == 2
	})
	for _, turn := range turns.Turns {
		if turn.Tenant != "crew-gull" {
			t.Errorf("gull's list holds a turn of %s", turn.Tenant)
		}
	}
	if strings.Contains(p.logs.String(), "CANARY") {
		t.Errorf("the log holds a key:\n%s", p.logs)
	}
}

func TestFlagBeforeEnvironmentBeforeFile(t *testing.T) {
	first, _ := simulated(t, "first")
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	twoVendors(t, path, first, first, "", "5m")
	config := filepath.Join(dir, "warmroute.yaml")
	text := fmt.Sprintf("catalog: %s\ndata: %s\nmetadata: off\n", path, filepath.Join(dir, "data"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	outcome := func(args ...string) string {
		p := start(t, append([]string{"serve", "--config", config}, args...)...)
		a := p.ask(t, "sea/charts", "dory")
		_ = p.stop(t, os.Interrupt)
		switch {
		case a.Affinity.Outcome != "":
			return "body"
		case a.Header.Get("x-warmroute-outcome") != "":
			return "header"
		}
		return "off"
	}
	if got := outcome(); got != "off" {
		t.Errorf("the file alone gives %s", got)
	}
	t.Setenv("WARMROUTE_METADATA", "header")
	if got := outcome(); got != "header" {
		t.Errorf("the environment before the file gives %s", got)
	}
	if got := outcome("--metadata", "body"); got != "body" {
		t.Errorf("a flag before the environment gives %s", got)
	}
}

func TestBeyondLoopbackTenantsAreNeeded(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	twoVendors(t, path, "http://127.0.0.1:1", "http://127.0.0.1:1", "", "5m")
	out, err := exec.CommandContext(t.Context(), builtBinary(t), "serve", "--catalog", path, "--data", filepath.Join(dir, "data"), "--listen", "0.0.0.0:0").CombinedOutput()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != exitInvalid || !strings.Contains(string(out), "tenants") {
		t.Errorf("without tenants it says %s (%v)", out, err)
	}
	s := settings{Metadata: "body", Gate: "cache_read", Data: dir, Listen: "0.0.0.0:8080", Admin: "127.0.0.1:9090", Config: tenantsConfig(t, dir, "")}
	if err := s.readConfig(serveCommand().Flags()); err != nil {
		t.Fatal(err)
	}
	if err := s.check(); err != nil {
		t.Errorf("with tenants it is refused: %v", err)
	}
	s.Admin = "0.0.0.0:9090"
	if err := s.check(); err == nil {
		t.Error("an admin address beyond loopback is accepted")
	}
}

func TestABadConfigurationIsExitThree(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "warmroute.yaml")
	if err := os.WriteFile(path, []byte("metadata: sideways\ntenant: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		code int
		says []string
	}{
		{path, exitInvalid, []string{path + ":1:", path + ":2:", "tenants"}},
		{filepath.Join(dir, "none.yaml"), exitNotFound, []string{"there is no configuration file"}},
	} {
		out, err := exec.CommandContext(t.Context(), builtBinary(t), "serve", "--config", c.path).CombinedOutput()
		exit, ok := err.(*exec.ExitError)
		if !ok || exit.ExitCode() != c.code {
			t.Errorf("%s ends with %v: %s", c.path, err, out)
		}
		for _, want := range c.says {
			if !strings.Contains(string(out), want) {
				t.Errorf("%q is not in %s", want, out)
			}
		}
	}
}
