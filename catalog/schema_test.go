package catalog

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

var update = flag.Bool("update", false, "rewrite the JSON schemas; read the diff before keeping it")

// The committed schemas are what the shapes, from which the reader has its keys,
// say today. go generate rewrites them.
func TestTheSchemasAreThoseOfTheShapes(t *testing.T) {
	for name, want := range map[string][]byte{
		"catalog.schema.json": schemaOf[catalogShape](t, "warmroute catalog", "Vendors, models, routes, prices and policies of one warmroute gateway."),
		"config.schema.json":  schemaOf[configShape](t, "warmroute config file", "How one warmroute gateway is run, and who may use it."),
	} {
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the shapes say; run go generate ./catalog and read the diff", name)
		}
	}
}

// compiled is a schema that judges.
func compiled(t testing.TB, text []byte) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Numbers and truths as editors read them: the core schema of YAML 1.2.
var (
	coreInt   = regexp.MustCompile(`^[-+]?[0-9]+$`)
	coreFloat = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	coreHex   = regexp.MustCompile(`^0x[0-9a-fA-F]+$|^0o[0-7]+$`)
)

// asEditorsRead turns a node into what a JSON schema judges.
func asEditorsRead(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		all := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			all[n.Content[i].Value] = asEditorsRead(n.Content[i+1])
		}
		return all
	case yaml.SequenceNode:
		all := []any{}
		for _, item := range n.Content {
			all = append(all, asEditorsRead(item))
		}
		return all
	case yaml.ScalarNode:
	default:
		return nil
	}
	text := n.Value
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return text
	}
	switch text {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	}
	switch {
	case coreHex.MatchString(text):
		return json.Number("255")
	case coreInt.MatchString(text), coreFloat.MatchString(text):
		// JSON has no sign in front, no leading zero and no bare point.
		sign := ""
		if text[0] == '-' {
			sign = "-"
		}
		whole, exponent, has := strings.Cut(strings.ToLower(strings.TrimLeft(text, "+-")), "e")
		digits, part, _ := strings.Cut(whole, ".")
		number := sign + cmpOrZero(strings.TrimLeft(digits, "0")) + "." + cmpOrZero(part)
		if part == "" {
			number = sign + cmpOrZero(strings.TrimLeft(digits, "0"))
		}
		if has {
			number += "e" + exponent
		}
		return json.Number(number)
	}
	return text
}

func cmpOrZero(digits string) string {
	if digits == "" {
		return "0"
	}
	return digits
}

// judged says whether a schema accepts a text, as an editor reads it.
func judged(t testing.TB, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return err
	}
	if len(document.Content) == 0 {
		return s.Validate(nil)
	}
	return s.Validate(asEditorsRead(document.Content[0]))
}

// examples are the catalogs and config files that the project shows.
func examples(t testing.TB) (catalogs, configs []string) {
	t.Helper()
	all, err := filepath.Glob("../testdata/catalogs/*.yaml")
	if err != nil || len(all) < 3 {
		t.Fatal("the examples are not here", err)
	}
	shipped, _ := filepath.Glob("*.yaml") // the catalog that init writes
	for _, path := range append(all, shipped...) {
		if filepath.Base(path) == "warmroute.yaml" {
			configs = append(configs, path)
			continue
		}
		catalogs = append(catalogs, path)
	}
	return catalogs, configs
}

func TestTheSchemasAcceptTheExamplesWhichNameThem(t *testing.T) {
	catalogs, configs := examples(t)
	for _, kind := range []struct {
		schema []byte
		name   string
		files  []string
	}{{Schema(), "catalog.schema.json", catalogs}, {ConfigSchema(), "config.schema.json", configs}} {
		s := compiled(t, kind.schema)
		for _, path := range kind.files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := judged(t, s, text); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			first, _, _ := strings.Cut(string(text), "\n")
			if !strings.HasPrefix(first, "# yaml-language-server: $schema=") || !strings.HasSuffix(first, kind.name) {
				t.Errorf("%s begins with %q, not with the name of its schema", path, first)
			}
		}
	}
}

