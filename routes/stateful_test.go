package routes_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// sealing is a vendor that thinks and seals what it thought, for two APIs.
func sealing(name string) *vendorsim.Vendor {
	return vendorsim.New(vendorsim.Config{Name: name, API: []catalog.API{catalog.Messages, catalog.Responses}, Cache: vendorsim.Cache{Family: catalog.Implicit}})
}

// sealingRig is pier, then reef, both of which seal.
func sealingRig(t *testing.T, change func(*routes.Options)) (rig *rig, pier, reef *vendorsim.Vendor) {
	pier, reef = sealing("pier"), sealing("reef")
	rig = newRig(t, func(o *routes.Options) {
		o.Metadata = vendor.MetadataHeader
		if change != nil {
			change(o)
		}
	}, stop{name: "pier", serve: pier, api: "messages, responses", extra: "    headers: {anthropic-version: \"2023-06-01\"}"},
		stop{name: "reef", serve: reef, api: "messages, responses", extra: "    headers: {anthropic-version: \"2023-06-01\"}"})
	return rig, pier, reef
}

var signatureIn, encryptedIn = regexp.MustCompile(`"signature":"([^"]+)"`), regexp.MustCompile(`"encrypted_content":"([^"]+)"`)

// sealIn is the last seal in an answer.
func sealIn(t *testing.T, in *regexp.Regexp, answer reply) string {
	t.Helper()
	found := in.FindAllStringSubmatch(answer.body, -1)
	if answer.status != http.StatusOK || len(found) == 0 {
		t.Fatalf("%d %s", answer.status, answer.body)
	}
	return found[len(found)-1][1]
}

const (
	think     = `{"model":"m","max_tokens":99,"thinking":{"type":"enabled","budget_tokens":9},%s"messages":[{"role":"user","content":"Plan."}]}`
	thinkMore = `{"model":"m","max_tokens":99,"thinking":{"type":"enabled","budget_tokens":9},%s"messages":[{"role":"user","content":"Plan."},{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":%q},{"type":"text","text":"One."}]},{"role":"user","content":"Next?"}]}`
	codex     = `{"model":"m","store":false,"include":["reasoning.encrypted_content"],"input":[%s{"role":"user","content":"Next?"}]%s}`
	reasoned  = `{"role":"user","content":"Plan."},{"type":"reasoning","summary":[],"encrypted_content":%q},{"role":"assistant","content":[{"type":"output_text","text":"One."}]},`
)

// detail is what the nth turn of the books says.
func (r *rig) detail(n int) string {
	b := engine.Book(r.turns(int64(n))[n-1])
	return string(b.Outcome) + " " + string(b.Detail)
}

// A conversation whose thinking another vendor signed goes back to that vendor, though
// another comes first in the plan and no pin says so. Streamed or whole.
func TestSignedThinkingPrefersItsMaker(t *testing.T) {
	for _, stream := range []string{"", `"stream":true,`} {
		rig, pier, reef := sealingRig(t, nil)
		pier.Queue(vendorsim.Fault{Status: 503})
		seal := sealIn(t, signatureIn, rig.post("messages", fmt.Sprintf(think, stream), "x-session-id", "dawn"))
		// Another session, so that no pin helps.
		got := rig.post("messages", fmt.Sprintf(thinkMore, stream, seal), "x-session-id", "dusk")
		if got.status != http.StatusOK || len(pier.Log()) != 1 || len(reef.Log()) != 2 {
			t.Errorf("%d, pier asked %d times, reef %d: %s", got.status, len(pier.Log()), len(reef.Log()), got.body)
		}
		// A pin elsewhere does not lead it away: dusk is pinned to reef, noon to pier.
		if got := rig.post("messages", fmt.Sprintf(think, stream), "x-session-id", "noon"); got.header.Get("X-Warmroute-Vendor") != "pier" {
			t.Fatalf("%v", got.header)
		}
		got = rig.post("messages", fmt.Sprintf(thinkMore, stream, seal), "x-session-id", "noon")
		if got.status != http.StatusOK || rig.detail(4) != "skipped_order signed_by" {
			t.Errorf("%d %s", got.status, rig.detail(4))
		}
	}
}

