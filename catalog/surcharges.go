package catalog

import (
	"fmt"

	"github.com/shopspring/decimal"
	"github.com/warmroute/warmroute/pricing"
	"gopkg.in/yaml.v3"
)

// maxSurcharges is how many surcharges one price may have.
const maxSurcharges = 16

// surcharges reads what a vendor multiplies its prices by at some speed or in some
// region. Each speed and region stand in one of them at most.
func (b *builder) surcharges(n *yaml.Node, where string) []pricing.Surcharge {
	items := b.list(n, where, "surcharges", "[{speed: fast, times: 2}]")
	if len(items) > maxSurcharges {
		b.fail(n, where, "surcharges has more than %d entries; keep those that the vendor charges", maxSurcharges)
		return nil
	}
	var all []pricing.Surcharge
	first := map[[2]string]*yaml.Node{}
	for i, item := range items {
		at := fmt.Sprintf("%s, surcharge %d", where, i+1)
		x, ok := b.surcharge(item, at)
		if !ok {
			continue
		}
		of := [2]string{x.Speed, x.Region}
		if other, twice := first[of]; twice {
			b.fail(item, at, "is for the same speed and region as another, %s, and both would multiply; remove one", both(other, item))
			continue
		}
		first[of] = item
		all = append(all, x)
	}
	return all
}

func (b *builder) surcharge(item *yaml.Node, where string) (x pricing.Surcharge, ok bool) {
	o, ok := b.fixed(item, where, "a surcharge", keysIn[surchargeShape]()...)
	if !ok {
		return x, false
	}
	speed, region := o.get("speed"), o.get("region")
	if speed != nil {
		x.Speed, ok = b.name(speed, where, "speed")
		if ok && pricing.StandardSpeed(x.Speed) {
			b.fail(speed, where, "speed %s is the ordinary speed; its prices stand directly under price", b.quote(x.Speed))
			ok = false
		}
	}
	if region != nil {
		var readable bool
		x.Region, readable = b.name(region, where, "region")
		ok = ok && readable
	}
	if speed == nil && region == nil && !o.partial {
		b.fail(item, where, "names neither speed nor region, so it would hold always; add one, such as speed: fast")
		ok = false
	}
	n := b.need(&o, "times", "give what the prices are multiplied by, such as 1.1")
	if n == nil {
		return x, false
	}
	var readable bool
	x.Times, readable = b.times(n, where)
	return x, ok && readable
}

// times reads the multiple of a surcharge from its text.
func (b *builder) times(n *yaml.Node, where string) (times decimal.Decimal, ok bool) {
	text, ok := b.text(n, where, "times")
	if !ok {
		return times, false
	}
	times, err := pricing.ParseTimes(text)
	switch {
	case err == nil:
		return times, true
	case mayBeKey(text):
		b.fail(n, where, "times is not a multiple; write digits with a decimal point, such as 1.1")
	default:
		b.fail(n, where, "times %s", err)
	}
	return times, false
}
