package pricing

// Rival is another route of the same model and the input rate it would charge this turn.
type Rival struct {
	Vendor string
	Input  Rate
}

// Reason says why a gate does not pay, in the words of the design's details.
type Reason string

// The reasons of the gate cache_read. The zero Reason is that it pays.
const (
	Pays               Reason = ""
	PriceUnknown       Reason = "price_unknown"         // the pinned route's cache-read or input rate is not known
	NotBelowOwnInput   Reason = "not_below_own_input"   // reading is not cheaper than its own fresh input
	NotBelowRivalInput Reason = "not_below_rival_input" // a rival's fresh input is as cheap or cheaper
)

// Verdict is the answer of the gate cache_read with every number it compared.
type Verdict struct {
	Pays      bool
	Reason    Reason
	CacheRead Rate    // of the pinned route, this turn
	Input     Rate    // of the pinned route, this turn
	Rivals    []Rival // every rival that was looked at, those without a known rate included
}

// ReadPays is the gate cache_read: the remembered route is promoted only if its
// cache-read rate is strictly below its own input rate and strictly below the
// input rate of every rival whose rate is known (design section 6).
//
// A rival without a known input rate does not compete; with none left only the
// first test counts. The verdict keeps rivals as given. ReadPays allocates nothing.
func ReadPays(own Card, rivals []Rival) Verdict {
	v := Verdict{CacheRead: own.CacheRead, Input: own.Input, Rivals: rivals}
	switch {
	case !own.CacheRead.Known() || !own.Input.Known():
		v.Reason = PriceUnknown
	case !own.CacheRead.Below(own.Input):
		v.Reason = NotBelowOwnInput
	default:
		for i := range rivals {
			if rivals[i].Input.Known() && !own.CacheRead.Below(rivals[i].Input) {
				v.Reason = NotBelowRivalInput
				break
			}
		}
	}
	v.Pays = v.Reason == Pays
	return v
}
