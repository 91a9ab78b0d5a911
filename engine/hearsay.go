package engine

import (
	"maps"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// Told is the health of candidates as one tenant tells of it that makes its attempts
// itself (see [Pending]). Nobody can check what it tells, so it counts for that tenant
// alone: no tenant can have a vendor passed over in the plans of another, nor have one
// tried there that fails.
func (h *Health) Told(tenant string) *Health {
	if told := h.toldBy(tenant); told != nil {
		return told
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if told := h.toldBy(tenant); told != nil {
		return told
	}
	all := map[string]*Health{}
	if known := h.told.Load(); known != nil {
		all = maps.Clone(*known)
	}
	all[tenant] = NewHealth()
	h.told.Store(&all)
	return all[tenant]
}

// toldBy is Told, nil where the tenant has told nothing.
func (h *Health) toldBy(tenant string) *Health {
	if known := h.told.Load(); known != nil {
		return (*known)[tenant]
	}
	return nil
}

// DownFor says whether the candidate is down or cooling for a tenant: as everybody's
// attempts have shown, or as the tenant itself has told.
func (h *Health) DownFor(tenant string, route *catalog.Route, credential string, now time.Time) bool {
	return h.Down(route, credential, now) || h != nil && h.toldBy(tenant).Down(route, credential, now)
}

// healthOf is the health that a turn's attempts count for; nil if none does.
func (g *Gateway) healthOf(turn *Turn, r *Request) *Health {
	if g.Health == nil || !turn.Remote || !r.Rules.Apart {
		return g.Health
	}
	return g.Health.Told(turn.Tenant)
}
