package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// place is where the clients are pointed.
type place struct {
	url    string
	direct bool // a vendor itself, without a gateway before it
}

func here(t *testing.T) place {
	t.Helper()
	url := os.Getenv("WARMROUTE_URL")
	if url == "" {
		t.Skip("WARMROUTE_URL is not set: start these tests through the driver in testdata/conformance")
	}
	return place{url: url, direct: os.Getenv("WARMROUTE_DIRECT") == "1"}
}

// model is the name a client asks for.
func (p place) model(upstream string) string {
	if p.direct {
		return upstream
	}
	return "conformance/" + upstream
}

var sessions atomic.Int64

// newSession is an id no other test has, in this run or an earlier one.
func newSession(t *testing.T) string {
	return fmt.Sprintf("%s-%d-%d", strings.ToLower(t.Name()), time.Now().UnixNano(), sessions.Add(1))
}

// timed is a context that ends long before the test binary does.
func timed(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// script queues a fault at a simulated vendor for the next request for one model.
func script(t *testing.T, sim, model string, fault map[string]any) {
	t.Helper()
	address := os.Getenv(sim)
	if address == "" {
		t.Skip(sim + " is not set")
	}
	fault["for_model"] = model
	body, err := json.Marshal([]any{fault})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(timed(t), http.MethodPost, address+"/faults", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("script %s: status %d, %v, %s", sim, response.StatusCode, err, text)
	}
}

// rules is a system text of about 2,000 tokens, which every vendor caches, told
// apart by its session.
func rules(session string) string {
	return "Rules of " + session + ". " + strings.Repeat("Answer in one sentence, and name the harbour. ", 180)
}

// routing is what the gateway says it did.
type routing struct {
	Gateway struct {
		Routing struct {
			ClientSessionID       string `json:"clientSessionId"`
			ClientSessionIDSource string `json:"clientSessionIdSource"`
			Affinity              struct {
				Outcome        string          `json:"outcome"`
				PinnedProvider string          `json:"pinnedProvider"`
				Gate           json.RawMessage `json:"gate"`
			} `json:"affinity"`
		} `json:"routing"`
	} `json:"gateway"`
}

// decided checks the routing of one turn, in the header and in the body's raw metadata.
func (p place) decided(t *testing.T, header http.Header, metadata, session, outcome string) {
	t.Helper()
	if p.direct {
		return
	}
	if got := header.Get("X-Warmroute-Outcome"); got != outcome {
		t.Errorf("header x-warmroute-outcome is %q, want %q", got, outcome)
	}
	if header.Get("X-Warmroute-Request-Id") == "" || header.Get("X-Warmroute-Vendor") == "" {
		t.Errorf("request id and vendor are missing in %v", header)
	}
	var r routing
	if err := json.Unmarshal([]byte(metadata), &r); err != nil {
		t.Errorf("provider_metadata %q: %v", metadata, err)
		return
	}
	got := r.Gateway.Routing
	if got.Affinity.Outcome != outcome || got.ClientSessionID != session || got.ClientSessionIDSource != "explicit" {
		t.Errorf("provider_metadata says %+v, want outcome %s of session %s", got, outcome, session)
	}
	if outcome == "confirmed" && (got.Affinity.PinnedProvider == "" || len(got.Affinity.Gate) == 0) {
		t.Errorf("a confirmed pin without its vendor or its gate: %s", metadata)
	}
}

// outcomes are those of the first two turns of a session.
var outcomes = []string{"no_pin", "confirmed"}

// refusals are what a vendor answers and what its client must be told. Keys are
// the gateway's own, so a 401 of the vendor is not the client's fault.
func (p place) refusals() map[int]int {
	refusals := map[int]int{400: 400, 429: 429, 503: 503, 401: 502}
	if p.direct {
		refusals[401] = 401
	}
	return refusals
}
