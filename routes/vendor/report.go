package vendor

import "github.com/warmroute/warmroute/routes/wire"

// report notes what the vendor says the attempt used. Its own words are kept only
// where they do not repeat the key.
func (a *attempt) report(r wire.Report) {
	a.Usage, a.Quality, a.ReadUnknown = r.Usage, r.Quality, r.ReadUnknown
	a.ServedTier, a.Speed, a.Region, a.Implicit = r.Tier, r.Speed, r.Region, r.Implicit
	a.Charged, a.Sides = r.Charged, r.Sides
	if !a.echoes(string(r.Raw)) {
		a.RawUsage = r.Raw
	}
}
