package inmem

import "math/rand/v2"

// ends are those of an order of use.
type ends struct {
	head int32 // latest used
	tail int32 // longest idle
}

// nobody are the ends of an empty order.
var nobody = ends{none, none}

// touch makes slot i the latest used, in all and of its owner's.
func (s *shard) touch(i int32, now uint32) {
	s.slots[i].used = now
	if s.ends.head == i {
		return // then it is its owner's latest as well
	}
	s.unlink(i)
	s.link(i)
}

// link makes slot i, which stands in no order, the latest used.
func (s *shard) link(i int32) {
	at := &s.slots[i]
	at.all = links{none, s.ends.head}
	if s.ends.head != none {
		s.slots[s.ends.head].all.prev = i
	} else {
		s.ends.tail = i
	}
	s.ends.head = i
	o := &s.owners[at.owner]
	if o.of.most == 0 {
		return
	}
	at.own = links{none, o.ends.head}
	if o.ends.head != none {
		s.slots[o.ends.head].own.prev = i
	} else {
		o.ends.tail = i
	}
	o.ends.head = i
}

// linkLast makes slot i, which stands in no order, the longest idle.
func (s *shard) linkLast(i int32) {
	at := &s.slots[i]
	at.all = links{s.ends.tail, none}
	if s.ends.tail != none {
		s.slots[s.ends.tail].all.next = i
	} else {
		s.ends.head = i
	}
	s.ends.tail = i
	o := &s.owners[at.owner]
	if o.of.most == 0 {
		return
	}
	at.own = links{o.ends.tail, none}
	if o.ends.tail != none {
		s.slots[o.ends.tail].own.next = i
	} else {
		o.ends.head = i
	}
	o.ends.tail = i
}

// unlink takes slot i out of both orders.
func (s *shard) unlink(i int32) {
	at := &s.slots[i]
	if at.all.prev != none {
		s.slots[at.all.prev].all.next = at.all.next
	} else {
		s.ends.head = at.all.next
	}
	if at.all.next != none {
		s.slots[at.all.next].all.prev = at.all.prev
	} else {
		s.ends.tail = at.all.prev
	}
	o := &s.owners[at.owner]
	if o.of.most == 0 {
		return
	}
	if at.own.prev != none {
		s.slots[at.own.prev].own.next = at.own.next
	} else {
		o.ends.head = at.own.next
	}
	if at.own.next != none {
		s.slots[at.own.next].own.prev = at.own.prev
	} else {
		o.ends.tail = at.own.prev
	}
}

// rename has the neighbours of a slot that was moved know its new place.
func (s *shard) rename(from, to int32) {
	at := s.slots[to]
	if at.all.prev == none {
		s.ends.head = to
	} else {
		s.slots[at.all.prev].all.next = to
	}
	if at.all.next == none {
		s.ends.tail = to
	} else {
		s.slots[at.all.next].all.prev = to
	}
	o := &s.owners[at.owner]
	if o.of.most == 0 {
		return
	}
	if at.own.prev == none {
		o.ends.head = to
	} else {
		s.slots[at.own.prev].own.next = to
	}
	if at.own.next == none {
		o.ends.tail = to
	} else {
		s.slots[at.own.next].own.prev = to
	}
}

// makeRoom makes room for one record of the owner, and reserves it: in place of the
// owner's longest idle here where it has as many as it may, else in place of the
// longest idle here where the table is full. ok is false where that is nobody.
func (s *shard) makeRoom(of uint32) (ok bool) {
	o := &s.owners[of]
	if !o.of.reserve() {
		return s.replace(o.ends.tail, o.of)
	}
	if reserve(s.total, s.limit) || s.replace(s.ends.tail, nil) {
		return true
	}
	o.of.records.Add(-1)
	return false
}

// replace evicts slot i and keeps its room reserved, in the table and where it is
// the tenant's own also with it. ok is false where i is none.
func (s *shard) replace(i int32, own *tenant) (ok bool) {
	if i == none {
		return false
	}
	s.total.Add(1)
	if own != nil {
		own.records.Add(1)
	}
	s.evict(i)
	return true
}

// evict removes slot i for another to come, and counts it.
func (s *shard) evict(i int32) {
	s.counts.evicted++
	s.owners[s.slots[i].owner].evicted++
	s.remove(i)
}

// look is of how many records the oldest makes room while the store is loaded, when
// the order of use is not known yet.
const look = 16

// oldestOf is the longest idle of some of the owner's slots. They go to the other end
// of its order, so that each is looked at in turn.
func (s *shard) oldestOf(of uint32) int32 {
	o, oldest := &s.owners[of], int32(none)
	for range min(look, int(o.records)) {
		i := o.ends.tail
		if oldest == none || s.slots[i].used < s.slots[oldest].used {
			oldest = i
		}
		s.unlink(i)
		s.link(i)
	}
	return oldest
}

// oldestOfSome is the longest idle of some slots, whoever owns them; none if there are
// no slots.
func (s *shard) oldestOfSome() int32 {
	oldest := int32(none)
	for range min(look, len(s.slots)) {
		i := rand.Int32N(int32(len(s.slots)))
		if oldest == none || s.slots[i].used < s.slots[oldest].used {
			oldest = i
		}
	}
	return oldest
}

// makeRoomLoaded is makeRoom for a record that was last used then, while the order of
// use is not known. ok is false where the record is as idle as those it would replace.
func (s *shard) makeRoomLoaded(of, used uint32) (ok bool) {
	t, oldest, own := s.owners[of].of, int32(none), (*tenant)(nil)
	switch {
	case !t.reserve():
		oldest, own = s.oldestOf(of), t
	case reserve(s.total, s.limit):
		return true
	default:
		oldest = s.oldestOfSome()
	}
	if oldest != none && s.slots[oldest].used < used {
		return s.replace(oldest, own)
	}
	if own == nil {
		t.records.Add(-1)
	}
	s.counts.evicted++
	s.owners[of].evicted++
	return false
}
