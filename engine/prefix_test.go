package engine

import (
	"math/rand/v2"
	"testing"
)

// talk is a prompt of n messages of ten bytes; from the message other on it is
// another one.
func talk(n, other int) Prefix {
	p := make(Prefix, n)
	for i := range p {
		p[i] = Mark{Index: int32(i), Hash: uint64(i) + 1, Bytes: int64(i+1) * 10}
		if i >= other {
			p[i].Hash += 1_000_000
		}
	}
	return p
}

func TestWhatIsKeptOfAnEarlierPrompt(t *testing.T) {
	for _, c := range []struct {
		name        string
		now         Prefix
		earlier     Prefix
		kept, total int64
	}{
		{"no earlier prompt", talk(5, 9), nil, 0, 0},
		{"it goes on", talk(7, 9), talk(5, 9).Kept(), 50, 50},
		{"the same again", talk(5, 9), talk(5, 9).Kept(), 50, 50},
		{"its end was rewritten", talk(7, 3), talk(5, 9).Kept(), 30, 50},
		{"it was cut back", talk(3, 9), talk(5, 9).Kept(), 30, 50},
		{"it begins otherwise", talk(7, 0), talk(5, 9).Kept(), 0, 50},
		{"nothing is left of it", nil, talk(5, 9).Kept(), 0, 50},
		{"a long one goes on", talk(900, 1000), talk(899, 1000).Kept(), 8990, 8990},
		{"a long one with its last messages rewritten", talk(900, 870), talk(899, 1000).Kept(), 8700, 8990},
	} {
		kept, total := c.now.Since(c.earlier)
		if kept != c.kept || total != c.total {
			t.Errorf("%s: %d of %d, want %d of %d", c.name, kept, total, c.kept, c.total)
		}
	}
}

func TestAFewMarksAreEnough(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		n, other := 1+r.IntN(700), r.IntN(800)
		kept := talk(n, 1000).Kept()
		if len(kept) > MaxMarks || kept[len(kept)-1].Bytes != int64(n)*10 || cap(kept) > MaxMarks {
			t.Fatalf("seed %d: %d marks of %d", seed, len(kept), n)
		}
		got, total := talk(n+r.IntN(5), other).Since(kept)
		same := int64(min(n, other)) * 10 // what a record of every boundary would say
		if got > same || total != int64(n)*10 {
			t.Fatalf("seed %d: %d of %d kept, no more than %d is", seed, got, total, same)
		}
		if n-other < MaxMarks/2 && got != same {
			t.Fatalf("seed %d: %d messages, another from %d on: %d kept, want %d", seed, n, other, got, same)
		}
	}
}
