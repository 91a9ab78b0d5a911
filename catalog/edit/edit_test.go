package edit

import (
	"errors"
	"strings"
	"testing"
)

// small is a catalog in block style with comments in every place.
const small = `# our catalog
version: 1

vendors:
  first:   # the cheap one
    api: [chat]
    base_url: https://api.first.example/v1
  # not much used
  second: {api: [chat], base_url: "https://api.second.example/v1"}

models:
  open/heron:   # a bird
    routes:
      - vendor: first
        model: heron   # their name
        price:
          # asked by telephone
          input: 3

          output: 15   # in May
          # cache_read: they would not say
        cache: {min_prefix: 1024}
      # the other one
      - vendor: second
        model: 'heron-8'
        price: {input: 2, output: "10"}   # from their page
  # the end of the models
`

func route(model, vendor string) Path {
	return Path{Key("models"), Key(model), Key("routes"), Entry("vendor", vendor)}
}

func at(model, vendor string, keys ...string) Path {
	p := route(model, vendor)
	for _, k := range keys {
		p = append(p, Key(k))
	}
	return p
}

func fieldOf(key string, v Value) Field { return Field{Key: key, Value: v} }

func TestEdit(t *testing.T) {
	for name, c := range map[string]struct {
		text     string
		changes  []Change
		old, new string // the text that is replaced, and what by; all else stays
	}{
		"a price in block style": {small, []Change{{Path: at("open/heron", "first", "price", "input"), Value: Plain("3.5")}},
			"          input: 3\n", "          input: 3.5\n"},
		"a price in flow style": {small, []Change{{Path: at("open/heron", "second", "price", "input"), Value: Plain("2.25")}},
			"{input: 2,", "{input: 2.25,"},
		"a quoted price keeps its quotes": {small, []Change{{Path: at("open/heron", "second", "price", "output"), Value: Plain("11")}},
			`output: "10"`, `output: "11"`},
		"a quoted word keeps its quotes": {small, []Change{{Path: at("open/heron", "second", "model"), Value: Text("it's")}},
			"'heron-8'", "'it''s'"},
		"a missing key of a block mapping": {small, []Change{{Path: at("open/heron", "first", "price", "cache_read"), Value: Plain("0.3")}},
			"# in May\n", "# in May\n          cache_read: 0.3\n"},
		"a missing key of a flow mapping": {small, []Change{{Path: at("open/heron", "second", "price", "cache_read"), Value: Plain("0.2")}},
			`output: "10"}`, `output: "10", cache_read: 0.2}`},
		"two missing keys in canonical order": {small, []Change{{Path: at("open/heron", "second", "price"), Value: Map(fieldOf("as_of", Plain("2026-11-20")), fieldOf("cache_read", Plain("0.2")))}},
			`output: "10"}`, `output: "10", cache_read: 0.2, as_of: 2026-11-20}`},
		"a missing key before others": {small, []Change{{Path: at("open/heron", "first", "tags"), Value: Texts("own", "yes")}},
			"cache: {min_prefix: 1024}\n", "cache: {min_prefix: 1024}\n        tags: [own, \"yes\"]\n"},
		"a missing key within a missing mapping": {small, []Change{{Path: Path{Key("vendors"), Key("first"), Key("cache"), Key("ttl")}, Value: Text("10m")}},
			"base_url: https://api.first.example/v1\n", "base_url: https://api.first.example/v1\n    cache: {ttl: 10m}\n"},
		"a missing key before all others": {small, []Change{{Path: Path{Key("models"), Key("open/heron"), Key("aliases")}, Value: Texts("heron")}},
			"open/heron:   # a bird\n", "open/heron:   # a bird\n    aliases: [heron]\n"},
		"a value that is the same": {small, []Change{{Path: at("open/heron", "first", "price", "input"), Value: Plain("3")}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Open("c.yaml", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			r, err := d.Edit(c.changes...)
			if err != nil {
				t.Fatal(err)
			}
			want := c.text
			if c.old != "" {
				if strings.Count(c.text, c.old) != 1 {
					t.Fatalf("%q does not stand once in the text", c.old)
				}
				want = strings.Replace(c.text, c.old, c.new, 1)
			}
			if got := string(r.Text); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			// The same with the line ends of other systems, and without the last.
			for _, form := range []func(string) string{
				func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
				func(s string) string { return strings.TrimSuffix(s, "\n") },
				func(s string) string { return "\ufeff" + s },
				func(s string) string { return "---\n" + s + "...\n" },
			} {
				d, err := Open("c.yaml", []byte(form(c.text)))
				if err != nil {
					t.Fatal(err)
				}
				r, err := d.Edit(c.changes...)
				if err != nil {
					t.Fatal(err)
				}
				if got := string(r.Text); got != form(want) {
					t.Errorf("in another form: got\n%q\nwant\n%q", got, form(want))
				}
			}
		})
	}
}

func TestEditAppends(t *testing.T) {
	newRoute := func(vendor string) Value {
		return Map(fieldOf("vendor", Text(vendor)), fieldOf("model", Text("heron-9")), Field{"price", Map(fieldOf("input", Plain("1")), Field{"cache_read", Plain("0.1"), "others say 0.2"}), ""})
	}
	third := Change{Path: Path{Key("vendors"), Key("third")}, Value: Map(fieldOf("api", Texts("chat")), fieldOf("base_url", Text("https://third.example/v1")), fieldOf("credentials", List(Map(fieldOf("id", Text("main")), fieldOf("env", Text("THIRD_KEY"))))))}
	addRoute := Change{Path: Path{Key("models"), Key("open/heron"), Key("routes")}, Value: newRoute("third"), Append: true}
	addModel := Change{Path: Path{Key("models"), Key("new/wren")}, Value: Map(fieldOf("context", Count(1000)), fieldOf("routes", List(newRoute("third")))), Comment: "a smaller bird"}
	for name, c := range map[string]struct {
		text    string
		changes []Change
		want    string
	}{
		"block": {`version: 1
vendors:
  first:
    api: [chat]
    base_url: https://a.example

  second:
    api: [chat]
    base_url: https://b.example
    # about the second
models:
    open/heron:
        routes:
        - vendor: first
          model: x
          price:
              input: 1
          # about the first
        # at the end of the routes
    # at the end of the models`, []Change{third, addRoute, addModel}, `version: 1
vendors:
  first:
    api: [chat]
    base_url: https://a.example

  second:
    api: [chat]
    base_url: https://b.example
    # about the second

  third:
    api: [chat]
    base_url: https://third.example/v1
    credentials:
    - {id: main, env: THIRD_KEY}
models:
    open/heron:
        routes:
        - vendor: first
          model: x
          price:
              input: 1
          # about the first
        - vendor: third
          model: heron-9
          price:
            input: 1
            cache_read: 0.1  # others say 0.2
        # at the end of the routes
    new/wren:  # a smaller bird
      context: 1000
      routes:
      - vendor: third
        model: heron-9
        price:
          input: 1
          cache_read: 0.1  # others say 0.2
    # at the end of the models`},
		"flow routes": {`version: 1
vendors:
  first:  {api: [chat], base_url: https://a.example}
models:
  open/heron:
    routes:
      - {vendor: first, model: x, price: {input: 1}}   # by post
`, []Change{third, addRoute, addModel}, `version: 1
vendors:
  first:  {api: [chat], base_url: https://a.example}
  third: {api: [chat], base_url: https://third.example/v1, credentials: [{id: main, env: THIRD_KEY}]}
models:
  open/heron:
    routes:
      - {vendor: first, model: x, price: {input: 1}}   # by post
      - {vendor: third, model: heron-9, price: {input: 1, cache_read: 0.1}}  # others say 0.2
  new/wren:  # a smaller bird
    context: 1000
    routes:
      - {vendor: third, model: heron-9, price: {input: 1, cache_read: 0.1}}  # others say 0.2
`},
		"JSON on one line": {`{"version":1,"vendors":{"first":{"api":["chat"],"base_url":"https://a.example"}},"models":{"open/heron":{"routes":[{"vendor":"first","model":"x"}]}}}`, []Change{third, addRoute, addModel},
			`{"version":1,"vendors":{"first":{"api":["chat"],"base_url":"https://a.example"}, "third": {"api": ["chat"], "base_url": "https://third.example/v1", "credentials": [{"id": "main", "env": "THIRD_KEY"}]}},"models":{"open/heron":{"routes":[{"vendor":"first","model":"x"}, {"vendor": "third", "model": "heron-9", "price": {"input": 1, "cache_read": 0.1}}]}, "new/wren": {"context": 1000, "routes": [{"vendor": "third", "model": "heron-9", "price": {"input": 1, "cache_read": 0.1}}]}}}`},
		"flow mappings over several lines": {`version: 1
vendors: {
  first: {api: [chat], base_url: https://a.example}, # one
  second: {
    api: [chat],
    base_url: https://b.example # two
  }
}
models: {open/heron: {routes: [
    {vendor: first, model: x},
    {vendor: second, model: y},
]}}
`, []Change{third, addRoute, {Path: Path{Key("vendors"), Key("second"), Key("usage")}, Value: Text("openai")}}, `version: 1
vendors: {
  first: {api: [chat], base_url: https://a.example}, # one
  second: {
    api: [chat],
    base_url: https://b.example, # two
    usage: openai
  },
  third: {api: [chat], base_url: https://third.example/v1, credentials: [{id: main, env: THIRD_KEY}]}
}
models: {open/heron: {routes: [
    {vendor: first, model: x},
    {vendor: second, model: y},
    {vendor: third, model: heron-9, price: {input: 1, cache_read: 0.1}},
]}}
`},
		"quoted keys and a comment in a literal's head": {`"version": 1
"vendors":
  'first':
    "api": [chat]
    "base_url": https://a.example
"models":
  "open/heron":
    "routes":
      - "vendor": first
        "model": x
        "disabled": |  # for now
          too slow
          in May
`, []Change{third, {Path: at("open/heron", "first", "price", "input"), Value: Plain("2")}}, `"version": 1
"vendors":
  'first':
    "api": [chat]
    "base_url": https://a.example
  third:
    api: [chat]
    base_url: https://third.example/v1
    credentials:
      - {id: main, env: THIRD_KEY}
"models":
  "open/heron":
    "routes":
      - "vendor": first
        "model": x
        price:
          input: 2
        "disabled": |  # for now
          too slow
          in May
`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, form := range []func(string) string{
				func(s string) string { return s },
				func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
			} {
				d, err := Open("c.yaml", []byte(form(c.text)))
				if err != nil {
					t.Fatal(err)
				}
				r, err := d.Edit(c.changes...)
				if err != nil {
					t.Fatal(err)
				}
				if got := string(r.Text); got != form(c.want) {
					t.Errorf("got\n%s\nwant\n%s", got, form(c.want))
				}
			}
		})
	}
}

