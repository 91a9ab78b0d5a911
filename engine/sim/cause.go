package sim

// Cause is why a turn read less from a cache than the last one promised it. The zero
// Cause is that it did not miss.
type Cause uint8

// The causes, in the order in which they are asked.
const (
	NoMiss             Cause = iota
	PrefixChanged            // the client rewrote what had been cached
	NoCacheMarker            // the route caches what is marked, and nothing was
	BelowMinPrefix           // the route that served caches no prompt this short
	DeliberateMove           // the gate found another vendor cheaper even cold
	PlanExcluded             // settings kept the turn from the warm vendor
	VendorSwitched           // the warm vendor was allowed and healthy, and not used
	CredentialSwitched       // the same vendor, another account
	PinLost                  // the pin was gone before its time
	HealthDown               // the warm vendor was down or failed
	PinExpired               // the pause was longer than the cache or the pin lives
	VendorEvicted            // same vendor, in time, same prefix, and next to nothing read
	UnknownCause             // none of these
	Causes                   // how many there are, NoMiss among them
)

var causes = [Causes]struct {
	name      string
	blame     Blame
	avoidable bool
}{
	NoMiss:             {"", Nobody, false},
	PrefixChanged:      {"prefix_changed", Client, false},
	NoCacheMarker:      {"no_cache_marker", Client, false},
	BelowMinPrefix:     {"below_min_prefix", Nobody, false},
	DeliberateMove:     {"deliberate_move", Nobody, false},
	PlanExcluded:       {"plan_excluded", Gateway, true},
	VendorSwitched:     {"vendor_switched", Gateway, true},
	CredentialSwitched: {"credential_switched", Gateway, true},
	PinLost:            {"pin_lost", Gateway, true},
	HealthDown:         {"health_down", Vendor, false},
	PinExpired:         {"pin_expired", Client, false},
	VendorEvicted:      {"vendor_evicted", Vendor, false},
	UnknownCause:       {"unknown", Nobody, false},
}

// String is the word for the cause in the books; empty for none.
func (c Cause) String() string {
	if c >= Causes {
		return causes[UnknownCause].name
	}
	return causes[c].name
}

// CauseOf reads what [Cause.String] wrote; ok is false for any other word.
func CauseOf(name string) (c Cause, ok bool) {
	for c := range causes {
		if causes[c].name == name {
			return Cause(c), true
		}
	}
	return NoMiss, false
}

// Blame is who could have prevented a miss. A client can by keeping its prefix, by
// marking it, or, after a pause, by asking for a longer lifetime.
//
// The zero Blame is nobody: the miss was right, or could not be helped, or its cause
// is not known.
type Blame string

// Who could have prevented a miss.
const (
	Nobody  Blame = ""
	Client  Blame = "client"
	Gateway Blame = "gateway"
	Vendor  Blame = "vendor"
)

// Blame is whose doing a miss of this cause is.
func (c Cause) Blame() Blame {
	if c >= Causes {
		return Nobody
	}
	return causes[c].blame
}

// Avoidable says whether affinity should have prevented such a miss: what it costs is
// avoidable loss.
func (c Cause) Avoidable() bool { return c < Causes && causes[c].avoidable }
