package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warmroute/warmroute/catalog"
)

// maxKeysNamed is how many places of keys a line names.
const maxKeysNamed = 5

// usable says whether any route could serve a turn: it is not disabled, and its
// vendor needs no key or has one.
func usable(c *catalog.Catalog) bool {
	for _, m := range c.Models {
		for _, route := range m.Routes {
			if route.Disabled == "" && keyed(route.Vendor) {
				return true
			}
		}
	}
	return false
}

// keyed says whether a vendor can be called: it needs no key, or has one.
func keyed(v *catalog.Vendor) bool {
	for i := range v.Credentials {
		if _, ok := v.Credentials[i].Secret(); ok {
			return true
		}
	}
	return len(v.Credentials) == 0
}

// keyless says which keys to set where no route could serve for want of one; empty:
// some route can, or it is not a key that they want.
func keyless(c *catalog.Catalog) string {
	if usable(c) {
		return ""
	}
	var wanted []string
	for _, m := range c.Models {
		for _, r := range m.Routes {
			if r.Disabled != "" {
				continue
			}
			for i := range r.Vendor.Credentials {
				if place := placeOf(r.Vendor, &r.Vendor.Credentials[i]); !slices.Contains(wanted, place) {
					wanted = append(wanted, place)
				}
			}
		}
	}
	if len(wanted) == 0 {
		return ""
	}
	rest := ""
	if n := len(wanted) - maxKeysNamed; n > 0 {
		wanted, rest = wanted[:maxKeysNamed], fmt.Sprintf(" or one of %d others", n)
	}
	return "no vendor has a key yet; set at least one of " + strings.Join(wanted, ", ") + rest
}

// placeOf is where a key is kept, in words that are safe to show: what stands where
// a file's name should may be the key itself.
func placeOf(v *catalog.Vendor, c *catalog.Credential) string {
	if c.Env != "" {
		return c.Env
	}
	return "the key file of " + v.Name
}

// keysOf counts the vendors that need a key and those of them that have one.
func keysOf(c *catalog.Catalog) (have, need int) {
	for _, v := range c.Vendors {
		if len(v.Credentials) == 0 {
			continue
		}
		need++
		if keyed(v) {
			have++
		}
	}
	return have, need
}

// allKeyed says whether every credential has its key.
func allKeyed(c *catalog.Catalog) bool {
	for _, v := range c.Vendors {
		for i := range v.Credentials {
			if _, ok := v.Credentials[i].Secret(); !ok {
				return false
			}
		}
	}
	return true
}
