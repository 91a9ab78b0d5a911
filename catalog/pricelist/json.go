package pricelist

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Limits of a list. The largest of the five is 1.2 MB and 90,000 values.
const (
	maxBytes  = 64 << 20
	maxValues = 2_000_000
	maxDepth  = 32
)

// kind is what a JSON value is.
type kind byte

const (
	null kind = iota
	boolean
	number
	text
	array
	object
)

// value is a JSON value that keeps its members' order and its numbers' text.
type value struct {
	kind  kind
	text  string         // of a number or a text; of a boolean "true" or "false"
	keys  []string       // of an object, in its order, each once
	items []*value       // of an array, or beside the keys
	index map[string]int // of an object with many keys
	again []string       // keys of an object that stood more than once
}

// unpack reads a text that may be gzip, up to the limit.
func unpack(from io.Reader) ([]byte, error) {
	packed, err := io.ReadAll(io.LimitReader(from, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(packed, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, fmt.Errorf("looks like gzip but is not: %w", err)
		}
		if packed, err = io.ReadAll(io.LimitReader(z, maxBytes+1)); err != nil {
			return nil, fmt.Errorf("the gzip is damaged: %w", err)
		}
	}
	if len(packed) > maxBytes {
		return nil, fmt.Errorf("is larger than %d MiB unpacked", maxBytes>>20)
	}
	return bytes.TrimPrefix(packed, []byte("\ufeff")), nil
}

// parse reads the one JSON value of a text that holds at most so many values.
func parse(data []byte, most int) (*value, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	p := parser{d: d, most: most}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("has something after its end; give the list's file alone")
	}
	return v, nil
}

type parser struct {
	d    *json.Decoder
	seen int
	most int
}

func (p *parser) value(depth int) (*value, error) {
	t, err := p.d.Token()
	if err != nil {
		return nil, notJSON(err)
	}
	return p.from(t, depth)
}

func notJSON(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("is not JSON; give the list's own file, as it is or as gzip: %w", err)
}

// from makes the value that begins with a token.
func (p *parser) from(t json.Token, depth int) (*value, error) {
	if p.seen++; p.seen > p.most {
		return nil, fmt.Errorf("has more than %d values", p.most)
	}
	switch t := t.(type) {
	case json.Delim:
		if depth >= maxDepth {
			return nil, fmt.Errorf("is nested deeper than %d levels", maxDepth)
		}
		if t == '[' {
			return p.array(depth)
		}
		return p.object(depth)
	case json.Number:
		return &value{kind: number, text: t.String()}, nil
	case string:
		return &value{kind: text, text: t}, nil
	case bool:
		return &value{kind: boolean, text: fmt.Sprint(t)}, nil
	}
	return &value{}, nil
}

func (p *parser) array(depth int) (*value, error) {
	v := &value{kind: array}
	for p.d.More() {
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
	}
	_, err := p.d.Token()
	if err != nil {
		return nil, notJSON(err)
	}
	return v, nil
}

func (p *parser) object(depth int) (*value, error) {
	v := &value{kind: object}
	for p.d.More() {
		t, err := p.d.Token()
		if err != nil {
			return nil, notJSON(err)
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.put(t.(string), item) // a JSON key is a string, or the token is an error
	}
	if _, err := p.d.Token(); err != nil {
		return nil, notJSON(err)
	}
	return v, nil
}

// indexed is the number of keys from which an object has an index.
const indexed = 16

// put adds a member. A key that stands again takes the later place and value.
func (v *value) put(key string, item *value) {
	if i := v.find(key); i >= 0 {
		v.again = append(v.again, key)
		v.items[i] = item
		return
	}
	v.keys, v.items = append(v.keys, key), append(v.items, item)
	switch {
	case v.index != nil:
		v.index[key] = len(v.keys) - 1
	case len(v.keys) == indexed:
		v.index = make(map[string]int, 2*indexed)
		for i, k := range v.keys {
			v.index[k] = i
		}
	}
}

func (v *value) find(key string) int {
	if v.index != nil {
		if i, ok := v.index[key]; ok {
			return i
		}
		return -1
	}
	for i, k := range v.keys {
		if k == key {
			return i
		}
	}
	return -1
}

// get is a member of an object; nil where there is none or v is no object.
func (v *value) get(path ...string) *value {
	for _, key := range path {
		if v == nil || v.kind != object {
			return nil
		}
		i := v.find(key)
		if i < 0 {
			return nil
		}
		v = v.items[i]
	}
	return v
}

// is says whether there is a value of that kind.
func (v *value) is(k kind) bool { return v != nil && v.kind == k }

// str is the text of a text, empty for anything else.
func (v *value) str() string {
	if v.is(text) {
		return v.text
	}
	return ""
}
