package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/engine"
)

// harbour is a catalog in which the second vendor's cache is worth going back to.
const harbour = `version: 1
vendors:
  quay: {api: [chat], base_url: https://quay.example/v1, credentials: [{id: main, env: QUAY_KEY_THAT_IS_NOT_SET}]}
  pier: {api: [chat], base_url: https://pier.example/v1}
models:
  sea/charts:
    routes:
      - {vendor: quay, model: x, price: {input: 2.50, output: 10, cache_read: 0.25}}
      - {vendor: pier, model: x, price: {input: 3, output: 15, cache_read: 0.30}}
  sea/winds:
    routes:
      - {vendor: pier, model: y, price: {input: 1, output: 1}}
`

func asked(t *testing.T, q question, body string) (*explanation, error) {
	t.Helper()
	q.Catalog = filepath.Join(t.TempDir(), "catalog.yaml")
	if err := os.WriteFile(q.Catalog, []byte(harbour), 0o600); err != nil {
		t.Fatal(err)
	}
	q.Request, q.API, q.At = "-", "chat", "2026-11-29T09:30:00Z"
	return explain(context.Background(), q, strings.NewReader(body))
}

const named = `{"model":"sea/charts","session_id":"boat","messages":[{"role":"user","content":"hi"}]}`

func TestExplainShowsThePromotionAndItsPrices(t *testing.T) {
	e, err := asked(t, question{Pins: []string{"pier@2m"}}, named)
	if err != nil {
		t.Fatal(err)
	}
	m := e.Models[0]
	if m.Outcome != engine.Promoted || m.Displaced != "quay" || *m.Gate.Own.CacheRead != "0.3" || *m.Gate.Rivals[0].Input != "2.5" || e.Order[0].Vendor != "pier" {
		t.Errorf("explained as %+v %+v", m, e.Order)
	}
	var text strings.Builder
	if err := e.print(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"promoted", "pinned to pier, ahead of quay", "reading at 0.3 against own input 3, quay 2.5",
		"served by pier 2m0s before, expires 2m45s after", "supposes that every credential has its key",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
}

func TestExplainSaysWhyAPinCountsForNothing(t *testing.T) {
	for _, c := range []struct {
		name, body string
		q          question
		outcome    engine.Outcome
	}{
		{"its window has passed", named, question{Pins: []string{"pier@5m"}}, engine.PinExpired},
		{"its vendor is failing", named, question{Pins: []string{"pier"}, Down: []string{"pier"}}, engine.SkippedHealthDown},
		{"the request leaves it out", strings.Replace(named, `"messages"`, `"providerOptions":{"gateway":{"only":["quay"]}},"messages"`, 1), question{Pins: []string{"pier"}}, engine.SkippedNotInPlan},
		{"affinity is off", named, question{Pins: []string{"pier"}, Headers: []string{"x-warmroute-affinity: OFF"}}, engine.SkippedModeOff},
		{"the gateway named the session itself", strings.Replace(named, `"session_id":"boat",`, "", 1), question{Pins: []string{"pier"}}, engine.SkippedBelowMinPrefix},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := asked(t, c.q, c.body)
			if err != nil {
				t.Fatal(err)
			}
			if e.Models[0].Outcome != c.outcome {
				t.Errorf("outcome %s, want %s", e.Models[0].Outcome, c.outcome)
			}
		})
	}
}

func TestExplainPinsAFallbackModel(t *testing.T) {
	e, err := asked(t, question{Pins: []string{"pier"}}, `{"model":"sea/charts","models":["sea/winds"],"session_id":"boat","messages":[]}`)
	if err != nil || len(e.Models) != 2 || e.Models[1].Outcome != engine.Confirmed {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestExplainRefusesWhatItCannotSuppose(t *testing.T) {
	for _, c := range []struct {
		name, body, says string
		q                question
		code             int
	}{
		{"a vendor that serves nothing here", named, "the catalog has no such vendor", question{Pins: []string{"reef"}}, exitNotFound},
		{"two vendors that are not there", named, "--pin peir@2m: the catalog has no such vendor (did you mean pier?)\n--down reef: the catalog", question{Pins: []string{"peir@2m"}, Down: []string{"reef"}}, exitNotFound},
		{"a credential that is not there", named, `no credential "spare"`, question{Pins: []string{"quay/spare"}}, exitNotFound},
		{"an age that is none", named, "write the age", question{Pins: []string{"pier@soon"}}, exitUsage},
		{"a failing vendor that is not there", named, "no such vendor", question{Down: []string{"reef"}}, exitNotFound},
		{"a model that is not there", `{"model":"land","messages":[]}`, `"land"`, question{}, exitNotFound},
		{"an affinity that is none", named, "on or off", question{Headers: []string{"x-warmroute-affinity: maybe"}}, exitUsage},
		{"a header without a colon", named, "name: value", question{Headers: []string{"x"}}, exitUsage},
		{"a hit rate of a vendor that is not there", named, `no vendor "reef"`, question{Hits: []string{"reef=0.5"}}, exitNotFound},
		{"a hit rate that is none", named, "from 0 to 1", question{Hits: []string{"pier=94"}}, exitUsage},
		{"a latency of a vendor that is not there", named, `no vendor "reef"`, question{Latencies: []string{"reef=1s"}}, exitNotFound},
		{"a latency that is none", named, "pier=420ms", question{Latencies: []string{"pier=420"}}, exitUsage},
		{"a throughput of a vendor that is not there", named, `no vendor "reef"`, question{Throughputs: []string{"reef=1"}}, exitNotFound},
		{"a throughput that is none", named, "pier=85.5", question{Throughputs: []string{"pier=fast"}}, exitUsage},
		{"a throughput of nothing", named, "pier=85.5", question{Throughputs: []string{"pier=0"}}, exitUsage},
		{"a weighted sort without weights", `{"model":"sea/charts","provider":{"sort":"weighted"},"messages":[]}`, "only a policy has weights", question{}, exitUsage},
		{"a hit rate without a share", named, "vendor=share", question{Hits: []string{"pier"}}, exitUsage},
		{"a pin without a session", `{"model":"sea/charts","messages":[]}`, "names no session", question{Pins: []string{"pier"}}, exitUsage},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := asked(t, c.q, c.body)
			var exit coded
			if !errors.As(err, &exit) || exit.code != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want exit %d and %q", err, c.code, c.says)
			}
		})
	}
}

