package faults_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestFM10ThrottledWithRetryAfter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, value string
		cools       bool
		relayed     bool
	}{
		{"seconds", "60", true, true},
		{"a date to come", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), true, true},
		{"a date that has passed", "Mon, 02 Jan 2023 10:00:00 GMT", false, true},
		{"negative", "-1", false, false},
		{"a thousand million", "1000000000", true, true},
		{"junk", "soon\x01ish", false, false},
		{"none", "", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			serve := good(chat, ordinary)
			var mu sync.Mutex
			throttled := "" // the key that is told to wait
			first := newVendor(t, "first", func(call *call) bool {
				mu.Lock()
				mine := throttled == call.key()
				mu.Unlock()
				if !mine {
					return serve(call)
				}
				if c.value == "" {
					return call.say(refusal(429))
				}
				return call.say(refusal(429, "Retry-After: "+c.value))
			})
			r := newRig(t, setup{stands: []stand{{name: "first", vendor: first, credentials: 2}}})
			id := session("throttled", 0)
			r.allServed([]*answer{r.turn(ask{dialect: chat, session: id})}, "first")
			before := r.pinned(id)
			mu.Lock()
			throttled = first.log()[0].key()
			mu.Unlock()
			r.allServed([]*answer{r.turn(ask{dialect: chat, session: id})}, "first")
			log := first.log()
			if len(log) != 3 || log[1].key() != throttled || log[2].key() == throttled {
				t.Fatalf("%d calls; the warm credential must be asked, then the other", len(log))
			}
			if after := r.pinned(id); !strings.Contains(after, before) || !strings.Contains(after, ", ") {
				t.Errorf("pinned to %s, before the throttling to %s", after, before)
			}
			if down := r.down("first"); (down == 1) != c.cools {
				t.Errorf("%d candidates are down", down)
			}
			// New sessions pass by who is told to wait.
			r.allServed(r.drive(8, 1, func(i int) ask { return ask{dialect: chat, session: session("others", i)} }), "first")
			waiting := 0
			for _, call := range first.log()[3:] {
				if call.key() == throttled {
					waiting++
				}
			}
			if c.cools && waiting > 0 {
				t.Errorf("the throttled credential was asked %d times while it waited", waiting)
			}
			r.audit()
		})
	}
}

func TestFM11EverybodyIsOverloaded(t *testing.T) {
	t.Parallel()
	for _, status := range []int{529, 503} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			first := newVendor(t, "first", func(c *call) bool { return c.say(refusal(500)) })
			second := newVendor(t, "second", func(c *call) bool { return c.say(refusal(status, "Retry-After: 7")) })
			r := newRig(t, setup{stands: []stand{{name: "first", vendor: first}, {name: "second", vendor: second}}})
			for i, a := range r.drive(200, 8, func(i int) ask { return ask{dialect: chat, stream: i%2 == 0, session: session("storm", i)} }) {
				switch {
				case a.served() == "second" && a.status == status && a.header.Get("Retry-After") == "7":
				case a.served() == "first" && a.status == 500 && a.header.Get("Retry-After") == "":
				default:
					t.Fatalf("request %d: %d of %s, Retry-After %q, %s", i, a.status, a.served(), a.header.Get("Retry-After"), a.body)
				}
			}
			// Health never takes the last candidates away: a vendor that is back serves again.
			first.plays(good(chat, ordinary))
			r.allServed([]*answer{r.turn(ask{dialect: chat, session: session("calm", 0)})}, "first")
			r.audit()
		})
	}
}

func TestFM14RedirectsElsewhere(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			elsewhere := newVendor(t, "elsewhere", good(chat, ordinary))
			redirect := func(c *call) bool { return c.say(refusal(status, "Location: "+elsewhere.url()+"/chat/completions")) }
			first := newVendor(t, "first", redirect)
			second := newVendor(t, "second", good(chat, ordinary))
			r := newRig(t, setup{stands: []stand{{name: "first", vendor: first}, {name: "second", vendor: second}}})
			r.allServed(r.drive(20, 4, func(i int) ask { return ask{dialect: chat, stream: i%2 == 0, session: session("redirect", i)} }), "second")
			second.plays(redirect)
			for _, a := range r.drive(4, 1, func(i int) ask { return ask{dialect: chat, session: session("nowhere", i)} }) {
				if a.status != 502 || a.header.Get("Location") != "" || strings.Contains(a.body, elsewhere.listener.Addr().String()) {
					t.Errorf("%d %v %s", a.status, a.header, a.body)
				}
			}
			if elsewhere.dials > 0 {
				t.Errorf("the redirect was followed %d times", elsewhere.dials)
			}
			r.audit()
		})
	}
}

