package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/routes/vendorsim"
)

// play plays a scenario with one API; api counts where a request says turn.
func (s *scenario) play(t *testing.T, api string) {
	w := newWorld(t, s)
	if len(w.config.Tenants) > 0 {
		w.tenant = tenantStep{id: w.config.Tenants[0].ID}
	}
	for i := range s.Steps {
		if err := w.step(t, &s.Steps[i], api); err != nil {
			t.Fatalf("%s.txt: %v", s.File, err)
		}
	}
}

// step makes one step. An error means that the scenario cannot go on.
func (w *world) step(t *testing.T, st *step, api string) error {
	switch {
	case st.at != nil:
		w.now.Store(int64(*st.at))
	case st.tenant != nil:
		w.tenant = *st.tenant
	case st.fault != nil:
		var fault vendorsim.Fault
		d := json.NewDecoder(strings.NewReader(st.fault.text))
		d.DisallowUnknownFields()
		if err := d.Decode(&fault); err != nil {
			return mistake(st.line, "the fault: %v", err)
		}
		return w.do(st.line, st.fault, fault)
	case st.answer != nil:
		if !json.Valid([]byte(st.answer.text)) {
			return mistake(st.line, "the answer is not JSON")
		}
		return w.do(st.line, st.answer, vendorsim.Fault{RawBody: st.answer.text, ContentType: "application/json"})
	case st.catalog != "":
		if err := w.load(t, st.catalog); err != nil {
			return mistake(st.line, "catalog: %v", err)
		}
	case st.store != "":
		w.stalled.Store(st.store == "stalled")
	case st.let != nil:
		text, err := w.expand(st.line, st.let.value, true)
		if err != nil {
			return err
		}
		if w.lets == nil {
			w.lets = map[string]string{}
		}
		w.lets[st.let.name] = text
	case st.request != nil:
		return w.ask(t, st.request, api)
	}
	return nil
}

// ask sends a request and looks at what comes of it.
func (w *world) ask(t *testing.T, r *requestStep, api string) error {
	if r.api != "turn" && r.api != "" {
		api = r.api
	}
	body, err := r.bodyOf(api, w)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, r.method, w.url+r.pathOf(api), bytes.NewReader(body))
	if err != nil {
		return mistake(r.line, "%v", err)
	}
	if len(body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	if api == "messages" {
		request.Header.Set("Anthropic-Version", "2023-06-01")
	}
	if len(w.config.Tenants) > 0 {
		key, err := w.key(r.line)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+key)
	}
	for _, h := range r.headers {
		value, err := w.expand(h.line, h.value, false)
		if err != nil {
			return err
		}
		request.Header.Add(h.name, value)
	}
	var leave func()
	if r.left {
		leave = cancel
	}
	a, err := w.send(request, leave)
	if err != nil {
		return mistake(r.line, "no answer: %v", err)
	}
	a.asked = body
	a.read()
	w.answers = append(w.answers, a)
	if a.status != r.status {
		return mistake(r.line, "status %d, want %d: %s", a.status, r.status, short(a.body))
	}
	if a.broken != r.cut && !r.left {
		return mistake(r.line, "the answer broke off: %v, want %v", a.broken, r.cut)
	}
	for _, e := range r.expect {
		if problem := w.check(a, e); problem != "" {
			t.Errorf("line %d: %s %s: %s", e.line, e.word, e.rest, problem)
		}
	}
	if t.Failed() {
		t.Logf("line %d: answer %v\n%s", r.line, a.header, short(a.body))
	}
	return nil
}

// key is the key of the tenant whose turn it is: its first, or one that is named.
func (w *world) key(line int) (string, error) {
	for _, tenant := range w.config.Tenants {
		if tenant.ID != w.tenant.id {
			continue
		}
		for _, key := range tenant.Keys {
			if w.tenant.key == "" || key.Env == w.tenant.key {
				text, _ := clientKey(key.Env)
				return text, nil
			}
		}
		return "", mistake(line, "tenant %s has no key %s", tenant.ID, w.tenant.key)
	}
	return "", mistake(line, "there is no tenant %s", w.tenant.id)
}

// send sends a request and waits until gateway and vendors are done with it. leave
// is called once the answer has begun; nil: the client stays.
func (w *world) send(request *http.Request, leave func()) (*answer, error) {
	w.mu.Lock()
	w.hits = nil
	w.mu.Unlock()
	response, err := w.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var begun [1]byte
	n, _ := io.ReadFull(response.Body, begun[:]) // what is wrong with it the rest shows
	if leave != nil {
		leave()
	}
	body, err := io.ReadAll(response.Body)
	body = append(begun[:n:n], body...)
	<-w.served
	w.busy.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return &answer{status: response.StatusCode, header: response.Header, body: body, broken: err != nil, hits: w.hits}, nil
}

// short is as much of a body as is worth printing.
func short(body []byte) string {
	const most = 2000
	if len(body) > most {
		return string(body[:most]) + "…"
	}
	return string(body)
}
