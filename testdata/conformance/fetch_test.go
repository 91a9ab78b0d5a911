package conformance_test

import (
	"regexp"
	"testing"
)

// fetch fetches what a set of clients needs. Where that cannot be reached the
// set is left out, saying so; what is reached and is not as the lock file says
// fails the test.
func fetch(t *testing.T, folder string, environment []string, name string, args ...string) {
	t.Helper()
	out, err := output(t, folder, environment, name, args...)
	switch {
	case err == nil:
	case unreached(out):
		t.Skipf("%s could not reach what it fetches from: the clients in %s are left out\n%s", name, folder, out)
	default:
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// Words of npm and of go for a registry or proxy that is not there, does not
// answer, or has no answer of its own.
var (
	npmUnreached = regexp.MustCompile(`(?m)^npm (?:error|ERR!) code (?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|` +
		`ERR_SOCKET_TIMEOUT|EIDLETIMEOUT|ENOTCACHED|E403|E407|E429|E50\d)\s*$`)
	goUnreached = regexp.MustCompile(`(?m)^go: .*(?:dial tcp|no such host|connection refused|connection reset|i/o timeout|deadline exceeded|TLS handshake timeout|` +
		`disabled by GOPROXY=off|: (?:403|407|429|50\d) )`)
)

// unreached says whether what npm or go printed means that nothing could be
// fetched, not that what was fetched is wrong.
func unreached(out []byte) bool { return npmUnreached.Match(out) || goUnreached.Match(out) }

func TestWhatCannotBeFetchedIsToldFromWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name, out string
		want      bool
	}{
		{"no such registry", "npm error code ENOTFOUND\nnpm error syscall getaddrinfo\n", true},
		{"nobody listens", "npm error code ECONNREFUSED\nnpm error errno ECONNREFUSED\n", true},
		{"no answer, as older npm says it", "npm ERR! code ETIMEDOUT\nnpm ERR! errno ETIMEDOUT\n", true},
		{"out of order", "npm error code E503\nnpm error 503 Service Unavailable - GET http://registry.example/zod\n", true},
		{"the lock file is old", "npm error code EUSAGE\nnpm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.\n", false},
		{"not what the lock file says", "npm error code EINTEGRITY\nnpm error sha512-x integrity checksum failed\n", false},
		{"no such package", "npm error code E404\nnpm error 404 Not Found - GET http://registry.example/nothing\n", false},
		{"no module proxy", "go: example.org/a@v1.0.0: Get \"http://proxy.example/a\": dial tcp 198.51.100.1:80: connect: connection refused\n", true},
		{"modules are off", "go: example.org/a@v1.0.0: module lookup disabled by GOPROXY=off\n", true},
		{"a module proxy out of order", "go: example.org/a@v1.0.0: reading http://proxy.example/a: 502 Bad Gateway\n", true},
		{"not what go.sum says", "verifying example.org/a@v1.0.0: checksum mismatch\n\nSECURITY ERROR\n", false},
		{"a test that failed", "--- FAIL: TestChat (0.01s)\n    chat_test.go:20: dial tcp 127.0.0.1:80: connect: connection refused\nFAIL\n", false},
	} {
		if got := unreached([]byte(c.out)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
