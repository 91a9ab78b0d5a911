package wire

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

func markedOf(t testing.TB, body string) (hash string, tokens int64, ok bool) {
	t.Helper()
	f := read(t, catalog.Messages, []byte(body)).Facts()
	if f.MarkedPrefix == nil {
		return "", 0, false
	}
	return f.MarkedPrefix()
}

const mark = `,"cache_control":{"type":"ephemeral"}`

// prompt is a conversation block by block, and the place of its last marker.
type prompt struct {
	tools, system []string
	messages      [][]string // of texts
	last          int        // counted over tools, system and messages' blocks
}

// blocks is how many there are.
func (p *prompt) blocks() int {
	n := len(p.tools) + len(p.system)
	for _, m := range p.messages {
		n += len(m)
	}
	return n
}

// upTo is the slow twin: what a hash is of, with each part in its place.
func (p *prompt) upTo() string {
	var b strings.Builder
	n := 0
	put := func(part string, place int, text string) {
		if n <= p.last {
			fmt.Fprintf(&b, "%s %d %q\n", part, place, text)
		}
		n++
	}
	for _, t := range p.tools {
		put("tool", 0, t)
	}
	for _, t := range p.system {
		put("system", 0, t)
	}
	for i, m := range p.messages {
		for _, t := range m {
			put("message", i, t)
		}
	}
	return b.String()
}

// render writes the body: texts alone or as blocks, further markers before the last, in
// any of several ways that mean the same.
func (p *prompt) render(r *rand.Rand) string {
	n := -1
	marker := func() string {
		n++
		switch {
		case n == p.last || n < p.last && r.IntN(4) == 0:
			return []string{mark, `,"cache_control":{"type":"ephemeral","ttl":"1h"}`}[r.IntN(2)]
		case n < p.last && r.IntN(4) == 0:
			return `,"cache_control":null`
		}
		return ""
	}
	block := func(text string) string { return fmt.Sprintf(`{"type":"text","text":%q%s}`, text, marker()) }
	content := func(texts []string) string {
		if len(texts) == 1 && n+1 != p.last && r.IntN(2) == 0 {
			n++
			return fmt.Sprintf("%q", texts[0])
		}
		var all []string
		for _, text := range texts {
			all = append(all, block(text))
		}
		return "[" + strings.Join(all, []string{",", " , "}[r.IntN(2)]) + "]"
	}
	var tools []string
	for _, name := range p.tools {
		tools = append(tools, fmt.Sprintf(`{"name":%q,"input_schema":{"type":"object"}%s}`, name, marker()))
	}
	body := `{"model":"m","max_tokens":` + fmt.Sprint(r.IntN(100)) + `,"tools":[` + strings.Join(tools, ",") + `]`
	if len(p.system) > 0 {
		body += `,"system":` + content(p.system)
	}
	var messages []string
	for i, m := range p.messages {
		messages = append(messages, fmt.Sprintf(`{"role":%q,"content":%s}`, []string{"user", "assistant"}[i%2], content(m)))
	}
	return body + `,"messages":[` + strings.Join(messages, ",") + `]}`
}

func TestAMarkedPrefixIsWhatStandsBeforeTheLastMarker(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 7))
	texts := func(most int) (all []string) {
		for range r.IntN(most + 1) {
			all = append(all, string(rune('a'+r.IntN(3))))
		}
		return all
	}
	hashes, prefixes := map[string]string{}, map[string]string{}
	for range 5000 {
		p := prompt{tools: texts(2), system: texts(2)}
		for range 1 + r.IntN(3) {
			p.messages = append(p.messages, append(texts(1), "z"))
		}
		p.last = r.IntN(p.blocks())
		body := p.render(r)
		hash, tokens, ok := markedOf(t, body)
		if !ok || len(hash) != 64 || tokens < 0 {
			t.Fatalf("%q of %d tokens, %v: %s", hash, tokens, ok, body)
		}
		want := p.upTo()
		// A prefix that ends where a section does says nothing of the next, so none of
		// two prompts may be told apart by what follows.
		if before, known := hashes[want]; known && before != hash {
			t.Fatalf("the prefix\n%shas two hashes; the second is of\n%s", want, body)
		}
		if before, known := prefixes[hash]; known && before != want {
			t.Fatalf("two prefixes have one hash:\n%s\n%s", before, want)
		}
		hashes[want], prefixes[hash] = hash, want
	}
	if len(hashes) < 500 {
		t.Errorf("only %d prefixes", len(hashes))
	}
}

