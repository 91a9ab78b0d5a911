package vendor

import (
	"strings"

	"github.com/warmroute/warmroute/routes/wire"
)

// The longest words of a vendor's that are kept, in bytes.
const (
	maxModelWord = 256
	maxTierWord  = 64
)

// report notes what the vendor says the attempt used, and the model it says it was.
// Its own words are kept only where they do not repeat the key.
func (a *attempt) report(r wire.Report, model string) {
	a.Usage, a.Quality, a.ReadUnknown = r.Usage, r.Quality, r.ReadUnknown
	a.ServedModel = a.modelWord(model)
	a.ServedTier, a.Speed, a.Region, a.Implicit = a.tierWord(r.Tier), a.tierWord(r.Speed), a.tierWord(r.Region), r.Implicit
	a.Charged, a.Sides = r.Charged, r.Sides
	for i := range a.Sides {
		a.Sides[i].Kind, a.Sides[i].Model = a.tierWord(a.Sides[i].Kind), a.modelWord(a.Sides[i].Model)
	}
	if !a.echoes(string(r.Raw)) {
		a.RawUsage = r.Raw
	}
}

// unfit stands for a word of the vendor's that is not kept. It is no tier's name, so
// that nothing is billed at another tier's price for want of the word.
const unfit = "?"

// modelWord is a model's name as it is kept. What the catalog has is no key.
func (a *attempt) modelWord(name string) string {
	if route := a.try.Candidate.Route; route != nil {
		if _, known := route.Vendor.Serving(name); known || name == route.UpstreamModel {
			return name
		}
	}
	if len(name) > maxModelWord || a.echoes(name) {
		return unfit
	}
	return name
}

// tierWord is a word that names how an answer was served, as it is kept.
func (a *attempt) tierWord(word string) string {
	if len(word) > maxTierWord || strings.ContainsAny(word, " \t\r\n") || a.echoes(word) {
		return unfit
	}
	return word
}