// A vendor's word about a foreign signature reaches the client once and as it is, and
// touches neither a pin nor anybody's health.
func TestForeignSignature(t *testing.T) {
	foreignSignature(t, fmt.Sprintf(thinkMore, "", "c2VhbGVkLWVsc2V3aGVyZQ=="))
}

func foreignSignature(t *testing.T, body string) {
	pier, reef := sealing("pier"), sealing("reef")
	version := "    headers: {anthropic-version: \"2023-06-01\"}"
	rig := newRig(t, nil, stop{name: "pier", serve: pier, api: "messages", extra: version, also: []string{"ref-sonnet"}}, stop{name: "reef", serve: reef, api: "messages", extra: version})
	if got := rig.post("messages", fmt.Sprintf(think, ""), "x-session-id", "dawn"); got.status != http.StatusOK {
		t.Fatal(got.body)
	}
	before := fmt.Sprint(rig.pinned("dawn"))
	for n := 2; n <= 5; n++ { // more than would have a vendor down
		got := rig.post("messages", body, "x-session-id", "dawn")
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, "Invalid `signature` in `thinking` block") || len(pier.Log()) != n || len(reef.Log()) != 0 {
			t.Fatalf("%d, pier asked %d times, reef %d: %s", got.status, len(pier.Log()), len(reef.Log()), got.body)
		}
		if rig.detail(n) != "confirmed foreign_signature" {
			t.Errorf("the row says %s", rig.detail(n))
		}
	}
	if after := fmt.Sprint(rig.pinned("dawn")); after != before {
		t.Errorf("pins %s, before %s", after, before)
	}
	if got := rig.post("messages", fmt.Sprintf(think, ""), "x-session-id", "dawn"); got.status != http.StatusOK || rig.last(6).Candidate.Route.Vendor.Name != "pier" {
		t.Errorf("afterwards: %d", got.status)
	}
}

// An agent that keeps nothing at the vendor and sends its encrypted reasoning back is
// served by who made it, across a failover; when that vendor is down it gets the
// vendor's own word, and when it is gone for good a word of ours. What is forgotten
// follows the ordinary plan.
func TestEncryptedReasoningGoesToItsMaker(t *testing.T) {
	for _, stream := range []string{"", `,"stream":true`} {
		rig, pier, reef := sealingRig(t, nil)
		agent := []string{"session-id", "0199-dawn-harbour-0001"}
		seal := sealIn(t, encryptedIn, rig.post("responses", fmt.Sprintf(codex, "", stream), agent...))
		next := func() reply {
			return rig.post("responses", fmt.Sprintf(codex, fmt.Sprintf(reasoned, seal), stream), agent...)
		}
		seal = sealIn(t, encryptedIn, next())
		// pier fails: what it made is not sent elsewhere.
		pier.Queue(vendorsim.Fault{Status: 503})
		if got := next(); got.status != http.StatusServiceUnavailable || len(reef.Log()) != 0 {
			t.Fatalf("%d, reef asked %d times", got.status, len(reef.Log()))
		}
		// Without what binds it, the failover works, and the new maker is remembered.
		pier.Queue(vendorsim.Fault{Status: 503})
		seal = sealIn(t, encryptedIn, rig.post("responses", fmt.Sprintf(codex, "", stream), agent...))
		if got := next(); got.status != http.StatusOK || len(reef.Log()) != 2 {
			t.Errorf("%d, reef asked %d times: %s", got.status, len(reef.Log()), got.body)
		}
		// reef may not be used any more.
		got := rig.post("responses", fmt.Sprintf(codex, fmt.Sprintf(reasoned, seal), stream+`,"providerOptions":{"gateway":{"only":["pier"]}}`), agent...)
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, "encrypted reasoning in the request can be read only by reef") || !strings.Contains(got.body, "without its encrypted reasoning") {
			t.Errorf("%d %s", got.status, got.body)
		}
		// Nobody remembers this one: the first of the plan says so itself.
		asked := len(reef.Log())
		got = rig.post("responses", fmt.Sprintf(codex, fmt.Sprintf(reasoned, "Zm9yZ290dGVu"), stream), "session-id", "0199-dusk-harbour-0002")
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, "could not be verified") || len(reef.Log()) != asked {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}

