package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// fill repeats a piece to about as many bytes.
func fill(piece string, size int) string { return strings.Repeat(piece, size/len(piece)) }

// numbered repeats a line with its number in it.
func numbered(format string, count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// bombs are texts that are meant to cost a reader more than they cost to write.
func bombs() map[string]string {
	const full, half = MaxSize - 1024, MaxSize / 2
	price := func(text string) string {
		return frame + "  m: {routes: [{vendor: alpha, model: m, price: {input: " + text + "}}]}\n"
	}
	var steps, laughs strings.Builder
	for i := range 2800 {
		fmt.Fprintf(&steps, "%sk:\n", strings.Repeat(" ", i))
	}
	laughs.WriteString("a0: &a0 [x, x]\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	return map[string]string{
		"1,000 digits":                      price(strings.Repeat("7", 1000)),
		"100,000 digits":                    price(strings.Repeat("7", 100_000)),
		"1,000,000 digits":                  price(strings.Repeat("7", 1_000_000)),
		"4 MiB of digits":                   price(strings.Repeat("7", full)),
		"4 MiB of decimals":                 price("0." + strings.Repeat("7", full)),
		"an exponent of a million":          price("1e1000000"),
		"an exponent of a thousand million": price("1e1000000000"),
		"an exponent of many digits":        price("1e" + strings.Repeat("9", full)),
		"a negative exponent":               price("1e-999999999"),
		"aliases of aliases":                laughs.String(),
		"many anchors":                      numbered("a%d: &a%[1]d x\n", 150_000),
		"anchors and their aliases":         numbered("a%d: [&a%[1]d x, *a%[1]d]\n", 100_000),
		"one anchor, many aliases":          "a: &a x\nb: [" + fill("*a, ", full) + "*a]\n",
		"1 MB of [":                         strings.Repeat("[", 1_000_000),
		"4 MiB of [":                        strings.Repeat("[", full),
		"4 MiB of {":                        strings.Repeat("{", full),
		"4 MiB of [{":                       fill("[{", full),
		"4 MiB of {a: ":                     fill("{a: ", full),
		"4 MiB of [] pairs":                 fill("[], ", full),
		"4 MiB of [ and ]":                  strings.Repeat("[", half) + strings.Repeat("]", half),
		"4 MiB of dashes in a line":         fill("- ", full),
		"4 MiB of ? in a line":              fill("? ", full),
		"4 MiB of : in a line":              fill(": ", full),
		"a staircase":                       steps.String(),
		"9,999 [":                           strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999),
		"9,999 dashes":                      strings.Repeat("- ", 9_999) + "x\n",
		"40,000 flat keys":                  numbered("key%d: 1\n", 40_000),
		"100,000 flat keys":                 numbered("key%d: 1\n", 100_000),
		"400,000 flat keys":                 numbered("k%d: 1\n", 380_000),
		"100,000 flat keys in braces":       "{" + numbered("k%d: 1, ", 100_000) + "}",
		"100,000 models":                    frame + numbered("  k%d: 1\n", 100_000),
		"100,000 keys of a route":           frame + "  m: {routes: [{" + numbered("k%d: 1, ", 100_000) + "}]}\n",
		"100,000 keys of deep mappings":     frame + numbered("  m%d: {a: {b: {c: {d: 1}}}}\n", 100_000),
		"one key, a million times":          strings.Repeat("a: 1\n", 800_000),
		"4 MiB of tiny items":               "[" + fill("1,", full) + "]",
		"4 MiB of tiny items in lines":      fill("- 1\n", full),
		"4 MiB of empty items":              fill("-\n", full),
		"4 MiB of tiny pairs":               "{" + fill("a: ,", full) + "}",
		"4 MiB of tiny lists":               fill("- [a, b, c]\n", full),
		"4 MiB of empty lists":              fill("- []\n", full),
		"4 MiB of quoted items":             "[" + fill("'',", full) + "]",
		"4 MiB of tagged items":             "[" + fill("!a b,", full) + "]",
		"4 MiB of lists of lists":           fill("- - - - -\n", full),
		"4 MiB of aliases lists":            frame + "  m: {aliases: [" + fill("~, ", full) + "]}\n",
		"a comment of 4 MiB":                "#" + strings.Repeat("x", full) + "\n" + priced("1"),
		"many comments":                     fill("# a\n", half) + "colour: red\n",
		"4 MiB of empty comments":           fill("#\n", full),
		"a comment after every value":       fill("a: b # c\n", full),
		"a comment between all items":       "[" + fill("a, # b\n", full) + "]",
		"comments at every depth":           fill("# a\n # b\n  # c\n", full) + "colour: red\n",
		"4 MiB of empty lines":              strings.Repeat("\n", full),
		"4 MiB of spaces":                   strings.Repeat(" ", full),
		"4 MiB of spaces, then a word":      strings.Repeat(" ", full) + "a: b\n",
		"a plain text of 4 MiB":             "a: " + strings.Repeat("x", full) + "\n",
		"a plain text of many lines":        "a:\n" + fill("  x\n", full),
		"a plain text of many words":        "a: " + fill("x ", full) + "\n",
		"a plain text of many empty lines":  "a: x" + strings.Repeat("\n", half) + "  y\n",
		"a quoted text of 4 MiB":            "a: \"" + strings.Repeat("x", full) + "\"\n",
		"a quoted text without an end":      "a: \"" + strings.Repeat("x\n", half),
		"a quoted text of escapes":          "a: \"" + fill(`\x41`, full) + "\"\n",
		"a quoted text of quotes":           "a: '" + fill("''", full) + "'\n",
		"a block text of 4 MiB":             "a: |\n" + fill("  x\n", full),
		"a folded text of 4 MiB":            "a: >\n" + fill("  x\n\n", full),
		"a key of 4 MiB":                    strings.Repeat("k", full) + ": 1\n",
		"a key of 4 MiB in quotes":          "\"" + strings.Repeat("k", full) + "\": 1\n",
		"a question of 4 MiB":               "? " + strings.Repeat("k", full) + "\n: 1\n",
		"a name of 4 MiB":                   frame + "  " + strings.Repeat("k", full) + ": {routes: []}\n",
		"a tag of 4 MiB":                    "a: !" + strings.Repeat("x", full) + " b\n",
		"an anchor of 4 MiB":                "a: &" + strings.Repeat("x", full) + " b\n",
		"a directive of 4 MiB":              "%" + strings.Repeat("x", full) + "\n---\na: b\n",
		"many directives":                   fill("%TAG ! x\n", full) + "---\na: b\n",
		"a NUL at the end":                  priced("1") + fill("# x\n", full-1000) + "\x00",
		"4 MiB of NUL":                      strings.Repeat("\x00", full),
		"bad UTF-8 at the end":              priced("1") + fill("# x\n", full-1000) + "\xff",
		"4 MiB of bad UTF-8":                strings.Repeat("\xff", full),
		"4 MiB of wide characters":          "a: " + fill("\u4e2d", full) + "\n",
		"a second document":                 priced("1") + "---\n" + fill("a: b\n", half),
		"a million documents":               fill("---\n", full),
		"a million documents with ends":     fill("--- a\n...\n", full),
		"a tab at the end":                  priced("1") + fill("# x\n", 100_000) + "\tx: y\n",
		"a mistake of syntax in 100 KiB":    string(many(280)) + "\tx: y\n",
		"a mistake in a line of 100 KiB":    "a: [" + fill("b, ", 100_000) + "@]\n",
		"a mistake of syntax in 4 MiB":      frame + fill("  m: {a: b}\n", half) + "\tx: y\n",
		"an end missing":                    frame + "  m: {routes: [{vendor: alpha, model: m}\n" + fill("  n: {a: b}\n", 100_000),
		"a base of 4 MiB":                   "version: 1\nvendors: {v: {api: [chat], base_url: \"https://" + strings.Repeat("a", full) + "\"}}\nmodels: {m: {routes: [{vendor: v, model: m}]}}\n",
		"a host of dots":                    "version: 1\nvendors: {v: {api: [chat], base_url: \"https://" + fill("a.", full) + "\"}}\nmodels: {m: {routes: [{vendor: v, model: m}]}}\n",
		"a key file of 4 MiB":               "version: 1\nvendors: {v: {api: [chat], base_url: https://v.example, credentials: [{id: main, file: " + strings.Repeat("a", full) + "}]}}\nmodels: {m: {routes: [{vendor: v, model: m}]}}\n",
		"a source of 4 MiB":                 price("1, source: " + strings.Repeat("s", full)),
		"merges":                            "a: &a {b: c}\nd:\n" + fill("  <<: *a\n", half),
	}
}

