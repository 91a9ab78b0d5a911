package catalog

import (
	"errors"
	"strings"
	"testing"
)

func TestAnExcerptShowsTheLineAndThePlace(t *testing.T) {
	problems := problemsOf(t, with("heders: {a: b}\nusage: claude", "", ""))
	if len(problems) != 2 {
		t.Fatal(problems)
	}
	for i, want := range []Excerpt{{"    heders: {a: b}", 5}, {"    usage: claude", 12}} {
		if problems[i].Excerpt != want {
			t.Errorf("%+v; want %+v", problems[i].Excerpt, want)
		}
	}
	long := problemsOf(t, with("", "price: {source: "+strings.Repeat("page ", 60)+", cache_raed: 1, as_of: 2026-11-20}", ""))
	e := long[0].Excerpt
	if r := []rune(e.Text); len(r) > widest+2 || !strings.HasPrefix(string(r[e.Column-1:]), "cache_raed") {
		t.Errorf("of a long line %+v", e)
	}
	wide := problemsOf(t, "version: 1\nvendors: {alpha: {api: [chat], base_url: https://a.example/v1}}\nmodels: {ファイル: {routs: []}}\n")
	if e := wide[0].Excerpt; !strings.HasPrefix(string([]rune(e.Text)[e.Column-1:]), "routs") && !strings.HasPrefix(string([]rune(e.Text)[e.Column-1:]), "{routs") {
		t.Errorf("of a wide line %+v", e)
	}
	if e := excerpt([]byte("a:\tb\x00\xff\r\n"), &Problem{Line: 1, Column: 4, Where: "model \"m\""}); e.Text != "a: b" || e.Column != 4 {
		t.Errorf("of characters that do not print %+v", e)
	}
}

// What no message shows, no excerpt shows.
func TestAnExcerptShowsNoKey(t *testing.T) {
	for _, key := range []string{aKey, "Bearer " + aKey, "gsk_Ab12Cd34Ef56Gh78Ij90", "0f8fad5b-d9cb-469f-a165-70867728950e", "4f9a8c7b6d5e4f3a2b1c0d9e8f7a6b5c", "AbCdEfGhIjKlMnOpQrStUvWxYz012345", "hunter2-the-password"} {
		for _, line := range []string{
			"credentials: [{file: KEY}]",
			"credentials: [{id: main, env: KEY}]",
			"credentials: [{id: main, key: KEY}]",
			"credentials: [KEY]",
			"credentials: KEY",
			"auth: {bearer: KEY}",
			"auth: KEY",
			"headers: {x-api-key: KEY, a b: c}",
			"headers: {authorization: KEY}",
			"api_key: KEY",
			"api_key: KEY, usage: claude",
			"{usage: claude, api_key: KEY}",
			"base_url: https://me:KEY@alpha.example/v1",
			"base_url: https://alpha.example/v1?key=KEY",
		} {
			for _, quote := range []string{`"`, "'", ""} {
				text := with(strings.ReplaceAll(line, "KEY", quote+key+quote), "", "")
				if strings.HasPrefix(line, "base_url") {
					text = strings.Replace(text, "    base_url: https://beta.example/v1\n", "", 1)
				}
				if strings.HasPrefix(line, "{") {
					text = strings.Replace(frame, "{api: [chat], base_url: https://alpha.example/v1}", strings.ReplaceAll(line, "KEY", quote+key+quote), 1) + "  m: {routes: [{vendor: beta, model: x}]}\n"
				}
				secret := strings.TrimPrefix(key, "Bearer ")
				_, err := ParseKeys("f", []byte(text), keysOf(nil))
				var problems Problems
				if !errors.As(err, &problems) {
					continue // a warning quotes less; see below
				}
				for _, p := range problems {
					if strings.Contains(p.Excerpt.Text, secret[:8]) || strings.Contains(p.Excerpt.Text, secret[len(secret)-6:]) {
						t.Errorf("%s: %s shows %q", line, p.Code, p.Excerpt.Text)
					}
				}
			}
		}
	}
	c, err := ParseKeys("f", []byte(with("credentials: [{id: main, file: ./"+aKey+"}, {id: other, env: "+strings.ToUpper(strings.ReplaceAll(aKey, "-", "_"))+"}]", "", "")), keysOf(nil))
	if err == nil {
		for _, w := range c.Warnings {
			if strings.Contains(w.Excerpt.Text, aKey[:12]) {
				t.Errorf("a warning shows %q", w.Excerpt.Text)
			}
		}
	}
}

// Whatever a line holds, its excerpt is one line, and the place lies in it.
func FuzzExcerpt(f *testing.F) {
	f.Add("    api_key: sk-canary-1", 5, "vendor")
	f.Add("credentials: [{id: main, env: \"x\"}, y] # z", 30, "")
	f.Add("\t\xff\u2028: {", 1, `model "m"`)
	f.Add(strings.Repeat("wide 世界 ", 99), 400, `policy "p"`)
	f.Fuzz(func(t *testing.T, line string, column int, where string) {
		e := excerpt([]byte(line), &Problem{Line: 1, Column: column, Where: where})
		if strings.ContainsAny(e.Text, "\n\r\t\x00") || e.Column < 1 && e != (Excerpt{}) || len([]rune(e.Text)) > widest+2 {
			t.Errorf("%q gives %+v", line, e)
		}
		canary := "sk-ant-api03-Zq3vT7kLm9XwB2nR5yHc8Jd"
		if at := strings.IndexAny(line, " ,{["); at >= 0 {
			e = excerpt([]byte(line[:at+1]+canary+" "+line[at+1:]), &Problem{Line: 1, Column: column, Where: where})
			if strings.Contains(e.Text, canary[:16]) {
				t.Errorf("%q shows a key: %q", line, e.Text)
			}
		}
	})
}