// The full examples have every key there is, so they show what editors offer.
func TestTheFullExamplesHaveEveryKey(t *testing.T) {
	for name, shape := range map[string]reflect.Type{"full.yaml": reflect.TypeFor[catalogShape](), "warmroute.yaml": reflect.TypeFor[configShape]()} {
		_, text := example(t, name)
		var document yaml.Node
		if err := yaml.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		used := map[string]bool{}
		var walk func(shape reflect.Type, n *yaml.Node)
		walk = func(shape reflect.Type, n *yaml.Node) {
			switch {
			case strings.HasPrefix(shape.Name(), "either["):
				walk(shape.Field(0).Type, n)
				walk(shape.Field(1).Type, n)
			case n.Kind == yaml.SequenceNode && shape.Kind() == reflect.Slice:
				for _, item := range n.Content {
					walk(shape.Elem(), item)
				}
			case n.Kind == yaml.MappingNode && shape.Kind() == reflect.Map:
				for i := 1; i < len(n.Content); i += 2 {
					walk(shape.Elem(), n.Content[i])
				}
			case n.Kind == yaml.MappingNode && shape.Kind() == reflect.Struct:
				fieldsOf(shape, func(of, key string, f reflect.StructField) {
					if value := valueOf(n, key); value != nil {
						used[of+"."+key] = true
						walk(f.Type, value)
					}
				})
			}
		}
		walk(shape, document.Content[0])
		seen := map[reflect.Type]bool{}
		var visit func(shape reflect.Type)
		visit = func(shape reflect.Type) {
			switch {
			case seen[shape]:
				return
			case shape.Kind() == reflect.Map, shape.Kind() == reflect.Slice:
				visit(shape.Elem())
				return
			case shape.Kind() != reflect.Struct:
				return
			}
			seen[shape] = true
			fieldsOf(shape, func(of, key string, f reflect.StructField) {
				if of+"."+key == "ownKeyShape.file" {
					return // the file would have to be there whenever the example is read; a comment shows it
				}
				if !strings.HasPrefix(shape.Name(), "either[") && !used[of+"."+key] && !slices.Contains(rateKeys, key) {
					t.Errorf("%s does not show %s of %s", name, key, of)
				}
				visit(f.Type)
			})
		}
		visit(shape)
	}
}

// fieldsOf tells of every key of a shape, and which of the shapes it is made of has it.
func fieldsOf(shape reflect.Type, tell func(of, key string, f reflect.StructField)) {
	for i := range shape.NumField() {
		f := shape.Field(i)
		if f.Anonymous {
			fieldsOf(f.Type, tell)
			continue
		}
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		tell(shape.Name(), key, f)
	}
}

