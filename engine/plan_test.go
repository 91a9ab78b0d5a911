package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// parse reads a catalog in which every credential has a key, except those whose
// environment variable is MISSING.
func parse(t testing.TB, text string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.ParseKeys("test.yaml", []byte(text), func(c catalog.Credential) (string, bool) {
		return "key", c.Env != "MISSING"
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fleet is a catalog with every kind of thing a filter looks at.
const fleet = `
version: 1
vendors:
  ant:   {api: [messages, chat], base_url: "https://ant.example/v1", credentials: [{id: main, env: K}], cache: {family: explicit, ttl: 5m, min_prefix: 1024}, tags: [zdr]}
  bee:   {api: [chat], base_url: "https://bee.example/v1", credentials: [{id: b1, env: K}, {id: b2, env: K}, {id: b3, env: K}], cache: {family: implicit, ttl: 10m}}
  cat:   {api: [chat], base_url: "https://cat.example/v1", cache: {family: none}, tags: [zdr, eu]}
  dog:   {api: [chat, responses], base_url: "https://dog.example/v1", credentials: [{id: d, env: MISSING}], cache: {family: implicit}}
  eel:   {api: [chat], base_url: "https://eel.example/v1", credentials: [{id: e1, env: MISSING}, {id: e2, env: K}], cache: {family: implicit}}
models:
  m:
    context: 1000
    routes:
      - {vendor: ant, model: m-ant, price: {input: 3, output: 15, cache_read: 0.3, tiers: [{above: 500, input: 6, output: 30, cache_read: 0.6}]}}
      - {vendor: bee, model: m-bee, price: {input: 2, output: 8, cache_read: 0.5}}
      - {vendor: cat, model: m-cat, price: {output: 1}}
      - {vendor: dog, model: m-dog, price: {input: 1, output: 1}}
      - {vendor: eel, model: m-eel, price: {input: 4, output: 1, cache_read: 1}}
  n:
    aliases: [n-latest]
    tags: [own]
    routes:
      - {vendor: ant, model: n-ant, price: {input: 1, output: 2, cache_read: 0.1}}
      - {vendor: cat, model: n-cat, price: {input: 1, output: 2}, disabled: "moved away"}
policies:
  p: {models: [m, n], order: [eel, bee], only: [ant, bee, eel, cat]}
  cheap: {models: [m], sort: price}
  capped: {models: [m], max_price: {input: 3}}
  private: {models: [m], tags: [zdr]}
  eu: {models: [m], tags: [zdr, eu]}
  own: {models: [m, n], tags: [own, zdr]}
  shared: {models: [m, n], sort: weighted, weights: {bee: 3, cat: 0.5}}
`

// show is a plan as text: candidates model by model, then what was removed.
func show(p Plan) string {
	var b strings.Builder
	for i, m := range p.Models {
		if i > 0 {
			b.WriteString(" | ")
		}
		fmt.Fprintf(&b, "%s:", m.Model.Name)
		for _, c := range p.Candidates[m.From:m.To] {
			b.WriteString(" " + c.Route.Vendor.Name)
			if c.Credential != "" {
				b.WriteString("/" + c.Credential)
			}
			if c.Down {
				b.WriteString("!")
			}
		}
		for _, r := range m.Removed {
			fmt.Fprintf(&b, " -%s(%s)", r.Route.Vendor.Name, r.Why)
		}
	}
	return b.String()
}

func TestBuildPlan(t *testing.T) {
	c := parse(t, fleet)
	pinned := func(vendor, credential, model string) Record {
		e := entryAt(vendor, 1, 0)
		e.Credential = credential
		return Record{}.Keep(model, e)
	}
	// Without a session and with Spread 0, bee's credentials come in this order.
	const bees = "bee/b1 bee/b3 bee/b2"
	cases := []struct {
		name   string
		target string
		change func(f *PlanFacts)
		want   string
	}{
		{"catalog order", "m", nil, "m: ant/main " + bees + " cat eel/e2 -dog(credential)"},
		{"alias", "n-latest", nil, "n: ant/main -cat(disabled)"},
		{"assumed keys", "m", func(f *PlanFacts) { f.AssumeKeys = true }, "m: ant/main " + bees + " cat dog/d eel/e1 eel/e2"},
		{"messages", "m", func(f *PlanFacts) { f.Request.API = catalog.Messages }, "m: ant/main -bee(api) -cat(api) -dog(api) -eel(api)"},
		{"only", "m", func(f *PlanFacts) { f.Request.Only = []string{"cat", "eel", "elsewhere"} }, "m: cat eel/e2 -ant(only) -bee(only) -dog(only)"},
		{"ignore", "m", func(f *PlanFacts) { f.Request.Ignore = []string{"bee", "dog"} }, "m: ant/main cat eel/e2 -bee(ignore) -dog(ignore)"},
		{"only of request and policy are both kept", "p", func(f *PlanFacts) { f.Request.Only = []string{"bee", "dog"} }, "m: " + bees + " -ant(only) -cat(only) -dog(only) -eel(only) | n: -ant(only) -cat(disabled)"},
		{"order of the request", "m", func(f *PlanFacts) { f.Request.Order = []string{"eel", "nobody", "cat"} }, "m: eel/e2 cat ant/main " + bees + " -dog(credential)"},
		{"order of the policy", "p", nil, "m: eel/e2 " + bees + " ant/main cat -dog(only) | n: ant/main -cat(disabled)"},
		{"order of the request before the policy's", "p", func(f *PlanFacts) { f.Request.Order = []string{"cat"} }, "m: cat ant/main " + bees + " eel/e2 -dog(only) | n: ant/main -cat(disabled)"},
		{"sort of the request before the policy's order", "p", func(f *PlanFacts) { f.Request.Sort = catalog.ByPrice }, "m: " + bees + " ant/main eel/e2 cat -dog(only) | n: ant/main -cat(disabled)"},
		{"cheapest first, unknown last", "cheap", nil, "m: " + bees + " ant/main eel/e2 cat -dog(credential)"},
		{"at the price of this turn's tier", "cheap", func(f *PlanFacts) { f.Prompt.Tokens = 501 }, "m: " + bees + " eel/e2 ant/main cat -dog(credential)"},
		{"order first, the others by price", "m", func(f *PlanFacts) { f.Request.Order, f.Request.Sort = []string{"cat"}, catalog.ByPrice }, "m: cat " + bees + " ant/main eel/e2 -dog(credential)"},
		{"a limit on the price, which unknown does not keep", "capped", nil, "m: ant/main " + bees + " -cat(max_price) -dog(credential) -eel(max_price)"},
		{"a limit at this turn's tier", "capped", func(f *PlanFacts) { f.Prompt.Tokens = 501 }, "m: " + bees + " -ant(max_price) -cat(max_price) -dog(credential) -eel(max_price)"},
		{"a tag", "private", nil, "m: ant/main cat -bee(tags) -dog(tags) -eel(tags)"},
		{"a tag of the model", "own", nil, "m: -ant(tags) -bee(tags) -cat(tags) -dog(tags) -eel(tags) | n: ant/main -cat(disabled)"},
		{"two tags", "eu", nil, "m: cat -ant(tags) -bee(tags) -dog(tags) -eel(tags)"},
		{"a prompt that may just fit", "m", func(f *PlanFacts) { f.Request.TextBytes = 8007 }, "m: ant/main " + bees + " cat eel/e2 -dog(credential)"},
		{"a prompt that cannot fit", "m", func(f *PlanFacts) { f.Request.TextBytes = 8008 }, "m: -ant(context) -bee(context) -cat(context) -dog(context) -eel(context)"},
		{"any prompt where no context is stated", "n", func(f *PlanFacts) { f.Request.TextBytes = 1 << 40 }, "n: ant/main -cat(disabled)"},
		{"down goes to the end and no further", "m", func(f *PlanFacts) {
			f.Down = func(r *catalog.Route, credential string) bool { return r.Vendor.Name == "ant" || credential == "b1" }
		}, "m: bee/b3 bee/b2 cat eel/e2 ant/main! bee/b1! -dog(credential)"},
		{"all down", "n", func(f *PlanFacts) { f.Down = func(*catalog.Route, string) bool { return true } }, "n: ant/main! -cat(disabled)"},
		{"bound content without a memory of it", "m", func(f *PlanFacts) { f.Request.PreviousResponse = "resp_1" }, "m: ant/main " + bees + " cat eel/e2 -dog(credential)"},
		{"bound content goes to its vendor", "m", func(f *PlanFacts) { f.Request.PreviousResponse, f.Record = "resp_1", pinned("bee", "", "m") }, "m: " + bees + " -ant(bound_to_origin) -cat(bound_to_origin) -dog(credential) -eel(bound_to_origin)"},
		{"bound content goes to its credential", "m", func(f *PlanFacts) { f.Request.PreviousResponse, f.Record = "resp_1", pinned("bee", "b2", "m") }, "m: bee/b2 -ant(bound_to_origin) -cat(bound_to_origin) -dog(credential) -eel(bound_to_origin)"},
		{"bound content of a credential that is gone", "m", func(f *PlanFacts) { f.Request.PreviousResponse, f.Record = "resp_1", pinned("bee", "b9", "m") }, "m: -ant(bound_to_origin) -bee(bound_to_origin) -cat(bound_to_origin) -dog(credential) -eel(bound_to_origin)"},
		{"bound content made by another model", "m", func(f *PlanFacts) { f.Request.PreviousResponse, f.Record = "resp_1", pinned("ant", "main", "n") }, "m: ant/main -bee(bound_to_origin) -cat(bound_to_origin) -dog(credential) -eel(bound_to_origin)"},
		{"a pin alone binds nothing", "m", func(f *PlanFacts) { f.Record = pinned("bee", "b2", "m") }, "m: ant/main " + bees + " cat eel/e2 -dog(credential)"},
	}
	for _, c2 := range cases {
		t.Run(c2.name, func(t *testing.T) {
			target, ok := c.Resolve(c2.target)
			if !ok {
				t.Fatalf("no target %s", c2.target)
			}
			f := PlanFacts{Now: pinEpoch, Request: &Request{API: catalog.Chat}, Targets: []catalog.Target{target}}
			if c2.change != nil {
				c2.change(&f)
			}
			p, err := BuildPlan(f)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(p); got != c2.want {
				t.Errorf("\n got %s\nwant %s", got, c2.want)
			}
		})
	}
}

func TestBuildPlanOfSeveralTargets(t *testing.T) {
	c := parse(t, fleet)
	var targets []catalog.Target
	for _, name := range []string{"n", "cheap", "n-latest", "m"} {
		target, _ := c.Resolve(name)
		targets = append(targets, target)
	}
	p, err := BuildPlan(PlanFacts{Request: &Request{API: catalog.Chat}, Targets: targets})
	want := "n: ant/main -cat(disabled) | m: bee/b1 bee/b3 bee/b2 ant/main eel/e2 cat -dog(credential)"
	if err != nil || show(p) != want {
		t.Errorf("%v\n got %s\nwant %s", err, show(p), want)
	}
}

// A model asked for directly has no weights, nor has a policy that states none; one
// target without them is enough.
func TestAWeightedSortNeedsWeights(t *testing.T) {
	c := parse(t, fleet)
	for _, names := range [][]string{{"m"}, {"cheap"}, {"shared", "n"}} {
		var targets []catalog.Target
		for _, name := range names {
			target, _ := c.Resolve(name)
			targets = append(targets, target)
		}
		_, err := BuildPlan(PlanFacts{Request: &Request{API: catalog.Chat, Sort: catalog.ByWeight}, Targets: targets})
		if !errors.Is(err, ErrSort) || !strings.Contains(err.Error(), "weighted") {
			t.Errorf("%v: error %v", names, err)
		}
	}
}

func TestCardOfTheTurn(t *testing.T) {
	target, _ := parse(t, fleet).Resolve("m")
	for tokens, want := range map[int64]string{500: "0.3", 501: "0.6"} {
		p, _ := BuildPlan(PlanFacts{Request: &Request{API: catalog.Chat}, Targets: []catalog.Target{target}, Prompt: Estimate{Tokens: tokens}})
		if got := p.Candidates[0].Card.CacheRead.String(); got != want {
			t.Errorf("at %d tokens cache_read is %s, want %s", tokens, got, want)
		}
	}
}

// A session keeps its credential; sessions are shared out over them; taking one
// away moves only the sessions that had it.
func TestCredentialsAreSharedOut(t *testing.T) {
	target, _ := parse(t, fleet).Resolve("m")
	first := func(session string, without string) string {
		p, _ := BuildPlan(PlanFacts{
			Request: &Request{API: catalog.Chat, Only: []string{"bee"}},
			Session: Session{Tenant: "t", Class: ClassExplicit, ID: session},
			Targets: []catalog.Target{target},
			Down:    func(_ *catalog.Route, credential string) bool { return credential == without },
		})
		return p.Candidates[0].Credential
	}
	counts := map[string]int{}
	for i := range 3000 {
		session := fmt.Sprint("session-", i)
		credential := first(session, "")
		counts[credential]++
		if again := first(session, ""); again != credential {
			t.Fatalf("%s goes to %s, then to %s", session, credential, again)
		}
		if credential != "b1" && first(session, "b1") != credential {
			t.Fatalf("%s moved away from %s because b1 is down", session, credential)
		}
	}
	for credential, n := range counts {
		if n < 850 || n > 1150 {
			t.Errorf("%s has %d of 3000 sessions", credential, n)
		}
	}
	turns := map[string]int{}
	for i := range uint64(300) {
		p, _ := BuildPlan(PlanFacts{Request: &Request{API: catalog.Chat, Only: []string{"bee"}}, Targets: []catalog.Target{target}, Spread: i})
		turns[p.Candidates[0].Credential]++
	}
	if len(turns) != 3 {
		t.Errorf("requests without a session all go to %v", turns)
	}
}

func TestPlanTimeIsTheTurns(t *testing.T) {
	c := parse(t, `
version: 1
vendors:
  v: {api: [chat], base_url: "https://v.example/v1", cache: {family: implicit}}
models:
  m: {routes: [{vendor: v, model: m, price: {input: 1, output: 1, windows: [{from: "01:00", to: "04:00", zone: UTC, input: 2, output: 2}]}}]}
`)
	target, _ := c.Resolve("m")
	for hour, want := range map[int]string{0: "1", 1: "2", 4: "1"} {
		p, _ := BuildPlan(PlanFacts{Now: time.Date(2026, 11, 30, hour, 0, 0, 0, time.UTC), Request: &Request{API: catalog.Chat}, Targets: []catalog.Target{target}})
		if got := p.Candidates[0].Card.Input.String(); got != want {
			t.Errorf("at %d:00 input is %s, want %s", hour, got, want)
		}
	}
}

// A client may name many policies of many models: what that costs follows the models
// that differ, and the plan is the one that they make when each is named once.
func TestTargetsThatShareTheirModelsCostOncePerModel(t *testing.T) {
	var text strings.Builder
	text.WriteString("version: 1\nvendors:\n  ant: {api: [chat], base_url: \"https://ant.example/v1\", credentials: [{id: a, env: K}, {id: b, env: K}]}\nmodels:\n")
	names := make([]string, 60)
	for i := range names {
		names[i] = fmt.Sprint("m", i)
		fmt.Fprintf(&text, "  m%d: {routes: [{vendor: ant, model: x, price: {input: 1, output: 1}}]}\n", i)
	}
	text.WriteString("policies:\n")
	for i := range names {
		fmt.Fprintf(&text, "  p%d: {models: [%s]}\n", i, strings.Join(append(names[i:len(names):len(names)], names[:i]...), ", "))
	}
	c := parse(t, text.String())
	target := func(name string) catalog.Target {
		found, ok := c.Resolve(name)
		if !ok {
			t.Fatal(name)
		}
		return found
	}
	for _, first := range []string{"m0", "m59", "p0", "p17"} {
		facts := PlanFacts{Request: &Request{API: catalog.Chat}, Targets: []catalog.Target{target(first)}}
		for i := range 256 {
			facts.Targets = append(facts.Targets, target(fmt.Sprint("p", (i*7)%len(names))))
		}
		plan, err := BuildPlan(facts)
		if err != nil {
			t.Fatal(err)
		}
		want, seen := []string(nil), map[string]bool{}
		for _, of := range facts.Targets {
			for _, m := range of.Models {
				if !seen[m.Name] {
					want, seen[m.Name] = append(want, m.Name), true
				}
			}
		}
		var got []string
		for _, m := range plan.Models {
			got = append(got, m.Model.Name)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || len(plan.Candidates) != 2*len(names) || cap(plan.Candidates) != len(plan.Candidates) {
			t.Errorf("%s: %d candidates in room for %d, models %v, want %v", first, len(plan.Candidates), cap(plan.Candidates), got, want)
		}
	}
}
