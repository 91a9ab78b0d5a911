package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// fragment is a JSON schema, or a part of one, as far as ours need it (draft-07).
type fragment struct {
	Schema      string      `json:"$schema,omitempty"`
	Title       string      `json:"title,omitempty"`
	Description string      `json:"description,omitempty"`
	Ref         string      `json:"$ref,omitempty"`
	Type        any         `json:"type,omitempty"`
	Enum        []any       `json:"enum,omitempty"`
	Const       any         `json:"const,omitempty"`
	Default     any         `json:"default,omitempty"`
	Pattern     string      `json:"pattern,omitempty"`
	MinLength   int         `json:"minLength,omitempty"`
	MaxLength   int         `json:"maxLength,omitempty"`
	Minimum     *int64      `json:"minimum,omitempty"`
	Maximum     *int64      `json:"maximum,omitempty"`
	Items       *fragment   `json:"items,omitempty"`
	MinItems    int         `json:"minItems,omitempty"`
	MaxItems    int         `json:"maxItems,omitempty"`
	Unique      bool        `json:"uniqueItems,omitempty"`
	MinProps    int         `json:"minProperties,omitempty"`
	MaxProps    int         `json:"maxProperties,omitempty"`
	Names       *fragment   `json:"propertyNames,omitempty"`
	Required    []string    `json:"required,omitempty"`
	Properties  *properties `json:"properties,omitempty"`
	Additional  any         `json:"additionalProperties,omitempty"`
	AllOf       []*fragment `json:"allOf,omitempty"`
	AnyOf       []*fragment `json:"anyOf,omitempty"`
	OneOf       []*fragment `json:"oneOf,omitempty"`
	Not         *fragment   `json:"not,omitempty"`
	Definitions *properties `json:"definitions,omitempty"`
}

// properties are fragments by name, in order.
type properties struct {
	names []string
	of    map[string]*fragment
}

func (p *properties) add(name string, f *fragment) {
	if p.of == nil {
		p.of = map[string]*fragment{}
	}
	p.names, p.of[name] = append(p.names, name), f
}

