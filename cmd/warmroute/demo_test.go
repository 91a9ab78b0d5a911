package main

import (
	"strings"
	"testing"
)

// What the demo asks its reader to try must be what then happens.
func TestTheDemoInvitesToWhatTheProfileDoes(t *testing.T) {
	t.Setenv("DEMO_TEST_KEY", "a-key-of-the-desk-0123456789")
	for _, c := range []struct{ file, profile, says, presents string }{
		{"open: false", "", "the first answer says no_pin, the second confirmed", ""},
		{"affinity: {profile: litellm}", "", "skipped_mode_off, because affinity is off until checks name", ""},
		{"open: false", "portkey", "skipped_mode_off, because affinity is off until sticky has", ""},
		{"affinity: {profile: litellm, checks: [deployment_affinity]}", "", "compare x-warmroute-outcome", ""},
		{"tenants: [{id: desk, keys: [{env: DEMO_TEST_KEY}]}]", "", "with the key of a tenant", "Bearer $KEY"},
	} {
		s := withConfig(t, c.file+"\n")
		s.Profile = c.profile
		if c.file == "open: false" {
			s.Config = ""
		}
		if got := s.invitation(); !strings.Contains(got, c.says) {
			t.Errorf("%+v: %s", c, got)
		}
		if got := s.presented(); !strings.Contains(got, c.presents) || (got == "") != (c.presents == "") {
			t.Errorf("%+v: presents %q", c, got)
		}
	}
}
