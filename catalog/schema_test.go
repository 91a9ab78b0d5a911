package catalog

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// schema is the part of a JSON schema that says which keys there are.
type schema struct {
	Ref         string             `json:"$ref"`
	Properties  map[string]*schema `json:"properties"`
	Additional  json.RawMessage    `json:"additionalProperties"`
	Items       *schema            `json:"items"`
	OneOf       []*schema          `json:"oneOf"`
	Enum        []string           `json:"enum"`
	Definitions map[string]*schema `json:"definitions"`
}

// The example uses every key of the schema and no other, so an editor offers
// exactly what Parse, which accepts the example, reads.
func TestTheSchemaHasTheKeysOfTheFullExample(t *testing.T) {
	text, err := os.ReadFile("catalog.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	root := &schema{}
	if err := json.Unmarshal(text, root); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	var walk func(s *schema, path string, n *yaml.Node)
	walk = func(s *schema, path string, n *yaml.Node) {
		for s.Ref != "" {
			path = strings.TrimPrefix(s.Ref, "#/definitions/")
			s = root.Definitions[path]
			if s == nil {
				t.Fatalf("%s is not defined", path)
			}
		}
		switch n.Kind {
		case yaml.SequenceNode:
			for _, item := range n.Content {
				walk(s.Items, path, item)
			}
		case yaml.ScalarNode:
			if len(s.Enum) > 0 && !slices.Contains(s.Enum, n.Value) {
				t.Errorf("line %d: %s is none of %v", n.Line, n.Value, s.Enum)
			}
		case yaml.MappingNode:
			for i := 0; i < len(n.Content); i += 2 {
				key, value := n.Content[i].Value, n.Content[i+1]
				of := s
				for _, one := range s.OneOf {
					if one.Properties[key] != nil {
						of = one
					}
				}
				next := of.Properties[key]
				if next != nil {
					used[path+"."+key] = true
				} else if len(of.Additional) > 0 && of.Additional[0] == '{' {
					next = &schema{}
					if err := json.Unmarshal(of.Additional, next); err != nil {
						t.Fatal(err)
					}
				}
				if next == nil {
					t.Errorf("line %d: %s is not in the schema at %s", n.Content[i].Line, key, path)
					continue
				}
				walk(next, path+"."+key, value)
			}
		}
	}
	_, example := example(t, "full.yaml")
	var document yaml.Node
	if err := yaml.Unmarshal(example, &document); err != nil {
		t.Fatal(err)
	}
	walk(root, "", document.Content[0])

	var visit func(s *schema, path string)
	visit = func(s *schema, path string) {
		for key, next := range s.Properties {
			if !used[path+"."+key] && !strings.HasPrefix(key, "cache_write") {
				t.Errorf("the example does not use %s.%s", path, key)
			}
			visit(next, path+"."+key)
		}
		for _, one := range s.OneOf {
			visit(one, path)
		}
		if s.Items != nil {
			visit(s.Items, path)
		}
	}
	visit(root, "")
	for name, s := range root.Definitions {
		visit(s, name)
	}
}

// What Parse lists as the keys of a mapping is what the schema has.
func TestTheSchemaAndParseKnowTheSameKeys(t *testing.T) {
	text, err := os.ReadFile("catalog.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	root := &schema{}
	if err := json.Unmarshal(text, root); err != nil {
		t.Fatal(err)
	}
	d := root.Definitions
	for what, c := range map[string]struct {
		of   *schema
		text string
	}{
		"the catalog":    {root, "zzzzzzzz: 1\n"},
		"a vendor":       {d["vendor"], with("zzzzzzzz: 1", "", "")},
		"a credential":   {d["credential"], with("credentials: [{zzzzzzzz: 1}]", "", "")},
		"cache":          {d["cache"], with("cache: {zzzzzzzz: 1}", "", "")},
		"a hint":         {d["hint"], with("hints: [{zzzzzzzz: 1}]", "", "")},
		"a model":        {d["model"], frame + "  m: {zzzzzzzz: 1}\n"},
		"a route":        {d["route"], with("", "zzzzzzzz: 1", "")},
		"price":          {d["sheet"], with("", "price: {zzzzzzzz: 1}", "")},
		"a tier":         {d["tiers"].Items, with("", "price: {tiers: [{zzzzzzzz: 1}]}", "")},
		"a window":       {d["window"], with("", "price: {windows: [{zzzzzzzz: 1}]}", "")},
		"a service tier": {d["serviceTier"], with("", "price: {service_tiers: {flex: {zzzzzzzz: 1}}}", "")},
		"a policy":       {d["policy"], with("", "", "zzzzzzzz: 1")},
		"max_price":      {d["policy"].Properties["max_price"], with("", "", "max_price: {zzzzzzzz: 1}")},
		"affinity":       {d["policy"].Properties["affinity"], with("", "", "affinity: {zzzzzzzz: 1}")},
	} {
		_, err := Parse("f", []byte(c.text))
		_, list, found := strings.Cut(fmt.Sprint(err), `"zzzzzzzz" is not a key of `+what+"; the keys are ")
		list, _, _ = strings.Cut(list, "\n")
		got := strings.Split(list, ", ")
		var want []string
		for key := range c.of.Properties {
			want = append(want, key)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !found || !slices.Equal(got, want) {
			t.Errorf("%s: Parse knows %v, the schema %v", what, got, want)
		}
	}
}
