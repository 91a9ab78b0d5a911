package pricelist

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
	"github.com/warmroute/warmroute/pricing"
)

// litellmPrice is a price member of a litellm entry: the rate, "_above_200k_tokens",
// and the service tier.
var litellmPrice = regexp.MustCompile(`^(input_cost_per_token|output_cost_per_token|cache_read_input_token_cost|` +
	`cache_creation_input_token_cost|cache_creation_input_token_cost_above_1hr|input_cost_per_token_cache_hit)` +
	`(?:_above_(\d{1,6})k_tokens)?(?:_(flex|priority|batches))?$`)

// litellmField is the place in a card of litellm's word for a rate.
var litellmField = map[string]int{
	"input_cost_per_token":                      0,
	"output_cost_per_token":                     1,
	"cache_read_input_token_cost":               2,
	"input_cost_per_token_cache_hit":            2, // the older word; the newer one counts
	"cache_creation_input_token_cost":           3,
	"cache_creation_input_token_cost_above_1hr": 4,
}

var (
	litellmOther  = regexp.MustCompile(`image|audio|video|pixel|second|character|query|page|credit|session|citation|dbu|reasoning|_1k_|per_gb|vector`)
	litellmUplift = regexp.MustCompile(`^regional_processing_uplift_multiplier_([a-z0-9-]{1,20})$`)
	money         = regexp.MustCompile(`cost|price|mtok|kcount|fee|multiplier|discount|surcharge`)
)

// readLiteLLM reads model_prices_and_context_window.json: an object of entries by
// key, USD per token.
func readLiteLLM(l *List, root *value, _ string) error {
	if !root.is(object) {
		return errors.New("is not an object of models; give model_prices_and_context_window.json")
	}
	for _, key := range root.again {
		l.skip(key, Repeated, "")
	}
	for i, key := range root.keys {
		l.litellm(key, root.items[i])
	}
	if len(l.Rows) == 0 && len(root.keys) > 0 && !root.items[0].is(object) {
		return errors.New("holds no entries of models; give model_prices_and_context_window.json")
	}
	return nil
}

func (l *List) litellm(key string, e *value) {
	provider := e.get("litellm_provider").str()
	mode := e.get("mode").str()
	switch {
	case !e.is(object):
		l.skip(key, Malformed, "not an object")
		return
	case key == "sample_spec" || provider == "":
		l.skip(key, Template, "")
		return
	case mode != "chat" && mode != "responses":
		if mode == "" {
			mode = "mode not stated"
		}
		l.skip(key, NotChat, mode)
		return
	case strings.Contains(key, "commitment/") || strings.Contains(key, "commitments/"):
		l.skip(key, Commitment, "")
		return
	}
	r, ok := l.begin(key, provider, litellmBare(key, provider))
	if !ok {
		return
	}
	r.UpstreamModel = upstreamID(provider, withoutRegion(litellmBare(key, provider)))
	r.Context, r.MinPrefix = tokens(e.get("max_input_tokens")), tokens(e.get("prompt_cache_min_tokens"))
	if r.Context == 0 {
		r.Context = tokens(e.get("max_tokens"))
	}
	r.duplicates(e)
	sheet := r.litellmSheet(e)
	if source := e.get("source").str(); strings.HasPrefix(source, "https://") {
		sheet.Source = source
	}
	if day := e.get("deprecation_date").str(); day != "" {
		r.flag(Deprecated, "deprecation_date", "the list gives %s as the day the model ends", quote(day))
	}
	r.Price = pricing.Price{sheet}
	l.done(r)
}

// litellmBare takes the provider off a key.
func litellmBare(key, provider string) string {
	first, rest, ok := strings.Cut(key, "/")
	if !ok {
		return key
	}
	word, whose := strings.ReplaceAll(first, "-", "_"), strings.ReplaceAll(provider, "-", "_")
	if word == whose || strings.HasPrefix(whose, word+"_") || VendorName(first) == VendorName(provider) && first != "meta" {
		return rest
	}
	return key
}

