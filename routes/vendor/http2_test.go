package vendor_test

import (
	"context"
	"crypto/x509"
	"io"
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

// secureVendor is a vendor that speaks HTTP/2, and the authority it is known by.
func secureVendor(t *testing.T, serve http.HandlerFunc) (url string, roots *x509.CertPool) {
	t.Helper()
	server := httptest.NewUnstartedServer(serve)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	roots = x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return server.URL, roots
}

func TestAnHTTPSVendorIsSpokenToInHTTP2(t *testing.T) {
	var major atomic.Int32
	url, roots := secureVendor(t, func(w http.ResponseWriter, r *http.Request) {
		major.Store(int32(r.ProtoMajor))
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, event("two")+stopEvent+usageEvent+doneEvent)
	})
	o := through(t, url, chatStream, vendor.Options{RootCAs: roots}, nil)
	if major.Load() != 2 || o.Stage != engine.StageServed || o.Usage.Output != 18 {
		t.Errorf("HTTP/%d, attempt %q %q %q", major.Load(), o.Stage, o.Failure, o.Cause)
	}
}

func TestAStreamResetInHTTP2LooksCut(t *testing.T) {
	url, roots := secureVendor(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, event("two"))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	o := through(t, url, chatStream, vendor.Options{RootCAs: roots}, nil)
	if o.Stage != engine.StageBroken || o.Failure != engine.FailureCut || o.err != io.ErrUnexpectedEOF || !strings.Contains(o.body, `"error"`) {
		t.Errorf("attempt %q %q %q, %v %q", o.Stage, o.Failure, o.Cause, o.err, o.body)
	}
}

func TestACertificateForAnotherHostIsRefused(t *testing.T) {
	url, roots := secureVendor(t, func(http.ResponseWriter, *http.Request) { t.Error("called") })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "https://"))
	o := through(t, "https://localhost:"+port, chatBody, vendor.Options{RootCAs: roots}, nil)
	if o.Stage != engine.StageRefused || o.Failure != engine.FailureConnect || o.Cause != "certificate not accepted" {
		t.Errorf("attempt %q %q %q", o.Stage, o.Failure, o.Cause)
	}
}

// FM-03: a vendor whose address cannot be reached costs the connect timeout,
// its name's resolution counted.
func TestADialThatHangsEndsAfterTheConnectTimeout(t *testing.T) {
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	client := vendor.New(vendor.Options{Resolver: resolver, ConnectTimeout: 50 * time.Millisecond})
	defer client.Close()
	k := newKit(t, "https://vendor.example.com", nil)
	a := client.Send(t.Context(), httptest.NewRecorder(), k.call(chatBody), k.try())
	if a.Stage != engine.StageRefused || a.Failure != engine.FailureConnect || a.Took > time.Second {
		t.Errorf("attempt %q %q %q after %v", a.Stage, a.Failure, a.Cause, a.Took)
	}
}
