package vendor_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
)

// The guard stands on the path of every dial: a vendor that does not say
// allow_private is not reached on loopback, whether by address or by a name.
func TestALoopbackVendorNeedsAllowPrivate(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for _, c := range []struct {
		name    string
		url     string
		private bool
		calls   int32
	}{
		{"by address", "http://127.0.0.1:" + port, false, 0},
		{"by name", "http://localhost:" + port, false, 0},
		{"by a mapped address", "http://[::ffff:127.0.0.1]:" + port, false, 0},
		{"allowed", "http://127.0.0.1:" + port, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls.Store(0)
			client := vendor.New(vendor.Options{})
			defer client.Close()
			k := newKit(t, c.url, nil)
			k.catalog.Vendors[0].AllowPrivate = c.private // the catalog itself refuses plain http to elsewhere
			a := client.Send(t.Context(), httptest.NewRecorder(), k.call(chatBody), k.try())
			if calls.Load() != c.calls {
				t.Errorf("%d calls, want %d (%+v)", calls.Load(), c.calls, a.Cause)
			}
			if !c.private && (a.Stage != engine.StageRefused || a.Failure != engine.FailureConnect || !strings.Contains(a.Cause, "allow_private")) {
				t.Errorf("attempt: %q %q %q", a.Stage, a.Failure, a.Cause)
			}
		})
	}
}

// A name is judged by what it resolves to, at the moment it is dialled.
func TestANameThatResolvesToAPrivateAddressIsRefused(t *testing.T) {
	resolver := &net.Resolver{PreferGo: true, Dial: fakeDNS(t, [4]byte{10, 0, 0, 7})}
	client := vendor.New(vendor.Options{Resolver: resolver, ConnectTimeout: time.Second})
	defer client.Close()
	k := newKit(t, "https://vendor.example.com", func(v *vendorSpec) { v.private = false })
	a := client.Send(t.Context(), httptest.NewRecorder(), k.call(chatBody), k.try())
	if a.Failure != engine.FailureConnect || !strings.Contains(a.Cause, "10.0.0.7") {
		t.Errorf("attempt: %q %q", a.Failure, a.Cause)
	}
}

// fakeDNS answers every A question with one address.
func fakeDNS(t *testing.T, ip [4]byte) func(context.Context, string, string) (net.Conn, error) {
	t.Helper()
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			// DNS over a stream: two bytes of length, then the message.
			buffer := make([]byte, 2+512)
			n, err := server.Read(buffer)
			if err == nil && n == 2 {
				var more int
				more, err = server.Read(buffer[2:])
				n += more
			}
			if err != nil || n < 14 {
				return
			}
			question := append([]byte(nil), buffer[2:n]...)
			question[2], question[3] = 0x81, 0x80 // an answer, no error
			question[10], question[11] = 0, 0     // no additional records
			end := 12
			for question[end] != 0 {
				end += int(question[end]) + 1
			}
			kind := question[end+2]
			answer := question[:end+5]
			if kind == 1 {
				answer[7] = 1
				answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ip[0], ip[1], ip[2], ip[3])
			}
			_, _ = server.Write(append([]byte{byte(len(answer) >> 8), byte(len(answer))}, answer...))
		}()
		return client, nil
	}
}
