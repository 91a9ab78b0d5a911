package faults_test

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// waitForBooks is how long a turn may take into the books on a busy machine.
const waitForBooks = 20 * time.Second

// figures are what a gateway at rest holds.
type figures struct {
	goroutines, sockets, descriptors int
}

func (r *rig) figures() figures {
	one := func(name string) int {
		for _, value := range r.metrics(name) {
			return int(value)
		}
		return 0
	}
	return figures{one("go_goroutines"), r.sockets(), one("process_open_fds")}
}

// audit is the end of every row: all who saw what happened must agree, and nothing may
// be left behind or let out.
func (r *rig) audit() {
	r.Helper()
	turns := r.settled()
	r.auditAnswers()
	r.auditAttempts(turns)
	r.auditMoney(turns)
	r.auditRest()
	r.auditCanaries()
}

// settled waits until every turn that a client began is in the books.
func (r *rig) settled() []bookedTurn {
	r.Helper()
	var want int
	for _, a := range r.answers {
		if a.turn {
			want++
		}
	}
	var turns []bookedTurn
	r.await(waitForBooks, fmt.Sprintf("%d turns are settled in the books", want), func() bool {
		turns = r.booked()
		return len(turns) == want && !slices.ContainsFunc(turns, func(t bookedTurn) bool { return t.State != "settled" })
	})
	if len(turns) != want {
		r.Errorf("clients began %d turns, the books have %d", want, len(turns))
	}
	return turns
}

// auditAnswers compares what clients got with what the metrics and the books say of it.
func (r *rig) auditAnswers() {
	r.Helper()
	codes, outcomes := map[string]int{}, map[string]int{}
	unseen := 0 // turns whose client did not stay for the header
	for _, a := range r.answers {
		if !a.turn {
			continue
		}
		code := a.code
		if code == 0 {
			code = a.status
		}
		codes[strconv.Itoa(code)]++
		if a.outcome() == "" {
			unseen++
			continue
		}
		outcomes[a.outcome()]++
	}
	counted := map[string]int{}
	for sample, value := range r.metrics("warmroute_requests_total") {
		counted[label(sample, "code")] += int(value)
	}
	if !maps.Equal(codes, counted) {
		r.Errorf("clients were answered %v, the metrics have %v", codes, counted)
	}
	said := map[string]int{}
	for sample, value := range r.metrics("warmroute_affinity_outcomes_total") {
		if value > 0 {
			said[label(sample, "outcome")] += int(value)
		}
	}
	var overview struct {
		Outcomes []struct {
			Outcome *string
			Turns   int
		}
	}
	r.api("/api/v1/overview?tenant=shop", &overview)
	books := map[string]int{}
	for _, o := range overview.Outcomes {
		if o.Outcome != nil && o.Turns > 0 {
			books[*o.Outcome] = o.Turns
		}
	}
	if !maps.Equal(said, books) {
		r.Errorf("outcomes in the metrics are %v, in the books %v", said, books)
	}
	extra := 0
	for outcome, n := range said {
		extra += n - outcomes[outcome]
		if n < outcomes[outcome] {
			r.Errorf("clients were told %s %d times, the metrics have %d", outcome, outcomes[outcome], n)
		}
	}
	if extra != unseen {
		r.Errorf("clients were told %v, the metrics have %v and %d clients did not stay for it", outcomes, said, unseen)
	}
}

// auditAttempts compares attempts in the books with the metrics and the vendors' logs.
func (r *rig) auditAttempts(turns []bookedTurn) {
	r.Helper()
	results, at := map[string]int{}, map[string]int{}
	for i := range turns {
		keys := map[string]bool{}
		for j := range turns[i].Attempts {
			a := &turns[i].Attempts[j]
			results[a.Vendor+" "+a.result()]++
			at[a.Vendor]++
			credential := a.Vendor
			if a.Credential != nil {
				credential += "/" + *a.Credential
			}
			if keys[credential] {
				r.Errorf("turn %s asked %s twice", turns[i].ID, credential)
			}
			keys[credential] = true
		}
	}
	counted := map[string]int{}
	for sample, value := range r.metrics("warmroute_upstream_attempts_total") {
		counted[label(sample, "vendor")+" "+label(sample, "result")] += int(value)
	}
	if !maps.Equal(results, counted) {
		r.Errorf("attempts in the books are %v, in the metrics %v", results, counted)
	}
	for _, s := range r.stands {
		switch v := s.vendor; {
		case v == nil:
		case v.loose && len(v.log()) <= at[s.name]: // nothing was read more often than it is booked
		case v.loose || v.attempts() != at[s.name]:
			r.Errorf("%s was asked %d times, the books have %d", s.name, v.attempts(), at[s.name])
		}
	}
}

