package routes

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// vendorStates shows how the vendors of the catalog in force stand: how many
// attempts each has in flight, and how many of its candidates are down.
type vendorStates struct {
	catalog func() *catalog.Catalog
	down    func(route *catalog.Route, credential string) bool // nil: nobody says
	flights flights

	inflight, state *prometheus.Desc
}

func newVendorStates(o MetricsOptions) *vendorStates {
	return &vendorStates{
		catalog:  o.Catalog,
		down:     o.Down,
		inflight: prometheus.NewDesc("warmroute_inflight_requests", "Attempts in flight.", []string{"vendor"}, nil),
		state:    prometheus.NewDesc("warmroute_breaker_state", "Candidates, each a model at a credential that has its key, by whether they are down: failing or told to wait.", []string{"vendor", "state"}, nil),
	}
}

// Describe implements [prometheus.Collector].
func (v *vendorStates) Describe(to chan<- *prometheus.Desc) {
	to <- v.inflight
	to <- v.state
}

// Collect sends the figures of every vendor.
func (v *vendorStates) Collect(to chan<- prometheus.Metric) {
	c := v.catalog()
	if v.flights.told.Load() {
		v.collectFlights(c, to)
	}
	if v.down == nil {
		return
	}
	type states struct{ up, down int }
	all := make([]states, len(c.Vendors))
	for _, m := range c.Models {
		for _, r := range m.Routes {
			if r.Disabled != "" {
				continue
			}
			s := &all[r.Vendor.Index]
			for _, credential := range credentials(r.Vendor) {
				if v.down(r, credential) {
					s.down++
				} else {
					s.up++
				}
			}
		}
	}
	for i, vendor := range c.Vendors {
		to <- prometheus.MustNewConstMetric(v.state, prometheus.GaugeValue, float64(all[i].up), vendor.Name, "up")
		to <- prometheus.MustNewConstMetric(v.state, prometheus.GaugeValue, float64(all[i].down), vendor.Name, "down")
	}
}

// credentials are the ids of a vendor's credentials that have their keys; one without
// a name for a vendor that needs none.
func credentials(v *catalog.Vendor) (ids []string) {
	if len(v.Credentials) == 0 {
		return []string{""}
	}
	for i := range v.Credentials {
		if _, ok := v.Credentials[i].Secret(); ok {
			ids = append(ids, v.Credentials[i].ID)
		}
	}
	return ids
}

func (v *vendorStates) collectFlights(c *catalog.Catalog, to chan<- prometheus.Metric) {
	counts := map[string]int64{}
	v.flights.vendors.Range(func(name, count any) bool {
		if n := count.(*atomic.Int64).Load(); n != 0 {
			counts[vendorLabel(c, name.(string))] += n
		}
		return true
	})
	for _, vendor := range c.Vendors {
		to <- prometheus.MustNewConstMetric(v.inflight, prometheus.GaugeValue, float64(counts[vendor.Name]), vendor.Name)
	}
	if n := counts[labelOther]; n != 0 {
		if _, named := c.Vendor(labelOther); !named {
			to <- prometheus.MustNewConstMetric(v.inflight, prometheus.GaugeValue, float64(n), labelOther)
		}
	}
}

// flights counts the attempts in flight by the names of vendors, which are those of
// the catalog that each turn began with.
type flights struct {
	told    atomic.Bool // whether anybody tells of attempts before they are made
	vendors sync.Map    // name to *atomic.Int64
}

func (f *flights) add(vendor string, n int64) {
	count, ok := f.vendors.Load(vendor)
	if !ok {
		count, _ = f.vendors.LoadOrStore(vendor, new(atomic.Int64))
	}
	count.(*atomic.Int64).Add(n)
}

// landed counts a turn's last attempt as over. Attempts that others make are not
// counted: they are told of when they end, and not always before.
func (f *flights) landed(t *engine.Turn) {
	if last, tried := t.Last(); tried && last.Candidate.Route != nil && !t.Remote {
		f.add(last.Candidate.Route.Vendor.Name, -1)
	}
}

// InFlight passes on what next is told of attempts before they are made, and counts
// those that are under way. Turns end for it in [Metrics.Record], which has to be
// told of all of them.
func (m *Metrics) InFlight(next engine.Intents) engine.Intents {
	m.vendors.flights.told.Store(true)
	return intents{m, next}
}

type intents struct {
	m    *Metrics
	next engine.Intents
}

// Intend implements [engine.Intents].
func (i intents) Intend(ctx context.Context, turn *engine.Turn, next engine.Candidate) error {
	f := &i.m.vendors.flights
	f.landed(turn)
	if next.Route != nil && !turn.Remote {
		f.add(next.Route.Vendor.Name, 1)
	}
	return i.next.Intend(ctx, turn, next)
}
