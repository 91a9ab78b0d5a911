package inmem

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// tenant is one whose records are counted, and the shards that they lie in. One that
// may have few lies in few, so that its order of use is exact.
type tenant struct {
	name    string
	most    int64 // records; 0: no bound of its own
	first   int   // of its shards
	count   int   // of its shards, a power of two
	records atomic.Int64
}

// reserve takes room for one more record of the tenant, where it may have one.
func (t *tenant) reserve() bool {
	if t.most == 0 {
		t.records.Add(1)
		return true
	}
	return reserve(&t.records, t.most)
}

// full says whether another record of the tenant takes the place of one.
func (t *tenant) full() bool { return t.most > 0 && t.records.Load() >= t.most }

// reserve adds one where that leaves no more than the limit.
func reserve(n *atomic.Int64, limit int64) bool {
	for {
		now := n.Load()
		if now >= limit {
			return false
		}
		if n.CompareAndSwap(now, now+1) {
			return true
		}
	}
}

// owner is a tenant with records in one shard.
type owner struct {
	ends    // of its slots, where it has a bound
	of      *tenant
	records int32
	evicted int64
}

// ownerOf is the place of the tenant among the shard's owners.
func (s *shard) ownerOf(t *tenant) uint32 {
	at, ok := s.places[t]
	if !ok {
		at = uint32(len(s.owners))
		s.places[t] = at
		s.owners = append(s.owners, owner{ends: nobody, of: t})
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
		t.most = int64(max(0, min(p.options.PerTenant(name), p.options.Max)))
	}
	if t.most > 0 {
		for t.count > 1 && int(t.most)/t.count < shardSize {
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
		all[t] = &TenantStats{Tenant: name, Max: int(t.most)}
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
