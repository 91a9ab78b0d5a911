package edit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// randomCatalog writes a valid catalog in a random form: block and flow, quotes,
// comments, blank lines and line ends where they may stand.
type randomCatalog struct {
	*rand.Rand
	strings.Builder
	remarks int
}

func (r *randomCatalog) one(words ...string) string { return words[r.IntN(len(words))] }

// remark is a comment that no other equals, or nothing.
func (r *randomCatalog) remark(lead string) string {
	if r.IntN(3) > 0 {
		return ""
	}
	r.remarks++
	return fmt.Sprintf("%s# %d: [a]{b}, 'c\" - d", lead, r.remarks)
}

func (r *randomCatalog) line(indent int, text string) {
	pad := strings.Repeat(" ", indent)
	switch r.IntN(6) {
	case 0:
		r.WriteString("\n")
	case 1:
		if c := r.remark(pad + r.one("", "  ")); c != "" {
			r.WriteString(c + "\n")
		}
	}
	r.WriteString(pad + text + r.remark(r.one(" ", "   ")) + "\n")
}

func (r *randomCatalog) word(text string) string {
	switch r.IntN(4) {
	case 0:
		return "'" + text + "'"
	case 1:
		return `"` + text + `"`
	}
	return text
}

func (r *randomCatalog) number() string {
	return r.one("1", "2.50", "0.30", "3e-01", "12", ".5", "7.0")
}

// flow joins fields between brackets, on one line or on several.
func (r *randomCatalog) flow(indent int, open, end string, fields []string) string {
	pad := strings.Repeat(" ", indent+r.IntN(3))
	switch r.IntN(4) {
	case 0:
		return open + strings.Join(fields, ",") + end
	case 1:
		var b strings.Builder
		b.WriteString(open + "\n")
		for i, f := range fields {
			comma := ","
			if i == len(fields)-1 {
				comma = r.one("", ",")
			}
			b.WriteString(pad + f + comma + r.remark("  ") + "\n")
		}
		b.WriteString(pad + end)
		return b.String()
	}
	return open + strings.Join(fields, ", ") + end
}

func (r *randomCatalog) priceFields() []string {
	fields := []string{"input: " + r.word(r.number())}
	for _, key := range []string{"output", "cache_read", "cache_write"} {
		if r.IntN(2) == 0 {
			fields = append(fields, key+": "+r.number())
		}
	}
	r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return fields
}

func (r *randomCatalog) route(indent int, vendor string) {
	if r.IntN(3) == 0 {
		price := r.flow(indent+6, "{", "}", r.priceFields())
		r.line(indent, "- "+r.flow(indent+4, "{", "}", []string{"vendor: " + vendor, "model: " + r.word("x"), "price: " + price}))
		return
	}
	r.line(indent, "- vendor: "+r.word(vendor))
	r.line(indent+2, "model: "+r.word("a-b,"+vendor))
	switch r.IntN(3) {
	case 0:
		r.line(indent+2, "price: "+r.flow(indent+6, "{", "}", r.priceFields()))
	case 1:
		r.line(indent+2, "price:")
		step := 1 + r.IntN(4)
		for _, f := range r.priceFields() {
			r.line(indent+2+step, f)
		}
		if r.IntN(2) == 0 {
			r.line(indent+2+step, "tiers: "+r.flow(indent+8, "[", "]", []string{"{above: 1000, input: 2}", "{input: 3, above: 2000}"}))
		}
	}
	if r.IntN(4) == 0 {
		r.WriteString(strings.Repeat(" ", indent+2) + r.one("disabled: |\n", "disabled: >-\n", "disabled: |2  # why\n"))
		r.WriteString(strings.Repeat(" ", indent+4) + "too slow # in May\n\n" + strings.Repeat(" ", indent+6) + "and June\n")
	}
}

