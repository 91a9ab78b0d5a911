package routes

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/warmroute/warmroute/catalog"
)

// priceAges shows how old the prices of each vendor are.
type priceAges struct {
	catalog func() *catalog.Catalog
	now     func() time.Time
	desc    *prometheus.Desc
}

func newPriceAges(o MetricsOptions) *priceAges {
	now := o.Now
	if now == nil {
		now = time.Now
	}
	return &priceAges{catalog: o.Catalog, now: now, desc: prometheus.NewDesc("warmroute_catalog_price_age_seconds",
		"How long ago the oldest price in use of a vendor was read, by the catalog's as_of; a vendor none of whose prices says so is left out.", []string{"vendor"}, nil)}
}

// Describe implements [prometheus.Collector].
func (p *priceAges) Describe(to chan<- *prometheus.Desc) { to <- p.desc }

// Collect sends the age of each vendor that states one.
func (p *priceAges) Collect(to chan<- prometheus.Metric) {
	now := p.now()
	c := p.catalog()
	oldest := make([]time.Time, len(c.Vendors))
	for _, m := range c.Models {
		for _, r := range m.Routes {
			sheet, ok := r.Price.Sheet(now)
			if r.Disabled != "" || !ok {
				continue
			}
			read, err := time.Parse(time.DateOnly, sheet.AsOf)
			if err != nil {
				continue
			}
			if was := &oldest[r.Vendor.Index]; was.IsZero() || read.Before(*was) {
				*was = read
			}
		}
	}
	for i, read := range oldest {
		if !read.IsZero() {
			to <- prometheus.MustNewConstMetric(p.desc, prometheus.GaugeValue, max(0, now.Sub(read).Seconds()), c.Vendors[i].Name)
		}
	}
}
