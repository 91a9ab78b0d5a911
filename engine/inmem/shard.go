package inmem

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// hash stands for a key. It is secret of the process, so that no caller can
// choose two keys that meet.
type hash [16]byte

// none is the place of no slot.
const none = -1

// slot is one record: where its block lies, who was used before and after it, in
// all and among its owner's. It holds no pointer.
type slot struct {
	key       hash
	all, own  links
	off, size uint32 // of the block's room in data
	used      uint32 // second of last use
	owner     uint32 // index in owners
}

// links are a slot's neighbours in an order of use.
type links struct{ prev, next int32 } // towards the latest used, towards the longest idle

// shard is one part of the table, under one lock.
type shard struct {
	mu     sync.Mutex
	max    int // how much is remembered while the durable store is loaded
	names  *names
	slots  []slot   // dense: the last one fills the place of one removed
	index  []uint32 // open addressing: place of the slot + 1, 0 is free; length a power of two
	ends   ends     // of all slots
	owners []owner
	places map[*tenant]uint32 // index in owners
	total  *atomic.Int64      // records of all shards
	limit  int64              // total is never more
	data   []byte             // blocks
	live   int                // bytes of data that belong to a slot
	hole   block              // room that was given back last
	spare  []byte             // where a record is encoded before it is placed
	early  *early             // what happened before the durable store was loaded; nil afterwards
	counts counts
}

// block is room in a shard's data.
type block struct{ off, size uint32 }

// counts are a shard's own figures.
type counts struct{ evicted, swept int64 }

// init readies one of as many shards, which together hold no more than limit and
// count what they hold in total.
func (s *shard) init(shards, limit int, total *atomic.Int64, n *names) {
	s.names, s.ends = n, nobody
	s.limit, s.total = int64(limit), total
	s.max = max(1, limit/shards)
	s.places = map[*tenant]uint32{}
}

// find returns the place of key's slot, or none.
func (s *shard) find(key hash) int32 {
	if len(s.index) == 0 {
		return none
	}
	for at := s.home(key); s.index[at] != 0; at = s.after(at) {
		if i := int32(s.index[at] - 1); s.slots[i].key == key {
			return i
		}
	}
	return none
}

// get returns the record at key and marks it used.
func (s *shard) get(key hash, now uint32) (engine.Record, bool) {
	i := s.find(key)
	if i == none {
		return engine.Record{}, false
	}
	s.touch(i, now)
	return s.names.record(s.block(i)), true
}

// peek returns the record at key and leaves it as idle as it was.
func (s *shard) peek(key hash) (engine.Record, bool) {
	i := s.find(key)
	if i == none {
		return engine.Record{}, false
	}
	return s.names.record(s.block(i)), true
}

// put stores r at key as its owner's latest used. A new record has the owner's
// longest idle here make room where the owner has as many as it may, and else the
// longest idle here where the table is full; crowded is true where there is none
// here, and then nothing is stored. changed is false if r was there already;
// a record without models is removed.
func (s *shard) put(key hash, of *tenant, r engine.Record, now uint32) (changed, crowded bool) {
	i := s.find(key)
	if len(r.Models) == 0 {
		if i != none {
			s.remove(i)
		}
		return i != none, false
	}
	b := s.names.appendRecord(s.spare[:0], r)
	s.spare = b
	if i != none {
		s.touch(i, now)
		if old := s.block(i); len(old) >= len(b) && bytes.Equal(old[:len(b)], b) {
			return false, false
		}
		s.rewrite(i, b)
		return true, false
	}
	at := s.ownerOf(of)
	if !s.makeRoom(at) {
		return false, true
	}
	s.insert(key, b, now, at)
	s.link(int32(len(s.slots) - 1))
	return true, false
}

// putLoaded stores a record that was last used before this process began. Where
// there is no room it takes the place of the longest idle of some, or is left out if
// that is itself. The order of use is put right by settleOrder.
func (s *shard) putLoaded(key hash, of *tenant, r engine.Record, used uint32) {
	at := s.ownerOf(of)
	if !s.makeRoomLoaded(at, used) {
		return
	}
	b := s.names.appendRecord(s.spare[:0], r)
	s.spare = b
	s.insert(key, b, used, at)
	s.linkLast(int32(len(s.slots) - 1))
}

// settleOrder links the slots in the order of their last use.
func (s *shard) settleOrder() {
	order := make([]int32, 0, len(s.slots))
	for i := s.ends.tail; i != none; i = s.slots[i].all.prev {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(s.slots[a].used, s.slots[b].used) })
	s.ends = nobody
	for i := range s.owners {
		s.owners[i].ends = nobody
	}
	for _, i := range order {
		s.link(i)
	}
}

// sweep removes the records whose every window passed a day before now.
func (s *shard) sweep(now time.Time) {
	limit := now.Add(-engine.Readable).Unix()
	for i := int32(len(s.slots) - 1); i >= 0; i-- {
		if int64(until(s.block(i))) <= limit {
			s.remove(i)
			s.counts.swept++
		}
	}
}

