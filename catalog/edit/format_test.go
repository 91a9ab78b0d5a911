package edit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

func TestFormat(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"keys move with their comments": {`# a catalog of our own

# models first, as we read it
models:
    open/heron:
        # where it is served
        routes:
        # the cheap one
        - model: x     # their name
          # asked by telephone
          price: {output: 15, input: 3.50}   # in May
          vendor: first
          # about the route

        -
          vendor: second   # the other one
          disabled: |
              too slow
                in May
          model: y
        # the end of the routes


        context: 1000


        # for the lazy
        aliases:
            - heron
    # the end of the models
vendors:
  first: {base_url: https://a.example, api: [chat]}
  second: {
    api: [chat],   # only
    base_url: https://b.example }   # at home
  # third is to come

  # not used now
  fourth: {base_url: 'https://d.example',
     api:   [ chat,responses ]}
version: 1
# the end`, `# a catalog of our own

version: 1

vendors:
  first: {api: [chat], base_url: https://a.example}
  second:   # at home
    api: [chat]   # only
    base_url: https://b.example
  # third is to come

  # not used now
  fourth: {api: [chat, responses], base_url: 'https://d.example'}

# models first, as we read it
models:
  open/heron:
    # for the lazy
    aliases:
      - heron

    context: 1000
    # where it is served
    routes:
      # the cheap one
      - vendor: first
        model: x     # their name
        # asked by telephone
        price: {input: 3.50, output: 15}   # in May
        # about the route

      - vendor: second   # the other one
        model: y
        disabled: |
            too slow
              in May
    # the end of the routes
  # the end of the models
# the end
`},
		"JSON": {`{"version":1,"models":{"m":{"routes":[{"model":"x","vendor":"first"}]}},"vendors":{"first":{"base_url":"https://a.example","api":["chat"]}}}`,
			`"version": 1

"vendors":
  "first": {"api": ["chat"], "base_url": "https://a.example"}

"models":
  "m": {"routes": [{"vendor": "first", "model": "x"}]}
`},
		"the schema's line stays at the head": {"# yaml-language-server: $schema=catalog.schema.json\nunit: per_million\nversion: 1\nvendors: {first: {api: [chat], base_url: https://a.example}}\nmodels: {m: {routes: [{vendor: first, model: x}]}}\n",
			"# yaml-language-server: $schema=catalog.schema.json\nversion: 1\nunit: per_million\n\nvendors:\n  first: {api: [chat], base_url: https://a.example}\n\nmodels:\n  m: {routes: [{vendor: first, model: x}]}\n"},
		"a document's mark": {"# why\n---\nversion: 1\nvendors: {first: {api: [chat], base_url: https://a.example}}\nmodels: {m: {routes: [{vendor: first, model: x}]}}",
			"# why\n---\nversion: 1\n\nvendors:\n  first: {api: [chat], base_url: https://a.example}\n\nmodels:\n  m: {routes: [{vendor: first, model: x}]}\n"},
		"prices keep their text": {"version: 1\nvendors: {first: {api: [chat], base_url: https://a.example}}\nmodels: {m: {routes: [{vendor: first, model: x, price: {output: 1.50, input: \"0.30\", tiers: [{input: 3e-01, above: 1000}]}}]}}",
			"version: 1\n\nvendors:\n  first: {api: [chat], base_url: https://a.example}\n\nmodels:\n  m: {routes: [{vendor: first, model: x, price: {input: \"0.30\", output: 1.50, tiers: [{above: 1000, input: 3e-01}]}}]}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, form := range []func(string) string{
				func(s string) string { return s },
				func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
				func(s string) string { return "\ufeff" + s },
			} {
				if name == "JSON" && form("\n") == "\r\n" {
					continue // a text of one line has no line ends to keep
				}
				got, err := Format("c.yaml", []byte(form(c.text)))
				if err != nil {
					t.Fatal(err)
				}
				if string(got) != form(c.want) {
					t.Errorf("got\n%s\nwant\n%s", got, form(c.want))
				}
				again, err := Format("c.yaml", got)
				if err != nil || string(again) != string(got) {
					t.Errorf("a format of the format is another (%v):\n%s", err, again)
				}
			}
		})
	}
}

func TestFormatRefuses(t *testing.T) {
	const rest = "vendors: {first: {api: [chat], base_url: https://a.example}}\nmodels: {m: {routes: [{vendor: first, model: x}]}}\n"
	for name, text := range map[string]string{
		"an end mark":                "version: 1\n" + rest + "...\n",
		"something behind the mark":  "--- {version: 1, vendors: {first: {api: [chat], base_url: https://a.example}}, models: {m: {routes: [{vendor: first, model: x}]}}}\n",
		"a comment in an empty list": "version: 1\nvendors: {first: {api: [chat], base_url: https://a.example, tags: [ # none\n]}}\nmodels: {m: {routes: [{vendor: first, model: x}]}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Format("c.yaml", []byte(text)); !errors.Is(err, ErrNotFormatted) {
				t.Errorf("formatted as %q, %v", got, err)
			}
		})
	}
	var problems catalog.Problems
	if _, err := Format("c.yaml", []byte("version: 2\n")); !errors.As(err, &problems) {
		t.Errorf("a catalog that is not valid: %v", err)
	}
}

// TestFormatExamples formats the catalogs of the project twice.
func TestFormatExamples(t *testing.T) {
	texts := map[string][]byte{"starter": []byte(catalog.Starter())}
	for _, path := range []string{"full.yaml", "minimal.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "catalogs", path))
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = text
	}
	for path, text := range texts {
		once, err := Format(path, text)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := Format(path, once); err != nil || string(twice) != string(once) {
			t.Errorf("%s: a format of the format is another: %v\n%s", path, err, twice)
		}
	}
}
