package catalog

import (
	"strconv"

	"gopkg.in/yaml.v3"
)

// UsualPins is how many records of pins are remembered where the file says nothing.
const UsualPins = 1_000_000

// mostMany is the largest bound that can be set.
const mostMany = 100_000_000

// many reads a bound on how many there are of something.
func (r *reader) many(n *yaml.Node, where, what string) (int, bool) {
	text, ok := r.text(n, where, what)
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseUint(text, 10, 32)
	if err != nil || text[0] == '0' || number > mostMany {
		r.fail(n, where, "%s must be a whole number from 1 to %d, such as 1000", what, mostMany)
		return 0, false
	}
	return int(number), true
}

func (c *configReader) tenantLimits(t *Tenant, n *yaml.Node, where string) {
	o, ok := c.fixed(n, where, "limits", keysIn[tenantLimitsShape]()...)
	if !ok {
		return
	}
	setting(&o, "pins", &t.Limits.Pins, c.many)
	setting(&o, "sessions_per_minute", &t.Limits.SessionsPerMinute, c.many)
}

// pinShares refuses tenants that together claim more records than there are, or leave
// none for those that claim none: one could then push out what is another's.
func (c *configReader) pinShares(n *yaml.Node) {
	claimed, others := c.config.claimed()
	total := c.config.Pins()
	if total-claimed < others {
		c.fail(n, "tenants", "their limits.pins come to %d of %d records, and %d tenants that claim none share the rest; claim fewer, or raise limits.pins at the top", claimed, total, others)
	}
}

// claimed is how many records tenants claim, and how many tenants claim none.
func (c *Config) claimed() (records, others int) {
	for _, t := range c.Tenants {
		if n, ok := t.Limits.Pins.Get(); ok {
			records += n
		} else {
			others++
		}
	}
	return records, others
}

// Pins is how many records of pins are remembered, of all tenants.
func (c *Config) Pins() int { return c.Limits.Pins.Or(UsualPins) }

// PinShare is how many of them may be a tenant's: what it claims, else an equal share
// of what no tenant does, so that none can push out what is another's. It is 0, no
// bound, where no tenants are configured, and for one that is not among them.
func (c *Config) PinShare(tenant string) int {
	claimed, others := c.claimed()
	for _, t := range c.Tenants {
		if t.ID != tenant {
			continue
		}
		if n, ok := t.Limits.Pins.Get(); ok {
			return n
		}
		return (c.Pins() - claimed) / others
	}
	return 0
}

// SessionsPerMinute is how many new sessions of a tenant are pinned in a minute; 0: any
// number.
func (c *Config) SessionsPerMinute(tenant string) int {
	for _, t := range c.Tenants {
		if t.ID == tenant {
			return t.Limits.SessionsPerMinute.Or(c.Limits.SessionsPerMinute.Or(0))
		}
	}
	return c.Limits.SessionsPerMinute.Or(0)
}
