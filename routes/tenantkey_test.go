package routes

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// hundred are a hundred tenants of two keys each.
func hundred(t testing.TB) *Tenants {
	t.Helper()
	list := make([]Tenant, 100)
	for i := range list {
		list[i].ID = fmt.Sprintf("team-%d", i)
		for n := range 2 {
			list[i].Keys = append(list[i].Keys, sha256.Sum256([]byte(testKey(i, n))))
		}
	}
	tenants, err := NewTenants(list)
	if err != nil {
		t.Fatal(err)
	}
	return tenants
}

func testKey(tenant, n int) string { return fmt.Sprintf("yard_%032x_%d", tenant*2654435761, n) }

func TestEveryKeyFindsItsTenant(t *testing.T) {
	tenants := hundred(t)
	for i := range 100 {
		for n := range 2 {
			if found := tenants.find(testKey(i, n)); found == nil || found.ID != fmt.Sprintf("team-%d", i) {
				t.Errorf("key %d of tenant %d finds %v", n, i, found)
			}
		}
		if found := tenants.find(testKey(i, 2)); found != nil {
			t.Errorf("a key that nobody has finds %s", found.ID)
		}
	}
	if tenants.find("") != nil {
		t.Error("no key finds somebody")
	}
}

// What is looked up is not the hash that a client can compute, nor the same in
// another process.
func TestWhatIsLookedUpIsSealed(t *testing.T) {
	a, b := hundred(t), hundred(t)
	hash := sha256.Sum256([]byte(testKey(1, 0)))
	if a.seal(hash) == hash || a.seal(hash) == sha256.Sum256(hash[:]) || a.seal(hash) == b.seal(hash) {
		t.Error("the seal can be known")
	}
	if _, bare := a.byKey[hash]; bare {
		t.Error("the hash itself is looked up")
	}
}

// One iteration is one request's key among a hundred tenants with two each: found
// in its header, hashed and compared. Right and wrong must take the same time.
func BenchmarkTenantOfAKey(b *testing.B) {
	s := &service{Options: Options{Tenants: hundred(b)}}
	right := testKey(57, 1)
	for _, c := range []struct {
		name, key string
		found     bool
	}{
		{"right", right, true},
		{"wrong at its end", right[:len(right)-1] + "9", false},
		{"wrong from its start", "x" + right[1:], false},
	} {
		b.Run(c.name, func(b *testing.B) {
			h := http.Header{"Authorization": {"Bearer " + c.key}}
			if tenant, err := s.whose(h); (err == nil) != c.found || c.found && tenant.ID != "team-57" {
				b.Fatal(tenant, err)
			}
			b.ReportAllocs()
			for b.Loop() {
				_, _ = s.whose(h)
			}
		})
	}
}

// Whatever stands in the headers: a key that is found stands in one of them, and no
// other value beside it differs.
func FuzzPresentedKey(f *testing.F) {
	f.Add("Bearer a", "a", "")
	f.Add("bearer\t a ", "", "a")
	f.Add("Basic a", "a", "")
	f.Add("Bearer", "  ", "b")
	f.Add("Bearera", "", "")
	f.Fuzz(func(t *testing.T, authorization, apiKey, other string) {
		key, err := presented(http.Header{"Authorization": {authorization}, "X-Api-Key": {apiKey}, "Api-Key": {other}})
		var values []string
		for _, value := range []string{bearer(strings.TrimSpace(authorization)), strings.TrimSpace(apiKey), strings.TrimSpace(other)} {
			if value != "" && !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
		switch {
		case len(values) == 0 && err != errNoKey, len(values) > 1 && err != errTwoKeys, len(values) == 1 && (err != nil || key != values[0]):
			t.Errorf("%q and %v of %q", key, err, values)
		case !strings.HasSuffix(strings.TrimSpace(authorization), bearer(strings.TrimSpace(authorization))):
			t.Errorf("%q is no end of %q", bearer(authorization), authorization)
		}
	})
}
