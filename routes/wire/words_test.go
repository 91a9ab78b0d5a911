package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// opened is a body as a coding agent opens a session: 24 tools of 81 kB, a system
// text of 27 kB behind a telemetry line, a first message of 7 kB in four blocks.
func opened(first string) []byte {
	line := strings.Repeat("Mend what is broken and paint it. ", 2) + `\n`
	text := func(size int) string { return strings.Repeat(line, size/len(line)) }
	var tools []string
	for i := range 24 {
		tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","description":"%s","input_schema":{"type":"object","properties":{"path":{"type":"string","description":"%s"}}}}`, i, text(3000), text(400)))
	}
	return fmt.Appendf(nil, `{"model":"yard/m","tools":[%s],"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1;"},{"type":"text","text":"You mend fences."},{"type":"text","text":"%s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"%s"},{"type":"text","text":"%s"},{"type":"text","text":"%s"},{"type":"text","text":"%s"}]}]}`,
		strings.Join(tools, ","), text(27000), first, text(2000), text(2000), text(2000))
}

// The words of an opening are its texts without its tools.
func TestWordsAreTheOpeningWithoutTools(t *testing.T) {
	facts := read(t, catalog.Messages, opened("Mend the gate.")).Facts()
	whole, words := facts.Opening(), facts.Words()
	if len(whole.Tools) != 24 || words.Tools != nil {
		t.Fatalf("%d tools and %d", len(whole.Tools), len(words.Tools))
	}
	if engine.Thread(whole) != engine.Thread(words) || engine.Thread(words) == 0 {
		t.Error("the texts differ")
	}
	other := read(t, catalog.Messages, opened("Give it a title.")).Facts()
	if engine.Thread(other.Words()) == engine.Thread(words) {
		t.Error("two openings are one thread")
	}
}

// BenchmarkThread is what telling threads apart adds to one request of 116 kB.
func BenchmarkThread(b *testing.B) {
	facts := read(b, catalog.Messages, opened("Mend the gate.")).Facts()
	if engine.Thread(facts.Words()) == 0 {
		b.Fatal("no thread")
	}
	b.ReportAllocs()
	for b.Loop() {
		engine.Thread(facts.Words())
	}
}
