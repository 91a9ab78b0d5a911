package routes

import (
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// PinFigures are how the pins in memory and on disk stand.
type PinFigures struct {
	Records   int64 // in memory
	Unwritten int64 // changed and not yet durable
	Dropped   int64 // given up unwritten since the start
	Bytes     int64 // of memory that records hold
	Evicted   int64 // records that made room for others since the start
}

// LedgerFigures are how far the ledger is behind.
type LedgerFigures struct {
	Queued  int64 // turns that wait to be written
	Dropped int64 // turns given up since the start
}

// MetricsOptions are what the metrics are about. A function that is nil leaves
// its figures out; the others are called at every scrape.
type MetricsOptions struct {
	Catalog func() *catalog.Catalog // in force; needed
	Reload  func() catalog.Status
	Pins    func() PinFigures
	Ledger  func() LedgerFigures
	Sidecar func() SidecarFigures
	Down    func(route *catalog.Route, credential string) bool // whether a candidate is down now
	Version string
	Commit  string
	Now     func() time.Time // nil: time.Now
}

// Metrics counts turns for Prometheus. It is an [engine.Ledger]; its methods may
// be called from several goroutines.
//
// Labels are the names of a catalog and the design's own words: no session,
// tenant, key or request is among them. A model or vendor that is no longer in
// the catalog is counted as `other`, and a turn that nobody was asked for has the
// vendor `none`. Requests that were refused before a turn began are not counted.
//
// What a turn saved is not here: a counter cannot fall, and savings can. It is the
// difference of two counters, what the same turns would have cost in another world and
// what they did ([Metrics.Settled]).
//
// A look-up of pins is not counted on its own: its result is in the outcome.
type Metrics struct {
	o        MetricsOptions
	registry *prometheus.Registry

	requests *prometheus.CounterVec   // protocol, model, vendor, code
	duration *prometheus.HistogramVec // model, vendor, stream
	first    *prometheus.HistogramVec // model, vendor, cache
	tokens   *prometheus.CounterVec   // model, vendor, class
	outcomes *prometheus.CounterVec   // model, outcome, source
	attempts *prometheus.CounterVec   // vendor, result
	unpriced *prometheus.CounterVec   // vendor, model
	missing  *prometheus.CounterVec   // vendor, model

	decide, settle prometheus.Observer // the phases of overhead
	judged         *judged
	vendors        *vendorStates

	mu      sync.RWMutex
	routes  map[routeKey]*routeSeries
	ladders map[ladderKey]map[engine.Outcome]prometheus.Counter
}

// ladderKey names what outcomes are counted under.
type ladderKey struct{ model, source string }

// routeKey names what one model at one vendor is counted under. Money of two
// currencies is never added.
type routeKey struct{ model, vendor, currency string }

// The classes of tokens and of their cost, which do not overlap.
const (
	classUncached = iota
	classRead
	classWrite5m
	classWrite1h
	classOutput
	classes                // how many there are
	classRequest = classes // the fee of a request, which is no token's
	costClasses  = classes + 1
)

var classNames = [costClasses]string{"uncached", "cache_read", "cache_write_5m", "cache_write_1h", "output", "request"}

// routeSeries are the counters of one model at one vendor, found once and there
// from the first: a rate needs the zero before it.
type routeSeries struct {
	tokens   [classes]prometheus.Counter
	unpriced prometheus.Counter
	missing  prometheus.Counter

	mu   sync.Mutex
	cost [costClasses]decimal.Decimal
}

// NewMetrics makes metrics that have counted nothing.
func NewMetrics(o MetricsOptions) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "warmroute_" + name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "warmroute_" + name, Help: help, Buckets: buckets}, labels)
	}
	m := &Metrics{
		o:        o,
		registry: prometheus.NewRegistry(),
		routes:   map[routeKey]*routeSeries{},
		ladders:  map[ladderKey]map[engine.Outcome]prometheus.Counter{},
		judged:   newJudged(),
		vendors:  newVendorStates(o),
		requests: counter("requests_total", "Turns, by the dialect, the model and vendor that served or were tried last, and the status the client got; 499: it had left.", "protocol", "model", "vendor", "code"),
		duration: histogram("request_duration_seconds", "From a turn's request to the end of its answer.",
			[]float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600}, "model", "vendor", "stream"),
		first: histogram("time_to_first_token_seconds", "From the start of the attempt that served to the first byte of its answer, by whether it read from the vendor's cache.",
			[]float64{.005, .01, .025, .05, .1, .2, .3, .5, .75, 1, 1.5, 2, 3, 5, 10, 20, 30, 60}, "model", "vendor", "cache"),
		tokens:   counter("tokens_total", "Tokens that vendors reported, in classes that do not overlap.", "model", "vendor", "class"),
		outcomes: counter("affinity_outcomes_total", "What affinity did, by the model that served and how its session was named; none: there was no session.", "model", "outcome", "source"),
		attempts: counter("upstream_attempts_total", "Attempts, by how they ended: served, abandoned, or what went wrong.", "vendor", "result"),
		unpriced: counter("unpriced_tokens_total", "Tokens that were reported and whose cost is not known for want of a price.", "vendor", "model"),
		missing:  counter("usage_missing_total", "Attempts that a vendor accepted and whose usage is not complete.", "vendor", "model"),
	}
	overhead := histogram("overhead_seconds", "Time of a turn that no attempt took: decide, from the request to the first attempt; settle, all between attempts and after the last. Reading the request's body comes before, and relaying an answer is part of its attempt.",
		[]float64{.00001, .000025, .00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05}, "phase")
	m.decide, m.settle = overhead.WithLabelValues(phaseDecide), overhead.WithLabelValues(phaseSettle)
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "warmroute_build_info", Help: "What is running; always 1."}, []string{"version", "commit", "goversion"})
	build.WithLabelValues(o.Version, o.Commit, runtime.Version()).Set(1)
	m.registry.MustRegister(m.requests, m.duration, m.first, overhead, m.tokens, m.outcomes, m.attempts, m.unpriced, m.missing, build, (*costs)(m), m.judged, m.vendors, newPriceAges(o),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.figures()
	return m
}

