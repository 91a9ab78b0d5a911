package conformance_test

import (
	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

// wire makes of a config file what the command serve makes of it, as far as
// affinity and tenants go.
func wire(c *catalog.Config, g engine.Gateway) (routes.Options, error) {
	o := routes.Options{Gateway: &g, Metadata: vendor.Metadata(c.Metadata.Or("body"))}
	general := c.Byok.Or(catalog.OwnKeys{})
	o.Own, o.OwnOnly = ownKeys(general), general.Only
	var err error
	if g.Profile, err = engine.ProfileOf(c.Affinity.ProfileSettings); err != nil {
		return o, err
	}
	enabled := c.Affinity.Enabled.Or(true)
	g.Off = !enabled && len(c.Tenants) == 0
	if len(c.Tenants) == 0 {
		return o, nil
	}
	list := make([]routes.Tenant, len(c.Tenants))
	for i, t := range c.Tenants {
		list[i] = routes.Tenant{
			ID:       t.ID,
			Metadata: vendor.Metadata(t.Metadata.Or("")),
			Rules:    engine.Rules{Off: !t.Affinity.Or(enabled), Only: t.Only},
		}
		if list[i].Rules.Profile, err = engine.ProfileOf(t.ProfileSettings.Over(c.Affinity.ProfileSettings)); err != nil {
			return o, err
		}
		own := t.Byok.Or(general)
		list[i].Own, list[i].Rules.OwnOnly = ownKeys(own), own.Only
		for _, key := range t.Keys {
			list[i].Keys = append(list[i].Keys, key.SHA256)
		}
	}
	o.Tenants, err = routes.NewTenants(list)
	return o, err
}

func ownKeys(own catalog.OwnKeys) routes.OwnKeys {
	keys := routes.OwnKeys{Requests: own.Requests}
	for i := range own.Keys {
		if secret, ok := own.Keys[i].Secret(); ok {
			keys.Stored = append(keys.Stored, routes.StoredKey{Vendor: own.Keys[i].Vendor, Key: secret})
		}
	}
	return keys
}
