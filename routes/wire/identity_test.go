package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// sessionOf is the session that a profile sees in a body without any id.
func sessionOf(t *testing.T, p *engine.Profile, tenant string, api catalog.API, body string) engine.Session {
	t.Helper()
	facts := read(t, api, []byte(body)).Facts()
	facts.Tenant = tenant
	s := engine.Identify(facts, p)
	if s.Class != engine.ClassFingerprint {
		t.Fatalf("class %q: %s", s.Class, body)
	}
	return s
}

// openings are six bodies: three conversations behind one long context that all share,
// two that part in their instructions alone, and the first once more, in blocks and a
// turn later.
func openings() (bodies [6]struct {
	api  catalog.API
	body string
}) {
	context := "<workspace>" + strings.Repeat("a", 300) + "</workspace> "
	turn := func(system, text string) string {
		return fmt.Sprintf(`{"model":"m","max_tokens":8,"system":%q,"messages":[{"role":"user","content":%q}]}`, system, context+text)
	}
	bodies[0].body = turn("You tune pianos.", "Begin with the bass.")
	bodies[1].body = turn("You tune pianos.", "Begin with the treble.")
	bodies[2].body = turn("You tune harps.", "Begin with the bass.")
	bodies[3].body = `{"model":"m","instructions":"You tune pianos.","input":"Begin with the bass."}`
	bodies[4].body = `{"model":"m","instructions":"You tune harps.","input":"Begin with the bass."}`
	bodies[5].body = fmt.Sprintf(`{"model":"m","max_tokens":8,"system":[{"type":"text","text":"You tune pianos."}],"messages":[{"role":"user","content":[{"type":"text","text":%q}]},{"role":"assistant","content":"Equal?"},{"role":"user","content":"Yes."}]}`,
		context+"Begin with the bass.")
	for i := range bodies {
		bodies[i].api = catalog.Messages
		if i == 3 || i == 4 {
			bodies[i].api = catalog.Responses
		}
	}
	return bodies
}

// A fingerprint sees all of the opening: what stands behind a long shared context, and
// the system text that two dialects keep outside their messages.
func TestAFingerprintIsNeitherNarrowNorBlind(t *testing.T) {
	bodies := openings()
	apart(t, bodies[:])
}

// apart checks six openings: the first equals the sixth, and the others differ.
func apart(t *testing.T, bodies []struct {
	api  catalog.API
	body string
}) {
	t.Helper()
	for _, p := range engine.Profiles() {
		if !slices.ContainsFunc(p.Sources, func(s engine.Source) bool { return s.In == engine.InOpener }) {
			continue
		}
		t.Run(string(p.Name), func(t *testing.T) {
			var ids [6]string
			for i := range bodies {
				ids[i] = sessionOf(t, p, "gull", bodies[i].api, bodies[i].body).ID
			}
			for _, pair := range [][2]int{{0, 1}, {0, 2}, {3, 4}} {
				if ids[pair[0]] == ids[pair[1]] {
					t.Errorf("bodies %d and %d share a session", pair[0]+1, pair[1]+1)
				}
			}
			if ids[0] != ids[5] {
				t.Error("blocks, or a later turn, changed the session")
			}
			if other := sessionOf(t, p, "heron", bodies[0].api, bodies[0].body).ID; other == ids[0] {
				t.Error("two tenants share a fingerprint")
			}
		})
	}
}