// withoutRegion takes off the segments by which litellm tells regions and kinds of
// deployment of Azure and Bedrock apart; the vendor's own id does not have them.
func withoutRegion(id string) string {
	for {
		first, rest, ok := strings.Cut(id, "/")
		if !ok || !cloudRegion.MatchString(first) && !slices.Contains([]string{"eu", "us", "global", "global-standard", "standard"}, first) {
			return id
		}
		id = rest
	}
}

// upstreamID is the id to send to a provider. Fireworks' short names get the path
// that its API asks for.
func upstreamID(provider, id string) string {
	if VendorName(provider) == "fireworks" && !strings.Contains(id, "/") {
		return "accounts/fireworks/models/" + id
	}
	return id
}

func (r *Row) litellmSheet(e *value) pricing.Sheet {
	type place struct {
		service string
		above   int64
	}
	cards := map[place]*pricing.Card{}
	var places []place
	at := func(p place) *pricing.Card {
		if cards[p] == nil {
			cards[p] = &pricing.Card{}
			places = append(places, p)
		}
		return cards[p]
	}
	at(place{})
	var s pricing.Sheet
	for i, key := range e.keys {
		m := litellmPrice.FindStringSubmatch(key)
		if m == nil {
			r.litellmOther(e, key, e.items[i], &s)
			continue
		}
		above, _ := strconv.ParseInt(m[2], 10, 64)
		card := at(place{m[3], above * 1000})
		rate := rates(card)[litellmField[m[1]]]
		if m[1] == "input_cost_per_token_cache_hit" && e.get("cache_read_input_token_cost"+strings.TrimPrefix(key, m[1])) != nil {
			continue
		}
		*rate = r.rate(e.items[i], key, perToken)
	}
	base := cards[place{}]
	r.settle(base, "")
	base.Request = s.Card.Request
	s.Card = *base
	bands := map[string]*pricing.Band{"": &s.Band}
	var services []string
	for _, p := range places {
		if p == (place{}) {
			continue
		}
		if bands[p.service] == nil {
			bands[p.service] = &pricing.Band{}
			services = append(services, p.service)
		}
		where := litellmWhere(p.service, p.above)
		r.settle(cards[p], where)
		if p.above == 0 {
			bands[p.service].Card = *cards[p]
			continue
		}
		r.tier(bands[p.service], p.above, *cards[p], strings.TrimSuffix(where, "."))
	}
	for _, name := range services {
		service(&s, strings.Replace(name, "batches", "batch", 1), *bands[name])
	}
	r.litellmRanges(e.get("tiered_pricing"), &s)
	return s
}

func litellmWhere(service string, above int64) string {
	var where string
	if service != "" {
		where = "service_tiers." + strings.Replace(service, "batches", "batch", 1) + "."
	}
	if above != 0 {
		where += "tiers[>" + strconv.FormatInt(above, 10) + "]."
	}
	return where
}

// litellmRanges reads tiered_pricing: prices by a range of prompt tokens, the
// first from 0. A range's lower end is the threshold.
func (r *Row) litellmRanges(list *value, s *pricing.Sheet) {
	if !list.is(array) {
		return
	}
	for i, e := range list.items {
		at := "tiered_pricing[" + strconv.Itoa(i) + "]"
		bounds := e.get("range")
		if !bounds.is(array) || len(bounds.items) != 2 {
			r.flag(TierUnreadable, at, "has no range of prompt tokens; left out")
			continue
		}
		from, ok := count(bounds.items[0])
		if !ok {
			r.flag(TierUnreadable, at, "its range does not begin with a number of tokens; left out")
			continue
		}
		var c pricing.Card
		for i, key := range e.keys {
			if f, ok := litellmField[key]; ok {
				*rates(&c)[f] = r.rate(e.items[i], at+"."+key, perToken)
				continue
			}
			if key != "range" {
				r.litellmOther(e, key, e.items[i], nil)
			}
		}
		r.settle(&c, at+".")
		switch {
		case from > 0:
			r.tier(&s.Band, from, c, at)
		case empty(s.Card):
			s.Card = c
		case !same(s.Card, c):
			r.flag(Contradiction, at, "the range from 0 has other prices than the entry itself; the entry's count")
		}
	}
}

