package routes

import (
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// Of many vendors a message names a few, and says that there are more.
func TestVendorsThatAKeyMayBeFor(t *testing.T) {
	c := &catalog.Catalog{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		c.Vendors = append(c.Vendors, &catalog.Vendor{Name: name})
	}
	if got := haveKeys(c, &Tenant{}); got != "it has a, b, c, d, e, f, g, h." {
		t.Error(got)
	}
	c.Vendors = append(c.Vendors, &catalog.Vendor{Name: "i"}, &catalog.Vendor{Name: "j"})
	if got := haveKeys(c, &Tenant{}); got != "it has a, b, c, d, e, f, g, h and 2 more." {
		t.Error(got)
	}
	if got := haveKeys(c, &Tenant{Rules: engine.Rules{Only: []string{"i", "a"}}}); got != "it has a, i." {
		t.Error(got)
	}
}
