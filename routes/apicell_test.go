package routes

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
)

// FuzzCells writes any text as a cell of two: a reader finds both, and neither is a
// formula.
func FuzzCells(f *testing.F) {
	for _, text := range []string{"", "plain", "=1+1", "-0.01", "\t", "\r\n=x", `a"b,c`, "\xff", "'=1", "＝A1", " =x", "\"\r\""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b bytes.Buffer
		safe := harmless(text)
		cell(&b, 0, safe)
		cell(&b, 1, "end")
		b.WriteString("\r\n")
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(rows) != 1 || len(rows[0]) != 2 || rows[0][1] != "end" {
			t.Fatalf("%q: %v %q", text, err, rows)
		}
		got := rows[0][0]
		if want := strings.ReplaceAll(safe, "\r\n", "\n"); got != want { // the reader takes all ends of lines for one
			t.Errorf("%q is read as %q", want, got)
		}
		if strings.HasPrefix(got, "'") && !strings.HasPrefix(text, "'") {
			got = got[1:]
			if !strings.ContainsAny(got[:1], "=+-@\t\r\n") && !strings.ContainsAny(string([]rune(got)[:1]), "＝＋－＠") {
				t.Errorf("%q has an apostrophe for nothing", text)
			}
			return
		}
		if got != "" && strings.ContainsAny(string([]rune(got)[:1]), "=+-@\t\r\n＝＋－＠") {
			t.Errorf("%q begins as a formula does", got)
		}
	})
}