// What a schema can tell it judges as the reader does.
func TestTheSchemaAndTheReaderJudgeMistakesAlike(t *testing.T) {
	s := compiled(t, Schema())
	for name, text := range map[string]string{
		"no version":             strings.Replace(with("", "", ""), "version: 1\n", "", 1),
		"another version":        strings.Replace(with("", "", ""), "version: 1", "version: 2", 1),
		"a key unknown":          with("colour: red", "", ""),
		"a key misspelt":         with("", "price: {cache_raed: 1}", ""),
		"a currency":             "currency: dollars\n" + with("", "", ""),
		"a unit":                 "unit: per_request\n" + with("", "", ""),
		"no vendors":             "version: 1\nmodels: {m: {routes: [{vendor: v, model: m}]}}\n",
		"vendors empty":          "version: 1\nvendors: {}\nmodels: {}\n",
		"a vendor in capitals":   strings.ReplaceAll(with("", "", ""), "beta:", "Beta:"),
		"an api":                 strings.Replace(with("", "", ""), "beta:\n    api: [chat]", "beta:\n    api: [smoke]", 1),
		"no api":                 strings.Replace(with("", "", ""), "beta:\n    api: [chat]", "beta:\n    api: []", 1),
		"an address":             strings.Replace(with("", "", ""), "https://beta", "ftp://beta", 1),
		"auth both":              with("auth: {header: x-api-key, bearer: true}", "", ""),
		"auth empty":             with("auth: {}", "", ""),
		"bearer: no":             with("auth: {bearer: false}", "", ""),
		"env and file":           with("credentials: [{id: main, env: A, file: b}]", "", ""),
		"neither env nor file":   with("credentials: [{id: main}]", "", ""),
		"credential without id":  with("credentials: [{env: A}]", "", ""),
		"env no name":            with("credentials: [{id: main, env: a-b}]", "", ""),
		"header a list":          with("headers: {x-a: [1]}", "", ""),
		"cache family":           with("cache: {family: automatic}", "", ""),
		"minimum of zero":        with("cache: {min_prefix: 0}", "", ""),
		"minimum not whole":      with("cache: {min_prefix: 1.5}", "", ""),
		"hint with both":         with("hints: [{header: x-a, member: prompt_cache_key}]", "", ""),
		"hint with neither":      with("hints: [{form: raw}]", "", ""),
		"a hint's member":        with("hints: [{member: user}]", "", ""),
		"a usage convention":     with("usage: claude", "", ""),
		"tags a word":            with("tags: zdr", "", ""),
		"a tag twice":            with("tags: [zdr, zdr]", "", ""),
		"accepts a stranger":     with("accepts: [user]", "", ""),
		"allow_private: yes":     with("allow_private: yes", "", ""),
		"a price of words":       with("", "price: {input: three}", ""),
		"a price below zero":     with("", "price: {input: -3}", ""),
		"a price with a comma":   with("", `price: {input: "1,5"}`, ""),
		"a price empty":          with("", "price: {input: }", ""),
		"a price, a list":        with("", "price: {input: [3]}", ""),
		"a day":                  with("", "price: {input: 3, as_of: November}", ""),
		"a tier without above":   with("", "price: {input: 3, tiers: [{input: 6}]}", ""),
		"a window of no price":   with("", `price: {windows: [{from: "01:00", to: "02:00", zone: UTC}]}`, ""),
		"a window without zone":  with("", `price: {windows: [{from: "01:00", to: "02:00", input: 1}]}`, ""),
		"an hour":                with("", `price: {windows: [{from: noon, to: "02:00", zone: UTC, input: 1}]}`, ""),
		"a day of the week":      with("", `price: {windows: [{days: [monday], from: "01:00", to: "02:00", zone: UTC, input: 1}]}`, ""),
		"a period":               with("", "price: [{input: 1, valid_from: May}]", ""),
		"a list of no prices":    with("", "price: [3]", ""),
		"a price, a word":        with("", "price: cheap", ""),
		"a fee below zero":       with("", "price: {request: -1}", ""),
		"a surcharge for all":    with("", "price: {surcharges: [{times: 2}]}", ""),
		"a surcharge of words":   with("", "price: {surcharges: [{speed: fast, times: double}]}", ""),
		"a surcharge of nothing": with("", "price: {surcharges: [{speed: fast}]}", ""),
		"marginal: on":           with("", "price: {input: 1, marginal: on}", ""),
		"a silence, a list":      with("silence: [price-age]", "", ""),
		"a silence, no reason":   with("silence: {price-age: }", "", ""),
		"a usage key":            with("usage: {promt: a.b}", "", ""),
		"a usage path":           with("usage: {prompt: [a, [b]]}", "", ""),
		"a route without vendor": strings.Replace(with("", "", ""), "- vendor: alpha\n        model", "- model", 1),
		"no routes":              "version: 1\nvendors: {v: {api: [chat], base_url: https://v.example}}\nmodels: {m: {routes: []}}\n",
		"order and sort":         with("", "", "order: [alpha]\nsort: price"),
		"a sort":                 with("", "", "sort: cheapest"),
		"weights of nobody":      with("", "", "sort: weighted\nweights: {}"),
		"weights, a list":        with("", "", "sort: weighted\nweights: [alpha]"),
		"a weight of words":      with("", "", "sort: weighted\nweights: {alpha: half}"),
		"a weight below zero":    with("", "", "sort: weighted\nweights: {alpha: -1}"),
		"only nobody":            with("", "", "only: []"),
		"max_price":              with("", "", "max_price: {request: 1}"),
		"a gate":                 with("", "", "affinity: {gate: always}"),
		"a precedence":           with("", "", "affinity: {precedence: both}"),
		"enabled: on":            with("", "", "affinity: {enabled: on}"),
	} {
		if _, err := Parse("f", []byte(text)); err == nil {
			t.Errorf("%s: Parse accepts it:\n%s", name, text)
		}
		if err := judged(t, s, []byte(text)); err == nil {
			t.Errorf("%s: the schema accepts it:\n%s", name, text)
		}
	}
	for name, text := range map[string]string{
		"a vendor that is not there": with("", "", "only: [gamma]"),
		"a tier below the last":      with("", "price: {tiers: [{above: 2, input: 1}, {above: 1, input: 1}]}", ""),
		"a key twice":                with("api: [messages]", "", ""),
		"a ttl too short":            with("cache: {ttl: 15s}", "", ""),
		"weights without their sort": with("", "", "weights: {alpha: 1}"),
		"a weight of zero":           with("", "", "sort: weighted\nweights: {alpha: 0}"),
	} { // what no schema can tell
		if _, err := Parse("f", []byte(text)); err == nil {
			t.Errorf("%s: Parse accepts it", name)
		}
	}
}

