package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

// ferry is a catalog kept by hand, with one price that a list gave.
const ferry = `version: 1   # ours
vendors:
  groq: {api: [chat], base_url: https://api.groq.com/openai/v1}
models:
  ferry:
    routes:
      - vendor: groq
        model: boats/ferry-9b
        price: {input: 0.50, output: 1, source: litellm groq/boats/ferry-9b}   # see the list
  barge:
    routes:
      - {vendor: groq, model: boats/barge-3b, price: {input: 9, source: our contract}}
`

const tariff = `{
	"groq/boats/ferry-9b": {"litellm_provider": "groq", "mode": "chat", "input_cost_per_token": 6e-07, "output_cost_per_token": 1e-06, "cache_read_input_token_cost": 1e-07},
	"groq/boats/barge-3b": {"litellm_provider": "groq", "mode": "chat", "input_cost_per_token": 8e-06, "output_cost_per_token": 9e-06}
}`

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestImportShowsThenWrites(t *testing.T) {
	file, list := written(t, "catalog.yaml", ferry), written(t, "list.json", tariff)
	args := []string{"--from", "litellm", list, "--catalog", file, "--as-of", "2026-11-20"}
	out, err := ran(t, catalogImportCommand, args...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"--- " + file + "\n+++ " + file + "\n@@ -6,7 +6,7 @@\n",
		"\n-        price: {input: 0.50, output: 1, source: litellm groq/boats/ferry-9b}   # see the list\n" +
			"+        price: {input: 0.6, output: 1, cache_read: 0.1, as_of: 2026-11-20, source: litellm groq/boats/ferry-9b}   # see the list\n",
		"updated: ferry at groq (boats/ferry-9b): input 0.5 -> 0.6 (+20 %), cache_read unknown -> 0.1\n",
		"kept, differs: barge at groq (boats/barge-3b): own_price: the price is of our contract, not of litellm: input 9 -> 8 (-11.11 %), output unknown -> 9\n",
		"litellm: 2 rows; routes: 0 would be added, 1 would be updated, 0 would be confirmed, 0 unchanged, 1 kept (own_price 1), 0 skipped\n",
		"nothing is written yet; to make the change, add --write\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
	if text, _ := os.ReadFile(file); string(text) != ferry {
		t.Fatalf("the file was changed without --write:\n%s", text)
	}
	if _, err = ran(t, catalogImportCommand, append(args, "--write")...); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if want := strings.Replace(ferry, "{input: 0.50, output: 1, source", "{input: 0.6, output: 1, cache_read: 0.1, as_of: 2026-11-20, source", 1); err != nil || string(text) != want {
		t.Errorf("written as\n%s", text)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v", info.Mode())
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
		t.Errorf("files are left: %v", left)
	}
	out, err = ran(t, catalogImportCommand, append(args, "--write", "-o", "json")...)
	var r struct {
		Written                   bool
		Updated, Unchanged, Added int
		Kept                      map[string]int
		Diff                      string
		Routes                    []struct {
			Status, Reason string
			Changes        []struct{ Field, From, To string }
		}
	}
	if err != nil || json.Unmarshal([]byte(out), &r) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if r.Written || r.Updated != 0 || r.Unchanged != 1 || r.Kept["own_price"] != 1 || r.Diff != "" || r.Routes[1].Changes[0].From != "9" || r.Routes[1].Changes[0].To != "8" {
		t.Errorf("the second time: %+v", r)
	}
}

func TestImportPrintsANewCatalog(t *testing.T) {
	c := catalogImportCommand()
	var out, report strings.Builder
	c.SetOut(&out)
	c.SetErr(&report)
	c.SetArgs([]string{"--from", "litellm", written(t, "list.json", tariff), "--as-of", "2026-11-20"})
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.Parse("-", []byte(out.String()))
	if err != nil || len(cat.Models) != 2 || cat.Models[0].Routes[0].Price[0].AsOf != "2026-11-20" {
		t.Errorf("%v\n%s", err, out.String())
	}
	if !strings.Contains(report.String(), "new vendors, added: groq\nlitellm: 2 rows; routes: 2 added, 0 updated, 0 confirmed, 0 unchanged, 0 kept, 0 skipped\ncache-read price unknown: 1 of 2") {
		t.Errorf("the report:\n%s", report.String())
	}
}

func TestImportRefuses(t *testing.T) {
	file, list := written(t, "catalog.yaml", ferry), written(t, "list.json", tariff)
	bad := written(t, "bad.yaml", "version: 2\n")
	missing := filepath.Join(t.TempDir(), "none")
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no file":                    {[]string{"--from", "litellm"}, exitUsage, "takes one price list"},
		"no list":                    {[]string{list}, exitUsage, "--from is missing"},
		"an unknown list":            {[]string{"--from", "gazette", list}, exitUsage, "there is no such list"},
		"nothing to write to":        {[]string{"--from", "litellm", list, "--write"}, exitUsage, "none is named"},
		"a day that is none":         {[]string{"--from", "litellm", list, "--as-of", "May"}, exitUsage, "not a day"},
		"a comparison with nothing":  {[]string{"--from", "litellm", list, "--compare", "openrouter"}, exitUsage, "openrouter=models.json"},
		"a list that is not there":   {[]string{"--from", "litellm", missing}, exitNotFound, "no price list at"},
		"a catalog that is not":      {[]string{"--from", "litellm", list, "--catalog", missing}, exitNotFound, "no catalog at"},
		"a catalog that is not good": {[]string{"--from", "litellm", list, "--catalog", bad}, exitInvalid, "version must be 1"},
		"a list that is none":        {[]string{"--from", "litellm", bad}, exitFailed, "price list litellm"},
		"nothing that matches":       {[]string{"--from", "litellm", list, "--catalog", file, "--models", "eagle*"}, exitNotFound, "nothing in the list"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ran(t, catalogImportCommand, c.args...)
			if err == nil || exitOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("exit code %d, %v; want %d and %q", exitOf(err), err, c.code, c.want)
			}
		})
	}
}

