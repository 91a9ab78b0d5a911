package pricelist

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/warmroute/warmroute/pricing"
)

// openRouterField is the place in a card of OpenRouter's words.
var openRouterField = map[string]int{
	"prompt": 0, "completion": 1, "input_cache_read": 2, "input_cache_write": 3, "input_cache_write_1h": 4,
}

var openRouterOther = regexp.MustCompile(`audio|image|video|reasoning|search|file|citation`)

// readOpenRouter reads /api/v1/models: {"data": [...]}, USD per token as texts.
// Every row's vendor is OpenRouter, whoever serves it behind.
func readOpenRouter(l *List, root *value, _ string) error {
	data := root.get("data")
	if root.is(array) {
		data = root
	}
	if !data.is(array) {
		return errors.New(`has no list "data" of models; give the answer of /api/v1/models`)
	}
	for i, e := range data.items {
		l.openRouter("data["+strconv.Itoa(i)+"]", e)
	}
	return nil
}

func (l *List) openRouter(place string, e *value) {
	id := e.get("id").str()
	p := e.get("pricing")
	switch {
	case id == "" || !p.is(object):
		if id != "" {
			place = id
		}
		l.skip(place, Malformed, "no id or no pricing")
		return
	case negative(p.get("prompt")) || negative(p.get("completion")):
		l.skip(id, Negative, "a router")
		return
	case !answersText(e.get("architecture", "output_modalities")):
		l.skip(id, NotChat, "its output is not text")
		return
	}
	r, ok := l.begin(id, OpenRouter, id)
	if !ok {
		return
	}
	r.Context = tokens(e.get("context_length"))
	r.duplicates(e)
	r.duplicates(p)
	var s pricing.Sheet
	s.Card = r.openRouterCard(p, "")
	if fee := r.rate(p.get("request"), "request", perToken); positive(fee) {
		s.Card.Request = fee
	}
	if overrides := p.get("overrides"); overrides.is(array) {
		for i, o := range overrides.items {
			at := "overrides[" + strconv.Itoa(i) + "]"
			above, ok := count(o.get("min_prompt_tokens"))
			if !ok || above == 0 {
				r.flag(TierUnreadable, at, "has no min_prompt_tokens; left out")
				continue
			}
			r.tier(&s.Band, above, r.openRouterCard(o, at+"."), at)
		}
	}
	r.Price = pricing.Price{s}
	l.done(r)
}

// negative says whether a price is below zero.
func negative(v *value) bool {
	return (v.is(text) || v.is(number)) && strings.HasPrefix(strings.TrimSpace(v.text), "-") && nonzero(v)
}

func (r *Row) openRouterCard(p *value, at string) pricing.Card {
	var c pricing.Card
	if !p.is(object) {
		return c
	}
	for i, key := range p.keys {
		v := p.items[i]
		if f, ok := openRouterField[key]; ok {
			*rates(&c)[f] = r.rate(v, at+key, perToken)
			continue
		}
		switch {
		case key == "internal_reasoning" && sameNumber(v, p.get("completion")):
		case key == "overrides" || key == "min_prompt_tokens" || key == "request":
		case openRouterOther.MatchString(key):
			r.unread(at+key, v, openRouterOther)
		case nonzero(v):
			r.flag(UnknownField, at+key, "%s %s is not known to this reader; not read", key, quote(v.text))
		}
	}
	r.settle(&c, at)
	return c
}
