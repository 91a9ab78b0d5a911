package wire

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/warmroute/warmroute/catalog"
)

// TestLenientReadersSeeNoOtherField spells every name in random ways. Whatever
// encoding/json would take for the field must be the plain name or refused.
func TestLenientReadersSeeNoOtherField(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 3))
	refusals := 0
	for f := fieldModel; f < fields; f++ {
		name := fieldNames[f]
		if len(name) > maxName {
			t.Fatalf("%s is longer than maxName", name)
		}
		into := reflect.StructOf([]reflect.StructField{{
			Name: "Field", Type: reflect.TypeFor[json.RawMessage](), Tag: reflect.StructTag(fmt.Sprintf(`json:"%s"`, name)),
		}})
		for range 2000 {
			var key strings.Builder
			for _, c := range name {
				switch rnd.IntN(24) {
				case 0:
					c = unicode.ToUpper(c)
				case 1:
					c = unicode.SimpleFold(c)
				case 2:
					c = unicode.SimpleFold(unicode.SimpleFold(c))
				case 3:
					fmt.Fprintf(&key, `\u%04x`, c)
					continue
				case 4:
					fmt.Fprintf(&key, `\u%04X`, unicode.SimpleFold(c))
					continue
				case 5:
					c = 'é'
				}
				key.WriteRune(c)
			}
			v := reflect.New(into)
			if err := json.Unmarshal([]byte(`{"`+key.String()+`":{}}`), v.Interface()); err != nil {
				t.Fatal(err)
			}
			taken := v.Elem().Field(0).Len() > 0
			got, plain := lookup([]byte(key.String()), strings.Contains(key.String(), `\`))
			if taken != (got == f) || taken && plain != (key.String() == name) {
				t.Fatalf("%q: encoding/json takes it for %s: %v; lookup says %d, plain %v", key.String(), name, taken, got, plain)
			}
			if taken && !plain && f != fieldModel {
				refuse(t, `{"model":"m","`+key.String()+`":null}`)
				refusals++
			}
		}
		if got := exact([]byte(name)); got != f {
			t.Errorf("exact(%s) is %d", name, got)
		}
	}
	if refusals == 0 {
		t.Error("nothing was refused")
	}
	read(t, catalog.Chat, []byte(`{"model":"m","`+strings.Repeat(`\u006d`, 30)+`":1}`))
}
