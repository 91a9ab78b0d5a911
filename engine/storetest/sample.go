package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// start is the present, in whole milliseconds.
func start() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func key(id string) engine.PinKey {
	return engine.PinKey{Tenant: "t1", Class: engine.ClassExplicit, ID: id}
}

// entry is an acceptance of turn at accepted, with a window of five minutes.
func entry(vendor string, turn uint64, accepted time.Time) engine.Entry {
	return engine.Entry{
		Vendor: vendor, Credential: "main", Turn: turn,
		AcceptedAt: accepted, ExpiresAt: accepted.Add(5*time.Minute - 15*time.Second),
	}
}

// full is a record with as many models and entries as one may hold.
func full(now time.Time) engine.Record {
	var r engine.Record
	turn := uint64(1)
	for m := range engine.MaxModels {
		for i := range engine.MaxThreads * engine.MaxWarm {
			e := entry(fmt.Sprintf("vendor-%d", i%engine.MaxWarm), turn, now.Add(time.Duration(turn)*time.Second))
			e.Thread = uint64(i / engine.MaxWarm)
			r = r.Keep(fmt.Sprintf("model-%d", m), e)
			turn++
		}
	}
	return r
}

// odd are entries with every field at an unusual value.
func odd(now time.Time) []engine.Entry {
	return []engine.Entry{
		{
			Vendor: "v", Credential: "hash-of-a-key", Group: engine.GroupClient, Thread: 1<<64 - 2, Turn: 1<<64 - 1,
			AcceptedAt: now.Add(123456789), ExpiresAt: now.Add(time.Hour + 987654321),
			Prompt: 1 << 40, Output: 1 << 39, TextBytes: 1 << 50, Read: 1<<63 - 1, Write: -1, Silent: 2, Reported: true,
		},
		{Vendor: "", Credential: "", Turn: 0, AcceptedAt: now, ExpiresAt: now.Add(time.Second)},
		{Vendor: "v|x\x00é", Credential: "c\n", Group: "other", Turn: 7, AcceptedAt: now.Add(-time.Second), ExpiresAt: now.Add(time.Minute)},
	}
}

// twins are keys that a careless encoding takes for one another.
func twins() []engine.PinKey {
	return []engine.PinKey{
		{Tenant: "a|bc", Class: "explicit", ID: "x"},
		{Tenant: "a", Class: "explicit", ID: "bc|x"},
		{Tenant: "ab|c", Class: "explicit", ID: "x"},
		{Tenant: "ab", Class: "explicit", ID: "c"},
		{Tenant: "a", Class: "explicit", ID: "bc"},
		{Tenant: "a", Class: "explicit", ID: "b", Scope: "c"},
		{Tenant: "a", Class: "agent", ID: "bc"},
		{Tenant: "a", Class: "explicit", ID: "bc", Scope: "s"},
		{Tenant: "a", Class: "explicit", ID: "bcs"},
		{Tenant: "", Class: "explicit", ID: "abc"},
		{Tenant: "a\x00", Class: "explicit", ID: "bc"},
		{Tenant: "a", Class: "explicit", ID: "\x00bc"},
		{Tenant: "", Class: "", ID: "", Scope: ""},
		{Tenant: "A", Class: "explicit", ID: "bc"},
	}
}

// same says whether two records hold the same, times compared as instants.
func same(t testing.TB, what string, got, want engine.Record) {
	t.Helper()
	if len(got.Models) != len(want.Models) {
		t.Errorf("%s: %d models, want %d:\n got %+v\nwant %+v", what, len(got.Models), len(want.Models), got, want)
		return
	}
	for i := range want.Models {
		g, w := got.Models[i], want.Models[i]
		if g.Model != w.Model || len(g.Warm) != len(w.Warm) {
			t.Errorf("%s: model %d is %+v, want %+v", what, i, g, w)
			return
		}
		for j := range w.Warm {
			if !sameEntry(g.Warm[j], w.Warm[j]) {
				t.Errorf("%s: %s, entry %d:\n got %+v\nwant %+v", what, w.Model, j, g.Warm[j], w.Warm[j])
			}
		}
	}
}

func sameEntry(a, b engine.Entry) bool {
	if !a.AcceptedAt.Equal(b.AcceptedAt) || !a.ExpiresAt.Equal(b.ExpiresAt) {
		return false
	}
	a.AcceptedAt, a.ExpiresAt = b.AcceptedAt, b.ExpiresAt
	return a == b
}

func vendors(warm []engine.Entry) string {
	s := ""
	for i := range warm {
		s += warm[i].Vendor + " "
	}
	return s
}
