package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// heardWhole is the slow twin: the whole text and all ids at once.
func heardWhole(text string, ids []string) (s Said) {
	if text = strings.Trim(text, " \t\r\n"); text != "" {
		s.Text = sha(strings.ReplaceAll(text, "\r\n", "\n"))
	}
	sums := map[string]bool{}
	for _, id := range ids {
		if id != "" {
			sums[sha(id)] = true
		}
	}
	if len(sums) == 0 {
		return s
	}
	sorted := make([]string, 0, len(sums))
	for sum := range sums {
		sorted = append(sorted, sum)
	}
	slices.Sort(sorted)
	var all []byte
	for _, sum := range sorted {
		var raw []byte
		if _, err := fmt.Sscanf(sum, "%x", &raw); err != nil {
			panic(err)
		}
		all = append(all, raw...)
	}
	s.Tools = sha(string(all))
	return s
}

func TestHearingAgainstItsTwin(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 3))
	pieces := []string{"\r", "\n", "\r\n", "wood", " ", "浪", "🚢", "", "\t"}
	for range 20000 {
		var h Hearing
		var text string
		var ids []string
		for range rng.IntN(12) {
			if rng.IntN(4) == 0 {
				id := []string{"", "call_1", "call_2", "toolu_9"}[rng.IntN(4)]
				h.Call([]byte(id))
				ids = append(ids, id)
				continue
			}
			piece := pieces[rng.IntN(len(pieces))]
			cut := rng.IntN(len(piece) + 1) // characters too may be cut in two
			h.Text([]byte(piece[:cut]))
			h.Text([]byte(piece[cut:]))
			text += piece
		}
		if got, want := h.Said(), heardWhole(text, ids); got != want {
			t.Fatalf("seed %d: %q with %q is %+v, not %+v", seed, text, ids, got, want)
		}
		if again := h.Said(); again != heardWhole(text, ids) {
			t.Fatalf("seed %d: asked again, %q is %+v", seed, text, again)
		}
	}
}

func TestATurnOfTooManyCallsHasNoHashOfThem(t *testing.T) {
	var h Hearing
	h.Text([]byte("all at once"))
	for i := range MaxCalls + 1 {
		h.Call(fmt.Appendf(nil, "call_%d", i))
	}
	if s := h.Said(); s.Tools != "" || s.Text == "" {
		t.Errorf("%+v", s)
	}
}

func TestWhiteSpaceAloneIsNoText(t *testing.T) {
	var h Hearing
	h.Text([]byte(" \r"))
	h.Text([]byte("\n\t"))
	if s := h.Said(); s != (Said{}) {
		t.Errorf("%+v", s)
	}
}

// Some vendors name a call with every piece of its arguments, those of calls side by
// side in turn.
func TestACallThatIsNamedAgainIsOne(t *testing.T) {
	ids := make([][]byte, 0, MaxCalls)
	for i := range cap(ids) {
		ids = append(ids, fmt.Appendf(nil, "call_%d", i))
	}
	var once, again Hearing
	for _, id := range ids {
		once.Call(id)
	}
	for i := range 100_000 {
		again.Call(ids[(i*37)%len(ids)])
	}
	if a, b := once.Said(), again.Said(); a != b || a.Tools == "" || cap(again.calls) > 4*MaxCalls {
		t.Errorf("%+v, %+v, room for %d", a, b, cap(again.calls))
	}
	for i := range 100_000 {
		again.Call(fmt.Appendf(nil, "another_%d", i))
	}
	if s := again.Said(); s.Tools != "" || again.calls != nil {
		t.Errorf("%+v, %d kept", s, len(again.calls))
	}
}

// FuzzHearing: wherever the text is cut, the hash is that of the whole.
func FuzzHearing(f *testing.F) {
	f.Add("mend\r\nthe net", 5, "call_1")
	f.Add("\r\r\n\r", 1, "")
	f.Fuzz(func(t *testing.T, text string, at int, id string) {
		var h Hearing
		at = max(0, min(at, len(text)))
		h.Text([]byte(text[:at]))
		h.Call([]byte(id))
		h.Text([]byte(text[at:]))
		if got, want := h.Said(), heardWhole(text, []string{id}); got != want {
			t.Errorf("%+v, not %+v", got, want)
		}
	})
}
