package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"gopkg.in/yaml.v3"
)

// shared reads a collected case that lies beside the project; where there is
// none the project's own scenarios of the same figures stand alone.
func shared(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "shared", "bug-cases", name))
	if os.IsNotExist(err) {
		t.Skip("the collected cases are not here; testdata/decisions has the same figures")
	}
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

const sharedCatalog = `
version: 1
vendors:
  vendor_a: {api: [chat], base_url: "https://a.example/v1", credentials: [{id: k, env: A}], cache: {family: explicit, ttl: 300s}}
  vendor_b: {api: [chat], base_url: "https://b.example/v1", credentials: [{id: k, env: B}], cache: {family: explicit, ttl: 300s}}
  openai: {api: [chat], base_url: "https://o.example/v1", credentials: [{id: k, env: O}], cache: {family: implicit, ttl: 10m}}
models:
  ref-sonnet:
    routes:
      - {vendor: vendor_a, model: s, price: {input: 3, output: 15, cache_read: 0.3}}
      - {vendor: vendor_b, model: s, price: {input: 3, output: 15, cache_read: 0.3}}
  ref-gpt: {routes: [{vendor: openai, model: g, price: {input: 2, output: 10, cache_read: 0.2}}]}
`

// outcomeOf plays one turn and says what was found for the first model and who
// was tried.
func outcomeOf(t *testing.T, w *world, turn scenarioTurn) string {
	got := w.play(t, turn, map[engine.Outcome]bool{})
	outcome, _, _ := strings.Cut(strings.TrimPrefix(got.Found[0], turn.Target+": "), ";")
	outcome, _, _ = strings.Cut(outcome, ",")
	return outcome + ": " + strings.Join(got.Attempts, ", ")
}

func TestSharedCasePinnedVendorDown(t *testing.T) {
	var c struct {
		Session, Model string
		Steps          []struct {
			At      int    `yaml:"at_s"`
			VendorA string `yaml:"vendor_a"`
		}
	}
	shared(t, "case-18-pinned-vendor-down.yaml", &c)
	w := newWorld(t, scenario{Catalog: sharedCatalog})
	want := []string{
		"no_pin: vendor_a/k served",
		"confirmed: vendor_a/k refused server 503, vendor_b/k served",
		"promoted: vendor_b/k served",
		"promoted: vendor_b/k served",
	}
	for i, step := range c.Steps {
		turn := scenarioTurn{At: time.Duration(step.At) * time.Second, Session: c.Session, Target: c.Model}
		if step.VendorA != "ok" {
			turn.Faults = map[string]string{"vendor_a": step.VendorA}
		}
		if got := outcomeOf(t, w, turn); got != want[i] {
			t.Errorf("at %d s: %s\nwant %s", step.At, got, want[i])
		}
	}
}

func TestSharedCasePinIdleTime(t *testing.T) {
	var c struct {
		Session, Model string
		Requests       []int `yaml:"requests_at_s"`
		Then           []int `yaml:"then_ref_gpt_at_s"`
	}
	shared(t, "case-32-pin-idle-time.yaml", &c)
	w := newWorld(t, scenario{Catalog: sharedCatalog})
	play := func(model string, seconds []int) (outcomes []string) {
		for _, s := range seconds {
			outcome, _, _ := strings.Cut(outcomeOf(t, w, scenarioTurn{At: time.Duration(s) * time.Second, Session: c.Session, Target: model}), ":")
			outcomes = append(outcomes, outcome)
		}
		return outcomes
	}
	for _, half := range []struct {
		got  []string
		want string
	}{
		{play(c.Model, c.Requests), "[no_pin confirmed confirmed confirmed pin_expired]"},
		{play("ref-gpt", c.Then), "[no_pin confirmed pin_expired]"},
	} {
		if got := fmt.Sprint(half.got); got != half.want {
			t.Errorf("%s, want %s", got, half.want)
		}
	}
}
