package edit

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// Difference is one thing that two catalogs mean differently.
type Difference struct {
	Where string // such as `model "m", route "beta"`; empty: the catalog itself
	Field string // such as "price.tiers[200000].input"; empty: the whole of it
	From  string // empty: it was not there
	To    string // empty: it is there no more
	// Change is by how much a price moved, in percent with a sign, such as "+12.5";
	// empty for what is no price, or was none or zero.
	Change string
}

// Kind says what a difference is: added, removed or changed.
func (d Difference) Kind() string {
	switch {
	case d.From == "":
		return "added"
	case d.To == "":
		return "removed"
	}
	return "changed"
}

// String is the difference on one line.
func (d Difference) String() string {
	what := strings.TrimPrefix(d.Where+": "+d.Field, ": ")
	switch {
	case d.Field == "":
		return fmt.Sprintf("%s %s", d.Where, d.Kind())
	case d.From == "":
		return fmt.Sprintf("%s: added %s", what, d.To)
	case d.To == "":
		return fmt.Sprintf("%s: removed, was %s", what, d.From)
	case d.Change != "":
		return fmt.Sprintf("%s: %s -> %s (%s %%)", what, d.From, d.To, d.Change)
	}
	return fmt.Sprintf("%s: %s -> %s", what, d.From, d.To)
}

// Differences are all that b means differently from a, in the order of a, and what
// only b has at the end of each thing. Prices are compared per million tokens,
// whatever units the files are in; the form of a file and its comments do not count.
func Differences(a, b *catalog.Catalog) []Difference {
	from, to := factsOf(a), factsOf(b)
	var all []Difference
	for i, names := range [...]func(*catalog.Catalog) []string{vendorNames, modelNames, policyNames} {
		if was, is := common(names(a), names(b)); was != is {
			all = append(all, Difference{Field: [...]string{"vendors", "models", "policies"}[i] + " in order", From: was, To: is})
		}
	}
	for _, t := range from.things {
		other, ok := to.byName[t.name]
		if !ok {
			all = append(all, Difference{Where: t.name, From: t.summary})
			continue
		}
		all = append(all, t.differences(other)...)
	}
	for _, t := range to.things {
		if _, ok := from.byName[t.name]; !ok {
			all = append(all, Difference{Where: t.name, To: t.summary})
		}
	}
	return all
}

// common are the names that both lists have, each in its own order, from the first
// that differs on; ties between candidates are broken by it.
func common(a, b []string) (was, is string) {
	a, b = kept(a, b), kept(b, a)
	for len(a) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return strings.Join(a, ", "), strings.Join(b, ", ")
}

// kept are the names of one list that another has as well.
func kept(names, other []string) []string {
	in := make(map[string]bool, len(other))
	for _, name := range other {
		in[name] = true
	}
	var both []string
	for _, name := range names {
		if in[name] {
			both = append(both, name)
		}
	}
	return both
}

func vendorNames(c *catalog.Catalog) (names []string) {
	for _, v := range c.Vendors {
		names = append(names, v.Name)
	}
	return names
}

func modelNames(c *catalog.Catalog) (names []string) {
	for _, m := range c.Models {
		names = append(names, m.Name)
	}
	return names
}

func policyNames(c *catalog.Catalog) (names []string) {
	for _, p := range c.Policies {
		names = append(names, p.Name)
	}
	return names
}

// fact is one thing that a catalog says.
type fact struct {
	field, text string
	rate        pricing.Rate // of a price
}

// thing is a part of a catalog that may come and go as a whole.
type thing struct {
	name, summary string
	facts         []fact
	at            map[string]int // of a field in facts
}

func (t *thing) say(field, text string) {
	if text != "" {
		t.facts = append(t.facts, fact{field: field, text: text})
	}
}

func (t *thing) rate(field string, r pricing.Rate) {
	if r.Known() {
		t.facts = append(t.facts, fact{field, r.String(), r})
	}
}

// differences are those of one thing that is in both.
func (t *thing) differences(other *thing) []Difference {
	var all []Difference
	t.index()
	other.index()
	for i := range t.facts {
		f := &t.facts[i]
		j, ok := other.at[f.field]
		switch {
		case !ok:
			all = append(all, Difference{Where: t.name, Field: f.field, From: f.text})
		case f.text != other.facts[j].text:
			all = append(all, Difference{t.name, f.field, f.text, other.facts[j].text, percent(f.rate, other.facts[j].rate)})
		}
	}
	for i := range other.facts {
		if f := &other.facts[i]; t.missing(f.field) {
			all = append(all, Difference{Where: t.name, Field: f.field, To: f.text})
		}
	}
	return all
}

