package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("version: 1\nvendors: {a: {api: [chat]}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no command", nil, 2, "name a command"},
		{"an unknown command", []string{"fly"}, 2, "unknown command"},
		{"an unknown flag", []string{"serve", "--fly"}, 2, "--fly"},
		{"a bad catalog", []string{"check", bad}, 3, "base_url"},
		{"serving a bad catalog", []string{"serve", "--catalog", bad}, 3, "base_url"},
		{"no catalog", []string{"check", filepath.Join(dir, "none.yaml")}, 4, "there is no catalog"},
		{"listening to the world", []string{"serve", "--catalog", bad, "--listen", "0.0.0.0:0"}, 3, "--open"},
		{"no gateway", []string{"healthcheck", "--admin", "127.0.0.1:1"}, 1, "no gateway answers"},
		{"the version", []string{"version"}, 0, "warmroute"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), builtBinary(t), c.args...).CombinedOutput()
			code := 0
			if exit, ok := err.(*exec.ExitError); ok {
				code = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if code != c.code || !strings.Contains(string(out), c.says) {
				t.Errorf("exit %d, %s; want %d and %q", code, out, c.code, c.says)
			}
		})
	}
}

func TestAMistypedCommandLineSaysWhatWasMeant(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"chekc", "c.yaml"}, `unknown command "chekc" (did you mean check?)`},
		{[]string{"serve", "--catalgo", "c.yaml"}, "(did you mean --catalog?)"},
		{[]string{"serve", "own.yaml"}, "say warmroute serve --catalog own.yaml"},
	} {
		out, err := exec.CommandContext(t.Context(), builtBinary(t), c.args...).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitUsage || !strings.Contains(string(out), c.says) {
			t.Errorf("%v: %v, %s", c.args, err, out)
		}
	}
	missing := filepath.Join(t.TempDir(), "none.yaml")
	out, _ := exec.CommandContext(t.Context(), builtBinary(t), "serve", "--catalog", missing).CombinedOutput()
	if !strings.Contains(string(out), "warmroute catalog init --write "+missing) {
		t.Errorf("a catalog that is not there: %s", out)
	}
}
