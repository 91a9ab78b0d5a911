package routes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/badgerstore"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/engine/storetest"
	"github.com/warmroute/warmroute/routes"
)

// apiNow is the time at which the API is asked.
var apiNow = time.Date(2026, 11, 20, 12, 0, 30, 0, time.UTC)

// desk is an admin address, behind a mux as the command has it.
type desk struct {
	t   testing.TB
	url string
}

func newDesk(t testing.TB, o routes.APIOptions) desk {
	t.Helper()
	o.Now = func() time.Time { return apiNow }
	mux := http.NewServeMux()
	mux.Handle("/", routes.Admin(routes.AdminOptions{API: o}))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return desk{t, server.URL}
}

func (d desk) get(path string) (status int, header http.Header, body []byte) {
	d.t.Helper()
	response, err := http.Get(d.url + path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err = io.ReadAll(response.Body); err != nil {
		d.t.Fatal(err)
	}
	return response.StatusCode, response.Header, body
}

// read decodes an answer that must be one.
func (d desk) read(path string, into any) {
	d.t.Helper()
	status, _, body := d.get(path)
	if status != http.StatusOK {
		d.t.Fatalf("%s: %d %s", path, status, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		d.t.Fatalf("%s: %v in %s", path, err, body)
	}
}

// plainOverview is what the test reads of an overview.
type plainOverview struct {
	From, To *time.Time
	Total    plainSums
	Outcomes []struct {
		Outcome *string
		plainSums
	}
	Routes []struct {
		Model, Vendor *string
		plainSums
	}
	Width  string
	Series []struct {
		Start time.Time
		plainSums
	}
}

// allTurns are the turns of a query, page by page.
func (d desk) allTurns(values url.Values) []plainTurn {
	d.t.Helper()
	var all []plainTurn
	values.Set("limit", "397")
	for {
		var page struct {
			Turns []plainTurn
			Next  *string
		}
		d.read("/api/v1/turns?"+values.Encode(), &page)
		all = append(all, page.Turns...)
		if page.Next == nil {
			return all
		}
		values.Set("after", *page.Next)
	}
}

// ledgers are the books that the API is tried on.
func ledgers(t *testing.T) map[string]interface {
	engine.Ledger
	engine.Intents
	engine.Books
} {
	stored, err := badgerstore.OpenLedger(t.TempDir(), badgerstore.LedgerOptions{Now: func() time.Time { return apiNow }, Reserve: -1, Wait: time.Minute, Hours: 365 * engine.Day})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stored.Close(context.Background()) })
	return map[string]interface {
		engine.Ledger
		engine.Intents
		engine.Books
	}{"in memory": &inmem.Ledger{Max: 10_000}, "in Badger": stored}
}

