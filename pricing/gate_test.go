package pricing

import (
	"fmt"
	"testing"
)

func TestReadPays(t *testing.T) {
	unknown := Rate{}
	r := func(text string) Rate { return rate(t, text) }
	for _, c := range []struct {
		name        string
		read, input Rate
		rivals      []Rate
		want        Reason
	}{
		{"below its own input and the rival's", r("0.30"), r("3"), []Rate{r("2.50")}, Pays},
		{"no rivals: only the first test counts", r("0.30"), r("3"), nil, Pays},
		{"equal to its own input", r("3"), r("3"), nil, NotBelowOwnInput},
		{"above its own input", r("4"), r("3"), nil, NotBelowOwnInput},
		{"equal to a rival's input", r("0.30"), r("3"), []Rate{r("2.50"), r("0.3")}, NotBelowRivalInput},
		{"above a rival's input", r("0.30"), r("3"), []Rate{r("0.28"), r("9")}, NotBelowRivalInput},
		{"a billionth below a rival's input", r("0.299999999"), r("3"), []Rate{r("0.30")}, Pays},
		{"the tenth decimal decides", r("0.3000000001"), r("3"), []Rate{r("0.3")}, NotBelowRivalInput},
		{"cache-read price unknown", unknown, r("3"), []Rate{r("2.50")}, PriceUnknown},
		{"own input price unknown", r("0.30"), unknown, []Rate{r("2.50")}, PriceUnknown},
		{"a rival without a price does not compete", r("0.30"), r("3"), []Rate{unknown, r("2.50")}, Pays},
		{"no rival with a price", r("0.30"), r("3"), []Rate{unknown, unknown}, Pays},
		{"an unknown rival does not hide a cheap one", r("0.30"), r("3"), []Rate{unknown, r("0.10")}, NotBelowRivalInput},
		{"reading is free", r("0"), r("3"), []Rate{r("0.01")}, Pays},
		{"reading is free and so is a rival", r("0"), r("3"), []Rate{r("0")}, NotBelowRivalInput},
		{"everything is free", r("0"), r("0"), nil, NotBelowOwnInput},
	} {
		var rivals []Rival
		for i, input := range c.rivals {
			rivals = append(rivals, Rival{fmt.Sprintf("v%d", i), input})
		}
		got := ReadPays(Card{CacheRead: c.read, Input: c.input}, rivals)
		if got.Reason != c.want || got.Pays != (c.want == Pays) {
			t.Errorf("%s: %q pays %t, want %q", c.name, got.Reason, got.Pays, c.want)
		}
		if !got.CacheRead.Equal(c.read) || !got.Input.Equal(c.input) || len(got.Rivals) != len(rivals) {
			t.Errorf("%s: the verdict does not show what was compared: %+v", c.name, got)
		}
	}
}

func TestReadPaysAllocatesNothing(t *testing.T) {
	own, rivals := gateOf(t, 8)
	if n := testing.AllocsPerRun(100, func() { ReadPays(own, rivals) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func gateOf(t testing.TB, routes int) (own Card, rivals []Rival) {
	own = card(t, "3", "15", "0.30", "3.75", "6")
	for i := range routes - 1 {
		rivals = append(rivals, Rival{fmt.Sprintf("v%d", i), rate(t, fmt.Sprintf("2.%d", i))})
	}
	return own, rivals
}

// One iteration is the gate of one turn of a model with eight routes.
func BenchmarkReadPays(b *testing.B) {
	own, rivals := gateOf(b, 8)
	if !ReadPays(own, rivals).Pays {
		b.Fatal("wrong result")
	}
	b.ReportAllocs()
	for b.Loop() {
		ReadPays(own, rivals)
	}
}
