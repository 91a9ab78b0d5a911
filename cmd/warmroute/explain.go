package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/inmem"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/wire"
)

// question is what explain is asked.
type question struct {
	Catalog string
	Request string   // a file with the request's body; - is standard input
	API     string   // the dialect of the body
	Headers []string // "name: value"
	Pins    []string // "vendor", "vendor/credential", with "@2m" for how long ago
	Down    []string // vendors that are failing
	At      string   // RFC 3339; empty: now
	Profile string
	Gate    string
	Config  string   // a configuration file, whose settings of affinity hold
	Tenant  string   // one that it names; empty: who has no settings of its own
	Hits    []string // "vendor=0.94": token hit rates that turns have shown

	Latencies   []string // "vendor=420ms": times to the first byte that turns have shown
	Throughputs []string // "vendor=85.5": output tokens per second that turns have shown
}

func explainCommand() *cobra.Command {
	var q question
	var output string
	c := &cobra.Command{
		Use:   "explain",
		Short: "Show the whole decision for a request against a catalog, without sending anything",
		Long: `Show the whole decision for a request against a catalog, without sending anything.

WARMROUTE_CATALOG, WARMROUTE_CONFIG, WARMROUTE_PROFILE and WARMROUTE_GATE hold as they
do for serve, behind the flags.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := fromEnvironment(c.Flags(), "catalog", "config", "profile", "gate"); err != nil {
				return err
			}
			if q.Config != "" && !c.Flags().Changed("catalog") {
				config, err := readUnkeyed(q.Config)
				if err != nil {
					return err
				}
				q.Catalog = config.Catalog.Or(q.Catalog)
			}
			e, err := explain(c.Context(), q, c.InOrStdin())
			if err != nil {
				return err
			}
			if output == "json" {
				return printJSON(c.OutOrStdout(), e)
			}
			return e.print(c.OutOrStdout())
		},
	}
	f := c.Flags()
	f.StringVar(&q.Catalog, "catalog", "catalog.yaml", "the catalog")
	f.StringVar(&q.Request, "request", "-", "file with the request's body; - reads standard input")
	f.StringVar(&q.API, "api", "chat", "the API the body is for: chat, responses or messages")
	f.StringArrayVarP(&q.Headers, "header", "H", nil, "a request header, as 'name: value'; may be repeated")
	f.StringArrayVar(&q.Pins, "pin", nil, "suppose this vendor served the session: vendor[/credential][@age], such as bedrock@2m; may be repeated")
	f.StringArrayVar(&q.Down, "down", nil, "suppose this vendor is failing; may be repeated")
	f.StringVar(&q.At, "at", "", "suppose it is this time, as 2026-11-29T09:30:00Z; prices may depend on it")
	f.StringArrayVar(&q.Hits, "hit-rate", nil, "suppose turns have shown this token hit rate at a vendor, such as deepseek=0.94; 'sort: blended' goes by it; may be repeated")
	f.StringArrayVar(&q.Latencies, "latency", nil, "suppose turns have shown this time to the first byte at a vendor, such as deepseek=420ms; 'sort: latency' goes by it; may be repeated")
	f.StringArrayVar(&q.Throughputs, "throughput", nil, "suppose turns have shown this many output tokens per second at a vendor, such as deepseek=85.5; 'sort: throughput' goes by it; may be repeated")
	f.StringVar(&q.Profile, "profile", "", profileUsage)
	f.StringVar(&q.Gate, "gate", "", gateUsage)
	f.StringVar(&q.Config, "config", "", "a configuration file whose settings of affinity hold; its tenants' keys are not needed")
	f.StringVar(&q.Tenant, "tenant", "", "explain it for this tenant of --config")
	outputFlag(c, &output)
	return c
}

// explain runs the same decision the gateway would, on supposed pins.
func explain(ctx context.Context, q question, in io.Reader) (*explanation, error) {
	cat, err := loadCatalog(q.Catalog)
	if err != nil {
		return nil, err
	}
	now, err := q.now()
	if err != nil {
		return nil, err
	}
	request, err := q.read(in)
	if err != nil {
		return nil, err
	}
	held, err := q.holds()
	if err != nil {
		return nil, err
	}
	request.Tenant, request.Rules = held.tenant, held.rules
	request.DisregardStrangers(cat)
	if err := held.owns(&request, cat); err != nil {
		return nil, err
	}
	request.Key = callersKey(request.Header, q.Tenant)
	profile := held.rules.Profile
	session := engine.Identify(request, profile)
	if len(q.Pins) > 0 && !session.Found() {
		return nil, unnamed(profile, held.settings.OffUntil())
	}
	pins := inmem.New(inmem.Options{Now: func() time.Time { return now }})
	defer pins.Close(ctx)
	health := engine.NewHealth()
	models, scope, err := targets(cat, &request, profile.Scope)
	if err != nil {
		return nil, err
	}
	if err := q.vendors(cat); err != nil {
		return nil, err
	}
	var supposed []supposedPin
	for i, text := range q.Pins {
		pin, err := suppose(ctx, pins, models, session.Key(scope), profile, &request, text, now, uint64(len(q.Pins)-i))
		if err != nil {
			return nil, err
		}
		supposed = append(supposed, pin)
	}
	for _, name := range q.Down {
		fail(health, cat, name, now)
	}
	shown, err := q.shown(cat)
	if err != nil {
		return nil, err
	}
	gateway := engine.Gateway{
		Learned:    shown,
		Catalog:    func() *catalog.Catalog { return cat },
		Pins:       pins,
		Health:     health,
		AssumeKeys: true,
		Now:        func() time.Time { return now },
	}
	turn, err := gateway.Decide(ctx, request)
	var none *engine.NoRouteError
	switch {
	case errors.Is(err, engine.ErrUnknownTarget):
		return nil, notFound(err)
	case errors.As(err, &none):
		return nil, err
	case err != nil:
		return nil, usage(err)
	}
	e := describe(&turn, request, now)
	e.Profile, e.Supposed = profile.Name, supposed
	e.note(&turn, cat)
	e.noteOwn(&held, &request)
	if off := held.settings.OffUntil(); off != "" {
		e.Notes = append(e.Notes, fmt.Sprintf("affinity is off until %s, as the profile %s has it", off, profile.Name))
	}
	return e, nil
}

// targets are the models that the request may reach, in order, and its scope.
func targets(cat *catalog.Catalog, request *engine.Request, by engine.Scope) (models []*catalog.Model, scope string, err error) {
	found, err := engine.Targets(cat, request)
	if err != nil {
		return nil, "", notFound(err)
	}
	for _, target := range found {
		models = append(models, target.Models...)
	}
	return models, by.Of(found[0]), nil
}

// vendors says which of the vendors asked about the catalog does not have, all at once.
func (q question) vendors(cat *catalog.Catalog) error {
	var known []string
	for _, v := range cat.Vendors {
		known = append(known, v.Name)
	}
	var unknown []error
	look := func(flag, text, name string) {
		if _, ok := cat.Vendor(name); !ok {
			unknown = append(unknown, fmt.Errorf("%s %s: the catalog has no such vendor%s", flag, text, meant(name, known, "")))
		}
	}
	for _, text := range q.Pins {
		name, _, _ := strings.Cut(text, "@")
		name, _, _ = strings.Cut(name, "/")
		look("--pin", text, name)
	}
	for _, name := range q.Down {
		look("--down", name, name)
	}
	if len(unknown) == 0 {
		return nil
	}
	return notFound(errors.Join(unknown...))
}

func (q question) now() (time.Time, error) {
	if q.At == "" {
		return time.Now(), nil
	}
	at, err := time.Parse(time.RFC3339, q.At)
	if err != nil {
		return time.Time{}, usage(fmt.Errorf("--at %s: write it as 2026-11-29T09:30:00Z", q.At))
	}
	return at, nil
}

// read makes an engine request of the body and headers.
func (q question) read(in io.Reader) (engine.Request, error) {
	api := catalog.API(q.API)
	if api.Path() == "" {
		return engine.Request{}, usage(fmt.Errorf("--api %s: say chat, responses or messages", q.API))
	}
	if err := knownProfile(q.Profile, q.Gate); err != nil {
		return engine.Request{}, err
	}
	header := http.Header{}
	for _, line := range q.Headers {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return engine.Request{}, usage(fmt.Errorf("-H %q: write 'name: value'", line))
		}
		header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	var body []byte
	var err error
	if q.Request == "-" {
		body, err = io.ReadAll(in)
	} else {
		body, err = os.ReadFile(q.Request)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return engine.Request{}, notFound(fmt.Errorf("there is no request at %s", q.Request))
	}
	if err != nil {
		return engine.Request{}, err
	}
	parsed, err := wire.ReadRequest(api, body)
	if err != nil {
		return engine.Request{}, fmt.Errorf("%s: %w", q.Request, err)
	}
	request := parsed.Facts()
	request.API, request.Header = api, header
	request.OwnKeys = broughtKeys(routes.BroughtKeys(header, parsed))
	off, ok := engine.SwitchedOff(header)
	if !ok {
		return engine.Request{}, usage(errors.New("x-warmroute-affinity must be on or off"))
	}
	request.AffinityOff = request.AffinityOff || off
	return request, nil
}

// suppose keeps a pin for every one of the models that the vendor serves.
func suppose(ctx context.Context, pins engine.Pins, models []*catalog.Model, key engine.PinKey, profile *engine.Profile, request *engine.Request, text string, now time.Time, turn uint64) (supposedPin, error) {
	name, age, _ := strings.Cut(text, "@")
	ago := time.Duration(0)
	if age != "" {
		var err error
		if ago, err = time.ParseDuration(age); err != nil || ago < 0 {
			return supposedPin{}, usage(fmt.Errorf("--pin %s: write the age as 90s or 2m", text))
		}
	}
	name, credential, _ := strings.Cut(name, "/")
	pin := supposedPin{Vendor: name, Credential: credential, At: now.Add(-ago)}
	for _, m := range models {
		for _, route := range m.Routes {
			if route.Vendor.Name != name {
				continue
			}
			if credential != "" && !has(route.Vendor, credential) {
				return supposedPin{}, notFound(fmt.Errorf("--pin %s: vendor %s has no credential %q", text, name, credential))
			}
			pin.Ends = profile.Window.Ends(pin.At, profile.Window.Lifetime(request, route))
			entry := engine.Entry{Vendor: name, Credential: credential, Turn: turn, AcceptedAt: pin.At, ExpiresAt: pin.Ends}
			if err := pins.Keep(ctx, key, m.Name, entry); err != nil {
				return supposedPin{}, err
			}
		}
	}
	if pin.Ends.IsZero() {
		return supposedPin{}, notFound(fmt.Errorf("--pin %s: no model of this request has a route at %s", text, name))
	}
	return pin, nil
}

func has(v *catalog.Vendor, credential string) bool {
	return slices.ContainsFunc(v.Credentials, func(c catalog.Credential) bool { return c.ID == credential })
}

// fail makes every route of a vendor look as if it had failed three times running.
func fail(health *engine.Health, cat *catalog.Catalog, name string, now time.Time) {
	for _, m := range cat.Models {
		for _, route := range m.Routes {
			if route.Vendor.Name != name {
				continue
			}
			ids := []string{""}
			for _, c := range route.Vendor.Credentials {
				ids = append(ids, c.ID)
			}
			for _, id := range ids {
				for range 3 {
					health.Failed(route, id, now, engine.FailureServer, 0)
				}
			}
		}
	}
}

// explanation is a decision in words and decimals: stable for scripts.
type explanation struct {
	Target   string             `json:"target"`
	API      catalog.API        `json:"api"`
	Profile  catalog.Profile    `json:"profile"`
	At       time.Time          `json:"at"`
	Session  explainedSession   `json:"session"`
	Prompt   explainedPrompt    `json:"prompt"`
	Supposed []supposedPin      `json:"supposed"`
	Models   []explainedModel   `json:"models"`
	Order    []explainedAttempt `json:"order"`
	Ignored  []string           `json:"ignored,omitempty"` // members of the request's routing settings that mean nothing here
	Notes    []string           `json:"notes"`
}

// supposedPin is a pin that --pin asked to suppose.
type supposedPin struct {
	Vendor     string    `json:"vendor"`
	Credential string    `json:"credential,omitempty"`
	At         time.Time `json:"accepted_at"`
	Ends       time.Time `json:"expires_at"`
}

type explainedSession struct {
	ID     string `json:"id"`
	Class  string `json:"class"`
	Source string `json:"source"`
}

type explainedPrompt struct {
	Tokens int64  `json:"tokens"`
	Basis  string `json:"basis"`
}

type explainedModel struct {
	Model     string             `json:"model"`
	Outcome   engine.Outcome     `json:"outcome"`
	Detail    engine.Detail      `json:"detail,omitempty"`
	Pinned    string             `json:"pinned,omitempty"`
	Displaced string             `json:"displaced,omitempty"`
	Gate      *explainedGate     `json:"gate,omitempty"`
	Blended   []explainedBlend   `json:"blended,omitempty"` // where routes are sorted by it: in their order, before affinity
	Paced     []explainedPace    `json:"paced,omitempty"`   // likewise, by latency or throughput
	Weighed   []explainedWeight  `json:"weighed,omitempty"` // likewise, by weight
	Removed   []explainedRemoved `json:"removed"`
}

type explainedGate struct {
	Name   catalog.Gate     `json:"name"`
	Pays   bool             `json:"pays"`
	Reason string           `json:"reason,omitempty"`
	Own    explainedRates   `json:"own"`
	Rivals []explainedRival `json:"rivals"`
}

type explainedRates struct {
	CacheRead *string `json:"cache_read"`
	Input     *string `json:"input"`
}

type explainedRival struct {
	Vendor string  `json:"vendor"`
	Input  *string `json:"input"`
}

type explainedRemoved struct {
	Vendor string     `json:"vendor"`
	Why    engine.Why `json:"why"`
}

type explainedAttempt struct {
	Model      string  `json:"model"`
	Vendor     string  `json:"vendor"`
	Credential string  `json:"credential,omitempty"`
	Down       bool    `json:"down"`
	Input      *string `json:"input"`
	CacheRead  *string `json:"cache_read"`
	Output     *string `json:"output"`
	MinPrefix  int64   `json:"min_prefix"`
	TTL        string  `json:"ttl"`
}

// price is a rate as text, nil where it is not known.
func price(r interface {
	Known() bool
	String() string
}) *string {
	if !r.Known() {
		return nil
	}
	text := r.String()
	return &text
}

func describe(turn *engine.Turn, request engine.Request, now time.Time) *explanation {
	e := &explanation{Target: turn.Target, API: request.API, At: now, Ignored: request.Ignored, Session: explainedSession{ID: turn.Session.ID, Class: string(turn.Session.Class), Source: turn.Session.Source()}}
	for i, f := range turn.Decision.Models {
		m := explainedModel{Model: f.Model.Name, Outcome: f.Outcome, Detail: f.Detail, Pinned: f.Pinned, Displaced: f.Displaced, Removed: []explainedRemoved{}}
		e.Prompt = explainedPrompt{Tokens: f.Prompt.Tokens, Basis: f.Prompt.Basis}
		if f.Gate != "" {
			g := &explainedGate{Name: f.Gate, Pays: f.Verdict.Pays, Reason: string(f.Verdict.Reason), Own: explainedRates{price(f.Verdict.CacheRead), price(f.Verdict.Input)}, Rivals: []explainedRival{}}
			for _, r := range f.Verdict.Rivals {
				g.Rivals = append(g.Rivals, explainedRival{Vendor: r.Vendor, Input: price(r.Input)})
			}
			m.Gate = g
		}
		for _, b := range turn.Plan.Models[i].Blended {
			m.Blended = append(m.Blended, explainBlend(b))
		}
		for _, p := range turn.Plan.Models[i].Paced {
			m.Paced = append(m.Paced, explainPace(p))
		}
		for _, w := range turn.Plan.Models[i].Weighed {
			m.Weighed = append(m.Weighed, explainedWeight{w.Vendor, w.Weight.String()})
		}
		for _, r := range turn.Plan.Models[i].Removed {
			m.Removed = append(m.Removed, explainedRemoved{Vendor: r.Route.Vendor.Name, Why: r.Why})
		}
		e.Models = append(e.Models, m)
	}
	for _, i := range turn.Decision.Order {
		c := turn.Plan.Candidates[i]
		e.Order = append(e.Order, explainedAttempt{Model: c.Route.Model.Name, Vendor: c.Route.Vendor.Name, Credential: c.Credential, Down: c.Down, Input: price(c.Card.Input), CacheRead: price(c.Card.CacheRead), Output: price(c.Card.Output),
			MinPrefix: c.Route.Cache.Minimum(), TTL: c.Route.Cache.TTL.String()})
	}
	return e
}

// note says what a reader could not know from the outcome alone.
func (e *explanation) note(turn *engine.Turn, cat *catalog.Catalog) {
	e.Notes = []string{}
	if e.Supposed == nil {
		e.Supposed = []supposedPin{}
	}
	for _, f := range turn.Decision.Models {
		if f.Outcome == engine.SkippedBelowMinPrefix {
			e.Notes = append(e.Notes, fmt.Sprintf("the gateway named this session itself (%s), and such sessions are pinned only from a vendor's smallest cacheable prompt on (column min); name the session to pin it at any size, for example with -H 'x-session-id: a'", turn.Session.Class))
			break
		}
	}
	if len(e.Ignored) > 0 {
		e.Notes = append(e.Notes, "these settings of the request mean nothing here and were ignored: "+strings.Join(e.Ignored, ", "))
	}
	if slices.ContainsFunc(e.Models, func(m explainedModel) bool { return len(m.Weighed) > 0 }) {
		e.Notes = append(e.Notes, "the order by weight is drawn anew for every turn; this is one draw")
	}
	if !allKeyed(cat) {
		e.Notes = append(e.Notes, "explain supposes that every credential has its key; the gateway leaves out those that have none (warmroute check lists them)")
	}
}