// A file is at one vendor: with several it must be said which, once.
func TestFilesGoWhereTheyAre(t *testing.T) {
	rig, pier, reef := sealingRig(t, nil)
	ask := func(more string) reply {
		return rig.post("responses", `{"model":"m","input":[{"role":"user","content":[{"type":"input_file","file_id":"file-1"},{"type":"input_text","text":"What is it?"}]}]`+more+`}`)
	}
	got := ask("")
	if got.status != http.StatusBadRequest || !strings.Contains(got.body, "it is not known which vendor keeps a file that the request names by its id") && !strings.Contains(got.body, "It is not known") || len(pier.Log())+len(reef.Log()) != 0 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := ask(`,"providerOptions":{"gateway":{"only":["reef"]}}`); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := ask(""); got.status != http.StatusOK || len(reef.Log()) != 2 || len(pier.Log()) != 0 {
		t.Errorf("%d, reef asked %d times: %s", got.status, len(reef.Log()), got.body)
	}
	if got := ask(`,"providerOptions":{"gateway":{"ignore":["reef"]}}`); got.status != http.StatusBadRequest || !strings.Contains(got.body, "send the file itself") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// Signed thinking whose maker is down goes to another vendor, which may share its
// signatures; if it does not, the maker is asked after all, and its word is the answer.
func TestSignedThinkingOfAMakerThatIsDown(t *testing.T) {
	rig, pier, reef := sealingRig(t, func(o *routes.Options) { o.Own.Requests = true })
	pier.Queue(vendorsim.Fault{Status: 503})
	seal := sealIn(t, signatureIn, rig.post("messages", fmt.Sprintf(think, ""), "x-session-id", "dawn"))
	for n := range 3 { // reef is down
		reef.Queue(vendorsim.Fault{Status: 503})
		rig.post("messages", fmt.Sprintf(think, `"providerOptions":{"gateway":{"only":["reef"]}},`), "x-session-id", fmt.Sprint(n))
	}
	more := fmt.Sprintf(thinkMore, "", seal)
	reef.Queue(vendorsim.Fault{Status: 503})
	if got := rig.post("messages", more, "x-session-id", "dawn"); got.status != http.StatusServiceUnavailable || len(pier.Log()) != 2 || len(reef.Log()) != 5 {
		t.Errorf("down: %d, pier asked %d times, reef %d: %s", got.status, len(pier.Log()), len(reef.Log()), got.body)
	}
	if got := rig.post("messages", more, "x-session-id", "dawn"); got.status != http.StatusOK || len(pier.Log()) != 3 || len(reef.Log()) != 6 {
		t.Errorf("up again: %d, pier asked %d times, reef %d: %s", got.status, len(pier.Log()), len(reef.Log()), got.body)
	}
	// A key of the caller's own for pier goes first and cannot read it; no more than those two are asked.
	got := rig.post("messages", more, "x-session-id", "dawn", "x-warmroute-key-pier", ownPier)
	if got.status != http.StatusOK || got.header.Get("X-Warmroute-Vendor") != "reef" || len(pier.Log()) != 4 {
		t.Errorf("own key: %d by %s, pier asked %d times: %s", got.status, got.header.Get("X-Warmroute-Vendor"), len(pier.Log()), got.body)
	}
}
