package routes

import (
	"testing"

	"github.com/warmroute/warmroute/engine"
)

func TestWhatTheClientIsAnswered(t *testing.T) {
	said := func(status int) *engine.Reply { return &engine.Reply{Status: status} }
	for _, c := range []struct {
		name    string
		attempt *engine.Attempt
		want    int
	}{
		{"nobody was asked", nil, 502},
		{"served", &engine.Attempt{Stage: engine.StageServed, Status: 200, Committed: true}, 200},
		{"served whole to a client that had left", &engine.Attempt{Stage: engine.StageServed, Status: 200}, 499},
		{"throttled", &engine.Attempt{Failure: engine.FailureThrottled, Status: 429, Reply: said(429)}, 429},
		{"throttled inside an accepted answer", &engine.Attempt{Stage: engine.StageBroken, Failure: engine.FailureThrottled, Status: 200, Reply: said(429)}, 429},
		{"the vendor's 500", &engine.Attempt{Failure: engine.FailureServer, Status: 500, Reply: said(500)}, 500},
		{"a redirect", &engine.Attempt{Failure: engine.FailureServer, Status: 307}, 502},
		{"a reply that is no refusal", &engine.Attempt{Failure: engine.FailureServer, Status: 204, Reply: said(204)}, 502},
		{"no connection", &engine.Attempt{Failure: engine.FailureConnect}, 502},
		{"no first byte", &engine.Attempt{Failure: engine.FailureTimeout}, 504},
		{"this gateway's key", &engine.Attempt{Failure: engine.FailureCredential, Status: 401, Reply: said(401)}, 502},
		{"the client's key", &engine.Attempt{Failure: engine.FailureForbidden, Status: 403, Reply: said(403), Candidate: engine.Candidate{Group: engine.GroupClient}}, 403},
		{"the client's key, inside an accepted answer", &engine.Attempt{Stage: engine.StageBroken, Failure: engine.FailureCredential, Status: 200, Candidate: engine.Candidate{Group: engine.GroupClient}}, 401},
		{"a cut before the start", &engine.Attempt{Stage: engine.StageBroken, Failure: engine.FailureCut, Status: 200}, 502},
		{"a cut after the start", &engine.Attempt{Stage: engine.StageBroken, Failure: engine.FailureCut, Status: 200, Committed: true}, 200},
		{"left before the answer", &engine.Attempt{Stage: engine.StageAbandoned, Failure: engine.FailureClientLeft}, 499},
		{"the gateway ends before the answer", &engine.Attempt{Stage: engine.StageAbandoned, Failure: engine.FailureShutdown}, 503},
		{"left within the answer", &engine.Attempt{Stage: engine.StageAbandoned, Failure: engine.FailureClientLeft, Status: 200, Committed: true}, 200},
	} {
		if got := answered(c.attempt); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
