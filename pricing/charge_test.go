package pricing

import "testing"

func TestParseCharge(t *testing.T) {
	for _, c := range []struct {
		number string
		shift  int32
		want   string // empty: not reported
	}{
		{"0.00256995", 0, "0.00256995"},
		{"4.1140000000000003e-05", 0, "0.000041140000000000003"},
		{"1466250", -10, "0.000146625"},
		{"0", 0, "0"},
		{"", 0, ""},
		{"null", 0, ""},
		{`"1"`, 0, ""},
		{"-0.1", 0, ""},
		{"1e999999999", 0, ""},
		{"1e-999999999", 0, ""},
		{"NaN", 0, ""},
		{"00000000000000000000000000000000000000001", 0, ""},
	} {
		got := ParseCharge(c.number, c.shift)
		if got.Known != (c.want != "") || got.Known && got.Amount.String() != c.want {
			t.Errorf("%s: %v %s, want %q", c.number, got.Known, got.Amount, c.want)
		}
	}
}
