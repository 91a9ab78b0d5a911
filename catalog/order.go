package catalog

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// KeyOrder are the keys of a mapping of a catalog in their canonical order. The
// path names the keys that lead to it from the top; those of names, such as the
// name of a vendor, are any text, and the places in a list are empty ones.
//
// It is empty for a mapping whose keys are names, and for what is no mapping. The
// result is not to be changed.
func KeyOrder(path ...string) []string {
	shape := reflect.TypeFor[catalogShape]()
	for _, key := range path {
		if mapping, list, ok := forms(shape); ok {
			if shape = mapping; key == "" && list != nil {
				shape = list
			}
		}
		switch shape.Kind() {
		case reflect.Map, reflect.Slice:
			shape = shape.Elem()
		case reflect.Struct:
			if key == "" {
				continue
			}
			next, ok := shapeOfKey(shape, key)
			if !ok {
				return nil
			}
			shape = next
		default:
			return nil
		}
	}
	if mapping, _, ok := forms(shape); ok {
		shape = mapping
	}
	if shape.Kind() != reflect.Struct {
		return nil
	}
	if known, ok := orderOfShapes.Load(shape); ok {
		return known.([]string)
	}
	keys := keysOfType(shape)
	slices.SortStableFunc(keys, func(a, b string) int { return rank(a) - rank(b) })
	orderOfShapes.Store(shape, keys)
	return keys
}

var orderOfShapes sync.Map // reflect.Type → []string

// whenItHolds are the keys that say when a price holds. They are written before it.
var whenItHolds = []string{"valid_from", "valid_to", "above", "days", "from", "to", "zone", "speed", "region"}

func rank(key string) int {
	if i := slices.Index(whenItHolds, key); i >= 0 {
		return i
	}
	return len(whenItHolds)
}

// forms are the mapping and the list that one value may be; list is nil if it is
// none.
func forms(shape reflect.Type) (mapping, list reflect.Type, ok bool) {
	if shape.Kind() != reflect.Struct || !strings.HasPrefix(shape.Name(), "either[") {
		return nil, nil, false
	}
	mapping = shape.Field(0).Type
	for i := range shape.NumField() {
		switch t := shape.Field(i).Type; t.Kind() {
		case reflect.Struct:
			mapping = t
		case reflect.Slice:
			list = t
		}
	}
	return mapping, list, true
}

// shapeOfKey is the shape of a key's value.
func shapeOfKey(shape reflect.Type, key string) (value reflect.Type, ok bool) {
	for i := range shape.NumField() {
		f := shape.Field(i)
		if f.Anonymous {
			if value, ok = shapeOfKey(f.Type, key); ok {
				return value, true
			}
			continue
		}
		if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name == key {
			return f.Type, true
		}
	}
	return nil, false
}
