package engine

import (
	"fmt"
	"testing"

	"github.com/shopspring/decimal"
)

func holdout(t testing.TB, share string) Holdout {
	t.Helper()
	h, err := NewHoldout(decimal.RequireFromString(share))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func someSession(n int) Session {
	return Session{Tenant: "desk", Class: ClassExplicit, ID: fmt.Sprint("voyage-", n)}
}

func TestAHoldoutIsItsShareOfSessions(t *testing.T) {
	const sessions = 200_000
	for share, want := range map[string]int{"0": 0, "0.01": 2000, "0.1": 20_000, "0.5": 100_000} {
		h, held := holdout(t, share), 0
		for n := range sessions {
			if h.Holds(someSession(n)) {
				held++
			}
		}
		if off := held - want; off*off > 25*max(want, 0) { // five standard deviations
			t.Errorf("a share of %s holds out %d of %d", share, held, sessions)
		}
	}
}

func TestASessionThatIsHeldOutStaysSoWhenTheShareGrows(t *testing.T) {
	shares := []Holdout{holdout(t, "0.000001"), holdout(t, "0.01"), holdout(t, "0.2"), holdout(t, "0.5")}
	for n := range 50_000 {
		for i := 1; i < len(shares); i++ {
			if s := someSession(n); shares[i-1].Holds(s) && !shares[i].Holds(s) {
				t.Fatalf("%s is in the smaller share only", s.ID)
			}
		}
	}
}

// Sessions stay in or out across versions: these figures are not to be changed.
func TestWhoIsHeldOutIsForEver(t *testing.T) {
	var held []int
	for n := range 500 {
		if holdout(t, "0.01").Holds(someSession(n)) {
			held = append(held, n)
		}
	}
	if got := fmt.Sprint(held); got != "[1 35 98 121 128 175 296]" {
		t.Errorf("held out: %s", got)
	}
}

func TestWhoIsHeldOutDependsOnTenantAndIDAlone(t *testing.T) {
	h, apart := holdout(t, "0.5"), 0
	for n := range 1000 {
		s := someSession(n)
		same := s
		same.Class, same.Client, same.Parent = ClassAgent, "codex", "p"
		if h.Holds(s) != h.Holds(same) {
			t.Fatalf("%s depends on more", s.ID)
		}
		other := s
		other.Tenant = "batch"
		if h.Holds(s) != h.Holds(other) {
			apart++
		}
	}
	if apart < 400 || apart > 600 {
		t.Errorf("two tenants differ in %d of 1000", apart)
	}
	if h.Holds(Session{Tenant: "desk"}) {
		t.Error("a request without a session is held out")
	}
}

func TestSharesThatAreNone(t *testing.T) {
	for _, share := range []string{"-0.01", "0.5000001", "0.6", "0.0000001", "1"} {
		if h, err := NewHoldout(decimal.RequireFromString(share)); err == nil || h.On() {
			t.Errorf("%s is taken for a share", share)
		}
	}
	if h := (Holdout{}); h.On() || h.Holds(someSession(1)) {
		t.Error("the zero holdout holds somebody out")
	}
}
