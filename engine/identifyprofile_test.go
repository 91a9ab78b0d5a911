package engine

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

// fieldsFrom answers Request.Field from a map of dotted paths.
func fieldsFrom(fields map[string]string) func(string) (string, bool) {
	return func(path string) (string, bool) { v, ok := fields[path]; return v, ok }
}

// What each profile takes for a session's name, in which order, and what it ignores.
func TestIdentifyByProfile(t *testing.T) {
	opening := func() Opening {
		return Opening{System: blocks("s"), First: blocks("Hello."), FirstUser: blocks("tide?")}
	}
	key := strings.Repeat("ab", 32)
	cases := []struct {
		name    string
		profile catalog.Profile
		r       Request
		class   Class
		id      string // "*": any
	}{
		{"option before the body", "vercel", Request{OptionID: "o", BodyID: "b"}, ClassExplicit, "o"},
		{"session_id sets the option", "vercel", Request{BodyID: "b", Header: headers("x-session-id", "h")}, ClassExplicit, "b"},
		{"sessionId is not known", "vercel", Request{BodyCamelID: "b", Header: headers("x-session-id", "h")}, ClassExplicit, "h"},
		{"session before affinity", "vercel", Request{Header: headers("x-session-affinity", "a", "x-session-id", "h")}, ClassExplicit, "h"},
		{"affinity before the cache key", "vercel", Request{CacheKey: "k", Header: headers("x-session-affinity", "a")}, ClassExplicit, "a"},
		{"cache key before Claude Code", "vercel", Request{CacheKey: "k", Header: headers("x-claude-code-session-id", "c")}, ClassCacheKey, "k"},
		{"a cache key that repeats Claude Code's id is a cache key", "vercel", Request{CacheKey: "c", Header: headers("x-claude-code-session-id", "c")}, ClassCacheKey, "c"},
		{"Claude Code before the opening", "vercel", Request{Header: headers("x-claude-code-session-id", "c"), Opening: opening}, ClassAgent, "c"},
		{"Codex is not known", "vercel", Request{Header: headers("session-id", "c"), Opening: opening}, ClassFingerprint, "*"},
		{"Claude Code's user id is not known", "vercel", Request{MetadataUser: `{"session_id":"c"}`, Opening: opening}, ClassFingerprint, "*"},
		{"an own header is not known", "vercel", Request{Header: headers("x-boats-session-id", "own-session"), Opening: opening}, ClassFingerprint, "*"},
		{"a longer id is hashed", "vercel", Request{Header: headers("x-session-id", strings.Repeat("f", 257))}, ClassExplicit, sha(strings.Repeat("f", 257))},
		{"a sub-agent has the session's id", "vercel", Request{Header: headers("x-claude-code-session-id", "c", "x-claude-code-agent-id", "a1")}, ClassAgent, "c"},

		{"the body before the header", "openrouter", Request{BodyID: "b", Header: headers("x-session-id", "h")}, ClassExplicit, "b"},
		{"the header before the cache key", "openrouter", Request{CacheKey: "k", Header: headers("x-session-id", "h")}, ClassExplicit, "h"},
		{"a longer id names nothing", "openrouter", Request{BodyID: strings.Repeat("f", 257), Header: headers("x-session-id", "h")}, ClassExplicit, "h"},
		{"256 characters do, whatever their bytes", "openrouter", Request{BodyID: strings.Repeat("é", 256)}, ClassExplicit, strings.Repeat("é", 256)},
		{"the affinity header is not known", "openrouter", Request{Header: headers("x-session-affinity", "a"), Opening: opening}, ClassFingerprint, "*"},

		{"the header before the body", "merge", Request{BodyID: "b", Header: headers("x-session-id", "h")}, ClassExplicit, "h"},
		{"the cache key of chat", "merge", Request{API: catalog.Chat, CacheKey: "k", Header: headers("x-merge-thread-id", "t")}, ClassCacheKey, "k"},
		{"the cache key of responses", "merge", Request{API: catalog.Responses, CacheKey: "k"}, ClassCacheKey, "k"},
		{"no cache key of messages", "merge", Request{API: catalog.Messages, CacheKey: "k", Header: headers("x-merge-thread-id", "t")}, ClassAgent, "t"},
		{"the thread before the agent", "merge", Request{Header: headers("x-claude-code-session-id", "c", "x-merge-thread-id", "t")}, ClassAgent, "t"},
		{"the agents in their order", "merge", Request{Header: headers("session_id", "s2", "session-id", "s1", "x-session-affinity", "a")}, ClassAgent, "s1"},
		{"the affinity header is an agent's", "merge", Request{Header: headers("x-session-affinity", "a"), Opening: opening}, ClassAgent, "a"},

		{"session_id before sessionId", "subconscious", Request{BodyID: "b", BodyCamelID: "c"}, ClassExplicit, "b"},
		{"sessionId before the headers", "subconscious", Request{BodyCamelID: "c", Header: headers("x-session-id", "h")}, ClassExplicit, "c"},
		{"an own header after the ordinary ones", "subconscious", Request{Header: headers("x-boats-session-id", "own-session", "x-session-affinity", "a")}, ClassExplicit, "a"},
		{"an own header in small letters", "subconscious", Request{Header: headers("x-boats-session-id", "OWN-Session")}, ClassExplicit, "own-session"},
		{"an own header of 7 characters", "subconscious", Request{CacheKey: "k", Header: headers("x-boats-session-id", "seven77")}, ClassCacheKey, "k"},
		{"a reserved header", "subconscious", Request{CacheKey: "k", Header: headers("x-subconscious-session-id", "forwarded-one", "x-subconscious-code-session-id", "of-the-client")}, ClassCacheKey, "k"},
		{"Claude Code's header", "subconscious", Request{CacheKey: "k", Header: headers("x-claude-code-session-id", "c")}, ClassAgent, "c"},
		{"Claude Code's header after an own one", "subconscious", Request{Header: headers("x-claude-code-session-id", "c", "x-boats-session-id", "own-session")}, ClassExplicit, "own-session"},
		{"Codex' headers", "subconscious", Request{CacheKey: "c", Header: headers("session-id", "c", "thread-id", "c", "x-client-request-id", "c"), Opening: opening}, ClassAgent, "c"},
		{"a cache key that repeats the request's id, as Pi does", "subconscious", Request{CacheKey: "c", Header: headers("x-client-request-id", "c"), Opening: opening}, ClassAgent, "c"},
		{"nothing but a conversation", "subconscious", Request{Opening: opening}, ClassChain, ""},
		{"no conversation", "subconscious", Request{}, "", ""},

		{"metadata before the headers", "litellm", Request{Field: fieldsFrom(map[string]string{"metadata.session_id": "m"}), Header: headers("x-litellm-session-id", "h")}, ClassExplicit, "m"},
		{"the session before the trace", "litellm", Request{Header: headers("x-litellm-trace-id", "t", "x-litellm-session-id", "h")}, ClassExplicit, "h"},
		{"the trace before the key", "litellm", Request{Key: key, Header: headers("x-litellm-trace-id", "t")}, ClassExplicit, "t"},
		{"the key", "litellm", Request{Key: key, Opening: opening}, ClassCacheKey, keySession(key)},
		{"no key", "litellm", Request{Opening: opening}, "", ""},
	}
	for _, c := range cases {
		t.Run(string(c.profile)+", "+c.name, func(t *testing.T) {
			p, ok := ProfileNamed(c.profile)
			if !ok {
				t.Fatal("no such profile")
			}
			c.r.Tenant = "default"
			s := Identify(c.r, p)
			if s.Class != c.class || s.ID != c.id && (c.id != "*" || s.ID == "") {
				t.Errorf("found %q %q, want %q %q", s.Class, s.ID, c.class, c.id)
			}
			if s.Alone != p.Apart {
				t.Errorf("alone: %v", s.Alone)
			}
		})
	}
}