func (p *properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, name := range p.names {
		value, err := marshal(p.of[name])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s%q:%s", map[bool]string{true: "{", false: ","}[i == 0], name, value)
	}
	b.WriteString("}")
	return b.Bytes(), nil
}

// marshal writes JSON without the escapes that HTML would need.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// words are an enumeration.
func words(all ...string) *fragment {
	f := &fragment{}
	for _, word := range all {
		f.Enum = append(f.Enum, word)
	}
	return f
}

// written is a scalar that is read by its text: what YAML takes for a number or a
// truth is as good as a text, whose pattern only texts are held to.
func written(pattern string) *fragment {
	return &fragment{Type: []string{"string", "number", "boolean"}, Pattern: pattern}
}

func bound(n int64) *int64 { return &n }

// values say what a schema says of each value of the shapes. Those that stand in
// many places are definitions.
var values = map[reflect.Type]struct {
	definition string
	is         *fragment
}{
	reflect.TypeFor[bool]():    {"", &fragment{Type: "boolean"}},
	reflect.TypeFor[yes]():     {"", &fragment{Const: true}},
	reflect.TypeFor[one]():     {"", &fragment{Enum: []any{1, "1"}}},
	reflect.TypeFor[scalar]():  {"", &fragment{Type: []string{"string", "number", "boolean"}}},
	reflect.TypeFor[anyName](): {"", nil},
	reflect.TypeFor[text]():    {"", written(`\S`)},
	reflect.TypeFor[nameText](): {"name", &fragment{Type: []string{"string", "number", "boolean", "null"}, Pattern: `^\S+$`, MaxLength: maxName,
		Description: "A name, taken by its text."}},
	reflect.TypeFor[slug]():         {"", written(`^[a-z0-9][a-z0-9._-]{0,63}$`)},
	reflect.TypeFor[tenantID]():     {"", &fragment{Type: []string{"string", "number", "boolean", "null"}, Pattern: `^[a-z0-9][a-z0-9._-]{0,63}$`}},
	reflect.TypeFor[addressText]():  {"", &fragment{Type: "string", Pattern: `^[hH][tT][tT][pP][sS]?://`}},
	reflect.TypeFor[hostPort]():     {"", &fragment{Type: "string", Pattern: `^[^\s/@]*:\d{1,5}$`}},
	reflect.TypeFor[envName]():      {"", written(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)},
	reflect.TypeFor[currencyText](): {"", &fragment{Type: "string", Pattern: `^[A-Z]{3}$`}},
	reflect.TypeFor[dayText]():      {"", &fragment{Type: "string", Pattern: `^\d{4}-\d{2}-\d{2}$`}},
	reflect.TypeFor[momentText]():   {"", &fragment{Type: "string", Pattern: `^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2}))?$`}},
	reflect.TypeFor[feeText](): {"", &fragment{Type: []string{"number", "string"}, Minimum: bound(0), MaxLength: 32,
		Pattern: `^((0|[1-9]\d{0,8})(\.\d{0,18})?|\.\d{1,18})([eE][-+]?\d{1,2})?$`}},
	reflect.TypeFor[timesText](): {"", &fragment{Type: []string{"number", "string"}, Minimum: bound(0), Maximum: bound(100), MaxLength: 32,
		Pattern: `^((0|[1-9]\d{0,8})(\.\d{0,18})?|\.\d{1,18})([eE][-+]?\d{1,2})?$`}},
	reflect.TypeFor[shareText](): {"", &fragment{Type: []string{"number", "string"}, Minimum: bound(0), Maximum: bound(1), MaxLength: 32,
		Pattern: `^((0|[1-9]\d{0,8})(\.\d{0,18})?|\.\d{1,18})([eE][-+]?\d{1,2})?$`}},
	reflect.TypeFor[daysText]():  {"", &fragment{Type: "string", Pattern: "^(" + strings.Join(dayNames, "|") + ")(-(" + strings.Join(dayNames, "|") + "))?$"}},
	reflect.TypeFor[hourText]():  {"", &fragment{Type: "string", Pattern: `^\d{2}:\d{2}(:\d{2})?$`}},
	reflect.TypeFor[sizeText]():  {"", &fragment{Type: []string{"string", "integer"}, Pattern: `^\d+( *[KMG]iB)?$`, Minimum: bound(1 << 10), Maximum: bound(1 << 30)}},
	reflect.TypeFor[sumText]():   {"", &fragment{Type: []string{"string", "number"}, Pattern: `^[0-9a-fA-F]{64}$`}},
	reflect.TypeFor[manyCount](): {"manyCount", &fragment{Type: []string{"integer", "string"}, Minimum: bound(1), Maximum: bound(100_000_000), Pattern: `^(100000000|[1-9]\d{0,7})$`}},
	reflect.TypeFor[tokens]():    {"tokens", &fragment{Type: []string{"integer", "string"}, Minimum: bound(1), Maximum: bound(999_999_999_999_999), Pattern: `^[1-9]\d{0,14}$`}},
	reflect.TypeFor[rateText](): {"rate", &fragment{Type: []string{"number", "string"}, Minimum: bound(0), MaxLength: 32,
		Pattern:     `^((0|[1-9]\d{0,8})(\.\d{0,18})?|\.\d{1,18})([eE][-+]?\d{1,2})?$`,
		Description: "A price for the unit of the file, read exactly as written. Leave the key out where the price is not known; 0 means free."}},
	reflect.TypeFor[unitWord]():       {"", words("per_million", "per_thousand", "per_token")},
	reflect.TypeFor[apiWord]():        {"", words(string(Chat), string(Responses), string(Messages))},
	reflect.TypeFor[conventionWord](): {"", words(conventions...)},
	reflect.TypeFor[pathText](): {"path", &fragment{Type: []string{"string", "boolean", "null"}, MaxLength: maxPath, Pattern: `^[A-Za-z_][A-Za-z0-9_-]*(\[[A-Za-z_][A-Za-z0-9_-]*=[A-Za-z0-9_-]+\])?(\.[A-Za-z_][A-Za-z0-9_-]*(\[[A-Za-z_][A-Za-z0-9_-]*=[A-Za-z0-9_-]+\])?)*$`,
		Description: "Names from the outside in, joined by dots; details[ttl=1h].tokens means an object of a list."}},
	reflect.TypeFor[standingWord]():   {"", words(standings...)},
	reflect.TypeFor[reasonedWord]():   {"", words(standings[:Either]...)},
	reflect.TypeFor[restWord]():       {"", words("output", "none")},
	reflect.TypeFor[noReadWord]():     {"", words("unknown", "zero")},
	reflect.TypeFor[ourMember]():      {"", words(ourMembers...)},
	reflect.TypeFor[familyWord]():     {"", words(string(Implicit), string(Explicit), string(None))},
	reflect.TypeFor[hintMemberWord](): {"", words(hintMember)},
	reflect.TypeFor[formWord]():       {"", words("hashed", "raw")},
	reflect.TypeFor[weightText](): {"", &fragment{Type: []string{"number", "string"}, Minimum: bound(0), MaxLength: 32,
		Pattern: `^((0|[1-9]\d{0,8})(\.\d{0,18})?|\.\d{1,18})([eE][-+]?\d{1,2})?$`}},
	reflect.TypeFor[sortWord]():       {"", words(sorts...)},
	reflect.TypeFor[gateWord]():       {"", words(gates...)},
	reflect.TypeFor[precedenceWord](): {"", words("pin", "order")},
	reflect.TypeFor[cacheTTLWord]():   {"", words(cacheTTLs...)},
	reflect.TypeFor[logLevelWord]():   {"", words("debug", "info", "warn", "error")},
	reflect.TypeFor[metadataWord]():   {"", words("body", "header", "off")},
	reflect.TypeFor[clientLeftWord](): {"", words(string(LeftCancel), string(LeftDrain))},
	reflect.TypeFor[profileWord]():    {"", words(profiles...)},
	reflect.TypeFor[subagentsWord]():  {"", words("shared", "separate")},
	reflect.TypeFor[sourceWord]():     {"", words(sessionSources...)},
	reflect.TypeFor[checkWord]():      {"", words(routingChecks...)},
}

// generator makes one schema of the shapes.
type generator struct {
	t           *testing.T
	docs        map[string]string // sentences, by Type.Field
	definitions *properties
}

// schemaOf is the JSON schema of a file that has this shape.
func schemaOf[Shape any](t *testing.T, title, description string) []byte {
	t.Helper()
	g := &generator{t, fieldComments(t), &properties{}}
	root := g.object(reflect.TypeFor[Shape]())
	root.Schema, root.Title, root.Description, root.Definitions = "http://json-schema.org/draft-07/schema#", title, description, g.definitions
	text, err := marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	return append(b.Bytes(), '\n')
}

// fieldComments reads the comments of the shapes' fields.
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("shape*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("the shapes are not here", err)
	}
	docs := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			of, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			shape, ok := of.Type.(*ast.StructType)
			if !ok {
				return false
			}
			for _, f := range shape.Fields.List {
				for _, name := range f.Names {
					docs[of.Name.Name+"."+name.Name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
				}
			}
			return false
		})
	}
	return docs
}

