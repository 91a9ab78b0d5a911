package wire

import (
	"fmt"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// BenchmarkHear is relaying one stream of a megabyte and hearing what it says; it is
// to be compared with BenchmarkRelay.
func BenchmarkHear(b *testing.B) {
	for _, c := range []struct {
		api    catalog.API
		stream []byte
	}{{catalog.Chat, chatStream(1 << 20)}, {catalog.Messages, messagesStream(1 << 20)}} {
		for _, hears := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/hears=%v", c.api, hears), func(b *testing.B) {
				b.SetBytes(int64(len(c.stream)))
				b.ReportAllocs()
				var r *Relay
				for b.Loop() {
					r = NewRelay(RelayOptions{API: c.api, Hears: hears})
					for s := c.stream; len(s) > 0; {
						n := min(4096, len(s))
						r.Feed(s[:n])
						s = s[n:]
					}
					r.Finish()
				}
				if (r.Said() != engine.Said{}) != hears {
					b.Fatalf("%+v", r.Said())
				}
			})
		}
	}
}

// BenchmarkLast is hashing the last assistant turn of one request.
func BenchmarkLast(b *testing.B) {
	body := agentBody(1 << 20)
	r := read(b, catalog.Chat, body)
	last := r.Facts().Last
	if last == nil || last() == (engine.Said{}) {
		b.Fatal("there is none")
	}
	b.ReportAllocs()
	for b.Loop() {
		last()
	}
}
