package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

const aUUID = "3f0c9a52-7d1e-4b36-9f8a-2c5e71d0b944"

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// headers builds a header map the way a server does: canonical names.
func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func TestIdentify(t *testing.T) {
	long := strings.Repeat("f", 300)
	opening := func() Opening { return Opening{First: [][]byte{[]byte("hello")}} }
	cases := []struct {
		name  string
		r     Request
		class Class
		id    string
	}{
		{"nothing names it", Request{}, "", ""},
		{"provider option before body id", Request{OptionID: "option", BodyID: "body"}, ClassExplicit, "option"},
		{"the other spelling in the body", Request{BodyCamelID: "camel", Header: headers("x-session-id", "header")}, ClassExplicit, "camel"},
		{"of both spellings session_id", Request{BodyID: "body", BodyCamelID: "camel"}, ClassExplicit, "body"},
		{"a blank session_id beside the other", Request{BodyID: " ", BodyCamelID: "camel"}, ClassExplicit, "camel"},
		{"body id before the header", Request{BodyID: "body", Header: headers("x-session-id", "header")}, ClassExplicit, "body"},
		{"session header before affinity header", Request{Header: headers("x-session-affinity", "aff", "x-session-id", "ses")}, ClassExplicit, "ses"},
		{"affinity header before own header", Request{Header: headers("x-boats-session-id", "own-session", "x-session-affinity", "aff")}, ClassExplicit, "aff"},
		{"own header before cache key", Request{CacheKey: "key", Header: headers("x-boats-session-id", "own-session")}, ClassExplicit, "own-session"},
		{"cache key before agent header", Request{CacheKey: "key", Header: headers("x-claude-code-session-id", "cc")}, ClassCacheKey, "key"},
		{"agent header before the opening", Request{Header: headers("x-claude-code-session-id", "cc"), Opening: opening}, ClassAgent, "cc"},

		{"header value is trimmed", Request{Header: headers("x-session-id", "  punt 4  ")}, ClassExplicit, "punt 4"},
		{"case of a header value is kept", Request{Header: headers("x-session-id", "Boat")}, ClassExplicit, "Boat"},
		{"first of two values", Request{Header: headers("x-session-id", "one", "x-session-id", "two")}, ClassExplicit, "one"},
		{"blank header is none", Request{Header: headers("x-session-id", "   ", "x-session-affinity", "aff")}, ClassExplicit, "aff"},
		{"empty header beside a body id", Request{Header: headers("x-session-id", ""), BodyID: "punt-4"}, ClassExplicit, "punt-4"},
		{"256 characters are kept", Request{BodyID: strings.Repeat("é", 256)}, ClassExplicit, strings.Repeat("é", 256)},
		{"longer ones are hashed as a whole", Request{BodyID: long + "-alpha"}, ClassExplicit, sha(long + "-alpha")},
		{"control characters are hashed", Request{BodyID: "a\nb"}, ClassExplicit, sha("a\nb")},
		{"broken text is hashed", Request{BodyID: "a\xffb"}, ClassExplicit, sha("a\xffb")},

		{"own header is lowercased", Request{Header: headers("x-boats-session-id", "ABCDEFGH")}, ClassExplicit, "abcdefgh"},
		{"own header of 7 characters is ignored", Request{Header: headers("x-boats-session-id", "abcdefg")}, "", ""},
		{"own header of 257 characters is ignored", Request{Header: headers("x-boats-session-id", strings.Repeat("f", 257))}, "", ""},
		{"of two own headers the first name", Request{Header: headers("x-zebra-session-id", "zebra-session", "x-ant_1-session-id", "ant-session")}, ClassExplicit, "ant-session"},
		{"own header with other characters in its name", Request{Header: headers("x-bo.ats-session-id", "own-session")}, "", ""},
		{"another warmroute's header is not a session", Request{Header: headers("x-warmroute-session-id", "own-session")}, "", ""},
		{"a parent header is not a session", Request{Header: headers("x-parent-session-id", "own-session")}, "", ""},
		{"an own parent header is not a session", Request{Header: headers("x-boats-parent-session-id", "own-session")}, "", ""},
		{"a known agent's own header is the agent's", Request{Header: headers("x-deepseek-harness-session-id", "Abc")}, ClassAgent, "Abc"},

		{"cache key that repeats Codex's header", Request{CacheKey: aUUID, Header: headers("session-id", aUUID, "thread-id", aUUID)}, ClassAgent, aUUID},
		{"cache key that repeats session_id", Request{CacheKey: aUUID, Header: headers("session_id", aUUID)}, ClassAgent, aUUID},
		{"cache key that repeats the thread only", Request{CacheKey: aUUID, Header: headers("session-id", "other", "thread-id", aUUID)}, ClassAgent, aUUID},
		{"cache key that repeats the request id", Request{CacheKey: aUUID, Header: headers("x-client-request-id", aUUID)}, ClassAgent, aUUID},
		{"request id alone is no session", Request{Header: headers("x-client-request-id", aUUID)}, "", ""},

		{"Claude Code's header", Request{Header: headers("X-Claude-Code-Session-Id", aUUID)}, ClassAgent, aUUID},
		{"Codex session-id", Request{Header: headers("session-id", "s", "thread-id", "t")}, ClassAgent, "s"},
		{"Codex session_id", Request{Header: headers("session_id", "s", "thread-id", "t")}, ClassAgent, "s"},
		{"Codex thread-id alone", Request{Header: headers("thread-id", "t")}, ClassAgent, "t"},
		{"user id that holds JSON", Request{MetadataUser: `{"device_id":"d","account_uuid":"","session_id":"` + aUUID + `"}`}, ClassAgent, aUUID},
		{"user id that holds other JSON", Request{MetadataUser: `{"device_id":"d"}`}, "", ""},
		{"user id that holds broken JSON", Request{MetadataUser: `{"session_id":"x`}, "", ""},
		{"older user id", Request{MetadataUser: "user_0a1b_account_" + aUUID + "_session_" + aUUID}, ClassAgent, aUUID},
		{"older user id without an account", Request{MetadataUser: "user_0a1b_account__session_" + aUUID}, ClassAgent, aUUID},
		{"user id that is only alike", Request{MetadataUser: "user_1_session_main"}, "", ""},
		{"user id of a person", Request{MetadataUser: "=WEBSERVICE(\"http://203.0.113.7/\")"}, "", ""},
		{"header before the user id", Request{Header: headers("session-id", "s"), MetadataUser: `{"session_id":"u"}`}, ClassAgent, "s"},
		{"user id before a harness known from reports", Request{Header: headers("x-grok-conv-id", "g"), MetadataUser: `{"session_id":"u"}`}, ClassAgent, "u"},
		{"x-grok-conv-id", Request{Header: headers("x-grok-conv-id", "g")}, ClassAgent, "g"},
		{"X-Merge-Thread-Id", Request{Header: headers("X-Merge-Thread-Id", "g")}, ClassAgent, "g"},
		{"agent-session-id", Request{Header: headers("agent-session-id", "g")}, ClassAgent, "g"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.r.Tenant = "default"
			s := Identify(c.r, nil)
			if s.Class != c.class || s.ID != c.id || s.Tenant != "default" {
				t.Errorf("found %q %q, want %q %q", s.Class, s.ID, c.class, c.id)
			}
			if s.Found() != (c.id != "") {
				t.Errorf("Found is %v", s.Found())
			}
		})
	}
}

