package routes_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/routes/wire"
)

// While a stream lasts, other requests come and go: what the books say of its prompt is
// what its client sent, not what has taken its place in memory.
func TestABodyIsTheSameAtTheEndOfItsStream(t *testing.T) {
	const streams, others = 4, 40
	goOn := make(chan struct{})
	vendor := &script{answer: func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept"), "event-stream") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, jsonAnswer)
			return
		}
		const chunk = `data: {"id":"slow-tide","object":"chat.completion.chunk","created":1,"model":"barge-7","choices":[{"index":0,"delta":{"content":"The tide"},"finish_reason":%s}]}` + "\n\n"
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, chunk, "null")
		_ = http.NewResponseController(w).Flush()
		<-goOn
		_, _ = fmt.Fprintf(w, chunk+"data: [DONE]\n\n", `"stop"`)
	}}
	r := newRig(t, nil, stop{name: "pier", serve: vendor})
	r.gateway.Prefixes = true
	body := func(who int) string {
		var said strings.Builder
		for i := range 40 {
			fmt.Fprintf(&said, `{"role":"user","content":"client %d, line %d, %s"},`, who, i, strings.Repeat("ebb and flow ", 4+who%5))
		}
		return fmt.Sprintf(`{"model":"m","stream":%t,"messages":[%s{"role":"user","content":"go on"}]}`, who < streams, said.String())
	}
	var open []*http.Response
	for who := range streams {
		request, err := http.NewRequest(http.MethodPost, r.url+paths["chat"], strings.NewReader(body(who)))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-Session-Id", fmt.Sprint("lasting-", who))
		response, err := r.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if _, err := response.Body.Read(make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
		open = append(open, response)
	}
	for who := range others {
		r.post("chat", body(streams+who), "x-session-id", fmt.Sprint("lasting-", streams+who))
	}
	close(goOn)
	for _, response := range open {
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Error(err)
		}
	}
	for _, turn := range r.turns(streams + others) {
		var who int
		if _, err := fmt.Sscanf(turn.Session.ID, "lasting-%d", &who); err != nil {
			t.Fatal(err)
		}
		request, err := wire.ReadRequest(catalog.Chat, []byte(body(who)))
		if err != nil {
			t.Fatal(err)
		}
		facts := request.Facts()
		if want := facts.Prefix(); len(want) < 40 || !slices.Equal(turn.Asked.Prefix, want) {
			t.Errorf("client %d: the books have other boundaries than its prompt", who)
		}
	}
}