func TestMarkedPrefixes(t *testing.T) {
	same := func(name, a, b string, want bool) {
		t.Helper()
		x, _, ok := markedOf(t, a)
		y, _, also := markedOf(t, b)
		if !ok || !also || (x == y) != want {
			t.Errorf("%s: %v, %v, the same: %v", name, ok, also, x == y)
		}
	}
	body := func(messages string) string { return `{"model":"m","messages":[` + messages + `]}` }
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a"` + mark + `}]}]}`
	same("a marker inside a block marks the block", body(result), body(strings.Replace(strings.Replace(result, mark, "", 1), `}]}]}`, `}]`+mark+`}]}`, 1)), true)
	same("what follows does not count", body(result), body(result+`,{"role":"user","content":"b"}`), true)
	same("what goes before does", body(result), body(`{"role":"user","content":"b"},`+result), false)
	same("a message may carry the marker itself", body(`{"role":"user","content":"a"`+mark+`}`), body(`{"role":"user","content":[{"type":"text","text":"a"`+mark+`}]}`), true)
	same("roles count", body(`{"role":"user","content":"a"`+mark+`}`), body(`{"role":"system","content":"a"`+mark+`}`), false)
	same("the model does not", body(`{"role":"user","content":"a"`+mark+`}`), strings.Replace(body(`{"role":"user","content":"a"`+mark+`}`), `"m"`, `"n"`, 1), true)
	for name, text := range map[string]string{
		"no marker":                body(`{"role":"user","content":"a"}`),
		"a marker for everything":  `{"model":"m","cache_control":{"type":"ephemeral"},"messages":[{"role":"user","content":"a"}]}`,
		"a property of that name":  `{"model":"m","tools":[{"name":"t","input_schema":{"properties":{"cache_control":{"type":"string"}}}}],"messages":[]}`,
		"a marker in the metadata": `{"model":"m","metadata":{"x":{"cache_control":{"type":"ephemeral"}}},"messages":[]}`,
	} {
		if hash, _, ok := markedOf(t, text); ok {
			t.Errorf("%s: %s", name, hash)
		}
	}
	many := strings.Repeat(`{"role":"user","content":"a"`+mark+`},`, maxMarkersHashed)
	if _, _, ok := markedOf(t, body(strings.TrimSuffix(many, ","))); !ok {
		t.Error("as many markers as may be are too many")
	}
	if _, _, ok := markedOf(t, body(many+`{"role":"user","content":"a"`+mark+`}`)); ok {
		t.Error("one more is not too many")
	}
	long := strings.Repeat("word ", 1000)
	if _, tokens, _ := markedOf(t, body(`{"role":"user","content":"`+long+`"`+mark+`},{"role":"user","content":"`+long+`"}`)); tokens < 1250 || tokens > 1260 {
		t.Errorf("5,000 bytes are %d tokens", tokens)
	}
}

// A prefix and a field cost the size of the body, whatever stands in it: four times the
// body takes some four times as long, not sixteen times.
func TestPrefixesAndFieldsCostTheSizeOfTheBody(t *testing.T) {
	const small = "{\"type\":\"text\",\"text\":\"a\"" + mark + "}"
	deep := strings.Repeat(`{"cache_control":`, 100) + `{"type":"ephemeral"}` + strings.Repeat(`,"type":"ephemeral"}`, 100)
	for name, c := range map[string]struct{ before, unit, after string }{
		"marked blocks":           {`"messages":[{"role":"user","content":[`, small, `]}]`}, // too many
		"blocks before a marker":  {`"messages":[{"role":"user","content":[`, `{"type":"text","text":"a"}`, `,` + small + `]}]`},
		"messages before one":     {`"messages":[`, `{"role":"user","content":"a"}`, `,{"role":"user","content":"a"` + mark + `}]`},
		"markers inside markers":  {`"messages":[{"role":"user","content":[`, deep, `]}]`},
		"members of a message":    {`"messages":[{"x":[`, small, `],"content":"a"` + mark + `}]`},
		"words that are no names": {`"messages":[{"role":"user"` + mark + `,"content":["`, `\"cache_control\":{},`, `"]}]`},
		"fields under one name":   {`"metadata":{"a":{"b":{"c":{"d":[`, small, `]},"user":"u"}}},"messages":[{"role":"user"` + mark + `}]`},
	} {
		cost := func(n int) time.Duration {
			separator := ","
			if strings.HasSuffix(c.unit, ",") {
				separator = ""
			}
			f := read(t, catalog.Messages, []byte(`{"model":"m",`+c.before+strings.TrimSuffix(strings.Repeat(c.unit+separator, n/len(c.unit)), ",")+c.after+`}`)).Facts()
			least := time.Hour
			for range 5 {
				start := time.Now()
				if f.MarkedPrefix != nil {
					f.MarkedPrefix()
				}
				f.Field("metadata.a.b.user")
				least = min(least, time.Since(start))
			}
			return least
		}
		ratio := 0.0
		for range 6 { // the machine may be busy with something else
			if ratio = float64(cost(512<<10)) / float64(max(cost(128<<10), 50*time.Microsecond)); ratio <= 12 {
				break
			}
		}
		if ratio > 12 {
			t.Errorf("%s: four times the body takes %.1f times as long", name, ratio)
		}
	}
}
