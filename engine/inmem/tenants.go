package inmem

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// tenant is one whose records are counted, and the shards that they lie in. One that
// may have few lies in few, so that its bound and its order of use are exact.
type tenant struct {
	name  string
	most  int // records; 0: no bound of its own
	first int // of its shards
	count int // of its shards, a power of two
}

// shareAt is how many records of the tenant the shard may hold, of all there are; 0:
// any number.
func (t *tenant) shareAt(shard, shards int) int32 {
	share := t.most / t.count
	if (shard-t.first)&(shards-1) < t.most%t.count {
		share++
	}
	return int32(share)
}

// owner is a tenant with records in one shard.
type owner struct {
	ends
	of      *tenant
	most    int32 // 0: no bound of its own
	records int32
	evicted int64
}

// full says whether another record of the owner takes the place of one.
func (o *owner) full() bool { return o.most > 0 && o.records >= o.most }

// ownerOf is the place of the tenant among the shard's owners.
func (s *shard) ownerOf(t *tenant) uint32 {
	at, ok := s.places[t]
	if !ok {
		at = uint32(len(s.owners))
		s.places[t] = at
		s.owners = append(s.owners, owner{ends: nobody, of: t, most: t.shareAt(s.number, s.shards)})
	}
	return at
}

// tenants are those met so far. They are read without a lock.
type tenants struct {
	mu    sync.Mutex
	known atomic.Pointer[map[string]*tenant]
	next  int // first shard of the next tenant that does not lie in all
}

// tenant is the one of that name.
func (p *Pins) tenant(name string) *tenant {
	if known := p.tenants.known.Load(); known != nil {
		if t := (*known)[name]; t != nil {
			return t
		}
	}
	return p.meet(strings.Clone(name))
}

// meet makes a tenant known.
func (p *Pins) meet(name string) *tenant {
	p.tenants.mu.Lock()
	defer p.tenants.mu.Unlock()
	known := map[string]*tenant{}
	if before := p.tenants.known.Load(); before != nil {
		if t := (*before)[name]; t != nil {
			return t
		}
		known = maps.Clone(*before)
	}
	t := &tenant{name: name, count: len(p.shards)}
	if p.options.PerTenant != nil {
		t.most = max(0, min(p.options.PerTenant(name), p.options.Max))
	}
	if t.most > 0 {
		for t.count > 1 && t.most/t.count < shardSize {
			t.count /= 2
		}
		if t.count < len(p.shards) {
			t.first = p.tenants.next
			p.tenants.next = (t.first + t.count) & (len(p.shards) - 1)
		}
	}
	known[name] = t
	p.tenants.known.Store(&known)
	return t
}

// TenantStats are the figures of one tenant's records.
type TenantStats struct {
	Tenant  string
	Records int   // in memory
	Max     int   // Records is never more; 0: as many as the table holds
	Evicted int64 // records that made room for others, since the table was made
}

// Tenants are the figures of now of all tenants met so far, by name.
func (p *Pins) Tenants() []TenantStats {
	known := p.tenants.known.Load()
	if known == nil {
		return nil
	}
	all := make(map[*tenant]*TenantStats, len(*known))
	for name, t := range *known {
		all[t] = &TenantStats{Tenant: name, Max: t.most}
	}
	for i := range p.shards {
		s := &p.shards[i]
		s.mu.Lock()
		for j := range s.owners {
			if st := all[s.owners[j].of]; st != nil { // else met since
				st.Records += int(s.owners[j].records)
				st.Evicted += s.owners[j].evicted
			}
		}
		s.mu.Unlock()
	}
	sorted := make([]TenantStats, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(*known)) {
		sorted = append(sorted, *all[(*known)[name]])
	}
	return sorted
}
