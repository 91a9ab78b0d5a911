package wire

import (
	"strconv"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// Metadata renders provider_metadata for a finding: Vercel's gateway.routing
// with the gate's numbers beside it (design section 9). What does not exist is
// left out; a rate that is not known is null.
func Metadata(s engine.Session, f engine.Finding) []byte {
	b := make([]byte, 0, 512)
	b = append(b, `{"gateway":{"routing":{`...)
	if s.Found() {
		b = append(b, `"clientSessionId":`...)
		b = append(appendString(b, s.ID), `,"clientSessionIdSource":`...)
		b = append(appendString(b, s.Source()), ',')
	}
	b = append(b, `"affinity":{"outcome":`...)
	b = appendString(b, string(f.Outcome))
	b = appendMember(b, `,"pinnedProvider":`, f.Pinned)
	b = appendMember(b, `,"displacedProvider":`, f.Displaced)
	b = appendMember(b, `,"detail":`, string(f.Detail))
	if f.Gate != "" {
		b = appendGate(b, f)
	}
	return append(b, `}}}}`...)
}

func appendGate(b []byte, f engine.Finding) []byte {
	b = append(b, `,"gate":{"name":`...)
	b = append(appendString(b, string(f.Gate)), `,"pays":`...)
	b = strconv.AppendBool(b, f.Verdict.Pays)
	b = append(b, `,"own":{"cache_read":`...)
	b = append(appendRate(b, f.Verdict.CacheRead), `,"input":`...)
	b = append(appendRate(b, f.Verdict.Input), `},"rivals":[`...)
	for i, rival := range f.Verdict.Rivals {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"vendor":`...)
		b = append(appendString(b, rival.Vendor), `,"input":`...)
		b = append(appendRate(b, rival.Input), '}')
	}
	b = append(b, `],"prompt_tokens":`...)
	b = strconv.AppendInt(b, f.Prompt.Tokens, 10)
	return append(appendMember(b, `,"basis":`, f.Prompt.Basis), '}')
}

// appendMember appends a member unless its text is empty.
func appendMember(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return appendString(append(b, name...), text)
}

func appendRate(b []byte, r pricing.Rate) []byte {
	if !r.Known() {
		return append(b, "null"...)
	}
	return appendString(b, r.String())
}