func (s *shard) home(key hash) uint32 {
	return binary.LittleEndian.Uint32(key[:]) & uint32(len(s.index)-1)
}

func (s *shard) after(at uint32) uint32 { return (at + 1) & uint32(len(s.index)-1) }

func (s *shard) block(i int32) []byte {
	at := &s.slots[i]
	return s.data[at.off : at.off+at.size]
}

// insert appends a slot that is not yet linked.
func (s *shard) insert(key hash, b []byte, used, of uint32) {
	if (len(s.slots)+1)*5 > len(s.index)*4 {
		s.reindex()
	}
	room := s.room(len(b))
	copy(s.data[room.off:], b)
	if n := len(s.slots); n == cap(s.slots) { // append would leave a quarter to spare
		s.slots = append(make([]slot, 0, n+n/16+8), s.slots...)
	}
	s.slots = append(s.slots, slot{key: key, off: room.off, size: room.size, used: used, owner: of})
	s.owners[of].records++
	s.enter(key, uint32(len(s.slots)))
}

// rewrite replaces the block of slot i.
func (s *shard) rewrite(i int32, b []byte) {
	if int(s.slots[i].size) < len(b) {
		s.giveBack(i)
		s.slots[i].size = 0
		room := s.room(len(b))
		s.slots[i].off, s.slots[i].size = room.off, room.size
	}
	copy(s.block(i), b)
}

// remove takes slot i out and moves the last slot into its place.
func (s *shard) remove(i int32) {
	s.unlink(i)
	s.leave(i)
	s.giveBack(i)
	o := &s.owners[s.slots[i].owner]
	o.records--
	o.of.records.Add(-1)
	s.total.Add(-1)
	last := int32(len(s.slots) - 1)
	if i != last {
		s.move(last, i)
	}
	s.slots = s.slots[:last]
}

// move gives the slot at from the place to, which is free.
func (s *shard) move(from, to int32) {
	m := s.slots[from]
	at := s.home(m.key)
	for s.index[at] != uint32(from)+1 {
		at = s.after(at)
	}
	s.index[at] = uint32(to) + 1
	s.slots[to] = m
	s.rename(from, to)
}

// enter writes place (slot + 1) into the index.
func (s *shard) enter(key hash, place uint32) {
	at := s.home(key)
	for s.index[at] != 0 {
		at = s.after(at)
	}
	s.index[at] = place
}

// leave takes slot i out of the index and closes the gap behind it.
func (s *shard) leave(i int32) {
	at := s.home(s.slots[i].key)
	for s.index[at] != uint32(i)+1 {
		at = s.after(at)
	}
	mask := uint32(len(s.index) - 1)
	for next := s.after(at); s.index[next] != 0; next = s.after(next) {
		home := s.home(s.slots[s.index[next]-1].key)
		if (next-home)&mask >= (next-at)&mask {
			s.index[at] = s.index[next]
			at = next
		}
	}
	s.index[at] = 0
}

func (s *shard) reindex() {
	s.index = make([]uint32, max(16, 2*len(s.index)))
	for i := range s.slots {
		s.enter(s.slots[i].key, uint32(i)+1)
	}
}

// room finds room for n bytes in data, moving all blocks together if there is
// none. It must not be called while a slot holds room that is given back.
func (s *shard) room(n int) block {
	size := (n + 7) &^ 7
	s.live += size
	if int(s.hole.size) >= size {
		found := block{s.hole.off, uint32(size)}
		s.hole.off, s.hole.size = s.hole.off+uint32(size), s.hole.size-uint32(size)
		return found
	}
	if len(s.data)+size > cap(s.data) {
		s.compact()
	}
	found := block{uint32(len(s.data)), uint32(size)}
	s.data = s.data[:len(s.data)+size]
	return found
}

func (s *shard) giveBack(i int32) {
	s.live -= int(s.slots[i].size)
	if s.slots[i].size > s.hole.size {
		s.hole = block{s.slots[i].off, s.slots[i].size}
	}
}

// compact moves the blocks into an array with an eighth to spare.
func (s *shard) compact() {
	moved := make([]byte, 0, (s.live+s.live/8+512+7)&^7)
	for i := range s.slots {
		at := &s.slots[i]
		b := s.data[at.off : at.off+at.size]
		at.off = uint32(len(moved))
		moved = append(moved, b...)
	}
	s.data, s.hole = moved, block{}
}

// bytes is the memory the shard holds.
func (s *shard) bytes() int64 {
	const slotSize, ownerSize = 48, 32
	return int64(cap(s.slots))*slotSize + int64(cap(s.owners))*ownerSize + int64(cap(s.index))*4 + int64(cap(s.data)) + int64(cap(s.spare))
}
