package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

const (
	checkVendors = "version: 1\nvendors:\n  alpha: {api: [chat], base_url: https://alpha.example/v1}\n  beta: {api: [chat], base_url: https://beta.example/v1}\n"
	checkDoubt   = checkVendors + "models:\n  wren: {routes: [{vendor: alpha, model: w, price: {input: 1, output: 2, cache_read: 0}}]}\n"
	checkQuiet   = checkVendors + "models:\n  wren: {routes: [{vendor: alpha, model: w, price: {input: 1, output: 2, cache_read: 0}, silence: {price-zero: \"reads are free by contract, 100%\"}}]}\n"
	checkWrong   = checkVendors + "models:\n  wren: {routes: [{vendor: alpha, model: \"a;b,c:50%\", price: {input: 1, cache_raed: 2}}]}\n"
)

// checkOf runs check on a text and gives what it printed and its exit code.
func checkOf(t *testing.T, text, format string, strict bool) (out string, code int, said string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a catalog,1.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err := check(&b, path, format, strict)
	var c coded
	if errors.As(err, &c) {
		code, said = c.code, c.Error()
	} else if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(b.String(), path, "FILE"), code, said
}

func TestCheckInWords(t *testing.T) {
	out, code, said := checkOf(t, checkWrong, "text", false)
	want := `FILE:6:73: error[unknown-key]: model "wren", route "alpha": "cache_raed" is not a key of price
    6 |   wren: {routes: [{vendor: alpha, model: "a;b,c:50%", price: {input: 1, cache_raed: 2}}]}
      |                                                                         ^
      = did you mean "cache_read"?
`
	if out != want || code != exitInvalid || !strings.HasSuffix(said, "1 mistake") {
		t.Errorf("%s\n%d %s", out, code, said)
	}
	out, code, _ = checkOf(t, checkDoubt, "text", false)
	if !strings.Contains(out, `FILE:6:86: warning[price-zero]: model "wren", route "alpha": cache_read is 0,`) ||
		!strings.HasSuffix(out, "FILE is good: 2 vendors, 1 model, 1 route, 0 policies; 1 warning, 1 note\n") || code != 0 {
		t.Errorf("%s\n%d", out, code)
	}
	out, code, said = checkOf(t, checkDoubt, "text", true)
	if code != exitInvalid || !strings.Contains(said, "1 warning, which --strict does not accept") {
		t.Errorf("strict: %s\n%d %s", out, code, said)
	}
	out, code, _ = checkOf(t, checkQuiet, "text", true)
	if strings.Contains(out, "[price-zero]") || !strings.HasSuffix(out, "; 1 note, 1 silenced\n") || code != 0 {
		t.Errorf("silenced: %s\n%d", out, code)
	}
}

// One habit of a large catalog does not hide everything else.
func TestCheckTellsAFewOfEachKind(t *testing.T) {
	text := checkVendors + "models:\n"
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		text += "  " + name + ": {routes: [{vendor: alpha, model: m, price: {input: 1, output: 2, cache_read: 0.1}}]}\n"
	}
	out, _, _ := checkOf(t, text, "text", false)
	if strings.Count(out, "note[price-undated]") != tellInFull || !strings.Contains(out, "and 2 more of price-undated; --format json lists all\n") || !strings.Contains(out, "; 7 notes\n") {
		t.Error(out)
	}
}

func TestCheckAsJSON(t *testing.T) {
	type problem struct {
		File, Where, Message, Code, Severity, Wrong, Remedy, Reason string
		Line, Column                                                int
		Excerpt                                                     struct {
			Text   string
			Column int
		}
		By int `json:"silenced_by"`
	}
	type result struct {
		Good                       bool
		Digest                     string
		Errors, Warnings, Silenced []problem
	}
	read := func(text string, strict bool, wantCode int) (r result) {
		out, code, said := checkOf(t, text, "json", strict)
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != wantCode || said != "" {
			t.Errorf("%s\n%v %d %q", out, err, code, said)
		}
		return r
	}
	r := read(checkWrong, false, exitInvalid)
	if r.Good || len(r.Errors) != 1 || r.Warnings == nil || r.Silenced == nil {
		t.Fatalf("%+v", r)
	}
	if p := r.Errors[0]; p.Line != 6 || p.Column != 73 || p.Where != `model "wren", route "alpha"` || p.Message != `"cache_raed" is not a key of price; did you mean "cache_read"?` || p.Code != "unknown-key" ||
		p.Severity != "error" || p.Wrong != `"cache_raed" is not a key of price` || p.Remedy != `did you mean "cache_read"?` || p.Excerpt.Column != 73 || p.Excerpt.Text == "" {
		t.Errorf("%+v", p)
	}
	r = read(checkDoubt, true, exitInvalid)
	if !r.Good || r.Digest == "" || len(r.Errors) != 0 || len(r.Warnings) != 2 || r.Warnings[0].Severity == r.Warnings[1].Severity {
		t.Errorf("%+v", r)
	}
	r = read(checkQuiet, true, 0)
	if len(r.Silenced) != 1 || r.Silenced[0].Code != "price-zero" || r.Silenced[0].Reason != "reads are free by contract, 100%" || r.Silenced[0].By != 6 {
		t.Errorf("%+v", r)
	}
	var b bytes.Buffer
	err := check(&b, filepath.Join(t.TempDir(), "none.yaml"), "json", false)
	if r = (result{}); json.Unmarshal(b.Bytes(), &r) != nil || r.Good || len(r.Errors) != 1 || r.Errors[0].Code != "bad-file" || err == nil || !strings.Contains(b.String(), "there is no catalog") {
		t.Errorf("a file that is not there: %s, %v", b.String(), err)
	}
}