func TestFM15HeadersThatMustNotReachTheClient(t *testing.T) {
	t.Parallel()
	nasty := []string{
		"Set-Cookie: theirs=" + theirCookie, "X-Goog-Api-Key: " + theirKey, "Server: nginx/9", "Via: 1.1 somewhere", "X-Powered-By: steam",
		"Keep-Alive: timeout=99", "Proxy-Authenticate: Basic", "Upgrade: h2c", "Connection: X-Request-Id, Upgrade", "Content-Type: text/html", "Location: https://elsewhere.example/",
		"Openai-Organization: org-" + theirKey, "Access-Control-Allow-Origin: *", "Strict-Transport-Security: max-age=1", "Alt-Svc: h3=\":443\"", "Www-Authenticate: Basic",
		"X-Warmroute-Outcome: promoted", "X-Warmroute-Vendor: forged", "X-Ratelimit-Remaining-Requests: 41", "X-Ratelimit-Limit-Tokens: " + vendorKeys[0][0],
		"Trailer: X-Secret",
	}
	may := map[string]bool{
		"Content-Type": true, "Content-Length": true, "Date": true, "Cache-Control": true, "X-Accel-Buffering": true, "X-Content-Type-Options": true,
		"X-Ratelimit-Remaining-Requests": true, "Retry-After": true, "X-Request-Id": true, "Connection": true,
		"X-Warmroute-Request-Id": true, "X-Warmroute-Outcome": true, "X-Warmroute-Vendor": true, "X-Warmroute-Session-Source": true, "X-Warmroute-Pinned": true, "X-Warmroute-Displaced": true,
	}
	only := newVendor(t, "only", func(c *call) bool {
		switch c.n % 5 {
		case 0: // whole, with trailers
			c.say(head("application/json", append(nasty, chunked)...))
			c.chunk(chat.whole(ordinary))
			c.told(ordinary)
			return c.say("0\r\nX-Secret: " + theirKey + "\r\nSet-Cookie: late=" + theirCookie + "\r\n\r\n")
		case 1: // streamed, with trailers
			c.say(head("text/event-stream", append(nasty, chunked)...))
			for _, e := range chat.events(ordinary) {
				c.chunk(e)
			}
			c.told(ordinary)
			return c.say("0\r\nX-Secret: " + theirKey + "\r\n\r\n")
		case 2: // refused
			return c.say(refusal(400, nasty...))
		case 3: // a carriage return inside a value
			return c.say("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Request-Id: one\rSet-Cookie: odd=" + theirCookie + "\r\nContent-Length: 2\r\n\r\n{}")
		default: // folded lines and bare line feeds
			text := chat.whole(ordinary)
			c.told(ordinary)
			return c.say("HTTP/1.1 200 OK\nContent-Type: application/json\nX-Request-Id: one\n  Set-Cookie: folded=yes\n" + fmt.Sprintf("Content-Length: %d\n\n", len(text)) + text)
		}
	})
	r := newRig(t, setup{stands: []stand{{name: "only", vendor: only}}})
	for i, a := range r.drive(40, 1, func(i int) ask { return ask{dialect: chat, stream: (i+1)%5 == 1, session: session("headers", i)} }) {
		if a.status == 0 || a.err != nil {
			t.Errorf("request %d: %d %v", i+1, a.status, a.err)
		}
		for name, values := range a.header {
			if !may[name] || len(values) != 1 {
				t.Errorf("request %d has %s: %q", i+1, name, values)
			}
		}
		if v := a.served(); v != "only" {
			t.Errorf("the vendor calls itself %q", v)
		}
		if v := a.header.Get("X-Ratelimit-Limit-Tokens"); v != "" {
			t.Error("the key was echoed")
		}
	}
	r.audit()
}

func TestFM16Flaps(t *testing.T) {
	t.Parallel()
	serve := good(chat, ordinary)
	flaps := func(c *call) bool {
		if c.n%2 == 0 {
			return c.say(refusal(503))
		}
		return serve(c)
	}
	first, second := newVendor(t, "first", flaps), newVendor(t, "second", serve)
	r := newRig(t, setup{stands: []stand{{name: "first", vendor: first}, {name: "second", vendor: second}}})
	const sessions, turns = 20, 10
	moves := map[int]int{}
	by := map[int]string{}
	for range turns {
		for i, a := range r.drive(sessions, 4, func(i int) ask { return ask{dialect: chat, session: session("flaps", i)} }) {
			if !a.ok() {
				t.Fatalf("%d %v %s", a.status, a.err, a.body)
			}
			if by[i] != "" && by[i] != a.served() {
				moves[i]++
			}
			by[i] = a.served()
		}
	}
	for i, n := range moves {
		if n > 1 {
			t.Errorf("session %d moved %d times inside one window", i, n)
		}
	}
	t.Logf("%d of %d sessions moved", len(moves), sessions)
	r.audit()
}

func TestFM16TheLastCandidateStays(t *testing.T) {
	t.Parallel()
	serve := good(chat, ordinary)
	only := newVendor(t, "only", func(c *call) bool {
		if c.n%8 < 6 {
			return c.say(refusal(503))
		}
		return serve(c)
	})
	r := newRig(t, setup{stands: []stand{{name: "only", vendor: only}}})
	var served int
	for _, a := range r.drive(80, 1, func(i int) ask { return ask{dialect: chat, session: session("last", i)} }) {
		if a.ok() {
			served++
		} else if a.status != 503 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if served != 20 {
		t.Errorf("%d of 80 were served, the vendor answers every fourth", served)
	}
	r.audit()
}
