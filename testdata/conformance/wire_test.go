package conformance_test

import (
	"fmt"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

// wire makes of a config file what the command serve makes of it, as far as
// affinity and tenants go.
func wire(c *catalog.Config, g engine.Gateway) (routes.Options, error) {
	o := routes.Options{Metadata: vendor.Metadata(c.Metadata.Or("body"))}
	var err error
	if g.Profile, err = profile(c.Affinity.Profile.Or("")); err != nil {
		return o, err
	}
	g.Gate = c.Affinity.Gate.Or("")
	enabled := c.Affinity.Enabled.Or(true)
	g.Off = !enabled && len(c.Tenants) == 0
	var list []routes.Tenant
	for _, t := range c.Tenants {
		tenant := routes.Tenant{
			ID:       t.ID,
			Metadata: vendor.Metadata(t.Metadata.Or("")),
			Rules:    engine.Rules{Gate: t.Gate.Or(""), Off: !t.Affinity.Or(enabled), Only: t.Only},
		}
		if name, named := t.Profile.Get(); named {
			if tenant.Rules.Profile, err = profile(name); err != nil {
				return o, err
			}
		}
		for _, key := range t.Keys {
			tenant.Keys = append(tenant.Keys, key.SHA256)
		}
		list = append(list, tenant)
	}
	if len(list) > 0 {
		if o.Tenants, err = routes.NewTenants(list); err != nil {
			return o, err
		}
	}
	o.Gateway = &g
	return o, nil
}

func profile(name catalog.Profile) (*engine.Profile, error) {
	p, ok := engine.ProfileNamed(name)
	if !ok {
		return nil, fmt.Errorf("there is no profile %s", name)
	}
	return p, nil
}
