package catalog

import (
	"time"

	"github.com/shopspring/decimal"
	"gopkg.in/yaml.v3"

	"github.com/warmroute/warmroute/pricing"
)

func (r *reader) clientLeft(n *yaml.Node, where, what string) (ClientLeft, bool) {
	word, ok := r.choice(n, where, what, string(LeftCancel), string(LeftDrain))
	return ClientLeft(word), ok
}

// drains reads the limits of what is read on. top is the file's own mapping.
func (c *configReader) drains(n *yaml.Node, top *object) {
	o, ok := c.fixed(n, "drain", "drain", keysIn[drainShape]()...)
	if !ok {
		return
	}
	into := &c.config.Drain
	setting(&o, "time", &into.Time, c.drainTime)
	setting(&o, "bytes", &into.Bytes, c.bytes)
	if !readsOn(top) {
		c.warn(n, "drain", "drain sets limits and nothing is read on; say on_client_left: drain, for all or for a tenant")
	}
}

// readsOn says whether a file asks anywhere that answers be read on.
func readsOn(top *object) bool {
	says := func(n *yaml.Node) bool { return n != nil && n.Value == string(LeftDrain) }
	if says(top.get("on_client_left")) {
		return true
	}
	if tenants := top.get("tenants"); tenants != nil {
		for _, tenant := range tenants.Content {
			if says(valueOf(tenant, "on_client_left")) {
				return true
			}
		}
	}
	return false
}

// drainTime is how long an answer is read on.
func (r *reader) drainTime(n *yaml.Node, where, what string) (time.Duration, bool) {
	return r.duration(n, where, what, 10*time.Millisecond, 10*time.Minute)
}

// mostHeldOut is the largest share of sessions that may be held out: beyond it the
// experiment costs more than it tells.
var mostHeldOut = decimal.New(5, -1)

// holdout reads a share of sessions.
func (r *reader) holdout(n *yaml.Node, where, what string) (decimal.Decimal, bool) {
	text, ok := r.text(n, where, what)
	if !ok {
		return decimal.Decimal{}, false
	}
	rate, err := pricing.ParseRate(text, pricing.PerMillionTokens)
	share := rate.Decimal()
	if err != nil || share.GreaterThan(mostHeldOut) || !share.Shift(6).IsInteger() {
		r.fail(n, where, "%s %s is not a share of sessions; write a number from 0 to 0.5 in at most six decimals, such as 0.01 for one in a hundred", what, r.quote(text))
		return decimal.Decimal{}, false
	}
	return share, true
}