func TestEditLists(t *testing.T) {
	const text = `version: 1
vendors:
  first: {api: [chat], base_url: https://a.example}
models:
  open/heron:
    routes:
      - vendor: first
        model: x
        price:
          input: 1
          tiers:
            - above: 1000   # a page
              input: 2
  open/wren:
    routes:
      - vendor: first
        model: y
        price: {input: 1, tiers: [{above: 1000, input: 2}]}
`
	d, err := Open("c.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	tier := func(above int64, input string) Value {
		return Map(fieldOf("above", Count(above)), fieldOf("input", Plain(input)))
	}
	longer, other := List(tier(1000, "2"), tier(2000, "3")), List(tier(900, "2"), tier(2000, "3"))
	r, err := d.Edit(Change{Path: at("open/heron", "first", "price", "tiers"), Value: List(tier(1000, "2.5"))},
		Change{Path: at("open/wren", "first", "price", "tiers"), Value: longer})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("              input: 2\n", "              input: 2.5\n", "[{above: 1000, input: 2}]", "[{above: 1000, input: 2}, {above: 2000, input: 3}]").Replace(text)
	if got := string(r.Text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	r, err = d.Edit(Change{Path: at("open/heron", "first", "price", "tiers"), Value: longer}, Change{Path: at("open/wren", "first", "price", "tiers"), Value: other})
	if err != nil {
		t.Fatal(err)
	}
	want = strings.NewReplacer("              input: 2\n", "              input: 2\n            - above: 2000\n              input: 3\n", "[{above: 1000, input: 2}]", "[{above: 900, input: 2}, {above: 2000, input: 3}]").Replace(text)
	if got := string(r.Text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	_, err = d.Edit(Change{Path: at("open/heron", "first", "price", "tiers"), Value: other})
	var refusals Refusals
	if !errors.As(err, &refusals) || !strings.Contains(err.Error(), "there is a comment inside the value, on line 12") {
		t.Errorf("a list with a comment was replaced: %v", err)
	}
}

func TestEditRefuses(t *testing.T) {
	d, err := Open("c.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change Change
		want   string
	}{
		"no such route":           {Change{Path: at("open/heron", "third", "price"), Value: Map()}, "models.open/heron.routes[vendor=third].price: there is no such item"},
		"no such item":            {Change{Path: Path{Key("models"), Key("open/heron"), Key("routes"), Item(7)}, Value: Map()}, "there is no such item"},
		"a key of a scalar":       {Change{Path: Path{Key("version"), Key("x")}, Value: Text("x")}, "a mapping is expected"},
		"an item of no list":      {Change{Path: Path{Key("version")}, Value: Text("x"), Append: true}, "is no list"},
		"a vendor that is not":    {Change{Path: at("open/heron", "first", "vendor"), Value: Text("third")}, `vendor "third" is not in this catalog`},
		"a price that is none":    {Change{Path: at("open/heron", "first", "price", "input"), Value: Plain("cheap")}, "not a price"},
		"a key that is not known": {Change{Path: at("open/heron", "first", "colour"), Value: Text("x")}, "is not a key of a route"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := d.Edit(c.change)
			if err == nil || r != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want one with %q", err, c.want)
			}
		})
	}
	if _, err := d.Edit(Change{Path: Path{Key("vendors"), Key("x"), Key("api")}, Value: Texts("chat")}, Change{Path: Path{Key("vendors"), Key("x"), Key("base_url")}, Value: Text("https://x.example")}); err == nil || !strings.Contains(err.Error(), "added twice") {
		t.Errorf("a key that two changes add: %v", err)
	}
}