// A coding agent's request as it was seen on the wire: a telemetry line first, which
// changes, markers on the system text and on the last message, which move, and tools in
// whatever order.
func claudeBody(version string, tools []string, turns ...string) string {
	marker := `,"cache_control":{"type":"ephemeral"}`
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":"m","max_tokens":32000,"tools":[%s],"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=%s; cc_entrypoint=cli;"},`, strings.Join(tools, ","), version)
	fmt.Fprintf(&b, `{"type":"text","text":"You mend boats."%s},{"type":"text","text":"Ask before you saw."%s}],"messages":[`, marker, marker)
	for i, text := range turns {
		role, mark, comma := "user", "", ","
		if i%2 == 1 {
			role = "assistant"
		}
		if i == len(turns)-1 {
			mark, comma = marker, ""
		}
		fmt.Fprintf(&b, `{"role":%q,"content":[{"type":"text","text":"<reminder>be brief</reminder>"},{"type":"text","text":%q%s}]}%s`, role, text, mark, comma)
	}
	b.WriteString(`]}`)
	return b.String()
}

func TestMarkersAndTelemetryDoNotChangeAFingerprint(t *testing.T) {
	saw, plane := `{"name":"saw","description":"cuts","input_schema":{"type":"object"}}`, `{"name":"plane","description":"smooths","input_schema":{"type":"object"}}`
	for _, name := range []catalog.Profile{catalog.ProfileWarmroute, catalog.ProfileVercel, catalog.ProfileOpenRouter, catalog.ProfileMerge} {
		t.Run(string(name), func(t *testing.T) {
			p, ok := engine.ProfileNamed(name)
			if !ok {
				t.Fatal("no such profile")
			}
			id := func(body string) string { return sessionOf(t, p, "gull", catalog.Messages, body).ID }
			first := id(claudeBody("2.1.0", []string{saw, plane}, "Mend the keel."))
			if got := id(claudeBody("2.1.9", []string{plane, saw}, "Mend the keel.", "With oak?", "Yes.", "Sawing.", "Go on.")); got != first {
				t.Error("the session of a later turn is another")
			}
			if got := id(claudeBody("2.1.0", []string{saw, plane}, "Mend the mast.")); got == first {
				t.Error("another conversation has the same session")
			}
			if got := id(claudeBody("2.1.0", []string{saw}, "Mend the keel.")); (got == first) == p.Opener.Tools {
				t.Error("a tool less: counts where the profile leaves tools out, or does not where it counts them")
			}
		})
	}
}

// What comes before the first user's message counts only where the profile does not ask
// for the user's.
func TestTheFirstMessageOfAUserIsFound(t *testing.T) {
	for _, c := range []struct {
		name     string
		api      catalog.API
		a, b     string
		same     bool // for the first of a user
		sameElse bool // for the first that is not the system's
	}{
		{"an assistant speaks first", catalog.Chat,
			`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"assistant","content":"Hello."},{"role":"user","content":"tide?"}]}`,
			`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"assistant","content":"Good day."},{"role":"user","content":"tide?"}]}`, true, false},
		{"the user parts", catalog.Messages,
			`{"model":"m","system":"s","messages":[{"role":"assistant","content":"Hello."},{"role":"user","content":"tide?"}]}`,
			`{"model":"m","system":"s","messages":[{"role":"assistant","content":"Hello."},{"role":"user","content":"wind?"}]}`, false, true},
		{"instructions and items", catalog.Responses,
			`{"model":"m","instructions":"s","input":[{"role":"assistant","content":"Hello."},{"role":"user","content":[{"type":"input_text","text":"tide?"}]}]}`,
			`{"model":"m","instructions":"s","input":[{"role":"user","content":"tide?"}]}`, true, false},
		{"a plain input", catalog.Responses,
			`{"model":"m","instructions":"s","input":"tide?"}`,
			`{"model":"m","instructions":"s","input":[{"role":"user","content":"tide?"}]}`, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for user, want := range map[bool]bool{true: c.same, false: c.sameElse} {
				p := &engine.Profile{Sources: []engine.Source{{In: engine.InOpener, Class: engine.ClassFingerprint}}, Opener: engine.Opener{User: user}}
				if got := sessionOf(t, p, "gull", c.api, c.a).ID == sessionOf(t, p, "gull", c.api, c.b).ID; got != want {
					t.Errorf("of a user %v: the same session %v", user, got)
				}
			}
		})
	}
}
