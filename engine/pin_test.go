package engine

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"
)

var pinEpoch = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// entryAt is an entry of turn, accepted minute minutes after the epoch.
func entryAt(vendor string, turn uint64, minute int) Entry {
	at := pinEpoch.Add(time.Duration(minute) * time.Minute)
	return Entry{Vendor: vendor, Turn: turn, AcceptedAt: at, ExpiresAt: at.Add(5*time.Minute - 15*time.Second)}
}

func vendorsOf(warm []Entry) (text string) {
	for _, e := range warm {
		text += e.Vendor + " "
	}
	return text
}

func TestKeep(t *testing.T) {
	type put struct {
		model string
		e     Entry
	}
	withUsage := entryAt("a", 1, 0)
	withUsage.Prompt, withUsage.Reported = 900, true
	on := func(credential string, e Entry) Entry { e.Credential = credential; return e }
	cases := []struct {
		name string
		puts []put
		want string // vendors of model m, newest first
	}{
		{"first acceptance", []put{{"m", entryAt("a", 1, 0)}}, "a "},
		{"failover adds and does not erase", []put{{"m", entryAt("a", 1, 0)}, {"m", entryAt("b", 2, 1)}}, "b a "},
		{"return to the first renews it", []put{{"m", entryAt("a", 1, 0)}, {"m", entryAt("b", 2, 1)}, {"m", entryAt("a", 3, 2)}}, "a b "},
		{"late write of an earlier acceptance stays behind", []put{{"m", entryAt("b", 2, 1)}, {"m", entryAt("a", 1, 0)}}, "b a "},
		{"late write of the same candidate changes nothing", []put{{"m", entryAt("a", 2, 1)}, {"m", entryAt("a", 1, 0)}}, "a "},
		{"same turn is replaced", []put{{"m", entryAt("a", 1, 0)}, {"m", withUsage}}, "a "},
		{"another candidate of the same turn replaces it", []put{{"m", entryAt("a", 1, 0)}, {"m", entryAt("b", 1, 1)}}, "b "},
		{"two credentials are two candidates", []put{{"m", on("k1", entryAt("a", 1, 0))}, {"m", on("k2", entryAt("a", 2, 1))}}, "a a "},
		{"fifth drops the oldest", []put{{"m", entryAt("a", 1, 0)}, {"m", entryAt("b", 2, 1)}, {"m", entryAt("c", 3, 2)}, {"m", entryAt("d", 4, 3)}, {"m", entryAt("e", 5, 4)}}, "e d c b "},
		{"a fifth that is oldest is not kept", []put{{"m", entryAt("e", 5, 4)}, {"m", entryAt("b", 2, 1)}, {"m", entryAt("c", 3, 2)}, {"m", entryAt("d", 4, 3)}, {"m", entryAt("a", 1, 0)}}, "e d c b "},
		{"another model does not touch it", []put{{"m", entryAt("a", 1, 0)}, {"n", entryAt("b", 2, 1)}}, "a "},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var r Record
			for _, p := range c.puts {
				r = r.Keep(p.model, p.e)
			}
			if got := vendorsOf(r.For("m")); got != c.want {
				t.Errorf("warm %q, want %q", got, c.want)
			}
		})
	}
	r := Record{}.Keep("m", entryAt("a", 1, 0)).Keep("m", withUsage)
	if got := r.For("m")[0].Prompt; got != 900 {
		t.Errorf("usage of the same turn was not added: prompt %d", got)
	}
}

func TestKeepDropsLeastRecentlyServedModel(t *testing.T) {
	var r Record
	for i := range MaxModels {
		r = r.Keep(string(rune('a'+i)), entryAt("v", uint64(i+1), i))
	}
	r = r.Keep("a", entryAt("v", 20, 20))
	r = r.Keep("new", entryAt("v", 21, 21))
	if len(r.Models) != MaxModels || r.Models[0].Model != "new" || r.Models[1].Model != "a" {
		t.Fatalf("models %v", r.Models)
	}
	if r.For("b") != nil {
		t.Error("b was served least recently and is still there")
	}
}

