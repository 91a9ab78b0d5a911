package faults_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var ordinary = usage{1000, 400, 50}

func TestFM00NothingIsWrong(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			r := newRig(t, setup{stands: []stand{{name: "first", vendor: newVendor(t, "first", good(d, ordinary))}}})
			for _, a := range r.drive(20, 4, func(i int) ask { return ask{dialect: d, stream: i%2 == 0, session: session("calm", i%5)} }) {
				if !a.ok() {
					t.Fatalf("%d %v %s", a.status, a.err, a.body)
				}
			}
			r.audit()
		})
	}
}

// allServed fails unless every answer is whole and of this vendor.
func (r *rig) allServed(answers []*answer, by string) {
	r.Helper()
	for i, a := range answers {
		if !a.ok() || a.served() != by {
			r.Fatalf("answer %d: %d by %q, %v %s", i+1, a.status, a.served(), a.err, a.body)
		}
	}
}

// median is of how long answers took.
func median(answers []*answer) time.Duration {
	var all []time.Duration
	for _, a := range answers {
		all = append(all, a.took)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// tally counts how attempts ended, by vendor, stage and failure.
func tally(turns []bookedTurn) map[string]int {
	all := map[string]int{}
	for i := range turns {
		for j := range turns[i].Attempts {
			all[turns[i].Attempts[j].how()]++
		}
	}
	return all
}

// refusing is an address whose port is taken and not listened at: connections to it
// are refused, and nobody else can come to listen there.
func refusing(t *testing.T) string { return boundOnly(t, -1) }

// blackhole is an address that answers no SYN: its queue of connections is full.
func blackhole(t *testing.T) string { return boundOnly(t, 0) }

func boundOnly(t *testing.T, backlog int) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if backlog >= 0 {
		if err := syscall.Listen(fd, backlog); err != nil {
			t.Fatal(err)
		}
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for range backlog + 1 { // a queue of n holds n+1
		conn, err := net.DialTimeout("tcp", address, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
	}
	return address
}

func TestFM01RefusesTheConnection(t *testing.T) {
	t.Parallel()
	second := newVendor(t, "second", good(chat, ordinary))
	r := newRig(t, setup{stands: []stand{{name: "first", url: "http://" + refusing(t) + "/v1"}, {name: "second", vendor: second}}})
	began := r.turn(ask{dialect: chat, session: session("refused", 0)})
	if began.outcome() != "no_pin" {
		t.Errorf("the first turn says %s", began.outcome())
	}
	answers := append(r.drive(199, 4, func(i int) ask {
		return ask{dialect: chat, stream: i%2 == 0, session: session("refused", 1+i)}
	}), began)
	r.allServed(answers, "second")
	// The session is warm where it was served, and only there.
	again := r.turn(ask{dialect: chat, session: session("refused", 0)})
	if pins := r.pinned(session("refused", 0)); pins != "second/main" {
		t.Errorf("pinned to %s", pins)
	}
	if again.served() != "second" {
		t.Errorf("the next turn is served by %s", again.served())
	}
	tried := tally(r.settled())
	if n := tried["first refused connect"]; n < 3 || n > 3+4 || tried["second served"] != 201 || len(tried) != 2 {
		t.Errorf("attempts %v; the first is down after three, and four may have been under way", tried)
	}
	if r.down("first") != 1 {
		t.Error("the first is not down")
	}
	t.Logf("median turn %v, the first one %v", median(answers), began.took)
	r.audit()
}

func TestFM02ResetsTheConnection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		greet func(*net.TCPConn) bool
		play  script
	}{
		{"on accept", func(c *net.TCPConn) bool { _ = c.SetLinger(0); return false }, nil},
		{"in the request", func(c *net.TCPConn) bool {
			_, _ = c.Read(make([]byte, 20))
			_ = c.SetLinger(0)
			return false
		}, nil},
		{"after the request", nil, func(c *call) bool { c.reset(); return false }},
		{"closes after the request", nil, func(c *call) bool { return false }},
		{"after half a status line", nil, func(c *call) bool { c.say("HTTP/1.1 20"); c.reset(); return false }},
		{"after half a header", nil, func(c *call) bool { c.say("HTTP/1.1 200 OK\r\nContent-Ty"); return false }},
		{"after garbage", nil, func(c *call) bool { c.say("\x16\x03\x01garbage\r\n\r\n"); return false }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			first := newVendor(t, "first", c.play)
			if c.greet != nil {
				first.greets(c.greet)
			}
			second := newVendor(t, "second", good(chat, ordinary))
			r := newRig(t, setup{stands: []stand{{name: "first", vendor: first}, {name: "second", vendor: second}}})
			r.allServed(r.drive(40, 2, func(i int) ask { return ask{dialect: chat, stream: i%2 == 0, session: session("reset", i)} }), "second")
			turns := r.settled()
			tried := tally(turns)
			if n := tried["first refused connect"]; n < 3 || n > 5 || tried["second served"] != 40 {
				t.Errorf("attempts %v", tried)
			}
			if turn := turns[0]; turn.tried() != "first refused connect, second served" {
				t.Errorf("the first turn tried %s", turn.tried())
			}
			if r.down("first") != 1 {
				t.Error("the first is not down")
			}
			r.audit()
		})
	}
}

