package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// moment is on what terms catalog show and catalog matrix look at prices.
type moment struct {
	At     string // empty: now
	Prompt int64
	Tier   string
}

// flags adds the flags of the terms.
func (m *moment) flags(c *cobra.Command, prompt int64) {
	f := c.Flags()
	f.StringVar(&m.At, "at", "", "suppose it is this time, as 2026-11-29T09:30:00Z; now unless said")
	f.Int64Var(&m.Prompt, "prompt", prompt, "tokens of the prompt, those in the cache included; context tiers depend on it")
	f.StringVar(&m.Tier, "tier", "", "the service tier, such as flex; the ordinary one unless said")
}

// terms are the terms of a price.
func (m *moment) terms() (pricing.Terms, error) {
	now, err := question{At: m.At}.now()
	if err != nil {
		return pricing.Terms{}, err
	}
	if m.Prompt < 0 {
		return pricing.Terms{}, usage(fmt.Errorf("--prompt %d: a prompt has no fewer than 0 tokens", m.Prompt))
	}
	return pricing.Terms{Prompt: m.Prompt, At: now.UTC(), Tier: m.Tier}, nil
}

func catalogShowCommand() *cobra.Command {
	var output string
	var when moment
	c := &cobra.Command{
		Use:   "show CATALOG [MODEL|VENDOR]",
		Short: "Show models and their routes in order: prices of now, cache rules, keys and age",
		Long: `Show models and their routes in the order in which they are tried, with the prices
per million tokens that hold now, or at the time of --at. A dash is a price that is
not known; a read with two prices has the one for what markers asked to cache first.
MODEL may be an alias or a policy; for a VENDOR its routes are shown.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usage(errors.New("show takes a catalog and perhaps one model or vendor: warmroute catalog show catalog.yaml claude-opus-5"))
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
			name := ""
			if len(args) == 2 {
				name = args[1]
			}
			s, err := showing(cat, name, terms)
			if err != nil {
				return err
			}
			if output == "json" {
				return printJSON(c.OutOrStdout(), s)
			}
			return s.print(c.OutOrStdout())
		},
	}
	when.flags(c, 0)
	outputFlag(c, &output)
	return c
}

// shownCatalog is what catalog show prints: stable for scripts. Prices are canonical
// decimals per million tokens, null where they are not known.
type shownCatalog struct {
	At       time.Time    `json:"at"`
	Prompt   int64        `json:"prompt_tokens"`
	Tier     string       `json:"service_tier,omitempty"`
	Currency string       `json:"currency"`
	Vendor   *shownVendor `json:"vendor,omitempty"` // where one was asked for
	Models   []shownModel `json:"models"`
}

type shownVendor struct {
	Name        string            `json:"name"`
	API         []catalog.API     `json:"api"`
	BaseURL     string            `json:"base_url"`
	Credentials []shownCredential `json:"credentials"`
}

type shownCredential struct {
	ID      string `json:"id"`
	From    string `json:"from"` // the variable or the file that holds the key
	Present bool   `json:"present"`
}

type shownModel struct {
	Model   string       `json:"model"`
	Aliases []string     `json:"aliases"`
	Context int64        `json:"context,omitempty"`
	Routes  []shownRoute `json:"routes"`
}

type shownRoute struct {
	Vendor      string            `json:"vendor"`
	Model       string            `json:"model"` // the vendor's own id
	Credentials []shownCredential `json:"credentials"`
	Price       shownPrice        `json:"price"`
	Surcharges  []shownSurcharge  `json:"surcharges,omitempty"` // not in the price: which of them apply is said by a request
	AsOf        string            `json:"as_of,omitempty"`
	AgeDays     *int              `json:"age_days"`
	Source      string            `json:"source,omitempty"`
	Cache       shownCache        `json:"cache"`
	Disabled    string            `json:"disabled,omitempty"`
}

type shownPrice struct {
	Input             *string `json:"input"`
	CacheRead         *string `json:"cache_read"`
	CacheReadImplicit *string `json:"cache_read_implicit,omitempty"`
	CacheWrite        *string `json:"cache_write"`
	CacheWrite1h      *string `json:"cache_write_1h"`
	Output            *string `json:"output"`
	Request           *string `json:"request,omitempty"` // of one request
}

type shownSurcharge struct {
	Speed  string `json:"speed,omitempty"`
	Region string `json:"region,omitempty"`
	Times  string `json:"times"`
}

type shownCache struct {
	Family    catalog.Family `json:"family"`
	TTL       string         `json:"ttl"`
	MinPrefix int64          `json:"min_prefix"` // that holds, where none is documented too
}

// showing gathers what a name stands for; the whole catalog if it is empty.
func showing(cat *catalog.Catalog, name string, terms pricing.Terms) (*shownCatalog, error) {
	s := &shownCatalog{At: terms.At, Prompt: terms.Prompt, Tier: terms.Tier, Currency: cat.Currency, Models: []shownModel{}}
	models := cat.Models
	if name != "" {
		target, known := cat.Resolve(name)
		vendor, isVendor := cat.Vendor(name)
		switch {
		case known:
			models = target.Models
		case isVendor:
			s.Vendor = &shownVendor{vendor.Name, vendor.API, vendor.BaseURL.String(), credentialsOf(vendor)}
		default:
			return nil, notFound(fmt.Errorf("the catalog has no model, alias, policy or vendor %q; warmroute catalog show lists them without a name", name))
		}
	}
	for _, m := range models {
		one := shownModel{Model: m.Name, Aliases: append([]string{}, m.Aliases...), Context: m.Context, Routes: []shownRoute{}}
		for _, r := range m.Routes {
			if s.Vendor == nil || r.Vendor.Name == s.Vendor.Name {
				one.Routes = append(one.Routes, showRoute(r, terms))
			}
		}
		if len(one.Routes) > 0 {
			s.Models = append(s.Models, one)
		}
	}
	return s, nil
}

func credentialsOf(v *catalog.Vendor) []shownCredential {
	all := []shownCredential{}
	for i := range v.Credentials {
		c := &v.Credentials[i]
		_, present := c.Secret()
		from := c.Env
		if from == "" {
			from = c.File
		}
		all = append(all, shownCredential{c.ID, from, present})
	}
	return all
}

func showRoute(r *catalog.Route, terms pricing.Terms) shownRoute {
	card := r.Price.At(terms)
	one := shownRoute{
		Vendor: r.Vendor.Name, Model: r.UpstreamModel, Credentials: credentialsOf(r.Vendor), Disabled: r.Disabled,
		Price: priceOf(card),
		Cache: shownCache{r.Cache.Family, r.Cache.TTL.String(), r.Cache.Minimum()},
	}
	terms.Implicit = true
	if own := r.Price.At(terms).CacheRead; !own.Equal(card.CacheRead) {
		one.Price.CacheReadImplicit = price(own)
	}
	if sheet, ok := r.Price.Sheet(terms.At); ok {
		one.AsOf, one.Source = sheet.AsOf, sheet.Source
		for _, x := range sheet.Surcharges {
			one.Surcharges = append(one.Surcharges, shownSurcharge{x.Speed, x.Region, x.Times.String()})
		}
		if day, err := time.Parse(time.DateOnly, sheet.AsOf); err == nil {
			age := int(terms.At.Sub(day).Hours() / 24)
			one.AgeDays = &age
		}
	}
	return one
}

// priceOf is a card as it is shown.
func priceOf(card pricing.Card) shownPrice {
	p := shownPrice{Input: price(card.Input), CacheRead: price(card.CacheRead), CacheWrite: price(card.CacheWrite5m), CacheWrite1h: price(card.CacheWrite1h), Output: price(card.Output)}
	if card.Request.Known() {
		p.Request = price(pricing.PerMillion(card.Request.Of(1)))
	}
	return p
}

// print is the same for people.
func (s *shownCatalog) print(to io.Writer) error {
	fmt.Fprintf(to, "prices in %s per million tokens at %s, for a prompt of %d tokens%s\n", s.Currency, s.At.Format(time.RFC3339), s.Prompt, optional(", service tier %s", s.Tier))
	if v := s.Vendor; v != nil {
		fmt.Fprintf(to, "\n%s: %s, %s, %s\n", v.Name, v.BaseURL, strings.Trim(fmt.Sprint(v.API), "[]"), keys(v.Credentials))
	}
	for _, m := range s.Models {
		fmt.Fprintf(to, "\n%s%s%s\n", m.Model, optional(" (%s)", strings.Join(m.Aliases, ", ")), contextText(m.Context))
		w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
		fmt.Fprint(w, "  vendor\tinput\tread\twrite\twrite 1h\toutput\tcache\tttl\tmin\tkey\tas of\n")
		for _, r := range m.Routes {
			p := r.Price
			read := dash(p.CacheRead)
			if p.CacheReadImplicit != nil {
				read += ", implicit " + *p.CacheReadImplicit
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s%s%s\n", r.Vendor, dash(p.Input), read, dash(p.CacheWrite), dash(p.CacheWrite1h), p.outputText(),
				r.Cache.Family, shortly(r.Cache.TTL), r.Cache.MinPrefix, keys(r.Credentials), aged(r), optional("\t%s", surchargesText(r.Surcharges)), optional("\tdisabled: %s", r.Disabled))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// outputText is the output price, with the fee of a request where there is one.
func (p *shownPrice) outputText() string {
	if p.Request == nil {
		return dash(p.Output)
	}
	return dash(p.Output) + " + " + *p.Request + " a request"
}

// surchargesText is such as "×6 at speed fast, ×1.1 in region us".
func surchargesText(all []shownSurcharge) string {
	var words []string
	for _, x := range all {
		words = append(words, "×"+x.Times+optional(" at speed %s", x.Speed)+optional(" in region %s", x.Region))
	}
	return strings.Join(words, ", ")
}

func contextText(tokens int64) string {
	if tokens == 0 {
		return ""
	}
	return fmt.Sprintf(", context %d", tokens)
}

func dash(text *string) string {
	if text == nil {
		return "-"
	}
	return *text
}

// shortly is a lifetime without the parts that are nothing: 5m, not 5m0s.
func shortly(lifetime string) string {
	if short, ok := strings.CutSuffix(lifetime, "m0s"); ok {
		lifetime = short + "m"
	}
	if short, ok := strings.CutSuffix(lifetime, "h0m"); ok {
		lifetime = short + "h"
	}
	return lifetime
}

// keys says which of a vendor's keys are there.
func keys(all []shownCredential) string {
	if len(all) == 0 {
		return "none needed"
	}
	var there []string
	for _, c := range all {
		if c.Present {
			there = append(there, c.ID)
		}
	}
	if len(there) == 0 {
		return "no " + all[0].From
	}
	return strings.Join(there, ", ")
}

// aged is the day a price was read and how long ago that is.
func aged(r shownRoute) string {
	switch {
	case r.AsOf == "":
		return "-"
	case r.AgeDays == nil:
		return r.AsOf
	}
	return fmt.Sprintf("%s (%s)", r.AsOf, count(*r.AgeDays, "day"))
}
