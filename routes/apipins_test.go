package routes_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/routes"
)

// inmemPins are records in no order.
func inmemPins(records map[engine.PinKey]engine.Record) func(context.Context, func(engine.PinKey, engine.Record) bool) error {
	return func(_ context.Context, each func(engine.PinKey, engine.Record) bool) error {
		for key, record := range maps.All(records) {
			if !each(key, record) {
				break
			}
		}
		return nil
	}
}

// remembered is a record of one model at these vendors, the first accepted last.
func remembered(model string, vendors ...string) engine.Record {
	var r engine.Record
	for i, v := range vendors {
		at := apiNow.Add(-time.Duration(i) * 4 * time.Minute)
		r = r.Keep(model, engine.Entry{Vendor: v, Turn: uint64(i + 1), AcceptedAt: at, ExpiresAt: at.Add(285 * time.Second)})
	}
	return r
}

func TestPinsInPages(t *testing.T) {
	records := map[engine.PinKey]engine.Record{}
	for i := range 50 {
		records[engine.PinKey{Tenant: []string{"a", "bb"}[i%2], Class: engine.ClassExplicit, ID: fmt.Sprintf("s/%02d", i)}] = remembered("m", "pier")
	}
	d := newDesk(t, routes.APIOptions{Books: &inmem.Ledger{}, Pins: inmemPins(records)})
	type page struct {
		Pins []struct {
			Tenant  string
			Session struct{ ID, Href string }
		}
		Next *string
	}
	var ids []string
	path := "/api/v1/pins?limit=7"
	for after := ""; ; {
		var p page
		d.read(path+after, &p)
		for _, pin := range p.Pins {
			ids = append(ids, pin.Tenant+" "+pin.Session.ID)
		}
		if p.Next == nil {
			break
		}
		after = "&after=" + *p.Next
	}
	if len(ids) != 50 || ids[0] != "a s/00" || ids[24] != "a s/48" || ids[25] != "bb s/01" || ids[49] != "bb s/49" {
		t.Errorf("%d records: %v", len(ids), ids)
	}
	var one page
	d.read("/api/v1/pins?tenant=bb&session=s/03", &one)
	if len(one.Pins) != 1 || one.Pins[0].Session.Href != "/api/v1/sessions/explicit?id=s%2F03&tenant=bb" {
		t.Errorf("%+v", one)
	}
	d.read("/api/v1/pins?tenant=a&session=s/03", &one)
	if len(one.Pins) != 0 {
		t.Errorf("another tenant sees %+v", one)
	}
}

func TestPinInJSON(t *testing.T) {
	record := remembered("m", "pier", "reef")
	e := record.For("m")[0]
	e.Credential, e.Group, e.Reported, e.Prompt, e.Read = "main", engine.GroupClient, true, 4520, 4096
	record = record.Keep("m", e)
	d := newDesk(t, routes.APIOptions{Books: &inmem.Ledger{}, Pins: inmemPins(map[engine.PinKey]engine.Record{
		{Tenant: "acme", Class: engine.ClassAgent, ID: "x", Scope: "support-bot"}: record,
	})})
	_, _, body := d.get("/api/v1/pins?model=m&vendor=reef&class=agent")
	const want = `{"pins":[{"tenant":"acme","session":{"class":"agent","id":"x","source":"agent","parent":null,"href":"/api/v1/sessions/agent?id=x&tenant=acme"},"scope":"support-bot",` +
		`"models":[{"model":"m","entries":[` +
		`{"vendor":"pier","credential":"main","group":"client","accepted":"2026-11-20T12:00:30Z","expires":"2026-11-20T12:05:15Z","warm":true,"prompt_tokens":4520,"cache_read":4096,"cache_write":0,"silent_turns":0},` +
		`{"vendor":"reef","credential":null,"group":"operator","accepted":"2026-11-20T11:56:30Z","expires":"2026-11-20T12:01:15Z","warm":true,"prompt_tokens":null,"cache_read":null,"cache_write":null,"silent_turns":0}` +
		`]}]}],"next":null}` + "\n"
	if string(body) != want {
		t.Errorf("%s\nwant\n%s", body, want)
	}
	if _, _, body = d.get("/api/v1/pins?model=m&vendor=cove"); !strings.Contains(string(body), `"pins":[]`) {
		t.Errorf("%s", body)
	}
}

func TestPinsThatCannotBeRead(t *testing.T) {
	d := newDesk(t, routes.APIOptions{Books: &inmem.Ledger{}, Pins: func(context.Context, func(engine.PinKey, engine.Record) bool) error {
		return errors.New("broken")
	}})
	if status, _, body := d.get("/api/v1/pins"); status != 500 || strings.Contains(string(body), "broken") {
		t.Errorf("%d %s", status, body)
	}
}

// Who made a response that may be continued is remembered beside the pins, and is
// no pin: it is listed under no filter.
func TestWhoMadeAResponseIsNoPin(t *testing.T) {
	session := engine.PinKey{Tenant: "acme", Class: engine.ClassExplicit, ID: "x"}
	d := newDesk(t, routes.APIOptions{Books: &inmem.Ledger{}, Pins: inmemPins(map[engine.PinKey]engine.Record{
		session:                            remembered("m", "pier"),
		engine.OriginKey("acme", "resp_1"): remembered("m", "pier"),
	})})
	for _, filter := range []string{"", "?model=m", "?vendor=pier", "?tenant=acme", "?session=resp_1"} {
		_, _, body := d.get("/api/v1/pins" + filter)
		if text := string(body); strings.Contains(text, "resp_1") || strings.Contains(text, "origin") || strings.Contains(text, `"id":"x"`) != (filter != "?session=resp_1") {
			t.Errorf("%s: %s", filter, text)
		}
	}
}