func TestIdentifyAsksForTheOpeningLast(t *testing.T) {
	asked := 0
	opening := func() Opening { asked++; return Opening{First: [][]byte{[]byte("Mend the gate.")}} }
	if s := Identify(Request{BodyID: "boat", Opening: opening}, nil); s.ID != "boat" || asked != 0 {
		t.Errorf("asked %d times though the body named %q", asked, s.ID)
	}
	s := Identify(Request{Header: headers("x-session-id", "   "), Opening: opening}, nil)
	if s.Class != ClassFingerprint || len(s.ID) != 64 || asked != 1 {
		t.Errorf("found %q %q after asking %d times", s.Class, s.ID, asked)
	}
}

func TestTwoLongIDsWithOneBeginning(t *testing.T) {
	beginning := strings.Repeat("f", 252)
	a := Identify(Request{Header: headers("x-session-id", beginning+"-alpha")}, nil)
	b := Identify(Request{Header: headers("x-session-id", beginning+"-beta")}, nil)
	if a.ID == b.ID {
		t.Error("they became one session")
	}
}

func TestClientAndParent(t *testing.T) {
	cases := []struct {
		name           string
		h              http.Header
		client, parent string
	}{
		{"nobody says", headers("x-session-id", "s"), "", ""},
		{"label header", headers("x-warmroute-client", " boats ", "x-other-session-id", "own-session"), "boats", ""},
		{"label of 65 characters is ignored", headers("x-warmroute-client", strings.Repeat("f", 65)), "", ""},
		{"name of the own header", headers("x-boats-session-id", "own-session"), "boats", ""},
		{"Claude Code", headers("x-claude-code-session-id", "s"), "claude-code", ""},
		{"Codex", headers("thread-id", "s"), "codex", ""},
		{"parent header", headers("x-session-id", "s", "x-parent-session-id", " P "), "", "P"},
		{"own parent header is lowercased", headers("x-boats-session-id", "own-session", "x-boats-parent-session-id", "P"), "boats", "p"},
		{"parent header before own ones", headers("x-a-parent-session-id", "own", "x-parent-session-id", "P"), "", "P"},
		{"of two own parent headers the first name", headers("x-b-parent-session-id", "b", "x-a-parent-session-id", "a"), "", "a"},
		{"sub-agent of Claude Code's main agent", headers("x-claude-code-session-id", "s", "x-claude-code-agent-id", "a1"), "claude-code", "s"},
		{"sub-agent of a sub-agent", headers("x-claude-code-session-id", "s", "x-claude-code-agent-id", "a2", "x-claude-code-parent-agent-id", "a1"), "claude-code", "s"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for range 20 { // a map's order must not matter
				if s := Identify(Request{Header: c.h}, nil); s.Client != c.client || s.Parent != c.parent {
					t.Fatalf("client %q, parent %q; want %q, %q", s.Client, s.Parent, c.client, c.parent)
				}
			}
		})
	}
}

