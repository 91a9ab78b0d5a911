package catalog

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// A log in the catalog's folder is written all the time: that must not put off
// the reading of an edit.
func TestOtherFilesDoNotPutAnEditOff(t *testing.T) {
	began := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	w := &watch{}
	var fires time.Time
	tell := func(after time.Duration, c concern) {
		if wait, start := w.due(c, began.Add(after)); start {
			fires = began.Add(after + wait)
		}
	}
	tell(0, touched)
	for ms := range 49 {
		tell(time.Duration(ms)*time.Millisecond, changed)
		tell(time.Duration(ms)*time.Millisecond, nothing)
	}
	if got := fires.Sub(began); got != settle {
		t.Errorf("read %s after the edit, not %s", got, settle)
	}
	w.since = time.Time{}
	for ms := range 99 {
		tell(time.Duration(ms)*time.Millisecond, touched)
	}
	if got := fires.Sub(began); got != longestSettle {
		t.Errorf("a file written all the time is read after %s, not %s", got, longestSettle)
	}
	w.since = time.Time{}
	tell(0, changed)
	tell(40*time.Millisecond, touched)
	if got := fires.Sub(began); got != 90*time.Millisecond {
		t.Errorf("an edit that goes on is read after %s", got)
	}
}

func TestWatchSeesAnEditBesideABusyLog(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.yaml")
	write(t, path, priced("1"))
	l := NewLive(path, load(t, path))
	told := watching(t, l)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				write(t, filepath.Join(dir, "access.log"), fmt.Sprint(i))
			}
		}
	}()
	took := time.Hour
	for i := range 5 { // the best of five: others may be using the machine
		text := priced(fmt.Sprint(2 + i))
		began := time.Now()
		write(t, path, text)
		wait(t, told, "an edit beside a busy log", good(text))
		took = min(took, time.Since(began))
	}
	close(stop)
	<-stopped
	if took > time.Second {
		t.Errorf("the edit took %s", took)
	}
}

