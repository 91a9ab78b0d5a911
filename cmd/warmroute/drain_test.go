package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slow is a vendor whose stream goes on until it is told to end.
func slow(t *testing.T) (address string, end chan struct{}) {
	t.Helper()
	end = make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		chunk := func(delta, finish string) {
			fmt.Fprintf(w, "data: {\"id\":\"s\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"charts\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, finish)
			_ = http.NewResponseController(w).Flush()
		}
		chunk(`{"content":"first"}`, "null")
		select {
		case <-end:
		case <-r.Context().Done():
			return
		}
		chunk(`{"content":" and last"}`, "null")
		chunk(`{}`, `"stop"`)
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	return server.URL, end
}

// begin starts a streamed turn and returns once its first event is here.
func (p *process) begin(t *testing.T) (rest *bufio.Reader) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.gateway+"/v1/chat/completions",
		strings.NewReader(`{"model":"sea/charts","stream":true,"messages":[{"role":"user","content":"Which wood floats?"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("content-type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	rest = bufio.NewReader(response.Body)
	if line, err := rest.ReadString('\n'); err != nil || !strings.Contains(line, "first") {
		t.Fatalf("the stream begins with %q (%v)", line, err)
	}
	return rest
}

func TestRunningTurnsEndBeforeTheGatewayDoes(t *testing.T) {
	vendor, end := slow(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	twoVendors(t, path, vendor, vendor, "", "5m")
	p := start(t, "serve", "--catalog", path, "--data", filepath.Join(dir, "data"))
	rest := p.begin(t)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.until(t, "it says that it is draining", func(r ready) bool { return !r.Ready && r.Reason == "draining" })
	close(end)
	text, err := io.ReadAll(rest)
	if err != nil || !strings.Contains(string(text), "and last") || !strings.HasSuffix(string(text), "data: [DONE]\n\n") {
		t.Errorf("the turn ended with %q (%v)", text, err)
	}
	select {
	case err := <-p.done:
		if err != nil {
			t.Errorf("it ended with %v:\n%s", err, p.logs)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it still runs though no turn does")
	}
	// The turn that ended while draining is on record.
	p = start(t, "serve", "--catalog", path, "--data", filepath.Join(dir, "data"))
	if turns := p.turns(t); len(turns) != 1 || turns[0].State != "settled" {
		t.Errorf("on record are %+v", turns)
	}
}

func TestASecondSignalCutsRunningTurns(t *testing.T) {
	vendor, _ := slow(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	twoVendors(t, path, vendor, vendor, "", "5m")
	p := start(t, "serve", "--catalog", path, "--data", filepath.Join(dir, "data"))
	rest := p.begin(t)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.until(t, "it says that it is draining", func(r ready) bool { return r.Reason == "draining" })
	if err := p.stop(t, syscall.SIGTERM); err != nil {
		t.Errorf("it ended with %v:\n%s", err, p.logs)
	}
	if text, err := io.ReadAll(rest); err == nil || !strings.Contains(string(text), "The gateway is shutting down") {
		t.Errorf("a cut turn ends with %q (%v)", text, err)
	}
	// The record says whose doing it was: the client had not left.
	p = start(t, "serve", "--catalog", path, "--data", filepath.Join(dir, "data"))
	var turns struct {
		Turns []struct {
			Attempts []struct{ Stage, Failure string }
		}
	}
	p.get(t, "/api/v1/turns", &turns)
	if len(turns.Turns) != 1 || len(turns.Turns[0].Attempts) != 1 || turns.Turns[0].Attempts[0].Failure != "shutdown" {
		t.Errorf("on record are %+v", turns.Turns)
	}
}

// The page is there with the address, with or without scripts built into the
// binary, and says what has just been served.
func TestTheDashboardIsThereAtOnce(t *testing.T) {
	began := time.Now()
	p := start(t, "demo", "--feed=false")
	p.ask(t, "deepseek-v4-pro", "boat-on-the-page")
	p.until(t, "the page shows the turn", func(ready) bool {
		response, err := http.Get(p.admin + "/ui/")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		page, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("the page answers %s (%v)", response.Status, err)
		}
		return strings.Contains(string(page), "boat-on-the-page") && strings.Contains(string(page), "no_pin")
	})
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the page took %v", took)
	}
}
