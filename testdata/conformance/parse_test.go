package conformance_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const soundHeader = "statement: It holds.\npage: A page — A section\nprofile: vercel\ncatalog: two-vendors\n"

// Whatever a scenario does not mean is an error with its line, not a scenario that
// shows less than its author thinks.
func TestMistakesInAScenario(t *testing.T) {
	steps := func(text string) string { return soundHeader + "\n" + text }
	for name, c := range map[string]struct{ text, want string }{
		"empty":                    {"", "line 1: the header has no statement"},
		"no page":                  {"statement: It holds.\nprofile: vercel\ncatalog: two-vendors\n\n> chat m\n< 200\n", "line 1: the header has no page"},
		"no section":               {"statement: It holds.\npage: A page\nprofile: vercel\ncatalog: two-vendors\n\n> chat m\n< 200\n", "line 1: page names the page and, behind an em dash, its section"},
		"header unknown":           {"statment: It holds.\n", `line 1: there is no header "statment"`},
		"header twice":             {"profile: vercel\nprofile: merge\n", "line 2: profile stands twice"},
		"no blank line":            {soundHeader + "> chat m\n< 200\n", `line 5: "> chat m" is no header; write name: value, and a blank line before the first step`},
		"api unknown":              {"apis: chat, speech\n", "line 1: apis are some of chat, messages, responses, each once"},
		"api twice":                {"apis: chat, chat\n", "line 1: apis are some of chat, messages, responses, each once"},
		"nothing asked":            {steps("at 1m\n"), "line 1: nothing is asked; a scenario has at least one request"},
		"turn of no API":           {steps("> turn m\n< 200\n"), "line 6: a turn of which API? name them in the header, such as apis: chat, messages"},
		"step unknown":             {steps("wait 1m\n"), `line 6: there is no step "wait"`},
		"time":                     {steps("at noon\n"), `line 6: "noon" is no time since the start; write such as 4m44s`},
		"time backwards":           {steps("at 2m\nat 1m\n"), "line 7: time does not run backwards; it is 2m0s already"},
		"no answer":                {steps("> chat m\n"), "line 6: the request has no answer; write < and its status"},
		"next without answer":      {steps("> chat m\n> chat m\n< 200\n"), "line 7: the request before this has no answer; write < and its status"},
		"answer of nothing":        {steps("< 200\n"), "line 6: nothing was asked"},
		"answered twice":           {steps("> chat m\n< 200\n< 200\n"), "line 8: nothing was asked"},
		"status":                   {steps("> chat m\n< fine\n"), "line 7: write < and the status, and behind it cut where the answer breaks off, or left where its client leaves"},
		"expectation unknown":      {steps("> chat m\n< 200\n  outcom promoted\n"), `line 8: nothing can be expected of "outcom"; see doc.go for what there is`},
		"expectation empty":        {steps("> chat m\n< 200\n  outcome\n"), `line 8: outcome cannot be followed by ""; see doc.go`},
		"two outcomes":             {steps("> chat m\n< 200\n  outcome no_pin promoted\n"), `line 8: outcome cannot be followed by "no_pin promoted"; see doc.go`},
		"belongs to nothing":       {steps("  outcome promoted\n"), "line 6: belongs to nothing; a request begins with >, what comes of it with <"},
		"belongs to a step":        {steps("> chat m\n< 200\nat 1m\n  outcome promoted\n"), "line 9: belongs to nothing; a request begins with >, what comes of it with <"},
		"request line unknown":     {steps("> chat m\n  x-session-id: S\n< 200\n"), `line 7: "x-session-id: S" is no line of a request; see doc.go for what there is`},
		"body and words":           {steps("> chat m\n  user: Hi\n  body {}\n< 200\n"), "line 8: a request with a body of its own has nothing else but headers"},
		"body and member":          {steps("> chat m\n  body {}\n  stream = true\n< 200\n"), "line 8: a request with a body of its own has nothing else but headers"},
		"path and words":           {steps("> POST /v1/embeddings\n  user: Hi\n< 200\n"), "line 7: a request to a path has headers and a body only"},
		"request without a model":  {steps("> chat\n< 200\n"), "line 6: write > API MODEL, such as > chat m, or > POST /v1/embeddings"},
		"request of an unknown":    {steps("> speech m\n< 200\n"), `line 6: "speech" is neither an API (chat, messages, responses, turn) nor GET, HEAD or POST with a path`},
		"fault unknown":            {steps("fault alpha slow\n"), `line 6: "slow" is no fault; write a status from 300, cut, or a fault as JSON`},
		"fault that is none":       {steps("fault alpha 200\n"), `line 6: "200" is no fault; write a status from 300, cut, or a fault as JSON`},
		"fault of nobody":          {steps("fault\n"), "line 6: write fault VENDOR and a status, cut, or a fault as JSON"},
		"answer without a body":    {steps("answer alpha\n"), "line 6: write answer VENDOR {JSON of the whole answer}"},
		"tenant":                   {steps("tenant\n"), "line 6: write tenant ID, or tenant ID key VARIABLE"},
		"name with a dash":         {steps("let all-tools = []\n"), "line 6: write let NAME = TEXT; a name has small letters and digits only"},
		"store":                    {steps("store gone\n"), "line 6: the store is stalled or back"},
		"catalog":                  {steps("catalog {}\n"), "line 6: write catalog and the name of a shared one"},
		"tab":                      {steps("> chat m\n\tuser: Hi\n"), "line 7: a tab; indent with spaces"},
		"indent":                   {steps("> chat m\n   user: Hi\n"), "line 7: indented by 3; what belongs to a line is indented by two spaces, what continues it by four or more"},
		"continues nothing":        {"    more\n", "line 1: continues nothing"},
		"continues a blank line":   {steps("> chat m\n\n    more\n"), "line 8: continues nothing"},
		"written on Windows":       {steps("> chat m\r\n"), "line 6: the line ends in CRLF; end it with LF"},
		"sent without what":        {steps("> chat m\n< 200\n  sent alpha\n"), `line 8: sent cannot be followed by "alpha"; see doc.go`},
		"tried by semicolons":      {steps("> chat m\n< 200\n  tried alpha; beta\n"), `line 8: tried cannot be followed by "alpha; beta"; see doc.go`},
		"a member that is no JSON": {steps("> chat m\n  session_id S\n< 200\n"), `line 7: "session_id S" is no line of a request; see doc.go for what there is`},
	} {
		_, err := parse("f", c.text)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

func TestAScenarioWithEverything(t *testing.T) {
	s, err := parse("f", `statement: It
  holds.
page: A page — A section
profile: vercel
catalog:
  vendors:
    alpha: {}
  models:
    m:
      routes: [{vendor: alpha}]
# a comment
apis: chat, responses

at 1m30s
tenant red key RED_KEY_2
fault alpha/spare 401 x2
answer alpha {"a":
    1}
> turn m
  header x-session-id: S
  providerOptions.gateway.only = [
    "alpha"]
  system cached 1h: One
    Two
  call c1 find {"q": 1}
  result c1: Found.
  tool find cached: Finds. {"type": "object"}
< 200 cut
  body a.0.b = "c"
`)
	if err != nil {
		t.Fatal(err)
	}
	if s.Statement != "It holds." || strings.Join(s.APIs, " ") != "chat responses" || !strings.Contains(s.Catalog, "\n  m:\n    routes:") {
		t.Errorf("header %+v", s)
	}
	if len(s.Steps) != 5 {
		t.Fatalf("%d steps", len(s.Steps))
	}
	if f := s.Steps[2].fault; *s.Steps[1].tenant != (tenantStep{"red", "RED_KEY_2"}) || *f != (faultStep{"alpha", "spare", `{"status": 401}`, 2}) {
		t.Errorf("%+v %+v", s.Steps[1].tenant, f)
	}
	r := s.Steps[4].request
	switch {
	case len(r.headers) != 1 || r.headers[0].value != "S",
		len(r.members) != 1 || r.members[0].name != "providerOptions.gateway.only" || r.members[0].value != "[\n  \"alpha\"]",
		len(r.words) != 3 || r.words[0].text != "One\nTwo" || r.words[0].cached != "1h",
		r.words[1] != words{line: 25, role: "call", id: "c1", name: "find", text: `{"q": 1}`},
		r.words[2] != words{line: 26, role: "result", id: "c1", text: "Found."},
		len(r.tools) != 1 || r.tools[0] != words{line: 27, role: "tool", name: "find", text: "Finds.", schema: `{"type": "object"}`, cached: "default"},
		r.status != 200 || !r.cut, len(r.expect) != 1 || r.expect[0] != expectation{29, "body", `a.0.b = "c"`}:
		t.Errorf("request %+v", r)
	}
}

func TestMistakesInCannot(t *testing.T) {
	for text, want := range map[string]string{
		"statement: A.\npage: B\n":                            "line 1: entry 1 lacks statement, page or reason",
		"statement: A.\npage: B\nwhy: C\n":                    `line 3: "why" is none of statement, page and reason`,
		"statement: A.\nstatement: B.\n":                      "line 2: statement stands twice",
		"statement: A.\npage: B\nreason: C\n\n  and more\n":   "line 5: continues nothing",
		"statement: A.\npage: B\nreason: C\n\nreason: More\n": "line 1: entry 2 lacks statement, page or reason",
	} {
		if _, err := parseCannot(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

// FuzzParse: a scenario is read or refused with the line where that is, and what is
// read has everything that playing it takes.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("*/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(soundHeader + "\n> chat m\n  call c1 find {\"q\": 1}\n    \n< 200\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parse("f", text)
		if err != nil {
			var where *parseError
			if !errors.As(err, &where) || where.line < 1 {
				t.Fatalf("error without a line: %v", err)
			}
			return
		}
		for _, st := range s.Steps {
			if r := st.request; r != nil && (r.status == 0 || r.api == "" && r.path == "") {
				t.Fatalf("request %+v", r)
			}
		}
		_, _ = parseCannot(text)
	})
}
