package catalog

import (
	"slices"
	"strings"
	"testing"
)

// A silence holds for the mapping in which it stands and what is inside; that of a
// vendor for its routes too.
func TestWhereASilenceHolds(t *testing.T) {
	const free = "price: {input: 1, output: 2, cache_read: 0}"
	quiet := "silence: {price-zero: \"reads are free by contract\"}"
	vendors := func(alpha string) string {
		return "vendors:\n  alpha: {api: [chat], base_url: \"https://a.example/v1\"" + alpha + "}\n  beta: {api: [chat], base_url: \"https://b.example/v1\"}\n"
	}
	models := func(wren, alpha string) string {
		return "models:\n  wren: {" + wren + "routes: [{vendor: alpha, model: w, " + free + alpha + "}, {vendor: beta, model: w, " + free + "}]}\n  tern: {routes: [{vendor: alpha, model: t, " + free + "}]}\n"
	}
	all := []string{`model "wren", route "alpha"`, `model "wren", route "beta"`, `model "tern", route "alpha"`}
	for name, c := range map[string]struct {
		part string
		loud []string
	}{
		"nowhere":     {vendors("") + models("", ""), all},
		"in a route":  {vendors("") + models("", ", "+quiet), all[1:]},
		"in a model":  {vendors("") + models(quiet+", ", ""), all[2:]},
		"in a vendor": {vendors(", "+quiet) + models("", ""), all[1:2]},
		"at the top":  {quiet + "\n" + vendors("") + models("", ""), nil},
	} {
		f := lintOf(t, c.part)
		var loud []string
		for _, p := range f.Problems {
			switch p.Code {
			case CodeZero:
				loud = append(loud, p.Where)
			case CodeUnused:
				t.Errorf("%s: %v", name, p)
			}
		}
		if !slices.Equal(loud, c.loud) || len(loud)+len(f.Silenced) != len(all) {
			t.Errorf("%s: loud are %v, silenced %v", name, loud, f.Silenced)
		}
		for _, s := range f.Silenced {
			if s.Reason != "reads are free by contract" || s.Code != CodeZero || s.By < 1 || s.Excerpt.Text == "" {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

// What the reader warns of is silenced where the catalog is read too, as a gateway
// logs it.
func TestASilenceHoldsForWarningsOfTheReader(t *testing.T) {
	c := parse(t, "version: 1\nvendors:\n  alpha: {api: [chat], base_url: https://a.example/v1}\nmodels:\n  wren: {silence: {no-route-in-use: \"back in May\"}, routes: [{vendor: alpha, model: w, disabled: too slow}]}\n  tern: {routes: [{vendor: alpha, model: w, disabled: too slow}]}\n")
	if len(c.Warnings) != 1 || c.Warnings[0].Code != CodeNothingInUse || c.Warnings[0].Severity != SeverityWarning || !strings.Contains(c.Warnings[0].Where, "tern") {
		t.Errorf("%+v", c.Warnings)
	}
}

func TestMistakesOfSilences(t *testing.T) {
	where := `model "m", route "alpha": silence`
	for name, c := range map[string]struct{ line, want string }{
		"a code that is none":      {`silence: {price-zreo: "by contract"}`, `c.yaml:12:19: ` + where + `: "price-zreo" is not a code; did you mean "price-zero"?`},
		"nothing like a code":      {`silence: {everything: "by contract"}`, `c.yaml:12:19: ` + where + `: "everything" is not a code; warmroute check --explain lists them`},
		"a mistake":                {`silence: {bad-price: "by contract"}`, `c.yaml:12:19: ` + where + `: bad-price is a mistake, which cannot be silenced; correct it`},
		"yes":                      {`silence: {price-zero: yes}`, `c.yaml:12:31: ` + where + `: the reason for price-zero is not one; say in words why it is meant, such as "promotion until March"`},
		"a number":                 {`silence: {price-zero: 12.5}`, `c.yaml:12:31: ` + where + `: the reason for price-zero is not one; say in words why it is meant, such as "promotion until March"`},
		"nothing":                  {`silence: {price-zero: }`, `c.yaml:12:31: ` + where + `: the reason for price-zero is empty; remove the key or give a value`},
		"a list":                   {`silence: [price-zero]`, `c.yaml:12:18: ` + where + ` must be a mapping of keys to values`},
		"an empty mapping":         {`silence: {}`, `c.yaml:12:18: ` + where + ` is empty; remove it, or write a code with a reason, such as silence: {price-outlier: promotion until March}`},
		"a key in place of reason": {`silence: {price-zero: ` + aKey + `}`, `c.yaml:12:31: ` + where + `: the reason for price-zero looks like a key; a key is never written into a catalog; name where it is kept with credentials: [{id: main, env: NAME}] or {id: main, file: PATH}, and replace it if this file was shared`},
	} {
		check(t, name, with("", c.line, ""), c.want)
	}
	check(t, "inside a price", with("", `price: {input: 1, silence: {price-zero: "by contract"}}`, ""), `c.yaml:12:27: model "m", route "alpha": "silence" is not a key of price; write it further out: in the route, the model, the vendor, the policy or at the top of the file`)
	for _, reason := range []string{"free until March", "see the contract of 2026", "合同", "промо"} {
		if !isReason(reason) {
			t.Errorf("%q is no reason", reason)
		}
	}
}

func TestAnUnusedSilenceIsANote(t *testing.T) {
	f := lintOf(t, "silence: {price-ends: \"it was\", credential-missing: \"the machine that checks has none\"}\nmodels:\n  wren: {routes: [{vendor: alpha, model: w}]}\n")
	if got := said(f, CodeUnused); got != "6:11 note : silence of price-ends silences nothing; remove it" {
		t.Errorf("%s", got)
	}
}