func TestCheckForGitHub(t *testing.T) {
	out, code, _ := checkOf(t, checkWrong, "github", false)
	_, rest, found := strings.Cut(out, "::error file=")
	if !found || code != exitInvalid || strings.Count(out, "\n") != 1 ||
		!strings.HasSuffix(rest, `a catalog%2C1.yaml,line=6,col=73,title=warmroute unknown-key::model "wren", route "alpha": "cache_raed" is not a key of price; did you mean "cache_read"?`+"\n") {
		t.Errorf("%s %d", out, code)
	}
	out, _, _ = checkOf(t, checkDoubt, "github", false)
	if strings.Count(out, "::warning file=") != 1 || strings.Count(out, "::notice file=") != 1 {
		t.Error(out)
	}
	if got := data("50%\r\nx: y, z"); got != "50%25%0D%0Ax: y, z" {
		t.Error(got)
	}
	if got := property("a:b,c%\n"); got != "a%3Ab%2Cc%25%0A" {
		t.Error(got)
	}
}

// What a reader of SARIF 2.1.0 relies on: the members that the standard demands,
// rules that results point at, and levels and places of the kinds that it knows.
func TestCheckAsSARIF(t *testing.T) {
	for name, text := range map[string]string{"a mistake": checkWrong, "a doubt": checkDoubt, "a silence": checkQuiet, "no YAML": "a: [\n"} {
		out, _, _ := checkOf(t, text, "sarif", false)
		var log struct {
			Schema  string `json:"$schema"`
			Version string
			Runs    []struct {
				ColumnKind string
				Tool       struct {
					Driver struct {
						Name  string
						Rules []struct {
							ID                   string
							ShortDescription     struct{ Text string }
							Help                 struct{ Text string }
							DefaultConfiguration struct{ Level string }
						}
					}
				}
				Results []struct {
					RuleID    string
					RuleIndex *int
					Level     string
					Message   struct{ Text string }
					Locations []struct {
						PhysicalLocation struct {
							ArtifactLocation struct{ URI string }
							Region           struct{ StartLine, StartColumn int }
						}
					}
					Suppressions []struct{ Kind, Justification string }
				}
			}
		}
		if err := json.Unmarshal([]byte(out), &log); err != nil || log.Version != "2.1.0" || log.Schema != "https://json.schemastore.org/sarif-2.1.0.json" || len(log.Runs) != 1 {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		run := log.Runs[0]
		if run.Tool.Driver.Name != "warmroute" || run.ColumnKind != "unicodeCodePoints" || len(run.Results) == 0 {
			t.Errorf("%s: %+v", name, run)
		}
		levels := map[string]bool{"error": true, "warning": true, "note": true}
		for _, rule := range run.Tool.Driver.Rules {
			if rule.ID == "" || rule.ShortDescription.Text == "" || rule.Help.Text == "" || !levels[rule.DefaultConfiguration.Level] {
				t.Errorf("%s: rule %+v", name, rule)
			}
		}
		suppressed := 0
		for _, r := range run.Results {
			if r.RuleIndex == nil || *r.RuleIndex >= len(run.Tool.Driver.Rules) || run.Tool.Driver.Rules[*r.RuleIndex].ID != r.RuleID || !levels[r.Level] || r.Message.Text == "" || len(r.Locations) != 1 {
				t.Errorf("%s: %+v", name, r)
				continue
			}
			at := r.Locations[0].PhysicalLocation
			if !strings.HasPrefix(at.ArtifactLocation.URI, "file:///") || !strings.HasSuffix(at.ArtifactLocation.URI, "/a%20catalog,1.yaml") || at.Region.StartLine < 1 || at.Region.StartColumn < 1 {
				t.Errorf("%s: %+v", name, at)
			}
			for _, s := range r.Suppressions {
				if suppressed++; s.Kind != "inSource" || s.Justification == "" {
					t.Errorf("%s: %+v", name, s)
				}
			}
		}
		if (suppressed > 0) != (name == "a silence") {
			t.Errorf("%s: %d suppressed", name, suppressed)
		}
	}
	relative := sarifPlace(&catalog.Problem{File: "deploy/a b.yaml"})
	if relative.Physical.Artifact.URI != "deploy/a%20b.yaml" || relative.Physical.Region != nil {
		t.Errorf("%+v", relative)
	}
	if colon := sarifPlace(&catalog.Problem{File: "a:b.yaml", Line: 1}); colon.Physical.Artifact.URI != "./a:b.yaml" {
		t.Errorf("%+v", colon)
	}
}

func TestCheckExplains(t *testing.T) {
	var b bytes.Buffer
	if err := explainCode(&b, "price-zero", false); err != nil || !strings.HasPrefix(b.String(), "warning[price-zero]: 0 is free: is it really, or is it unknown?\n\n") || !strings.Contains(b.String(), `silence: {price-zero: "why it is meant"}`) {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	err := explainCode(&b, "price-zreo", false)
	var c coded
	if !errors.As(err, &c) || c.code != exitUsage || err.Error() != `there is no code "price-zreo"; did you mean "price-zero"?` || b.Len() > 0 {
		t.Errorf("%v", err)
	}
	if err := explainCode(&b, everyCode, false); err != nil || strings.Count(b.String(), "\n") != len(catalog.Codes()) {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	var all []pageJSON
	if err := explainCode(&b, everyCode, true); err != nil || json.Unmarshal(b.Bytes(), &all) != nil || len(all) != len(catalog.Codes()) || all[0].Title == "" {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestCheckOnTheCommandLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte(checkDoubt), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{path}, 0},
		{[]string{path, "--strict"}, exitInvalid},
		{[]string{path, "--format", "yaml"}, exitUsage},
		{[]string{path, "-o", "json", "--strict"}, exitInvalid},
		{[]string{"--explain"}, 0},
		{[]string{"--explain=price-zero"}, 0},
		{[]string{"--explain", "price-zero"}, 0},
		{[]string{"--explain", "price-zreo"}, exitUsage},
		{[]string{"--explain", "price-zero", path}, exitUsage},
		{[]string{}, exitUsage},
		{[]string{path, path}, exitUsage},
	} {
		var out bytes.Buffer
		command := checkCommand()
		command.SilenceErrors, command.SilenceUsage = true, true
		command.SetOut(&out)
		command.SetErr(&out)
		command.SetArgs(c.args)
		got := 0
		if err := command.Execute(); err != nil {
			var with coded
			if got = exitFailed; errors.As(err, &with) {
				got = with.code
			}
		}
		if got != c.want {
			t.Errorf("%v: %d; want %d\n%s", c.args, got, c.want, out.String())
		}
	}
}

// A gateway that starts logs what check warns of, and which credentials it leaves
// out, but not every note, and not hundreds of one kind.
func TestWhatAGatewayLogsOfItsCatalog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	text := strings.Replace(checkVendors, "v1}", "v1, credentials: [{id: main, env: WARMROUTE_TEST_NO_SUCH_KEY}]}", 1) + "models:\n"
	text = strings.Replace(text, "models:", "  delta: {api: [chat], base_url: https://delta.example/v1}\nmodels:\n  z: {routes: [{vendor: delta, model: z}]}", 1)
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		text += "  " + name + ": {routes: [{vendor: alpha, model: m, price: {input: 1, output: 2, cache_read: 0}}]}\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	now := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	log := slog.New(slog.NewTextHandler(&logged, nil))
	var said remarks
	said.about(log, cat, now)
	out := logged.String()
	if strings.Count(out, "code=price-zero") != tellInFull+1 || !strings.Contains(out, "code=price-zero more=2") || strings.Count(out, "code=credential-missing") != 1 || strings.Contains(out, "price-undated") {
		t.Error(out)
	}
	logged.Reset()
	// Another catalog: its lines have moved, one key more is missing and one price more is free.
	text = "# moved\n" + strings.Replace(text, "beta: {api: [chat], base_url: https://beta.example/v1}", "beta: {api: [chat], base_url: https://beta.example/v1, credentials: [{id: main, env: WARMROUTE_TEST_NO_OTHER_KEY}]}", 1) +
		"  h: {routes: [{vendor: alpha, model: m, price: {input: 1, output: 2, cache_read: 0}}, {vendor: gamma, model: m}]}\n"
	text = strings.Replace(text, "models:", "  gamma: {api: [chat], base_url: https://gamma.example/v1}\nmodels:", 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if cat, err = catalog.Load(path); err != nil {
		t.Fatal(err)
	}
	said.about(log, cat, now.AddDate(0, 0, 1))
	if out := logged.String(); strings.Count(out, "code=price-zero") != 1 || !strings.Contains(out, `model \"h\"`) || strings.Count(out, "code=credential-missing") != 1 || !strings.Contains(out, "WARMROUTE_TEST_NO_OTHER_KEY") {
		t.Errorf("after a reload:\n%s", out)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	logged.Reset()
	(&remarks{}).about(log, cat, now)
	if out := logged.String(); strings.Count(out, "\n") != len(cat.Warnings) {
		t.Errorf("without the file:\n%s", out)
	}
}

func TestANameInAVariablesFormIsToBeWrittenAlone(t *testing.T) {
	for _, env := range []string{"${HERON_KEY}", "$HERON_KEY"} {
		out, code, _ := checkOf(t, strings.Replace(checkVendors, "v1}", "v1, credentials: [{id: main, env: '"+env+"'}]}", 1), "github", false)
		if code != exitInvalid || !strings.Contains(out, "write the name alone: env: HERON_KEY") {
			t.Errorf("%s: %d, %s", env, code, out)
		}
	}
}

// On one line, too, it is said what to do.
func TestEveryFormatSaysWhatToDoAboutAMissingKey(t *testing.T) {
	text := strings.Replace(checkDoubt, "v1}", "v1, credentials: [{id: main, env: WARMROUTE_TEST_NO_SUCH_KEY}]}", 1)
	for _, format := range []string{"text", "json", "github", "sarif"} {
		if out, _, _ := checkOf(t, text, format, false); !strings.Contains(out, "put the key there before the gateway starts") {
			t.Errorf("%s: %s", format, out)
		}
	}
}

func TestAGatewayWithoutAnyKeySaysSoOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	text := "version: 1\nvendors:\n"
	models := "models:\n"
	for i := range 7 {
		text += fmt.Sprintf("  v%d: {api: [chat], base_url: https://v%d.example/v1, credentials: [{id: main, env: WARMROUTE_TEST_NO_KEY_%d}]}\n", i, i, i)
		models += fmt.Sprintf("  m%d: {routes: [{vendor: v%d, model: m}]}\n", i, i)
	}
	if err := os.WriteFile(path, []byte(text+models), 0o600); err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	var said remarks
	said.about(slog.New(slog.NewTextHandler(&logged, nil)), cat, time.Now())
	const want = "no vendor has a key yet; set at least one of WARMROUTE_TEST_NO_KEY_0, WARMROUTE_TEST_NO_KEY_1, WARMROUTE_TEST_NO_KEY_2, WARMROUTE_TEST_NO_KEY_3, WARMROUTE_TEST_NO_KEY_4 or one of 2 others"
	if out := logged.String(); strings.Count(out, want) != 1 || strings.Contains(out, "credential-missing") {
		t.Error(out)
	}
	out, _, _ := checkOf(t, text+models, "text", false)
	if !strings.HasSuffix(out, "; 0 of 7 vendors have a key\n") {
		t.Errorf("check ends with %q", out[max(0, len(out)-80):])
	}
}

func TestCheckKnowsAConfigurationFile(t *testing.T) {
	_, code, said := checkOf(t, "retention: {turns: 30d}\n", "text", false)
	if code != exitInvalid || !strings.Contains(said, "is a configuration file, which serve reads with --config") {
		t.Errorf("%d %s", code, said)
	}
	if _, _, said = checkOf(t, checkWrong, "text", false); strings.Contains(said, "configuration file") {
		t.Error(said)
	}
}

func TestStrayVariablesAreTold(t *testing.T) {
	flags := serveCommand().Flags()
	names, meant := strays(flags, []string{"WARMROUTE_LISTN=x", "WARMROUTE_LISTEN=y", "WARMROUTE_DEMO_KEY=z", "HOME=/", "WARMROUTE_ADMNI=q", "WARMROUTE_X"})
	if strings.Join(names, " ") != "WARMROUTE_LISTN WARMROUTE_ADMNI" || strings.Join(meant, " ") != "WARMROUTE_LISTEN WARMROUTE_ADMIN" {
		t.Errorf("%q, meant %q", names, meant)
	}
}