func TestSessionKeyBeginsWithTheTenant(t *testing.T) {
	gull := Identify(Request{Tenant: "crew-gull", BodyID: "dawn"}, nil).Key("")
	heron := Identify(Request{Tenant: "crew-heron", BodyID: "dawn"}, nil).Key("")
	if gull == heron {
		t.Error("two tenants share the pins of one id")
	}
}

// FuzzIdentify: whatever a client sends, in whatever profile, the id is short plain
// text or nothing, and the same request has the same session.
func FuzzIdentify(f *testing.F) {
	f.Add("boat", "x", "{}", "x-boats-session-id", "value-of-it", "tide?")
	f.Add("a\x00b", strings.Repeat("f", 300), "user__session_"+aUUID, "x-parent-session-id", "p", "")
	f.Add("", "", `{"session_id":"c"}`, "x-claude-code-agent-id", "a1", "\xff")
	f.Add("", "s", "", "x-subconscious-session-id", "s", "one\ntwo")
	nominated := Profile{Sources: []Source{{In: InFields, Names: []string{"user", "metadata.x"}, Class: ClassExplicit}}, Apart: true}
	all := append(Profiles(), &nominated)
	f.Fuzz(func(t *testing.T, body, key, user, name, value, text string) {
		r := Request{
			BodyID: body, BodyCamelID: text, OptionID: user, CacheKey: key, MetadataUser: user, Key: key,
			Header: http.Header{http.CanonicalHeaderKey(name): {value}, claudeSession: {text}},
			Field:  func(path string) (string, bool) { return value, len(path)%2 == 0 },
		}
		if text != "" {
			r.Opening = func() Opening { return Opening{First: blocks(text), FirstUser: blocks(text)} }
		}
		for _, api := range []catalog.API{catalog.Chat, catalog.Messages} {
			for _, p := range all {
				r.API = api
				s := Identify(r, p)
				for _, id := range []string{s.ID, s.Parent, s.Client, s.Root()} {
					if !plain(id) || len([]rune(id)) > MaxID || id != strings.TrimSpace(id) {
						t.Errorf("%s: %q", p.Name, id)
					}
				}
				if s.Found() == (s.Class == "") && !s.unnamed() {
					t.Errorf("%s: id %q of class %q", p.Name, s.ID, s.Class)
				}
				if again := Identify(r, p); again != s {
					t.Errorf("%s: %+v, then %+v", p.Name, s, again)
				}
			}
		}
	})
}
