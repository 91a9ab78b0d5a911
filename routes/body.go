package routes

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/warmroute/warmroute/routes/vendor"
)

// maxPooled is the largest body buffer kept for the next request, in bytes.
const maxPooled = 1 << 20

// bodies holds buffers of request bodies.
var bodies = sync.Pool{New: func() any { b := make([]byte, 0, 8<<10); return &b }}

// recycle gives a buffer back unless it has grown too large to keep.
func recycle(b *[]byte) {
	if cap(*b) > maxPooled {
		return
	}
	*b = (*b)[:0]
	bodies.Put(b)
}

// The ways a request is not read; errors.go gives them their status.
var (
	errTooLarge    = errors.New("the request body is too large")
	errBodyLate    = errors.New("the request body did not arrive in time")
	errBodyBroken  = errors.New("the request body is damaged")
	errClientGone  = errors.New("the client left")
	errSlipped     = errors.New("a web page of another site may not send this; its requests must say content-type: application/json")
	errUnknownCode = errors.New("the request's Content-Encoding is not supported; use gzip, zstd, br, deflate or none")
)

// readBody reads and unpacks a request's body into dst, to its end and within
// its limits: only a body read to its end lets the server see the client leave.
func (s *service) readBody(w http.ResponseWriter, r *http.Request, dst []byte) ([]byte, error) {
	return s.readUpTo(w, r, dst, s.MaxBody)
}

// readUpTo is readBody with a limit of its own, in bytes.
func (s *service) readUpTo(w http.ResponseWriter, r *http.Request, dst []byte, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		w.Header().Set("Connection", "close") // what is not read cannot be followed by another request
		return dst, errTooLarge
	}
	rc := http.NewResponseController(w)
	packed := strings.Join(r.Header["Content-Encoding"], ",")
	raw := http.MaxBytesReader(w, &patient{body: r.Body, rc: rc, began: time.Now(), time: s.BodyTime}, limit)
	plain, err := vendor.Decode(packed, raw, uint64(limit))
	if err != nil {
		return dst, errUnknownCode
	}
	defer plain.Close()
	dst, err = readWithin(dst, plain, limit)
	if err == nil && packed != "" {
		_, err = io.Copy(io.Discard, raw) // what follows the packed part
	}
	if err != nil {
		return dst, bodyError(r.Context(), err)
	}
	_ = rc.SetReadDeadline(time.Time{})
	return dst, nil
}

// The pace that a body must keep once its first time is over.
const (
	leastPace   = 16 << 10 // bytes a second
	mostPatient = 10 * time.Minute
)

// patient reads a body whose deadline moves on as it arrives: a large one over a
// slow line is waited for, one that trickles is not.
type patient struct {
	body  io.ReadCloser
	rc    *http.ResponseController
	began time.Time
	time  time.Duration // for any body at all
	read  int64
	set   bool
	due   int64 // how much must be read before the deadline moves
}

func (p *patient) Read(b []byte) (int, error) {
	if !p.set || p.read >= p.due {
		grace := time.Duration(p.read) * (time.Second / leastPace)
		_ = p.rc.SetReadDeadline(p.began.Add(max(p.time, min(p.time+grace, mostPatient)))) // a writer without deadlines has none
		p.set, p.due = true, p.read+64<<10
	}
	n, err := p.body.Read(b)
	p.read += int64(n)
	return n, err
}

func (p *patient) Close() error { return p.body.Close() }

// readWithin appends r to dst, up to limit bytes. Memory follows what has
// arrived, never what was announced: an announcement costs its sender nothing.
func readWithin(dst []byte, r io.Reader, limit int64) ([]byte, error) {
	for {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, max(32<<10, len(dst)/2))
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case int64(len(dst)) > limit:
			return dst, errTooLarge
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}

// bodyError sorts what went wrong in reading a body.
func bodyError(ctx context.Context, err error) error {
	var (
		large *http.MaxBytesError
		op    *net.OpError
	)
	switch {
	case errors.Is(err, errTooLarge), errors.As(err, &large), errors.Is(err, vendor.ErrWindow):
		return errTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errBodyLate
	case ctx.Err() != nil, errors.As(err, &op):
		return errClientGone
	}
	return errBodyBroken
}
