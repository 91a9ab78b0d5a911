package conformance_test

import (
	"testing"
)

// Each expectation notices when it does not hold: a runner that is content with
// everything shows nothing.
func TestExpectationsThatDoNotHold(t *testing.T) {
	s, err := parse("f", soundHeader+`
> chat m
  header x-session-id: S
< 200

at 1m
fault alpha 503
> chat m
  header x-session-id: S
  session_id = "T"
< 200
`)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, s)
	for i := range s.Steps {
		if err := w.step(t, &s.Steps[i], ""); err != nil {
			t.Fatal(err)
		}
	}
	a := w.answers[1]
	for _, c := range []struct {
		text  string
		holds bool
	}{
		{"outcome no_pin", true}, {"outcome promoted", false}, {"outcome nothing", false},
		{"vendor beta", true}, {"vendor alpha", false}, {"vendor nothing", false},
		{"session T", true}, {"session S", false}, {"session nothing", false},
		{"session unlike 1", true}, {"session same as 1", false}, {"session same as 2", true}, {"session same as 3", false},
		{"session ~ ^T$", true}, {"session ~ ^S$", false}, {"session ~ (", false}, {"session {{session 2}}", true}, {"session {{session 7}}", false},
		{"source explicit", true}, {"source agent", false},
		{"pinned nothing", true}, {"pinned alpha", false},
		{"displaced nothing", true}, {"displaced alpha", false},
		{"detail nothing", true}, {"detail older_warm_vendor", false},
		{"gate nothing", true}, {"gate off", false},
		{"tried alpha, beta", true}, {"tried beta", false}, {"tried beta, alpha", false}, {"tried alpha", false}, {"tried nothing", false},
		{"tried alpha/main, beta/main", true}, {"tried alpha/spare, beta/main", false},
		{"credential main", true}, {"credential own", false},
		{"cached no", true}, {"cached yes", false},
		{"client nothing", true}, {"client codex", false},
		{"error model", false},
		{"header x-warmroute-vendor: beta", true}, {"header x-warmroute-vendor: alpha", false}, {"header x-warmroute-vendor absent", false},
		{"header x-none absent", true}, {"header x-none: a", false}, {"header content-type ~ json", true}, {"header content-type ~ stream", false},
		{`body choices.0.message.role = "assistant"`, true}, {`body choices.0.message.role = "user"`, false}, {"body choices.1 absent", true},
		{"body choices.0 absent", false}, {"body usage.prompt_tokens = 2004", true}, {"body usage.prompt_tokens = 2005", false}, {"body none = null", false},
		{"body id ~ ^chatcmpl-", true}, {"body id ~ ^resp_", false}, {"body id = nonsense", false},
		{`sent beta model = "m-at-beta"`, true}, {`sent beta model = "m"`, false}, {"sent beta session_id absent", true}, {"sent beta model absent", false},
		{"sent beta model ~ beta$", true}, {"sent beta model ~ alpha$", false}, {"sent beta unchanged", false},
		{"sent beta header x-session-id: S", true}, {"sent beta header x-session-id absent", false}, {"sent beta header x-none absent", true},
		{"sent gamma model absent", false},
	} {
		e, err := parseExpectation(logical{line: 1, depth: 2, text: c.text})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if problem := w.check(a, e); (problem == "") != c.holds {
			t.Errorf("%s: %q", c.text, problem)
		}
	}
}

func TestScenariosThatCannotGoOn(t *testing.T) {
	for name, text := range map[string]string{
		"another status":      "> chat m\n< 404\n",
		"broken off":          "fault alpha cut\n> chat m\n  stream = true\n< 200\n",
		"not broken off":      "> chat m\n  stream = true\n< 200 cut\n",
		"vendor unknown":      "fault gamma 503\n> chat m\n< 200\n",
		"fault unknown":       "fault alpha {\"stat\": 503}\n> chat m\n< 200\n",
		"answer no JSON":      "answer alpha {\"a\"\n> chat m\n< 200\n",
		"member no JSON":      "> chat m\n  session_id = S\n< 200\n",
		"member in a text":    "> chat m\n  model.name = 1\n< 200\n",
		"schema no JSON":      "> chat m\n  tool find: Finds. {type}\n< 200\n",
		"helper unknown":      "> chat m\n  user: {{song 3}}\n< 200\n",
		"helper unfinished":   "> chat m\n  user: {{text}} {{\n< 200\n",
		"text without length": "> chat m\n  user: {{text}}\n< 200\n",
		"answer not there":    "> chat m\n  user: {{said 2}}\n< 200\n",
		"catalog unknown":     "catalog nowhere\n> chat m\n< 200\n",
	} {
		s, err := parse("f", soundHeader+"\n"+text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		w := newWorld(t, s)
		for i := range s.Steps {
			if err = w.step(t, &s.Steps[i], ""); err != nil {
				break
			}
		}
		if err == nil {
			t.Errorf("%s: went on", name)
		}
	}
}

func TestVendorNamesMakeVariables(t *testing.T) {
	if got := variable("red-sky.2", "spare_1"); got != "KEY_red_sky_2_spare_1" {
		t.Error(got)
	}
}