func TestOverviewIsTheSumOfItsTurns(t *testing.T) {
	for name, books := range ledgers(t) {
		t.Run(name, func(t *testing.T) {
			market := storetest.NewMarket()
			r := rand.New(rand.NewPCG(20, 26))
			for n := range 1500 {
				turn := market.Turn(r, n, apiNow.Add(-time.Duration(r.Int64N(int64(5*time.Hour)))))
				if n%97 == 0 && len(turn.Plan.Candidates) > 0 {
					turn.Attempts = nil
					if err := books.Intend(t.Context(), &turn, turn.Plan.Candidates[0]); err != nil {
						t.Fatal(err)
					}
					continue
				}
				books.Record(turn)
			}
			if stored, ok := books.(*badgerstore.Ledger); ok {
				if err := stored.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			d := newDesk(t, routes.APIOptions{Books: books})
			for _, query := range []string{
				"", "tenant=t1", "tenant=t1%7C&width=minute", "model=deepseek/v4", "vendor=anthropic&width=hour", "outcome=promoted",
				"tenant=other+team&outcome=no_pin&model=anthropic/claude-sonnet-5", "range=1h", "range=90s", "range=7d&vendor=together",
				"from=2026-11-20T08:10:17Z&to=2026-11-20T10:00:00Z", "to=2026-11-20T10:00:00%2B01:00", "class=explicit", "tenant=nobody",
			} {
				var o plainOverview
				d.read("/api/v1/overview?"+query, &o)
				values, err := url.ParseQuery(query)
				if err != nil {
					t.Fatal(err)
				}
				model, vendor := values.Get("model"), values.Get("vendor")
				for _, name := range []string{"range", "width", "from", "to", "model", "vendor"} { // turns by vendor leave out those that it failed
					values.Del(name)
				}
				if o.From != nil {
					values.Set("from", o.From.Format(time.RFC3339Nano))
				}
				if o.To != nil {
					values.Set("to", o.To.Format(time.RFC3339Nano))
				}
				turns := d.allTurns(values)
				if query == "" && (len(turns) != 1500 || o.Total.Unsettled == 0 || o.Total.Coverage.CostKnown == 0) {
					t.Errorf("%d turns, of them %d unsettled", len(turns), o.Total.Unsettled)
				}
				compare(t, query, o, turns, model, vendor)
			}
		})
	}
}

// compare holds an overview against the turns it is of. Of these it has the
// attempts of the model and the vendor, and the turns that they were the last of;
// empty, every one.
func compare(t *testing.T, query string, o plainOverview, turns []plainTurn, model, vendor string) {
	t.Helper()
	var total pile
	outcomes, ways, slots := map[string]*pile{}, map[string]*pile{}, map[int64]*pile{}
	width := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[o.Width]
	if width == 0 {
		t.Fatalf("%q: width is %q", query, o.Width)
	}
	word := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	for i := range turns {
		turn := &turns[i]
		count := func(m, v string, add func(*pile)) {
			if model != "" && model != m || vendor != "" && vendor != v {
				return
			}
			add(&total)
			add(into(outcomes, word(turn.Outcome)))
			add(into(ways, m+" at "+v))
			add(into(slots, turn.Started.Truncate(width).Unix()))
		}
		count(word(turn.Model), word(turn.Vendor), func(p *pile) { p.end(turn) })
		for j := range turn.Attempts {
			a := &turn.Attempts[j]
			count(a.Model, a.Vendor, func(p *pile) { p.try(a) })
		}
	}
	total.agrees(t, query, o.Total)
	if len(o.Outcomes) != len(outcomes) || len(o.Routes) != len(ways) || len(o.Series) != len(slots) {
		t.Errorf("%q: %d outcomes, %d routes, %d slots; the turns have %d, %d, %d",
			query, len(o.Outcomes), len(o.Routes), len(o.Series), len(outcomes), len(ways), len(slots))
	}
	for _, s := range o.Outcomes {
		into(outcomes, word(s.Outcome)).agrees(t, query+" "+word(s.Outcome), s.plainSums)
	}
	for _, s := range o.Routes {
		into(ways, word(s.Model)+" at "+word(s.Vendor)).agrees(t, query+" "+word(s.Model)+" at "+word(s.Vendor), s.plainSums)
	}
	for _, s := range o.Series {
		into(slots, s.Start.Unix()).agrees(t, query+" "+s.Start.String(), s.plainSums)
	}
}

func TestSessionsAreTheSumOfTheirTurns(t *testing.T) {
	for name, books := range ledgers(t) {
		t.Run(name, func(t *testing.T) {
			market := storetest.NewMarket()
			r := rand.New(rand.NewPCG(3, 5))
			for n := range 600 {
				turn := market.Turn(r, n, apiNow.Add(-time.Duration(600-n)*time.Second))
				turn.Session.ID = strings.ReplaceAll(turn.Session.ID, "session-", "chats/..//ü?&#") // a path cannot carry it
				books.Record(turn)
			}
			if stored, ok := books.(*badgerstore.Ledger); ok {
				if err := stored.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			d := newDesk(t, routes.APIOptions{Books: books})
			type session struct {
				ID, Href string
				Turns    string `json:"turns_href"`
				Sums     plainSums
			}
			seen, after := 0, ""
			for {
				var page struct {
					Sessions []session
					Next     *string
				}
				d.read("/api/v1/sessions?tenant=t1&limit=7"+after, &page)
				for _, s := range page.Sessions {
					seen++
					var one struct{ Session session }
					d.read(s.Href, &one)
					if one.Session.ID != s.ID || one.Session.Href != s.Href || one.Session.Sums.Tokens != s.Sums.Tokens {
						t.Errorf("%s is not what the list says: %+v", s.Href, one.Session)
					}
					u, err := url.Parse(s.Turns)
					if err != nil {
						t.Fatal(err)
					}
					var p pile
					for _, turn := range d.allTurns(u.Query()) {
						p.add(&turn)
					}
					p.agrees(t, s.ID, s.Sums)
				}
				if page.Next == nil {
					break
				}
				after = "&after=" + *page.Next
			}
			if seen < 20 {
				t.Errorf("%d sessions, want more", seen)
			}
		})
	}
}

func TestSessionsAreFoundByPathAndByQuery(t *testing.T) {
	books := &inmem.Ledger{}
	c := shop(t)
	for tenant, ids := range map[string][]string{"default": {"a/b c", "plain"}, "acme": {"plain", "../x", ""}} {
		for i, id := range ids {
			turn := sold(c, 0)
			turn.ID, turn.Tenant = fmt.Sprint(tenant, "-", i), tenant
			turn.Session = engine.Session{Tenant: tenant, Class: engine.ClassExplicit, ID: id}
			books.Record(turn)
		}
	}
	d := newDesk(t, routes.APIOptions{Books: books})
	for _, c := range []struct {
		name, path string
		status     int
		says       string
	}{
		{"plain", "/api/v1/sessions/explicit/plain", 200, `"tenant":"default"`},
		{"another tenant's", "/api/v1/sessions/explicit/plain?tenant=acme", 200, `"tenant":"acme"`},
		{"a slash, escaped", "/api/v1/sessions/explicit/a%2Fb%20c", 200, `"id":"a/b c"`},
		{"a slash as it is", "/api/v1/sessions/explicit/a/b%20c", 200, `"id":"a/b c"`},
		{"in the query", "/api/v1/sessions/explicit?id=..%2Fx&tenant=acme", 200, `"id":"../x"`},
		{"one tenant's is not another's", "/api/v1/sessions/explicit/a%2Fb%20c?tenant=acme", 404, "This tenant has no session"},
		{"another class", "/api/v1/sessions/agent/plain", 404, "This tenant has no session"},
		{"no class", "/api/v1/sessions/loud/plain", 400, "explicit, cache_key, agent, chain, fingerprint"},
		{"no id", "/api/v1/sessions/explicit", 400, "The id is missing"},
		{"two ids", "/api/v1/sessions/explicit/plain?id=x", 400, "no parameter \\\"id\\\" here; there are tenant"},
		{"a turn", "/api/v1/turns/default-1", 200, `"tenant":"default"`},
		{"a turn of another tenant", "/api/v1/turns/default-1?tenant=acme", 404, "This tenant has no turn"},
		{"a turn without a session", "/api/v1/turns/acme-2?tenant=acme", 200, `"session":null`},
	} {
		if status, _, body := d.get(c.path); status != c.status || !strings.Contains(string(body), c.says) {
			t.Errorf("%s: %d %s, want %d and %s", c.name, status, body, c.status, c.says)
		}
	}
}

func TestTurnInJSON(t *testing.T) {
	books := &inmem.Ledger{}
	c := shop(t)
	turn := sold(c, 0)
	turn.Started = apiNow.Add(-time.Hour)
	turn.Plan.Candidates = []engine.Candidate{{Route: c.Models[0].Routes[1], Down: true}, {Route: c.Models[0].Routes[0], Group: engine.GroupClient}}
	turn.Decision.Models[0].Pinned, turn.Decision.Models[0].Displaced = "pier", "reef"
	turn.Decision.Models[0].Prompt = engine.Estimate{Tokens: 4300, Basis: engine.BasisReported}
	turn.Attempts[0].Started = turn.Started
	turn.Attempts = append([]engine.Attempt{{Candidate: engine.Candidate{Route: c.Models[0].Routes[1]}, Failure: engine.FailureConnect, Started: turn.Started}}, turn.Attempts...)
	books.Record(turn)
	d := newDesk(t, routes.APIOptions{Books: books, Catalog: func() *catalog.Catalog { return c }})
	status, header, body := d.get("/api/v1/turns/t?tenant=acme")
	const want = `{"currency":"USD","turn":{"id":"t","href":"/api/v1/turns/t?tenant=acme","state":"settled","tenant":"acme","client":null,"api":"chat","stream":true,` +
		`"session":{"class":"cache_key","id":"secret-session","source":"explicit","parent":null,"href":"/api/v1/sessions/cache_key?id=secret-session&tenant=acme"},` +
		`"target":"","scope":null,"catalog":"","started":"2026-11-20T11:00:30Z","took_ms":2000,"model":"m","vendor":"pier","outcome":"promoted","detail":null,"pinned":"pier","displaced":"reef",` +
		`"gate":null,"prompt":{"tokens":4300,"basis":"reported+new_text"},` +
		`"order":[{"model":"m","vendor":"reef","credential":null,"group":"operator","down":true},{"model":"m","vendor":"pier","credential":null,"group":"client","down":false}],` +
		`"attempts":[{"model":"m","vendor":"reef","credential":null,"group":"operator","stage":"refused","failure":"connect","status":null,"started":"2026-11-20T11:00:30Z","billed":false,` +
		`"first_byte_ms":null,"took_ms":0,"usage_quality":"missing","tokens":null,"price":null,"cost":null,"prompt_cost":null,"net_cache_saving":null,"served_model":null,"served_tier":null,"markers_cut":0,"read_unknown":false,"tier_assumed":false,"priced_as":null,"speed":null,"region":null,"sides":[],"vendor_charged":null,"charged_over_cost":null,"raw_usage":null},` +
		`{"model":"m","vendor":"pier","credential":null,"group":"operator","stage":"served","failure":null,"status":200,"started":"2026-11-20T11:00:30Z","billed":true,` +
		`"first_byte_ms":40,"took_ms":0,"usage_quality":"authoritative","tokens":{"prompt":4300,"uncached":204,"cache_read":4096,"cache_write_5m":0,"cache_write_1h":0,"output":220,"reasoning":0},` +
		`"price":{"input":"2.5","output":"10","cache_read":"0.25","cache_write_5m":null,"cache_write_1h":null,"request":null},` +
		`"cost":{"total":"0.003734","uncached":"0.00051","cache_read":"0.001024","cache_write_5m":"0","cache_write_1h":"0","output":"0.0022","request":"0","no_cache_price":false},` +
		`"prompt_cost":"0.001534","net_cache_saving":"0.009216","served_model":null,"served_tier":null,"markers_cut":0,"read_unknown":false,"tier_assumed":false,"priced_as":null,"speed":null,"region":null,"sides":[],"vendor_charged":null,"charged_over_cost":null,"raw_usage":null}],` +
		`"sums":{"turns":1,"unsettled":0,"failed":0,"attempts":2,"hits":1,"tokens":{"prompt":4300,"uncached":204,"cache_read":4096,"cache_write_5m":0,"cache_write_1h":0,"output":220,"reasoning":0},` +
		`"token_hit_rate":"0.952558","cost":"0.003734","net_cache_saving":"0.009216","effective_input":"0.356744","vendor_charged":null,"coverage":{"billed":1,"usage_known":1,"cost_known":1,"net_cache_saving_known":1,"no_cache_price":0,"read_unknown":0}},"affinity":null}}` + "\n"
	if status != 200 || string(body) != want {
		t.Errorf("%d\n%s\nwant\n%s", status, body, want)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Cache-Control": "no-store", "Access-Control-Allow-Origin": "",
	} {
		if header.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, header.Get(name), want)
		}
	}
}

