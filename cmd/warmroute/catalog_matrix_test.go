package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// matrixOf runs the command on the fleet and reads its JSON.
func matrixOf(t *testing.T, args ...string) matrix {
	t.Helper()
	var m matrix
	out, err := ran(t, catalogMatrixCommand, append([]string{fleetFile(t), "--at", fleetTime, "-o", "json"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// A turn of 40,000 warm tokens, 1,200 new ones and 500 of output.
func TestMatrixComparesEveryTwoRoutes(t *testing.T) {
	m := matrixOf(t, "charts", "--prompt", "41200", "--new", "1200", "--answer", "500")
	if len(m.Routes) != 3 || len(m.Pairs) != 2 {
		t.Fatalf("%d routes, %d pairs; want 3 routes and the 2 pairs that speak one dialect", len(m.Routes), len(m.Pairs))
	}
	first := m.Routes[0]
	if *first.Warm != "0.024" || *first.Cold != "0.162" || !first.Pays || *first.PayBack.At != "0.277777778" || *first.PayBack.Least != "1" || *first.PayBack1h.Least != "2" {
		t.Errorf("the first route is %+v", first)
	}
	p := m.Pairs[0]
	if p.Pinned != "harbour" || p.Rival != "strand" || !p.Pays || p.Prefix.When != "above" || *p.Prefix.At != "15700" || *p.Answer.At != "0.05" || p.Turns.When != "" || p.HitRate.When != "" {
		t.Errorf("harbour against strand is %+v", p)
	}
	if back := m.Pairs[1]; back.Pays || back.Reason != "price_unknown" || back.Prefix.When != "" {
		t.Errorf("strand against harbour is %+v", back)
	}
	if own := m.Routes[2]; own.Warm == nil || *own.Warm != "0.0407" || !own.Pays {
		t.Errorf("the route without a rival is %+v", own)
	}
}

func TestMatrixLooksAtOneMomentAndSize(t *testing.T) {
	if m := matrixOf(t, "charts", "--prompt", "50001"); *m.Routes[0].Price.Input != "6" {
		t.Errorf("above the threshold input costs %s", *m.Routes[0].Price.Input)
	}
	if m := matrixOf(t, "charts", "--keyed"); len(m.Routes) != 1 || m.Routes[0].Vendor != "harbour" || len(m.Pairs) != 0 {
		t.Errorf("with keys only it is %+v", m)
	}
	if m := matrixOf(t, "sea/tides"); len(m.Routes) != 1 || *m.Routes[0].Price.CacheRead != "0.4" || m.Routes[0].Price.CacheWrite != nil {
		t.Errorf("a disabled route is compared, or a read has the price of a marked one: %+v", m.Routes)
	}
	if m := matrixOf(t, "sea/tides", "--marked"); *m.Routes[0].Price.CacheRead != "0.2" || *m.Routes[0].Price.CacheWrite != "2.5" {
		t.Errorf("a marked turn costs %+v", m.Routes[0].Price)
	}
}

func TestMatrixForPeople(t *testing.T) {
	out, err := ran(t, catalogMatrixCommand, fleetFile(t), "charts", "--at", fleetTime, "--prompt", "41200", "--new", "1200", "--answer", "500")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1  harbour  3      0.3   3.75   15      0.024      0.162      1 read, 1h: 2 reads  pays",
		"2  strand   0.9   -     -      3       ?",
		"1  harbour  .  yes  .",
		"1  harbour  .  >15700  .",
		"2   strand  ?       .  .",
	} {
		if !strings.Contains(squeezed(out), squeezed(want)) {
			t.Errorf("no line %q in\n%s", want, out)
		}
	}
}

// squeezed is a text with single spaces.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestMatrixRefuses(t *testing.T) {
	file := fleetFile(t)
	for _, c := range []struct {
		name string
		args []string
		code int
	}{
		{"no model", []string{file}, exitUsage},
		{"a model that is not there", []string{file, "sea/weed"}, exitNotFound},
		{"a policy of two models", []string{file, "any-sea"}, exitUsage},
		{"more new tokens than the prompt has", []string{file, "charts", "--prompt", "10", "--new", "11"}, exitUsage},
		{"an answer below nothing", []string{file, "charts", "--answer", "-1"}, exitUsage},
	} {
		if _, err := ran(t, catalogMatrixCommand, c.args...); exitOf(err) != c.code {
			t.Errorf("%s: exit %d, %v; want %d", c.name, exitOf(err), err, c.code)
		}
	}
}
