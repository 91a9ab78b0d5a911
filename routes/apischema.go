package routes

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/warmroute/warmroute/pricing"
)

// jsonField is one member of a shape as JSON has it.
type jsonField struct {
	name     string
	index    []int
	kind     reflect.Type
	optional bool // left out where it is empty
}

// jsonFields are the members of a shape, in its order, those of embedded shapes among
// them.
func jsonFields(shape reflect.Type) []jsonField {
	var fields []jsonField
	for i := range shape.NumField() {
		f := shape.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			for _, inner := range jsonFields(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				fields = append(fields, inner)
			}
		case name != "" && name != "-":
			fields = append(fields, jsonField{name, f.Index, f.Type, strings.Contains(options, "omitempty")})
		}
	}
	return fields
}

// decimalPattern is that of a canonical decimal.
const decimalPattern = `^-?[0-9]+(\.[0-9]+)?$`

// schemas are the JSON Schemas of shapes by their names.
type schemas struct {
	all   map[string]any
	types map[string]reflect.Type
}

// of is the schema of a type: of a shape, a reference to it.
func (s schemas) of(t reflect.Type) map[string]any {
	switch t {
	case reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return map[string]any{"type": "object"}
	case reflect.TypeFor[amount]():
		return map[string]any{"type": "string", "format": "decimal", "pattern": decimalPattern}
	case reflect.TypeFor[pricing.Rate]():
		return map[string]any{"type": []string{"string", "null"}, "format": "decimal", "pattern": decimalPattern}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return orNull(s.of(t.Elem()))
	case reflect.Slice:
		return map[string]any{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer", "format": "int64"}
	case reflect.Struct:
		name := shapeName(t)
		switch known := s.types[name]; known {
		case t:
		case nil:
			s.types[name] = t // first, so that a shape may hold itself
			s.all[name] = s.object(t)
		default:
			panic("two shapes are called " + name) // a mistake of this package's, which its tests meet
		}
		return map[string]any{"$ref": "#/components/schemas/" + name}
	}
	return map[string]any{"type": "string"}
}

func (s schemas) object(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range jsonFields(t) {
		properties[f.name] = s.of(f.kind)
		if !f.optional {
			required = append(required, f.name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

func orNull(schema map[string]any) map[string]any {
	if name, ok := schema["type"].(string); ok {
		schema["type"] = []string{name, "null"}
		return schema
	}
	return map[string]any{"anyOf": []any{schema, map[string]any{"type": "null"}}}
}

// shapeName is what a shape is called outside: turnShape is Turn.
func shapeName(t reflect.Type) string {
	name := strings.TrimSuffix(t.Name(), "Shape")
	return strings.ToUpper(name[:1]) + name[1:]
}
