package vendor_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
)

// deafWriter takes the header and refuses every byte, as a client does that has
// closed its side while its leaving is not known yet.
type deafWriter struct{ *httptest.ResponseRecorder }

var errDeaf = errors.New("closed")

func (deafWriter) Write([]byte) (int, error) { return 0, errDeaf }

// The time of a drain runs from the first write that fails, too.
func TestAClientThatTakesNothingIsDrainedForTheSameTime(t *testing.T) {
	url := rawVendor(t, func(conn net.Conn, _ *http.Request) {
		_, _ = conn.Write([]byte(streamHead + piece(event("once"))))
		_, _ = conn.Read(make([]byte, 1)) // until it is cancelled
	})
	client := vendor.New(vendor.Options{})
	defer client.Close()
	k := newKit(t, url, nil)
	call := k.call(chatStream)
	call.Drain = vendor.Drain{Time: 30 * time.Millisecond, Bytes: 1 << 20}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	began := time.Now()
	a := client.Send(ctx, deafWriter{httptest.NewRecorder()}, call, k.try())
	if a.Stage != engine.StageAbandoned || a.Failure != engine.FailureClientLeft || time.Since(began) > 10*time.Second {
		t.Errorf("attempt %q %q after %v", a.Stage, a.Failure, time.Since(began))
	}
	if f := client.Drains(); f.Begun != 1 {
		t.Errorf("%+v", f)
	}
}

// What ends everything leaves no time for drains.
func TestAnEndingGatewayReadsNothingOn(t *testing.T) {
	for name, begin := range map[string]func(*vendor.Client, context.CancelCauseFunc){
		"its requests are cut": func(_ *vendor.Client, cut context.CancelCauseFunc) { cut(vendor.ErrShutdown) },
		"its drains are ended": func(c *vendor.Client, cut context.CancelCauseFunc) { c.EndDrains(); cut(context.Canceled) },
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan struct{})
			url := rawVendor(t, func(conn net.Conn, _ *http.Request) {
				close(asked)
				_, _ = conn.Read(make([]byte, 1))
			})
			client := vendor.New(vendor.Options{})
			defer client.Close()
			k := newKit(t, url, nil)
			call := k.call(chatStream)
			call.Drain = vendor.Drain{Time: time.Hour, Bytes: 1 << 20}
			ctx, cut := context.WithCancelCause(t.Context())
			defer cut(nil)
			go func() { <-asked; begin(client, cut) }()
			began := time.Now()
			a := client.Send(ctx, httptest.NewRecorder(), call, k.try())
			if a.Stage != engine.StageAbandoned || time.Since(began) > 10*time.Second {
				t.Errorf("attempt %q %q after %v", a.Stage, a.Failure, time.Since(began))
			}
		})
	}
}
