package catalog

import (
	"strings"
	"time"
)

// Serving finds the route of the model that a vendor says it served, in the
// vendor's own words.
//
// Names are exact and case-sensitive. The vendor's own name before a slash is
// taken off; where the whole name is nobody's, a date at its end is, written
// -20260115 or -2026-01-15: vendors name the snapshot where the catalog names the
// family. ok is false for a model the catalog does not have at this vendor.
func (v *Vendor) Serving(model string) (route *Route, ok bool) {
	if route, ok = v.served[model]; ok {
		return route, true
	}
	model = strings.TrimPrefix(model, v.Name+"/")
	if route, ok = v.served[model]; ok {
		return route, true
	}
	if family := undated(model); family != model {
		route, ok = v.served[family]
	}
	return route, ok
}

// undated is a model's name without the date at its end.
func undated(name string) string {
	for _, layout := range [...]string{"-20060102", "-2006-01-02"} {
		if cut := len(name) - len(layout); cut > 0 {
			if _, err := time.Parse(layout, name[cut:]); err == nil {
				return name[:cut]
			}
		}
	}
	return name
}

// index remembers which route of a vendor has which upstream model. Of several
// with one id the first in use counts.
func (c *Catalog) index() {
	for _, m := range c.Models {
		for _, r := range m.Routes {
			if r.Vendor.served == nil {
				r.Vendor.served = map[string]*Route{}
			}
			if before, taken := r.Vendor.served[r.UpstreamModel]; !taken || before.Disabled != "" && r.Disabled == "" {
				r.Vendor.served[r.UpstreamModel] = r
			}
		}
	}
}
