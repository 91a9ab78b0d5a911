package wire

import (
	"slices"

	"github.com/warmroute/warmroute/catalog"
)

// read turns the members that were found into facts and checks their types.
func (r *Request) read() error {
	f := &r.facts
	f.API = r.API
	if err := r.text(fieldModel, &f.Target); err != nil {
		return err
	}
	// What names a session is a hint: of a wrong type it names none, and fails nothing.
	f.CacheKey = r.loose(fieldCacheKey)
	f.BodyID, f.BodyCamelID = r.loose(fieldSessionID), r.loose(fieldSessionIDCamel)
	if err := r.readStream(); err != nil {
		return err
	}
	if err := r.readRouting(); err != nil {
		return err
	}
	switch {
	case f.Target != "" || len(f.Models) > 0:
	case r.at[fieldModel] == 0:
		return refused(`"model" is missing; name the model or policy to use`)
	default:
		return refused(`"model" is empty; name the model or policy to use`)
	}
	return r.readCaching()
}

// text reads a member that must be a string if it is there.
func (r *Request) text(f field, to *string) error {
	v := r.value(f)
	if !v.found() {
		return nil
	}
	text, ok := textOf(r.Body, v)
	if !ok {
		return refused("%q must be a string", fieldNames[f])
	}
	*to = string(text)
	return nil
}

// loose is a member's text; empty where it is missing or none. For members that
// are the vendor's to judge, and for those that only help affinity.
func (r *Request) loose(f field) string {
	text, _ := textOf(r.Body, r.value(f))
	return string(text)
}

func (r *Request) readStream() error {
	if v := r.value(fieldStream); v.found() {
		switch r.Body[v.from] {
		case 't':
			r.Stream = true
		case 'f':
		default:
			return refused(`"stream" must be true or false`)
		}
	}
	r.facts.Stream = r.Stream
	v := r.value(fieldStreamOptions)
	if !v.found() {
		return nil
	}
	if r.Body[v.from] != '{' {
		return refused(`"stream_options" must be an object`)
	}
	r.options.last = v.from + 1
	seen := false
	for w := walk(r.Body, v.from); w.next(); {
		r.options.last, r.options.some = w.to, true
		if !w.is("include_usage") {
			continue
		}
		if seen {
			return refused(`"include_usage" stands in stream_options twice; send it once`)
		}
		seen = true
		switch r.Body[w.from] {
		case 't', 'f':
			r.UsageAsked, r.UsageWanted = true, r.Body[w.from] == 't'
		case 'n':
			r.options.null = w.span()
		default:
			return refused(`"stream_options.include_usage" must be true or false`)
		}
	}
	return nil
}

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
	if r.Body[v.from] != '{' {
		return refused(`"provider" must be an object`)
	}
	return r.readPreferences(v, "provider")
}

func (r *Request) readProviderOptions(v span) error {
	if r.Body[v.from] != '{' {
		return refused(`"providerOptions" must be an object`)
	}
	seen := false
	for w := walk(r.Body, v.from); w.next(); {
		if !w.is("gateway") {
			continue
		}
		if seen {
			return refused(`"providerOptions.gateway" stands in the body twice; send it once`)
		}
		seen = true
		if w.isNull() {
			continue
		}
		if r.Body[w.from] != '{' {
			return refused(`"providerOptions.gateway" must be an object`)
		}
		if err := r.readPreferences(w.span(), "providerOptions.gateway"); err != nil {
			return err
		}
	}
	return nil
}

// preferences are the members of a routing object that are read, as bits of what was seen.
var preferences = [...]string{"sessionId", "sessionAffinity", "order", "only", "ignore", "sort", "models", "caching",
	"zeroDataRetention", "disallowPromptTraining", "zdr", "data_collection"}

// The tags by which a catalog says what a route or its vendor keeps to.
const (
	tagZDR        = "zdr"         // nothing of the request is retained
	tagNoTraining = "no_training" // nothing of it trains a model
)

// require adds a tag to those that a route must carry. A privacy setting that
// cannot be read is refused: it must not be dropped in silence.
func (r *Request) require(tag string, v span, where string) error {
	switch r.Body[v.from] {
	case 't':
		r.requireTag(tag)
	case 'f':
	default:
		return refused("%q must be true or false", where)
	}
	return nil
}

func (r *Request) requireTag(tag string) {
	if !slices.Contains(r.facts.Tags, tag) {
		r.facts.Tags = append(r.facts.Tags, tag)
	}
}

