package conformance_test

import (
	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes"
)

// wire makes of a config file what the command serve makes of it, as far as
// affinity and tenants go.
func wire(c *catalog.Config, g engine.Gateway) (o routes.Options, err error) {
	said, affinity := c.Affinity.ProfileSettings, c.Affinity.Enabled.Or(true)
	if o, err = routes.Configured(c, said, affinity); err != nil {
		return o, err
	}
	g.Profile, err = engine.ProfileOf(said)
	g.Off = !affinity && o.Tenants == nil
	o.Gateway = &g
	return o, err
}