// auditMoney compares the books' sum with what the vendors' own logs come to.
func (r *rig) auditMoney(turns []bookedTurn) {
	r.Helper()
	var overview struct {
		Total struct {
			Cost     *string
			Coverage struct {
				Billed int64
				Known  int64 `json:"cost_known"`
			}
		}
	}
	r.api("/api/v1/overview?tenant=shop", &overview)
	sum, billed, known := new(big.Rat), int64(0), int64(0)
	for i := range turns {
		for _, a := range turns[i].Attempts {
			if a.Billed {
				billed++
			}
			if a.Cost != nil {
				known++
				cost, _ := new(big.Rat).SetString(a.Cost.Total)
				sum.Add(sum, cost)
			}
		}
	}
	total := new(big.Rat)
	if overview.Total.Cost != nil {
		total.SetString(*overview.Total.Cost)
	}
	if want := r.bill(); total.Cmp(want) != 0 || sum.Cmp(want) != 0 {
		r.Errorf("the vendors' logs come to %s, the books' turns to %s and their sum to %s", want.FloatString(12), sum.FloatString(12), total.FloatString(12))
	}
	if c := overview.Total.Coverage; c.Billed != billed || c.Known != known {
		r.Errorf("the overview covers %d of %d, the turns %d of %d", c.Known, c.Billed, known, billed)
	}
}

// auditRest waits until the gateway holds no more than before the row.
func (r *rig) auditRest() {
	r.Helper()
	r.transport.CloseIdleConnections()
	for _, s := range r.stands {
		if s.vendor != nil {
			s.vendor.hangUp()
		}
	}
	var now figures
	r.await(max(r.patience, 10*time.Second), "goroutines and descriptors are back where they were", func() bool {
		now = r.figures()
		return now.goroutines <= r.base.goroutines+3 && now.sockets <= r.base.sockets && now.descriptors <= r.base.descriptors+4
	})
	if r.Failed() {
		r.Logf("at rest %+v, before %+v", now, r.base)
	}
}

// auditCanaries ends the gateway, and looks for what must not be in anything it showed.
func (r *rig) auditCanaries() {
	r.Helper()
	var seen []output
	for _, path := range []string{
		"/metrics", "/healthz", "/readyz?verbose", "/api/v1/overview", "/api/v1/routes", "/api/v1/misses", "/api/v1/turns?limit=1000", "/api/v1/turns?format=csv",
		"/api/v1/sessions?limit=1000", "/api/v1/pins?limit=1000", "/api/v1/openapi.json", "/ui/", "/ui/turns", "/ui/sessions", "/ui/misses", "/api/v1/nothing",
	} {
		_, text, err := r.page(path)
		if err != nil {
			r.Errorf("%s: %v", path, err)
		}
		seen = append(seen, output{path, string(text), !strings.HasPrefix(path, "/api/v1/") && !strings.HasPrefix(path, "/ui/")})
	}
	if err := r.stop(); err != nil {
		r.Errorf("the gateway ends with %v", err)
	}
	seen = append(seen, output{"stdout", r.out.String(), true}, output{"the log", r.gateway.log.String(), true})
	seen = append(seen, r.files()...)
	for _, a := range r.answers {
		seen = append(seen, output{"an answer's header", fmt.Sprint(a.header), true})
		if a.status != 200 {
			seen = append(seen, output{"an error's body", a.body, true})
		}
	}
	for _, found := range hunt(seen) {
		r.Error(found)
	}
	if log := r.gateway.log.String(); strings.Contains(log, `"msg":"panic"`) || strings.Contains(log, "goroutine ") {
		r.Errorf("a panic is in the log:\n%s", log)
	}
}
