package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// holding is whose request is explained, and what holds for it.
type holding struct {
	tenant     string
	settings   catalog.ProfileSettings
	rules      engine.Rules // their profile is set
	own        catalog.OwnKeys
	configured bool // there is a configuration file
}

// holds reads what holds for the request: the flags go before the tenant's settings,
// those before the configuration file's. The keys of tenants are not looked for.
func (q question) holds() (holding, error) {
	h, said := holding{tenant: catalog.DefaultTenant}, flagged(q.Profile, q.Gate)
	switch {
	case q.Config == "" && q.Tenant != "":
		return h, usage(errors.New("--tenant needs the file that names it; add --config"))
	case q.Config != "":
		config, err := readUnkeyed(q.Config)
		if err != nil {
			return h, err
		}
		h.configured, h.own = true, config.Byok.Or(catalog.OwnKeys{})
		h.settings, h.rules.Off = config.Affinity.ProfileSettings, !config.Affinity.Enabled.Or(true)
		if q.Tenant == "" {
			break
		}
		t := tenantNamed(config, q.Tenant)
		if t == nil {
			return h, notFound(fmt.Errorf("--tenant %s: %s names no such tenant", q.Tenant, q.Config))
		}
		h.tenant, h.settings = t.ID, t.ProfileSettings.Over(h.settings)
		h.rules.Off, h.rules.Only = !t.Affinity.Or(!h.rules.Off), t.Only
		h.own = t.Byok.Or(h.own)
	}
	h.rules.OwnOnly = h.own.Only
	h.settings = said.Over(h.settings)
	var err error
	if h.rules.Profile, err = engine.ProfileOf(h.settings); err != nil {
		return h, invalid(err)
	}
	return h, nil
}

func tenantNamed(c *catalog.Config, id string) *catalog.Tenant {
	for _, t := range c.Tenants {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// readUnkeyed reads a configuration file without the keys that it names.
func readUnkeyed(path string) (*catalog.Config, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound(fmt.Errorf("there is no configuration file at %s", path))
	}
	if err != nil {
		return nil, err
	}
	c, err := catalog.ParseConfig(path, text, nil)
	if err != nil {
		return nil, invalid(err)
	}
	return c, nil
}
