package deploy_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// lexemes are the parts of a PromQL expression. The first group is what is read over.
var lexemes = regexp.MustCompile(`^(?:(\s+)|("[^"]*")|(\d+(?:\.\d+)?(?:ms|[smhdwy])?)|([a-zA-Z_:][a-zA-Z0-9_:]*)|(==|!=|>=|<=|=~|!~|[-+*/%^(){}\[\],<>=]))`)

func lex(expr string) (tokens []string, err error) {
	for at := 0; at < len(expr); {
		m := lexemes.FindStringSubmatch(expr[at:])
		if m == nil {
			return nil, fmt.Errorf("cannot read on from %q", expr[at:])
		}
		if m[1] == "" {
			tokens = append(tokens, m[0])
		}
		at += len(m[0])
	}
	return tokens, nil
}

var (
	aggregators = []string{"sum", "max", "min", "avg", "count"}
	functions   = []string{"rate", "increase", "histogram_quantile"}
	matchers    = []string{"=", "!=", "=~", "!~"}
	added       = []string{"instance", "job"} // labels that a scrape adds
)

// query is one expression while it is read.
type query struct {
	known  map[string]metric
	tokens []string
	at     int

	labels []string // that its result may have
}

// used is what a part of an expression names.
type used struct {
	metrics []string
	by      []string // labels that it was added up by
}

// read checks an expression: brackets, names of functions, metrics and labels, values
// of labels, that counters stand under a range and gauges do not, and that what is
// added up by a label has it. It is stricter than PromQL, not a parser of it.
func read(known map[string]metric, expr string) (labels []string, err error) {
	q := &query{known: known}
	if q.tokens, err = lex(expr); err != nil {
		return nil, err
	}
	u, err := q.part("")
	if err != nil {
		return nil, fmt.Errorf("%w, before %q", err, strings.Join(q.tokens[q.at:], " "))
	}
	if len(u.metrics) == 0 {
		return nil, errors.New("no metric is named")
	}
	return q.labels, nil
}

func (q *query) peek() string {
	if q.at < len(q.tokens) {
		return q.tokens[q.at]
	}
	return ""
}

func (q *query) next() string {
	token := q.peek()
	q.at = min(q.at+1, len(q.tokens))
	return token
}

// part reads up to the bracket that closes it.
func (q *query) part(closing string) (u used, err error) {
	for {
		token := q.next()
		var inner used
		switch {
		case token == closing:
			return u, nil
		case token == "":
			return u, fmt.Errorf("%q is missing", closing)
		case token == "(":
			inner, err = q.part(")")
		case slices.Contains(aggregators, token):
			inner, err = q.aggregate()
		case slices.Contains(functions, token):
			inner, err = q.call(token)
		case slices.Contains([]string{"on", "ignoring", "group_left", "group_right"}, token):
			_, err = q.list()
		case slices.Contains([]string{"and", "or", "unless"}, token):
		case regexp.MustCompile(`^[a-zA-Z_]`).MatchString(token):
			inner.metrics, err = []string{token}, q.selector(token)
		case strings.ContainsAny(token[:1], `)]}{["`):
			err = fmt.Errorf("%q stands where it cannot", token)
		}
		if err != nil {
			return u, err
		}
		u.metrics, u.by = append(u.metrics, inner.metrics...), append(u.by, inner.by...)
	}
}

// list reads names in brackets.
func (q *query) list() (names []string, err error) {
	if q.next() != "(" {
		return nil, errors.New("a list in brackets is missing")
	}
	for {
		switch name := q.next(); name {
		case ")":
			return names, nil
		case "":
			return nil, errors.New("a list does not end")
		case ",":
		default:
			names = append(names, name)
		}
	}
}

func (q *query) aggregate() (u used, err error) {
	var by []string
	if q.peek() == "by" {
		q.next()
		if by, err = q.list(); err != nil {
			return u, err
		}
	}
	if q.next() != "(" {
		return u, errors.New("what is to be added up is missing")
	}
	if u, err = q.part(")"); err != nil {
		return u, err
	}
	for _, label := range by {
		for _, name := range u.metrics {
			if !slices.Contains(q.known[name].labels, label) && !slices.Contains(added, label) {
				return u, fmt.Errorf("%s has no label %s", name, label)
			}
		}
	}
	q.labels = append(q.labels, by...)
	u.by = by
	return u, nil
}

func (q *query) call(function string) (u used, err error) {
	if q.next() != "(" {
		return u, fmt.Errorf("%s of what", function)
	}
	if u, err = q.part(")"); err != nil {
		return u, err
	}
	for _, name := range u.metrics {
		switch {
		case function == "histogram_quantile" && (!strings.HasSuffix(name, "_bucket") || !slices.Contains(u.by, "le")):
			return u, fmt.Errorf("a quantile of %s by %v", name, u.by)
		case function != "histogram_quantile" && !q.known[name].counts:
			return u, fmt.Errorf("%s of %s, which is no counter", function, name)
		}
	}
	return u, nil
}

// selector reads what follows a metric's name.
func (q *query) selector(name string) error {
	m, ok := q.known[name]
	if !ok {
		return fmt.Errorf("there is no metric %s", name)
	}
	if q.peek() == "{" {
		q.next()
		if err := q.selected(name, m); err != nil {
			return err
		}
	}
	ranged := q.peek() == "["
	if ranged {
		q.next()
		if !regexp.MustCompile(`^\d+[smhd]$`).MatchString(q.next()) || q.next() != "]" {
			return fmt.Errorf("the range of %s is no time", name)
		}
	}
	if ranged != m.counts {
		return fmt.Errorf("%s: a counter stands under a range, and nothing else does", name)
	}
	if q.peek() == "offset" {
		q.next()
		q.next()
	}
	return nil
}

func (q *query) selected(name string, m metric) error {
	for {
		label, matcher, value := q.next(), q.next(), strings.Trim(q.next(), `"`)
		switch {
		case !slices.Contains(matchers, matcher):
			return fmt.Errorf("%s{%s %s}: no such matcher", name, label, matcher)
		case !slices.Contains(m.labels, label) && !slices.Contains(added, label):
			return fmt.Errorf("%s has no label %s", name, label)
		}
		for word := range strings.SplitSeq(value, "|") {
			if words := m.words[label]; words != nil && !slices.Contains(words, word) {
				return fmt.Errorf("%s{%s}: nothing is %q; there are %v", name, label, word, words)
			}
		}
		switch q.next() {
		case "}":
			return nil
		case ",":
		default:
			return fmt.Errorf("the labels of %s do not end", name)
		}
	}
}
