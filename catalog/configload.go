package catalog

import (
	"fmt"
	"io"
	"os"
	"slices"

	"gopkg.in/yaml.v3"
)

// LoadConfig reads a config file and the tenants' keys from the environment.
//
// The error is [Problems] where the file could be read, and says why it could not
// otherwise; a file that does not exist is [os.ErrNotExist]. A key that is not
// found is a mistake: whoever has it would be turned away.
func LoadConfig(path string) (*Config, error) {
	return loadFile("config file", path, func(from io.Reader) (*Config, error) {
		text, err := readAll(from)
		if err != nil {
			return nil, fmt.Errorf("config file cannot be read: %w", err)
		}
		return ParseConfig(path, text, os.LookupEnv)
	})
}

// ParseConfig reads a config file from its text. file is only named in problems.
// look finds an environment variable; if it is nil, keys named by their variable
// are not loaded and not compared.
//
// The error is [Problems], as that of [Parse].
func ParseConfig(file string, text []byte, look func(name string) (value string, ok bool)) (*Config, error) {
	r := &reader{file: file, what: "config file"}
	document, problem := r.document(text, "set something in it, such as listen: 127.0.0.1:8080, or start without it")
	if problem != nil {
		return nil, told(Problems{*problem}, text)
	}
	r.structure(document, 1)
	c := &configReader{reader: r, look: look, config: &Config{Path: file, Digest: digest(text)}}
	c.root(document)
	if problems := r.problems.all("mistake"); len(problems) > 0 {
		return nil, told(problems, text)
	}
	c.config.Warnings = warned(r.warnings.all("warning"), text)
	return c.config, nil
}

// Check says what of a config file does not fit a catalog: vendors that tenants
// name and the catalog does not have, or has no route to. It is nil if all fits.
func (c *Config) Check(with *Catalog) Problems {
	r := &reader{file: c.Path, what: "config file", wary: true}
	var known []string
	for _, v := range with.Vendors {
		known = append(known, v.Name)
	}
	general := c.Byok.Or(OwnKeys{})
	general.check(r, "byok", with, known, nil)
	for _, t := range c.Tenants {
		where := "tenant " + r.quote(t.ID)
		own := t.Byok.Or(OwnKeys{})
		own.check(r, where+", byok", with, known, t.Only)
		missing, serves := false, false
		for _, only := range t.only {
			v, ok := with.Vendor(only.text)
			if !ok {
				missing = true
				r.fail(only.node, where, "only: vendor %s is not in the catalog %s%s", r.quote(only.text), with.Path, orAdd(only.text, known, "vendors there"))
				continue
			}
			serves = serves || with.serves(v)
		}
		if len(t.only) > 0 && !missing && !serves {
			r.fail(t.only[0].node, where, "only: no model in the catalog %s has a route in use to these vendors, so every request of this tenant would be refused", with.Path)
		}
	}
	return r.problems.all("mistake")
}

// serves says whether any route in use goes to a vendor.
func (c *Catalog) serves(v *Vendor) bool {
	for _, m := range c.Models {
		for _, r := range m.Routes {
			if r.Vendor == v && r.Disabled == "" {
				return true
			}
		}
	}
	return false
}

// configReader builds a config of what a reader reads.
type configReader struct {
	*reader
	config *Config
	look   func(name string) (value string, ok bool)
	ids    map[string]entryName
	keys   map[[32]byte]keyPlace
	said   []*saidBeside // the gateway's settings and the tenants'
}

// root reads the top of the file.
func (c *configReader) root(document *yaml.Node) {
	o, ok := c.fixed(document, "", "the config file", keysIn[configShape]()...)
	if !ok {
		return
	}
	into := c.config
	setting(&o, "listen", &into.Listen, c.address)
	setting(&o, "admin", &into.Admin, c.address)
	setting(&o, "data", &into.Data, c.text)
	setting(&o, "catalog", &into.Catalog, c.text)
	setting(&o, "open", &into.Open, c.truth)
	setting(&o, "log_level", &into.LogLevel, c.logLevel)
	setting(&o, "metadata", &into.Metadata, c.metadata)
	setting(&o, "on_client_left", &into.OnClientLeft, c.clientLeft)
	if n := o.get("drain"); n != nil {
		c.drains(n, &o)
	}
	if n := o.get("affinity"); n != nil {
		c.affinity(n)
	}
	if n := o.get("retention"); n != nil {
		c.retention(n)
	}
	if n := o.get("timeouts"); n != nil {
		c.timeouts(n)
	}
	if n := o.get("limits"); n != nil {
		c.limits(n)
	}
	if n := o.get("byok"); n != nil {
		into.Byok = Set(c.byok(n, "byok"))
	}
	if n := o.get("tenants"); n != nil {
		c.tenants(n)
		c.pinShares(n)
	}
	for _, said := range c.said {
		c.fits(said, into.Affinity.ProfileSettings)
	}
	listen, one := into.Listen.Get()
	admin, two := into.Admin.Get()
	if one && two && listen == admin && !endsInZero(listen) {
		c.fail(o.get("admin"), "", "admin is the same address as listen; give it a port of its own")
	}
}

// setting reads a key's value where the file has the key.
func setting[T any](o *object, name string, into *Setting[T], read func(n *yaml.Node, where, what string) (T, bool)) {
	n := o.get(name)
	if n == nil {
		return
	}
	if value, ok := read(n, o.where, name); ok {
		*into = Set(value)
	}
}

func (c *configReader) affinity(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && slices.Contains(profiles, n.Value) {
		c.fail(n, "affinity", "a profile must be a mapping of keys to values; write {profile: %s}", n.Value)
		return
	}
	o, ok := c.fixed(n, "affinity", "affinity", keysIn[affinitySettingsShape]()...)
	if !ok {
		return
	}
	into := &c.config.Affinity
	c.said = append(c.said, &saidBeside{settings: &into.ProfileSettings, where: o.where})
	c.profileSettings(&o, c.said[len(c.said)-1])
	setting(&o, "deadline", &into.Deadline, c.deadline)
	setting(&o, "enabled", &into.Enabled, c.truth)
	setting(&o, "holdout", &into.Holdout, c.holdout)
}

func (c *configReader) retention(n *yaml.Node) {
	o, ok := c.fixed(n, "retention", "retention", keysIn[retentionShape]()...)
	if !ok {
		return
	}
	into := &c.config.Retention
	setting(&o, "turns", &into.Turns, c.kept)
	setting(&o, "minutes", &into.Minutes, c.kept)
	setting(&o, "hours", &into.Hours, c.kept)
}

func (c *configReader) timeouts(n *yaml.Node) {
	o, ok := c.fixed(n, "timeouts", "timeouts", keysIn[timeoutsShape]()...)
	if !ok {
		return
	}
	into := &c.config.Timeouts
	setting(&o, "connect", &into.Connect, c.wait)
	setting(&o, "first_byte", &into.FirstByte, c.wait)
	setting(&o, "idle", &into.Idle, c.wait)
	setting(&o, "drain", &into.Drain, c.drain)
}

func (c *configReader) limits(n *yaml.Node) {
	o, ok := c.fixed(n, "limits", "limits", keysIn[limitsShape]()...)
	if !ok {
		return
	}
	setting(&o, "body", &c.config.Limits.Body, c.bytes)
	setting(&o, "pins", &c.config.Limits.Pins, c.many)
	setting(&o, "sessions_per_minute", &c.config.Limits.SessionsPerMinute, c.many)
}
