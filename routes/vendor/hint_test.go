package vendor_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
)

// A session that another one started has that one's name at the vendor, by header
// and by member, however either of them was named.
func TestAChildHasItsParentsName(t *testing.T) {
	url, last := recorder(t)
	k := newKit(t, url, func(v *vendorSpec) {
		v.extra = "    hints: [{header: x-session-affinity, form: hashed}, {header: x-session-id, form: raw}, {member: prompt_cache_key, form: hashed}]"
	})
	client := vendor.New(vendor.Options{HintKey: []byte("a key for tests")})
	defer client.Close()
	see := func(s engine.Session) (hashed, raw string) {
		t.Helper()
		try := k.try()
		try.Session = s
		client.Send(t.Context(), httptest.NewRecorder(), k.call(chatBody), try)
		hashed = last().Header.Get("X-Session-Affinity")
		if !strings.HasSuffix(last().body, `,"prompt_cache_key":"`+hashed+`"}`) {
			t.Errorf("%+v: header %s, body %s", s, hashed, last().body)
		}
		return hashed, last().Header.Get("X-Session-Id")
	}
	for _, parent := range []engine.Session{
		{Tenant: "t", Class: engine.ClassExplicit, ID: "Boat-1"},
		{Tenant: "t", Class: engine.ClassAgent, ID: "Boat-1"},
		{Tenant: "t", Class: engine.ClassCacheKey, ID: "boat-1"},
		{Tenant: "t", Class: engine.ClassAgent, ID: "Boat-1", Parent: "Boat-1"}, // a sub-agent that shares the id
	} {
		want, wantRaw := see(parent)
		for _, child := range []engine.Session{
			{Tenant: "t", Class: engine.ClassExplicit, ID: "dinghy", Parent: parent.ID},
			{Tenant: "t", Class: engine.ClassAgent, ID: "dinghy", Parent: parent.ID},
			{Tenant: "t", Class: engine.ClassCacheKey, ID: "dinghy", Parent: parent.ID},
			{Tenant: "t", Class: engine.ClassFingerprint, ID: strings.Repeat("d", 64), Parent: parent.ID},
		} {
			if hashed, raw := see(child); hashed != want || raw != wantRaw {
				t.Errorf("parent %+v is %s and %s, its child %+v is %s and %s", parent, want, wantRaw, child, hashed, raw)
			}
		}
		if hashed, _ := see(engine.Session{Tenant: "t", Class: engine.ClassExplicit, ID: "dinghy", Parent: "boat-1"}); hashed != want {
			t.Errorf("a parent named in small letters is %s, not %s", hashed, want)
		}
		if hashed, _ := see(engine.Session{Tenant: "t", Class: engine.ClassExplicit, ID: "dinghy", Parent: parent.ID, Alone: true}); hashed == want {
			t.Error("a child that is kept apart has its parent's name")
		}
		if hashed, _ := see(engine.Session{Tenant: "u", Class: engine.ClassExplicit, ID: "dinghy", Parent: parent.ID}); hashed == want {
			t.Error("another tenant's child has the name")
		}
	}
}
