package inmem

import (
	"context"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// Options say how pins are kept. The zero Options keep a million records in
// memory only.
type Options struct {
	Max int // records; 0 means 1,000,000

	// PerTenant is how many of them a tenant may have; nil, and less than one: as many
	// as there are. It is asked once for each tenant and may not call back. A tenant
	// beyond it loses its own longest idle record, never another's; that others' are
	// never taken holds as long as all bounds together come to no more than Max.
	PerTenant func(tenant string) int

	Now     func() time.Time  // nil means time.Now
	Backing engine.PinBacking // nil: memory only
	Queue   int               // records waiting to be written, beyond which the oldest are given up; 0 means 65,536
	Delay   time.Duration     // how long a record waits for others to be written with it; 0 means 2 ms
	Asks    int               // misses that may be waiting for the backing at once while it is loaded; 0 means 64
	Sweep   time.Duration     // how often expired records are swept; 0 means a minute
	Write   time.Duration     // after which one batch counts as failed; 0 means 10 s
	Lost    func(error)       // told of every batch that could not be written; nil: nobody. Must not call back
}

// Pins is the table of pins in memory. It implements [engine.Pins]; make it
// with [New]. All its methods may be called from several goroutines.
type Pins struct {
	options Options
	now     func() time.Time
	secret  [sha256.Size]byte
	shards  []shard
	total   atomic.Int64 // records of all shards, those about to be stored counted
	tenants tenants

	sweeping atomic.Bool // a sweep is due
	closed   atomic.Bool
	loaded   atomic.Bool
	loading  sync.Mutex
	counts   shared

	asking  chan struct{} // a place for each miss that waits for the backing
	queue   queue
	flushes chan flush
	stop    chan struct{}
	done    chan struct{}
	life    context.Context // of writes; ends when Close gives up
	end     context.CancelFunc
}

// shared are the figures of all shards together.
type shared struct {
	written, unwritable, failed, loaded, unanswered atomic.Int64
}

// shardSize is the least number of records a shard may hold, so that the order
// of eviction is exact in small tables; maxShards bounds their number.
const (
	shardSize = 1024
	maxShards = 256
)

// New makes an empty table. With a backing it starts one goroutine, which
// [Pins.Close] ends; until [Pins.Load] has succeeded, what is not in memory is
// asked of the backing.
func New(o Options) *Pins {
	o.fill()
	count := 1
	for count < maxShards && o.Max/(count*2) >= shardSize {
		count *= 2
	}
	p := &Pins{
		options: o,
		now:     o.Now,
		shards:  make([]shard, count),
		asking:  make(chan struct{}, o.Asks),
		flushes: make(chan flush),
		stop:    make(chan struct{}),
		done:    make(chan struct{}),
	}
	_, _ = cryptorand.Read(p.secret[:]) // never fails: the documented promise of crypto/rand
	words := newNames()
	for i := range p.shards {
		p.shards[i].init(count, o.Max, &p.total, words)
	}
	p.life, p.end = context.WithCancel(context.Background())
	p.queue.init(o.Queue)
	if o.Backing == nil {
		p.loaded.Store(true)
		close(p.done)
		return p
	}
	for i := range p.shards {
		p.shards[i].early = newEarly()
	}
	go p.write()
	return p
}

func (o *Options) fill() {
	setDefault(&o.Max, 1_000_000)
	setDefault(&o.Queue, 65_536)
	setDefault(&o.Asks, 64)
	setDefault(&o.Delay, 2*time.Millisecond)
	setDefault(&o.Sweep, time.Minute)
	setDefault(&o.Write, 10*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Lost == nil {
		o.Lost = func(error) {}
	}
}

func setDefault[T int | time.Duration](v *T, usual T) {
	if *v <= 0 {
		*v = usual
	}
}

// Recall returns the record at key from memory. Only a miss before the backing
// is loaded asks the backing, and then no longer than ctx: the error is that of
// ctx, [ErrBusy], or what the backing answered.
func (p *Pins) Recall(ctx context.Context, key engine.PinKey) (engine.Record, error) {
	now := p.now()
	h := p.hash(key)
	of := p.tenant(key.Tenant)
	s := p.shard(h, of)
	s.mu.Lock()
	r, found := s.get(h, second(now))
	ask := !found && !s.settled(h)
	s.mu.Unlock()
	if ask {
		return p.ask(ctx, key, h)
	}
	return r.Sweep(now), nil
}

// Keep adds or renews e for model in memory, and has it written behind. The
// error is always nil.
func (p *Pins) Keep(_ context.Context, key engine.PinKey, model string, e engine.Entry) error {
	now := p.now()
	h := p.hash(key)
	of := p.tenant(key.Tenant)
	s := p.shard(h, of)
	for crowded := true; crowded; {
		crowded = p.keep(s, h, of, key, model, e, now)
		if crowded {
			p.evict(of)
		}
	}
	p.sweepLater()
	return nil
}

// keep is one try of Keep; crowded is true where there is no room, and
// nothing in the shard that would make it.
func (p *Pins) keep(s *shard, h hash, of *tenant, key engine.PinKey, model string, e engine.Entry, now time.Time) (crowded bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, _ := s.peek(h)
	r = r.Sweep(now).Keep(model, e).Sweep(now)
	changed, crowded := s.put(h, of, r, second(now))
	if changed {
		p.queueWrite(h, key, len(r.Models) == 0)
	}
	return crowded
}

// evict removes a record for one of the tenant's: the longest idle of its own in some
// shard where it has as many as it may, else of all in some shard.
func (p *Pins) evict(of *tenant) {
	from := rand.IntN(len(p.shards))
	for i := range p.shards {
		if p.shards[(from+i)&(len(p.shards)-1)].giveUp(of) {
			return
		}
	}
}

// giveUp is evict in one shard; ok is false where there is nothing to evict.
func (s *shard) giveUp(of *tenant) (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.ends.tail
	if of.full() {
		at, has := s.places[of]
		if !has {
			return false
		}
		i = s.owners[at].ends.tail
	}
	if i != none {
		s.evict(i)
	}
	return i != none
}

// Update puts e in the place of the entry of the same acceptance, if memory still
// has it, and has that written behind. The error is always nil.
func (p *Pins) Update(_ context.Context, key engine.PinKey, model string, e engine.Entry) error {
	now := p.now()
	h := p.hash(key)
	of := p.tenant(key.Tenant)
	s := p.shard(h, of)
	s.mu.Lock()
	defer s.mu.Unlock()
	r, found := s.peek(h)
	if !found {
		return nil
	}
	r = r.Update(model, e).Sweep(now)
	if changed, _ := s.put(h, of, r, second(now)); changed {
		p.queueWrite(h, key, len(r.Models) == 0)
	}
	return nil
}

// Drop forgets was in memory, if it is still the same entry, and has that
// written behind. The error is always nil.
func (p *Pins) Drop(_ context.Context, key engine.PinKey, model string, was engine.Entry) error {
	now := p.now()
	h := p.hash(key)
	of := p.tenant(key.Tenant)
	s := p.shard(h, of)
	s.mu.Lock()
	defer s.mu.Unlock()
	early := s.bury(h, model, was)
	r, found := s.peek(h)
	if !found && !early {
		return nil
	}
	r = r.Drop(model, was)
	if changed, _ := s.put(h, of, r, second(now)); changed || early {
		p.queueWrite(h, key, len(r.Models) == 0)
	}
	return nil
}

// Len is the number of records in memory, never more than the limit.
func (p *Pins) Len() int {
	n := 0
	for i := range p.shards {
		s := &p.shards[i]
		s.mu.Lock()
		n += len(s.slots)
		s.mu.Unlock()
	}
	return n
}

// Sweep removes what expired a day ago. It is called by itself; a caller that
// knows better when may call it too.
func (p *Pins) Sweep() {
	now := p.now()
	for i := range p.shards {
		s := &p.shards[i]
		s.mu.Lock()
		s.sweep(now)
		s.mu.Unlock()
	}
}

// sweepLater has the table swept, unless that is due already.
func (p *Pins) sweepLater() {
	if p.sweeping.Load() || p.closed.Load() || !p.sweeping.CompareAndSwap(false, true) {
		return
	}
	time.AfterFunc(p.options.Sweep, func() {
		if p.closed.Load() {
			return
		}
		p.Sweep()
		p.sweeping.Store(false)
		if p.Len() > 0 {
			p.sweepLater()
		}
	})
}

// hash is the name of key in this table.
func (p *Pins) hash(key engine.PinKey) hash {
	var room [512]byte
	b := append(room[:0], p.secret[:]...)
	sum := sha256.Sum256(key.AppendBytes(b))
	return hash(sum[:len(hash{})])
}

// shard is where the tenant's record of this name lies.
func (p *Pins) shard(h hash, of *tenant) *shard {
	at := of.first + int(binary.LittleEndian.Uint16(h[8:]))&(of.count-1)
	return &p.shards[at&(len(p.shards)-1)]
}

func (p *Pins) queueWrite(h hash, key engine.PinKey, gone bool) {
	if p.options.Backing != nil {
		p.queue.add(h, key, gone)
	}
}
