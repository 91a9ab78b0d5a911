package engine

import "slices"

// The bounds of a session's book.
const (
	maxPath       = 32
	maxBookModels = 32
)

// Add counts a turn of the session. The zero SessionBook becomes that of b's
// session. Turns are to be added in the order in which they end: the path and
// the switches are told by it. A turn that did not settle or was not served is
// counted and leaves the path as it is.
//
// Add makes new lists where they change: books copied from s stay as they are.
func (s *SessionBook) Add(b *Booked) {
	if s.Sums.Turns == 0 {
		s.Tenant, s.Class, s.ID = b.Tenant, b.Class, b.Session
		s.First = b.Started
	}
	if b.Client != "" {
		s.Client = b.Client
	}
	if b.Parent != "" {
		s.Parent = b.Parent
	}
	if b.Started.Before(s.First) {
		s.First = b.Started
	}
	if end := b.Started.Add(b.Took); end.After(s.Last) {
		s.Last = end
	}
	s.Sums = s.Sums.Add(b.sum())
	if b.State == Settled && b.Served() {
		s.served(b.Model, b.Vendor())
	}
}

func (s *SessionBook) served(model, vendor string) {
	s.Vendors = append(slices.Clone(s.Vendors[max(0, len(s.Vendors)-maxPath+1):]), vendor)
	at := slices.Index(s.Models, model)
	switch {
	case at >= 0:
		if s.Latest[at] != vendor {
			s.Switches++
			s.Latest = slices.Clone(s.Latest)
			s.Latest[at] = vendor
		}
	case len(s.Models) < maxBookModels:
		s.Models = append(slices.Clone(s.Models), model)
		s.Latest = append(slices.Clone(s.Latest), vendor)
	}
}
