package main

import (
	"strings"
	"testing"

	"github.com/warmroute/warmroute/routes"
)

// Whoever runs several instances must learn that they share no pins: from the log, and
// from /readyz.
func TestPinsAreSaidToBePerInstance(t *testing.T) {
	p := start(t, serving(t, t.TempDir())...)
	if r := p.readiness(t); r.Pins.Kept != routes.PerInstance {
		t.Errorf("readyz says %+v", r.Pins)
	}
	if !strings.Contains(p.logs.String(), "pins per instance") {
		t.Errorf("the log does not say it:\n%s", p.logs)
	}
	ended(t, p)
}
