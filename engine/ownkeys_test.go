package engine

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

func TestBuildPlanWithOwnKeys(t *testing.T) {
	c := parse(t, fleet)
	const bees = "bee/b1 bee/b3 bee/b2"
	own := func(f *PlanFacts, keys ...string) {
		for _, key := range keys {
			vendor, id, _ := strings.Cut(key, "/")
			f.Request.OwnKeys = append(f.Request.OwnKeys, OwnKey{vendor, OwnKeyID(id)})
		}
	}
	bind := func(f *PlanFacts, kind Kind, vendor, credential string, group Group) {
		f.Bound = append(f.Bound, Bound{Stateful{kind, "x"}, Entry{Vendor: vendor, Credential: credential, Group: group}, true})
	}
	for _, test := range []struct {
		name   string
		change func(f *PlanFacts)
		want   string
	}{
		{"the caller's group first, in the plan's order", func(f *PlanFacts) { own(f, "cat/2", "ant/1") }, "m: ant/own:1 cat/own:2 ant/main " + bees + " cat eel/e2 -dog(credential)"},
		{"several of one vendor, as they came", func(f *PlanFacts) { own(f, "bee/9", "bee/3") }, "m: bee/own:9 bee/own:3 ant/main " + bees + " cat eel/e2 -dog(credential)"},
		{"a vendor of which the operator has no key", func(f *PlanFacts) { own(f, "dog/1") }, "m: dog/own:1 ant/main " + bees + " cat eel/e2"},
		{"the caller's keys only", func(f *PlanFacts) { f.Request.Rules.OwnOnly = true; own(f, "bee/1") }, "m: bee/own:1 -ant(own_key) -cat(own_key) -dog(own_key) -eel(own_key)"},
		{"filters come first", func(f *PlanFacts) { own(f, "ant/1"); f.Request.Ignore = []string{"ant"} }, "m: " + bees + " cat eel/e2 -ant(ignore) -dog(credential)"},
		{"a key that is down goes to the end of its group", func(f *PlanFacts) {
			own(f, "ant/1", "cat/2")
			f.Down = func(_ *catalog.Route, credential string) bool { return credential == "own:1" }
		}, "m: cat/own:2 ant/own:1! ant/main " + bees + " cat eel/e2 -dog(credential)"},
		{"bound to a key of the caller's", func(f *PlanFacts) { own(f, "bee/1", "bee/2"); bind(f, KindReasoning, "bee", "own:2", GroupClient) },
			"m: bee/own:2 -ant(bound_to_origin) -cat(bound_to_origin) -dog(credential) -eel(bound_to_origin)"},
		{"bound to a key that did not come again", func(f *PlanFacts) { own(f, "bee/1"); bind(f, KindReasoning, "bee", "own:2", GroupClient) },
			"m: -ant(bound_to_origin) -bee(bound_to_origin) -cat(bound_to_origin) -dog(credential) -eel(bound_to_origin)"},
		{"bound to the operator's, with a key of one's own", func(f *PlanFacts) { own(f, "bee/1"); bind(f, KindFile, "bee", "b2", GroupOperator) },
			"m: bee/b2 -ant(bound_to_origin) -cat(bound_to_origin) -dog(credential) -eel(bound_to_origin)"},
		{"bound to two", func(f *PlanFacts) {
			bind(f, KindFile, "bee", "b2", GroupOperator)
			bind(f, KindReasoning, "ant", "main", GroupOperator)
		},
			"m: -ant(bound_to_origin) -bee(bound_to_origin) -cat(bound_to_origin) -dog(credential) -eel(bound_to_origin)"},
		{"bound to a vendor without keys", func(f *PlanFacts) { bind(f, KindConversation, "cat", "", GroupOperator) },
			"m: cat -ant(bound_to_origin) -bee(bound_to_origin) -dog(credential) -eel(bound_to_origin)"},
		{"signed by one further back", func(f *PlanFacts) { bind(f, KindSigned, "bee", "b2", GroupOperator) }, "m: bee/b2 bee/b1 bee/b3 ant/main cat eel/e2 -dog(credential)"},
		{"signed, before an order", func(f *PlanFacts) { f.Request.Order = []string{"cat"}; bind(f, KindSigned, "eel", "e2", GroupOperator) }, "m: eel/e2 cat ant/main " + bees + " -dog(credential)"},
		{"signed by the operator's, which stays behind the caller's", func(f *PlanFacts) { own(f, "ant/1"); bind(f, KindSigned, "cat", "", GroupOperator) },
			"m: ant/own:1 cat ant/main " + bees + " eel/e2 -dog(credential)"},
		{"signed by one that is down", func(f *PlanFacts) {
			bind(f, KindSigned, "cat", "", GroupOperator)
			f.Down = func(r *catalog.Route, _ string) bool { return r.Vendor.Name == "cat" }
		}, "m: ant/main " + bees + " eel/e2 cat! -dog(credential)"},
		{"signed by one that is not in the plan", func(f *PlanFacts) {
			f.Request.Ignore = []string{"eel"}
			bind(f, KindSigned, "eel", "e2", GroupOperator)
		},
			"m: ant/main " + bees + " cat -dog(credential) -eel(ignore)"},
	} {
		target, _ := c.Resolve("m")
		f := PlanFacts{Now: pinEpoch, Request: &Request{API: catalog.Chat}, Targets: []catalog.Target{target}}
		test.change(&f)
		p, err := BuildPlan(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := show(p); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// slowGroups lists every candidate that could be, and then sorts: the caller's group
// first, in it who is up first, of those the signer first, and else as they stood.
func slowGroups(f PlanFacts, order []string) (all []Candidate) {
	down := func(c Candidate) bool { return f.Down(c.Route, c.Credential) }
	may := func(c Candidate) bool {
		return !slices.ContainsFunc(f.Bound, func(b Bound) bool {
			return b.Known && b.Kind != KindSigned && (b.Maker.Vendor != c.Route.Vendor.Name || b.Maker.Group != c.Group || b.Maker.Credential != c.Credential)
		})
	}
	for _, r := range f.Targets[0].Models[0].Routes {
		for _, k := range f.Request.OwnKeys {
			if k.Vendor == r.Vendor.Name {
				all = append(all, Candidate{Route: r, Credential: k.ID, Group: GroupClient})
			}
		}
		for _, id := range order {
			vendor, credential, _ := strings.Cut(id, "/")
			if vendor == r.Vendor.Name && !f.Request.Rules.OwnOnly {
				all = append(all, Candidate{Route: r, Credential: credential})
			}
		}
	}
	all = slices.DeleteFunc(all, func(c Candidate) bool { return !may(c) })
	rank := func(c Candidate) (n int) {
		if c.Group == GroupOperator {
			n += 100
		}
		if down(c) {
			return n + 10
		}
		for _, b := range f.Bound {
			if b.Known && b.Kind == KindSigned && b.Maker.Vendor == c.Route.Vendor.Name && b.Maker.Group == c.Group {
				n--
				if b.Maker.Credential == c.Credential {
					n--
				}
				break
			}
		}
		return n
	}
	slices.SortStableFunc(all, func(a, b Candidate) int { return rank(a) - rank(b) })
	return all
}

// Whatever keys, content and failures there are, the plan is that of its slow twin.
func TestPlansOfOwnKeysAndBoundContent(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	c := parse(t, fleet)
	target, _ := c.Resolve("m")
	operators := []string{"ant/main", "bee/b1", "bee/b3", "bee/b2", "cat/", "eel/e2"}
	for range 20_000 {
		f := PlanFacts{Now: pinEpoch, Request: &Request{API: catalog.Chat}, Targets: []catalog.Target{target}}
		f.Request.Rules.OwnOnly = r.IntN(6) == 0
		known := slices.Clone(operators)
		for range r.IntN(5) {
			k := OwnKey{[]string{"ant", "bee", "cat", "dog", "eel"}[r.IntN(5)], OwnKeyID([]string{"1", "2", "3"}[r.IntN(3)])}
			if !f.Request.ownKey(k.Vendor, k.ID) {
				f.Request.OwnKeys = append(f.Request.OwnKeys, k)
				known = append(known, k.Vendor+"/"+k.ID)
			}
		}
		ill := map[string]bool{}
		for _, id := range known {
			ill[id] = r.IntN(5) == 0
		}
		f.Down = func(route *catalog.Route, credential string) bool { return ill[route.Vendor.Name+"/"+credential] }
		for _, kind := range []Kind{KindSigned, KindReasoning, KindFile} {
			if r.IntN(3) > 0 {
				continue
			}
			vendor, credential, _ := strings.Cut(known[r.IntN(len(known))], "/")
			e := Entry{Vendor: vendor, Credential: credential}
			if IsOwnKey(credential) {
				e.Group = GroupClient
			}
			f.Bound = append(f.Bound, Bound{Stateful{kind, "x"}, e, r.IntN(4) > 0})
		}
		p, err := BuildPlan(f)
		if err != nil {
			t.Fatal(err)
		}
		want := slowGroups(f, operators)
		same := slices.EqualFunc(p.Candidates, want, func(a, b Candidate) bool {
			return a.Route == b.Route && a.Credential == b.Credential && a.Group == b.Group && a.Down == f.Down(b.Route, b.Credential)
		})
		if !same {
			t.Fatalf("own %v, only %v, down %v, bound %+v:\n got %s\nwant %+v", f.Request.OwnKeys, f.Request.Rules.OwnOnly, ill, f.Bound, show(p), want)
		}
	}
}