// inTime is how much of a processor a bomb may use.
const inTime = 50 * time.Millisecond

// processor is what this process has used so far of the processors, which tells
// more than the clock where others use the machine too.
func processor(t testing.TB) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func TestBombsAreRefusedInTime(t *testing.T) {
	worst, which := time.Duration(0), ""
	for name, text := range bombs() {
		took := time.Hour
		for range 3 { // the best of three: rubbish of the others may be collected meanwhile
			began := processor(t)
			_, err := Parse("f", []byte(text))
			took = min(took, processor(t)-began)
			var all Problems
			if !errors.As(err, &all) || len(err.Error()) > 64<<10 {
				t.Errorf("%s: %.300v", name, err)
			} else if strings.Contains(all[0].Message, "needs far less") && all[0].Code != CodeFile {
				t.Errorf("%s: the code %s", name, all[0].Code)
			}
			if took < inTime*slower {
				break
			}
		}
		if took > worst {
			worst, which = took, name
		}
		if took > inTime {
			t.Logf("%s took %s", name, took)
		}
		if took > 5*inTime*slower { // others may be using the machine
			t.Errorf("%s took %s", name, took)
		}
	}
	t.Logf("the slowest took %s: %s", worst, which)
}

// large is a catalog in which every route has every price, a tier, a source and
// a comment.
func large(models, routes int) []byte {
	var text strings.Builder
	text.WriteString("version: 1\nvendors:\n")
	for v := range routes {
		fmt.Fprintf(&text, "  vendor-%d: {api: [chat], base_url: \"https://v%d.example/v1\", credentials: [{id: main, env: KEY_%d}]}\n", v, v, v)
	}
	text.WriteString("models:\n")
	for m := range models {
		fmt.Fprintf(&text, "  maker/model-%d:\n    aliases: [model-%d, m%d]\n    context: 200000\n    routes:\n", m, m, m)
		for v := range routes {
			fmt.Fprintf(&text, `      # read from the list of the vendor
      - vendor: vendor-%d
        model: maker/model-%d-20260801
        price:
          input: 3
          output: 15
          cache_read: 0.30
          cache_write: 3.75
          cache_write_1h: 6
          as_of: 2026-11-20
          source: https://v%d.example/prices/model-%d
          tiers: [{above: 200000, input: 6, output: 22.50, cache_read: 0.60, cache_write: 7.50, cache_write_1h: 12}]
        cache: {min_prefix: 1024}
`, v, m, v, m)
		}
	}
	return []byte(text.String())
}