// text writes the whole.
func (r *randomCatalog) text() string {
	r.line(0, "version: 1")
	r.line(0, "vendors:")
	step := 1 + r.IntN(4)
	for _, v := range []string{"first", "second", "third"} {
		if r.IntN(2) == 0 {
			r.line(step, v+": "+r.flow(step+2, "{", "}", []string{"api: [chat]", "base_url: https://" + v + ".example/v1"}))
			continue
		}
		r.line(step, r.word(v)+":")
		r.line(step+2, "api: [chat]")
		r.line(step+2, "base_url: "+r.word("https://"+v+".example/v1"))
	}
	r.line(0, "models:")
	step = 1 + r.IntN(4)
	for _, m := range []string{"a/m", "b:n", "4.10"} {
		r.line(step, r.word(m)+":")
		if r.IntN(2) == 0 {
			r.line(step+2, "context: 1000")
		}
		r.line(step+2, "routes:")
		dash := step + 2 + r.IntN(3)
		r.route(dash, "first")
		if r.IntN(2) == 0 {
			r.route(dash, "second")
		}
	}
	text := r.String()
	if c := r.remark(""); c != "" {
		text += c + "\n"
	}
	switch r.IntN(4) {
	case 0:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case 1:
		text = strings.TrimSuffix(text, "\n")
	case 2:
		text = "\ufeff" + text
	}
	return text
}

// randomChanges are a few changes of which none touches another.
func (r *randomCatalog) changes(c *catalog.Catalog) []Change {
	var all []Change
	for _, m := range c.Models {
		for _, route := range m.Routes {
			p := at(m.Name, route.Vendor.Name, "price")
			switch r.IntN(5) {
			case 0:
				all = append(all, Change{Path: append(p, Key("input")), Value: Plain(r.number())})
			case 1:
				all = append(all, Change{Path: p, Value: Map(fieldOf("cache_read", Plain(r.number())), Field{"source", Text(r.one("a: b", "x # y", "plain", "it's", "3")), "others differ"}, fieldOf("output", Plain(r.number())))})
			case 2:
				all = append(all, Change{Path: at(m.Name, route.Vendor.Name, "cache", "ttl"), Value: Text("20m")})
			case 3:
				all = append(all, Change{Path: p, Value: PriceValue(pricing.Price{{Band: pricing.Band{Card: pricing.Card{Input: rateOf(r.number())}, Tiers: []pricing.Tier{{Above: 5, Card: pricing.Card{Input: rateOf("9")}}}}}}, pricing.PerMillionTokens)})
			}
		}
		if len(m.Routes) < 2 && r.IntN(2) == 0 {
			all = append(all, Change{Path: Path{Key("models"), Key(m.Name), Key("routes")}, Append: true, Value: Map(fieldOf("vendor", Text("third")), fieldOf("model", Text("0x10")), fieldOf("price", Map(Field{"input", Plain("1"), "here"})))})
		}
		if r.IntN(3) == 0 {
			all = append(all, Change{Path: Path{Key("models"), Key(m.Name), Key("aliases")}, Value: Texts("alias-"+m.Name, "no-"+m.Name)})
		}
	}
	if r.IntN(2) == 0 {
		all = append(all, Change{Path: Path{Key("vendors"), Key("fourth")}, Value: Map(fieldOf("api", Texts("chat")), fieldOf("base_url", Text("https://fourth.example")))})
	}
	if r.IntN(2) == 0 {
		all = append(all, Change{Path: Path{Key("models"), Key("new: one #1"[:3])}, Value: Map(fieldOf("routes", List(Map(fieldOf("vendor", Text("second")), fieldOf("model", Text("y"))))))})
	}
	return all
}

func rateOf(text string) pricing.Rate {
	r, err := pricing.ParseRate(text, pricing.PerMillionTokens)
	if err != nil {
		panic(err)
	}
	return r
}

