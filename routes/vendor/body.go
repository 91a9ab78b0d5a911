package vendor

import (
	"io"
	"sync"
	"sync/atomic"
)

// maxPooled is the largest buffer that is kept for the next request, in bytes.
const maxPooled = 1 << 20

// pool holds buffers of bodies, upstream and down.
var pool = sync.Pool{New: func() any { b := make([]byte, 0, 8<<10); return &b }}

// payload is one request body in a pooled buffer. The transport may read it
// after the answer has begun, may read it again on a fresh connection, and may
// close it from another goroutine: the buffer goes back when the last reader
// and the attempt itself have let go.
type payload struct {
	buffer *[]byte
	refs   atomic.Int32
}

// newPayload is held once by its maker.
func newPayload() *payload {
	p := &payload{buffer: pool.Get().(*[]byte)}
	p.refs.Store(1)
	return p
}

// release lets go once.
func (p *payload) release() {
	if p.refs.Add(-1) > 0 {
		return
	}
	recycle(p.buffer)
}

// recycle gives a buffer back unless it has grown too large to keep.
func recycle(b *[]byte) {
	if cap(*b) > maxPooled {
		return
	}
	*b = (*b)[:0]
	pool.Put(b)
}

// reader is a fresh reader of the whole payload.
func (p *payload) reader() io.ReadCloser {
	p.refs.Add(1)
	return &payloadReader{p: p, rest: *p.buffer}
}

// payloadReader reads a payload until it is closed. Close may be called while
// Read runs, and more than once.
type payloadReader struct {
	mu   sync.Mutex
	p    *payload
	rest []byte
}

func (r *payloadReader) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *payloadReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.p != nil {
		r.rest = nil
		r.p.release()
		r.p = nil
	}
	return nil
}