// What a text may hold leaves room for the largest catalogs.
func TestLargeCatalogsStayFarBelowTheLimits(t *testing.T) {
	for _, c := range []struct{ models, routes int }{{500, 3}, {500, 10}, {5000, 1}} {
		text := large(c.models, c.routes)
		held, end := measured(text)
		t.Logf("%d routes: %d KiB, weight %d, %d lines, %d bytes of comments", c.models*c.routes, len(text)>>10, held.weight, held.lines, held.comments)
		if held.fault != "" || end != len(text) || held.weight > maxWeight*3/4 || held.lines > maxLines/2 || len(text) > MaxSize*3/4 {
			t.Errorf("%d models of %d routes: %q at %d", c.models, c.routes, held.fault, held.at)
		}
		parsed, err := Parse("f", text)
		if err != nil || len(parsed.Models) != c.models || len(parsed.Models[c.models-1].Routes) != c.routes {
			t.Errorf("%d models of %d routes: %.300v", c.models, c.routes, err)
		}
	}
}

// nodesOf is how many nodes the YAML package makes of a text's first document; ok
// is false where it is none.
func nodesOf(text []byte) (nodes int, ok bool) {
	n, err := decode(yaml.NewDecoder(bytes.NewReader(text)))
	if err != nil {
		return 0, false
	}
	var count func(n *yaml.Node)
	count = func(n *yaml.Node) {
		nodes++
		for _, child := range n.Content {
			count(child)
		}
	}
	count(n)
	return nodes, true
}

// FuzzMeasure: no text has many more nodes than its weight says, and none that is
// short is refused for its length.
func FuzzMeasure(f *testing.F) {
	for _, name := range []string{"minimal.yaml", "full.yaml", "warmroute.yaml"} {
		_, text := example(f, name)
		f.Add(text)
	}
	for _, text := range []string{
		"a: x\n  \"y\nb: [c, d]\n  \"\n", "[a\n \"b, c]\n", "- |\n x: [\n- y\n", "a: |2\n    'x\nb: c\n", "- - - |\n    z\n", "k:\n  >-\n  a\n  b\nc: d\n",
		"? a\n: b\n", "&a !t 'x': *a\n", "--- a\n--- b\n", "%YAML 1.2\n---\na: b\n...\n", " # c\n---\na: 'b''c'\n", "a: \"\\\"\"\n", "{a,\"b\":c,[d]: e}\n", "a:\r  b\rc:\r\n d\r\n", "\ufeffa: b",
		"a: b\n c: d\n", "-\n-\n", "[[[[]]]]", "a: 'b\n\n  c' \nd: e", "- a: |\n    x\n  b: \"\n  c\"\n", "a: #\n b",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, _, fault := badByte(text); fault != "" || len(text) > 16<<10 {
			return
		}
		held, end := measured(text)
		if end < 0 || end > len(text) || held.at < 0 || held.at > len(text) {
			t.Fatalf("ends at %d of %d, with a fault at %d", end, len(text), held.at)
		}
		if held.fault != "" {
			if !strings.Contains(held.fault, "nested more than") && !strings.Contains(held.fault, "spaces") {
				t.Fatalf("%d bytes are refused: %s", len(text), held.fault)
			}
			return
		}
		if nodes, ok := nodesOf(text); ok && nodes > 4*held.weight+4 {
			t.Fatalf("%d nodes in a text of weight %d", nodes, held.weight)
		}
	})
}
