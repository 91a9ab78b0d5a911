package wire

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// input reads one of the project's own inputs.
func input(t testing.TB, parts ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "testdata"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func read(t testing.TB, api catalog.API, body []byte) *Request {
	t.Helper()
	r, err := ReadRequest(api, body)
	if err != nil {
		t.Fatalf("ReadRequest: %v", err)
	}
	return r
}

func refuse(t testing.TB, body string) string {
	t.Helper()
	_, err := ReadRequest(catalog.Chat, []byte(body))
	if err == nil {
		t.Fatalf("accepted: %s", body)
	}
	return err.(*RefusedError).Message
}

// relayed is a whole stream, relayed in pieces of n bytes.
type relayed struct {
	*Relay
	out     string
	usage   pricing.Usage
	quality pricing.Quality
}

func relay(o RelayOptions, stream []byte, n int) relayed { return feed(NewRelay(o), stream, n) }

func feed(r *Relay, stream []byte, n int) relayed {
	var out []byte
	for len(stream) > 0 {
		k := min(n, len(stream))
		out = append(out, r.Feed(stream[:k])...)
		stream = stream[k:]
	}
	out = append(out, r.Finish()...)
	u, q := r.Usage()
	return relayed{r, string(out), u, q}
}