func TestDiffCommand(t *testing.T) {
	a, b := written(t, "a.yaml", ferry), written(t, "b.yaml", strings.Replace(ferry, "input: 0.50", "input: 0.45", 1))
	out, err := ran(t, catalogDiffCommand, a, b)
	if err != nil || out != "model \"ferry\", route \"groq\": price.input: 0.5 -> 0.45 (-10 %)\n1 difference\n" {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = ran(t, catalogDiffCommand, a, b, "--exit-code", "-o", "json")
	if exitOf(err) != exitFailed || err.Error() != "" || !strings.Contains(out, `"change_percent": "-10"`) || !strings.Contains(out, `"same": false`) {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err = ran(t, catalogDiffCommand, a, a, "--exit-code"); err != nil || out != "the catalogs mean the same\n" {
		t.Errorf("%v\n%s", err, out)
	}
	for code, args := range map[int][]string{exitUsage: {a}, exitNotFound: {a, a + "x"}, exitInvalid: {a, written(t, "bad.yaml", "version: 2\n")}} {
		if _, err := ran(t, catalogDiffCommand, args...); exitOf(err) != code {
			t.Errorf("%v ends with %d, %v; want %d", args, exitOf(err), err, code)
		}
	}
}

func TestFmtCommand(t *testing.T) {
	file := written(t, "catalog.yaml", ferry)
	if _, err := ran(t, catalogFmtCommand, "--check", file); exitOf(err) != exitFailed || !strings.Contains(err.Error(), "not in canonical form") {
		t.Errorf("--check of a file that is not in form: %v", err)
	}
	out, err := ran(t, catalogFmtCommand, file)
	if err != nil || !strings.HasPrefix(out, "version: 1   # ours\n\nvendors:\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err = ran(t, catalogFmtCommand, "--write", file); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(file); string(text) != out {
		t.Errorf("written as\n%s", text)
	}
	if out, err = ran(t, catalogFmtCommand, "--check", file); err != nil || out != "" {
		t.Errorf("--check of a file in form: %v %s", err, out)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v", info.Mode())
	}
	for code, args := range map[int][]string{exitUsage: {"--write", "--check", file}, exitNotFound: {file + "x"}, exitInvalid: {written(t, "bad.yaml", "version: 2\n")}, exitFailed: {written(t, "end.yaml", ferry+"...\n")}} {
		if _, err := ran(t, catalogFmtCommand, args...); exitOf(err) != code {
			t.Errorf("%v ends with %d, %v; want %d", args, exitOf(err), err, code)
		}
	}
}

func TestReplaceFileLeavesAnothersEdit(t *testing.T) {
	file := written(t, "catalog.yaml", ferry)
	if err := replaceFile(file, []byte("what was read"), []byte("new")); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("a file that somebody changed: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link.yaml")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(link, []byte(ferry), []byte("new")); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != file {
		t.Errorf("the link is %s, %v", to, err)
	}
	if text, _ := os.ReadFile(file); string(text) != "new" {
		t.Errorf("written as %s", text)
	}
}