// readCollection reads OpenRouter's word for whether a vendor may keep and learn
// from what it is sent.
func (r *Request) readCollection(v span, where string) error {
	switch word, _ := textOf(r.Body, v); string(word) {
	case "deny":
		r.requireTag(tagNoTraining)
	case "allow":
	default:
		return refused("%q must be allow or deny", where)
	}
	return nil
}

// maxPreferences is how long a routing object may be. It is walked member by
// member, and what stands in it once more; real ones have some hundred bytes.
const maxPreferences = 64 << 10

// readPreferences reads one routing object. What an earlier one named stays.
func (r *Request) readPreferences(v span, where string) error {
	if v.to-v.from > maxPreferences {
		return refused("%q is longer than %d KiB", where, maxPreferences>>10)
	}
	f := &r.facts
	ours := where != "provider"
	var seen [len(preferences)]bool
	for w := walk(r.Body, v.from); w.next(); {
		name := w.name()
		for i, known := range preferences {
			if string(name) != known {
				continue
			}
			if seen[i] {
				return refused("%q stands in the body twice; send it once", where+"."+known)
			}
			seen[i] = true
		}
		if w.isNull() {
			continue
		}
		var err error
		switch {
		case string(name) == "order":
			err = r.keep(&f.Order, w.span(), where+".order")
		case string(name) == "only":
			err = r.keep(&f.Only, w.span(), where+".only")
		case string(name) == "ignore":
			err = r.keep(&f.Ignore, w.span(), where+".ignore")
		case string(name) == "sort":
			err = r.readSort(w.span(), where)
		case string(name) == "zdr" && !ours:
			err = r.require(tagZDR, w.span(), where+".zdr")
		case string(name) == "data_collection" && !ours:
			err = r.readCollection(w.span(), where+".data_collection")
		case !ours:
		case string(name) == "zeroDataRetention":
			err = r.require(tagZDR, w.span(), where+".zeroDataRetention")
		case string(name) == "disallowPromptTraining":
			err = r.require(tagNoTraining, w.span(), where+".disallowPromptTraining")
		case string(name) == "models":
			err = r.keep(&f.Models, w.span(), where+".models")
		case string(name) == "caching":
			// Cut out and left unread until markers are placed.
		case string(name) == "sessionId":
			text, _ := textOf(r.Body, w.span())
			f.OptionID = string(text)
		case string(name) == "sessionAffinity":
			f.AffinityOff = r.Body[w.from] == 'f'
		}
		if err != nil {
			return err
		}
	}
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

// readSort reads a sort: a word, or OpenRouter's object with the word in `by`.
func (r *Request) readSort(v span, where string) error {
	if r.Body[v.from] == '{' {
		by := span{}
		for w := walk(r.Body, v.from); w.next(); {
			if w.is("by") {
				by = w.span()
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
	return refused("%q must be price, blended, latency, throughput or weighted", where+".sort")
}

// readCaching reads what the request says of caches and of its origin.
func (r *Request) readCaching() error {
	f := &r.facts
	if v := r.value(fieldCaching); v.found() {
		if first := r.Body[v.from]; first != '"' && first != 't' && first != 'f' {
			return refused(`"caching" must be "auto"`)
		}
	}
	var ttl string
	if err := r.text(fieldCacheTTL, &ttl); err != nil {
		return err
	}
	if ttl != "" && lifetime(ttl) == 0 {
		return refused(`"cache_ttl" must be a lifetime such as 5m or 1h`)
	}
	f.Service, f.Speed, f.Region = r.loose(fieldServiceTier), r.loose(fieldSpeed), r.loose(fieldRegion)
	f.Retention = lifetime(r.loose(fieldRetention))
	if v := r.value(fieldCacheOptions); v.found() && r.Body[v.from] == '{' {
		for w := walk(r.Body, v.from); w.next(); {
			if !w.is("ttl") {
				continue
			}
			if text, ok := w.short(w.span()); ok {
				f.Retention = max(f.Retention, lifetime(string(text)))
			}
		}
	}
	if v := r.value(fieldMetadata); v.found() && r.Body[v.from] == '{' {
		for w := walk(r.Body, v.from); w.next(); {
			if !w.is("user_id") {
				continue
			}
			if text, ok := textOf(r.Body, w.span()); ok {
				f.MetadataUser = string(text)
			}
		}
	}
	if f.PreviousResponse = r.loose(fieldPreviousResponse); f.PreviousResponse != "" {
		f.Origin = fieldNames[fieldPreviousResponse]
	}
	if v := r.value(fieldStore); v.found() {
		f.Unstored = r.Body[v.from] == 'f'
	}
	if r.hasOpening() {
		f.Opening, f.Words, f.Prefix = r.opening, r.words, r.prefix
	}
	return nil
}
