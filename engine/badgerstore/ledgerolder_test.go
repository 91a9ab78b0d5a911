package badgerstore

import (
	"encoding/hex"
	"testing"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// What a release before version 2 wrote of one turn with three attempts, at the key "key".
const (
	olderRecord  = "0100b5e82f0600067475726e2d34000274310005636f6465780009726573706f6e736573000973657373696f6e2d3100056167656e740006706172656e74000e6f70656e61692f6770742d352e360000000b7368613235363a35663163000b646565707365656b2f7634000870726f6d6f746564000c73696e676c655f726f7574650008646565707365656b0008746f676574686572000a63616368655f726561640900117265706f727465642b6e65775f74657874a8ece9b00daab4de7580ddf0c1129ea3400123000e01030036040f0000156f6e65206f66206e6f206b6e6f776e2070726963650006000800066f70656e616900096163636f756e742d3009000b0e1409000b0f00096163636f756e742d310906010b0f1509000662726f6b656e000673747265616d090014746f6765746865722d646565707365656b2f763409a8ece9b00daa8ea37f9003e48ddbc402a891eef8010000000000000000000000010b0e1409161700077061727469616c0014646565707365656b2d646565707365656b2f7634000764656661756c74a8ece9b00daad0faae019003c284b3cc04dcc5a0ef0380dd2100c231b202e445a0170000000000010b0e14090006736572766564090007646572697665641a09a8ece9b00daabb8584019003faf0a7f104e8d38ea0039ebb0200d65efc09aa28b80d01030036010300dc010123000e0000"
	olderRollUp  = "0104d128c008646565707365656b0870726f6d6f74656422020000060602020200029ebb0200d65efc09aa28b80d1d0080acc497cacb041d0000"
	olderSession = "01f22eae460002743100056167656e74000973657373696f6e2d310005636f6465780006706172656e74a8ece9b00daab4de75acece9b00daac1a2c4040002000b646565707365656b2f7634020008646565707365656b0207020000060602020200029ebb0200d65efc09aa28b80d1d0080acc497cacb041d0000"
)

// An update of the gateway keeps the books that an older one wrote.
func TestBooksOfVersionOneAreRead(t *testing.T) {
	key := []byte("key")
	bytes := func(text string) []byte {
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	usage := pricing.Usage{Input: 20175, CacheWrite5m: 6059, CacheWrite1h: 638, Output: 2581, Reasoning: 860}
	same := func(what string, s engine.Sums) {
		t.Helper()
		if s.Turns != 1 || s.Attempts != 3 || s.Billed != 3 || s.CostKnown != 1 || s.Usage != usage || s.Cost.String() != "0.01009454" {
			t.Errorf("%s: %+v", what, s)
		}
	}
	b, ok := decodeBooked(key, bytes(olderRecord))
	if !ok || b.ID != "turn-4" || b.Model != "deepseek/v4" || len(b.Attempts) != 3 || b.Outcome != engine.Promoted {
		t.Fatalf("the record: %t, %+v", ok, b)
	}
	same("the record", engine.Sum(b))
	s, ok := decodeSession(key, bytes(olderSession))
	if !ok || s.ID != "session-1" {
		t.Fatalf("the session: %t, %+v", ok, s)
	}
	same("the session", s.Sums)
	lines, ok := decodeRows(key, bytes(olderRollUp))
	if !ok || len(lines) != 1 {
		t.Fatalf("the roll-up: %t, %d lines", ok, len(lines))
	}
	var fast fast
	in := input{b: lines[0].stored}
	if fast.add(&in); in.bad || len(in.b) != 0 {
		t.Error("the roll-up is not added up")
	}
	same("the roll-up, added up", fast.sums())
	line, ok := lines.at("deepseek", engine.Promoted)
	if !ok {
		t.Fatal("the roll-up's line is not read")
	}
	same("the roll-up's line", *line.sums)

	*line.sums = line.sums.Add(engine.Sum(b)) // an older line, written on
	again, ok := decodeRows(key, encodeRows(key, lines))
	if line, _ := again.at("deepseek", engine.Promoted); !ok || line.sums.Turns != 2 || line.sums.PricedPrompt != usage.Prompt() {
		t.Errorf("written on: %+v", line.sums)
	}
}
