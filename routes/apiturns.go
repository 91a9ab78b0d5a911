package routes

import (
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// turnShape is one turn as the API shows it.
type turnShape struct {
	ID        string           `json:"id"`
	Href      string           `json:"href"`
	State     string           `json:"state"` // settled or unsettled
	Tenant    string           `json:"tenant"`
	Client    *string          `json:"client"`
	API       string           `json:"api"`
	Stream    bool             `json:"stream"`
	Session   *sessionShape    `json:"session"`
	Target    string           `json:"target"`
	Scope     *string          `json:"scope"`
	Catalog   string           `json:"catalog"`
	Started   *time.Time       `json:"started"`
	TookMS    *float64         `json:"took_ms"`
	Model     *string          `json:"model"`
	Vendor    *string          `json:"vendor"`
	Outcome   *string          `json:"outcome"`
	Detail    *string          `json:"detail"`
	Pinned    *string          `json:"pinned"`
	Displaced *string          `json:"displaced"`
	Gate      *gateShape       `json:"gate"`
	Prompt    estimateShape    `json:"prompt"`
	Order     []candidateShape `json:"order"` // of the plan, before affinity
	Attempts  []attemptShape   `json:"attempts"`
	Sums      sumsShape        `json:"sums"`
	Affinity  *judgementShape  `json:"affinity"` // null where nobody judged the turn
}

// estimateShape is the prompt's size before a vendor counted it.
type estimateShape struct {
	Tokens int64   `json:"tokens"`
	Basis  *string `json:"basis"`
}

type candidateShape struct {
	Model      string  `json:"model"`
	Vendor     string  `json:"vendor"`
	Credential *string `json:"credential"`
	Group      string  `json:"group"`
	Down       bool    `json:"down"`
}

// attemptShape is one attempt and its money.
type attemptShape struct {
	Model       string       `json:"model"`
	Vendor      string       `json:"vendor"`
	Credential  *string      `json:"credential"`
	Group       string       `json:"group"`
	Stage       string       `json:"stage"`
	Failure     *string      `json:"failure"`
	Status      *int         `json:"status"`
	Started     *time.Time   `json:"started"`
	Billed      bool         `json:"billed"` // the vendor accepted it, or may have
	FirstByteMS *float64     `json:"first_byte_ms"`
	TookMS      float64      `json:"took_ms"`
	Quality     string       `json:"usage_quality"`
	Tokens      *tokensShape `json:"tokens"` // a lower bound unless the quality is authoritative or derived
	Price       *cardShape   `json:"price"`
	Cost        *costShape   `json:"cost"`
	PromptCost  *amount      `json:"prompt_cost"` // of the prompt alone, known also where the output was cut short
	Saving      *amount      `json:"net_cache_saving"`
	ServedModel *string      `json:"served_model"`
	ServedTier  *string      `json:"served_tier"`
	MarkersCut  int          `json:"markers_cut"`  // cache markers of the client's that the vendor refuses and was not sent
	ReadUnknown bool         `json:"read_unknown"` // the vendor did not say what was read from its cache
	TierAssumed bool         `json:"tier_assumed"` // the vendor named no tier; the price is that of the one asked for
	PricedAs    *string      `json:"priced_as"`    // catalog model whose price it is, where another than model served
	Speed       *string      `json:"speed"`
	Region      *string      `json:"region"`
	Sides       []sideShape  `json:"sides"`          // what the answer used besides tokens; part of cost
	Charged     *amount      `json:"vendor_charged"` // what the vendor says it charged
	Difference  *amount      `json:"charged_over_cost"`
	RawUsage    *string      `json:"raw_usage"` // the usage object as the vendor sent it, less text
}

// sideShape is what an answer used besides its own usage.
type sideShape struct {
	Kind   string      `json:"kind"`
	Model  *string     `json:"model"`
	Tokens tokensShape `json:"tokens"`
	Price  *cardShape  `json:"price"`
	Cost   *costShape  `json:"cost"`
}

func turnOf(b *engine.Booked) turnShape {
	t := turnShape{
		ID: b.ID, Href: "/api/v1/turns/" + url.PathEscape(b.ID) + "?" + url.Values{"tenant": {b.Tenant}}.Encode(),
		State: "unsettled", Tenant: b.Tenant, Client: text(b.Client), API: string(b.API), Stream: b.Stream,
		Session: sessionOf(b.Tenant, b.Class, b.Session, b.Parent),
		Target:  b.Target, Scope: text(b.Scope), Catalog: b.Catalog, Started: instant(b.Started),
		Model: text(b.Model), Vendor: text(b.Vendor()), Outcome: text(b.Outcome), Detail: text(b.Detail),
		Pinned: text(b.Pinned), Displaced: text(b.Displaced), Gate: gateOf(b),
		Prompt:   estimateShape{b.Prompt.Tokens, text(b.Prompt.Basis)},
		Order:    make([]candidateShape, 0, len(b.Order)),
		Attempts: make([]attemptShape, 0, len(b.Attempts)),
		Sums:     sumsOf(engine.Sum(*b)),
		Affinity: judgementOf(b),
	}
	if b.State == engine.Settled {
		took := milliseconds(b.Took)
		t.State, t.TookMS = string(engine.Settled), &took
	}
	for _, c := range b.Order {
		t.Order = append(t.Order, candidateShape{c.Model, c.Vendor, text(c.Credential), groupOf(c.Group), c.Down})
	}
	for i := range b.Attempts {
		t.Attempts = append(t.Attempts, attemptOf(&b.Attempts[i]))
	}
	return t
}

func attemptOf(a *engine.BookedAttempt) attemptShape {
	s := attemptShape{
		Model: a.Model, Vendor: a.Vendor, Credential: text(a.Credential), Group: groupOf(a.Group),
		Stage: a.Stage.String(), Failure: text(a.Failure), Started: instant(a.Started), Billed: a.Accepted,
		TookMS: milliseconds(a.Took), Quality: string(a.Quality),
		Cost: costOf(a.Cost), Saving: moneyOf(a.Saving.Amount, a.Saving.Known),
		ServedModel: text(a.ServedModel), ServedTier: text(a.ServedTier), MarkersCut: a.MarkersCut, ReadUnknown: a.ReadUnknown, TierAssumed: a.TierAssumed, PricedAs: text(a.Priced),
		Speed: text(a.Speed), Region: text(a.Region), Sides: []sideShape{}, RawUsage: text(string(a.RawUsage)),
	}
	for i := range a.Sides {
		side := &a.Sides[i]
		s.Sides = append(s.Sides, sideShape{side.Kind, text(side.Model), tokensOf(side.Usage), cardOf(&side.Card), costOf(side.Card.Cost(side.Usage))})
	}
	if a.Charged.Known {
		s.Charged = moneyOf(a.Charged.Amount, true)
		if a.Cost.Known {
			s.Difference = moneyOf(a.Charged.Amount.Sub(a.Cost.Total), true)
		}
	}
	if a.Status != 0 {
		s.Status = &a.Status
	}
	if a.FirstByte > 0 {
		first := milliseconds(a.FirstByte)
		s.FirstByteMS = &first
	}
	if a.Quality == pricing.Missing {
		s.Quality = "missing"
		return s
	}
	tokens := tokensOf(a.Usage)
	s.Tokens = &tokens
	if prompt := a.PromptCost(); prompt.Known {
		s.PromptCost = moneyOf(prompt.Total, true)
	}
	if a.Quality.Complete() || a.Quality == pricing.Partial {
		s.Price = cardOf(&a.Card)
	}
	return s
}

// turnList is a page of turns.
type turnList struct {
	Currency string      `json:"currency"`
	Turns    []turnShape `json:"turns"`
	Next     *string     `json:"next"`
}

// oneTurn is one turn.
type oneTurn struct {
	Currency string    `json:"currency"`
	Turn     turnShape `json:"turn"`
}

// turns lists turns.
func (a *api) turns(c *gin.Context, asked asked) { a.listTurns(c, asked, "turns", "") }

// misses lists the turns that read less than they could have, newest first.
func (a *api) misses(c *gin.Context, asked asked) { a.listTurns(c, asked, "misses", engine.AnyMiss) }

// listTurns lists turns; those that missed for want of a reason, if one is named.
func (a *api) listTurns(c *gin.Context, asked asked, name, miss string) {
	q, page, err := asked.list(a.Now())
	if err != nil {
		troubled(c, err)
		return
	}
	if q.Miss == "" {
		q.Miss = miss
	}
	read := func(page engine.Page) ([]turnShape, string, error) {
		turns, next, err := a.Books.Turns(c.Request.Context(), q, page)
		list := make([]turnShape, 0, len(turns))
		for i := range turns {
			list = append(list, turnOf(&turns[i]))
		}
		return list, next, err
	}
	if asked.csv() {
		export(c, name, page, read)
		return
	}
	list, next, err := read(page)
	if err != nil {
		troubled(c, err)
		return
	}
	answer(c, turnList{a.currency(), list, text(next)})
}

// turn shows one turn.
func (a *api) turn(c *gin.Context, asked asked) {
	turn, found, err := a.Books.Turn(c.Request.Context(), asked.tenant(), c.Param("id"))
	switch {
	case err != nil:
		troubled(c, err)
	case !found:
		problem(c, http.StatusNotFound, "This tenant has no turn of this id, or it is no longer kept. Say whose it is with tenant; left out, it is default.")
	default:
		answer(c, oneTurn{a.currency(), turnOf(&turn)})
	}
}
