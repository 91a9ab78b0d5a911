package conformance_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// steps reads what follows the header.
func (s *scenario) steps(all []logical) error {
	var request *requestStep // the one that is open
	answered := true
	last := time.Duration(0)
	for _, l := range all {
		word, rest, _ := strings.Cut(l.text, " ")
		rest = strings.TrimSpace(rest)
		if l.depth == 2 {
			if request == nil {
				return mistake(l.line, "belongs to nothing; a request begins with >, what comes of it with <")
			}
			if answered {
				e, err := parseExpectation(l)
				if err != nil {
					return err
				}
				request.expect = append(request.expect, e)
			} else if err := request.take(l); err != nil {
				return err
			}
			continue
		}
		if !answered && word != "<" {
			return mistake(l.line, "the request before this has no answer; write < and its status")
		}
		st := step{line: l.line}
		var err error
		switch word {
		case ">":
			request, err = parseRequest(l.line, rest)
			st.request, answered = request, false
		case "<":
			if answered {
				return mistake(l.line, "nothing was asked")
			}
			if err := request.answer(l.line, rest); err != nil {
				return err
			}
			answered = true
			continue
		default:
			request = nil
			err = st.parse(l.line, word, rest)
			if st.at != nil && err == nil {
				if *st.at < last {
					err = mistake(l.line, "time does not run backwards; it is %v already", last)
				}
				last = *st.at
			}
		}
		if err != nil {
			return err
		}
		s.Steps = append(s.Steps, st)
	}
	if !answered {
		return mistake(request.line, "the request has no answer; write < and its status")
	}
	return nil
}

// parse reads a step that is no request.
func (st *step) parse(line int, word, rest string) error {
	switch word {
	case "at":
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 {
			return mistake(line, "%q is no time since the start; write such as 4m44s", rest)
		}
		st.at = &d
	case "tenant":
		id, key, named := strings.Cut(rest, " key ")
		if id == "" || strings.Contains(id, " ") || named && key == "" {
			return mistake(line, "write tenant ID, or tenant ID key VARIABLE")
		}
		st.tenant = &tenantStep{id, key}
	case "fault":
		f, err := parseFault(line, rest)
		if err != nil {
			return err
		}
		st.fault = f
	case "answer":
		vendor, body, ok := strings.Cut(rest, " ")
		if !ok || !strings.HasPrefix(strings.TrimSpace(body), "{") {
			return mistake(line, "write answer VENDOR {JSON of the whole answer}")
		}
		st.answer = &faultStep{vendor: vendor, text: strings.TrimSpace(body), times: 1}
	case "catalog":
		if !isName(rest) {
			return mistake(line, "write catalog and the name of a shared one")
		}
		st.catalog = rest
	case "store":
		if rest != "stalled" && rest != "back" {
			return mistake(line, "the store is stalled or back")
		}
		st.store = rest
	case "let":
		m := named.FindStringSubmatch(rest)
		if m == nil {
			return mistake(line, "write let NAME = TEXT; a name has small letters and digits only")
		}
		st.let = &pair{line, m[1], dedent(m[2])}
	default:
		return mistake(line, "there is no step %q", word)
	}
	return nil
}

var named = regexp.MustCompile(`^([a-z0-9]+) = (?s)(.+)$`)

var times = regexp.MustCompile(` x([1-9][0-9]{0,2})$`)

// parseFault reads: VENDOR[/CREDENTIAL] (STATUS | cut | {JSON}) [xTIMES].
func parseFault(line int, text string) (*faultStep, error) {
	f := &faultStep{times: 1}
	if m := times.FindStringSubmatch(text); m != nil {
		f.times, _ = strconv.Atoi(m[1])
		text = strings.TrimSuffix(text, m[0])
	}
	who, what, ok := strings.Cut(text, " ")
	f.vendor, f.credential, _ = strings.Cut(who, "/")
	what = strings.TrimSpace(what)
	status, err := strconv.Atoi(what)
	switch {
	case !ok || f.vendor == "":
		return nil, mistake(line, "write fault VENDOR and a status, cut, or a fault as JSON")
	case err == nil && status >= 300 && status <= 599:
		f.text = fmt.Sprintf(`{"status": %d}`, status)
	case what == "cut":
		f.text = `{"cut_after_events": 2}`
	case strings.HasPrefix(what, "{"):
		f.text = what
	default:
		return nil, mistake(line, "%q is no fault; write a status from 300, cut, or a fault as JSON", what)
	}
	return f, nil
}

// parseRequest reads: API MODEL, or METHOD PATH.
func parseRequest(line int, text string) (*requestStep, error) {
	r := &requestStep{line: line}
	first, second, ok := strings.Cut(text, " ")
	second = strings.TrimSpace(second)
	switch {
	case !ok || second == "" || strings.Contains(second, " "):
		return nil, mistake(line, "write > API MODEL, such as > chat m, or > POST /v1/embeddings")
	case first == "turn" || slices.Contains(apis, first):
		r.api, r.model, r.method = first, second, "POST"
	case (first == "GET" || first == "HEAD" || first == "POST") && strings.HasPrefix(second, "/"):
		r.method, r.path = first, second
	default:
		return nil, mistake(line, "%q is neither an API (%s, turn) nor GET, HEAD or POST with a path", first, strings.Join(apis, ", "))
	}
	return r, nil
}

// answer reads: STATUS [cut|left].
func (r *requestStep) answer(line int, text string) error {
	status, end, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(status)
	if err != nil || n < 200 || n > 599 || end != "" && end != "cut" && end != "left" {
		return mistake(line, "write < and the status, and behind it cut where the answer breaks off, or left where its client leaves")
	}
	r.status, r.cut, r.left = n, end == "cut", end == "left"
	return nil
}