func TestDiff(t *testing.T) {
	d, err := Open("c.yaml", []byte(strings.TrimSuffix(small, "  # the end of the models\n")))
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Edit(
		Change{Path: at("open/heron", "first", "price", "input"), Value: Plain("3.5")},
		Change{Path: at("open/heron", "first", "price", "cache_read"), Value: Plain("0.3")},
		Change{Path: at("open/heron", "second", "price", "output"), Value: Plain("11")},
		Change{Path: Path{Key("vendors"), Key("first"), Key("usage")}, Value: Text("openai")})
	if err != nil {
		t.Fatal(err)
	}
	want := `--- c.yaml
+++ c.yaml
@@ -5,6 +5,7 @@
   first:   # the cheap one
     api: [chat]
     base_url: https://api.first.example/v1
+    usage: openai
   # not much used
   second: {api: [chat], base_url: "https://api.second.example/v1"}
 
@@ -15,12 +16,13 @@
         model: heron   # their name
         price:
           # asked by telephone
-          input: 3
+          input: 3.5
 
           output: 15   # in May
+          cache_read: 0.3
           # cache_read: they would not say
         cache: {min_prefix: 1024}
       # the other one
       - vendor: second
         model: 'heron-8'
-        price: {input: 2, output: "10"}   # from their page
+        price: {input: 2, output: "11"}   # from their page
`
	if got := r.Diff(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