// figures registers what is asked for at a scrape.
func (m *Metrics) figures() {
	gauge := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "warmroute_" + name, Help: help}, value))
	}
	counter := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "warmroute_" + name, Help: help}, value))
	}
	if pins := m.o.Pins; pins != nil {
		gauge("pins", "Records in memory: one of pins for each session and scope, and one for each response that may be continued.", func() float64 { return float64(pins().Records) })
		gauge("pin_writes_unwritten", "Records of pins changed and not yet durable.", func() float64 { return float64(pins().Unwritten) })
		counter("pin_writes_dropped_total", "Records of pins given up unwritten.", func() float64 { return float64(pins().Dropped) })
		gauge("pin_store_bytes", "Memory that the records of pins hold.", func() float64 { return float64(pins().Bytes) })
		counter("pins_evicted_total", "Records of pins that made room for others.", func() float64 { return float64(pins().Evicted) })
	}
	if ledger := m.o.Ledger; ledger != nil {
		gauge("ledger_queued", "Turns that wait to be written to the ledger.", func() float64 { return float64(ledger().Queued) })
		counter("ledger_dropped_total", "Turns that the ledger gave up.", func() float64 { return float64(ledger().Dropped) })
	}
	if sidecar := m.o.Sidecar; sidecar != nil {
		gauge("sidecar_pending", "Turns that were decided for other gateways and are not settled.", func() float64 { return float64(sidecar().Pending) })
		gauge("sidecar_pending_bytes", "Memory that turns decided for other gateways hold, settled ones that may be reported again among them.", func() float64 { return float64(sidecar().Bytes) })
		counter("sidecar_unheard_total", "Turns that were decided for other gateways and forgotten without a word of them; they are not in the books.", func() float64 { return float64(sidecar().Unheard) })
		counter("sidecar_abandoned_total", "Turns that other gateways began and never reported the end of; they are booked as abandoned.", func() float64 { return float64(sidecar().Abandoned) })
	}
	if reload := m.o.Reload; reload != nil {
		gauge("config_last_reload_successful", "1 if the catalog's file as it is now is in force, 0 if an earlier one is.", func() float64 {
			if reload().Rejected != nil {
				return 0
			}
			return 1
		})
		gauge("config_last_reload_success_timestamp_seconds", "When the catalog in force was read; 0 if it was not read from a file.", func() float64 {
			at := reload().LoadedAt
			if at.IsZero() {
				return 0
			}
			return float64(at.UnixMilli()) / 1000
		})
		for result, count := range map[string]func(catalog.Status) int64{
			"accepted": func(s catalog.Status) int64 { return s.Accepted },
			"refused":  func(s catalog.Status) int64 { return s.Refused },
		} {
			m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
				Name:        "warmroute_config_reloads_total",
				Help:        "Times that the catalog's file was read anew, by what came of it.",
				ConstLabels: prometheus.Labels{"result": result},
			}, func() float64 { return float64(count(reload())) }))
		}
	}
}