func TestTheConfigSchemaAndTheReaderJudgeMistakesAlike(t *testing.T) {
	s := compiled(t, ConfigSchema())
	for name, text := range map[string]string{
		"a key unknown":      "colour: red\n",
		"an address":         "listen: localhost\n",
		"open: yes":          "open: yes\n",
		"a log level":        "log_level: loud\n",
		"metadata":           "metadata: both\n",
		"a gate":             "affinity: {gate: always}\n",
		"a profile":          "affinity: {profile: mine}\n",
		"a size":             "limits: {body: 32MB}\n",
		"a size of nothing":  "limits: {body: 0}\n",
		"no tenants":         "tenants: []\n",
		"a tenant of no key": "tenants: [{id: a, keys: []}]\n",
		"env and sha256":     "tenants: [{id: a, keys: [{env: SUPPORT_KEY, sha256: 00}]}]\n",
		"a short sum":        "tenants: [{id: a, keys: [{sha256: 00ff}]}]\n",
		"only nobody":        "tenants: [{id: a, keys: [{env: SUPPORT_KEY}], only: []}]\n",
	} {
		if _, err := ParseConfig("f", []byte(text), bothKeys); err == nil {
			t.Errorf("%s: ParseConfig accepts it", name)
		}
		if err := judged(t, s, []byte(text)); err == nil {
			t.Errorf("%s: the schema accepts it", name)
		}
	}
}

// oddValues are put in every place of the examples.
var oddValues = []string{"~", "", "null", "true", "no", "off", "0", "1", "-1", "1.0", "1e3", "4.10", "010", "0x10", "300", "0.30", `"0.30"`, "1e-06", ".5", "5.",
	"1_000", "2026-11-20", `"01:00"`, "01:00", "24:00", "a", "A", "UTC", "USD", "usd", "5m", "https://v.example/v1", "HTTPS://v.example", "mon-fri", "openai", "anthropic", "chat", "price",
	"pin", "order", "raw", "prompt_cache_key", "[]", "{}", "[a]", "[chat]", "[1]", "{a: b}", "{input: 1}", "{bearer: true}", `"a b"`, `" "`, "'\u00e9'", "\u00e9", "9999999999", "1KiB", "127.0.0.1:80", ":80",
	"[{input: 1}]", "[{input: 1}, {input: 2}]", "[rack]", "[anthropic, rack]", "[wren]", `"1"`, "d7d1d9bb4ee2efda5d5a3e6e40b0e90ff9f9a1ea4b9d6c4d3a1c8ad0bd3c5f21"}

