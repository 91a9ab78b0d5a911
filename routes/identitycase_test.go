package routes_test

import (
	"fmt"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

// longIDs are two sessions whose ids part behind 256 equal characters, and two
// requests whose header is blank.
var longIDs = fmt.Sprintf(`
rows:
  - {n: 1, x-session-id: "%[1]s-port", model: tide-1, served_by: harbor-b}
  - {n: 2, x-session-id: "%[1]s-starboard", model: tide-1}
  - {n: 3, x-session-id: "  ", model: tide-1}
  - {n: 4, x-session-id: "", body_session_id: "punt-17", model: tide-1}
`, fmt.Sprintf("%0256d", 7))

// Ids are never cut, and a blank one is none.
func TestLongIDsAndBlankOnes(t *testing.T) {
	longAndBlank(t, longIDs)
}

func longAndBlank(t *testing.T, text string) {
	var file struct {
		Rows []struct {
			N      int
			Header string `yaml:"x-session-id"`
			Body   string `yaml:"body_session_id"`
			Model  string
		}
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil || len(file.Rows) != 4 {
		t.Fatalf("%d rows: %v", len(file.Rows), err)
	}
	answer := func() *script { return &script{text: jsonAnswer} }
	r := newRig(t, func(o *routes.Options) { o.Metadata = vendor.MetadataHeader },
		stop{name: "harbor-a", serve: busyOnce(jsonAnswer), also: []string{file.Rows[0].Model}}, stop{name: "harbor-b", serve: answer()})
	for _, row := range file.Rows {
		body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"tide?"}]`, row.Model)
		if row.Body != "" {
			body += fmt.Sprintf(`,"session_id":%q`, row.Body)
		}
		if got := r.post("chat", body+"}", "x-session-id", row.Header); got.status != 200 {
			t.Fatalf("row %d: status %d: %s", row.N, got.status, got.body)
		}
	}
	turns := r.turns(4)
	outcome := func(i int) engine.Outcome { return turns[i].Decision.Models[0].Outcome }
	if a, b := turns[0].Session, turns[1].Session; a.ID == b.ID || outcome(1) != engine.NoPin || a.Class != engine.ClassExplicit || b.Class != engine.ClassExplicit {
		t.Errorf("%+v %s, then %+v %s", a, outcome(0), b, outcome(1))
	}
	if s := turns[2].Session; s.Class != engine.ClassFingerprint {
		t.Errorf("a blank id: %+v", s)
	}
	if s := turns[3].Session; s.Class != engine.ClassExplicit || s.ID != file.Rows[3].Body {
		t.Errorf("an id in the body: %+v", s)
	}
}

// What the gateway makes of an opening is its tenant's as well: two that run the same
// agent are in two sessions, and neither moves the other.
func TestAFingerprintIsBoundToItsCaller(t *testing.T) {
	h, _, _ := newHouse(t, stop{}, jsonAnswer, func(gull, heron *routes.Tenant) {
		gull.Keys, heron.Keys = team("", "harbour-key").Keys, team("", "museum-key").Keys
	})
	for _, key := range []string{"harbour-key", "museum-key", "harbour-key"} {
		h.post("chat", `{"model":"m","messages":[{"role":"system","content":"You keep the tide table."},{"role":"user","content":"tide?"}]}`, "Authorization", "Bearer "+key)
	}
	turns := h.turns(3)
	a, b, again := turns[0].Session, turns[1].Session, turns[2].Session
	if a.Class != engine.ClassFingerprint || b.Class != a.Class || a.ID == b.ID || again != a || a.Tenant == b.Tenant {
		t.Errorf("%+v, %+v, %+v", a, b, again)
	}
}