const sortedByBlend = `{"model":"sea/charts","providerOptions":{"gateway":{"sort":"blended"}},"messages":[{"role":"user","content":"hi"}]}`

func TestExplainShowsWhatABlendedSortCompared(t *testing.T) {
	e, err := asked(t, question{Hits: []string{"pier=0.94", "quay=0.5"}}, sortedByBlend)
	if err != nil {
		t.Fatal(err)
	}
	b := e.Models[0].Blended
	if len(b) != 2 || b[0].Vendor != "pier" || *b[0].Blended != "0.462" || *b[0].HitRate != "0.94" || *b[1].Blended != "1.375" || e.Order[0].Vendor != "pier" {
		t.Fatalf("%+v %+v", b, e.Order)
	}
	var text strings.Builder
	if err := e.print(&text); err != nil {
		t.Fatal(err)
	}
	if want := "blended input at pier: 0.462 at a hit rate of 0.94"; !strings.Contains(text.String(), want) {
		t.Errorf("the text lacks %q:\n%s", want, text.String())
	}
	e, err = asked(t, question{}, sortedByBlend)
	if err != nil {
		t.Fatal(err)
	}
	if b := e.Models[0].Blended; len(b) != 2 || b[0].Vendor != "quay" || b[0].HitRate != nil || b[0].words() != "2.5, its input price: no hit rate is known that counts" {
		t.Errorf("nothing supposed: %+v", b)
	}
}

func TestExplainShowsWhatSortsBySpeedCompared(t *testing.T) {
	body := func(sort string) string { return strings.Replace(sortedByBlend, "blended", sort, 1) }
	for _, c := range []struct {
		sort string
		q    question
		want []string // in the text, the first vendor first
	}{
		{"latency", question{Latencies: []string{"pier=420ms", "quay=1.5s"}, Throughputs: []string{"pier=85.5"}},
			[]string{"answers of pier: a first byte after 420 ms, 85.5 output tokens per second", "answers of quay: a first byte after 1500 ms, an unknown number of output tokens per second"}},
		{"tps", question{Throughputs: []string{"pier=85.501", "quay=85.5"}}, []string{"answers of pier: a first byte after an unknown time, 85.501 output", "answers of quay:"}},
		{"throughput", question{}, []string{"answers of quay: a first byte after an unknown time, an unknown number", "answers of pier:"}},
	} {
		e, err := asked(t, c.q, body(c.sort))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := e.print(&text); err != nil {
			t.Fatal(err)
		}
		before := 0
		for _, want := range c.want {
			at := strings.Index(text.String(), want)
			if at <= before {
				t.Errorf("%s: the text lacks %q in its place:\n%s", c.sort, want, text.String())
			}
			before = at
		}
		if len(e.Models[0].Paced) != 2 || e.Order[0].Vendor != e.Models[0].Paced[0].Vendor {
			t.Errorf("%s: %+v", c.sort, e.Models[0].Paced)
		}
	}
}

func TestExplainTellsWhatWasIgnored(t *testing.T) {
	e, err := asked(t, question{}, `{"model":"sea/charts","provider":{"preferred_max_latency":3},"providerOptions":{"gateway":{"tags":["a"]}},"messages":[]}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(e.Ignored, " "); got != "providerOptions.gateway.tags provider.preferred_max_latency" {
		t.Errorf("ignored %s", got)
	}
	if !slices.ContainsFunc(e.Notes, func(n string) bool {
		return strings.Contains(n, "providerOptions.gateway.tags, provider.preferred_max_latency")
	}) {
		t.Errorf("notes %q", e.Notes)
	}
}
