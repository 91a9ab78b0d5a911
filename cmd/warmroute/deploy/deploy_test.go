// Package deploy_test checks the files that are deployed beside the binary: every
// metric, label and value that they name is one that the gateway has.
package deploy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"gopkg.in/yaml.v3"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/routes"
)

// metric is what the gateway says under one name.
type metric struct {
	labels []string
	words  map[string][]string // values of the labels that have a fixed set of them
	counts bool                // it only grows
}

// fixed are the labels whose every value is there from the first turn.
var fixed = []string{"outcome", "class", "world", "cause", "coverage", "phase", "state"}

// results are how attempts can end.
var results = []string{
	"served", "abandoned", "broken", "refused", "connect", "timeout", "throttled", "server", "credential", "forbidden",
	"not_found", "request", "stream", "cut", "client_left", "shutdown",
}

// known are the metrics of a gateway that has seen one turn of everything.
func known(t *testing.T) map[string]metric {
	t.Helper()
	c, err := catalog.ParseKeys("test.yaml", []byte(`version: 1
vendors:
  pier: {api: [chat], base_url: "https://pier.example/v1", cache: {family: implicit, ttl: 10m}}
models:
  m: {routes: [{vendor: pier, model: x, price: {input: 2, output: 8, cache_read: 0.2, as_of: 2023-11-04}}]}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	m := routes.NewMetrics(routes.MetricsOptions{
		Catalog: func() *catalog.Catalog { return c },
		Reload:  func() catalog.Status { return catalog.Status{} },
		Pins:    func() routes.PinFigures { return routes.PinFigures{} },
		Ledger:  func() routes.LedgerFigures { return routes.LedgerFigures{} },
		Sidecar: func() routes.SidecarFigures { return routes.SidecarFigures{} },
		Down:    func(*catalog.Route, string) bool { return false },
	})
	ledger := &inmem.Ledger{Auditor: sim.Auditor{}, Settled: m.Settled}
	route, began := c.Models[0].Routes[0], time.Unix(1_700_000_000, 0)
	usage := pricing.Usage{Input: 100, CacheRead: 4000, Output: 20}
	turn := engine.Turn{
		ID: "t", API: catalog.Chat, Started: began, Session: engine.Session{Class: engine.ClassExplicit, ID: "s"},
		Plan:     engine.Plan{Candidates: []engine.Candidate{{Route: route, Card: route.Price[0].Card}}, Models: []engine.ModelPlan{{Model: route.Model, To: 1}}},
		Decision: engine.Decision{Models: []engine.Finding{{Model: route.Model, Outcome: engine.Confirmed}}},
	}
	if err := m.InFlight(ledger).Intend(context.Background(), &turn, turn.Plan.Candidates[0]); err != nil {
		t.Fatal(err)
	}
	turn.Attempts = []engine.Attempt{{
		Candidate: turn.Plan.Candidates[0], Stage: engine.StageServed, Status: 200, Answered: 200, Started: began, AcceptedAt: began, FirstByte: time.Second,
		Usage: usage, Quality: pricing.Authoritative, Card: route.Price[0].Card, Cost: route.Price[0].Card.Cost(usage),
	}}
	m.Record(turn)
	ledger.Record(turn)
	return gathered(t, m.Gatherer())
}

func gathered(t *testing.T, from prometheus.Gatherer) map[string]metric {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]metric{"up": {labels: []string{}}}
	for _, family := range families {
		m := metric{words: map[string][]string{}, counts: family.GetType().String() == "COUNTER"}
		for i, s := range family.Metric {
			for _, pair := range s.Label {
				if i == 0 {
					m.labels = append(m.labels, pair.GetName())
				}
				if slices.Contains(fixed, pair.GetName()) {
					m.words[pair.GetName()] = append(m.words[pair.GetName()], pair.GetValue())
				}
			}
		}
		if slices.Contains(m.labels, "result") && family.GetName() == "warmroute_upstream_attempts_total" {
			m.words["result"] = results
		}
		if family.GetType().String() == "HISTOGRAM" {
			m.counts = true
			bucket := m
			bucket.labels = append(slices.Clone(m.labels), "le")
			all[family.GetName()+"_bucket"], all[family.GetName()+"_sum"], all[family.GetName()+"_count"] = bucket, m, m
			continue
		}
		all[family.GetName()] = m
	}
	return all
}

type ruleFile struct {
	Groups []struct {
		Name  string `yaml:"name"`
		Rules []rule `yaml:"rules"`
	} `yaml:"groups"`
}

type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// strictly reads a YAML file that may have no key which into does not.
func strictly(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestAlertsNameWhatTheGatewayMeasures(t *testing.T) {
	var file ruleFile
	strictly(t, "alerts.yaml", &file)
	metrics := known(t)
	seen := map[string]bool{}
	for _, group := range file.Groups {
		for _, r := range group.Rules {
			labels, err := read(metrics, r.Expr)
			if err != nil {
				t.Errorf("%s: %v", r.Alert, err)
			}
			if seen[r.Alert] || !strings.HasPrefix(r.Alert, "Warmroute") {
				t.Errorf("%q: the name is not its own", r.Alert)
			}
			seen[r.Alert] = true
			if r.For != "" {
				if _, err := time.ParseDuration(r.For); err != nil {
					t.Errorf("%s: for %v", r.Alert, err)
				}
			}
			if s := r.Labels["severity"]; s != "warning" && s != "critical" {
				t.Errorf("%s: severity %q", r.Alert, s)
			}
			if len(r.Annotations) != 2 || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s: annotations %v", r.Alert, r.Annotations)
			}
			for _, text := range r.Annotations {
				said(t, r.Alert, text, append(labels, added...))
			}
		}
	}
	for _, needed := range []string{
		"PinsExpire", "PinNotInPlan", "ReloadFailed", "PricesOld", "LedgerDropped", "UsageMissing", "UnpricedTokens", "HitRateFalls", "VendorLiveButCold",
	} {
		if !seen["Warmroute"+needed] {
			t.Errorf("no alert Warmroute%s", needed)
		}
	}
}

// said fills in an annotation, which may name labels that the alert has.
func said(t *testing.T, alert, text string, labels []string) {
	t.Helper()
	values := map[string]string{}
	for _, label := range labels {
		values[label] = label
	}
	same := func(v any) string { return fmt.Sprint(v) }
	made, err := template.New("").Option("missingkey=error").
		Funcs(template.FuncMap{"humanizePercentage": same, "humanizeDuration": same}).
		Parse(`{{$labels := .Labels}}{{$value := .Value}}` + text)
	if err == nil {
		err = made.Execute(io.Discard, map[string]any{"Labels": values, "Value": 0.5})
	}
	if err != nil {
		t.Errorf("%s: %v", alert, err)
	}
}

type board struct {
	Panels []struct {
		ID         int    `json:"id"`
		Type       string `json:"type"`
		Title      string `json:"title"`
		Datasource struct{ Type, UID string }
		GridPos    struct{ X, Y, W, H int }
		Targets    []struct {
			Datasource         struct{ Type, UID string }
			Expr, LegendFormat string
		}
	}
	Templating struct {
		List []struct {
			Name, Type, Definition string
			Datasource             struct{ UID string }
		}
	}
}

var (
	variable = regexp.MustCompile(`\$\{?([a-z_]+)\}?`)
	legend   = regexp.MustCompile(`\{\{(\w+)\}\}`)
)

func TestTheBoardNamesWhatTheGatewayMeasures(t *testing.T) {
	text, err := os.ReadFile("grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var b board
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"__rate_interval": "5m", "__range": "1h"}
	for _, v := range b.Templating.List {
		if v.Type == "query" && v.Datasource.UID != "${datasource}" {
			t.Errorf("variable %s is of another data source", v.Name)
		}
		values[v.Name] = ".*"
	}
	values["currency"] = "usd"
	metrics := known(t)
	ids, places, queries := map[int]bool{}, map[[2]int]string{}, 0
	for _, p := range b.Panels {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("panel %d %q is not its own", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if at := [2]int{x, y}; x >= 24 || places[at] != "" {
					t.Fatalf("%q lies over %q at %v", p.Title, places[at], at)
				}
				places[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if len(p.Targets) == 0 || p.Datasource.UID != "${datasource}" {
			t.Errorf("%s asks nothing of the data source", p.Title)
		}
		for _, target := range p.Targets {
			queries++
			if target.Datasource.UID != "${datasource}" || target.Datasource.Type != "prometheus" {
				t.Errorf("%s: data source %v", p.Title, target.Datasource)
			}
			expr := variable.ReplaceAllStringFunc(target.Expr, func(name string) string {
				value, ok := values[strings.Trim(name, "${}")]
				if !ok {
					t.Errorf("%s: no variable %s", p.Title, name)
				}
				return value
			})
			labels, err := read(metrics, expr)
			if err != nil {
				t.Errorf("%s: %v", p.Title, err)
			}
			for _, m := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
				if !slices.Contains(labels, m[1]) {
					t.Errorf("%s: the legend's %s is not in %s", p.Title, m[1], target.Expr)
				}
			}
		}
	}
	if queries < 25 {
		t.Errorf("%d queries", queries)
	}
}

func TestReadRefusesWhatIsNotThere(t *testing.T) {
	metrics := known(t)
	for _, expr := range []string{
		`sum(rate(warmroute_tokens[5m]))`,                                                 // no such metric
		`sum(rate(warmroute_tokens_total{kind="output"}[5m]))`,                            // no such label
		`sum(rate(warmroute_tokens_total{class="outputs"}[5m]))`,                          // no such value
		`sum(rate(warmroute_tokens_total{class=~"output|cached"}[5m]))`,                   // nor in a choice
		`sum by (session) (rate(warmroute_tokens_total[5m]))`,                             // nothing to add up by
		`sum(rate(warmroute_tokens_total[5m])`,                                            // not closed
		`sum(rate(warmroute_tokens_total[5m])))`,                                          // closed twice
		`sum(warmroute_tokens_total)`,                                                     // a counter as it stands
		`rate(warmroute_pins[5m])`,                                                        // a gauge's rate
		`sum(rates(warmroute_tokens_total[5m]))`,                                          // no such function
		`histogram_quantile(0.5, sum by (le) (rate(warmroute_overhead_seconds_sum[5m])))`, // no bucket
		`histogram_quantile(0.5, sum by (phase) (rate(warmroute_overhead_seconds_bucket[5m])))`,
		`sum(rate(warmroute_upstream_attempts_total{result="ok"}[5m]))`,
		`1 + 1`, `warmroute_pins ; 1`, ``,
	} {
		if _, err := read(metrics, expr); err == nil {
			t.Errorf("%s is not refused", expr)
		}
	}
}

func TestTheScrapeNamesTheRules(t *testing.T) {
	var file struct {
		Global        map[string]string `yaml:"global"`
		RuleFiles     []string          `yaml:"rule_files"`
		ScrapeConfigs []struct {
			JobName       string                `yaml:"job_name"`
			StaticConfigs []map[string][]string `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	strictly(t, "prometheus.yaml", &file)
	for _, name := range file.RuleFiles {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	if len(file.RuleFiles) != 1 || len(file.ScrapeConfigs) != 1 || file.ScrapeConfigs[0].JobName != "warmroute" { // the job of WarmrouteAbsent
		t.Errorf("%+v", file)
	}
}

// TestFilesNameNoPlaceButThoseOfTheUnit keeps hosts and folders out.
func TestFilesNameNoPlaceButThoseOfTheUnit(t *testing.T) {
	files, err := filepath.Glob("*.*")
	if err != nil {
		t.Fatal(err)
	}
	place := regexp.MustCompile(`https?://|/(home|root|tmp|work|Users|mnt)\b`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := place.Find(text); found != nil && !strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s names a place: %s", name, found)
		}
	}
}
