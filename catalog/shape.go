package catalog

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// The shapes of this package say what the two YAML files look like before their
// meaning is known: a struct for each mapping, a field for each key in the order
// in which messages list them, and the field's comment as the sentence that an
// editor shows. keysIn gives the reader its keys, and the JSON schemas are
// generated from the same types, so the two cannot differ.
//
// A key whose tag has no omitempty must be there. Further tags: default is what
// holds where the key is not there; least and most bound the entries of a list or
// a mapping; of the fields marked exactly:"one" there must be exactly one, of
// those marked some:"one" at least one; without names a key that must not stand
// beside this one. Nothing is ever decoded into a shape: yaml.v3 would read null
// as a zero price and 4.10 as 4.1.

// keysIn are the keys of a shape, in its order. They are not to be changed.
func keysIn[Shape any]() []string {
	shape := reflect.TypeFor[Shape]()
	if known, ok := keysOfShapes.Load(shape); ok {
		return known.([]string)
	}
	keys := slices.Clip(keysOfType(shape))
	keysOfShapes.Store(shape, keys)
	return keys
}

var keysOfShapes sync.Map // reflect.Type → []string

func keysOfType(shape reflect.Type) []string {
	var keys []string
	for i := range shape.NumField() {
		f := shape.Field(i)
		if f.Anonymous {
			keys = append(keys, keysOfType(f.Type)...)
			continue
		}
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		keys = append(keys, key)
	}
	return keys
}