var (
	member   = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.-]*) = (?s)(.+)$`)
	spoken   = regexp.MustCompile(`^(system|developer|user|assistant)( cached( 5m| 1h)?)?:(?s) ?(.*)$`)
	resulted = regexp.MustCompile(`^result ([A-Za-z0-9_-]+):(?s) ?(.*)$`)
	called   = regexp.MustCompile(`^call ([A-Za-z0-9_-]+) ([A-Za-z0-9_-]+) (?s)(\{.*\})$`)
	offered  = regexp.MustCompile(`^tool ([A-Za-z0-9_-]+)( cached( 5m| 1h)?)?: (?s)(.*?) ?(\{.*\})$`)
	headed   = regexp.MustCompile(`^header ([A-Za-z0-9_.-]+): ?(.*)$`)
)

// take reads one line of a request.
func (r *requestStep) take(l logical) error {
	if r.raw != "" {
		if m := headed.FindStringSubmatch(l.text); m == nil {
			return mistake(l.line, "a request with a body of its own has nothing else but headers")
		}
	}
	marker := func(asked, lifetime string) string {
		switch {
		case asked == "":
			return ""
		case lifetime == "":
			return "default"
		}
		return strings.TrimSpace(lifetime)
	}
	switch {
	case strings.HasPrefix(l.text, "body "):
		if len(r.words)+len(r.tools)+len(r.members) > 0 {
			return mistake(l.line, "a request with a body of its own has nothing else but headers")
		}
		r.raw = strings.TrimSpace(l.text[len("body "):])
		return nil
	case r.path != "" && !headed.MatchString(l.text):
		return mistake(l.line, "a request to a path has headers and a body only")
	}
	if m := headed.FindStringSubmatch(l.text); m != nil {
		r.headers = append(r.headers, pair{l.line, m[1], m[2]})
	} else if m := spoken.FindStringSubmatch(l.text); m != nil {
		r.words = append(r.words, words{line: l.line, role: m[1], text: dedent(m[4]), cached: marker(m[2], m[3])})
	} else if m := resulted.FindStringSubmatch(l.text); m != nil {
		r.words = append(r.words, words{line: l.line, role: "result", id: m[1], text: dedent(m[2])})
	} else if m := called.FindStringSubmatch(l.text); m != nil {
		r.words = append(r.words, words{line: l.line, role: "call", id: m[1], name: m[2], text: m[3]})
	} else if m := offered.FindStringSubmatch(l.text); m != nil {
		r.tools = append(r.tools, words{line: l.line, role: "tool", name: m[1], cached: marker(m[2], m[3]), text: m[4], schema: m[5]})
	} else if m := member.FindStringSubmatch(l.text); m != nil {
		r.members = append(r.members, pair{l.line, m[1], m[2]})
	} else {
		return mistake(l.line, "%q is no line of a request; see doc.go for what there is", l.text)
	}
	return nil
}

// dedent takes from the lines that continue another what they are indented by.
func dedent(text string) string { return strings.ReplaceAll(text, "\n  ", "\n") }

// expectations are the words that may stand below a status, and what follows them.
var expectations = map[string]*regexp.Regexp{
	"outcome":    regexp.MustCompile(`^[a-z_]+$`),
	"vendor":     regexp.MustCompile(`^[a-z0-9_.-]+$`),
	"session":    regexp.MustCompile(`^.+$`),
	"source":     regexp.MustCompile(`^[a-z_]+$`),
	"pinned":     regexp.MustCompile(`^[a-z0-9_.-]+$`),
	"displaced":  regexp.MustCompile(`^[a-z0-9_.-]+$`),
	"detail":     regexp.MustCompile(`^[a-z_]+$`),
	"gate":       regexp.MustCompile(`^[a-z_]+$`),
	"tried":      regexp.MustCompile(`^[a-z0-9_./-]+(, [a-z0-9_./-]+)*$`),
	"credential": regexp.MustCompile(`^[a-z0-9_.-]+$`),
	"cached":     regexp.MustCompile(`^(yes|no)$`),
	"client":     regexp.MustCompile(`^[a-z0-9_.-]+$`),
	"error":      regexp.MustCompile(`^.+$`),
	"header":     regexp.MustCompile(`^[A-Za-z0-9_-]+(: .*| absent| ~ .+)$`),
	"body":       regexp.MustCompile(`^[A-Za-z0-9_.-]+( absent| = (?s).+| ~ .+)$`),
	"sent":       regexp.MustCompile(`^[a-z0-9_.-]+ (unchanged|header [A-Za-z0-9_-]+(: .*| absent| ~ .+)|[A-Za-z0-9_.-]+( absent| = (?s).+| ~ .+))$`),
}

func parseExpectation(l logical) (expectation, error) {
	word, rest, _ := strings.Cut(l.text, " ")
	form, ok := expectations[word]
	switch {
	case !ok:
		return expectation{}, mistake(l.line, "nothing can be expected of %q; see doc.go for what there is", word)
	case !form.MatchString(rest):
		return expectation{}, mistake(l.line, "%s cannot be followed by %q; see doc.go", word, rest)
	}
	return expectation{l.line, word, rest}, nil
}

func isName(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// path is where the API of a request is.
func (r *requestStep) pathOf(api string) string {
	if r.path != "" {
		return r.path
	}
	switch api {
	case "messages":
		return "/v1" + catalog.Messages.Path()
	case "responses":
		return "/v1" + catalog.Responses.Path()
	}
	return "/v1" + catalog.Chat.Path()
}