// of is what a schema says of a type: a definition's reference, or all of it.
func (g *generator) of(of reflect.Type) *fragment {
	g.t.Helper()
	if v, ok := values[of]; ok {
		if v.definition == "" {
			if v.is == nil {
				return nil
			}
			own := *v.is
			return &own
		}
		return g.define(v.definition, func() *fragment { return v.is })
	}
	switch {
	case of.Kind() == reflect.Slice:
		items := g.of(of.Elem())
		return &fragment{Type: "array", Items: items, Unique: of.Elem().Kind() == reflect.String}
	case of.Kind() == reflect.Map:
		return &fragment{Type: "object", Names: g.of(of.Key()), Additional: g.of(of.Elem())}
	case of.Kind() == reflect.Struct && strings.HasPrefix(of.Name(), "either["):
		return &fragment{OneOf: []*fragment{g.of(of.Field(0).Type), g.of(of.Field(1).Type)}}
	case of.Kind() == reflect.Struct && strings.HasSuffix(of.Name(), "Shape"):
		return g.define(strings.TrimSuffix(of.Name(), "Shape"), func() *fragment { return g.object(of) })
	}
	g.t.Fatalf("%s stands in a shape, and values does not say what a schema says of it", of)
	return nil
}

// define makes a definition once, and refers to it.
func (g *generator) define(name string, is func() *fragment) *fragment {
	if g.definitions.of[name] == nil {
		g.definitions.add(name, &fragment{}) // its place, should it refer to itself
		g.definitions.of[name] = is()
	}
	return &fragment{Ref: "#/definitions/" + name}
}

// object is what a schema says of a mapping.
func (g *generator) object(shape reflect.Type) *fragment {
	o := &fragment{Type: "object", Additional: false, Properties: &properties{}}
	var exactly, some []string
	var add func(shape reflect.Type, all reflect.StructTag)
	add = func(shape reflect.Type, all reflect.StructTag) {
		for i := range shape.NumField() {
			f := shape.Field(i)
			if f.Anonymous {
				add(f.Type, f.Tag)
				continue
			}
			name, optional, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if optional != "omitempty" {
				o.Required = append(o.Required, name)
			}
			if f.Tag.Get("exactly") != "" {
				exactly = append(exactly, name)
			}
			if f.Tag.Get("some") != "" || all.Get("some") != "" {
				some = append(some, name)
			}
			if other := f.Tag.Get("without"); other != "" {
				o.Not = &fragment{Required: []string{other, name}}
			}
			o.Properties.add(name, g.property(shape, f))
		}
	}
	add(shape, "")
	for _, name := range exactly {
		o.OneOf = append(o.OneOf, &fragment{Required: []string{name}})
	}
	for _, name := range some {
		o.AnyOf = append(o.AnyOf, &fragment{Required: []string{name}})
	}
	return o
}

// property is what a schema says of one key.
func (g *generator) property(shape reflect.Type, f reflect.StructField) *fragment {
	p := g.of(f.Type)
	if p.Ref != "" { // nothing may stand beside a reference
		p = &fragment{AllOf: []*fragment{p}}
	}
	if p.Description = g.docs[shape.Name()+"."+f.Name]; p.Description == "" {
		g.t.Errorf("%s.%s has no sentence of its own", shape.Name(), f.Name)
	}
	number := func(tag string) int {
		n, err := strconv.Atoi(cmp.Or(f.Tag.Get(tag), "0"))
		if err != nil {
			g.t.Fatalf("%s.%s: %v", shape.Name(), f.Name, err)
		}
		return n
	}
	if f.Type.Kind() == reflect.Map {
		p.MinProps, p.MaxProps = number("least"), number("most")
	} else {
		p.MinItems, p.MaxItems = number("least"), number("most")
	}
	if text := f.Tag.Get("default"); text != "" {
		p.Default = text
		if f.Type.Kind() == reflect.Bool {
			p.Default = text == "true"
		}
	}
	return p
}
