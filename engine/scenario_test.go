package engine_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/pricing"
	"gopkg.in/yaml.v3"
)

var update = flag.Bool("update", false, "rewrite the results in testdata/decisions")

// scenario is a file of testdata/decisions: behaviour over time.
type scenario struct {
	Why     string                    `yaml:"why"`
	Catalog string                    `yaml:"catalog"`
	Gate    catalog.Gate              `yaml:"gate"`
	Learned map[string]engine.HitRate `yaml:"learned"` // by vendor
	Speeds  map[string]engine.Speed   `yaml:"speeds"`  // by vendor
	Holdout string                    `yaml:"holdout"` // share of sessions
	Profile scenarioProfile           `yaml:"profile"` // a name, or a mapping with what is otherwise than in it
	Rate    int                       `yaml:"sessions_per_minute"`
	Turns   []scenarioTurn            `yaml:"turns"`
}

// learned is what a scenario's turns have shown before it begins.
type learned struct {
	hits   map[string]engine.HitRate
	speeds map[string]engine.Speed
}

func (l learned) HitRate(_, vendor string) engine.HitRate { return l.hits[vendor] }

func (l learned) Speed(_, vendor string) engine.Speed { return l.speeds[vendor] }

// scenarioTurn is one request. Who serves it is decided by the gateway and the
// faults; a vendor without a fault answers. Text is in bytes and 8000 if left out.
type scenarioTurn struct {
	At       time.Duration     `yaml:"at"`
	Tenant   string            `yaml:"tenant"`
	Session  string            `yaml:"session"`   // body session_id
	Agent    string            `yaml:"agent"`     // header x-claude-code-session-id
	CacheKey string            `yaml:"cache_key"` // body prompt_cache_key
	Opening  string            `yaml:"opening"`   // first words: the thread, or where nothing names it the session
	Parent   string            `yaml:"parent"`    // header x-parent-session-id
	Target   string            `yaml:"target"`
	Models   []string          `yaml:"models"`
	Only     []string          `yaml:"only"`
	Ignore   []string          `yaml:"ignore"`
	Order    []string          `yaml:"order"`
	Sort     catalog.Sort      `yaml:"sort"`
	Previous string            `yaml:"previous"` // body previous_response_id
	Response string            `yaml:"response"` // id of the response that serves it
	Off      bool              `yaml:"off"`
	Text     int64             `yaml:"text"`
	Markers  time.Duration     `yaml:"markers"` // lifetime its cache markers ask for
	Keep     time.Duration     `yaml:"retention"`
	Faults   map[string]string `yaml:"faults"` // by vendor, or vendor/credential
	Usage    *scenarioUsage    `yaml:"usage"`
	Store    string            `yaml:"store"`   // "stalled": it does not answer
	Catalog  string            `yaml:"catalog"` // the catalog in force from here on
	Result   result            `yaml:"result"`
}

type scenarioUsage struct{ Input, Read, Write, Output int64 }

type result struct {
	Session  string   `yaml:"session,omitempty"`
	Order    string   `yaml:"order,omitempty"`
	Blended  []string `yaml:"blended,omitempty"`
	Paced    []string `yaml:"paced,omitempty"`
	Found    []string `yaml:"found,omitempty"`
	Attempts []string `yaml:"attempts,omitempty"`
	Pins     []string `yaml:"pins,omitempty"`
	Cost     string   `yaml:"cost,omitempty"`
	Error    string   `yaml:"error,omitempty"`
}

// TestScenarios plays every file of testdata/decisions. With -update it writes
// the results instead of comparing them: read the diff before keeping it.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("../testdata/decisions/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	outcomes := map[engine.Outcome]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) { play(t, file, outcomes) })
	}
	for _, o := range []engine.Outcome{engine.SkippedModeOff, engine.StoreUnavailable, engine.NotCacheCapable, engine.SkippedBelowMinPrefix, engine.NoPin,
		engine.PinExpired, engine.SkippedNotInPlan, engine.SkippedHealthDown, engine.Confirmed, engine.SkippedOrder, engine.SkippedPriceUnknown,
		engine.SkippedNotCheaper, engine.Promoted} {
		if !outcomes[o] {
			t.Errorf("no scenario shows %s", o)
		}
	}
}

func play(t *testing.T, file string, outcomes map[engine.Outcome]bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s scenario
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&s); err != nil {
		t.Fatal(err)
	}
	if s.Why == "" {
		t.Error("a scenario says why")
	}
	w := newWorld(t, s)
	var results []result
	for i, turn := range s.Turns {
		got := w.play(t, turn, outcomes)
		results = append(results, got)
		if a, b := asYAML(t, got), asYAML(t, turn.Result); !*update && a != b {
			t.Errorf("turn %d at %v:\n got\n%swant\n%s", i+1, turn.At, a, b)
		}
	}
	if *update {
		rewrite(t, file, text, results)
	}
}