func TestDropOnlyTheSameEntry(t *testing.T) {
	r := Record{}.Keep("m", entryAt("a", 1, 0)).Keep("m", entryAt("b", 2, 1))
	if got := vendorsOf(r.Drop("m", entryAt("b", 2, 1)).For("m")); got != "a " {
		t.Errorf("after the drop %q", got)
	}
	if got := vendorsOf(r.Drop("m", entryAt("b", 1, 0)).For("m")); got != "b a " {
		t.Errorf("an entry that a later turn replaced was dropped: %q", got)
	}
	if got := r.Drop("m", entryAt("b", 2, 1)).Drop("m", entryAt("a", 1, 0)); len(got.Models) != 0 {
		t.Errorf("a model without entries stays: %v", got)
	}
	if got := vendorsOf(r.For("m")); got != "b a " {
		t.Errorf("the record itself changed: %q", got)
	}
}

func TestSweepAfterADay(t *testing.T) {
	r := Record{}.Keep("m", entryAt("a", 1, 0)).Keep("m", entryAt("b", 2, 60)).Keep("n", entryAt("c", 3, 0))
	expiry := entryAt("a", 1, 0).ExpiresAt
	if got := r.Sweep(expiry.Add(Readable - 1)); len(got.For("m")) != 2 || len(got.For("n")) != 1 {
		t.Errorf("swept too early: %v", got)
	}
	got := r.Sweep(expiry.Add(Readable))
	if vendorsOf(got.For("m")) != "b " || got.For("n") != nil {
		t.Errorf("after a day: %v", got)
	}
	if n := testing.AllocsPerRun(10, func() { r.Sweep(pinEpoch) }); n != 0 {
		t.Errorf("sweeping nothing allocates %v times", n)
	}
}

func TestSweepAfterTheClockWasSetBack(t *testing.T) {
	r := Record{}.Keep("m", entryAt("a", 1, 0)).Keep("m", entryAt("b", 2, 60))
	if got := r.Sweep(entryAt("b", 2, 60).AcceptedAt.Add(-Ahead)); vendorsOf(got.For("m")) != "b a " {
		t.Errorf("by an hour: %v", got)
	}
	if got := r.Sweep(entryAt("b", 2, 60).AcceptedAt.Add(-Ahead - 1)); vendorsOf(got.For("m")) != "a " {
		t.Errorf("by more: %v", got)
	}
}

// Whatever the order in which writes arrive, the same acceptances give the same record.
func TestKeepDoesNotDependOnArrival(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 2000 {
		var entries []Entry
		for turn := range 1 + rng.IntN(4) {
			entries = append(entries, entryAt(string(rune('a'+rng.IntN(3))), uint64(turn+1), rng.IntN(4)))
		}
		build := func() (r Record) {
			for _, i := range rng.Perm(len(entries)) {
				r = r.Keep("m", entries[i])
			}
			return r
		}
		one, two := build().For("m"), build().For("m")
		if len(one) != len(two) {
			t.Fatalf("seed %d: %v and %v", seed, one, two)
		}
		for i := range one {
			if one[i] != two[i] {
				t.Fatalf("seed %d: %v and %v", seed, one, two)
			}
			if i > 0 && one[i].after(one[i-1]) {
				t.Fatalf("seed %d: not newest first: %v", seed, one)
			}
		}
	}
}

func TestPinKeyBytes(t *testing.T) {
	keys := []PinKey{{}, {"t", ClassExplicit, "id", "scope"}, {"t", ClassExplicit, "i", "dscope"}, {"te", "xplicit", "id", ""}, {"", ClassAgent, string(bytes.Repeat([]byte{'x'}, 300)), "s"}}
	seen := map[string]bool{}
	for _, k := range keys {
		b := k.Bytes()
		if seen[string(b)] {
			t.Errorf("%v shares its bytes with another key", k)
		}
		seen[string(b)] = true
		if got, ok := ParsePinKey(b); !ok || got != k {
			t.Errorf("%v came back as %v, %v", k, got, ok)
		}
		if _, ok := ParsePinKey(append(b, 0)); ok {
			t.Errorf("%v parses with a byte too many", k)
		}
		if _, ok := ParsePinKey(b[:len(b)-1]); ok {
			t.Errorf("%v parses with a byte missing", k)
		}
	}
}

func FuzzParsePinKey(f *testing.F) {
	f.Add(PinKey{"default", ClassExplicit, "ses_1", ""}.Bytes())
	f.Add([]byte{0x80, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if k, ok := ParsePinKey(b); ok && !bytes.Equal(k.Bytes(), b) {
			t.Errorf("%x parses and is written back as %x", b, k.Bytes())
		}
	})
}
