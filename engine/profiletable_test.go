package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// The README says of every profile what it is made of: -update writes it there.
func TestTheReadmeTellsEveryProfile(t *testing.T) {
	const begin, end = "<!-- profiles: go test ./engine -run Readme -update -->\n", "<!-- /profiles -->"
	path := filepath.Join("..", "README.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	told, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("README.md has no place for the profiles")
	}
	want := profileTable()
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if told != want {
		t.Errorf("README.md tells of other profiles; run with -update and read the difference\n%s", want)
	}
}

// profileTable is a row for every profile.
func profileTable() string {
	var b strings.Builder
	b.WriteString("| profile | a session is named by the first of | tracked by | keeps | a pin begins | and lasts | gate | an explicit order |\n|---|---|---|---|---|---|---|---|\n")
	for _, p := range engine.Profiles() {
		name := "`" + string(p.Name) + "`"
		if p.Off {
			name += ", off until configured"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | `%s` | %s |\n", name, sourcesInWords(p), scopeInWords(p), keptInWords(p), startInWords(p), windowInWords(p.Window), p.Gate, map[bool]string{true: "goes first", false: "comes second"}[p.OrderFirst])
	}
	return b.String()
}

func sourcesInWords(p *engine.Profile) string {
	var all []string
	for _, s := range p.Sources {
		var names []string
		for _, name := range s.Names {
			switch s.In {
			case engine.InOption:
				name = "providerOptions.gateway." + name
			case engine.InMetadata:
				name = "metadata." + name
			case engine.InHeader, engine.InAgent:
				name = strings.ToLower(name)
			}
			names = append(names, "`"+name+"`")
		}
		words := strings.Join(names, ", ")
		switch s.In {
		case engine.InOwn:
			words = "`x-<name>-session-id`"
		case engine.InCacheKey:
			words = "`prompt_cache_key`"
		case engine.InAgent:
			if len(names) == 0 {
				words = "what coding agents send"
			}
		case engine.InChain:
			words = "the turn that was served before"
		case engine.InOpener:
			words = openerInWords(p.Opener)
		case engine.InKey:
			words = "the caller's key"
		case engine.InFields:
			words = "the hash of `hash_fields`"
		}
		if len(s.APIs) > 0 {
			var apis []string
			for _, api := range s.APIs {
				apis = append(apis, string(api))
			}
			words += " (" + strings.Join(apis, ", ") + ")"
		}
		all = append(all, words)
	}
	return strings.Join(all, "; ")
}

func openerInWords(o engine.Opener) string {
	words := "the first system and the first other message"
	if o.User {
		words = "the first system and the first user message"
	}
	if o.Tools {
		words += " and the tools"
	}
	return words
}

func scopeInWords(p *engine.Profile) string {
	switch p.Scope {
	case engine.ScopeTarget:
		return "what was asked for"
	case engine.ScopeNone:
		return "nothing else"
	}
	return "policy"
}

func keptInWords(p *engine.Profile) string {
	plural := func(n int, what string) string {
		if n == 1 {
			return "one " + what
		}
		return fmt.Sprintf("%d %ss", n, what)
	}
	words := plural(p.Models, "model") + ", " + plural(p.Warm, "vendor") + " each"
	if slices.Contains(p.Credential, engine.ClassExplicit) {
		words += "; ids pin the credential too"
	}
	return words
}

func startInWords(p *engine.Profile) string {
	words := map[engine.Start]string{
		engine.StartAccepted: "when the vendor accepts",
		engine.StartServed:   "when the answer is whole",
		engine.StartCached:   "when the cache was read; with an id, when the answer is whole",
		engine.StartChosen:   "before the call",
	}[p.Start]
	if p.Keeps {
		words += "; a broken answer leaves it"
	}
	return words
}

func windowInWords(w engine.Window) string {
	if w.Fixed > 0 {
		return lasting(w.Fixed)
	}
	words := "as long as the route's cache"
	if w.Usual > 0 {
		words += " or " + lasting(w.Usual)
	}
	if w.Margin > 0 {
		words += ", less " + lasting(w.Margin)
	}
	if w.Longest > 0 {
		words += ", at most " + lasting(w.Longest)
	}
	return words
}

func lasting(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}