// Fields that the configuration nominates name a session together.
func TestIdentifyByFields(t *testing.T) {
	p := &Profile{Sources: []Source{{In: InFields, Names: []string{"user", "metadata.team", "model"}, Class: ClassExplicit}}}
	id := func(fields map[string]string) string {
		s := Identify(Request{Field: fieldsFrom(fields)}, p)
		if s.Found() && (s.Class != ClassExplicit || len(s.ID) != 64) {
			t.Errorf("%+v", s)
		}
		return s.ID
	}
	base := id(map[string]string{"user": "ada", "metadata.team": "boats"})
	for _, c := range []struct {
		name   string
		fields map[string]string
		same   bool
	}{
		{"the same", map[string]string{"metadata.team": "boats", "user": "ada"}, true},
		{"something else changes", map[string]string{"user": "ada", "metadata.team": "boats", "metadata.turn": "7"}, true},
		{"a blank field", map[string]string{"user": "ada", "metadata.team": "boats", "model": " "}, true},
		{"another value", map[string]string{"user": "eve", "metadata.team": "boats"}, false},
		{"the values change places", map[string]string{"user": "boats", "metadata.team": "ada"}, false},
		{"the border moves", map[string]string{"user": "adab", "metadata.team": "oats"}, false},
		{"one is missing", map[string]string{"user": "ada"}, false},
		{"under another name", map[string]string{"user": "ada", "model": "boats"}, false},
	} {
		if got := id(c.fields); (got == base) != c.same {
			t.Errorf("%s: the same session %v", c.name, got == base)
		}
	}
	for name, r := range map[string]Request{"none of them": {Field: fieldsFrom(nil)}, "all blank": {Field: fieldsFrom(map[string]string{"user": ""})}, "no body": {}} {
		if s := Identify(r, p); s.Found() || s.Class != "" {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// Every place by names of one's own.
func TestIdentifyByNames(t *testing.T) {
	r := Request{
		Header: headers("x-trace", "Trace-9"), MetadataUser: "user_0a_account__session_" + aUUID, Key: "k", CacheKey: "c",
		Field: fieldsFrom(map[string]string{"user": "ada", "metadata.thread": "t-1", "providerOptions.gateway.conversation": "conv"}),
	}
	for _, c := range []struct {
		name string
		src  Source
		want string
	}{
		{"a header", Source{In: InHeader, Names: []string{"X-Other", "X-Trace"}}, "Trace-9"},
		{"in small letters", Source{In: InHeader, Names: []string{"X-Trace"}, Lower: true}, "trace-9"},
		{"too short", Source{In: InHeader, Names: []string{"X-Trace"}, Least: 8}, ""},
		{"too long", Source{In: InHeader, Names: []string{"X-Trace"}, Most: 6}, ""},
		{"just fits", Source{In: InHeader, Names: []string{"X-Trace"}, Least: 7, Most: 7}, "Trace-9"},
		{"a member of the body", Source{In: InBody, Names: []string{"user"}}, "ada"},
		{"a member of metadata", Source{In: InMetadata, Names: []string{"thread"}}, "t-1"},
		{"a member of the option", Source{In: InOption, Names: []string{"conversation"}}, "conv"},
		{"the user id as it is", Source{In: InMetadata, Names: []string{"user_id"}}, "user_0a_account__session_" + aUUID},
		{"Claude Code's session in it", Source{In: InAgent, Names: []string{"metadata.user_id"}}, aUUID},
		{"no agent by that header", Source{In: InAgent, Names: []string{"Session-Id"}}, ""},
		{"the key, as a hash of it", Source{In: InKey}, keySession("k")},
		{"of another API", Source{In: InCacheKey, APIs: []catalog.API{catalog.Messages}}, ""},
		{"of this API", Source{In: InCacheKey, APIs: []catalog.API{catalog.Messages, catalog.Chat}}, "c"},
	} {
		c.src.Class = ClassExplicit
		r.API = catalog.Chat
		if s := Identify(r, &Profile{Sources: []Source{c.src}}); s.ID != c.want || s.Found() != (s.Class != "") {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

// A profile that keeps sub-agents apart still shows whose they are.
func TestSubAgentsApart(t *testing.T) {
	apart := *Warmroute()
	apart.Apart = true
	h := headers("x-session-id", "child", "x-parent-session-id", "parent")
	if s := Identify(Request{Header: h}, nil); !s.HasParent() || s.Root() != "parent" || s.Parent != "parent" {
		t.Errorf("together: %+v", s)
	}
	if s := Identify(Request{Header: h}, &apart); s.HasParent() || s.Root() != "child" || s.Parent != "parent" {
		t.Errorf("apart: %+v", s)
	}
	agent := func(id string) Session {
		return Identify(Request{Header: headers("x-claude-code-session-id", "c", "x-claude-code-agent-id", id)}, &apart)
	}
	main, one, two := Identify(Request{Header: headers("x-claude-code-session-id", "c")}, &apart), agent("a1"), agent("a2")
	if main.ID != "c" || one.ID == main.ID || two.ID == main.ID || one.ID == two.ID || one.ID != agent("a1").ID || one.Parent != "c" || one.Root() != one.ID {
		t.Errorf("%+v, %+v, %+v", main, one, two)
	}
}

func TestLabelsOfAProfile(t *testing.T) {
	p, _ := ProfileNamed(catalog.ProfileSubconscious)
	for _, c := range []struct {
		h    http.Header
		want string
	}{
		{headers("x-subconscious-client", "rig", "x-warmroute-client", "boats", "x-yard-session-id", "own-session"), "rig"},
		{headers("x-subconscious-client", strings.Repeat("r", 65), "x-warmroute-client", "boats"), "boats"},
		{headers("x-yard-session-id", "own-session"), "yard"},
		{headers("x-subconscious-session-id", "forwarded-one"), ""},
		{headers("x-claude-code-session-id", "c"), "claude-code"},
		{headers("session-id", "c", "thread-id", "c"), "codex"},
	} {
		if s := Identify(Request{Header: c.h}, p); s.Client != c.want {
			t.Errorf("%v: %q, want %q", c.h, s.Client, c.want)
		}
	}
	if s := Identify(Request{Header: headers("x-subconscious-client", "rig")}, nil); s.Client != "" {
		t.Errorf("another profile's label counts: %q", s.Client)
	}
}

// Every header in the table of agents names a session, labels its client, and is no
// application's own.
func TestEveryKnownAgentIsNamed(t *testing.T) {
	for _, a := range agentHeaders {
		if a.header != http.CanonicalHeaderKey(a.header) {
			t.Errorf("%s is not in canonical form", a.header)
		}
		s := Identify(Request{Header: http.Header{a.header: {"An-Agents-Session"}}}, nil)
		if s.Class != ClassAgent || s.ID != "An-Agents-Session" || s.Client != a.client {
			t.Errorf("%s: %+v", a.header, s)
		}
		if s := Identify(Request{CacheKey: "equal", Header: http.Header{a.header: {"equal"}}}, nil); s.Class != ClassAgent {
			t.Errorf("%s repeated as the cache key: %+v", a.header, s)
		}
	}
	for _, p := range Profiles() {
		for i := range p.Sources {
			for _, name := range p.Sources[i].Names {
				header := p.Sources[i].In == InHeader || p.Sources[i].In == InAgent
				if header && name != http.CanonicalHeaderKey(name) {
					t.Errorf("%s: %s is not in canonical form", p.Name, name)
				}
			}
		}
		if slices.ContainsFunc(p.Labels, func(name string) bool { return name != http.CanonicalHeaderKey(name) }) {
			t.Errorf("%s: labels %q", p.Name, p.Labels)
		}
	}
}

// Naming the session of an ordinary request costs no memory: every turn does it.
func TestIdentifyByAHeaderAllocatesNothing(t *testing.T) {
	r := Request{Tenant: "default", Header: headers("x-session-id", "ses_0123456789", "user-agent", "agent/1.0", "x-stainless-timeout", "600", "content-type", "application/json")}
	for _, p := range Profiles() {
		if p.Name == catalog.ProfileLiteLLM || p.Name == catalog.ProfilePortkey {
			continue // they know no such header
		}
		if n := testing.AllocsPerRun(100, func() {
			if s := Identify(r, p); s.ID != "ses_0123456789" {
				t.Fatal(s)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", p.Name, n)
		}
	}
}
