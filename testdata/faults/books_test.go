package faults_test

import (
	"encoding/json"
	"math/big"
	"net/url"
	"strconv"
	"strings"
)

// bookedTurn is a turn in the books, as the API tells it.
type bookedTurn struct {
	ID, State string
	Session   *struct{ ID string }
	Outcome   *string
	Attempts  []bookedAttempt
}

type bookedAttempt struct {
	Vendor     string
	Credential *string
	Stage      string
	Failure    *string
	Status     *int
	Billed     bool
	Quality    string `json:"usage_quality"`
	Tokens     *struct {
		Prompt, Output int64
		CacheRead      int64 `json:"cache_read"`
	}
	Cost *struct{ Total string }
}

// result is how the metrics name the attempt's end.
func (a *bookedAttempt) result() string {
	switch {
	case a.Stage == "served", a.Stage == "abandoned", a.Failure == nil:
		return a.Stage
	}
	return *a.Failure
}

// how is the attempt in short: vendor, stage and failure.
func (a *bookedAttempt) how() string {
	how := a.Vendor + " " + a.Stage
	if a.Failure != nil {
		how += " " + *a.Failure
	}
	return how
}

// booked is every turn in the books, oldest first.
func (r *rig) booked() []bookedTurn {
	r.Helper()
	var all []bookedTurn
	for after := ""; ; {
		var page struct {
			Turns []bookedTurn
			Next  *string
		}
		r.api("/api/v1/turns?tenant=shop&limit=1000&after="+url.QueryEscape(after), &page)
		all = append(all, page.Turns...)
		if page.Next == nil {
			break
		}
		after = *page.Next
	}
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// bookedFor is the one turn that an answer was of.
func (r *rig) bookedFor(a *answer) bookedTurn {
	r.Helper()
	var one struct{ Turn bookedTurn }
	id := a.header.Get("X-Warmroute-Request-Id")
	r.await(waitForBooks, "turn "+id+" is settled", func() bool {
		status, text, err := r.page("/api/v1/turns/" + id + "?tenant=shop")
		return err == nil && status == 200 && json.Unmarshal(text, &one) == nil && one.Turn.State == "settled"
	})
	return one.Turn
}

// tried is how the attempts of a turn ended, in their order.
func (t *bookedTurn) tried() string {
	var all []string
	for i := range t.Attempts {
		all = append(all, t.Attempts[i].how())
	}
	return strings.Join(all, ", ")
}

// api reads one page of the API.
func (r *rig) api(path string, into any) {
	r.Helper()
	status, text, err := r.page(path)
	if err != nil || status != 200 {
		r.Fatalf("%s answers %d %v %s", path, status, err, text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		r.Fatalf("%s: %v in %s", path, err, text)
	}
}

// pinned is the vendors and credentials that a session is pinned to, as they are kept
// on disk once all is written.
func (r *rig) pinned(session string) string {
	r.Helper()
	r.await(waitForBooks, "every pin is written", func() bool { return r.metrics("warmroute_pin_writes_unwritten")[""] == 0 })
	_, text, err := r.page("/api/v1/pins?tenant=shop&session=" + url.QueryEscape(session))
	if err != nil {
		r.Fatal(err)
	}
	var list struct {
		Pins []struct {
			Models []struct {
				Entries []struct {
					Vendor     string
					Credential *string
				}
			}
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		r.Fatalf("pins: %v in %s", err, text)
	}
	var all []string
	for _, p := range list.Pins {
		for _, m := range p.Models {
			for _, e := range m.Entries {
				name := e.Vendor
				if e.Credential != nil {
					name += "/" + *e.Credential
				}
				all = append(all, name)
			}
		}
	}
	return strings.Join(all, ", ")
}

// metrics are the samples of one metric by their labels as they stand in the text.
func (r *rig) metrics(name string) map[string]float64 {
	r.Helper()
	status, text, err := r.page("/metrics")
	if err != nil || status != 200 {
		r.Fatalf("/metrics answers %d %v", status, err)
	}
	samples := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest == "" || rest[0] != '{' && rest[0] != ' ' {
			continue
		}
		at := strings.LastIndexByte(rest, ' ')
		value, err := strconv.ParseFloat(strings.TrimSpace(rest[at+1:]), 64)
		if err != nil {
			r.Fatalf("/metrics: %s", line)
		}
		samples[rest[:at]] = value
	}
	return samples
}

// label is the value of one label of a sample.
func label(sample, name string) string {
	_, rest, _ := strings.Cut(sample, name+`="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// down is how many candidates of a vendor are down, as the metrics have it.
func (r *rig) down(vendor string) int {
	r.Helper()
	for sample, value := range r.metrics("warmroute_breaker_state") {
		if label(sample, "vendor") == vendor && label(sample, "state") == "down" {
			return int(value)
		}
	}
	r.Errorf("no breaker state of %s", vendor)
	return 0
}

// bill is what the vendors' own logs come to: whole answers only, in fractions.
func (r *rig) bill() *big.Rat {
	sum := new(big.Rat)
	price := func(text string, tokens int64) {
		p, _ := new(big.Rat).SetString(text)
		sum.Add(sum, p.Mul(p, big.NewRat(tokens, 1_000_000)))
	}
	for i, s := range r.stands {
		if s.vendor == nil || s.priceless {
			continue
		}
		for _, c := range s.vendor.log() {
			c.mu.Lock()
			if u := c.said; u != nil {
				price(inputPrices[i], u.prompt-u.cached)
				price(readPrices[i], u.cached)
				price(outputPrice, u.output)
			}
			c.mu.Unlock()
		}
	}
	return sum
}
