package vendor_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/vendor"
	"github.com/warmroute/warmroute/routes/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	chatBody     = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`
	chatStream   = `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}`
	messagesBody = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"stream":true}`
	vendorKey    = "vk-CANARY-0123456789"
)

// vendorSpec is the one vendor of a kit.
type vendorSpec struct {
	private bool
	api     string
	extra   string // further lines of the vendor, each "    key: value"
}

// kit is a catalog of one model at one vendor.
type kit struct {
	t       testing.TB
	catalog *catalog.Catalog
	api     catalog.API
}

func newKit(t testing.TB, url string, change func(*vendorSpec)) *kit {
	t.Helper()
	spec := vendorSpec{private: true, api: "chat"}
	if change != nil {
		change(&spec)
	}
	text := fmt.Sprintf(`version: 1
vendors:
  harbor:
    api: [%s]
    base_url: %s
    credentials: [{id: main, env: KEY}, {id: spare, env: SPARE}]
    allow_private: %t
%s
models:
  m:
    routes:
      - {vendor: harbor, model: their-m, price: {input: 3, output: 15}}
`, spec.api, url, spec.private, spec.extra)
	c, err := catalog.ParseKeys("test.yaml", []byte(text), func(catalog.Credential) (string, bool) { return vendorKey, true })
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(spec.api, ",")
	return &kit{t: t, catalog: c, api: catalog.API(first)}
}

// call is a client's request with this body.
func (k *kit) call(body string) vendor.Call {
	k.t.Helper()
	request, err := wire.ReadRequest(k.api, []byte(body))
	if err != nil {
		k.t.Fatal(err)
	}
	return vendor.Call{Body: request, Header: http.Header{}, Metadata: vendor.MetadataOff}
}

// try is the order to try the only candidate.
func (k *kit) try() engine.Try {
	return engine.Try{
		TurnID:    "t1",
		Candidate: engine.Candidate{Route: k.catalog.Models[0].Routes[0], Credential: "main"},
		Number:    1,
		Session:   engine.Session{Tenant: "default", Class: engine.ClassExplicit, ID: "dory-7"},
	}
}

// rawVendor is a vendor of one's own: serve is called for every request, once it
// is read, with its connection, which is closed afterwards.
func rawVendor(t testing.TB, serve func(net.Conn, *http.Request)) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { listener.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				r, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				serve(conn, r)
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}