// A pooled connection that its vendor closes as the request is sent is not a failure:
// whether the request was read cannot be known, so another vendor answers once.
func TestFM02APooledConnectionIsClosedUnderTheRequest(t *testing.T) {
	t.Parallel()
	answer := good(chat, ordinary)
	first := newVendor(t, "first", func(c *call) bool { answer(c); return false }) // without saying so
	first.greets(nil)
	r := newRig(t, setup{stands: []stand{{name: "first", vendor: first}, {name: "second", vendor: newVendor(t, "second", answer)}}})
	for _, a := range r.drive(100, 1, func(i int) ask { return ask{dialect: chat, session: session("pooled", i)} }) {
		if !a.ok() {
			t.Fatalf("%d %v %s", a.status, a.err, a.body)
		}
	}
	r.audit()
}

func TestFM03DropsTheDial(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{stands: []stand{{name: "first", url: "http://" + blackhole(t) + "/v1"}, {name: "second", vendor: newVendor(t, "second", good(chat, ordinary))}}})
	first := r.turn(ask{dialect: chat, session: session("dropped", 0)})
	r.allServed([]*answer{first}, "second")
	if first.took < 1900*time.Millisecond || first.took > 4*time.Second {
		t.Errorf("took %v, the limit for a connection is 2 s", first.took)
	}
	t.Logf("took %v", first.took)
	r.allServed(r.drive(40, 20, func(i int) ask { return ask{dialect: chat, session: session("dropped", 1+i)} }), "second")
	if r.down("first") != 1 {
		t.Error("the first is not down")
	}
	if tried := tally(r.settled()); tried["first refused connect"] > 21 || tried["second served"] != 41 {
		t.Errorf("attempts %v", tried)
	}
	r.audit()
}

func TestFM04HangsBeforeHeaders(t *testing.T) {
	t.Parallel()
	hang := func(c *call) bool { c.hang(); return false }
	first := newVendor(t, "first", hang)
	r := newRig(t, setup{timeouts: "first_byte: 1s", stands: []stand{{name: "first", vendor: first}, {name: "second", vendor: newVendor(t, "second", good(chat, ordinary))}}})
	answers := r.drive(12, 4, func(i int) ask { return ask{dialect: chat, stream: i%2 == 0, session: session("hangs", i)} })
	r.allServed(answers, "second")
	var worst time.Duration
	for _, c := range first.log() {
		r.await(5*time.Second, "the vendor sees the request cancelled", func() bool { return !c.left().IsZero() })
		worst = max(worst, c.left().Sub(c.at)-time.Second)
	}
	if worst > 500*time.Millisecond || worst < -100*time.Millisecond {
		t.Errorf("the vendor was cancelled %v after the deadline", worst)
	}
	t.Logf("cancelled %v after the deadline of 1 s", worst)
	if tried := tally(r.settled()); tried["first refused timeout"] < 3 || tried["first refused timeout"] > 7 {
		t.Errorf("attempts %v", tried)
	}
	r.audit()
}

func TestFM04HangsAndNobodyIsLeft(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			only := newVendor(t, "only", func(c *call) bool { c.hang(); return false })
			r := newRig(t, setup{timeouts: "first_byte: 1s", stands: []stand{{name: "only", vendor: only}}})
			for _, a := range r.drive(6, 6, func(i int) ask { return ask{dialect: d, stream: i%2 == 0, session: session("alone", i)} }) {
				if a.status != 504 || !strings.Contains(a.body, `"error"`) || strings.Contains(a.body, `"type":"error"`) != (d.name == "messages") {
					t.Errorf("%d %v %s", a.status, a.err, a.body)
				}
			}
			r.audit()
		})
	}
}