// Handler serves the metrics in the format that the scraper asks for.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: 8})
}

// Gatherer is where the metrics can be read.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// Record counts a turn that is over. It implements [engine.Ledger] and waits for
// nothing but other turns being counted.
//
// Tokens and money are counted where the ledger counts them, so that the two
// agree.
func (m *Metrics) Record(turn engine.Turn) {
	c := m.o.Catalog()
	served := key(c, &turn)
	m.requests.WithLabelValues(string(turn.API), served.model, served.vendor, codeLabel(codeOf(&turn))).Inc()
	m.duration.WithLabelValues(served.model, served.vendor, streamLabel(turn.Stream)).Observe(turn.Took.Seconds())
	if f := finding(&turn); f != nil {
		m.outcome(ladderKey{served.model, sourceLabel(&turn.Session)}, f.Outcome).Inc()
	}
	m.overheads(&turn)
	if m.vendors.flights.told.Load() {
		m.vendors.flights.landed(&turn)
	}
	for i := range turn.Attempts {
		a := &turn.Attempts[i]
		at := keyOf(c, a.Candidate.Route)
		m.attempts.WithLabelValues(at.vendor, resultLabel(a)).Inc()
		if a.Billable() {
			m.bill(at, a)
		}
	}
}

// key is what a turn is counted under: the route of its last attempt; without
// one the model that its plan began with.
func key(c *catalog.Catalog, t *engine.Turn) routeKey {
	if last, tried := t.Last(); tried {
		return keyOf(c, last.Candidate.Route)
	}
	k := routeKey{labelOther, labelNone, c.Currency}
	if len(t.Decision.Models) > 0 && t.Decision.Models[0].Model != nil {
		k.model = modelLabel(c, t.Decision.Models[0].Model.Name)
	}
	return k
}

// keyOf is what an attempt on a route is counted under.
func keyOf(c *catalog.Catalog, r *catalog.Route) routeKey {
	if r == nil {
		return routeKey{labelOther, labelOther, c.Currency}
	}
	return routeKey{modelLabel(c, r.Model.Name), vendorLabel(c, r.Vendor.Name), c.Currency}
}

// finding is what affinity found for the model that served, or was tried last;
// nil where it was not asked.
func finding(t *engine.Turn) *engine.Finding {
	i := 0
	if last, tried := t.Last(); tried {
		i = last.Finding
	}
	if i < 0 || i >= len(t.Decision.Models) {
		return nil
	}
	return &t.Decision.Models[i]
}

// outcome finds the counter of an outcome. Those of the whole ladder are there from
// the first: a rate needs the zero before it.
func (m *Metrics) outcome(at ladderKey, outcome engine.Outcome) prometheus.Counter {
	m.mu.RLock()
	ladder := m.ladders[at]
	m.mu.RUnlock()
	if ladder == nil {
		ladder = map[engine.Outcome]prometheus.Counter{}
		for _, o := range engine.Ladder() {
			ladder[o] = m.outcomes.WithLabelValues(at.model, string(o), at.source)
		}
		m.mu.Lock()
		m.ladders[at] = ladder
		m.mu.Unlock()
	}
	if counter := ladder[outcome]; counter != nil {
		return counter
	}
	return m.outcomes.WithLabelValues(at.model, string(outcome), at.source)
}

// The phases of a turn that are the gateway's own.
const (
	phaseDecide = "decide"
	phaseSettle = "settle"
)

// overheads notes the time of a turn that was the gateway's own, if anybody was
// tried by it.
func (m *Metrics) overheads(t *engine.Turn) {
	if len(t.Attempts) == 0 || t.Remote {
		return
	}
	decide := t.Attempts[0].Started.Sub(t.Started)
	settle := t.Took - decide
	for i := range t.Attempts {
		settle -= t.Attempts[i].Took
	}
	m.decide.Observe(max(0, decide).Seconds())
	m.settle.Observe(max(0, settle).Seconds())
}