// same says whether no price that both cards know differs.
func same(a, b pricing.Card) bool {
	x, y := rates(&a), rates(&b)
	for i := range x {
		if x[i].Known() && y[i].Known() && !x[i].Equal(*y[i]) {
			return false
		}
	}
	return true
}

// litellmOther reads what is not a token price: fees and multipliers. The rest that
// carries money is flagged.
func (r *Row) litellmOther(e *value, key string, v *value, s *pricing.Sheet) {
	switch {
	case key == "input_cost_per_request" && s != nil:
		s.Card.Request = r.rate(v, key, perToken)
		return
	case key == "provider_specific_entry" && s != nil:
		r.litellmMultipliers(v, s)
		return
	case key == "output_cost_per_reasoning_token" && sameNumber(v, e.get("output_cost_per_token")):
		return
	case key == "tiered_pricing" || key == "range":
		return
	}
	if m := litellmUplift.FindStringSubmatch(key); m != nil && s != nil {
		r.multiplier(v, key, pricing.Surcharge{Region: m[1]}, s)
		return
	}
	if key == "search_context_cost_per_query" && v.is(object) { // by how much is searched
		for _, size := range v.items {
			r.unread(key, size, litellmOther)
		}
		return
	}
	r.unread(key, v, litellmOther)
}

// litellmMultipliers reads provider_specific_entry: {"us": 1.1, "fast": 6.0}.
// "fast" is a speed, two letters are a region.
func (r *Row) litellmMultipliers(v *value, s *pricing.Sheet) {
	if !v.is(object) {
		return
	}
	for i, key := range v.keys {
		switch {
		case key == "fast":
			r.multiplier(v.items[i], key, pricing.Surcharge{Speed: key}, s)
		case len(key) == 2:
			r.multiplier(v.items[i], key, pricing.Surcharge{Region: key}, s)
		case v.items[i].is(number):
			r.flag(UnknownField, "provider_specific_entry."+key, "%s %s is not known to this reader; not read", key, quote(v.items[i].text))
		}
	}
}

func (r *Row) multiplier(v *value, key string, x pricing.Surcharge, s *pricing.Sheet) {
	if !v.is(number) && !v.is(text) {
		return
	}
	d, _, err := readNumber(v.text)
	if err != nil || !d.IsPositive() || d.GreaterThan(decimal.New(1, 3)) || !d.Equal(d.Truncate(6)) {
		r.flag(UnreadablePrice, key, "the multiplier %s cannot be read; left out", quote(v.text))
		return
	}
	if !d.Equal(decimal.New(1, 0)) {
		x.Times = d
		r.multiply(s, x)
	}
}

// unread flags a member that carries money and was not read. What other matches is
// known not to be a price of text tokens.
func (r *Row) unread(name string, v *value, other *regexp.Regexp) {
	switch {
	case v.is(object):
		for i, key := range v.keys {
			if money.MatchString(name) || money.MatchString(key) {
				r.unread(name+"."+key, v.items[i], other)
			}
		}
	case !nonzero(v):
	case other != nil && other.MatchString(name):
		r.notPriced(name, v)
	case money.MatchString(name):
		r.flag(UnknownField, name, "%s %s looks like money and is not known to this reader; not read", name, quote(v.text))
	}
}

// sameNumber says whether two members state the same number.
func sameNumber(a, b *value) bool {
	if a == nil || b == nil || !a.is(number) && !a.is(text) || !b.is(number) && !b.is(text) {
		return false
	}
	x, _, err := readNumber(a.text)
	y, _, err2 := readNumber(b.text)
	return err == nil && err2 == nil && x.Equal(y)
}

// duplicates flags members that stand twice in an entry.
func (r *Row) duplicates(e *value) {
	if e == nil {
		return
	}
	for _, key := range e.again {
		r.flag(DuplicateKey, key, "%s stands more than once; the last one counts", key)
	}
}
