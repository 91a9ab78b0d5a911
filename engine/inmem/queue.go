package inmem

import (
	"strings"
	"sync"

	"github.com/warmroute/warmroute/engine"
)

// item is one record that is to be written: the record itself is read when its
// turn has come, so a record changed ten times is written once.
type item struct {
	hash       hash
	key        engine.PinKey
	gone       bool // memory held nothing after the last change: delete it
	order      uint64
	prev, next *item // older, newer
}

// queue is the records to be written, oldest first, each at most once.
type queue struct {
	mu      sync.Mutex
	max     int
	waiting map[hash]*item
	oldest  *item
	newest  *item
	order   uint64 // of the last item added
	flying  int    // items taken and neither written nor put back
	dropped int64
	closed  bool
	wake    chan struct{} // holds a token while there may be work
}

func (q *queue) init(max int) {
	q.max, q.waiting, q.wake = max, map[hash]*item{}, make(chan struct{}, 1)
}

// add has the record at key written. The caller holds the lock of its shard,
// so that the last change to a record is also the last one told of here.
func (q *queue) add(h hash, key engine.PinKey, gone bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		q.dropped++
		return
	}
	if it := q.waiting[h]; it != nil {
		it.gone = gone
		return
	}
	// The key may be cut from a whole request, which must not wait here with it.
	key.Tenant, key.ID = strings.Clone(key.Tenant), strings.Clone(key.ID)
	key.Class, key.Scope = engine.Class(strings.Clone(string(key.Class))), strings.Clone(key.Scope)
	q.order++
	it := &item{hash: h, key: key, gone: gone, order: q.order, prev: q.newest}
	if q.newest != nil {
		q.newest.next = it
	} else {
		q.oldest = it
	}
	q.newest = it
	q.waiting[h] = it
	q.trim()
	q.signal()
}

// trim gives up the oldest items beyond the limit.
func (q *queue) trim() {
	for len(q.waiting)+q.flying > q.max && q.oldest != nil {
		q.pop()
		q.dropped++
	}
}

func (q *queue) pop() *item {
	it := q.oldest
	q.oldest = it.next
	if q.oldest != nil {
		q.oldest.prev = nil
	} else {
		q.newest = nil
	}
	it.next = nil
	delete(q.waiting, it.hash)
	return it
}

// take removes up to n items added no later than the one numbered last.
func (q *queue) take(n int, last uint64) []*item {
	q.mu.Lock()
	defer q.mu.Unlock()
	var taken []*item
	for len(taken) < n && q.oldest != nil && q.oldest.order <= last {
		taken = append(taken, q.pop())
	}
	q.flying += len(taken)
	return taken
}

// written tells that taken items are done with.
func (q *queue) written(taken []*item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flying -= len(taken)
}

// putBack returns items that could not be written to the front, those whose
// record has changed since excepted.
func (q *queue) putBack(taken []*item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flying -= len(taken)
	for i := len(taken) - 1; i >= 0; i-- {
		it := taken[i]
		if q.waiting[it.hash] != nil {
			continue
		}
		it.prev, it.next = nil, q.oldest
		if q.oldest != nil {
			q.oldest.prev = it
		} else {
			q.newest = it
		}
		q.oldest = it
		q.waiting[it.hash] = it
	}
	q.trim()
	q.signal()
}

// signal wakes the writer. The caller holds the lock.
func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// last is the number of the item added last.
func (q *queue) last() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.order
}

// close has later items given up and counted at once.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}

// figures are the items not yet written and those given up.
func (q *queue) figures() (unwritten, dropped int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return int64(len(q.waiting) + q.flying), q.dropped
}