// FuzzEdit changes random catalogs: only what was asked for may change, all
// comments stay, and whatever stands outside the splices stays byte for byte.
func FuzzEdit(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := &randomCatalog{Rand: rand.New(rand.NewPCG(seed, 1))}
		text := r.text()
		d, err := Open("c.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		changes := r.changes(d.Catalog)
		result, err := d.Edit(changes...)
		var refusals Refusals
		if errors.As(err, &refusals) {
			if !strings.Contains(err.Error(), "comment inside") {
				t.Fatalf("%v\n%s", err, text)
			}
			return
		}
		if err != nil {
			t.Fatalf("%v\n%v\n%s", err, changes, text)
		}
		// The slow twin: every piece of the old text that no splice touches is in the
		// new one, in order, and so is every comment.
		at, rest := 0, string(result.Text)
		for _, s := range result.splices {
			kept := text[at:s.start] + s.text
			if !strings.HasPrefix(rest, kept) {
				t.Fatalf("the text before %d changed\n%s", s.start, result.Text)
			}
			rest, at = rest[len(kept):], s.end
		}
		if rest != text[at:] {
			t.Fatalf("the end changed\n%s", result.Text)
		}
		for i := 1; i <= r.remarks; i++ {
			if c := fmt.Sprintf("# %d: [a]{b}, 'c\" - d", i); !strings.Contains(string(result.Text), c) {
				t.Fatalf("comment %q is gone\n%s", c, result.Text)
			}
		}
		if strings.Contains(text, "\r\n") && strings.Count(string(result.Text), "\n") != strings.Count(string(result.Text), "\r\n") {
			t.Fatalf("line ends are mixed\n%q", result.Text)
		}
		for _, x := range Differences(d.Catalog, result.Catalog) {
			if !slices.ContainsFunc(changes, func(c Change) bool { return names(c, x) }) {
				t.Fatalf("nobody asked for %s\n%v\n%s", x, changes, result.Text)
			}
		}
	})
}

// names says whether a change is about what a difference is about.
func names(c Change, d Difference) bool {
	switch {
	case c.Path[0].key == "vendors":
		return d.Where == fmt.Sprintf("vendor %q", c.Path[1].key)
	case len(c.Path) == 2, c.Append, len(c.Path) == 3:
		return strings.HasPrefix(d.Where, fmt.Sprintf("model %q", c.Path[1].key))
	}
	return d.Where == fmt.Sprintf("model %q, route %q", c.Path[1].key, c.Path[3].is) && strings.HasPrefix(d.Field, c.Path[4].key)
}

// FuzzFormat formats random catalogs: they mean the same, keep their comments, and
// a second format changes nothing.
func FuzzFormat(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := &randomCatalog{Rand: rand.New(rand.NewPCG(seed, 2))}
		text := r.text()
		once, err := Format("c.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		twice, err := Format("c.yaml", once)
		if err != nil || string(once) != string(twice) {
			t.Fatalf("%v\n%s\n-----\n%s\n-----\n%s", err, text, once, twice)
		}
		for i := 1; i <= r.remarks; i++ {
			if c := fmt.Sprintf("# %d: [a]{b}, 'c\" - d", i); strings.Count(string(once), c) != 1 {
				t.Fatalf("comment %q is not there once\n%s\n%s", c, text, once)
			}
		}
	})
}

// FuzzText opens and formats whatever text: it must not panic, and what can be
// formatted must mean the same.
func FuzzText(f *testing.F) {
	for _, path := range []string{"full.yaml", "minimal.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "catalogs", path))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(small)
	f.Add(before)
	f.Add("version: 1\nvendors: {first: {api: [chat], base_url: https://a.example, hints: [header: x-a]}}\nmodels:\n  ? m\n  : routes:\n    - vendor: first\n      model: \"x\\\n        y\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Open("c.yaml", []byte(text))
		if err != nil {
			return
		}
		once, err := Format("c.yaml", []byte(text))
		if err != nil && !errors.Is(err, ErrNotFormatted) {
			t.Fatal(err)
		}
		if err == nil {
			if twice, err := Format("c.yaml", once); err != nil || string(twice) != string(once) {
				t.Fatalf("%v\n%q\n%q\n%q", err, text, once, twice)
			}
		}
		m := d.Catalog.Models[0]
		if len(m.Routes) == 0 {
			return
		}
		r, err := d.Edit(Change{Path: at(m.Name, m.Routes[0].Vendor.Name, "price"), Value: Map(fieldOf("input", Plain("1.25")))})
		if err == nil && !m.Routes[0].Price.At(pricing.Terms{}).Input.Equal(rateOf("1.25")) && !r.Changed() {
			t.Fatalf("nothing changed in %q", text)
		}
	})
}