func (t *thing) index() {
	if t.at != nil {
		return
	}
	t.at = make(map[string]int, len(t.facts))
	for i := range t.facts {
		t.at[t.facts[i].field] = i
	}
}

func (t *thing) missing(field string) bool {
	_, ok := t.at[field]
	return !ok
}

// percent is by how much a price moved, to a hundredth of a percent.
func percent(from, to pricing.Rate) string {
	if !from.Known() || !to.Known() || from.Decimal().IsZero() {
		return ""
	}
	d := to.Decimal().Sub(from.Decimal()).Mul(decimal.New(100, 0)).DivRound(from.Decimal(), 2)
	text := d.String()
	if d.IsPositive() {
		text = "+" + text
	}
	return text
}

// facts are all things of a catalog.
type facts struct {
	things []*thing
	byName map[string]*thing
}

func (f *facts) add(t *thing) {
	f.things = append(f.things, t)
	f.byName[t.name] = t
}

func factsOf(c *catalog.Catalog) *facts {
	f := &facts{byName: map[string]*thing{}}
	top := &thing{}
	top.say("currency", c.Currency)
	f.add(top)
	for _, v := range c.Vendors {
		f.add(vendorFacts(v))
	}
	for _, m := range c.Models {
		f.add(modelFacts(m))
		for _, r := range m.Routes {
			f.add(routeFacts(r))
		}
	}
	for _, p := range c.Policies {
		f.add(policyFacts(p))
	}
	return f
}

func vendorFacts(v *catalog.Vendor) *thing {
	t := &thing{name: "vendor " + strconv.Quote(v.Name)}
	t.say("api", apis(v.API))
	if v.BaseURL != nil {
		t.summary = v.BaseURL.String()
		t.say("base_url", t.summary)
	}
	t.say("auth.header", v.Auth.Header)
	for _, c := range v.Credentials {
		where := "env " + c.Env
		if c.File != "" {
			where = "file " + c.File
		}
		t.say("credentials["+c.ID+"]", where)
	}
	for _, h := range v.Headers {
		t.say("headers."+h.Name, h.Value)
	}
	t.cache(v.Cache)
	for _, h := range v.Hints {
		form := "hashed"
		if h.Raw {
			form = "raw"
		}
		if len(h.API) > 0 {
			form += ", api " + apis(h.API)
		}
		t.say("hints["+h.Header+h.Member+"]", form)
	}
	t.say("usage", v.Usage)
	for _, a := range v.API {
		t.usage("usage."+string(a), v.UsageOf(a), catalog.UsageConvention(v.Usage, a))
	}
	t.say("tags", strings.Join(v.Tags, ", "))
	t.say("accepts", strings.Join(v.Accepts, ", "))
	t.say("refuses", strings.Join(v.Refuses, ", "))
	if v.AllowPrivate {
		t.say("allow_private", "true")
	}
	return t
}

// apis is a list of them in words.
func apis(all []catalog.API) string {
	words := make([]string, len(all))
	for i, a := range all {
		words[i] = string(a)
	}
	return strings.Join(words, ", ")
}

// usage is in what a vendor counts otherwise than its convention.
func (t *thing) usage(name string, u, like *catalog.Usage) {
	if u == like {
		return
	}
	var own, usual thing
	for _, x := range []struct {
		to *thing
		u  *catalog.Usage
	}{{&own, u}, {&usual, like}} {
		for f := catalog.UsageField(1); f.String() != ""; f++ {
			x.to.say(name+"."+f.String(), strings.Join(x.u.Paths(f), ", "))
		}
		x.to.say(name+".cached", x.u.Cached.String())
		x.to.say(name+".reasoned", x.u.Reasoned.String())
		x.to.say(name+".rest_is_output", strconv.FormatBool(x.u.RestIsOutput))
		x.to.say(name+".no_read_is_zero", strconv.FormatBool(x.u.NoReadIsZero))
		x.to.say(name+".sides", strings.Join(x.u.SideKinds, ", "))
		places := make([]string, len(x.u.Places))
		for i, p := range x.u.Places {
			places[i] = strings.Join(p, ".")
		}
		x.to.say(name+".object", strings.Join(places, ", "))
	}
	for _, d := range usual.differences(&own) {
		to := d.To
		if to == "" {
			to = "none"
		}
		t.say(d.Field, to)
	}
}

// cache are the rules that hold, those of the vendor and the defaults included.
func (t *thing) cache(r catalog.CacheRules) {
	t.say("cache.family", string(r.Family))
	t.say("cache.ttl", r.TTL.String())
	if r.MinPrefix > 0 {
		t.say("cache.min_prefix", strconv.FormatInt(r.MinPrefix, 10))
	}
}

