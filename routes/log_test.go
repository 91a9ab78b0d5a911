package routes_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

// countedLog counts what is logged.
type countedLog struct {
	slog.Handler
	records *atomic.Int64
}

func (l countedLog) Handle(ctx context.Context, r slog.Record) error {
	l.records.Add(1)
	return l.Handler.Handle(ctx, r)
}

// Whoever reads the log at a terminal is not moved by what a client or a vendor
// wrote, nor shown a record that was never logged.
func TestControlCharactersAreEscapedInTheLog(t *testing.T) {
	const evil = "boat\x1b[2J\x1b]0;owned\x07\nlevel=ERROR msg=forged \u009b31m\r\x00\x7f"
	text, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	quoted := string(text)
	for name, handler := range map[string]func(io.Writer, *slog.HandlerOptions) slog.Handler{
		"json": func(w io.Writer, o *slog.HandlerOptions) slog.Handler { return slog.NewJSONHandler(w, o) },
		"text": func(w io.Writer, o *slog.HandlerOptions) slog.Handler { return slog.NewTextHandler(w, o) },
	} {
		t.Run(name, func(t *testing.T) {
			var (
				records atomic.Int64
				edge    http.Handler
				log     lockedBuffer
			)
			newRig(t, func(o *routes.Options) {
				o.Log = slog.New(countedLog{handler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}), &records})
				edge = routes.New(*o) // called without a connection, which would not carry these headers
			}, stop{name: "pier", serve: &script{status: 500, text: `{"error":{"type":` + quoted + `,"message":` + quoted + `}}`}},
				stop{name: "quay", serve: &script{text: `{"error":{"type":` + quoted + `,"message":` + quoted + `}}`}},
				stop{name: "reef", serve: &script{text: jsonAnswer}})
			ask := func(method, path, body string) int {
				r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
				r.Method, r.URL.Path = method, path
				r.Header = http.Header{"Content-Type": {"application/json"}, "X-Warmroute-Client": {evil}, "X-Session-Id": {evil}, "X-Own-Session-Id": {evil}}
				w := httptest.NewRecorder()
				edge.ServeHTTP(w, r)
				return w.Code
			}
			const messages = `,"messages":[{"role":"user","content":"hi"}]}`
			for _, c := range []struct {
				name, method, path, body string
				want                     int
			}{
				{"session", "POST", "/v1/chat/completions", `{"model":"m","session_id":` + quoted + `,"prompt_cache_key":` + quoted + messages, 200},
				{"session by header", "POST", "/v1/chat/completions", `{"model":"m"` + messages, 200},
				{"model", "POST", "/v1/chat/completions", `{"model":` + quoted + messages, 404},
				{"body", "POST", "/v1/chat/completions", evil, 400},
				{"path", "POST", "/v1/" + evil, "", 404},
				{"model in a path", "GET", "/v1/models/" + evil, "", 404},
				{"method", evil, "/v1/models", "", 405},
			} {
				before := records.Load()
				if got := ask(c.method, c.path, c.body); got != c.want {
					t.Errorf("%s: status %d, want %d", c.name, got, c.want)
				}
				if records.Load() == before {
					t.Errorf("%s: nothing is logged", c.name)
				}
			}
			written := log.String()
			if lines := int64(strings.Count(written, "\n")); lines != records.Load() || !strings.HasSuffix(written, "\n") {
				t.Errorf("%d lines for %d records:\n%q", lines, records.Load(), written)
			}
			if i := strings.IndexFunc(strings.ReplaceAll(written, "\n", ""), unicode.IsControl); i >= 0 {
				t.Errorf("a control character is in the log:\n%q", written)
			}
		})
	}
}

// The line of a turn says how far its last attempt came, a refused one too; a
// request that nobody was asked for has no stage.
func TestTheLogSaysTheStageOfTheLastAttempt(t *testing.T) {
	for _, c := range []struct {
		name  string
		model string
		fault vendorsim.Fault
		want  string
	}{
		{"served", "m", vendorsim.Fault{}, `"stage":"served"`},
		{"refused", "m", vendorsim.Fault{Status: 429}, `"stage":"refused"`},
		{"broken", "m", vendorsim.Fault{ErrorEventFirst: true}, `"stage":"broken"`},
		{"nobody was asked", "n", vendorsim.Fault{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil, stop{name: "pier", serve: sim(t, "pier", catalog.Chat, c.fault)})
			r.post("chat", `{"model":"`+c.model+`","messages":[{"role":"user","content":"hi"}]}`)
			r.settled()
			var line string
			for text := range strings.Lines(r.log.String()) {
				if strings.Contains(text, `"msg":"request"`) {
					line += text
				}
			}
			if !strings.Contains(line, c.want) || c.want == "" && strings.Contains(line, `"stage"`) {
				t.Errorf("want %s in %s", c.want, line)
			}
		})
	}
}