// world is a gateway with everything around it under the scenario's control.
type world struct {
	now     time.Time
	catalog *catalog.Catalog
	pins    *inmem.Pins
	stalled bool
	turns   uint64
	threads map[uint64]string // their first words
	gateway engine.Gateway
}

var epoch = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func newWorld(t *testing.T, s scenario) *world {
	w := &world{now: epoch, catalog: parse(t, s.Catalog), threads: map[uint64]string{}}
	w.pins = inmem.New(inmem.Options{Now: func() time.Time { return w.now }})
	w.gateway = engine.Gateway{
		Catalog: func() *catalog.Catalog { return w.catalog },
		Pins:    stallable{w.pins, &w.stalled},
		Health:  engine.NewHealth(),
		Gate:    s.Gate,
		Now:     func() time.Time { return w.now },
		TurnID:  func() (string, uint64) { w.turns++; return fmt.Sprint("turn-", w.turns), w.turns },
		Learned: learned{s.Learned, s.Speeds},
		Profile: s.Profile.profile(t),
	}
	if s.Rate > 0 {
		w.gateway.Sessions = engine.NewSessionRates(func(string) int { return s.Rate })
	}
	if s.Holdout != "" {
		share, err := decimal.NewFromString(s.Holdout)
		if err != nil {
			t.Fatal(err)
		}
		if w.gateway.Holdout, err = engine.NewHoldout(share); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func parse(t testing.TB, text string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.ParseKeys("scenario.yaml", []byte(text), func(catalog.Credential) (string, bool) { return "key", true })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// stallable is a store that can be made to hang until its caller gives up.
type stallable struct {
	engine.Pins
	stalled *bool
}

func (s stallable) Recall(ctx context.Context, key engine.PinKey) (engine.Record, error) {
	if *s.stalled {
		<-ctx.Done()
		return engine.Record{}, ctx.Err()
	}
	return s.Pins.Recall(ctx, key)
}

func (w *world) play(t *testing.T, turn scenarioTurn, outcomes map[engine.Outcome]bool) (got result) {
	w.now = epoch.Add(turn.At)
	w.stalled = turn.Store == "stalled"
	if turn.Catalog != "" {
		w.catalog = parse(t, turn.Catalog)
	}
	r := turn.request()
	if r.Opening != nil {
		w.threads[engine.Thread(r.Opening())] = turn.Opening
	}
	done, err := w.gateway.Serve(context.Background(), r, turn.send(r.TextBytes))
	if err != nil {
		return result{Error: err.Error()}
	}
	got.Session = strings.TrimSpace(done.Session.Source() + " " + short(done.Session.ID))
	var order []string
	for _, i := range done.Decision.Order {
		order = append(order, name(done.Plan.Candidates[i]))
	}
	got.Order = strings.Join(order, " ")
	for i := range done.Plan.Models {
		for _, b := range done.Plan.Models[i].Blended {
			got.Blended = append(got.Blended, fmt.Sprintf("%s: %s at %d of %d", b.Vendor, b.Blend.Rate(), b.Blend.Hits.Read, b.Blend.Hits.Prompt))
		}
		for _, p := range done.Plan.Models[i].Paced {
			got.Paced = append(got.Paced, fmt.Sprintf("%s: first byte in %s of %d, %d.%03d tokens/s of %d", p.Vendor, p.Speed.FirstByte, p.Speed.Firsts, p.Speed.Rate/1000, p.Speed.Rate%1000, p.Speed.Rates))
		}
	}
	for _, f := range done.Decision.Models {
		got.Found = append(got.Found, told(f))
		outcomes[f.Outcome] = true
	}
	for _, a := range done.Attempts {
		got.Attempts = append(got.Attempts, name(a.Candidate)+" "+went(a))
	}
	record, err := w.pins.Recall(context.Background(), done.Session.Key(done.Scope))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range record.Models {
		line := m.Model + ":"
		for _, e := range m.Warm {
			line += " " + strings.TrimSuffix(e.Vendor+"/"+e.Credential, "/")
			if words := w.threads[e.Thread]; words != "" {
				line += fmt.Sprintf(" (%s)", words)
			}
			line += fmt.Sprintf(" until %v,", e.ExpiresAt.Sub(epoch))
		}
		got.Pins = append(got.Pins, strings.TrimSuffix(line, ","))
	}
	if last, ok := done.Last(); ok && last.Cost.Known {
		got.Cost = last.Cost.Total.String()
	}
	return got
}

func (turn scenarioTurn) request() engine.Request {
	r := engine.Request{
		Tenant: turn.Tenant, API: catalog.Chat, Header: map[string][]string{}, Target: turn.Target, Models: turn.Models,
		Only: turn.Only, Ignore: turn.Ignore, Order: turn.Order, Sort: turn.Sort, AffinityOff: turn.Off,
		BodyID: turn.Session, CacheKey: turn.CacheKey, TextBytes: turn.Text, Retention: turn.Keep,
	}
	if r.Tenant == "" {
		r.Tenant = "default"
	}
	if r.TextBytes == 0 {
		r.TextBytes = 8000
	}
	if turn.Agent != "" {
		r.Header.Set("X-Claude-Code-Session-Id", turn.Agent)
	}
	if turn.Parent != "" {
		r.Header.Set("X-Parent-Session-Id", turn.Parent)
	}
	if turn.Opening != "" {
		r.Opening = func() engine.Opening { return engine.Opening{First: [][]byte{[]byte(turn.Opening)}} }
	}
	if turn.Previous != "" {
		r.PreviousResponse = turn.Previous
	}
	if turn.Markers > 0 {
		r.Markers, r.MarkerTTL = 1, turn.Markers
	}
	return r
}

// send answers for every vendor as the turn's faults say. Usage, where the turn
// states none, is a prompt read whole from the cache.
func (turn scenarioTurn) send(textBytes int64) engine.Send {
	return func(_ context.Context, try engine.Try) engine.Attempt {
		fault := turn.Faults[name(try.Candidate)]
		if fault == "" {
			fault = turn.Faults[try.Candidate.Route.Vendor.Name]
		}
		if status, err := strconv.Atoi(fault); err == nil {
			return engine.Attempt{Status: status, Failure: failureOf(status)}
		}
		switch fault {
		case "":
		case "connect", "timeout":
			return engine.Attempt{Failure: engine.Failure(fault)}
		case "cut", "stream":
			try.Accepted()
			return engine.Attempt{Stage: engine.StageBroken, Failure: engine.Failure(fault), Status: 200}
		case "cut after output":
			try.Accepted()
			return engine.Attempt{Stage: engine.StageBroken, Failure: engine.FailureCut, Status: 200, Committed: true}
		case "client left":
			try.Accepted()
			return engine.Attempt{Stage: engine.StageAbandoned, Failure: engine.FailureClientLeft, Status: 200, Committed: true}
		default:
			return engine.Attempt{Failure: engine.Failure("no such fault: " + fault)}
		}
		try.Accepted()
		a := engine.Attempt{Stage: engine.StageServed, Status: 200, Committed: true, Quality: pricing.Authoritative, ResponseID: turn.Response}
		a.Usage = pricing.Usage{CacheRead: textBytes / 4}
		if u := turn.Usage; u != nil {
			a.Usage = pricing.Usage{Input: u.Input, CacheRead: u.Read, CacheWrite5m: u.Write, Output: u.Output}
		}
		return a
	}
}

func failureOf(status int) engine.Failure {
	switch status {
	case 401, 402, 403:
		return engine.FailureCredential
	case 404:
		return engine.FailureNotFound
	case 429:
		return engine.FailureThrottled
	case 400, 413, 422:
		return engine.FailureRequest
	}
	return engine.FailureServer
}

func name(c engine.Candidate) string {
	text := strings.TrimSuffix(c.Route.Vendor.Name+"/"+c.Credential, "/")
	if c.Down {
		text += "(down)"
	}
	return text
}

func short(id string) string {
	if len(id) == 64 {
		return id[:8] + "…"
	}
	return id
}

func went(a engine.Attempt) string {
	words := []string{a.Stage.String(), string(a.Failure)}
	if a.Status != 0 && a.Status != 200 {
		words = append(words, strconv.Itoa(a.Status))
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// told is a finding as a line of a result.
func told(f engine.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", f.Model.Name, f.Outcome)
	for _, part := range []struct{ name, value string }{{"detail", string(f.Detail)}, {"pinned", f.Pinned}, {"displaced", f.Displaced}} {
		if part.value != "" {
			fmt.Fprintf(&b, ", %s %s", part.name, part.value)
		}
	}
	if f.Gate != "" {
		fmt.Fprintf(&b, "; %s pays %v: read %s, input %s", f.Gate, f.Verdict.Pays, f.Verdict.CacheRead, f.Verdict.Input)
		for _, r := range f.Verdict.Rivals {
			fmt.Fprintf(&b, ", %s %s", r.Vendor, r.Input)
		}
	}
	fmt.Fprintf(&b, "; %d tokens by %s", f.Prompt.Tokens, f.Prompt.Basis)
	return b.String()
}

func asYAML(t *testing.T, value any) string {
	t.Helper()
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// rewrite puts the results into the file and leaves the rest of it as it is.
func rewrite(t *testing.T, file string, text []byte, results []result) {
	var lines []string
	turn, skipping := -1, false
	flush := func() {
		if turn >= 0 && turn < len(results) {
			lines = append(lines, "    result:")
			for line := range strings.Lines(asYAML(t, results[turn])) {
				lines = append(lines, "      "+strings.TrimRight(line, "\n"))
			}
		}
	}
	for line := range strings.Lines(strings.TrimRight(string(text), "\n")) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "  - at:"):
			flush()
			turn++
			skipping = false
		case strings.HasPrefix(line, "    result:"):
			skipping = true
		case skipping && strings.HasPrefix(line, "      "):
		default:
			skipping = false
		}
		if !skipping {
			lines = append(lines, line)
		}
	}
	flush()
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