func modelFacts(m *catalog.Model) *thing {
	t := &thing{name: "model " + strconv.Quote(m.Name)}
	t.say("aliases", strings.Join(m.Aliases, ", "))
	if m.Context > 0 {
		t.say("context", strconv.FormatInt(m.Context, 10))
	}
	t.say("tags", strings.Join(m.Tags, ", "))
	vendors := make([]string, len(m.Routes))
	for i, r := range m.Routes {
		vendors[i] = r.Vendor.Name
	}
	t.summary = "routes " + strings.Join(vendors, ", ")
	t.say("routes", strings.Join(vendors, ", "))
	return t
}

func routeFacts(r *catalog.Route) *thing {
	t := &thing{name: "model " + strconv.Quote(r.Model.Name) + ", route " + strconv.Quote(r.Vendor.Name), summary: r.UpstreamModel}
	t.say("model", r.UpstreamModel)
	for i := range r.Price {
		t.period(&r.Price[i])
	}
	t.cache(r.Cache)
	t.say("tags", strings.Join(r.Tags, ", "))
	t.say("disabled", r.Disabled)
	return t
}

// period says what a price is while it holds. A period is known by its beginning.
func (t *thing) period(s *pricing.Sheet) {
	name := "price"
	if !s.From.IsZero() {
		name += "[" + moment(s.From).text + "]"
	}
	if !s.To.IsZero() {
		t.say(name+".valid_to", moment(s.To).text)
	}
	t.sheet(name, s)
}

func (t *thing) sheet(name string, s *pricing.Sheet) {
	t.band(name, &s.Band)
	if s.Card.Request.Known() {
		fee := pricing.PerMillion(s.Card.Request.Decimal().Shift(-6))
		t.rate(name+".request", fee)
	}
	for i := range s.Windows {
		w := &s.Windows[i]
		zone := "UTC"
		if w.Zone != nil {
			zone = w.Zone.String()
		}
		when := hour(w.From).text + "-" + hour(w.To).text + " " + zone
		if on := dayRanges(w.Days); len(on) > 0 {
			when = strings.Join(on, ",") + " " + when
		}
		at := name + ".windows[" + when + "]"
		t.say(at, "holds")
		t.band(at, &w.Band)
	}
	for _, tier := range slices.Sorted(maps.Keys(s.ServiceTiers)) {
		band := s.ServiceTiers[tier]
		at := name + ".service_tiers." + tier
		t.say(at, "priced")
		t.band(at, &band)
	}
	for _, x := range s.Surcharges {
		t.rate(name+".surcharges["+strings.TrimSpace(x.Speed+" "+x.Region)+"]", pricing.PerMillion(x.Times))
	}
	t.say(name+".as_of", s.AsOf)
	t.say(name+".source", s.Source)
}

func (t *thing) band(name string, b *pricing.Band) {
	t.card(name, &b.Card)
	for i := range b.Tiers {
		at := name + ".tiers[" + strconv.FormatInt(b.Tiers[i].Above, 10) + "]"
		t.say(at, "above "+strconv.FormatInt(b.Tiers[i].Above, 10))
		t.card(at, &b.Tiers[i].Card)
	}
	if b.Marginal {
		t.say(name+".marginal", "true")
	}
}

func (t *thing) card(name string, c *pricing.Card) {
	for _, r := range catalog.KeyedRates(c) {
		t.rate(name+"."+r.Key, *r.Rate)
	}
}

func policyFacts(p *catalog.Policy) *thing {
	t := &thing{name: "policy " + strconv.Quote(p.Name)}
	models := make([]string, len(p.Models))
	for i, m := range p.Models {
		models[i] = m.Name
	}
	t.summary = "models " + strings.Join(models, ", ")
	t.say("models", strings.Join(models, ", "))
	t.say("order", strings.Join(p.Order, ", "))
	t.say("sort", string(p.Sort))
	for _, w := range p.Weights {
		t.say("weights."+w.Vendor, w.Weight.String())
	}
	t.say("only", strings.Join(p.Only, ", "))
	t.say("ignore", strings.Join(p.Ignore, ", "))
	t.rate("max_price.input", p.MaxInput)
	t.rate("max_price.output", p.MaxOut)
	t.rate("max_price.cache_read", p.MaxRead)
	t.say("tags", strings.Join(p.Tags, ", "))
	t.say("affinity.gate", string(p.Affinity.Gate))
	if p.Affinity.OrderFirst {
		t.say("affinity.precedence", "order")
	}
	if p.Affinity.Off {
		t.say("affinity.enabled", "false")
	}
	t.say("affinity.cache_ttl", string(p.Affinity.CacheTTL))
	return t
}
