package main

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

func catalogMatrixCommand() *cobra.Command {
	var output string
	var when moment
	var fresh, answer int64
	var keyed, marked bool
	c := &cobra.Command{
		Use:   "matrix CATALOG MODEL",
		Short: "Say whose warm cache beats whose fresh input, and where each comparison tips",
		Long: `Say for every two routes of a model that one request can go to: whether a warm
cache at one beats fresh input at the other, as the gate asks; from how large a warm
prefix this turn costs less where it is warm; from how many turns on moving away
pays; and from which share of the prompt read from a cache one is cheaper than the
other. For each route: after how many reads its cache writes have paid for
themselves.

A turn is a prompt of --prompt tokens, of which the last --new are in no cache, and
an answer of --answer tokens. New tokens are charged as writes where a route has a
price for writes. What a price is missing for is a question mark.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage(errors.New("matrix takes a catalog and a model: warmroute catalog matrix catalog.yaml kimi-k2.6"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			cat, err := loadCatalog(args[0])
			if err != nil {
				return err
			}
			terms, err := when.terms()
			if err != nil {
				return err
			}
			terms.Implicit = !marked
			if fresh < 0 || answer < 0 || fresh > when.Prompt {
				return usage(fmt.Errorf("--new %d and --answer %d: neither is below 0, and the new tokens are part of the prompt of %d", fresh, answer, when.Prompt))
			}
			target, ok := cat.Resolve(args[1])
			if !ok {
				return notFound(fmt.Errorf("the catalog has no model %q; warmroute catalog show lists them", args[1]))
			}
			if len(target.Models) > 1 {
				return usage(fmt.Errorf("%s is a policy over %s; name one of them", args[1], count(len(target.Models), "model")))
			}
			m := compared(target.Models[0], terms, pricing.Load{Warm: when.Prompt - fresh, New: fresh, Output: answer}, keyed)
			m.Currency = cat.Currency
			if len(m.Routes) == 0 {
				return notFound(fmt.Errorf("%s has no route in use%s", m.Model, map[bool]string{true: " whose key is there"}[keyed]))
			}
			if output == "json" {
				return printJSON(c.OutOrStdout(), m)
			}
			return m.print(c.OutOrStdout())
		},
	}
	when.flags(c, 100_000)
	f := c.Flags()
	f.Int64Var(&fresh, "new", 1000, "tokens of the prompt that no cache holds")
	f.Int64Var(&answer, "answer", 300, "tokens of the answer")
	f.BoolVar(&marked, "marked", false, "the prompt carries cache_control markers, for which some vendors ask another price than for what they cache by themselves")
	f.BoolVar(&keyed, "keyed", false, "only vendors whose key is there")
	outputFlag(c, &output)
	return c
}

// matrix is what catalog matrix prints: stable for scripts. Amounts and prices are
// canonical decimals, null where they cannot be told.
type matrix struct {
	Model    string        `json:"model"`
	At       time.Time     `json:"at"`
	Prompt   int64         `json:"prompt_tokens"`
	New      int64         `json:"new_tokens"`
	Output   int64         `json:"output_tokens"`
	Tier     string        `json:"service_tier,omitempty"`
	Currency string        `json:"currency"`
	Routes   []matrixRoute `json:"routes"`
	Pairs    []matrixPair  `json:"pairs"`
}

// matrixRoute is one route by itself and against all the others.
type matrixRoute struct {
	Vendor    string      `json:"vendor"`
	Price     shownPrice  `json:"price"`
	Warm      *string     `json:"warm"` // what the turn costs where the prefix is warm
	Cold      *string     `json:"cold"` // and where nothing is
	Pays      bool        `json:"pays"` // the gate, all rivals in use beside it
	Reason    string      `json:"reason,omitempty"`
	Rival     string      `json:"rival,omitempty"` // the cheapest that the gate yields to
	PayBack   matrixPoint `json:"write_pay_back"`  // reads
	PayBack1h matrixPoint `json:"write_1h_pay_back"`
}

// matrixPair is a warm route against a cold one.
type matrixPair struct {
	Pinned   string      `json:"pinned"`
	Rival    string      `json:"rival"`
	Pays     bool        `json:"pays"` // the gate, this rival alone beside it
	Reason   string      `json:"reason,omitempty"`
	Prefix   matrixPoint `json:"stay_prefix"`   // warm tokens for which staying costs less this turn
	Answer   matrixPoint `json:"move_output"`   // output tokens to each warm one for which moving costs less
	Turns    matrixPoint `json:"move_turns"`    // turns, this one included, for which moving once costs less
	HitRate  matrixPoint `json:"cheaper_share"` // shares read from the cache for which pinned costs less than rival
	equal    bool        // the read costs exactly the rival's input
	prefix   pricing.Point
	turns    pricing.Point
	crossing pricing.Point
}

// matrixPoint is a break-even: above, below, always or never; empty where it cannot
// be told.
type matrixPoint struct {
	When  pricing.When `json:"when"`
	At    *string      `json:"at"`              // to nine decimals
	Least *string      `json:"least,omitempty"` // the least whole number, where that is the answer
}

func pointOf(p pricing.Point) matrixPoint {
	out := matrixPoint{When: p.When}
	if p.At != nil {
		text := p.At.FloatString(9)
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		out.At = &text
	}
	return out
}

// counted adds the least whole number.
func (p matrixPoint) counted(n *big.Int, ok bool) matrixPoint {
	if ok {
		text := n.String()
		p.Least = &text
	}
	return p
}

// compared puts every two routes of a model side by side. Routes that are disabled
// are left out, and those without a key if only keyed ones are wanted.
func compared(model *catalog.Model, terms pricing.Terms, load pricing.Load, withKey bool) *matrix {
	m := &matrix{Model: model.Name, At: terms.At, Prompt: terms.Prompt, New: load.New, Output: load.Output, Tier: terms.Tier, Routes: []matrixRoute{}, Pairs: []matrixPair{}}
	var routes []*catalog.Route
	for _, r := range model.Routes {
		if r.Disabled == "" && (!withKey || keyed(r.Vendor)) {
			routes = append(routes, r)
		}
	}
	cards := make([]pricing.Card, len(routes))
	for i, r := range routes {
		cards[i] = cardOf(r, terms)
	}
	for i, r := range routes {
		var rivals []pricing.Rival
		for k, other := range routes {
			if k == i || !meet(r.Vendor, other.Vendor) {
				continue
			}
			rivals = append(rivals, pricing.Rival{Vendor: other.Vendor.Name, Input: cards[k].Input})
			m.Pairs = append(m.Pairs, pairOf(r, other, cards[i], cards[k], load))
		}
		m.Routes = append(m.Routes, routeOf(r, cards[i], pricing.ReadPays(cards[i], rivals), load))
	}
	return m
}

// cardOf is the card of a turn. A vendor that asks its own price for reads of what it
// caches by itself asks nothing for those writes (Alibaba's documentation of its
// context cache).
func cardOf(r *catalog.Route, terms pricing.Terms) pricing.Card {
	card := r.Price.At(terms)
	marked := terms
	marked.Implicit = false
	if terms.Implicit && !r.Price.At(marked).CacheRead.Equal(card.CacheRead) {
		card.CacheWrite5m, card.CacheWrite1h = pricing.Rate{}, pricing.Rate{}
	}
	return card
}

func routeOf(r *catalog.Route, card pricing.Card, v pricing.Verdict, load pricing.Load) matrixRoute {
	one := matrixRoute{Vendor: r.Vendor.Name, Price: priceOf(card), Pays: v.Pays, Reason: string(v.Reason)}
	if v.Reason == pricing.NotBelowRivalInput {
		least := pricing.Rate{}
		for _, rival := range v.Rivals {
			if rival.Input.Known() && (!least.Known() || rival.Input.Below(least)) {
				one.Rival, least = rival.Vendor, rival.Input
			}
		}
	}
	one.Warm, one.Cold = amount(card.Warm(load)), amount(card.Cold(load))
	back, hour := card.PayBack(card.CacheWrite5m), card.PayBack(card.CacheWrite1h)
	one.PayBack, one.PayBack1h = pointOf(back).counted(back.Reached()), pointOf(hour).counted(hour.Reached())
	return one
}

func pairOf(own, rival *catalog.Route, a, b pricing.Card, load pricing.Load) matrixPair {
	v := pricing.ReadPays(a, []pricing.Rival{{Vendor: rival.Vendor.Name, Input: b.Input}})
	p := matrixPair{
		Pinned: own.Vendor.Name, Rival: rival.Vendor.Name, Pays: v.Pays, Reason: string(v.Reason),
		equal:    a.CacheRead.Known() && a.CacheRead.Equal(b.Input),
		prefix:   pricing.StayPrefix(a, b, load.New, load.Output),
		turns:    pricing.MoveTurns(a, b, load),
		crossing: pricing.Crossover(a, b),
	}
	if v.Pays && !b.Input.Known() { // it pays by its own test only; the comparison cannot be made
		p.Pays, p.Reason = false, string(pricing.PriceUnknown)
	}
	p.Prefix, p.HitRate = pointOf(p.prefix), pointOf(p.crossing)
	p.Answer = pointOf(pricing.MoveOutput(a, b))
	p.Turns = pointOf(p.turns).counted(atLeastOne(p.turns.Least()))
	return p
}

// atLeastOne is a number of turns: a session that moves has one.
func atLeastOne(n *big.Int, ok bool) (*big.Int, bool) {
	if ok && n.Sign() < 1 {
		n = big.NewInt(1)
	}
	return n, ok
}

func amount(d decimal.Decimal, ok bool) *string {
	if !ok {
		return nil
	}
	text := d.String()
	return &text
}

// meet says whether one request can go to either vendor.
func meet(a, b *catalog.Vendor) bool { return slices.ContainsFunc(a.API, b.Speaks) }
