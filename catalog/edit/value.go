package edit

import (
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/warmroute/warmroute/pricing"
)

// Value is what is to stand in a catalog: a text, a mapping or a list.
//
// The zero Value is an empty text, which no catalog takes.
type Value struct {
	kind   yaml.Kind
	text   string
	plain  bool // written without quotes where the grammar allows it
	quoted bool // written between quotes in any case
	number bool // compared by its number: 3.0 stays where 3 is wanted
	fields []Field
	items  []Value
}

// Field is one key of a mapping. A comment is written beside it where it is new,
// on one line; where no comment can stand it is left out.
type Field struct {
	Key     string
	Value   Value
	Comment string
}

// Text is a word. It is quoted where a reader of YAML would take it for a number,
// a date or a truth.
func Text(s string) Value { return Value{kind: yaml.ScalarNode, text: s} }

// Plain is a number, a day or another word that stands without quotes.
func Plain(s string) Value { return Value{kind: yaml.ScalarNode, text: s, plain: true} }

// Count is a whole number.
func Count(n int64) Value { return Plain(strconv.FormatInt(n, 10)) }

// Map is a mapping, in this order.
func Map(fields ...Field) Value { return Value{kind: yaml.MappingNode, fields: fields} }

// List is a list.
func List(items ...Value) Value { return Value{kind: yaml.SequenceNode, items: items} }

// Texts is a list of words.
func Texts(words ...string) Value {
	items := make([]Value, len(words))
	for i, w := range words {
		items[i] = Text(w)
	}
	return List(items...)
}

// Empty says whether a mapping or a list has nothing in it.
func (v Value) Empty() bool { return v.kind != yaml.ScalarNode && len(v.fields)+len(v.items) == 0 }

// is says whether a text says the same.
func (v *Value) is(text string) bool {
	if v.text == text || !v.number {
		return v.text == text
	}
	a, errA := pricing.ParseRate(v.text, pricing.PerMillionTokens)
	b, errB := pricing.ParseRate(text, pricing.PerMillionTokens)
	return errA == nil && errB == nil && a.Equal(b)
}

// Step leads from a value to one inside it.
type Step struct {
	key, is string
	entry   bool
	index   int
	list    bool
}

// Key leads to the value of a mapping's key.
func Key(name string) Step { return Step{key: name} }

// Entry leads to the item of a list whose key has this text.
func Entry(key, text string) Step { return Step{key: key, is: text, entry: true} }

// Item leads to an item of a list, from 0.
func Item(i int) Step { return Step{index: i, list: true} }

// Path leads from the top of a catalog to a value.
type Path []Step

// String is the path as messages show it, such as models.a/b.routes[vendor=x].price.
func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case s.entry:
			b.WriteString("[" + s.key + "=" + s.is + "]")
		case s.list:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.key)
		}
	}
	return b.String()
}

// Change is one thing to change.
//
// A mapping is laid over the one that stands there: its keys are set, the others
// stay. A list of the same length, or one that the new one continues, is laid over
// item by item, any other replaced.
// What the path's last steps do not find is made, as long as they are keys.
type Change struct {
	Path    Path
	Value   Value
	Append  bool   // the path leads to a list, and the value is one item more
	Comment string // beside a key that is new
}
