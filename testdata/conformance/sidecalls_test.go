package conformance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// sides are what agents ask beside their conversation, between its turn n and the
// next; -1 is before the first.
var sides = map[string]func(k *desk, n int){
	"titles by a small model": func(k *desk, n int) {
		k.later()
		k.say(aside(k.c.small, "name it", nil), "Mend the pump of dock three.")
	},
	"titles by the same model": func(k *desk, n int) {
		k.later()
		k.say(aside(k.c.model, "name it", nil), "Mend the pump of dock three.")
	},
	"a summary under other instructions": func(k *desk, n int) {
		k.later()
		d := aside(k.c.model, "sum it up", nil)
		d.items = append(d.items, k.main.items...)
		k.say(d, "Sum up all of the above.")
	},
	"a summary by a small model": func(k *desk, n int) {
		k.later()
		d := aside(k.c.small, "sum it up", nil)
		d.items = append(d.items, k.main.items...)
		k.say(d, "Sum up all of the above.")
	},
	"asides at its end": func(k *desk, n int) {
		if n >= 0 {
			k.later()
			d := *k.main
			d.items = append([]string(nil), d.items...)
			k.say(&d, "What will be asked next?")
		}
	},
	"sub-agents": func(k *desk, n int) {
		if n >= 0 {
			k.subAgents(n, 2)
		}
	},
	"a dozen sub-agents": func(k *desk, n int) {
		if n == 2 || n == 4 {
			k.subAgents(n, 12)
		}
	},
	"sub-agents that move": func(k *desk, n int) {
		if n >= 0 {
			k.later()
			k.refuse(k.c.second, 1)
			k.subAgents(n, 3)
		}
	},
	"all of it": func(k *desk, n int) {
		k.later()
		k.say(aside(k.c.small, "name it", nil), "Mend the pump of dock three.")
		if n < 0 {
			return
		}
		d := aside(k.c.model, "sum it up", nil)
		d.items = append(d.items, k.main.items...)
		k.say(d, "Sum up all of the above.")
		k.refuse(k.c.second, 1)
		k.subAgents(n, 3)
		if n == 3 {
			k.subAgents(20, 12)
		}
	},
}

// subAgents has so many of them do two turns each, in turns.
func (k *desk) subAgents(n, many int) {
	var all []*dialogue
	for i := range many {
		id := fmt.Sprint("agent-", n, "-", i)
		extra := http.Header{}
		switch k.c.name {
		case "claude-code":
			extra = http.Header{"X-Claude-Code-Agent-Id": {id}}
			if i%2 == 1 {
				extra["X-Claude-Code-Parent-Agent-Id"] = []string{fmt.Sprint("agent-", n, "-", i-1)}
			}
		case "opencode":
			extra = http.Header{"X-Session-Id": {id}, "X-Session-Affinity": {id}, "X-Parent-Session-Id": {session}}
			if many > 3 { // a plugin's calls have the session's own id
				extra = nil
			}
		}
		all = append(all, aside(k.c.model, "search the yard", extra))
	}
	for round := range 2 {
		for i, d := range all {
			k.later()
			d.tools = i%2 == 0
			k.say(d, longText(3000, fmt.Sprint("task ", n, " ", i, " ", round)))
		}
	}
}

// run plays so many turns of an agent's conversation, with something beside them.
func played(t *testing.T, c *coder, profile string, thinks bool, beside func(*desk, int)) []seen {
	t.Helper()
	const turns = 6
	k := newDesk(t, c, profile, thinks)
	for n := -1; n < turns; n++ {
		if n >= 0 {
			k.turn()
		}
		if beside != nil {
			beside(k, n)
		}
	}
	return k.turns
}

// What an agent asks beside its conversation costs that nothing: each of its own turns
// reads as much from the cache, at the same vendor and with the same outcome, as where
// nothing is asked beside it, and the books hold as much of its prefix.
func TestSideCallsCutNothing(t *testing.T) {
	for _, c := range coders {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			alone := played(t, c, "warmroute", false, nil)
			for i, s := range alone {
				if i > 0 && (s.outcome != "promoted" || s.tried != " "+c.second || s.read < 2000 || s.expected < 2000 || s.miss != "") {
					t.Fatalf("turn %d by itself: %+v", i, s)
				}
			}
			for name, beside := range sides {
				t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
					for i, s := range played(t, c, "warmroute", false, beside) {
						want := alone[i]
						if i == 0 && s.outcome == "confirmed" { // a title was there before
							s.outcome = want.outcome
						}
						if name == "asides at its end" { // they put more of the same prompt into the cache
							want.read, want.promised = max(s.read, want.read), max(s.promised, want.promised)
							want.expected, want.predicted = max(s.expected, want.expected), max(s.predicted, want.predicted)
						}
						if s != want {
							t.Errorf("turn %d: %+v\nby itself %+v", i, s, want)
						}
					}
				})
			}
		})
	}
}

// The same where answers are sealed for the account that gave them. Seals are drawn
// anew each time, and answers with them, so that figures differ by a few tokens.
func TestSideCallsCutNothingOfAThinker(t *testing.T) {
	for _, c := range coders {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			alone, both := played(t, c, "warmroute", true, nil), played(t, c, "warmroute", true, sides["all of it"])
			near := func(a, b int64) bool { return a-b < 128 && b-a < 128 }
			for i, s := range both {
				want := alone[i]
				if i == 0 {
					continue
				}
				if s.outcome != want.outcome || s.tried != want.tried || s.miss != "" || want.miss != "" || s.read < 2000 ||
					!near(s.read, want.read) || !near(s.promised, want.promised) || !near(s.expected, want.expected) || !near(s.predicted, want.predicted) {
					t.Errorf("turn %d: %+v\nby itself %+v", i, s, want)
				}
			}
		})
	}
}

// By other gateways' rules a session has one pin for all of it. What goes where that
// leads costs the conversation nothing either, and the books tell both apart, under a
// cache key too, which is how some of these rules know Codex.
func TestSideCallsCutNothingByOtherRules(t *testing.T) {
	for _, profile := range []string{"vercel", "merge", "subconscious"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			for _, c := range coders {
				alone := played(t, c, profile, false, nil)
				for _, name := range []string{"titles by the same model", "a summary under other instructions", "sub-agents"} {
					for i, s := range played(t, c, profile, false, sides[name]) {
						want := alone[i]
						if i == 0 && s.outcome == "confirmed" { // a title was there before
							s.outcome = want.outcome
						}
						if s != want || i > 0 && (s.tried != " "+c.second || s.read < 2000 || s.expected < 2000) {
							t.Errorf("%s, %s, turn %d: %+v\nby itself %+v", c.name, name, i, s, want)
						}
					}
				}
			}
		})
	}
}