func TestUnknownMoneyIsNullWithItsCountsBeside(t *testing.T) {
	books := &inmem.Ledger{}
	books.Record(sold(shop(t), 1)) // reef has no output price
	d := newDesk(t, routes.APIOptions{Books: books})
	var o plainOverview
	d.read("/api/v1/overview", &o)
	if o.Total.Cost != nil || o.Total.Saving != nil || o.Total.Coverage.Billed != 1 || o.Total.Coverage.UsageKnown != 1 || o.Total.Coverage.CostKnown != 0 {
		t.Errorf("%+v", o.Total)
	}
	var none plainOverview
	d.read("/api/v1/overview?tenant=nobody", &none)
	if none.Total.Cost == nil || *none.Total.Cost != "0" || none.Total.Rate != nil {
		t.Errorf("nothing at all: %+v", none.Total)
	}
}

func TestAPIRefusesWhatItDoesNotKnow(t *testing.T) {
	d := newDesk(t, routes.APIOptions{Books: &inmem.Ledger{}, Pins: inmemPins(nil)})
	for _, c := range []struct {
		path   string
		status int
		says   string
	}{
		{"/api/v1/overview?colour=red", 400, `no parameter \"colour\" here; there are range, from, to, tenant, model, vendor, class, session, outcome, width, zone, format, of`},
		{"/api/v1/overview?zone=Mars/Olympus", 400, "IANA"},
		{"/api/v1/overview?zone=Local", 400, "IANA"},
		{"/api/v1/overview?zone=..%2F..%2Fetc%2Fpasswd", 400, "IANA"},
		{"/api/v1/overview?of=routes", 400, "format=csv"},
		{"/api/v1/overview?format=csv&of=turns", 400, "series, routes, outcomes"},
		{"/api/v1/turns?format=xml", 400, "json, csv"},
		{"/api/v1/turns?format=csv&limit=100001", 400, "1 to 100000"},
		{"/api/v1/turns?limit=1&limit=2", 400, "Limit is given twice"},
		{"/api/v1/turns?limit=0", 400, "1 to 1000"},
		{"/api/v1/turns?limit=1001", 400, "1 to 1000"},
		{"/api/v1/turns?after=%2F", 400, "does not follow"},
		{"/api/v1/turns?range=soon", 400, "24h"},
		{"/api/v1/turns?range=-1h", 400, "24h"},
		{"/api/v1/turns?range=0d", 400, "24h"},
		{"/api/v1/turns?range=99999999999999h", 400, "24h"},
		{"/api/v1/turns?range=1h&from=2026-11-20T00:00:00Z", 400, "beside"},
		{"/api/v1/overview?to=9999-12-31T23:59:59Z", 400, "1700 to 2200"},
		{"/api/v1/turns?from=0000-01-01T00:00:00Z", 400, "1700 to 2200"},
		{"/api/v1/turns?from=yesterday", 400, "From must be a time"},
		{"/api/v1/turns?from=2026-11-20T00:00:00Z&to=2026-11-20T00:00:00Z", 400, "before to"},
		{"/api/v1/turns?outcome=luck", 400, "skipped_mode_off, store_unavailable"},
		{"/api/v1/turns?class=loud", 400, "explicit, cache_key"},
		{"/api/v1/overview?width=week", 400, "minute, hour or day"},
		{"/api/v1/sessions?outcome=promoted", 400, "no parameter"},
		{"/api/v1/turns?tenant=%zz", 400, "not well formed"},
		{"/api/v1/turns/x?limit=1", 400, "there are tenant"},
		{"/api/v1/pins?outcome=promoted", 400, "there are tenant, class, session"},
		{"/api/v1/pins?after=AAAA", 400, "does not follow"},
		{"/api/v2/turns", 404, "/api/v1/overview"},
		{"/api/v1/", 404, "/api/v1/overview"},
	} {
		status, header, body := d.get(c.path)
		if status != c.status || !strings.Contains(string(body), c.says) {
			t.Errorf("%s: %d %s, want %d and %s", c.path, status, body, c.status, c.says)
		}
		var problem struct {
			Type, Title, Detail string
			Status              int
		}
		if err := json.Unmarshal(body, &problem); err != nil || problem.Status != c.status || problem.Title == "" || problem.Type == "" ||
			header.Get("Content-Type") != "application/problem+json" || header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: not a problem: %v %v %s", c.path, err, header, body)
		}
	}
	response, err := http.Post(d.url+"/api/v1/turns", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("POST: %d %v", response.StatusCode, response.Header)
	}
}

// lost are books that cannot be read.
type lost struct{ engine.Books }

func (lost) Overview(context.Context, engine.Query, time.Duration) (engine.Overview, error) {
	return engine.Overview{}, errors.New("the disk says " + storetest.Secret)
}

func (lost) Turns(context.Context, engine.Query, engine.Page) ([]engine.Booked, string, error) {
	return nil, "", fmt.Errorf("list turns: %w", context.DeadlineExceeded)
}

func TestBooksThatCannotBeRead(t *testing.T) {
	d := newDesk(t, routes.APIOptions{Books: lost{}})
	if status, _, body := d.get("/api/v1/overview"); status != 500 || strings.Contains(string(body), storetest.Secret) {
		t.Errorf("%d %s", status, body)
	}
	if status, _, body := d.get("/api/v1/turns"); status != 504 {
		t.Errorf("%d %s", status, body)
	}
	if status, _, _ := d.get("/api/v1/pins"); status != 404 {
		t.Errorf("pins without pins: %d", status)
	}
}