// A schema never refuses what the reader accepts: whatever stands in whatever
// place of an example, twice over at random places. With WARMROUTE_TEST_LONG set,
// every odd value is tried in every place; else one in eighty.
func TestASchemaRefusesNothingThatIsGood(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for _, kind := range []struct {
		name   string
		schema []byte
		parse  func(text []byte) error
	}{
		{"full.yaml", Schema(), func(text []byte) error { _, err := Parse("f", text); return err }},
		{"warmroute.yaml", ConfigSchema(), func(text []byte) error { _, err := ParseConfig("f", text, bothKeys); return err }},
	} {
		s := compiled(t, kind.schema)
		_, text := example(t, kind.name)
		good, tried, alike := 0, 0, 0
		try := func(edits int, pick func(places int) (place int, value string, rename, remove bool)) {
			var document yaml.Node
			if err := yaml.Unmarshal(text, &document); err != nil {
				t.Fatal(err)
			}
			for range edits {
				places := placesOf(&document)
				place, value, rename, remove := pick(len(places))
				change(places[place], value, rename, remove)
			}
			edited, err := yaml.Marshal(&document)
			if err != nil {
				return
			}
			tried++
			mistake, refusal := kind.parse(edited), judged(t, s, edited)
			if (mistake == nil) == (refusal == nil) {
				alike++
			}
			if mistake != nil {
				return
			}
			good++
			if refusal != nil {
				t.Errorf("%s: the schema refuses what the reader accepts: %v\n%s", kind.name, refusal, edited)
			}
		}
		var document yaml.Node
		if err := yaml.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		for place := range placesOf(&document) {
			for _, value := range oddValues {
				if os.Getenv("WARMROUTE_TEST_LONG") == "" && random.IntN(80) > 0 {
					continue
				}
				try(1, func(int) (int, string, bool, bool) { return place, value, false, false })
			}
			try(1, func(int) (int, string, bool, bool) { return place, "other", random.IntN(2) == 0, true })
		}
		for range 100 {
			try(2, func(places int) (int, string, bool, bool) {
				return random.IntN(places), oddValues[random.IntN(len(oddValues))], random.IntN(8) == 0, random.IntN(8) == 0
			})
		}
		t.Logf("%s: %d edits, %d of them good, %d judged alike", kind.name, tried, good, alike)
		if good < tried/50 || good == tried {
			t.Errorf("%s: %d of %d edits are good, which shows little", kind.name, good, tried)
		}
	}
}

// spot is where a value stands: an item of its parent's content.
type spot struct {
	parent *yaml.Node
	index  int
}

// placesOf are all values of a document.
func placesOf(n *yaml.Node) []spot {
	var all []spot
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			continue
		}
		all = append(all, spot{n, i})
		all = append(all, placesOf(child)...)
	}
	return all
}

// change puts another value at a place, renames its key or removes it.
func change(at spot, value string, rename, remove bool) {
	mapping := at.parent.Kind == yaml.MappingNode
	switch {
	case remove && mapping:
		at.parent.Content = slices.Delete(at.parent.Content, at.index-1, at.index+1)
	case remove && at.parent.Kind == yaml.SequenceNode:
		at.parent.Content = slices.Delete(at.parent.Content, at.index, at.index+1)
	case rename && mapping:
		at.parent.Content[at.index-1] = &yaml.Node{Kind: yaml.ScalarNode, Value: "other"}
	default:
		var document yaml.Node
		if yaml.Unmarshal([]byte("v: "+value), &document) == nil {
			at.parent.Content[at.index] = document.Content[0].Content[1]
		}
	}
}

func TestTheSchemasAreServedWhole(t *testing.T) {
	for _, text := range [][]byte{Schema(), ConfigSchema()} {
		var schema struct {
			Schema string `json:"$schema"`
		}
		if err := json.Unmarshal(text, &schema); err != nil || schema.Schema != "http://json-schema.org/draft-07/schema#" {
			t.Errorf("%v, %q", err, schema.Schema)
		}
	}
	Schema()[0] = 'x'
	if Schema()[0] != '{' {
		t.Error("a caller has changed the schema")
	}
}
