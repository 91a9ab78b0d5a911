package routes_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	judge "github.com/warmroute/warmroute/engine/sim"
	"github.com/warmroute/warmroute/routes"
)

// The first vendor fails once; the session that is held out goes back to it, and
// reads what is there at its price; the other stays where it is warm.
func TestTheOverviewComparesSessionsThatWereHeldOut(t *testing.T) {
	dear, cheap := &script{text: jsonAnswer}, &script{text: jsonAnswer}
	r := newRig(t, nil,
		stop{name: "pier", serve: dear, price: "{input: 5, output: 10, cache_read: 0.5}"},
		stop{name: "quay", serve: cheap, price: "{input: 2.50, output: 10, cache_read: 0.25}"})
	r.ledger.Auditor = judge.Auditor{}
	overview := func(query string) (text string, shape struct {
		Holdout *struct {
			Held       map[string]any `json:"held_out"`
			Treated    map[string]any `json:"treated"`
			Difference string         `json:"difference"`
			Interval   *struct{}      `json:"interval"`
		} `json:"holdout"`
	}) {
		h := routes.Admin(routes.AdminOptions{API: routes.APIOptions{Books: r.ledger, Catalog: func() *catalog.Catalog { return r.catalog }}})
		w := adminAsk(h, "GET", "/api/v1/overview"+query)
		if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &shape) != nil {
			t.Fatal(w.Code, w.Body)
		}
		return w.Body.String(), shape
	}
	r.post("chat", `{"model":"m","messages":[]}`, "x-session-id", "boat")
	r.turns(1)
	if text, _ := overview(""); strings.Contains(text, "holdout") {
		t.Errorf("a hold-out that is off: %s", text)
	}
	var err error
	if r.gateway.Holdout, err = engine.NewHoldout(decimal.New(5, -1)); err != nil {
		t.Fatal(err)
	}
	turns := int64(1)
	for _, session := range []string{"boat", "ship"} { // boat is held out
		dear.status = 500
		r.post("chat", `{"model":"m","messages":[]}`, "x-session-id", session)
		dear.status = 0
		got := r.post("chat", `{"model":"m","messages":[]}`, "x-session-id", session)
		turns += 2
		r.turns(turns)
		want := map[string]string{"boat": "skipped_mode_off", "ship": "promoted"}[session]
		if outcome := got.header.Get("X-Warmroute-Outcome"); outcome != "" && outcome != want {
			t.Errorf("%s: %s", session, outcome)
		}
	}
	_, shape := overview("")
	if shape.Holdout == nil {
		t.Fatal("there is no hold-out")
	}
	held, treated := shape.Holdout.Held, shape.Holdout.Treated
	if held["sessions"] != 1.0 || held["turns"] != 2.0 || treated["sessions"] != 1.0 || treated["turns"] != 2.0 || shape.Holdout.Interval != nil {
		t.Errorf("%+v", shape.Holdout)
	}
	mean := func(arm map[string]any) decimal.Decimal { return decimalOf(t, arm["cost_per_million"].(string)) }
	if d := decimalOf(t, shape.Holdout.Difference); !d.IsPositive() || !d.Equal(mean(held).Sub(mean(treated))) {
		t.Errorf("%s is not %s less %s", d, mean(held), mean(treated))
	}
	for _, part := range []string{"?vendor=pier", "?model=m", "?outcome=promoted"} {
		if text, _ := overview(part); strings.Contains(text, "holdout") {
			t.Errorf("%s has a hold-out: %s", part, text)
		}
	}
}
