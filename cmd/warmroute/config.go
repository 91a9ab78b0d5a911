package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes"
	"github.com/warmroute/warmroute/routes/vendor"
)

// readConfig reads the configuration file into s, behind what flags and
// environment have set already: flag before environment before file before
// default. Without a file s.config is the zero one.
func (s *settings) readConfig(flags *pflag.FlagSet) error {
	s.config = &catalog.Config{}
	if s.Config == "" {
		return nil
	}
	c, err := catalog.LoadConfig(s.Config)
	if errors.Is(err, fs.ErrNotExist) {
		return notFound(fmt.Errorf("there is no configuration file at %s", s.Config))
	}
	if err != nil {
		return invalid(err)
	}
	s.config = c
	behind(flags, "listen", c.Listen, same)
	behind(flags, "admin", c.Admin, same)
	behind(flags, "data", c.Data, same)
	behind(flags, "catalog", c.Catalog, same)
	behind(flags, "open", c.Open, strconv.FormatBool)
	behind(flags, "log-level", c.LogLevel, same)
	behind(flags, "metadata", c.Metadata, same)
	behind(flags, "affinity", c.Affinity.Enabled, strconv.FormatBool)
	behind(flags, "drain", c.Timeouts.Drain, time.Duration.String)
	return nil
}

// The limits of what is read on without a client, where the file has none.
const (
	drainTime  = 30 * time.Second
	drainBytes = 1 << 20
)

// drain is how far an answer is read on once its client has left.
func (s *settings) drain(left catalog.ClientLeft) vendor.Drain {
	if left != catalog.LeftDrain {
		return vendor.Drain{}
	}
	return vendor.Drain{Time: s.config.Drain.Time.Or(drainTime), Bytes: s.config.Drain.Bytes.Or(drainBytes)}
}

func same(text string) string { return text }

// behind gives a flag that was not set the value of the file. The file has been
// checked, so a flag cannot refuse it.
func behind[T any](flags *pflag.FlagSet, name string, value catalog.Setting[T], text func(T) string) {
	v, ok := value.Get()
	f := flags.Lookup(name)
	if !ok || f == nil || f.Changed {
		return
	}
	_ = f.Value.Set(text(v))
}

// ownKeys are a tenant's own keys for vendors, and whether they are all it is served with.
func ownKeys(own catalog.OwnKeys) (keys routes.OwnKeys, only bool) {
	keys.Requests = own.Requests
	for i := range own.Keys {
		if secret, ok := own.Keys[i].Secret(); ok {
			keys.Stored = append(keys.Stored, routes.StoredKey{Vendor: own.Keys[i].Vendor, Key: secret})
		}
	}
	return keys, own.Only
}

// tenants are those the configuration names, nil without any.
func (s *settings) tenants() (*routes.Tenants, error) {
	if len(s.config.Tenants) == 0 {
		return nil, nil
	}
	list := make([]routes.Tenant, len(s.config.Tenants))
	for i, t := range s.config.Tenants {
		profile, err := engine.ProfileOf(t.ProfileSettings.Over(s.affinity()))
		if err != nil {
			return nil, invalid(fmt.Errorf("tenant %q: %w", t.ID, err))
		}
		list[i] = routes.Tenant{
			ID:       t.ID,
			Metadata: vendor.Metadata(t.Metadata.Or("")),
			Rules:    engine.Rules{Profile: profile, Off: !t.Affinity.Or(s.Affinity), Only: t.Only},
		}
		list[i].Own, list[i].Rules.OwnOnly = ownKeys(t.Byok.Or(s.config.Byok.Or(catalog.OwnKeys{})))
		if left, ok := t.Left.Get(); ok {
			drain := s.drain(left)
			list[i].Drain = &drain
		}
		for _, key := range t.Keys {
			list[i].Keys = append(list[i].Keys, key.SHA256)
		}
	}
	tenants, err := routes.NewTenants(list)
	if err != nil {
		return nil, invalid(err)
	}
	return tenants, nil
}
