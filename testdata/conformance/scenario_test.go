package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// scenario is one file: a statement of a page, and the conversation that shows
// that it holds. doc.go has the format.
type scenario struct {
	File      string // without folder and ending
	Statement string
	Page      string // with the section behind an em dash
	Profile   string
	Catalog   string   // the name of a shared one, or YAML
	Affinity  string   // YAML: further members of the config's affinity
	Config    string   // YAML: further members of the config
	Tenants   string   // YAML: a list
	Speeds    string   // YAML: of a vendor, how fast its answers have been
	APIs      []string // it is played once with each
	Steps     []step
}

// step is one thing that happens. Exactly one of its parts is set, beside line.
type step struct {
	line    int
	at      *time.Duration
	tenant  *tenantStep
	fault   *faultStep
	answer  *faultStep
	catalog string // a shared catalog that is in force from here on
	store   string // stalled or back
	let     *pair  // a text that is given a name
	request *requestStep
}

type tenantStep struct{ id, key string }

// faultStep is what a vendor does to the next requests, or to those of one of its
// credentials.
type faultStep struct {
	vendor, credential string
	text               string // JSON of a vendorsim.Fault, or the body of an answer
	times              int
}

// requestStep is what a client sends, and what must come of it.
type requestStep struct {
	line    int
	api     string // chat, messages, responses or turn; empty where path is set
	model   string
	method  string
	path    string
	headers []pair
	raw     string // body as it is; empty: made of the rest
	words   []words
	tools   []words
	members []pair // dotted path and JSON
	status  int
	cut     bool // the client holds part of an answer that then breaks off
	left    bool // the client leaves once it holds the first byte
	expect  []expectation
}

type pair struct {
	line        int
	name, value string
}

// words are one line of a conversation.
type words struct {
	line   int
	role   string // system, developer, user, assistant, call or result; tool
	id     string // of a call and its result
	name   string // of a tool
	text   string // arguments of a call, description of a tool
	schema string // of a tool
	cached string // lifetime its marker asks for; "default" for none named, empty: no marker
}

// expectation is one line below the status.
type expectation struct {
	line int
	word string
	rest string
}

// apis are the words for the client APIs, in the order in which they are played.
var apis = []string{"chat", "messages", "responses"}

// parseError says which line of a scenario cannot be read.
type parseError struct {
	line int
	text string
}

func (e *parseError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.text) }

func mistake(line int, format string, args ...any) error {
	return &parseError{line, fmt.Sprintf(format, args...)}
}

// logical is a line with those that continue it: what is indented deeper.
type logical struct {
	line   int
	depth  int // spaces before it
	text   string
	blanks bool // a blank line stands before it
}

// lines cuts a file into logical lines. Comments are whole lines that begin with #.
func lines(text string) ([]logical, error) {
	var all []logical
	blank := false
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		at := i + 1
		if strings.Contains(line, "\t") {
			return nil, mistake(at, "a tab; indent with spaces")
		}
		if strings.HasSuffix(line, "\r") {
			return nil, mistake(at, "the line ends in CRLF; end it with LF")
		}
		body := strings.TrimLeft(line, " ")
		depth := len(line) - len(body)
		switch {
		case body == "":
			blank = true
			continue
		case depth == 0 && strings.HasPrefix(body, "#"):
			continue
		case depth%2 != 0 && depth < 4:
			return nil, mistake(at, "indented by %d; what belongs to a line is indented by two spaces, what continues it by four or more", depth)
		}
		if depth >= 4 {
			if len(all) == 0 || blank {
				return nil, mistake(at, "continues nothing")
			}
			all[len(all)-1].text += "\n" + line[2:]
			continue
		}
		all = append(all, logical{at, depth, strings.TrimRight(body, " "), blank})
		blank = false
	}
	return all, nil
}

// parse reads a scenario. The error is a *parseError.
func parse(file, text string) (*scenario, error) {
	all, err := lines(text)
	if err != nil {
		return nil, err
	}
	s := &scenario{File: file, APIs: []string{""}}
	rest, err := s.header(all)
	if err != nil {
		return nil, err
	}
	if err := s.steps(rest); err != nil {
		return nil, err
	}
	asked := 0
	for _, st := range s.Steps {
		if st.request == nil {
			continue
		}
		asked++
		if st.request.api == "turn" && s.APIs[0] == "" {
			return nil, mistake(st.line, "a turn of which API? name them in the header, such as apis: chat, messages")
		}
	}
	if asked == 0 {
		return nil, mistake(1, "nothing is asked; a scenario has at least one request")
	}
	return s, nil
}

// header reads the lines before the first blank one.
func (s *scenario) header(all []logical) (rest []logical, err error) {
	texts := map[string]*string{"statement": &s.Statement, "page": &s.Page, "profile": &s.Profile, "catalog": &s.Catalog,
		"affinity": &s.Affinity, "config": &s.Config, "tenants": &s.Tenants, "speeds": &s.Speeds}
	var last *string
	for i, l := range all {
		if l.blanks && i > 0 {
			rest = all[i:]
			break
		}
		if l.depth == 2 { // YAML, or a statement that goes on
			if last == nil {
				return nil, mistake(l.line, "continues nothing")
			}
			*last += "\n" + l.text
			continue
		}
		name, value, ok := strings.Cut(l.text, ":")
		value = strings.TrimSpace(value)
		if !ok {
			return nil, mistake(l.line, "%q is no header; write name: value, and a blank line before the first step", l.text)
		}
		if name == "apis" {
			if s.APIs, err = apiList(l.line, value); err != nil {
				return nil, err
			}
			last = nil
			continue
		}
		last, ok = texts[name]
		switch {
		case !ok:
			return nil, mistake(l.line, "there is no header %q", name)
		case *last != "":
			return nil, mistake(l.line, "%s stands twice", name)
		}
		*last = value
	}
	s.Statement = strings.Join(strings.Fields(s.Statement), " ")
	s.Page = strings.Join(strings.Fields(s.Page), " ")
	for _, name := range []string{"statement", "page", "profile", "catalog"} {
		if strings.TrimSpace(*texts[name]) == "" {
			return nil, mistake(1, "the header has no %s", name)
		}
	}
	if _, _, ok := strings.Cut(s.Page, " — "); !ok {
		return nil, mistake(1, "page names the page and, behind an em dash, its section")
	}
	return rest, nil
}

func apiList(line int, text string) ([]string, error) {
	var list []string
	for _, api := range strings.Split(text, ",") {
		api = strings.TrimSpace(api)
		if !slices.Contains(apis, api) || slices.Contains(list, api) {
			return nil, mistake(line, "apis are some of %s, each once", strings.Join(apis, ", "))
		}
		list = append(list, api)
	}
	return list, nil
}
