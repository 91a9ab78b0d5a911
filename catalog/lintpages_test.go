package catalog

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// lintDay is the day on which the tests of this package lint.
var lintDay = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// whole makes a catalog of a part of one.
func whole(part string) string {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(part), &document); err != nil || len(document.Content) == 0 {
		return part
	}
	has := func(key string) bool { return valueOf(document.Content[0], key) != nil }
	if has("version") {
		return part
	}
	text := "version: 1\n"
	if !has("vendors") {
		text += "vendors:\n  alpha: {api: [chat], base_url: \"https://alpha.example/v1\"}\n  beta: {api: [chat], base_url: \"https://beta.example/v1\"}\n  gamma: {api: [chat], base_url: \"https://gamma.example/v1\"}\n"
	}
	if !has("models") {
		text += "models:\n  wren: {routes: [{vendor: alpha, model: wren}]}\n"
	}
	return text + part
}

// problemsOf is everything that is said about a catalog.
func problemsOf(t testing.TB, text string) Problems {
	t.Helper()
	c, err := ParseKeys("f", []byte(text), keysOf(nil))
	if err != nil {
		var problems Problems
		if !errors.As(err, &problems) {
			t.Fatal(err)
		}
		return problems
	}
	return Lint(c, []byte(text), lintDay).Problems
}

func codesOf(problems Problems) []string {
	var all []string
	for _, p := range problems {
		all = append(all, p.Code)
	}
	return all
}

// Every code has a page, every page's example has the problem, and the corrected
// one has it no longer.
func TestEveryPageKeepsItsPromise(t *testing.T) {
	for _, code := range Codes() {
		page, _, ok := Explain(code)
		if !ok {
			t.Errorf("%s has no page", code)
			continue
		}
		if page.Title == "" || page.Example == "" || page.Fixed == "" || !strings.Contains(page.Text, "ilenced") && !strings.Contains(page.Text, "silence: {"+code) {
			t.Errorf("the page of %s lacks a part: %+v", code, page)
		}
		if got := codesOf(problemsOf(t, whole(page.Example))); !slices.Contains(got, code) {
			t.Errorf("%s: the example gives %v\n%s", code, problemsOf(t, whole(page.Example)), page.Example)
		}
		fixed := problemsOf(t, whole(page.Fixed))
		if slices.Contains(codesOf(fixed), code) {
			t.Errorf("%s: what is called right gives %v\n%s", code, fixed, page.Fixed)
		}
		for _, p := range fixed {
			if p.Severity == SeverityError || kinds[p.Code] == "" {
				t.Errorf("%s: what is called right gives %v\n%s", code, p, page.Fixed)
			}
		}
	}
	files, err := os.ReadDir("lintpages")
	if err != nil || len(files) != len(Codes()) {
		t.Errorf("%d pages for %d codes, %v", len(files), len(Codes()), err)
	}
}

// The codes that the source names are those with a page, and the rules use them all.
func TestEveryCodeIsNamedOnce(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^\tCode\w+ += "([a-z0-9-]+)"$`)
	var all []string
	for _, file := range []string{"mistake.go", "lintcodes.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declared.FindAllSubmatch(text, -1) {
			all = append(all, string(m[1]))
		}
	}
	slices.Sort(all)
	got := slices.Clone(Codes())
	slices.Sort(got)
	if !slices.Equal(all, got) {
		t.Errorf("declared %v\nwith a severity %v", all, got)
	}
}

func TestExplainSuggestsACode(t *testing.T) {
	if _, near, ok := Explain("price-zreo"); ok || near != "price-zero" {
		t.Errorf("%q, %v", near, ok)
	}
	if _, near, ok := Explain("../problem"); ok || near != "" {
		t.Errorf("%q, %v", near, ok)
	}
}
