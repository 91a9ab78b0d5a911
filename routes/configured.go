package routes

import (
	"fmt"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
)

// Configured is what a config file says to [Options] of those who use the gateway. The
// rest of Options is the caller's to fill in.
//
// said is what goes before the file of a tenant's profile and gate, behind the tenant's
// own settings; affinity whether it is on for tenants that do not say. The error names
// the tenant that cannot be.
func Configured(c *catalog.Config, said catalog.ProfileSettings, affinity bool) (o Options, err error) {
	general := c.Byok.Or(catalog.OwnKeys{})
	o.Own, o.OwnOnly = ownKeysOf(general)
	o.Metadata = vendor.Metadata(c.Metadata.Or(""))
	o.MaxBody = c.Limits.Body.Or(0)
	o.Drain = drainOf(c, c.OnClientLeft.Or(catalog.LeftCancel))
	if len(c.Tenants) == 0 {
		return o, nil
	}
	list := make([]Tenant, len(c.Tenants))
	for i, t := range c.Tenants {
		profile, err := engine.ProfileOf(t.ProfileSettings.Over(said))
		if err != nil {
			return o, fmt.Errorf("tenant %q: %w", t.ID, err)
		}
		list[i] = Tenant{
			ID:       t.ID,
			Metadata: vendor.Metadata(t.Metadata.Or("")),
			Rules:    engine.Rules{Profile: profile, Off: !t.Affinity.Or(affinity), Only: t.Only},
		}
		list[i].Own, list[i].Rules.OwnOnly = ownKeysOf(t.Byok.Or(general))
		if left, ok := t.Left.Get(); ok {
			drain := drainOf(c, left)
			list[i].Drain = &drain
		}
		for _, key := range t.Keys {
			list[i].Keys = append(list[i].Keys, key.SHA256)
		}
	}
	o.Tenants, err = NewTenants(list)
	return o, err
}

// ownKeysOf are somebody's own keys for vendors, and whether they are all that it is
// served with. A key that is not there is left out.
func ownKeysOf(own catalog.OwnKeys) (keys OwnKeys, only bool) {
	keys.Requests = own.Requests
	for i := range own.Keys {
		if secret, ok := own.Keys[i].Secret(); ok {
			keys.Stored = append(keys.Stored, StoredKey{Vendor: own.Keys[i].Vendor, Key: secret})
		}
	}
	return keys, own.Only
}

// The limits of what is read on without a client, where the file has none.
const (
	drainTime  = 30 * time.Second
	drainBytes = 1 << 20
)

// drainOf is how far an answer is read on once its client has left.
func drainOf(c *catalog.Config, left catalog.ClientLeft) vendor.Drain {
	if left != catalog.LeftDrain {
		return vendor.Drain{}
	}
	return vendor.Drain{Time: c.Drain.Time.Or(drainTime), Bytes: c.Drain.Bytes.Or(drainBytes)}
}
