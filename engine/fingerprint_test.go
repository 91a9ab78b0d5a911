package engine

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

func blocks(texts ...string) (b [][]byte) {
	for _, text := range texts {
		b = append(b, []byte(text))
	}
	return b
}

func tool(name string) Tool {
	return Tool{Name: []byte(name), Description: []byte("does " + name), Schema: []byte(`{"type":"object"}`)}
}

func TestFingerprintTellsConversationsApart(t *testing.T) {
	// Openings that part only behind 300 characters that they share, or only in what
	// stands beside the messages.
	context := "<workspace>" + strings.Repeat("g", 300) + "</workspace> "
	clocks := Opening{System: blocks("You mend clocks."), First: blocks(context + "Oil the works.")}
	of := func(tenant string, o Opening) string {
		id, ok := Fingerprint(tenant, o, warmrouteProfile.Opener)
		if !ok {
			t.Fatalf("no fingerprint for %q", o.First)
		}
		return id
	}
	with := func(change func(*Opening)) Opening { o := clocks; change(&o); return o }
	base := of("t", clocks)
	cases := []struct {
		name   string
		tenant string
		o      Opening
		same   bool
	}{
		{"itself", "t", clocks, true},
		{"another request after the same context", "t", with(func(o *Opening) { o.First = blocks(context + "Wind the spring.") }), false},
		{"another system text", "t", with(func(o *Opening) { o.System = blocks("You mend radios.") }), false},
		{"another tenant", "u", clocks, false},
		{"blocks instead of a string", "t", with(func(o *Opening) { o.First = blocks(context, "Oil ", "the works.") }), true},
		{"a telemetry block first", "t", with(func(o *Opening) {
			o.System = blocks("x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli;", "You mend clocks.")
		}), true},
		{"a telemetry line first", "t", with(func(o *Opening) {
			o.System = blocks("X-Anthropic-Billing-Header: nonce=1\nYou mend clocks.")
		}), true},
		{"a tool more", "t", with(func(o *Opening) { o.Tools = []Tool{tool("a")} }), false},
		{"system text moved into the first message", "t", Opening{First: blocks("You mend clocks." + context + "Oil the works.")}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := of(c.tenant, c.o); (got == base) != c.same {
				t.Errorf("same fingerprint: %v", got == base)
			}
		})
	}
	if len(base) != 64 {
		t.Errorf("not a SHA-256 in hex: %q", base)
	}
}

func TestFingerprintToolsAreASet(t *testing.T) {
	of := func(tools ...Tool) string {
		id, _ := Fingerprint("t", Opening{Tools: tools}, warmrouteProfile.Opener)
		return id
	}
	base := of(tool("a"), tool("b"), tool("c"))
	if of(tool("c"), tool("a"), tool("b")) != base || of(tool("a"), tool("b"), tool("c"), tool("a")) != base {
		t.Error("order or repetition of tools matters")
	}
	for _, other := range []string{
		of(tool("a"), tool("b")),
		of(tool("a"), tool("b"), Tool{Name: []byte("c"), Description: []byte("does c"), Schema: []byte(`{}`)}),
		of(tool("a"), tool("b"), Tool{Name: []byte("c"), Description: []byte("else"), Schema: []byte(`{"type":"object"}`)}),
		of(tool("a"), tool("b"), Tool{Name: []byte("cdoes "), Description: []byte("c"), Schema: []byte(`{"type":"object"}`)}),
	} {
		if other == base {
			t.Error("a tool's name, description or schema does not matter")
		}
	}
}

func TestFingerprintCoversTheFirst4096Characters(t *testing.T) {
	of := func(texts ...string) string {
		id, _ := Fingerprint("t", Opening{First: blocks(texts...)}, warmrouteProfile.Opener)
		return id
	}
	most := strings.Repeat("é", MaxOpening-1)
	if of(most+"a"+"x") != of(most+"a"+"y") {
		t.Error("what follows character 4,096 matters")
	}
	if of(most+"a") == of(most+"b") {
		t.Error("character 4,096 does not matter")
	}
	if of(most, "a", "x") != of(most+"a") {
		t.Error("blocks are counted one by one")
	}
	if of("x-anthropic-billing-header: "+strings.Repeat("z", 5000)+"\n", most+"a") != of(most+"a") {
		t.Error("telemetry counts towards the limit")
	}
}

func TestFingerprintOfNothing(t *testing.T) {
	for _, o := range []Opening{{}, {System: blocks("")}, {System: blocks("x-anthropic-billing-header: a=b"), First: blocks("", "")}} {
		if id, ok := Fingerprint("t", o, warmrouteProfile.Opener); ok || id != "" {
			t.Errorf("%q has the fingerprint %q", o, id)
		}
	}
}

// The streaming reader agrees with joining, stripping and cutting whole texts.
func TestFingerprintTextAgainstItsTwin(t *testing.T) {
	twin := func(blocks [][]byte) string {
		var joined strings.Builder
		for _, b := range blocks {
			for line := range bytes.Lines(b) {
				if !strings.HasPrefix(strings.ToLower(string(line)), "x-anthropic-billing-header:") {
					joined.Write(line)
				}
			}
		}
		return string([]rune(joined.String())[:min(MaxOpening, len([]rune(joined.String())))])
	}
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 2))
	pieces := []string{"x-anthropic-billing-header: n=1", "\n", "é", "word ", strings.Repeat("long", 300), "x-anthropic"}
	for range 5000 {
		var texts []string
		for range rng.IntN(5) {
			var text string
			for range rng.IntN(8) {
				text += pieces[rng.IntN(len(pieces))]
			}
			texts = append(texts, text)
		}
		var got []byte
		eachText(blocks(texts...), MaxOpening, func(text []byte) { got = append(got, text...) })
		if want := twin(blocks(texts...)); string(got) != want {
			t.Fatalf("seed %d: %q\nread as %.80q\nnot     %.80q", seed, texts, got, want)
		}
	}
}
