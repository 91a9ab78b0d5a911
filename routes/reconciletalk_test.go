package routes_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/warmroute/warmroute/catalog"
)

// sayings are what people in the reconciled world talk of.
var sayings = []string{
	"The pilot boards at the outer buoy and asks for the draught. ",
	"Two lines forward, one aft, and the springs before the engine stops. ",
	"The manifest lists forty crates of lamp oil and one piano. ",
	"Nobody enters the lock while its gate is moving. ",
}

// talk is one session of the reconciled world.
type talk struct {
	id     string
	model  string
	api    catalog.API
	system string
	said   []string // by the user and the assistant in turn
	hour   bool     // marks what it begins with for an hour
	flex   bool
}

func newTalk(r *rand.Rand, id string, of int) *talk {
	m := &market[of%len(market)]
	k := &talk{id: id, model: m.model, api: m.api, hour: r.IntN(2) == 0, flex: m.api != catalog.Messages && r.IntN(4) == 0}
	k.system = "Harbour " + id + ". " + strings.Repeat(sayings[r.IntN(len(sayings))], 2+r.IntN(18))
	return k
}

// body is the request of the next turn.
func (k *talk) body(r *rand.Rand, turn int, leaves string, stream bool) string {
	said := fmt.Sprintf("<%s/%d%s> ", k.id, turn, leaves) + strings.Repeat(sayings[r.IntN(len(sayings))], 1+r.IntN(3))
	k.said = append(k.said, said)
	marker := func(ttl string) string {
		if ttl == "" {
			return ""
		}
		return `,"cache_control":{"type":"ephemeral","ttl":"` + ttl + `"}`
	}
	first := "5m"
	if k.hour {
		first = "1h"
	}
	var messages strings.Builder
	for i, text := range k.said {
		role := [2]string{"user", "assistant"}[i%2]
		if i > 0 {
			messages.WriteByte(',')
		}
		if k.api == catalog.Messages {
			end := ""
			if i == len(k.said)-1 {
				end = marker("5m")
			}
			fmt.Fprintf(&messages, `{"role":%q,"content":[{"type":"text","text":%q%s}]}`, role, text, end)
			continue
		}
		fmt.Fprintf(&messages, `{"role":%q,"content":%q}`, role, text)
	}
	k.said = append(k.said, "So be it.")
	more := ""
	if stream {
		more += `,"stream":true`
		if k.api == catalog.Chat && r.IntN(2) == 0 {
			more += `,"stream_options":{"include_usage":true}`
		}
	}
	if k.flex {
		more += `,"service_tier":"flex"`
	}
	switch k.api {
	case catalog.Messages:
		return fmt.Sprintf(`{"model":%q,"max_tokens":%d%s,"system":[{"type":"text","text":%q%s}],"messages":[%s]}`, k.model, 5+r.IntN(60), more, k.system, marker(first), messages.String())
	case catalog.Responses:
		return fmt.Sprintf(`{"model":%q%s,"instructions":%q,"input":[%s]}`, k.model, more, k.system, messages.String())
	}
	return fmt.Sprintf(`{"model":%q%s,"messages":[{"role":"system","content":%q},%s]}`, k.model, more, k.system, messages.String())
}
