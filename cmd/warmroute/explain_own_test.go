package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Keys of the caller's own are explained as the gateway treats them, and not shown.
func TestExplainOwnKeys(t *testing.T) {
	const (
		key   = "pk-OWNCANARY-1f2e3d4c5b6a7988"
		other = "pk-OWNCANARY-8877665544332211"
	)
	byok := strings.Replace(named, "{", `{"providerOptions":{"gateway":{"byok":{"pier":[{"apiKey":"`+key+`"}]}}},`, 1)
	for name, c := range map[string]struct {
		config, tenant, body string
		headers              []string
		order, fails, notes  string
	}{
		"none":            {"", "", named, nil, "quay/main pier/", "", ""},
		"by header":       {"", "", named, []string{"X-Warmroute-Key-Pier: " + key}, "pier/own:1 quay/main pier/", "", "explain supposes"},
		"by body":         {"", "", byok, nil, "pier/own:1 quay/main pier/", "", "explain supposes"},
		"the same twice":  {"", "", byok, []string{"x-warmroute-key-pier: " + key}, "pier/own:1 quay/main pier/", "", "own:1"},
		"two of them":     {"", "", byok, []string{"x-warmroute-key-pier: " + other}, "pier/own:1 pier/own:2 quay/main pier/", "", "own:1"},
		"of nobody":       {"", "", named, []string{"x-warmroute-key-reef: " + key}, "", `"reef", which is no vendor`, ""},
		"not allowed":     {"listen: 127.0.0.1:8080\n", "", byok, nil, "", "403", ""},
		"allowed":         {"byok: true\n", "", byok, nil, "pier/own:1 quay/main pier/", "", "the gateway tells them"},
		"configured":      {"byok: {keys: {quay: {env: TEAM_QUAY_KEY}}}\n", "", named, nil, "quay/own:configured quay/main pier/", "", "own:configured"},
		"only configured": {"byok: {only: true, keys: {quay: {env: TEAM_QUAY_KEY}}}\n", "", named, nil, "quay/own:configured", "", "own:configured"},
		"a tenant's": {"byok: true\ntenants:\n  - {id: gull, keys: [{env: GULL_KEY}], byok: {requests: true, only: true}}\n", "gull", byok, nil,
			"pier/own:1", "", "own:1"},
	} {
		t.Run(name, func(t *testing.T) {
			q := question{Headers: c.headers, Tenant: c.tenant}
			if c.config != "" {
				q.Config = filepath.Join(t.TempDir(), "warmroute.yaml")
				if err := os.WriteFile(q.Config, []byte(c.config), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			e, err := asked(t, q, c.body)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), "CANARY") {
					t.Fatalf("failed with %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var order []string
			for _, a := range e.Order {
				order = append(order, a.Vendor+"/"+a.Credential)
			}
			if got := strings.Join(order, " "); got != c.order {
				t.Errorf("order %s, want %s", got, c.order)
			}
			var text strings.Builder
			if err := e.print(&text); err != nil {
				t.Fatal(err)
			}
			if all := fmt.Sprint(text.String(), e); strings.Contains(all, "CANARY") || !strings.Contains(all, c.notes) {
				t.Errorf("it says %s", all)
			}
		})
	}
}