// Nineteen thousand mistakes are counted, a hundred are told, and they cost
// little more than reading the text does.
func TestVeryManyMistakes(t *testing.T) {
	var keys, twice, nulls strings.Builder
	for i := range 19_000 {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
		twice.WriteString("a: 1\n")
		nulls.WriteString("~, ")
	}
	for name, c := range map[string]struct {
		text string
		more string
	}{
		"unknown keys":   {"version: 1\n" + keys.String(), "and 18,902 more mistakes, not listed; put these right first"},
		"one key, often": {"version: 1\n" + twice.String(), "and 18,902 more mistakes, not listed; put these right first"},
		"empty aliases":  {frame + "  m: {routes: [{vendor: alpha, model: m}], aliases: [" + nulls.String() + "]}\n", "and 18,900 more mistakes, not listed; put these right first"},
	} {
		if len(c.text) > MaxSize {
			t.Fatalf("%s: the text is too long", name)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, err := Parse("f", []byte(c.text))
		runtime.ReadMemStats(&after)
		var all Problems
		if !errors.As(err, &all) || len(all) != MaxProblems+1 || all[MaxProblems].Message != c.more {
			t.Errorf("%s: %d problems, the last %v", name, len(all), all[max(len(all)-1, 0)])
		}
		if len(err.Error()) > 64<<10 {
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
		spent := (after.TotalAlloc - before.TotalAlloc) >> 20
		t.Logf("%s: %d MiB allocated in all for %d KiB of text", name, spent, len(c.text)>>10)
		if spent > 300 {
			t.Errorf("%s: %d MiB allocated in all", name, spent)
		}
	}
}

// The hundred that are told are the first of the file, though vendors are read
// before models wherever they stand.
func TestTheFirstMistakesAreTold(t *testing.T) {
	var text strings.Builder
	text.WriteString("version: 1\nmodels:\n")
	for i := range 150 {
		fmt.Fprintf(&text, "  m%d: {colour: red, routes: [{vendor: v, model: m}]}\n", i)
	}
	text.WriteString("vendors:\n  v:\n    api: [chat]\n    base_url: https://v.example\n")
	for i := range 450 {
		fmt.Fprintf(&text, "    k%d: 1\n", i)
	}
	_, err := Parse("f", []byte(text.String()))
	var all Problems
	if !errors.As(err, &all) || len(all) != MaxProblems+1 {
		t.Fatalf("%v", err)
	}
	for i, p := range all[:MaxProblems] {
		if p.Line != 3+i {
			t.Fatalf("problem %d is of line %d", i, p.Line)
		}
	}
	if want := "and 500 more mistakes, not listed; put these right first"; all[MaxProblems].Message != want {
		t.Errorf("%s; want %s", all[MaxProblems].Message, want)
	}
}

func TestRemedies(t *testing.T) {
	route := func(price string) string {
		return frame + "  m: {routes: [{vendor: alpha, model: m, price: " + price + "}]}\n"
	}
	for name, c := range map[string]struct{ text, want string }{
		"ten digits":           {route("{input: 1000000000}"), `f:6:57: model "m", route "alpha": input "1000000000" has too many digits; a price has at most 9 before the decimal point and 18 after it, and an exponent of at most 2`},
		"nineteen decimals":    {route("{input: 0.1234567890123456789}"), "too many digits"},
		"forty digits":         {route("{input: 1" + strings.Repeat("0", 40) + "}"), "too many digits"},
		"a leading zero":       {route("{input: 010}"), "leading zero"},
		"a comma in braces":    {route("{input: 1,000}"), `f:6:59: model "m", route "alpha": "000" is what follows a comma, which ends a value between braces; write a number without commas, such as 1000 for 1,000`},
		"a directive":          {"%YAML 1.9\n---\nversion: 1\n", "f:1:1: this is not YAML: found incompatible YAML document; directives such as %YAML are not used here, so remove the line"},
		"a directive, no ---":  {"%YAML 1.2\nversion: 1\n", "directives such as %YAML are not used here, so remove the line"},
		"an unknown directive": {"%WARM 1\nversion: 1\n", "f:1:"},
		"a colon too many":     {"version: 1\nvendors: {}\nmodels: a: b\n", "f:3:10: this is not YAML: mapping values are not allowed in this context"},
		"an escape":            {"version: 1\ncurrency: \"U\\q\"\n", "f:2:13: this is not YAML: found unknown escape character"},
		"a stray character":    {"version: 1\ncurrency: @b\n", "f:2:11: this is not YAML: found character that cannot start any token"},
		"a bare tag":           {route("{input: ! 1}"), "f:6:57: tags such as !!str are not used in a catalog; remove it, or put the value in quotes"},
		"a bare tag, quoted":   {"version: ! \"1\"\n", "f:1:10: tags such as !!str"},
		"a bare tag on a list": {frame + "  m: {aliases: ! [a], routes: [{vendor: alpha, model: m}]}\n", "f:6:16: tags such as !!str"},
		"a bare tag on a key":  {frame + "  ! m: {routes: [{vendor: alpha, model: m}]}\n", "f:6:3: tags such as !!str"},
		"a bare tag, verbatim": {frame + "  m: {routes: [{vendor: alpha, model: !<!> m}]}\n", "f:6:39: tags such as !!str"},
	} {
		_, err := Parse("f", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
	check(t, "an exclamation mark", strings.ReplaceAll(frame, "alpha.example", "alpha.example")+"  m!: {aliases: [\"!a\", '! b'], routes: [{vendor: alpha, model: m!}]}\n",
		`c.yaml:6:24: model "m!": aliases entry "! b" has a space or a character that does not print; a name has neither`)
}

// Whatever ends the lines before it, a mistake of any kind is on the same line.
func TestLinesAreCountedTheSameForAllKindsOfError(t *testing.T) {
	for name, end := range map[string]string{"LF": "\n", "CR LF": "\r\n", "CR": "\r", "NEL": "\u0085", "LS": "\u2028", "PS": "\u2029"} {
		head := "# one" + end + "# two" + end + "version: 1" + end
		for kind, text := range map[string]string{
			"meaning":   head + "colour: red" + end,
			"syntax":    head + "currency: @b" + end,
			"a control": head + "currency: \x01" + end,
			"a tag":     head + "currency: ! USD" + end,
			"mark":      "\ufeff" + head + "currency: \x01" + end,
		} {
			_, err := Parse("f", []byte(text))
			var all Problems
			if !errors.As(err, &all) || !strings.Contains(err.Error(), "f:4:") {
				t.Errorf("%s, %s: %v", name, kind, err)
			}
			if kind != "meaning" && !strings.Contains(err.Error(), "f:4:11:") {
				t.Errorf("%s, %s: the column of %v", name, kind, err)
			}
		}
	}
}

func TestSettingsThatCouldNeverDoAnything(t *testing.T) {
	vendor, route, policy := `vendor "beta", hint `, `model "m", route "alpha": `, `policy "p": `
	for name, c := range map[string]struct{ text, want string }{
		"hint member unknown":  {with("hints: [{member: user}]", "", ""), `c.yaml:7:22: ` + vendor + `1: member "user" is none that a hint is sent in; the one there is is prompt_cache_key`},
		"hint member refused":  {with("hints: [{member: prompt_cache_key}]\nrefuses: [prompt_cache_key]", "", ""), `c.yaml:7:22: ` + vendor + `1: member prompt_cache_key stands under refuses too, so it is never sent; keep one`},
		"hint of messages":     {strings.Replace(with("hints: [{member: prompt_cache_key}]", "", ""), "beta:\n    api: [chat]", "beta:\n    api: [messages]", 1), `c.yaml:7:22: ` + vendor + `1: member prompt_cache_key is never sent on the messages API, the only one this vendor speaks; use a header, or remove the hint`},
		"hint twice":           {with("hints: [{header: x-a}, {header: X-A, form: raw}]", "", ""), `c.yaml:7:28: ` + vendor + `2: is for X-A, as another hint is, on line 7 at columns 13 and 28; remove one`},
		"only leaves nobody":   {with("", "", "only: [beta]"), `c.yaml:15:11: ` + policy + `only leaves no vendor that serves a model of this policy; name one that does`},
		"ignore leaves nobody": {with("", "", "ignore: [alpha]"), `c.yaml:15:13: ` + policy + `ignore leaves no vendor that serves a model of this policy; name one that does`},
		"both leave nobody":    {with("", "", "only: [alpha]\nignore: [alpha]"), `c.yaml:16:13: ` + policy + `only and ignore together leave no vendor that serves a model of this policy; name one that does`},
		"only misspelt":        {with("", "", "only: [alhpa]"), `c.yaml:15:12: ` + policy + `only: vendor "alhpa" is not in this catalog; did you mean "alpha"?`},
		"a window of no price": {with("", `price: {windows: [{from: "01:00", to: "02:00", zone: UTC}]}`, ""), `c.yaml:12:27: ` + route[:len(route)-2] + `, window 1: has no price, so it would make every price unknown; give one such as input: 1, or remove the window`},
	} {
		check(t, name, c.text, c.want)
	}
	for _, word := range []string{"no", "off", "false", "yes", "true", `"no"`, `"off"`, `'false'`, "Off", "0"} {
		check(t, "disabled "+word, with("", "disabled: "+word, ""), `c.yaml:12:19: `+route+`disabled is a reason in words, such as "too slow in May"; give one, or remove the key to use the route`)
	}
	c := parse(t, with("", "disabled: too slow in May", ""))
	if got := Problems(c.Warnings).Error(); got != `catalog.yaml:8:3: model "m": every route is disabled, so whoever asks for it is refused` {
		t.Errorf("every route disabled: %s", got)
	}
}

func TestAnUpstreamIdIsItsText(t *testing.T) {
	for _, id := range []string{"null", "6.20", "0x1F", "no", "2027-03-09", "1_000"} {
		c := parse(t, frame+"  m: {routes: [{vendor: alpha, model: "+id+"}]}\n")
		if got := c.Models[0].Routes[0].UpstreamModel; got != id {
			t.Errorf("%s is read as %q", id, got)
		}
	}
	check(t, "none", frame+"  m: {routes: [{vendor: alpha, model: ~}]}\n", `c.yaml:6:39: model "m", route "alpha": model is empty; remove the key or give a value`)
}

func TestParseFromAReader(t *testing.T) {
	c, err := ParseFrom("-", strings.NewReader(priced("3")), keysOf(map[string]string{"V_KEY": "canary"}))
	if err != nil || inputOf(c) != "3" || c.Path != "-" {
		t.Fatalf("%v, %v", c, err)
	}
	if _, ok := c.Vendors[0].Credentials[0].Secret(); !ok {
		t.Error("the key was not looked up")
	}
	if _, err := ParseFrom("-", strings.NewReader("colour: red\n"), nil); err == nil || !strings.Contains(err.Error(), "-:1:1: ") {
		t.Errorf("a mistake: %v", err)
	}
	broken := errors.New("broken")
	if _, err := ParseFrom("-", iotest.ErrReader(broken), nil); !errors.Is(err, broken) {
		t.Errorf("a broken reader: %v", err)
	}
	endless := &counted{}
	if _, err := ParseFrom("-", endless, nil); err == nil || !strings.Contains(err.Error(), "goes on past 4 MiB") || endless.read > MaxSize+1 {
		t.Errorf("an endless reader: %v after %d bytes", err, endless.read)
	}
}

// counted is an endless comment.
type counted struct{ read int }

func (c *counted) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '#'
	}
	c.read += len(p)
	return len(p), nil
}

var _ io.Reader = &counted{}
