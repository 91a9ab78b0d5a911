package vendor

import "github.com/warmroute/warmroute/engine"

// ownKeyHash is how many digits of its hash a caller's own key is known by.
const ownKeyHash = 16

// OwnKeyID is what a tenant's own key for a vendor is known by where it may be kept:
// in pins, in the books, in the log. Without the instance's secret nobody can tell
// from it which key it is, nor that two tenants have the same.
func (c *Client) OwnKeyID(tenant, vendor, key string) string {
	return engine.OwnKeyID(c.hashed("own key", tenant, vendor, key)[:ownKeyHash])
}
