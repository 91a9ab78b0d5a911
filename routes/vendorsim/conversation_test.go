package vendorsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

// A stored answer is continued by its id: the earlier conversation is part of the
// prompt, and of the prefix that the cache holds.
func TestAnAnswerIsContinuedByItsID(t *testing.T) {
	b := start(t, Config{Cache: Cache{Family: catalog.Implicit}, Keys: []string{"red", "blue"}})
	first := strings.Repeat("a long story. ", 600) // 8,400 bytes, 2,100 tokens
	ask := func(key, body string) (r response) {
		t.Helper()
		got := b.ok("/v1/responses", key, body)
		if err := json.Unmarshal(got.body, &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	one := ask("red", fmt.Sprintf(`{"model":"m","instructions":"In short.","input":%q}`, first))
	two := ask("red", fmt.Sprintf(`{"model":"m","instructions":"In short.","input":"Go on.","previous_response_id":%q}`, one.ID))
	answered := len(saidIn(one))
	want := tokens(int64(len("In short.") + len(first) + answered + len("Go on.")))
	if !two.Store || two.PreviousID == nil || *two.PreviousID != one.ID || two.Usage.InputTokens != want || two.Usage.InputDetails.CachedTokens != 2048 {
		t.Errorf("continued: store %v, previous %v, usage %+v; want %d tokens, 2048 of them cached", two.Store, two.PreviousID, two.Usage, want)
	}
	whole := ask("red", fmt.Sprintf(`{"model":"m","instructions":"In short.","store":false,"input":[{"role":"user","content":%q},{"role":"assistant","content":[{"type":"output_text","text":%q}]},{"role":"user","content":"Go on."}]}`,
		first, saidIn(one)))
	if whole.Store || whole.Usage.InputTokens != want || saidIn(whole) != saidIn(two) {
		t.Errorf("sent whole it is another conversation: %+v and %+v", whole, two)
	}
	for name, c := range map[string]struct{ key, id string }{
		"another account's": {"blue", one.ID},
		"not stored":        {"red", whole.ID},
		"never given":       {"red", "resp_elsewhere"},
	} {
		got := b.post("/v1/responses", c.key, fmt.Sprintf(`{"model":"m","input":"Go on.","previous_response_id":%q}`, c.id))
		if got.status != http.StatusBadRequest || !strings.Contains(string(got.body), "previous_response_not_found") {
			t.Errorf("%s: status %d, %s", name, got.status, got.body)
		}
	}
	b.Reset()
	if got := b.post("/v1/responses", "red", fmt.Sprintf(`{"model":"m","input":"Go on.","previous_response_id":%q}`, one.ID)); got.status != http.StatusBadRequest {
		t.Errorf("after a reset: status %d", got.status)
	}
}

func TestTheOldestAnswersGoFirst(t *testing.T) {
	v := New(Config{API: []catalog.API{catalog.Responses}})
	p := &prompt{api: catalog.Responses}
	for i := range maxResponses + 2 {
		v.keep("none", &answer{p: p, id: fmt.Sprint(i)})
	}
	if n := len(v.conversations.kept); n != maxResponses {
		t.Errorf("%d are kept", n)
	}
	for id, kept := range map[string]bool{"resp_1": false, "resp_2": true} {
		if err := v.resume("none", &prompt{previous: id}); (err == nil) != kept {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// saidIn is the text of an answer's first item.
func saidIn(r response) string {
	var item responseItem
	if err := json.Unmarshal(encode(r.Output[0]), &item); err != nil || len(item.Content) == 0 {
		return ""
	}
	return item.Content[0].Text
}
