package vendorsim

import (
	"net/http"
	"strings"
	"testing"
)

func TestMarkersOnBlocksThatMayHaveNone(t *testing.T) {
	body := func(tools, block string) string {
		return `{"model":"m","max_tokens":9,"tools":[` + tools + `],"messages":[{"role":"user","content":[` + block + `]}]}`
	}
	const tool = `{"name":"weigh","input_schema":{}`
	for _, c := range []struct{ name, body, says string }{
		{"empty text", body("", `{"type":"text","text":""`+mark("")+`}`), "empty text blocks"},
		{"white space", body("", `{"type":"text","text":" \n"`+mark("")+`}`), "empty text blocks"},
		{"thinking", body("", `{"type":"thinking","thinking":"hm"`+mark("")+`},{"type":"text","text":"go"}`), "Extra inputs"},
		{"a tool that is loaded later", body(tool+`,"defer_loading":true`+mark("")+`}`, `{"type":"text","text":"go"}`), "defer_loading"},
		{"a fifth", body(tool+mark("")+`}`, strings.Repeat(`{"type":"text","text":"a"`+mark("")+`},`, 3)+`{"type":"text","text":"go"`+mark("")+`}`), "maximum of 4"},
		{"an hour behind five minutes", body(tool+mark("5m")+`}`, `{"type":"text","text":"go"`+mark("1h")+`}`), "must not come after"},
		{"another lifetime at the top", `{"cache_control":{"type":"ephemeral","ttl":"1h"},` + body("", `{"type":"text","text":"go"`+mark("5m")+`}`)[1:], "another ttl"},
		{"no lifetime there is", body("", `{"type":"text","text":"go"`+mark("30m")+`}`), "'5m' or '1h'"},
	} {
		b := start(t, Config{Cache: anthropicCache})
		if r := b.post(messagesPath, "k1", c.body); r.status != http.StatusBadRequest || !strings.Contains(string(r.body), c.says) {
			t.Errorf("%s: %d %s", c.name, r.status, r.body)
		}
	}
	b := start(t, Config{Cache: anthropicCache})
	for name, text := range map[string]string{
		"a tool that is not":               body(tool+`,"defer_loading":false`+mark("")+`}`, `{"type":"text","text":"go"}`),
		"empty text that is not marked":    body("", `{"type":"text","text":""},{"type":"text","text":"go"`+mark("")+`}`),
		"the same at the top and below it": `{"cache_control":{"type":"ephemeral"},` + body("", `{"type":"text","text":"go"`+mark("")+`}`)[1:],
		"four and a top that is the last": `{"cache_control":{"type":"ephemeral"},` + body(tool+mark("")+`}`,
			strings.Repeat(`{"type":"text","text":"a"`+mark("")+`},`, 2)+`{"type":"text","text":"go"`+mark("")+`}`)[1:],
	} {
		if r := b.post(messagesPath, "k1", text); r.status != http.StatusOK {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
}

func TestAMarkerAtTheTopPassesOverWhatMayHaveNone(t *testing.T) {
	b := start(t, Config{Cache: anthropicCache})
	body := `{"model":"m","max_tokens":9,"cache_control":{"type":"ephemeral"},"messages":[{"role":"user","content":[` +
		textBlock(words("rules", 1500), "") + `,` + textBlock("", "") + `]}]}`
	if u := b.ok(messagesPath, "k1", body).usage(t); u.Creation != 1500 {
		t.Fatalf("first: %+v", u)
	}
	if u := b.ok(messagesPath, "k1", body).usage(t); u.Read != 1500 {
		t.Fatalf("second: %+v", u)
	}
}

func TestAVendorThatKnowsNoMarkersRefusesThem(t *testing.T) {
	b := start(t, Config{Refuses: []string{"cache_control"}})
	marked := `{"model":"m","messages":[{"role":"user","content":[` + textBlock("go", mark("")) + `]}]}`
	if r := b.post(chatPath, "k1", marked); r.status != http.StatusBadRequest {
		t.Errorf("marked: %d", r.status)
	}
	if r := b.post(chatPath, "k1", strings.Replace(marked, mark(""), "", 1)); r.status != http.StatusOK {
		t.Errorf("not marked: %d %s", r.status, r.body)
	}
}
