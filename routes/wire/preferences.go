package wire

import (
	"bytes"
	"slices"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// setting is a member of a routing object and how it is read; where is its full name.
// A value that is null is not read. Only the caller's own keys have no read: they must
// be known by more than their value, since they are cut out wherever the object stays.
type setting struct {
	name string
	read func(r *Request, v span, where string) error
}

// gatewaySettings are the members of providerOptions.gateway that are read. Sources: the Vercel
// pages "Provider Options", "Session Affinity", "Automatic Caching", and those on
// security and compliance. Its tags and user, which only label a request, are not.
var gatewaySettings = [...]setting{
	{"sessionId", readOptionID},
	{"sessionAffinity", readAffinity},
	{"order", readOrder},
	{"only", readOnly},
	{"ignore", readIgnore},
	{"sort", readSort},
	{"models", readModels},
	{"caching", readAuto},
	{"cacheTtl", readTTL},
	{"cache_ttl", readTTL},
	{"zeroDataRetention", requires(tagZDR)},
	{"disallowPromptTraining", requires(tagNoTraining)},
	{"hipaaCompliant", requires(tagHIPAA)},
	{"byok", nil}, // see ownkeys.go
}

// providerSettings are the members of OpenRouter's provider that are read. Source:
// OpenRouter, "Provider Routing". Its preferred_min_throughput and
// preferred_max_latency are wishes, which may be left unheard.
var providerSettings = [...]setting{
	{"order", readOrder},
	{"only", readOnly},
	{"ignore", readIgnore},
	{"sort", readSort},
	{"allow_fallbacks", readFallbacks},
	{"require_parameters", readStrict},
	{"max_price", readMaxPrice},
	{"quantizations", readQuantizations},
	{"data_collection", readCollection},
	{"zdr", requires(tagZDR)},
	{"enforce_distillable_text", requires(tagDistillable)},
}

// The tags by which a catalog says what a route or its vendor keeps to.
const (
	tagZDR         = "zdr"         // nothing of the request is retained
	tagNoTraining  = "no_training" // nothing of it trains a model
	tagHIPAA       = "hipaa"       // there is an agreement on health data
	tagDistillable = "distillable" // its answers may train other models
)

// readRouting reads where the request may go: our own providerOptions.gateway,
// and OpenRouter's provider where that names nothing.
func (r *Request) readRouting() error {
	f := &r.facts
	var err error
	if f.Models, err = list(r.Body, r.value(fieldModels), "models"); err != nil {
		return err
	}
	if v := r.value(fieldProviderOptions); v.found() {
		if err = r.readProviderOptions(v); err != nil {
			return err
		}
	}
	v := r.value(fieldProvider)
	if !v.found() {
		return nil
	}
	return r.readSettings(v, "provider", providerSettings[:])
}

func (r *Request) readProviderOptions(v span) error {
	if r.Body[v.from] != '{' {
		return refused(`"providerOptions" must be an object`)
	}
	seen := false
	for w := walk(r.Body, v.from); w.next(); {
		if !w.is("gateway") {
			r.ignore("providerOptions", w.name())
			continue
		}
		if seen {
			return refused(`"providerOptions.gateway" stands in the body twice; send it once`)
		}
		seen = true
		if w.isNull() {
			continue
		}
		if err := r.readSettings(w.span(), "providerOptions.gateway", gatewaySettings[:]); err != nil {
			return err
		}
	}
	return nil
}

// maxPreferences is how long a routing object may be. It is walked member by
// member, and what stands in it once more; real ones have some hundred bytes.
const maxPreferences = 64 << 10

// readSettings reads one routing object. What an earlier one named stays.
func (r *Request) readSettings(v span, where string, known []setting) error {
	switch {
	case r.Body[v.from] != '{':
		return refused("%q must be an object", where)
	case v.to-v.from > maxPreferences:
		return refused("%q is longer than %d KiB", where, maxPreferences>>10)
	}
	var seen [max(len(gatewaySettings), len(providerSettings))]bool
	for w := walk(r.Body, v.from); w.next(); {
		name := w.name()
		i := slices.IndexFunc(known, func(s setting) bool { return s.name == string(name) })
		if i < 0 {
			r.ignore(where, name)
			continue
		}
		full := where + "." + known[i].name
		if seen[i] {
			return refused("%q stands in the body twice; send it once", full)
		}
		seen[i] = true
		if w.isNull() {
			continue
		}
		var err error
		if read := known[i].read; read != nil {
			err = read(r, w.span(), full)
		} else {
			err = r.readOwnKeys(&w.member)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ignore notes a member that means nothing here, so that the client can be told.
func (r *Request) ignore(where string, name []byte) {
	r.facts.Disregard(where, name)
}

// misfit is ignore for a member of a wrong type that fails nothing; where is its full name.
func (r *Request) misfit(where string) {
	at := bytes.LastIndexByte([]byte(where), '.')
	r.ignore(where[:at], []byte(where[at+1:]))
}

// readOptionID reads what names the session: a hint, which of another type names none.
func readOptionID(r *Request, v span, where string) error {
	text, ok := textOf(r.Body, v)
	if !ok {
		r.misfit(where)
	}
	r.facts.OptionID = string(text)
	return nil
}

func readAffinity(r *Request, v span, where string) error {
	switch r.Body[v.from] {
	case 'f':
		r.facts.AffinityOff = true
	case 't':
	default:
		r.misfit(where)
	}
	return nil
}

func readOrder(r *Request, v span, where string) error  { return r.keep(&r.facts.Order, v, where) }
func readOnly(r *Request, v span, where string) error   { return r.keep(&r.facts.Only, v, where) }
func readIgnore(r *Request, v span, where string) error { return r.keep(&r.facts.Ignore, v, where) }
func readModels(r *Request, v span, where string) error { return r.keep(&r.facts.Models, v, where) }

// truth reads true or false.
func (r *Request) truth(v span, where string) (value bool, err error) {
	switch r.Body[v.from] {
	case 't':
		return true, nil
	case 'f':
		return false, nil
	}
	return false, refused("%q must be true or false", where)
}

// requires reads a setting that asks for routes with a tag. A setting of privacy that
// cannot be read is refused: it must not be dropped in silence.
func requires(tag string) func(*Request, span, string) error {
	return func(r *Request, v span, where string) error {
		on, err := r.truth(v, where)
		if on {
			r.requireTag(tag)
		}
		return err
	}
}

func (r *Request) requireTag(tag string) {
	if !slices.Contains(r.facts.Tags, tag) {
		r.facts.Tags = append(r.facts.Tags, tag)
	}
}

// readCollection reads OpenRouter's word for whether a vendor may keep and learn
// from what it is sent.
func readCollection(r *Request, v span, where string) error {
	switch word, _ := textOf(r.Body, v); string(word) {
	case "deny":
		r.requireTag(tagNoTraining)
	case "allow":
	default:
		return refused("%q must be allow or deny", where)
	}
	return nil
}

// readFallbacks reads whether vendors may be tried that the order does not name or
// that are not the first.
func readFallbacks(r *Request, v span, where string) error {
	on, err := r.truth(v, where)
	r.facts.NoBackup = !on
	return err
}

func readStrict(r *Request, v span, where string) (err error) {
	r.facts.Strict, err = r.truth(v, where)
	return err
}

// quantizations are OpenRouter's words. A catalog uses them as tags.
var quantizations = []string{"int4", "int8", "fp4", "fp6", "fp8", "fp16", "bf16", "fp32", "unknown"}

func readQuantizations(r *Request, v span, where string) error {
	words, err := list(r.Body, v, where)
	if err != nil {
		return err
	}
	for _, word := range words {
		if !slices.Contains(quantizations, word) {
			return refused("%q may name int4, int8, fp4, fp6, fp8, fp16, bf16, fp32 and unknown", where)
		}
	}
	r.facts.AnyTags = words
	return nil
}

// keep reads a list into to unless something stands there already.
func (r *Request) keep(to *[]string, v span, where string) error {
	names, err := list(r.Body, v, where)
	if err == nil && len(*to) == 0 {
		*to = names
	}
	return err
}

// maxNames is how many vendors or models a list may name.
const maxNames = 256

// list reads an array of strings; nil where there is none.
func list(b []byte, v span, where string) ([]string, error) {
	if !v.found() {
		return nil, nil
	}
	if b[v.from] != '[' {
		return nil, refused("%q must be a list of strings", where)
	}
	s := scanner{b: b}
	var names []string
	for e := each(&s, v.from, 1, false); e.next(); {
		text, ok := textOf(b, span{e.from, e.to})
		if !ok {
			return nil, refused("%q must be a list of strings", where)
		}
		if len(names) == maxNames {
			return nil, refused("%q names more than %d", where, maxNames)
		}
		names = append(names, string(text))
	}
	return names, nil
}

// sorts are the words clients use for an order: ours, OpenRouter's and
// Vercel's cost, ttft and tps.
var sorts = map[string]catalog.Sort{
	"price": catalog.ByPrice, "cost": catalog.ByPrice,
	"blended": catalog.ByBlended,
	"latency": catalog.ByLatency, "ttft": catalog.ByLatency,
	"throughput": catalog.ByThroughput, "tps": catalog.ByThroughput,
	"weighted": catalog.ByWeight,
}

// readSort reads a sort: a word, or OpenRouter's object with the word in `by`. Its
// partition is always that of models: they are tried in the order that was asked for.
func readSort(r *Request, v span, where string) error {
	if r.Body[v.from] == '{' {
		by := span{}
		for w := walk(r.Body, v.from); w.next(); {
			switch {
			case w.is("by"):
				by = w.span()
			case !w.is("partition") || !w.isNull() && !w.isText("model"):
				r.ignore(where, w.name())
			}
		}
		v = by
	}
	word, ok := textOf(r.Body, v)
	if sort, known := sorts[string(word)]; known {
		if r.facts.Sort == catalog.CatalogOrder {
			r.facts.Sort = sort
		}
		return nil
	}
	if ok && len(word) == 0 {
		return nil
	}
	return refused("%q must be price, blended, latency, throughput or weighted", where)
}

// readAuto reads whether markers are to be placed. Of the body's two places for it the
// gateway's own option counts.
func readAuto(r *Request, v span, where string) error {
	word, _ := textOf(r.Body, v)
	on := string(word) == "auto"
	if !on && string(word) != "off" && r.Body[v.from] != 'f' {
		return refused(`%q must be "auto" or "off"`, where)
	}
	if !r.cachingSaid {
		r.facts.Caching, r.cachingSaid = on, true
	}
	return nil
}

// readTTL reads the lifetime of the markers that are placed: one of the two there are.
func readTTL(r *Request, v span, where string) error {
	word, _ := textOf(r.Body, v)
	ttl := lifetime(string(word))
	if ttl != 5*time.Minute && ttl != time.Hour {
		return refused(`%q must be "5m" or "1h"`, where)
	}
	if r.facts.CacheTTL == 0 {
		r.facts.CacheTTL = ttl
	}
	return nil
}
