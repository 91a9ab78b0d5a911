package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/warmroute/warmroute/catalog"
)

// ran runs one command by itself.
func ran(t *testing.T, command func() *cobra.Command, args ...string) (out string, err error) {
	t.Helper()
	c := command()
	var b bytes.Buffer
	c.SetOut(&b)
	c.SetErr(&b)
	c.SetArgs(args)
	c.SilenceUsage, c.SilenceErrors = true, true
	err = c.ExecuteContext(t.Context())
	return b.String(), err
}

// exitOf is the exit code an error deserves.
func exitOf(err error) int {
	var c coded
	switch {
	case err == nil:
		return 0
	case errors.As(err, &c):
		return c.code
	}
	return exitFailedOr(err)
}

func TestInitPrintsACatalog(t *testing.T) {
	out, err := ran(t, catalogInitCommand)
	if err != nil || out != catalog.Starter() {
		t.Fatalf("init prints %d bytes, %v", len(out), err)
	}
	out, err = ran(t, catalogInitCommand, "--vendors", "anthropic,openai", "--models", "claude-opus-5,gpt-5.6")
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Parse("-", []byte(out))
	if err != nil || len(c.Vendors) != 2 || len(c.Models) != 2 {
		t.Fatalf("the part is %+v, %v", c, err)
	}
	if !strings.HasPrefix(out, "# yaml-language-server: $schema=./"+schemaName+"\n") {
		t.Errorf("the first line names no schema: %.80s", out)
	}
}

func TestInitWritesOnce(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AZURE_API_KEY"} {
		t.Setenv(name, "")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "catalog.yaml")
	out, err := ran(t, catalogInitCommand, "--write", file, "--models", "gpt-5.6")
	if err != nil || !strings.Contains(out, "1 model at 2 vendors") || !strings.Contains(out, "no key is set yet") || !strings.Contains(out, "OPENAI_API_KEY") {
		t.Fatalf("init says %q, %v", out, err)
	}
	schema, err := os.ReadFile(filepath.Join(dir, schemaName))
	if err != nil || !bytes.Equal(schema, catalog.Schema()) {
		t.Errorf("the schema beside it is %d bytes, %v", len(schema), err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ran(t, catalogInitCommand, "--write", file); exitOf(err) != exitFailed || !strings.Contains(err.Error(), "left as it is") {
		t.Errorf("a second init says %v", err)
	}
	if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
		t.Error("a second init changed the file")
	}
	if err := os.WriteFile(filepath.Join(dir, schemaName), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OPENAI_API_KEY", "a-key-that-is-none")
	out, err = ran(t, catalogInitCommand, "--write", filepath.Join(dir, "second.yaml"), "--models", "gpt-5.6")
	if err != nil || !strings.Contains(out, "keys are set for openai;") || strings.Contains(out, "a-key") {
		t.Errorf("with a key init says %q, %v", out, err)
	}
	if kept, _ := os.ReadFile(filepath.Join(dir, schemaName)); string(kept) != "mine" {
		t.Error("a schema that was there was written over")
	}
}

func TestInitWritesInTheFormOfFmt(t *testing.T) {
	for _, args := range [][]string{nil, {"--vendors", "mistral,deepinfra"}, {"--models", "llama-3.3*,gpt-5.6"}} {
		file := filepath.Join(t.TempDir(), "catalog.yaml")
		if _, err := ran(t, catalogInitCommand, append(args, "--write", file)...); err != nil {
			t.Fatal(err)
		}
		if out, err := ran(t, catalogFmtCommand, "--check", file); err != nil {
			t.Errorf("%v: fmt would change it: %v %s", args, err, out)
		}
	}
}

func TestInitRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"a vendor that is not in it", []string{"--vendors", "opnai"}, exitNotFound, `did you mean "openai"?`},
		{"a model that is not in it", []string{"--models", "gpt-2"}, exitNotFound, `"gpt-2"`},
		{"a name instead of a flag", []string{"catalog.yaml"}, exitUsage, "--write catalog.yaml"},
		{"a folder that is not there", []string{"--write", filepath.Join(t.TempDir(), "no", "catalog.yaml")}, exitFailed, "cannot be written"},
	} {
		if _, err := ran(t, catalogInitCommand, c.args...); exitOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: exit %d, %v; want %d, %q", c.name, exitOf(err), err, c.code, c.want)
		}
	}
}
