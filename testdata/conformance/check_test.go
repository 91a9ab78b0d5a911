package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// nothing is the word for what must not be there.
const nothing = "nothing"

// check says what is wrong with an answer; empty if nothing is.
func (w *world) check(a *answer, e expectation) string {
	switch e.word {
	case "outcome":
		return both(a, "X-Warmroute-Outcome", "affinity.outcome", e.rest)
	case "source":
		return both(a, "X-Warmroute-Session-Source", "clientSessionIdSource", e.rest)
	case "pinned":
		return both(a, "X-Warmroute-Pinned", "affinity.pinnedProvider", e.rest)
	case "displaced":
		return both(a, "X-Warmroute-Displaced", "affinity.displacedProvider", e.rest)
	case "vendor":
		return same(a.header.Get("X-Warmroute-Vendor"), e.rest)
	case "detail":
		return same(a.text(routing+"affinity.detail"), e.rest)
	case "gate":
		return same(a.text(routing+"affinity.gate.name"), e.rest)
	case "client":
		return w.checkClient(a, e.rest)
	case "session":
		return w.checkSession(a, e)
	case "tried":
		return checkTried(a.hits, strings.Split(e.rest, ", "))
	case "credential", "cached":
		if len(a.hits) == 0 {
			return "no vendor was asked"
		}
		last := a.hits[len(a.hits)-1]
		if e.word == "credential" {
			return same(last.credential, e.rest)
		}
		if (last.read > 0) != (e.rest == "yes") {
			return fmt.Sprintf("%s read %d tokens from its cache", last.vendor, last.read)
		}
		return ""
	case "error":
		if !strings.Contains(a.text("error.message"), e.rest) {
			return "the error says " + short(a.body)
		}
		return ""
	case "header":
		return w.checkHeader(a.header.Get, a.header.Values, e.line, e.rest)
	case "body":
		return w.checkPath(a.find, e.line, e.rest)
	case "sent":
		return w.checkSent(a, e)
	}
	return "is no expectation"
}

// same compares a text that may be missing.
func same(got, want string) string {
	if want == nothing {
		want = ""
	}
	if got == want {
		return ""
	}
	return fmt.Sprintf("is %q", got)
}

// both compares what a header says, and what the body does where it says anything.
func both(a *answer, header, path, want string) string {
	if problem := same(a.header.Get(header), want); problem != "" {
		return "the header " + problem
	}
	if _, told := a.find(strings.TrimSuffix(routing, ".")); !told {
		return ""
	}
	if problem := same(a.text(routing+path), want); problem != "" {
		return "the body " + problem
	}
	return ""
}

// checkClient compares the label that the books have for who sent the request.
func (w *world) checkClient(a *answer, want string) string {
	id := a.header.Get("X-Warmroute-Request-Id")
	for _, turn := range w.ledger.Recorded() {
		if turn.ID == id {
			return same(turn.Session.Client, want)
		}
	}
	return "the books have no turn " + id
}

// checkSession reads: TEXT, nothing, same as N, unlike N, or ~ PATTERN.
func (w *world) checkSession(a *answer, e expectation) string {
	id := a.text(routing + "clientSessionId")
	if pattern, ok := strings.CutPrefix(e.rest, "~ "); ok {
		return matches(id, pattern)
	}
	for _, form := range []struct {
		words string
		equal bool
	}{{"same as ", true}, {"unlike ", false}} {
		which, ok := strings.CutPrefix(e.rest, form.words)
		if !ok {
			continue
		}
		other, err := w.help(e.line, "session", []string{which})
		if err != nil {
			return err.Error()
		}
		if (id == other) != form.equal || id == "" {
			return fmt.Sprintf("is %q; answer %s has %q", id, which, other)
		}
		return ""
	}
	want, err := w.expand(e.line, e.rest, false)
	if err != nil {
		return err.Error()
	}
	return same(id, want)
}

func matches(text, pattern string) string {
	p, err := regexp.Compile(pattern)
	if err != nil {
		return err.Error()
	}
	if !p.MatchString(text) {
		return fmt.Sprintf("is %q", text)
	}
	return ""
}

// checkTried compares attempts with vendors, or vendors and their credentials.
func checkTried(hits []hit, want []string) string {
	var got []string
	for i, h := range hits {
		name := h.vendor
		if i < len(want) && strings.Contains(want[i], "/") {
			name += "/" + h.credential
		}
		got = append(got, name)
	}
	if len(got) == 0 {
		got = []string{nothing}
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		return "tried " + strings.Join(got, ", ")
	}
	return ""
}

// checkHeader reads: NAME: VALUE, NAME ~ PATTERN or NAME absent.
func (w *world) checkHeader(get func(string) string, values func(string) []string, line int, text string) string {
	if name, ok := strings.CutSuffix(text, " absent"); ok {
		if len(values(name)) > 0 {
			return fmt.Sprintf("is %q", get(name))
		}
		return ""
	}
	if name, pattern, ok := strings.Cut(text, " ~ "); ok && !strings.Contains(name, ":") {
		return matches(get(name), pattern)
	}
	name, want, _ := strings.Cut(text, ": ")
	want, err := w.expand(line, want, false)
	if err != nil {
		return err.Error()
	}
	return same(get(name), want)
}

// checkPath reads: PATH = JSON, PATH ~ PATTERN or PATH absent.
func (w *world) checkPath(find func(string) (any, bool), line int, text string) string {
	if path, ok := strings.CutSuffix(text, " absent"); ok {
		if got, there := find(path); there {
			return fmt.Sprintf("is %v", got)
		}
		return ""
	}
	if path, pattern, ok := strings.Cut(text, " ~ "); ok && !strings.Contains(path, " ") {
		got, _ := find(path)
		return matches(fmt.Sprint(got), pattern)
	}
	path, wanted, _ := strings.Cut(text, " = ")
	wanted, err := w.expand(line, wanted, true)
	if err != nil {
		return err.Error()
	}
	var want any
	if err := json.Unmarshal([]byte(wanted), &want); err != nil {
		return "what is wanted is not JSON"
	}
	got, there := find(path)
	if !there || !reflect.DeepEqual(got, want) {
		text, _ := json.Marshal(got)
		return fmt.Sprintf("is %s", text)
	}
	return ""
}

// checkSent looks at what a vendor was sent last.
func (w *world) checkSent(a *answer, e expectation) string {
	name, rest, _ := strings.Cut(e.rest, " ")
	var sent *hit
	for i := range a.hits {
		if a.hits[i].vendor == name {
			sent = &a.hits[i]
		}
	}
	if sent == nil {
		return name + " was not asked"
	}
	if rest == "unchanged" {
		if !bytes.Equal(withoutModel(sent.body), withoutModel(a.asked)) {
			return "was sent " + short(sent.body)
		}
		return ""
	}
	if text, ok := strings.CutPrefix(rest, "header "); ok {
		return w.checkHeader(sent.header.Get, sent.header.Values, e.line, text)
	}
	var doc any
	if err := json.Unmarshal(sent.body, &doc); err != nil {
		return "was sent no JSON"
	}
	return w.checkPath(func(path string) (any, bool) { return at(doc, path) }, e.line, rest)
}

var modelMember = regexp.MustCompile(`"model":"[^"]*"`)

// withoutModel is a body without the one thing that is always replaced.
func withoutModel(body []byte) []byte { return modelMember.ReplaceAll(body, nil) }
