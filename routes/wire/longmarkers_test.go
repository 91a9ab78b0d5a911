package wire

import (
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

func TestMarkersThatAskForAnHour(t *testing.T) {
	const (
		bare  = `"cache_control":{"type":"ephemeral"}`
		brief = `"cache_control":{"ttl":"5m","type":"ephemeral"}`
		hour  = `"cache_control":{"type":"ephemeral","ttl":"1h"}`
		other = `"cache_control":{"type":"lasting","ttl":"1h"}`
	)
	for name, c := range map[string]struct {
		markers []string
		all     int
		long    int
	}{
		"none":                 {nil, 0, 0},
		"one without":          {[]string{bare}, 1, 0},
		"one of an hour":       {[]string{hour}, 1, 1},
		"one of each":          {[]string{hour, bare, brief}, 3, 1},
		"all of an hour":       {[]string{hour, hour}, 2, 2},
		"one of no known type": {[]string{hour, other}, 1, 1},
	} {
		var blocks []string
		for _, marker := range c.markers {
			blocks = append(blocks, `{"type":"text","text":"a",`+marker+`}`)
		}
		r, err := ReadRequest(catalog.Messages, []byte(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[`+strings.Join(blocks, ",")+`]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if f := r.Facts(); f.Markers != c.all || f.LongMarkers != c.long {
			t.Errorf("%s: %d markers, %d of an hour; want %d, %d", name, f.Markers, f.LongMarkers, c.all, c.long)
		}
	}
}
