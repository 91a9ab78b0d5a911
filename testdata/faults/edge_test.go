package faults_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// raw is what a client sends byte by byte, and what must come back.
type raw struct {
	name, text string
	want       string // statuses, in order; "-" for none
	asked      int    // requests that reach the vendor
}

// corpus is the edge's: what is refused, what is normalised, and what is let through.
// Content-Length beside Transfer-Encoding, bare line feeds, folded lines and the
// absolute form are normalised by net/http; since the request to a vendor is built
// anew, no two readers can take it differently.
func corpus() []raw {
	body := `{"model":"sea/charts","messages":[{"role":"user","content":"` + strings.Repeat("Quillfeather asks which wood floats. ", 12) + `"}]}`
	size := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	const line, host, kind, last = "POST /v1/chat/completions HTTP/1.1\r\n", "Host: gateway\r\n", "Content-Type: application/json\r\n", "Connection: close\r\n"
	key := "Authorization: Bearer " + shopKey + "\r\n"
	with := func(more string) string { return line + host + kind + key + last + more }
	chunks := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	open := line + host + kind + key // a connection that stays open
	return []raw{
		{"an ordinary request", with(size) + "\r\n" + body, "200", 1},
		{"two, one behind the other", open + size + "\r\n" + body + with(size) + "\r\n" + body, "200 200", 2},
		{"three, with a blank line between", open + size + "\r\n" + body + "\r\n" + open + size + "\r\n" + body + with(size) + "\r\n" + body, "200 200 200", 3},
		{"chunked", with("Transfer-Encoding: chunked\r\n") + "\r\n" + chunks, "200", 1},
		{"chunked in capitals", with("Transfer-Encoding: CHUNKED\r\n") + "\r\n" + chunks, "200", 1},
		{"chunked with trailers", with("Transfer-Encoding: chunked\r\nTrailer: X-Session-Id\r\n") + "\r\n" + strings.TrimSuffix(chunks, "\r\n") + "X-Session-Id: late\r\n\r\n", "200", 1},
		{"chunked with extensions", with("Transfer-Encoding: chunked\r\n") + "\r\n" + fmt.Sprintf("%x;name=value\r\n%s\r\n0\r\n\r\n", len(body), body), "200", 1},
		{"a length beside chunks", with("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n") + "\r\n" + chunks, "200", 1},
		{"chunks that are none", with("Transfer-Encoding: xchunked\r\n") + "\r\n" + chunks, "501", 0},
		{"chunked twice", with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") + "\r\n" + chunks, "501", 0},
		{"chunked and identity", with("Transfer-Encoding: chunked, identity\r\n") + "\r\n" + chunks, "501", 0},
		{"a chunk's size that is none", with("Transfer-Encoding: chunked\r\n") + "\r\nxyz\r\n" + body + "\r\n0\r\n\r\n", "400", 0},
		{"a chunk's size that is negative", with("Transfer-Encoding: chunked\r\n") + "\r\n-5\r\n" + body + "\r\n0\r\n\r\n", "400", 0},
		{"a chunk's size of 17 digits", with("Transfer-Encoding: chunked\r\n") + "\r\n10000000000000000\r\n" + body + "\r\n0\r\n\r\n", "400", 0},
		{"a chunk longer than its size", with("Transfer-Encoding: chunked\r\n") + "\r\n5\r\n" + body + "\r\n0\r\n\r\n", "400", 0},
		{"two equal lengths", with(size+size) + "\r\n" + body, "200", 1},
		{"two lengths", with(size+"Content-Length: 3\r\n") + "\r\n" + body, "400", 0},
		{"a list of lengths", with(fmt.Sprintf("Content-Length: %d, %d\r\n", len(body), len(body))) + "\r\n" + body, "400", 0},
		{"a length with a sign", with(fmt.Sprintf("Content-Length: +%d\r\n", len(body))) + "\r\n" + body, "400", 0},
		{"a negative length", with("Content-Length: -1\r\n") + "\r\n" + body, "400", 0},
		{"a length of text", with("Content-Length: many\r\n") + "\r\n" + body, "400", 0},
		{"a length in hexadecimal", with("Content-Length: 0x20\r\n") + "\r\n" + body, "400", 0},
		{"a length of 2^63", with("Content-Length: 9223372036854775808\r\n") + "\r\n" + body, "400", 0},
		{"a length of a terabyte", with("Content-Length: 1099511627776\r\n") + "\r\n" + body, "413", 0},
		{"no length at all", with("") + "\r\n" + body, "400", 0},
		{"no body", with("Content-Length: 0\r\n") + "\r\n", "400", 0},
		{"two hosts", with("Host: elsewhere\r\n"+size) + "\r\n" + body, "400", 0},
		{"no host", line + kind + key + last + size + "\r\n" + body, "400", 0},
		{"a host with a space", line + "Host: gate way\r\n" + kind + key + last + size + "\r\n" + body, "400", 0},
		{"a name with a space before its colon", with("X-Odd : yes\r\n"+size) + "\r\n" + body, "400", 0},
		{"a length with a space before its colon", with(fmt.Sprintf("Content-Length : %d\r\n", len(body))) + "\r\n" + body, "400", 0},
		{"a name with a zero byte", with("X-O\x00dd: yes\r\n"+size) + "\r\n" + body, "400", 0},
		{"a value with a zero byte", with("X-Odd: y\x00es\r\n"+size) + "\r\n" + body, "400", 0},
		{"a value with a carriage return", with("X-Odd: y\res\r\n"+size) + "\r\n" + body, "400", 0},
		{"no name", with(": yes\r\n"+size) + "\r\n" + body, "400", 0},
		{"a line without a colon", with("odd\r\n"+size) + "\r\n" + body, "400", 0},
		{"a folded value", with("X-Odd: one\r\n two\r\n"+size) + "\r\n" + body, "200", 1},
		{"a first line that is folded", line + " X-Odd: one\r\n" + host + kind + key + last + size + "\r\n" + body, "400", 0},
		{"bare line feeds", strings.ReplaceAll(with(size), "\r\n", "\n") + "\n" + body, "200", 1},
		{"the absolute form", strings.Replace(with(size), "/v1/chat", "http://elsewhere.example/v1/chat", 1) + "\r\n" + body, "200", 1},
		{"a path with dots", strings.Replace(with(size), "/v1/chat", "/v1/../v1/chat", 1) + "\r\n" + body, "404", 0},
		{"a path with two slashes", strings.Replace(with(size), "/v1/chat", "//v1/chat", 1) + "\r\n" + body, "404", 0},
		{"a path that is escaped", strings.Replace(with(size), "/v1/chat/", "/v1/chat%2f", 1) + "\r\n" + body, "200", 1},
		{"a path with a zero byte", strings.Replace(with(size), "/v1/chat", "/v1/\x00chat", 1) + "\r\n" + body, "400", 0},
		{"a path of a megabyte", strings.Replace(with(size), "/v1/chat", "/"+strings.Repeat("x", 1<<20), 1) + "\r\n" + body, "431", 0},
		{"a header of a megabyte", with("X-Big: "+strings.Repeat("x", 1<<20)+"\r\n"+size) + "\r\n" + body, "431", 0},
		{"ten thousand headers", with(strings.Repeat("X-Many: yes\r\n", 10_000)+size) + "\r\n" + body, "431", 0},
		{"no version", strings.Replace(with(size), " HTTP/1.1", "", 1) + "\r\n" + body, "400", 0},
		{"a version to come", strings.Replace(with(size), "HTTP/1.1", "HTTP/3.7", 1) + "\r\n" + body, "505", 0},
		{"HTTP/1.0", strings.Replace(with(size), "HTTP/1.1", "HTTP/1.0", 1) + "\r\n" + body, "200", 1},
		{"HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "404", 0},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("\x00", 200) + "\r\n\r\n", "400", 0},
		{"a method of its own", strings.Replace(with(size), "POST", "BREW", 1) + "\r\n" + body, "405", 0},
		{"a method in small letters", strings.Replace(with(size), "POST", "post", 1) + "\r\n" + body, "405", 0},
		{"CONNECT", "CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443\r\n" + last + "\r\n", "404", 0},
		{"TRACE", "TRACE / HTTP/1.1\r\n" + host + key + last + "\r\n", "405", 0},
		{"an upgrade", strings.Replace(with("Upgrade: websocket\r\n"+size), "Connection: close", "Connection: Upgrade, close", 1) + "\r\n" + body, "200", 1},
		{"a connection that names its key", strings.Replace(with(size), "Connection: close", "Connection: close, Authorization, X-Session-Id", 1) + "\r\n" + body, "200", 1},
		{"a key that is not known", strings.Replace(with(size), shopKey, "wk-nobody", 1) + "\r\n" + body, "401", 0},
		{"no key", line + host + kind + last + size + "\r\n" + body, "401", 0},
		{"two keys that differ", with("X-Api-Key: wk-nobody\r\n"+size) + "\r\n" + body, "401", 0},
		{"100-continue", with("Expect: 100-continue\r\n"+size) + "\r\n" + body, "100 200", 1},
		{"an expectation of another kind", with("Expect: miracles\r\n"+size) + "\r\n" + body, "417", 0},
		{"a body cut short", with(size) + "\r\n" + body[:20], "-", 0},
		{"a header cut short", line + host, "-", 0},
		{"nothing", "", "-", 0},
		{"a body that goes on", open + "Content-Length: 2\r\n\r\n{}GET /smuggled HTTP/1.1\r\nHost: x\r\n" + last + "\r\n", "400 404", 0},
	}
}

func TestFM19TheEdge(t *testing.T) {
	t.Parallel()
	only := newVendor(t, "only", good(chat, ordinary))
	r := newRig(t, setup{stands: []stand{{name: "only", vendor: only}}})
	for _, c := range corpus() {
		before := len(only.log())
		conn := r.dial()
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		var sent sync.WaitGroup
		sent.Go(func() { _, _ = io.WriteString(conn, c.text) }) // whoever closes his half has left
		var got []string
		for in := bufio.NewReader(conn); ; {
			if c.want == "-" { // what is half sent is not waited for
				break
			}
			response, err := http.ReadResponse(in, nil)
			if err != nil {
				break
			}
			text, _ := io.ReadAll(response.Body)
			got = append(got, fmt.Sprint(response.StatusCode))
			if response.Header.Get("X-Warmroute-Outcome") != "" {
				r.keep(&answer{status: response.StatusCode, header: response.Header, body: string(text), turn: true})
			} else if response.StatusCode != 100 {
				r.keep(&answer{status: response.StatusCode, header: response.Header, body: string(text)})
			}
		}
		conn.Close()
		sent.Wait()
		if c.want != "-" && strings.Join(got, " ") != c.want {
			t.Errorf("%s: answered %v, want %s", c.name, got, c.want)
		}
		if n := len(only.log()) - before; n != c.asked {
			t.Errorf("%s: %d requests reach the vendor, want %d", c.name, n, c.asked)
		}
	}
	for _, call := range only.log() {
		for _, name := range []string{"Connection", "Upgrade", "Transfer-Encoding", "X-Odd", "Cookie", "X-Forwarded-For", "Expect", "Te"} {
			if v := call.header.Get(name); v != "" {
				t.Errorf("the vendor was sent %s: %s", name, v)
			}
		}
		if call.key() != vendorKeys[0][0] || call.method != "POST" || call.path != "/v1/chat/completions" {
			t.Errorf("the vendor was sent %s %s", call.method, call.path)
		}
	}
	r.audit()
}

// Clients that announce a body and never send it hold nothing of a vendor.
func TestFM19AContinueThatNeverComes(t *testing.T) {
	t.Parallel()
	only := newVendor(t, "only", good(chat, ordinary))
	r := newRig(t, setup{stands: []stand{{name: "only", vendor: only}}})
	for range 200 {
		conn := r.dial()
		t.Cleanup(func() { conn.Close() })
		_, _ = io.WriteString(conn, plain(strings.Repeat(" ", 100), "Expect: 100-continue"))
	}
	r.patience = 45 * time.Second // a body may take 30 s
	answers := r.drive(100, 4, func(i int) ask { return ask{dialect: chat, session: session("continue", i)} })
	r.allServed(answers, "only")
	if n := len(only.log()); n != 100 {
		t.Errorf("the vendor was asked %d times", n)
	}
	r.audit() // which waits for them to be let go
}

// Connections that say nothing take no room from those that do.
func TestFM19ManyConnections(t *testing.T) {
	t.Parallel()
	only := newVendor(t, "only", good(chat, ordinary))
	r := newRig(t, setup{stands: []stand{{name: "only", vendor: only}}})
	before := r.resident("VmRSS")
	const many = 800
	for range many {
		conn := r.dial()
		t.Cleanup(func() { conn.Close() })
	}
	r.allServed(r.drive(100, 4, func(i int) ask { return ask{dialect: chat, session: session("many", i)} }), "only")
	if grown := (r.resident("VmRSS") - before) / many; grown > 64<<10 {
		t.Errorf("memory grew by %d KB a connection", grown>>10)
	}
	r.audit() // silent ones are closed as slow headers are
}
