package vendor

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"time"
)

// Options say how vendors are called. The zero Options are the defaults.
type Options struct {
	ConnectTimeout time.Duration  // to a TCP connection; 0 means 2 s
	FirstByte      time.Duration  // from the request's start to the first event or body byte; 0 means 600 s: agents wait that long
	Idle           time.Duration  // between two reads of an answer; 0 means 120 s
	Write          time.Duration  // for one write to the client; 0 means 30 s
	Linger         time.Duration  // for a finished stream to end by itself; 0 means 100 ms
	MaxJSON        int64          // bytes of a whole answer, unpacked; 0 means 64 MiB
	HintKey        []byte         // keys the hashes of session ids sent upstream; empty: a random key for this process
	Resolver       *net.Resolver  // nil: the system's
	RootCAs        *x509.CertPool // nil: the system's
	Now            func() time.Time
}

// maxResponseHeader bounds a vendor's response header, in bytes.
const maxResponseHeader = 64 << 10

// Client calls vendors. It may be used by any number of goroutines; close it
// with [Client.Close].
type Client struct {
	o       Options
	guarded *http.Transport // dials public addresses only
	private *http.Transport // for vendors whose catalog entry says allow_private
	drains  drains
}

// New makes a client with its own connection pools.
func New(o Options) *Client {
	set := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	set(&o.ConnectTimeout, 2*time.Second)
	set(&o.FirstByte, 600*time.Second)
	set(&o.Idle, 120*time.Second)
	set(&o.Write, 30*time.Second)
	set(&o.Linger, 100*time.Millisecond)
	if o.MaxJSON <= 0 {
		o.MaxJSON = 64 << 20
	}
	if len(o.HintKey) == 0 {
		o.HintKey = make([]byte, 32)
		_, _ = rand.Read(o.HintKey) // never fails (crypto/rand)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Client{o: o, guarded: transport(o, publicOnly), private: transport(o, nil)}
	c.drains.ctx, c.drains.end = context.WithCancel(context.Background())
	return c
}

// Close closes idle connections and ends what is read on without a client. Other
// attempts under way are not disturbed.
func (c *Client) Close() {
	c.EndDrains()
	c.guarded.CloseIdleConnections()
	c.private.CloseIdleConnections()
}

// transport makes a connection pool whose every dial passes check, if there is one.
func transport(o Options, check func(address string) error) *http.Transport {
	dialer := &net.Dialer{Timeout: o.ConnectTimeout, KeepAlive: 30 * time.Second, Resolver: o.Resolver}
	if check != nil {
		// ControlContext sees the address that is about to be dialled, after
		// the name was resolved: a name cannot change its mind in between.
		dialer.ControlContext = guard(check)
	}
	return &http.Transport{
		Proxy:                  nil, // a vendor's key goes through no proxy that the environment names
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    5 * time.Second,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: maxResponseHeader,
		WriteBufferSize:        32 << 10,
		ReadBufferSize:         4 << 10,
	}
}

// transportFor is the pool that may dial a vendor. It is used below http.Client,
// which would follow redirects, and Go's own drops Authorization across hosts,
// but not x-api-key.
func (c *Client) transportFor(allowPrivate bool) *http.Transport {
	if allowPrivate {
		return c.private
	}
	return c.guarded
}

// ErrShutdown is the cause by which the context of every request is cancelled when
// the gateway ends before its answers do: they are cut, and nobody has left.
var ErrShutdown = errors.New("the gateway ended before the answer did")

// The reasons a request to a vendor is cancelled by us.
var (
	errFirstByte  = errors.New("no first byte in time")
	errIdle       = errors.New("nothing for too long in mid-answer")
	errClientLeft = errors.New("the client left")
	errLingered   = errors.New("the stream was over and its connection stayed open")
	errEnded      = errors.New("the attempt is over")
)

// watch cancels an attempt that waits too long. It is used by the goroutine of
// the attempt; only the timer and the client's context act from outside.
type watch struct {
	ctx     context.Context // of the request to the vendor
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	why     error
	release func() bool // unhooks the client's context; nil if it was not hooked
}

// init starts the wait for the first byte.
func (w *watch) init(parent context.Context, d time.Duration) {
	w.ctx, w.cancel = context.WithCancelCause(parent)
	w.arm(d, errFirstByte)
}

// arm gives the next read d, after which the attempt is cancelled because of why.
func (w *watch) arm(d time.Duration, why error) {
	if w.timer != nil {
		if w.why == why {
			w.timer.Reset(d)
			return
		}
		w.timer.Stop()
	}
	cancel := w.cancel
	w.why = why
	w.timer = time.AfterFunc(d, func() { cancel(why) })
}

// cause is why the attempt was cancelled, nil if it was not.
func (w *watch) cause() error { return context.Cause(w.ctx) }

// stop ends the wait and lets go of everything.
func (w *watch) stop() {
	w.timer.Stop()
	if w.release != nil {
		w.release()
	}
	w.cancel(errEnded)
}
