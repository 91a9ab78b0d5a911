package routes

import (
	"encoding/json"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// choiceShape is one candidate of a turn that is carried out elsewhere: whom to ask
// for what with which credential, never a key.
type choiceShape struct {
	Model         string `json:"model"` // public name
	Vendor        string `json:"vendor"`
	UpstreamModel string `json:"upstream_model"` // what the vendor is to be asked for
	Credential    string `json:"credential"`     // id of the vendor's credential; empty where it needs none
	Group         string `json:"group"`          // client, or operator
	Down          bool   `json:"down"`           // it fails, or is told to wait
}

func choiceOf(c *engine.Candidate) choiceShape {
	return choiceShape{c.Route.Model.Name, c.Route.Vendor.Name, c.Route.UpstreamModel, c.Credential, groupOf(c.Group), c.Down}
}

// decidedShape is the answer of /v1/route.
type decidedShape struct {
	Turn     string          `json:"turn"`    // to be reported under
	Expires  time.Time       `json:"expires"` // it is forgotten then, unless something is heard of it
	Target   string          `json:"target"`
	Scope    string          `json:"scope"` // name of the policy; empty for a model
	Session  *namedShape     `json:"session"`
	Order    []choiceShape   `json:"order"`             // in which to try
	Affinity []affinityShape `json:"affinity"`          // of each model in the order
	Ignored  []string        `json:"ignored,omitempty"` // settings of the request that mean nothing here
}

// namedShape is how a request's session was found.
type namedShape struct {
	ID     string  `json:"id"`
	Source string  `json:"source"` // explicit, agent, chain or fingerprint
	Client *string `json:"client"`
	Parent *string `json:"parent"`
}

// affinityShape is what affinity found for one model; its members beside model are
// those of provider_metadata.gateway.routing.affinity.
type affinityShape struct {
	Model     string          `json:"model"`
	Outcome   string          `json:"outcome"`
	Pinned    string          `json:"pinnedProvider,omitempty"`
	Displaced string          `json:"displacedProvider,omitempty"`
	Detail    string          `json:"detail,omitempty"`
	Gate      *askedGateShape `json:"gate,omitempty"`
}

// askedGateShape is what a gate compared, as provider_metadata shows it.
type askedGateShape struct {
	Name   string       `json:"name"`
	Pays   bool         `json:"pays"`
	Own    ownShape     `json:"own"`
	Rivals []rivalShape `json:"rivals"`
	Prompt int64        `json:"prompt_tokens"`
	Basis  string       `json:"basis,omitempty"`
}

func affinityOf(f *engine.Finding) affinityShape {
	a := affinityShape{f.Model.Name, string(f.Outcome), f.Pinned, f.Displaced, string(f.Detail), nil}
	if f.Gate == "" {
		return a
	}
	a.Gate = &askedGateShape{
		string(f.Gate), f.Verdict.Pays, ownShape{f.Verdict.CacheRead, f.Verdict.Input},
		make([]rivalShape, 0, len(f.Verdict.Rivals)), f.Prompt.Tokens, f.Prompt.Basis,
	}
	for _, r := range f.Verdict.Rivals {
		a.Gate.Rivals = append(a.Gate.Rivals, rivalShape{r.Vendor, r.Input})
	}
	return a
}

func decidedOf(t *engine.Turn, ignored []string, expires time.Time) decidedShape {
	s := decidedShape{
		Turn: t.ID, Expires: expires.UTC(), Target: t.Target, Scope: t.Scope, Ignored: ignored,
		Order:    make([]choiceShape, 0, len(t.Decision.Order)),
		Affinity: make([]affinityShape, 0, len(t.Decision.Models)),
	}
	if t.Session.Found() {
		s.Session = &namedShape{t.Session.ID, t.Session.Source(), text(t.Session.Client), text(t.Session.Parent)}
	}
	for _, i := range t.Decision.Order {
		s.Order = append(s.Order, choiceOf(&t.Plan.Candidates[i]))
	}
	for i := range t.Decision.Models {
		s.Affinity = append(s.Affinity, affinityOf(&t.Decision.Models[i]))
	}
	return s
}

// askShape is what /v1/route is asked. Body is the client's request as it came, or
// without its conversation; prompt then says how large that is.
type askShape struct {
	API     string            `json:"api,omitempty"`     // chat, responses or messages
	Path    string            `json:"path,omitempty"`    // or the path that the client asked for
	Headers map[string]string `json:"headers,omitempty"` // the client's; those that hold keys are not read
	Body    json.RawMessage   `json:"body"`
	Prompt  *promptShape      `json:"prompt,omitempty"`
}

// promptShape is what is known of a prompt that is not sent along.
type promptShape struct {
	Tokens    *int64 `json:"tokens,omitempty"`     // either this
	TextBytes *int64 `json:"text_bytes,omitempty"` // or this
	Markers   int    `json:"markers,omitempty"`    // cache_control markers in it
	MarkerTTL string `json:"marker_ttl,omitempty"` // the longest that they ask for: 5m or 1h
}

// reportShape is what /v1/outcomes is told.
type reportShape struct {
	Turn     string       `json:"turn"`
	Attempts []triedShape `json:"attempts"`          // all that were made so far, in their order
	Final    *bool        `json:"final,omitempty"`   // whether none follows; true if left out
	Took     *float64     `json:"took_ms,omitempty"` // of the turn; if left out, until now
}

// triedShape is one attempt as it is told of. The names of its candidate are those of
// the order; what is left out is not compared.
type triedShape struct {
	Vendor        string  `json:"vendor"`
	Model         *string `json:"model,omitempty"`
	UpstreamModel *string `json:"upstream_model,omitempty"`
	Credential    *string `json:"credential,omitempty"`
	Group         *string `json:"group,omitempty"`
	Down          *bool   `json:"down,omitempty"` // of the order, and not compared

	Stage      string          `json:"stage,omitempty"`       // refused, broken, abandoned or served; left out while the vendor works on it
	Status     int             `json:"status,omitempty"`      // the vendor's
	Failure    string          `json:"failure,omitempty"`     // if left out, what the status says
	RetryAfter string          `json:"retry_after,omitempty"` // the vendor's header
	Committed  bool            `json:"committed,omitempty"`   // the client has got something of it
	Started    *time.Time      `json:"started_at,omitempty"`
	Accepted   *time.Time      `json:"accepted_at,omitempty"`   // when 2xx headers had come
	FirstByte  *float64        `json:"first_byte_ms,omitempty"` // from the attempt's start
	Took       *float64        `json:"took_ms,omitempty"`
	Usage      json.RawMessage `json:"usage,omitempty"`          // the vendor's own object
	Tokens     *bucketsShape   `json:"tokens,omitempty"`         // or the same in buckets that do not overlap
	Complete   *bool           `json:"usage_complete,omitempty"` // whether that is all that was used; if left out, where it served
	Served     string          `json:"served_model,omitempty"`
	Tier       string          `json:"service_tier,omitempty"`
	Response   string          `json:"response_id,omitempty"` // of an answer of /v1/responses
	Said       *saidShape      `json:"said,omitempty"`        // the answer, where a chain of turns names the session
}

// saidShape is the assistant's turn that an answer holds. Its hashes are kept where the
// session's source is chain, and nothing else of it.
type saidShape struct {
	Text      string   `json:"text"`                 // without reasoning
	ToolCalls []string `json:"tool_calls,omitempty"` // their ids
}

// bucketsShape is a usage in buckets. Cache_read left out is not known, and no miss.
type bucketsShape struct {
	Uncached     *int64 `json:"uncached"`
	CacheRead    *int64 `json:"cache_read,omitempty"`
	CacheWrite5m int64  `json:"cache_write_5m,omitempty"`
	CacheWrite1h int64  `json:"cache_write_1h,omitempty"`
	Output       *int64 `json:"output"`
	Reasoning    int64  `json:"reasoning,omitempty"`
}

// toldShape is the answer of /v1/outcomes.
type toldShape struct {
	Turn     string           `json:"turn"`
	Settled  bool             `json:"settled"`  // it is in the books, and nothing that is told changes it
	Expires  *time.Time       `json:"expires"`  // null once it is settled
	Attempts []bookedTryShape `json:"attempts"` // that have ended
	Next     *choiceShape     `json:"next"`     // whom to try now; null where nobody is
}

// bookedTryShape is an attempt as it was understood.
type bookedTryShape struct {
	choiceShape
	Stage   string       `json:"stage"`
	Failure *string      `json:"failure"`
	Quality string       `json:"usage_quality"` // authoritative, derived, partial, invalid or missing
	Tokens  *tokensShape `json:"tokens"`        // null where the usage is not complete
	Cost    *amount      `json:"cost"`          // null where it is not known
}

func toldOf(t *engine.Turn, settled, open bool) toldShape {
	s := toldShape{Turn: t.ID, Settled: settled, Attempts: make([]bookedTryShape, 0, len(t.Attempts))}
	for i := range t.Attempts {
		a := &t.Attempts[i]
		b := bookedTryShape{
			choiceShape: choiceOf(&a.Candidate), Stage: a.Stage.String(), Failure: text(a.Failure),
			Quality: string(a.Quality), Cost: moneyOf(a.Cost.Total, a.Cost.Known),
		}
		if a.Quality == pricing.Missing {
			b.Quality = "missing"
		}
		if a.Quality.Complete() {
			tokens := tokensOf(a.Usage)
			b.Tokens = &tokens
		}
		s.Attempts = append(s.Attempts, b)
	}
	if settled || open {
		return s
	}
	if index, ok := engine.Next(t.Plan, t.Decision, t.Attempts); ok {
		next := choiceOf(&t.Plan.Candidates[index])
		s.Next = &next
	}
	return s
}