// bill counts what an accepted attempt used.
func (m *Metrics) bill(key routeKey, a *engine.Attempt) {
	if a.Stage == engine.StageServed && a.FirstByte > 0 {
		m.first.WithLabelValues(key.model, key.vendor, cacheLabel(a)).Observe(a.FirstByte.Seconds())
	}
	s := m.route(key)
	if !a.Quality.Complete() {
		s.missing.Inc()
		return
	}
	u := a.Used()
	for i, n := range [classes]int64{u.Input, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h, u.Output} {
		if n > 0 {
			s.tokens[i].Add(float64(n))
		}
	}
	if !a.Cost.Known {
		s.unpriced.Add(float64(max(0, u.Prompt()+u.Output)))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, part := range [costClasses]decimal.Decimal{a.Cost.Input, a.Cost.CacheRead, a.Cost.CacheWrite5m, a.Cost.CacheWrite1h, a.Cost.Output, a.Cost.Request} {
		if !part.IsZero() {
			s.cost[i] = s.cost[i].Add(part)
		}
	}
}

// route finds the series of one model at one vendor.
func (m *Metrics) route(key routeKey) *routeSeries {
	m.mu.RLock()
	s := m.routes[key]
	m.mu.RUnlock()
	if s != nil {
		return s
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s = m.routes[key]; s != nil {
		return s
	}
	s = &routeSeries{
		unpriced: m.unpriced.WithLabelValues(key.vendor, key.model),
		missing:  m.missing.WithLabelValues(key.vendor, key.model),
	}
	for i, name := range classNames[:classes] {
		s.tokens[i] = m.tokens.WithLabelValues(key.model, key.vendor, name)
	}
	m.routes[key] = s
	return s
}

// costs shows the exact sums of money. A float is made of each at its scrape,
// and none before.
type costs Metrics

// Describe names nothing: the currencies are those of catalogs to come.
func (c *costs) Describe(chan<- *prometheus.Desc) {}

// Collect sends every sum there is.
func (c *costs) Collect(to chan<- prometheus.Metric) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for key, s := range c.routes {
		d := moneyDesc("cost", key.currency, "What usage cost at the catalog's prices; attempts whose cost is not known add nothing, see unpriced_tokens and usage_missing.", "model", "vendor", "class")
		s.mu.Lock()
		cost := s.cost
		s.mu.Unlock()
		for i, sum := range cost {
			to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, sum.InexactFloat64(), key.model, key.vendor, classNames[i])
		}
	}
}

func streamLabel(streamed bool) string {
	if streamed {
		return "true"
	}
	return "false"
}

// cacheLabel is whether an attempt read from the vendor's cache, as far as that
// is known.
func cacheLabel(a *engine.Attempt) string {
	switch {
	case a.Usage.CacheRead > 0:
		return "warm"
	case a.Quality.Complete() && !a.ReadUnknown:
		return "cold"
	}
	return "unknown"
}

// The labels of what the catalog does not name.
const (
	labelOther = "other"
	labelNone  = "none"
)

func modelLabel(c *catalog.Catalog, name string) string {
	target, ok := c.Resolve(name)
	if !ok || target.Policy != nil || target.Models[0].Name != name {
		return labelOther
	}
	return name
}

func vendorLabel(c *catalog.Catalog, name string) string {
	if _, ok := c.Vendor(name); !ok {
		return labelOther
	}
	return name
}

func sourceLabel(s *engine.Session) string {
	if !s.Found() {
		return labelNone
	}
	return s.Source()
}

// resultLabel is how an attempt ended.
func resultLabel(a *engine.Attempt) string {
	switch {
	case a.Stage == engine.StageServed, a.Stage == engine.StageAbandoned:
		return string(a.Stage)
	case a.Failure != engine.FailureNone:
		return string(a.Failure)
	}
	return a.Stage.String()
}

// codeOf is the status that the client of a turn was answered with. The turn no
// longer has the vendor's reply that it followed from: Send has noted it.
func codeOf(t *engine.Turn) int {
	if last, tried := t.Last(); tried {
		return last.Answered
	}
	return answered(nil)
}

// codeLabel is a status as a label.
func codeLabel(code int) string {
	if code == http.StatusOK {
		return "200"
	}
	return strconv.Itoa(code)
}

var _ engine.Ledger = (*Metrics)(nil)