// papers are certificates for 127.0.0.1 that a certificate authority of the test's own
// has signed, and where that authority's is kept.
func papers(t *testing.T) (authority string, sign func(from, to time.Time, ip net.IP) tls.Certificate) {
	t.Helper()
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	rootKey := key()
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Faults"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, root, root, rootKey.Public(), rootKey)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: der})
	authority = filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(authority, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return authority, func(from, to time.Time, ip net.IP) tls.Certificate {
		own := key()
		leaf := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: from, NotAfter: to, IPAddresses: []net.IP{ip}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
		der, err := x509.CreateCertificate(rand.Reader, leaf, root, own.Public(), rootKey)
		if err != nil {
			t.Fatal(err)
		}
		return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: own}
	}
}

// secured is an address that speaks TLS. Whoever gets as far as a request is answered
// well; asked is told of it.
func secured(t *testing.T, c *tls.Config, asked func()) string {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if n, err := conn.Read(make([]byte, 1)); n == 0 || err != nil {
					return
				}
				asked()
				text := chat.whole(ordinary)
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
			}()
		}
	}()
	return listener.Addr().String()
}

func TestFM05BreaksTLS(t *testing.T) {
	t.Parallel()
	authority, sign := papers(t)
	_, foreign := papers(t)
	now, hour, home := time.Now(), time.Hour, net.IPv4(127, 0, 0, 1)
	fresh := sign(now.Add(-hour), now.Add(hour), home)
	for _, c := range []struct {
		name string
		tls  *tls.Config
		good bool
	}{
		{"all is well", &tls.Config{Certificates: []tls.Certificate{fresh}}, true},
		{"expired", &tls.Config{Certificates: []tls.Certificate{sign(now.Add(-3*hour), now.Add(-hour), home)}}, false},
		{"not valid yet", &tls.Config{Certificates: []tls.Certificate{sign(now.Add(hour), now.Add(3*hour), home)}}, false},
		{"another host's", &tls.Config{Certificates: []tls.Certificate{sign(now.Add(-hour), now.Add(hour), net.IPv4(127, 0, 0, 2))}}, false},
		{"signed by a stranger", &tls.Config{Certificates: []tls.Certificate{foreign(now.Add(-hour), now.Add(hour), home)}}, false},
		{"only TLS 1.1", &tls.Config{Certificates: []tls.Certificate{fresh}, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan struct{}, 100)
			address := secured(t, c.tls, func() { asked <- struct{}{} })
			r := newRig(t, setup{env: []string{"SSL_CERT_FILE=" + authority, "SSL_CERT_DIR=/nowhere"}, stands: []stand{
				{name: "first", url: "https://" + address + "/v1"}, {name: "second", vendor: newVendor(t, "second", good(chat, ordinary))},
			}})
			if c.good { // or the other cases would show nothing
				r.allServed(r.drive(3, 1, func(i int) ask { return ask{dialect: chat, session: session("tls", i)} }), "first")
				return
			}
			r.allServed(r.drive(10, 1, func(i int) ask { return ask{dialect: chat, session: session("tls", i)} }), "second")
			if len(asked) > 0 {
				t.Errorf("the vendor read %d requests", len(asked))
			}
			if tried := tally(r.settled()); tried["first refused connect"] != 3 {
				t.Errorf("attempts %v", tried)
			}
			r.audit()
		})
	}
}

func TestFM05SpeaksPlaintextWhereTLSIsExpected(t *testing.T) {
	t.Parallel()
	first := newVendor(t, "first", good(chat, ordinary))
	r := newRig(t, setup{stands: []stand{
		{name: "first", vendor: first, url: "https" + strings.TrimPrefix(first.url(), "http")}, {name: "second", vendor: newVendor(t, "second", good(chat, ordinary))},
	}})
	r.allServed(r.drive(10, 1, func(i int) ask { return ask{dialect: chat, session: session("plain", i)} }), "second")
	if n := len(first.log()); n > 0 {
		t.Errorf("the vendor read %d requests", n)
	}
	first.mu.Lock()
	first.greetings = first.dials // each was an attempt
	first.mu.Unlock()
	r.audit()
}
